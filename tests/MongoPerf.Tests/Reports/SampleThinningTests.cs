using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Explore;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

public sealed class SampleThinningTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    /// <summary>Several rows are added up at once, by other threads than the one that reads them.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    public void Rows_keep_their_order_and_hold_what_their_samples_hold(int perRow)
    {
        using StoredRun run = Measured(seconds: 1000, damagedAt: -1);
        Sample[] all = [.. run.ReadSamples(withHistograms: true)];
        Sample[][] stored = [[.. all.TakeWhile(sample => sample.IsWarmup)], .. all.SkipWhile(sample => sample.IsWarmup).Chunk(perRow)];
        int row = 0;
        foreach (MergedSample merged in SampleThinning.Merge(run, perRow))
        {
            Assert.Equal(stored[row][^1].AtMilliseconds, merged.Sample.AtMilliseconds);
            var sum = new LatencyHistogram();
            foreach (Sample sample in stored[row])
                HistogramEncoding.DecodeInto(sum, sample.Histogram.Span);
            Assert.Equal(sum.Counts(), merged.Histograms.Service.Counts());
            Assert.Equal(0, merged.Histograms.Response.TotalCount);
            row++;
        }

        Assert.Equal(stored.Length, row);
    }

    /// <summary>A week of a hundred operations has sixty million samples.</summary>
    [Theory]
    [InlineData(8_640_000, 86_400, 1)]
    [InlineData(2_000_000, 604_800, 1)]
    [InlineData(60_480_000, 604_800, 31)]
    public void Only_runs_of_more_than_a_day_with_very_many_samples_are_held_in_pieces(long samples, long seconds, int each) =>
        Assert.Equal(each, SampleThinning.SecondsEach(samples, seconds * 1000));

    [Fact]
    public void Pieces_hold_what_their_seconds_did_with_the_median_p50_and_the_highest_p99()
    {
        // The axis of pieces begins with Unix time: of 4 s, one begins with second 0.
        Sample[] samples =
        [
            .. Enumerable.Range(0, 8).SelectMany(second => new[] { Of(second, "read"), Of(second, "update") })
                .Select(sample => sample with { AtMilliseconds = sample.AtMilliseconds + 500, IsWarmup = false }),
        ];
        samples[4] = samples[4] with { HasOutage = true };
        (string, bool, double, long, double?, double?, double?)[] pieces = [.. SampleThinning.InPieces(samples, 4).Select(piece => (
            piece.Operation, piece.HasOutage, piece.Seconds, piece.Operations, piece.LatencyMicroseconds.P50,
            piece.LatencyMicroseconds.P99, piece.OfGroup?.Max))];
        Assert.Equal(
            [
                ("read", false, 2, 1, 0.5, 1, 11), ("read", true, 1, 2, 2, 2, 12), ("read", false, 1, 3, 3, 3, 13),
                ("update", false, 4, 6, 1.5, 3, null),
                ("read", false, 4, 22, 5.5, 7, 17), ("update", false, 4, 22, 5.5, 7, null),
            ],
            pieces);

        static Sample Of(int second, string operation) => RunParts.Sample(second, operation) with
        {
            Operations = second, LatencyMicroseconds = new LatencySummary { P50 = second, P99 = second, Max = second },
            OfGroup = operation == "read" ? new GroupLatency(second, second, 10 + second) : null,
        };
    }

    [Fact]
    public void A_damaged_histogram_is_told_and_not_left_out()
    {
        using StoredRun run = Measured(seconds: 300, damagedAt: 150);
        Assert.Throws<HistogramFormatException>(() => SampleThinning.Merge(run, 1).Count());
        Assert.Throws<HistogramFormatException>(() => ReportWriter.WriteAll(run, _runs.At("report")));
        Assert.DoesNotContain(Directory.GetFiles(_runs.At("report")), file => file.EndsWith(".new", StringComparison.Ordinal));
    }

    /// <summary>Who writes the files of samples reads them for the page as well.</summary>
    [Fact]
    public void The_page_has_the_same_histograms_as_when_it_reads_them_itself()
    {
        using StoredRun run = Measured(seconds: 1000, damagedAt: -1);
        ReportWriter.WriteAll(run, _runs.At("report"));
        string alone = PlotEncoding.Write(RunPlot.Of(run)!, run.Run.Id);
        Assert.Contains("\"histograms\":", alone, StringComparison.Ordinal);
        Assert.Contains(alone, File.ReadAllText(_runs.At("report/index.html")), StringComparison.Ordinal);
    }

    [Fact]
    public void Samples_are_handed_on_once_also_where_there_is_nothing_to_draw()
    {
        using StoredRun run = Measured(seconds: 0, damagedAt: -1);
        int times = 0;
        Assert.Null(RunPlot.Of(run, _ => times++));
        Assert.Equal(1, times);
        ReportWriter.WriteAll(run, _runs.At("report"));
        Assert.True(File.Exists(_runs.At("report/samples.csv")));
        Assert.True(File.Exists(_runs.At("report/latencies.hlog")));
    }

    private StoredRun Measured(int seconds, int damagedAt)
    {
        var random = new Random(11);
        using (RunStore store = RunStore.Create(_runs.At("run"), RunParts.Run(), RunParts.Settings()))
        {
            PhaseRecord phase = RunParts.Phase(1, "a", [RunParts.Result("read")]);
            store.BeginPhase(phase with { IsComplete = false }, continues: false);
            for (int i = 0; i < seconds; i++)
            {
                var histogram = new LatencyHistogram();
                for (int j = random.Next(1, 20); j > 0; j--)
                    histogram.Record(500 * random.Next(1, 20));
                byte[] encoded = HistogramEncoding.EncodeCompressed(histogram);
                if (i == damagedAt)
                    encoded[8] ^= 0xff;
                store.AddSample(RunParts.Sample(i, "read") with { Histogram = encoded });
            }

            store.EndPhase(phase);
        }

        return StoredRun.Open(_runs.At("run"));
    }
}
