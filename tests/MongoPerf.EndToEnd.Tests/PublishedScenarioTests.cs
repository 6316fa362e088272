using System.Globalization;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Scenarios of published series at a thousandth of their sizes and less, on a real mongod.</summary>
[Collection(LightTests.Name)]
public sealed class PublishedScenarioTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    /// <summary>All that run on one server; q8 starts its own (below).</summary>
    /// <param name="name">Of the scenario.</param>
    /// <param name="scale">A few thousand documents.</param>
    /// <param name="operations">
    /// Of phases that measure, each; 0 leaves what the file says. A count, because a busy machine may do nothing in a short time.
    /// </param>
    /// <param name="threads">In place of the file's; null leaves them.</param>
    /// <param name="set">A parameter and its value; null leaves the file's.</param>
    [MongodTheory]
    [InlineData("report-2.4.8/i1", 0.002, 0)]
    [InlineData("report-2.4.8/i2", 0.00002, 0)]
    [InlineData("report-2.4.8/i3", 0.00004, 0)]
    [InlineData("report-2.4.8/i4", 0.000005, 0)]
    [InlineData("report-2.4.8/i5", 0.000005, 0)]
    [InlineData("report-2.4.8/i7", 0.000005, 0)]
    [InlineData("report-2.4.8/i9", 0.005, 0)]
    [InlineData("report-2.4.8/q1", 0.00002, 400)]
    [InlineData("report-2.4.8/q2", 0.00002, 600, "1,30,300")]
    [InlineData("report-2.4.8/q3", 0.0001, 0)]
    [InlineData("report-2.4.8/q4", 0.0001, 0)]
    [InlineData("report-2.4.8/q5", 0.00001, 400)]
    [InlineData("report-2.4.8/q6", 0.00001, 400)]
    [InlineData("report-2.4.8/q7", 0.00002, 400)]
    [InlineData("report-2.4.8/q9", 0.000005, 400)]
    [InlineData("report-2.4.8/q10", 0.000005, 400)]
    [InlineData("report-2.4.8/q11", 0.000002, 400)]
    [InlineData("report-2.4.8/q12", 0.000005, 400)]
    [InlineData("report-2.4.8/q15", 0.000002, 400)]
    [InlineData("report-2.4.8/o1", 0.00002, 400, null, "total=100M")]
    [InlineData("report-2.4.8/o2", 0.00002, 0)]
    [InlineData("news", 0.0002, 400)]
    public void Phases_do_what_the_file_says(string name, double scale, long operations, string? threads = null, string? set = null)
    {
        string database = servers.NewDatabase();
        string[] arguments =
        [
            "run", name, "--uri", servers["mongod"].Uri, "--db", database, "--scale", scale.ToString("R", CultureInfo.InvariantCulture),
            "--verify", "all",
            "--quiet", "--out", _runs.Path, "--format", "json",
            .. (string[])(operations == 0 ? [] : ["--operations", $"{operations}"]),
            .. (string[])(threads is null ? [] : ["--threads", threads]),
            .. (string[])(set is null ? [] : ["--set", set]),
        ];
        var checks = new ScenarioChecks(arguments, ProgramRun.Run(arguments).Expect(0));
        checks.AssertDone();
        using MongoConnection connection = servers["mongod"].Connect();
        checks.AssertStored(connection, database);
        if (name == "news")
            checks.AssertContents(connection, database);
    }

    [MongodFact]
    public void Files_are_measured_at_ten_sizes_of_a_growing_collection()
    {
        string database = servers.NewDatabase();
        ProgramResult ended = ProgramRun.Run(
            "run", "report-2.4.8/i8", "--uri", servers["mongod"].Uri, "--db", database, "--scale", "0.0001", "--quiet", "--out", _runs.Path,
            "--format", "json").Expect(0);
        IReadOnlyList<GrownStep> steps = ended.Report().GrowthSteps();
        Assert.Equal(Enumerable.Range(1, 10).Select(size => 1000L * size), steps.Select(step => step.Documents));
        using MongoConnection connection = servers["mongod"].Connect();
        Assert.Equal(10_000, Documents.Count(connection, database, "items"));
        using StoredRun run = _runs.FindStored()!;
        Assert.Equal(10, run.Phases.Sum(phase => phase.Sizes.Count));
    }

    [MongodFact]
    public void Warming_up_begins_on_a_server_that_was_just_started_and_lost_nothing()
    {
        string[] arguments =
            [
                "run", "report-2.4.8/q8", "--scale", "0.00002", "--duration", "10s", "--rate", "100", "--max-skipped", "100%",
                "--verify", "all", "--quiet", "--out", _runs.Path, "--format", "json",
            ];
        new ScenarioChecks(arguments, ProgramRun.Run(new ProgramOptions { Server = "mongod" }, arguments).Expect(0)).AssertDone();
        using StoredRun run = _runs.FindStored()!;
        RunEvent started = Assert.Single(run.Events, e => e.Kind == RunEvent.ColdStart);
        Assert.True(started.Seconds > 0);
        Assert.Empty(run.Errors);
        // The sampler found the server again, which a busy machine may take some of the ten seconds for: what it says
        // comes from the new one.
        Assert.Contains(run.ReadServerSamples(), s => s.AtMilliseconds > started.AtMilliseconds && s.Values.Any(double.IsFinite));
    }

    [Theory]
    [InlineData("the server named by --uri (or MONGOPERF_URI) is not the run's to stop", "--uri", "127.0.0.1:1")]
    [InlineData("a cluster has several servers", "--topology", "sharded")]
    public void Server_that_can_not_be_started_again_is_refused_before_the_run(string reason, params string[] deployment)
    {
        ProgramRun.Run(["run", "report-2.4.8/q8", "--out", _runs.Path, .. deployment]).Expect(2)
            .Says($"phase 'warm up': restart: {reason}").Says("--set");
        Assert.Empty(_runs.Ids);
    }
}
