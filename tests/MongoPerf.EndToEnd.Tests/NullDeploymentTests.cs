using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The deployment that only answers.</summary>
[Collection(HeavyTests.Name)]
public sealed class NullDeploymentTests : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_series_against_the_null_deployment_ends_with_code_0_and_says_that_nothing_is_stored()
    {
        ProgramResult result = ProgramRun.Run(
            "series", "--topology", "null", "--target", "30k", "--step", "15k", "--window", "300ms", "--threads", "2", "--out", _runs.Path).Expect(0);
        Assert.Contains("nothing is stored", result.Output, StringComparison.Ordinal);
        Assert.Contains("nothing is stored", File.ReadAllText(_runs.At(_runs.Id, "report", "index.html")), StringComparison.Ordinal);
        JsonElement report = JsonShape.Check(JsonShape.Run, File.ReadAllText(_runs.At(_runs.Id, "report", "result.json")));
        Assert.Equal(("null", "null"), (report.GetProperty("deployment").Text("kind"), report.GetProperty("deployment").Text("topology")));
        Assert.Equal([15_000, 30_000], report.GrowthSteps().Select(step => step.Documents));
        Assert.All(report.GrowthSteps(), step => Assert.Equal(SeriesNames.Measured, step.Names));
        JsonResults.AssertAdds(report.GetProperty("accounting"));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
        Assert.False(Directory.Exists(_runs.DataPath), "a data folder for a server that stores nothing");
    }

    [Fact]
    public void A_mix_against_it_finds_and_changes_what_was_never_stored()
    {
        JsonElement report = Run("ycsb/a", "--records", "500", "--operations", "2000", "--threads", "4").Expect(0).Report();
        Assert.Equal(["read", "update"], report.Items("phases")[^1].Items("operations").Select(operation => operation.Text("operation")));
        Assert.Equal(2000, report.Items("phases")[^1].Items("operations").Sum(operation => operation.Number("operations")));
        Assert.All(report.Items("phases").SelectMany(phase => phase.Items("operations")), operation => Assert.Equal(0, operation.Number("failed")));
    }

    [Fact]
    public void A_scenario_in_which_a_collection_grows_grows_against_it_too()
    {
        string file = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "growth.yaml");
        JsonElement report = Run(file, "--target", "4k", "--step", "2k", "--duration", "200ms").Expect(0).Report();
        Assert.Equal([2000L, 4000], report.GrowthSteps().Select(step => step.Documents));
        Assert.All(report.GrowthSteps(), step => Assert.Equal(["batches", "singles", "by customer", "newest sent", "by product"], step.Names));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
    }

    [Fact]
    public void An_interrupted_series_against_it_can_be_resumed()
    {
        using (ProgramRun run = ProgramRun.Start(
            new ProgramOptions(), "series", "--topology", "null", "--target", "2k", "--step", "1k", "--tests", "batch,q4", "--window", "1s", "--threads", "1", "--out", _runs.Path))
        {
            Assert.True(run.WaitForLine("step 1 complete"), "the series ended too early");
            run.SendInterrupt();
            run.WaitForEnd().Expect(130);
        }

        ProgramResult resumed = ProgramRun.Run("resume", _runs.Id, "--out", _runs.Path, "--format", "json").Expect(0);
        JsonElement report = resumed.Report();
        Assert.Equal([1000, 2000], report.GrowthSteps().Select(step => step.Documents));
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
    }

    private ProgramResult Run(string scenario, params string[] more) =>
        ProgramRun.Run(["run", scenario, "--topology", "null", "--format", "json", "--quiet", "--out", _runs.Path, .. more]);
}
