using MongoPerf.Measurement;
using MongoPerf.Reports.Charts;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Reports.Explore;

/// <summary>Percentiles of ranges as the program computes them: from the stored samples, without anything that a page holds.</summary>
internal sealed class MeasuredRanges
{
    private readonly StoredRun _run;
    private readonly OperationSeconds _seconds;
    private readonly TimeAxis _axis;

    public MeasuredRanges(StoredRun run)
    {
        _run = run;
        _seconds = OperationSeconds.Of(run);
        _axis = _seconds.Axis;
    }

    /// <summary>Ten, in tenths of a second; the same ones each time.</summary>
    public static IReadOnlyList<(double From, double To)> Random(double seconds)
    {
        var random = new Random(1);
        return
        [
            .. Enumerable.Range(0, 10).Select(_ =>
            {
                double from = Math.Round(random.NextDouble() * seconds / 2, 1);
                return (from, Math.Round(from + 1 + (random.NextDouble() * ((seconds / 2) - 1)), 1));
            }),
        ];
    }

    /// <summary>Of the measured samples whose middle, in tenths of a second, lies in the range.</summary>
    public LatencySummary Of(string title, double from, double to)
    {
        var sum = new LatencyHistogram();
        foreach (Sample sample in _run.ReadSamples(withHistograms: true)
            .Where(static sample => !sample.IsWarmup && !sample.Histogram.IsEmpty))
        {
            if (_seconds.Lines[_seconds.PlaceOf(sample.Phase, sample.Operation)].Name != title)
                continue;
            double end = _axis.At(sample.AtMilliseconds);
            double begin = Math.Round((end - sample.Seconds) * 10);
            double middle = ((begin / 10.0) + (Math.Max(begin + 1, Math.Round(end * 10)) / 10.0)) / 2;
            if (middle >= from && middle <= to)
                HistogramEncoding.DecodeInto(sum, sample.Histogram.Span);
        }

        return LatencySummaries.From(sum);
    }
}
