using MongoPerf.Load.Growth;
using MongoPerf.Storage;

namespace MongoPerf.Running.Progress;

/// <summary>Progress in words.</summary>
public static class ProgressText
{
    private const string Bars = "▁▂▃▄▅▆▇█";

    public static string Finished(PhaseRecord phase, OperationResult result)
    {
        string rate = result.IsInsert
            ? $"{Units.Rate(result.DocumentsPerSecond)} documents/s"
            : $"{Units.Rate(result.OperationsPerSecond)} operations/s";
        string threads = result.Threads > 1 ? $" x{result.Threads}" : "";
        string failed = result.Failed > 0 ? $", {result.Failed:N0} failed" : "";
        string lost = result.Unacknowledged is { Lost: > 0 } u ? $", {u.Lost:N0} lost and written again" : "";
        string name = result.Operation == phase.Phase ? result.Operation : $"{phase.Phase}, {result.Operation}";
        string where = phase.Growth is { } growth
            ? $"step {growth.Step}, {Units.Count(phase.Documents > 0 ? phase.Documents : growth.Documents)}: "
            : "";
        return $"{where}{name}{threads} {rate}, {Units.Rate(result.MegabytesPerSecond)} MB/s, "
            + $"{(result.HasRate ? "response " : "")}p50 {Units.Latency(result.ReportedMicroseconds.P50)}, "
            + $"p99 {Units.Latency(result.ReportedMicroseconds.P99)}{failed}{lost}";
    }

    public static string Step(ProgressSnapshot now, GrowthStep step)
    {
        string sizes = step.Sizes is [var s, ..]
            ? $", data {Units.Bytes(s.DataBytes)}, storage {Units.Bytes(s.StorageBytes)}, indexes {Units.Bytes(s.IndexBytes)}"
                + (s.AreOfCheckpoint ? " (files as of the last checkpoint, up to a minute old)" : "")
            : "";
        return $"step {step.Step} complete: {Units.Count(step.Documents)} documents{sizes}{Left(now.Eta)}";
    }

    public static string Running(ProgressSnapshot now)
    {
        string documents = now.Target > 0 ? $"{Units.Count(now.Documents)} of {Units.Count(now.Target)} documents, " : "";
        return $"{(now.Place.Count > 1 ? Place(now.Place) + ", " : "")}{documents}{now.Phase?.Phase ?? "between phases"}: "
            + $"{Rate(now.Last)}{Left(now.Eta)}";
    }

    /// <summary>"run 1 of 2".</summary>
    public static string Place(RunPlace place) => $"run {place.Number} of {place.Count}";

    /// <summary>Bars from 0 to the largest value, the latest last; spaces in front where there are fewer.</summary>
    /// <param name="values">0 or more.</param>
    /// <param name="width">Characters.</param>
    public static string Sparkline(IReadOnlyList<double> values, int width)
    {
        double[] shown = [.. values.Skip(Math.Max(0, values.Count - width))];
        double largest = shown.DefaultIfEmpty().Max();
        // A rate that is not 0 is never drawn as nothing.
        return string.Concat(shown.Select(value => value <= 0 || largest <= 0 ? ' '
            : Bars[Math.Clamp((int)Math.Ceiling(value / largest * Bars.Length) - 1, 0, Bars.Length - 1)])).PadLeft(width);
    }

    /// <summary>Cuts a text to at most so many characters; what is cut ends in "…".</summary>
    public static string Clip(string text, int width) => text.Length <= width ? text : width < 1 ? "" : text[..(width - 1)] + "…";

    /// <summary>The rate of all operations of the phase together.</summary>
    public static string Rate(IReadOnlyList<Sample> samples)
    {
        if (samples.Count == 0)
            return "starting";
        double seconds = Math.Max(samples.Max(s => s.Seconds), 0.001);
        long documents = samples.Sum(s => s.Documents);
        long operations = samples.Sum(s => s.Operations);
        return documents == operations
            ? $"{Units.Rate(operations / seconds)} operations/s"
            : $"{Units.Rate(operations / seconds)} operations/s, {Units.Rate(documents / seconds)} documents/s";
    }

    /// <summary>"estimated time: at least 1 min 30 s": how fast servers write is not known before they do.</summary>
    public static string EstimatedTime(TimeEstimator time) => $"estimated time: at least {Text(time.LeastSeconds)}";

    public static string EtaText(Eta? eta) => eta is { } e
        ? $"about {Text(e.LikelySeconds)} left{(RangeText(e) is var range && range != Text(e.LowSeconds) ? $" ({range})" : "")}"
        : "not known yet";

    /// <summary>"10 s to 15 s", or one value where both ends read the same.</summary>
    public static string RangeText(Eta eta)
    {
        (string low, string high) = (Text(eta.LowSeconds), Text(eta.HighSeconds));
        return low == high ? low : $"{low} to {high}";
    }

    private static string Text(double seconds) => Units.Duration(TimeSpan.FromSeconds(seconds));

    private static string Left(Eta? eta) => eta is null or { HighSeconds: < 1 } ? "" : $", {EtaText(eta)}";
}
