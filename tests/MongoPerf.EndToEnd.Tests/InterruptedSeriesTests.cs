using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Ctrl+C.</summary>
[Collection(HeavyTests.Name)]
public sealed class InterruptedSeriesTests
{
    private const int Interrupted = 130;

    [Theory, EachServer]
    public void Ctrl_c_to_the_whole_group_saves_the_run_before_its_server_ends_and_resume_goes_on(string kind)
    {
        using var runs = new RunsFolder();
        var options = new ProgramOptions { Server = kind, WriteReport = true };
        using ProgramRun run = ProgramRun.Start(
            options, "series", "--target", "10k", "--step", "5k", "--batch", "50", "--window", "1s", "--rate", "100",
            "--max-skipped", "100%", "--threads", "2", "--tests", "unack,batch,safe,q4,size", "--out", runs.Path);
        using (var watch = GrowthWatch.Of(runs))
            Assert.True(watch.WaitFor(run, 5500), "the series ended too early");
        run.SendInterruptToGroup();
        ProgramResult result = run.WaitForEnd().Expect(Interrupted);
        Assert.Contains($"to resume: mongoperf resume {runs.Id} --out {runs.Path}", result.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("NetworkError", result.Output, StringComparison.Ordinal);
        Assert.True(File.Exists(runs.At(runs.Id, "report", "index.html")));
        JsonElement saved = JsonShape.Check(JsonShape.Run, File.ReadAllText(runs.At(runs.Id, "report", "result.json")));
        Assert.Equal("interrupted", saved.GetProperty("run").Text("state"));
        Assert.Equal(5000, saved.GrowthSteps()[0].Documents);
        Assert.True(saved.GrowthSteps()[0].IsComplete);
        JsonResults.AssertAdds(saved.GetProperty("accounting"));
        Assert.Equal(0, saved.GetProperty("accounting").Number("failed"));

        string plots = runs.AddPlot("mine", "title: Mine\nx: time\npanels: [operations]");
        ProgramRun.Run(options, "resume", runs.Id, "--plots", plots, "--out", runs.Path).Expect(0);
        Assert.True(File.Exists(runs.At(runs.Id, "report", "charts", "mine-operations.csv")));
        using TestServer server = TestServer.OnDataOf(runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 10_000);
    }

    [Fact]
    public void Ctrl_c_in_a_query_ends_within_seconds_and_keeps_what_was_measured()
    {
        using var runs = new RunsFolder();
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions { WriteReport = true }, "series", "--target", "1k", "--step", "1k", "--window", "100s", "--rate", "100",
            "--threads", "2", "--tests", "batch,q4", "--out", runs.Path);
        Assert.True(run.WaitUntil(() => HasMeasured(runs, "q4"), "the query's first second"), "the series ended too early");
        run.SendInterrupt();
        ProgramResult result = run.WaitForEnd().Expect(Interrupted);
        Assert.True(result.Elapsed < TimeSpan.FromSeconds(90), $"took {result.Elapsed}");
        JsonElement saved = JsonShape.Check(JsonShape.Run, File.ReadAllText(runs.At(runs.Id, "report", "result.json")));
        Assert.Equal(1000, saved.GrowthSteps()[0].Operation("batch").Number("documents"));
    }

    [Fact]
    public void Ctrl_c_ends_a_single_phase_and_prints_what_it_measured()
    {
        using TestServer server = TestServer.Start("embedded");
        using var runs = new RunsFolder();
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions(), "run", "q4", "--uri", server.Uri, "--records", "2k", "--duration", "100s", "--rate", "100",
            "--warmup", "0s", "--format", "json", "--out", runs.Path);
        Assert.True(run.WaitUntil(() => HasMeasured(runs, "q4"), "the phase's first second"), "the phase ended too early");
        run.SendInterrupt();
        ProgramResult result = run.WaitForEnd().Expect(Interrupted);
        JsonElement q4 = result.Report().Phase("q4").Operation("q4");
        Assert.True(q4.Number("operations") > 0);
        JsonResults.AssertAdds(q4.GetProperty("accounting"));
    }

    /// <summary>Whether a second of an operation is stored: what was measured of servers may be of the load before it.</summary>
    private static bool HasMeasured(RunsFolder runs, string operation) =>
        runs.Find(stored => stored.ReadSamples().Any(sample => sample.Operation == operation && sample.Operations > 0));
}
