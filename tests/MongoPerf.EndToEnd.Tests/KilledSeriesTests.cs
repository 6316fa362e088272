using System.Text.Json;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>kill -9 of the program, alone or with its server, at moments drawn from a fixed seed.</summary>
[Collection(KillingTests.Name)]
public sealed class KilledSeriesTests
{
    private const long Target = 24_000;
    private const int Killed = 128 + 9;

    /// <summary>Step 1 is unack to 3,600, batch to 8,400, safe to 12,000, then queries; step 2 the same.</summary>
    private static readonly string[] Series =
        [
            "series", "--target", "24k", "--step", "12k", "--shares", "30/40/30", "--batch", "100", "--window", "300ms", "--rate", "100",
            "--max-skipped", "100%", "--threads", "1",
        ];

    [Theory, EachServer]
    public void A_series_killed_in_each_of_its_parts_ends_with_exactly_its_documents(string kind)
    {
        using var runs = new RunsFolder();
        var random = new Random(20261121);
        (string Where, Action<ProgramRun, GrowthWatch> Wait)[] moments =
        [
            ("unack", (run, watch) => watch.WaitFor(run, random.Next(1, 2000))),
            ("batch", (run, watch) => watch.WaitFor(run, random.Next(3700, 7000))),
            ("safe", (run, watch) => watch.WaitFor(run, random.Next(8500, 11_000))),
            ("a query", (run, watch) => AfterDelay(watch.WaitFor(run, 12_000), random.Next(100, 700))),
            // Step 2 has begun where the kill before came too late.
            ("between steps", (run, watch) => AfterDelay(
                run.WaitUntil(() => run.Errors.Contains("step 1 complete", StringComparison.Ordinal) || watch.Read() > 12_000, "step 2"),
                random.Next(0, 20))),
            ("unack of step 2", (run, watch) => watch.WaitFor(run, random.Next(12_100, 14_000))),
        ];
        int? mongod = null;
        foreach ((string where, Action<ProgramRun, GrowthWatch> wait) in moments)
        {
            using ProgramRun run = StartOrResume(runs, kind);
            using var watch = GrowthWatch.Of(runs);
            wait(run, watch);
            run.Kill();
            Assert.True(run.WaitForEnd().ExitCode == Killed, $"not killed in {where}: {run.WaitForEnd().All}");
            if (kind == "mongod")
            {
                // One and the same continues through all of it.
                ProcessState state = ProcessState.Read(runs.DataPath)!;
                Assert.True(ProcessTable.System.IsAlive(state.Identity), $"the mongod died with the program in {where}");
                Assert.Equal(mongod ??= state.ProcessId, state.ProcessId);
            }
        }

        AssertEndsWhole(runs, kind);
    }

    [MongodFact]
    public void A_series_killed_with_its_mongod_ends_with_exactly_its_documents()
    {
        using var runs = new RunsFolder();
        var random = new Random(7);
        foreach (long documents in (long[])[random.Next(100, 3000), random.Next(3700, 8000), random.Next(8500, 11_500)])
        {
            using ProgramRun run = StartOrResume(runs, "mongod");
            using var watch = GrowthWatch.Of(runs);
            watch.WaitFor(run, documents);
            ProcessIdentity mongod = ProcessState.Read(runs.DataPath)!.Identity;
            // The server first, so that the program has its failures under way when it goes too.
            ProcessTable.System.Signal(mongod, SystemCalls.Kill);
            run.Kill();
            Assert.Equal(Killed, run.WaitForEnd().ExitCode);
            Assert.True(ProcessTable.System.WaitForEnd(mongod, TimeSpan.FromMinutes(1)));
        }

        AssertEndsWhole(runs, "mongod");
    }

    [Fact]
    public void A_run_that_is_still_going_is_neither_resumed_nor_cleaned_and_can_be_reported()
    {
        using var runs = new RunsFolder();
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions(), "series", "--target", "2k", "--step", "1k", "--window", "100s", "--rate", "100", "--threads", "1",
            "--tests", "batch,q4", "--out", runs.Path);
        Assert.True(run.WaitForLine("batch "), "the series ended too early");
        ProgramRun.Run("resume", runs.Id, "--out", runs.Path).Expect(2).Says("is still running");
        ProgramRun.Run("clean", runs.Id, "--out", runs.Path).Expect(6).Says("is still running");
        ProgramResult report = ProgramRun.Run("report", runs.Id, "--out", runs.Path, "--format", "json").Expect(0);
        Assert.Equal("running", report.Report().GetProperty("run").Text("state"));
        run.Kill();
        ProgramResult list = ProgramRun.Run("list", "runs", "--out", runs.Path).Expect(0);
        Assert.Contains("aborted", list.Output, StringComparison.Ordinal);
    }

    /// <summary>Of two that resume at once one continues, and the other neither measures nor ends the server of the first.</summary>
    [MongodFact]
    public void Two_that_resume_at_once_leave_one_run()
    {
        using var runs = new RunsFolder();
        using (ProgramRun run = StartOrResume(runs, "mongod"))
        {
            using var watch = GrowthWatch.Of(runs);
            watch.WaitFor(run, 3700);
            run.Kill();
            Assert.Equal(Killed, run.WaitForEnd().ExitCode);
        }

        using ProgramRun one = StartOrResume(runs, "mongod");
        using ProgramRun other = StartOrResume(runs, "mongod");
        ProgramResult[] ends = [.. new[] { one.WaitForEnd(), other.WaitForEnd() }.OrderBy(end => end.ExitCode)];
        ends[0].Expect(0);
        ends[1].Expect(2);
        Assert.Matches("is still running|is being written by process", ends[1].Errors);
        using TestServer server = TestServer.OnDataOf(runs, "mongod");
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, Target);
    }

    private static ProgramRun StartOrResume(RunsFolder runs, string kind)
    {
        string[] arguments = runs.Ids.Count == 0 ? Series : ["resume", runs.Id];
        return ProgramRun.Start(new ProgramOptions { Server = kind }, [.. arguments, "--out", runs.Path]);
    }

    private static void AfterDelay(bool reached, int milliseconds)
    {
        if (reached)
            Thread.Sleep(milliseconds);
    }

    private static void AssertEndsWhole(RunsFolder runs, string kind)
    {
        ProgramResult last =
            ProgramRun.Run(new ProgramOptions { Server = kind }, "resume", runs.Id, "--out", runs.Path, "--format", "json").Expect(0);
        JsonElement report = last.Report();
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal([12_000, Target], report.GrowthSteps().Select(step => step.Documents));
        JsonResults.AssertComplete(report);
        Assert.All(report.GrowthSteps(), step => Assert.Equal(["q4", "q5", "q6", "q7"], step.Names.Where(t => t[0] == 'q')));
        Assert.Contains(report.Items("events"), happened => happened.Text("kind") == "resumed");
        ProgramRun.Run("resume", runs.Id, "--out", runs.Path).Expect(2);
        using TestServer server = TestServer.OnDataOf(runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, Target);
    }
}
