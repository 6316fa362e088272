using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Progress;

/// <summary>Progress in words.</summary>
internal static class ProgressText
{
    public static string Finished(int step, long documents, TestResult result)
    {
        string rate = SeriesTests.IsInsert(result.Test) || ExperimentTests.IsInsert(result.Test)
            ? $"{Units.Rate(result.DocumentsPerSecond)} documents/s"
            : $"{Units.Rate(result.OperationsPerSecond)} operations/s";
        string threads = result.Threads > 1 ? $" x{result.Threads}" : "";
        string failed = result.Failed > 0 ? $", {result.Failed:N0} failed" : "";
        string lost = result.Unacknowledged is { Lost: > 0 } u ? $", {u.Lost:N0} lost and written again" : "";
        return $"step {step}, {Units.Count(documents)}: {result.Test}{threads} {rate}, {Units.Rate(result.MegabytesPerSecond)} MB/s, "
            + $"p50 {Units.Latency(result.LatencyMicroseconds.P50)}, p99 {Units.Latency(result.LatencyMicroseconds.P99)}{failed}{lost}";
    }

    public static string Step(ProgressSnapshot now, StepResult step)
    {
        string sizes = step.Sizes is { } s
            ? $", data {Units.Bytes(s.DataBytes)}, storage {Units.Bytes(s.StorageBytes)}, index {Units.Bytes(s.IndexBytes)}"
            : "";
        return $"step {step.Step} complete: {Units.Count(step.Documents)} of {Units.Count(now.Target)} documents{sizes}{Left(now.Eta)}";
    }

    public static string Running(ProgressSnapshot now)
    {
        string test = now.Test is { } t ? $"{t.Test}{(t.Threads > 1 ? $" x{t.Threads}" : "")}" : "between tests";
        return $"{Units.Count(now.Documents)} of {Units.Count(now.Target)} documents, {test}: {Rate(now.Last)}{Left(now.Eta)}";
    }

    public static string Rate(PhaseSample? sample)
    {
        if (sample is null)
            return "starting";
        double seconds = Math.Max(sample.Seconds, 0.001);
        return SeriesTests.IsInsert(sample.Test)
            ? $"{Units.Rate(sample.Documents / seconds)} documents/s"
            : $"{Units.Rate(sample.Operations / seconds)} operations/s";
    }

    public static string EtaText(Eta? eta) => eta is { } e
        ? $"{Units.Duration(TimeSpan.FromSeconds(e.LikelySeconds))} (between {Units.Duration(TimeSpan.FromSeconds(e.LowSeconds))} and {Units.Duration(TimeSpan.FromSeconds(e.HighSeconds))})"
        : "not known yet";

    private static string Left(Eta? eta) => eta is null ? "" : $", left {EtaText(eta)}";
}
