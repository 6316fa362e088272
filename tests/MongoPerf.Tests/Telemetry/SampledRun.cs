using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Telemetry;

/// <summary>Stores a run of two seconds with samples of an operation, a server and the machine, whose values are known.</summary>
internal static class SampledRun
{
    public const long Operations = 30;
    public const long Failed = 2;
    public const double LatencySeconds = 0.002;

    /// <param name="folder">Of the run.</param>
    /// <param name="operation">Its name.</param>
    /// <param name="state">In which the run is left.</param>
    /// <param name="damaged">Bytes in place of each second's latencies; null for these.</param>
    public static void Write(
        string folder, string operation = "q4", RunState state = RunState.Finished, byte[]? damaged = null)
    {
        using RunStore store = RunStore.Create(folder, RunParts.Run(Path.GetFileName(folder)), RunParts.Settings());
        store.SetDeployment(RunParts.Deployment());
        store.SetEnvironment(RunParts.Environment());
        store.BeginPhase(RunParts.Phase(1, operation) with { IsComplete = false }, continues: false);
        for (int second = 1; second <= 2; second++)
        {
            Sample sample = SampleOf(second, operation, 10 * second);
            store.AddSample(damaged is null ? sample : sample with { Histogram = damaged });
            store.AddServerSample(new MetricSample(At(second), "127.0.0.1:27017", Values(MetricCatalogue.Server,
                ("opcounters_query", 350 * second), ("mem_resident", 100))));
            store.AddHostSample(new MetricSample(At(second), "client", Values(MetricCatalogue.Host, ("cpu_user", 1.25e6 * second))));
        }

        if (state != RunState.Running)
            store.SetState(state, null, RunParts.Start.AddSeconds(3));
    }

    /// <summary>A second in which so many operations succeeded and one failed.</summary>
    public static Sample SampleOf(int second, string operation, int operations, double latencySeconds = LatencySeconds)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < operations; i++)
            histogram.Record(latencySeconds * 1e6);
        return RunParts.Sample(second, operation) with
        {
            Operations = operations, Failed = 1, IsWarmup = false, LatencyMicroseconds = LatencySummaries.From(histogram),
            Histogram = HistogramEncoding.EncodeCompressed(histogram),
        };
    }

    private static long At(int second) => RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds();

    private static double[] Values(IReadOnlyList<Metric> metrics, params (string Name, double Value)[] known)
    {
        double[] values = [.. metrics.Select(_ => double.NaN)];
        foreach ((string name, double value) in known)
            values[MetricCatalogue.IndexOf(metrics, name)] = value;
        return values;
    }
}
