using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Engine.Workloads;

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
        Assert.Equal([15_000, 30_000], report.Items("steps").Select(step => step.Number("documents")));
        Assert.All(report.Items("steps"), step => Assert.Equal(SeriesTests.All.Where(t => t != "size"), step.Items("tests").Select(t => t.Text("test"))));
        JsonResults.AssertAdds(report.GetProperty("accounting"));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
        Assert.False(Directory.Exists(_runs.DataPath), "a data folder for a server that stores nothing");
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
        JsonElement report = JsonShape.Check(JsonShape.Run, resumed.Output);
        Assert.Equal([1000, 2000], report.Items("steps").Select(step => step.Number("documents")));
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
    }
}
