using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;

namespace MongoPerf.Tests.Reporting;

public sealed class DownsamplingTests
{
    [Theory]
    [InlineData(1, 100)]
    [InlineData(100, 100)]
    [InlineData(101, 100)]
    [InlineData(604_800, 1000)]
    [InlineData(12_345, 7)]
    [InlineData(5, 2)]
    public void Thinning_keeps_bounds_mean_and_count(int count, int atMost)
    {
        var random = new Random(count);
        (double X, double Y)[] points = [.. Enumerable.Range(0, count).Select(i => ((double)i, random.NextDouble() * 1000))];
        IReadOnlyList<ThinnedPoint> thinned = Downsampler.Thin(points, atMost);
        Assert.InRange(thinned.Count, Math.Min(count, Math.Max(1, atMost / 2)), atMost);
        Assert.Equal(points.Min(p => p.Y), thinned.Min(p => p.Minimum));
        Assert.Equal(points.Max(p => p.Y), thinned.Max(p => p.Maximum));
        Assert.Equal(count, thinned.Sum(p => p.Count));
        Assert.Equal(points.Average(p => p.Y), thinned.Sum(p => p.Mean * p.Count) / count, 6);
        Assert.Equal(0, thinned[0].FirstX);
        Assert.Equal(count - 1, thinned[^1].LastX);
        foreach (ThinnedPoint point in thinned)
        {
            var within = points.Where(p => p.X >= point.FirstX && p.X <= point.LastX).Select(p => p.Y).ToArray();
            Assert.Equal(point.Count, within.Length);
            Assert.Equal((within.Min(), within.Max()), (point.Minimum, point.Maximum));
        }
    }

    [Fact]
    public void Few_points_stay_as_they_are() => Assert.Equal(
        [new ThinnedPoint(1, 1, 5, 5, 5, 1), new ThinnedPoint(3, 3, 7, 7, 7, 1)],
        Downsampler.Thin([(1, 5), (2, double.NaN), (3, 7)], 2));

    [Fact]
    public void Counters_become_rates_and_a_restart_leaves_a_gap()
    {
        Metric[] metrics = [new("c", "bytes", MetricKind.Counter, "", ""), new("g", "bytes", MetricKind.Gauge, "", "")];
        MetricSample[] samples =
        [
            new(1000, "m", [100, 1]), new(2000, "m", [300, 2]), new(2000, "other", [5, 5]), new(4000, "m", [700, 3]),
            new(5000, "m", [50, double.NaN]), new(6000, "m", [150, 5]),
        ];
        double[][] rows = [.. SampleThinning.Rates(() => samples, metrics, 100).Where(s => s.Member == "m").Select(s => s.Values)];
        Assert.Equal([double.NaN, 200, 200, double.NaN, 100], rows.Select(r => r[0]));
        Assert.Equal([1, 2, 3, double.NaN, 5], rows.Select(r => r[1]));

        // Two in one: the rate over the time in which it is known, the mean of the levels there are.
        double[][] pairs = [.. SampleThinning.Rates(() => samples.Where(s => s.Member == "m"), metrics, 3).Select(s => s.Values)];
        Assert.Equal([200, 200, 100], pairs.Select(r => r[0]));
        Assert.Equal([1.5, 3, 5], pairs.Select(r => r[1]));
    }

    [Fact]
    public void Merged_samples_of_a_run_are_few_and_lose_no_operation()
    {
        using var runs = new Support.TemporaryFolder();
        using StoredRun run = StoredRun.Open(Support.FrozenRun.Build(
            runs.Path, new Support.FrozenShape { Steps = 2, TargetDocumentCount = 400_000, WindowSeconds = 8 }));
        PhaseSample[] all = [.. run.ReadSamples()];
        (PhaseSample Sample, long Recorded)[] merged = [.. SampleThinning.Merge(run, 20).Select(m => (m.Sample, m.Histogram.TotalCount))];
        Assert.True(all.Length > 70);
        // 7 tests at 2 sizes, 8 of them with a warm-up: that many groups may end early.
        Assert.True(merged.Length < 20 + 22, merged.Length.ToString());
        Assert.Equal(all.Sum(s => s.Operations), merged.Sum(m => m.Sample.Operations));
        Assert.Equal(all.Sum(s => s.Operations), merged.Sum(m => m.Recorded));
        Assert.Equal(all.Sum(s => s.Seconds), merged.Sum(m => m.Sample.Seconds), 6);
    }
}
