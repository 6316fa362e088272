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
            new ProgramOptions { WriteReport = true },
            "series", "--topology", "null", "--target", "30k", "--step", "15k", "--window", "100ms", "--threads", "2",
            "--out", _runs.Path).Expect(0);
        Assert.Contains("stores nothing", result.Output, StringComparison.Ordinal);
        Assert.DoesNotContain("results are for the embedded server", result.Output, StringComparison.Ordinal);
        Assert.Contains("nothing is stored", File.ReadAllText(_runs.At(_runs.Id, "report", "index.html")), StringComparison.Ordinal);
        JsonElement report = JsonShape.Check(JsonShape.Run, File.ReadAllText(_runs.At(_runs.Id, "report", "result.json")));
        Assert.Equal(("null", "null"), (report.GetProperty("deployment").Text("kind"), report.GetProperty("deployment").Text("topology")));
        Assert.Equal([15_000, 30_000], report.GrowthSteps().Select(step => step.Documents));
        Assert.All(report.GrowthSteps(), step => Assert.Equal(SeriesNames.Measured, step.Names));
        JsonResults.AssertAdds(report.GetProperty("accounting"));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
        Assert.False(Directory.Exists(_runs.DataPath), "a data folder for a server that stores nothing on disk");
    }

    [Fact]
    public void A_phase_that_needs_documents_says_how_to_load_some_first() =>
        Assert.Contains("the server that this run starts is empty: --records 100k loads some first",
            Run("q4").Expect(2).Errors, StringComparison.Ordinal);

    [Fact]
    public void A_mix_against_it_finds_and_changes_what_was_never_stored()
    {
        JsonElement report = Run("ycsb/a", "--records", "500", "--operations", "2000", "--threads", "4").Expect(0).Report();
        Assert.Equal(["read", "update"], report.Items("phases")[^1].Items("operations").Select(operation => operation.Text("operation")));
        Assert.Equal(2000, report.Items("phases")[^1].Items("operations").Sum(operation => operation.Number("operations")));
        Assert.All(report.Items("phases").SelectMany(phase => phase.Items("operations")),
            operation => Assert.Equal(0, operation.Number("failed")));
    }

    [Fact]
    public void A_scenario_in_which_a_collection_grows_grows_against_it_too()
    {
        string file = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "growth.yaml");
        JsonElement report = Run(file, "--target", "4k", "--step", "2k", "--operations", "200").Expect(0).Report();
        Assert.Equal([2000L, 4000], report.GrowthSteps().Select(step => step.Documents));
        Assert.All(
            report.GrowthSteps(), step => Assert.Equal(["batches", "singles", "by customer", "newest sent", "by product"], step.Names));
        Assert.Equal(0, report.GetProperty("accounting").Number("failed"));
    }

    [Fact]
    public void An_interrupted_series_against_it_can_be_resumed()
    {
        using (ProgramRun run = ProgramRun.Start(
            new ProgramOptions(), "series", "--topology", "null", "--target", "2k", "--step", "1k", "--tests", "batch,q4", "--window", "1s",
            "--rate", "100", "--max-skipped", "100%", "--threads", "1", "--out", _runs.Path))
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

    [Fact]
    public void What_the_client_costs_on_it_is_calibrated_and_stated_by_later_runs()
    {
        var options = new ProgramOptions { Environment = new Dictionary<string, string?> { ["XDG_CACHE_HOME"] = _runs.At(".cache") } };
        using var calibrated = JsonDocument.Parse(
            ProgramRun.Run(options, "calibrate", "--duration", "500ms", "--format", "json", "--out", _runs.Path).Expect(0).Output);
        JsonElement[] costs = [.. calibrated.RootElement.Items("costs")];
        Assert.Equal(["unacknowledged insert", "batch insert", "acknowledged insert", "find 10", "find 100", "update"],
            costs.Select(cost => cost.Text("kind")));
        Assert.All(costs, cost =>
        {
            Assert.True(cost.GetProperty("microseconds").GetDouble() > 0, $"{cost} takes no time");
            Assert.InRange(cost.GetProperty("serviceMicroseconds").GetDouble(), 0, cost.GetProperty("microseconds").GetDouble());
        });
        Assert.Equal(1_024_000, costs[1].GetProperty("documentBytes").GetDouble(), 1.0);
        JsonElement driver = calibrated.RootElement.GetProperty("driver");
        Assert.Equal("3.14.0", driver.Text("version"));
        // The driver makes objects for each operation; our own client makes none.
        Assert.All(driver.Items("costs").Zip(costs), pair =>
            Assert.True(pair.First.GetProperty("allocatedBytes").GetDouble() > 500 + pair.Second.GetProperty("allocatedBytes").GetDouble(),
                $"{pair}"));
        Assert.True(File.Exists(calibrated.RootElement.Text("file")), "no calibration is stored");

        ProgramResult run =
            ProgramRun.Run(options, "run", "ycsb/a", "--records", "100", "--operations", "200", "--full", "--out", _runs.Path)
                .Expect(0);
        Assert.Contains("the client itself ", run.Output, StringComparison.Ordinal);
        string id = Directory.GetDirectories(_runs.Path, "20*").Select(path => Path.GetFileName(path)).Max()!;
        Assert.Contains("What an application would pay for MongoDB.Driver 3.14.0, per operation",
            ProgramRun.Run("report", id, "--format", "markdown", "--out", _runs.Path).Expect(0).Output, StringComparison.Ordinal);
        // The null deployment is what was calibrated: there is no share to be told.
        ProgramResult again = ProgramRun.Run(options, "run", "ycsb/a", "--topology", "null", "--records", "100", "--operations", "200",
            "--full", "--out", _runs.Path).Expect(0);
        Assert.DoesNotContain("the client itself ", again.Output, StringComparison.Ordinal);
    }

    private ProgramResult Run(string scenario, params string[] more) =>
        ProgramRun.Run(["run", scenario, "--topology", "null", "--format", "json", "--quiet", "--out", _runs.Path, .. more]);
}
