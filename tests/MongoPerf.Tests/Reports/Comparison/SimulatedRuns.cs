using MongoPerf.Measurement;
using MongoPerf.Reports.Comparison;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>
/// Pairs of scripted runs with the noise of real ones, and what is said about them. Everything drawn comes from the seed.
/// </summary>
/// <param name="seed">Of the noise.</param>
/// <param name="sizes">Windows of each operation.</param>
/// <param name="seconds">Of each window.</param>
/// <param name="correlation">From one second to the next.</param>
internal sealed class SimulatedRuns(ulong seed, int sizes, int seconds, double correlation = 0.5)
{
    private const int OperationsPerSecond = 100;

    private static readonly string[] Seven = ["unack", "batch", "safe", "q4", "q5", "q6", "q7"];

    private readonly NoisySamples _noise = new(seed, correlation: correlation);
    private RandomStream _random = new(seed + 1_000_000);

    /// <summary>Seconds hold latencies too: makes all of it dearer.</summary>
    public bool HasLatencies { get; init; }

    public IReadOnlyList<string> Operations { get; init; } = Seven;

    /// <summary>A run against another, of which each operation is so many times as fast; latencies are as much lower.</summary>
    public IReadOnlyList<OperationComparison> Compare(Func<string, double> speed, double threshold = RunComparer.DefaultNoiseThreshold) =>
        new OperationComparer(new SideWindows([Run(_ => 1)]), new SideWindows([Run(speed)]), threshold).Compare();

    public RunWindows Run(Func<string, double> speed)
    {
        var windows = new Dictionary<WindowKey, RateWindow>();
        for (int step = 1; step <= sizes; step++)
        {
            foreach (string phase in Operations)
                windows[new WindowKey(new ComparedOperation("series", phase, "", phase, 8), step * 1000)] = Window(step, speed(phase));
        }

        return new RunWindows(windows);
    }

    private RateWindow Window(int step, double speed)
    {
        double[] rates = _noise.Window(seconds, 10_000.0 / step * speed);
        var all = new LatencyHistogram();
        Sample[] samples = HasLatencies ? [.. rates.Select(rate => Second(1e7 / rate, all))] : [];
        return new RateWindow
        {
            Documents = step * 1000, Rate = rates.Average(), Rates = rates, Samples = samples, OutageSamples = 0,
            Latency = HasLatencies ? LatencySummaries.From(all) : new LatencySummary(),
        };
    }

    /// <summary>Logarithms of latencies are normal, with a deviation of 0.5; they go with the second's rate.</summary>
    private Sample Second(double median, LatencyHistogram all)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < OperationsPerSecond; i++)
            histogram.Record((long)(median * Math.Exp(
                0.5 * Math.Sqrt(-2 * Math.Log(1 - _random.NextDouble())) * Math.Cos(2 * Math.PI * _random.NextDouble()))));
        histogram.AddTo(all);
        return new Sample
        {
            AtMilliseconds = 0, Phase = 1, Operation = "", IsWarmup = false, Seconds = 1, Operations = OperationsPerSecond,
            Documents = 0, Bytes = 0, Failed = 0,
            CollectionDocuments = 0, LatencyMicroseconds = LatencySummaries.From(histogram),
            Histogram = HistogramEncoding.EncodeCompressed(histogram),
        };
    }
}
