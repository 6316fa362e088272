using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Reports.Explore;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Explore;

/// <summary>What a live page is told of a run that is under way.</summary>
public sealed class LivePlotTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();
    private readonly RunStore _store;
    private readonly LivePlot _plot;

    public LivePlotTests()
    {
        _store = RunStore.Create(_runs.At("2026-11-21-a"), RunParts.Run(), RunParts.Settings());
        _plot = new LivePlot(_runs.At("2026-11-21-a"));
    }

    public void Dispose()
    {
        _store.Dispose();
        _runs.Dispose();
    }

    /// <summary>Otherwise a page would stand still for what other threads do.</summary>
    [Fact]
    public void A_look_is_charged_with_the_time_of_its_own_thread()
    {
        TimeSpan before = ThreadCpuTime.Now;
        var other = new Thread(static () => Compute(0.2));
        other.Start();
        other.Join();
        TimeSpan waited = ThreadCpuTime.Now;
        Compute(0.1);
        Assert.InRange((waited - before).TotalSeconds, 0, 0.1);
        Assert.InRange((ThreadCpuTime.Now - waited).TotalSeconds, 0.1, 10);

        // Of its own CPU time.
        static void Compute(double seconds)
        {
            for (TimeSpan end = ThreadCpuTime.Now + TimeSpan.FromSeconds(seconds); ThreadCpuTime.Now < end;)
            {
            }
        }
    }

    [Fact]
    public void Before_anything_is_measured_only_the_state_is_told_and_once()
    {
        LiveMessage only = Assert.Single(_plot.Look());
        Assert.Equal("status", only.Name);
        Assert.Contains("\"state\":\"running\"", only.Json, StringComparison.Ordinal);
        Assert.Empty(_plot.Look());
    }

    [Fact]
    public void First_comes_the_whole_plot_and_then_what_is_new()
    {
        Begin("q4");
        Measure(second: 1, operations: 10);
        Measure(second: 2, operations: 20);
        var whole = new PackedPlot(_plot.Look()[0].Json);
        Assert.Equal([10, 20], Rounded(whole.Columns[0].Values[0]));

        Assert.Empty(_plot.Look());
        Measure(second: 3, operations: 30);
        LiveMessage message = Assert.Single(_plot.Look());
        Assert.Equal("tail", message.Name);
        var tail = new PackedPlot(message.Json);
        Assert.Equal([30], Rounded(tail.Columns[0].Values[0]));
        // On the same axis: a second behind the last.
        Assert.Equal([Math.Round(whole.Columns[0].At[^1] + 1, 1)], Rounded(tail.Columns[0].At));
        Assert.Equal(30, tail.Summarise(0)!.Operations);
        Assert.Empty(_plot.Look());
    }

    [Fact]
    public void During_a_warm_up_a_page_has_lines_and_no_percentiles()
    {
        Begin("q4");
        Measure(second: 1, operations: 10, isWarmup: true);
        var page = new PackedPlot(_plot.Look()[0].Json);
        Measure(second: 2, operations: 20, isWarmup: true);
        page.Append(Assert.Single(_plot.Look()).Json);

        Assert.Equal([10, 20], Rounded(page.Columns[0].Values[0]));
        Assert.Empty(page.Ranges);
    }

    /// <summary>The page's own script puts them together.</summary>
    [Fact]
    public void Pieces_together_are_what_the_whole_plot_holds()
    {
        Begin("q4");
        PackedPlot? page = null;
        int pieces = 0;
        for (int second = 1; second <= 12; second++)
        {
            Measure(second, operations: second * 10);
            foreach (LiveMessage message in _plot.Look().Where(message => message.Name != "status"))
            {
                pieces++;
                if (message.Name == "plot")
                    page = new PackedPlot(message.Json);
                else
                    page!.Append(message.Json);
            }
        }

        using StoredRun run = StoredRun.Open(_store.Folder);
        var whole = new PackedPlot(PlotEncoding.Write(RunPlot.Of(run)!, "x"));
        Assert.Equal(12, pieces);
        Assert.Equal(whole.Columns.Select(panel => panel.At.Length), page!.Columns.Select(panel => panel.At.Length));
        foreach ((PackedColumns expected, PackedColumns shown) in whole.Columns.Zip(page.Columns))
        {
            Assert.Equal(Rounded(expected.At), Rounded(shown.At));
            Assert.Equal(expected.Values.Select(Rounded), shown.Values.Select(Rounded));
        }

        Assert.Equal(Enumerable.Range(1, 12).Select(second => second * 10.0), Rounded(page.Columns[0].Values[0]));
        Assert.Equal(whole.Blocks(0).Select(static block => block.Counts), page.Blocks(0).Select(static block => block.Counts));
        Assert.Equal(Enumerable.Range(1, 12).Sum() * 10, page.Summarise(0)!.Operations);
    }

    [Fact]
    public void Phase_that_begins_anew_makes_the_plot_begin_anew()
    {
        Begin("q4");
        Measure(second: 1, operations: 10);
        Measure(second: 2, operations: 20);
        _plot.Look();

        Begin("q4");
        Measure(second: 3, operations: 30);

        LiveMessage message = _plot.Look()[0];
        Assert.Equal("plot", message.Name);
        Assert.Equal([30], Rounded(new PackedPlot(message.Json).Columns[0].Values[0]));
    }

    [Fact]
    public void Pause_makes_the_plot_begin_anew_because_it_is_cut_out_of_the_axis()
    {
        Begin("q4");
        Measure(second: 1, operations: 10);
        _plot.Look();
        Measure(second: 1000, operations: 20);

        Assert.Equal("plot", _plot.Look()[0].Name);
    }

    [Fact]
    public void Behind_a_phase_with_a_rate_lines_stay_in_their_panels()
    {
        _store.BeginPhase(RunParts.Phase(1, "paced") with { IsComplete = false, Rate = 100 }, continues: false);
        Measure(second: 1, operations: 10, response: RunParts.Latency(100));
        string[] titles = Titles(_plot.Look()[0]);

        _store.BeginPhase(RunParts.Phase(2, "free") with { IsComplete = false }, continues: false);
        Measure(second: 2, operations: 20, phase: 2);

        Assert.Equal(titles, Titles(_plot.Look()[0]));
    }

    [Fact]
    public void End_of_the_run_is_told()
    {
        Begin("q4");
        Measure(second: 1, operations: 10);
        _plot.Look();
        _store.SetState(RunState.Finished, null, RunParts.Start);

        Assert.Contains("\"state\":\"finished\"", Assert.Single(_plot.Look()).Json, StringComparison.Ordinal);
    }

    private static double[] Rounded(double[] values) => [.. values.Select(value => Math.Round(value, 1))];

    private void Begin(string phase) => _store.BeginPhase(RunParts.Phase(1, phase) with { IsComplete = false }, continues: false);

    private static string[] Titles(LiveMessage message) => [.. new PackedPlot(message.Json).Json
        .GetProperty("panels").EnumerateArray().Select(panel => panel.GetProperty("title").GetString()!)];

    private void Measure(int second, long operations, int phase = 1, LatencySummary? response = null, bool isWarmup = false)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < operations; i++)
            histogram.RecordNanoseconds(100_000 + i);
        _store.AddSample(RunParts.Sample(second) with
        {
            AtMilliseconds = RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds(),
            Phase = phase,
            IsWarmup = isWarmup,
            ResponseMicroseconds = response,
            Operation = "find",
            Seconds = 1,
            Operations = operations,
            Histogram = HistogramEncoding.Encode(histogram),
        });
        _store.Flush();
    }
}
