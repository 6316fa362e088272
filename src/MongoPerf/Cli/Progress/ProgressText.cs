using MongoPerf.Engine.Growth;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;

namespace MongoPerf.Cli.Progress;

/// <summary>Progress in words.</summary>
internal static class ProgressText
{
    public static string Finished(PhaseRecord phase, OperationResult result)
    {
        string rate = result.IsInsert ? $"{Units.Rate(result.DocumentsPerSecond)} documents/s" : $"{Units.Rate(result.OperationsPerSecond)} operations/s";
        string threads = result.Threads > 1 ? $" x{result.Threads}" : "";
        string failed = result.Failed > 0 ? $", {result.Failed:N0} failed" : "";
        string lost = result.Unacknowledged is { Lost: > 0 } u ? $", {u.Lost:N0} lost and written again" : "";
        string name = result.Operation == phase.Phase ? result.Operation : $"{phase.Phase}, {result.Operation}";
        string where = phase.Growth is { } growth ? $"step {growth.Step}, {Units.Count(phase.Documents > 0 ? phase.Documents : growth.Documents)}: " : "";
        return $"{where}{name}{threads} {rate}, {Units.Rate(result.MegabytesPerSecond)} MB/s, "
            + $"{(result.HasRate ? "response " : "")}p50 {Units.Latency(result.JudgedMicroseconds.P50)}, p99 {Units.Latency(result.JudgedMicroseconds.P99)}{failed}{lost}";
    }

    public static string Step(ProgressSnapshot now, GrowthStep step)
    {
        string sizes = step.Sizes is [var s, ..]
            ? $", data {Units.Bytes(s.DataBytes)}, storage {Units.Bytes(s.StorageBytes)}, indexes {Units.Bytes(s.IndexBytes)}"
            : "";
        return $"step {step.Step} complete: {Units.Count(step.Documents)} documents{sizes}{Left(now.Eta)}";
    }

    public static string Running(ProgressSnapshot now)
    {
        string documents = now.Target > 0 ? $"{Units.Count(now.Documents)} of {Units.Count(now.Target)} documents, " : "";
        return $"{documents}{now.Phase?.Phase ?? "between phases"}: {Rate(now.Last)}{Left(now.Eta)}";
    }

    /// <summary>Of all operations of the phase together.</summary>
    public static string Rate(IReadOnlyList<Sample> samples)
    {
        if (samples.Count == 0)
            return "starting";
        double seconds = Math.Max(samples.Max(s => s.Seconds), 0.001);
        long documents = samples.Sum(s => s.Documents);
        long operations = samples.Sum(s => s.Operations);
        return documents == operations ? $"{Units.Rate(operations / seconds)} operations/s" : $"{Units.Rate(operations / seconds)} operations/s, {Units.Rate(documents / seconds)} documents/s";
    }

    public static string EtaText(Eta? eta) => eta is { } e
        ? $"about {Units.Duration(TimeSpan.FromSeconds(e.LikelySeconds))} left ({RangeText(e)})"
        : "not known yet";

    public static string RangeText(Eta eta) => $"{Units.Duration(TimeSpan.FromSeconds(eta.LowSeconds))} to {Units.Duration(TimeSpan.FromSeconds(eta.HighSeconds))}";

    private static string Left(Eta? eta) => eta is null or { HighSeconds: < 1 } ? "" : $", {EtaText(eta)}";
}
