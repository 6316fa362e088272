using System.Text.Json;
using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Reports;

/// <summary>Wherever p99 may stand any percentile may, and it comes from the stored histograms.</summary>
[Collection(ConsoleTests.Name)]
public sealed class FreePercentileTests : IDisposable
{
    private static readonly NoisyRun Base = new() { Sizes = 1, Seconds = 40, Phases = ["q4"] };

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Of_a_mix_it_is_that_of_all_its_operations_together()
    {
        using StoredRun run = new MixedRun { Seconds = 2 }.Write(_runs.Path);
        PhaseRecord phase = run.Phases[0];
        var together = new LatencyHistogram();
        foreach (StoredHistogram one in run.ReadHistograms().Where(one => one.Phase == phase.Number && !one.IsWarmup))
            one.ToLatency().Service.AddTo(together);
        Assert.Equal(Percentile(run, "p50", phase.Total!), phase.Total!.LatencyMicroseconds.P50);
        Assert.Equal(Math.Round(together.ValueAtPercentile(12.5)!.Value, 1), Percentile(run, "p125", phase.Total));
        Assert.True(Percentile(run, "p10", phase.Total) < Percentile(run, "p9999", phase.Total));
        Assert.Null(Percentile(run, "latenessP75", phase.Total));
    }

    [Fact]
    public void A_damaged_histogram_has_none()
    {
        using (var store = RunStore.Create(_runs.At("a"), RunParts.Run("a"), RunParts.Settings(1000)))
        {
            store.AddHistogram(new StoredHistogram(1, "q4", IsWarmup: false, new byte[] { 9, 8 }));
            store.EndPhase(RunParts.Grown(1, "q4", 1, 1000, RunParts.Result("q4", 8)));
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Null(Percentile(run, "p75", run.Phases[0].Operations[0]));
    }

    [Fact]
    public void Compare_judges_those_that_are_named_and_no_others()
    {
        Write("a", Base);
        Write("b", Base with { NoiseSeed = 2, Speed = _ => 0.7 });
        (int code, string output, string errors) = Run("compare", "a", "b", "--percentiles", "p75,p9999", "--format", "json");
        Assert.True(code == 0, errors);
        JsonElement operation = JsonDocument.Parse(output).RootElement.GetProperty("candidates")[0].GetProperty("operations")[0];
        JsonElement latencies = operation.GetProperty("latencyMicroseconds");
        Assert.Equal(["p75", "p9999"], latencies.EnumerateObject().Select(one => one.Name));
        Assert.Equal(JsonValueKind.Null, operation.GetProperty("p99Microseconds").ValueKind);
        Assert.Equal("slower", latencies.GetProperty("p75").GetProperty("verdict").GetString());
        Assert.InRange(latencies.GetProperty("p75").GetProperty("ratio").GetDouble(), 1.3, 1.6);
        (_, output, _) = Run("compare", "a", "b", "--percentiles", "p75,p9999");
        Assert.Matches("operation +baseline +rate +p75 +p9999 +max", output);
    }

    [Theory]
    [InlineData("compare", "--percentiles", "p990")]
    [InlineData("history", "--metric", "q4.p990")]
    public void What_is_no_percentile_is_told_with_the_rule(string command, string option, string value)
    {
        Write("a", Base);
        Write("b", Base with { NoiseSeed = 2 });
        (int code, _, string errors) = Run(command, "a", "b", option, value);
        Assert.Equal(2, code);
        Assert.Contains($"{option}: 'p990' is not valid; allowed: ", errors, StringComparison.Ordinal);
        Assert.Contains($"and any other percentile ({MongoPerf.Measurement.Percentile.Rule})", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_plot_of_ratios_has_the_percentile_that_it_shows_judged()
    {
        Write("a", Base);
        Write("b", Base with { NoiseSeed = 2, Speed = _ => 0.7 });
        File.WriteAllText(_runs.At("tail.yaml"), "title: Tails\nx: ratio\npanels: [rate, p9999]");
        (int code, string output, string errors) =
            Run("plot", "a", "b", "--plot", _runs.At("tail.yaml"), "--format", "svg", "--output", _runs.At("tail.svg"));
        Assert.True(code == 0, errors + output);
    }

    [Fact]
    public void History_and_figures_show_them()
    {
        for (int i = 0; i < 3; i++)
            Write($"r{i}", Base with { NoiseSeed = (ulong)i + 1 });
        (int code, string output, string errors) = Run("history", "r0", "r1", "r2", "--metric", "q4.p75,q4.p9999", "--format", "csv");
        Assert.True(code == 0, errors);
        Assert.Contains("p9999", output, StringComparison.Ordinal);
        using StoredRun run = StoredRun.Open(_runs.At("r0"));
        FigureMetric metric = FigureMetric.Find("p75");
        PhaseRecord phase = run.Phases[0];
        Assert.Equal(metric, FigureMetric.Find("p75"));
        Assert.InRange(metric.Of(run, phase, phase.Operations)!.Value,
            phase.Operations[0].LatencyMicroseconds.P50!.Value, phase.Operations[0].LatencyMicroseconds.P95!.Value);
    }

    [Theory]
    [InlineData("x: time\ny: p75", 1)]
    [InlineData("x: documents\npanels: [{show: queries, y: p9999}]", 1)]
    [InlineData("x: documents\npanels: [{show: percentiles, lines: [p75, p9999]}]", 2)]
    public void Plots_draw_them(string plot, int lines)
    {
        Write("a", Base);
        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Chart chart = Assert.Single(PlotBuilder.Build(run, PlotReader.Read(new PlotFile("tail", "tail.yaml", $"title: Tails\n{plot}"))));
        Assert.Equal(lines, chart.Panels[0].Series.Count);
        Assert.All(chart.Panels[0].Series, series => Assert.Contains(series.Values, value => value > 0));
    }

    private static double? Percentile(StoredRun run, string name, OperationResult result) => run.ValueOf(LatencyMetric.Find(name)!, result);

    private void Write(string id, NoisyRun run) => (run with { Id = id }).Write(_runs.Path);

    private (int Code, string Output, string Errors) Run(params string[] arguments) =>
        InProcess.Run([.. arguments, "--out", _runs.Path]);
}
