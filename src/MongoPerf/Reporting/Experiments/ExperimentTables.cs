using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Experiments;

/// <summary>What an experiment came to, in tables; none for any other run.</summary>
internal static class ExperimentTables
{
    public static IEnumerable<ReportTable> Of(StoredRun run) => [.. Restarts(run), .. Comparison(run)];

    private static IEnumerable<ReportTable> Restarts(StoredRun run)
    {
        IReadOnlyList<RestartFigures> restarts = RestartFigures.Of(run);
        if (restarts.Count == 0)
            yield break;
        yield return new ReportTable(
            $"Restarts: {Units.Rate(restarts[0].RateBefore)} operations/s before; times run from the server's start",
            ["<after", "its end took", "first answer", "back at 90 %", "first second", "read into cache", "read from disk", "page faults"],
            [.. restarts.Select(restart => Row(run, restart))]);
    }

    private static IReadOnlyList<string> Row(StoredRun run, RestartFigures restart)
    {
        var window = new MetricWindow(restart.StartedAt, restart.BackSeconds is { } back ? restart.StartedAt + (long)(back * 1000) : restart.EndedAt);
        return
        [
            restart.End, Seconds(restart.StopSeconds), Seconds(restart.AnswerSeconds), restart.BackSeconds is { } seconds ? Seconds(seconds) : "not reached",
            restart.Rates.Count > 0 ? $"{Units.Rate(restart.Rates[0].Rate)}/s" : Units.None,
            Units.Bytes(window.ServerGrowth(run, "cache_read")), Units.Bytes(window.HostGrowth(run, "disk_read")), Count(window.ServerGrowth(run, "page_faults")),
        ];
    }

    /// <summary>Tests beside each other, a row for each number of threads.</summary>
    private static IEnumerable<ReportTable> Comparison(StoredRun run)
    {
        if (ThreadFigures.Of(run) is not { } figures)
            yield break;
        string unit = figures.AreInserts ? "docs/s" : "ops/s";
        bool isPair = figures.Tests.Count == 2;
        List<string> columns = ["threads"];
        foreach (string test in figures.Tests)
            columns.AddRange([$"{test} {unit}", $"{test} p50", $"{test} p99"]);
        columns.Add("ratio");
        string ratio = isPair ? $"rate of {figures.Tests[1]} over that of {figures.Tests[0]}" : $"rate of {figures.Tests[0]} over that by {Charts.ChartText.ThreadsText(figures.Threads[0])}";
        yield return new ReportTable($"By threads; ratio: {ratio}", columns, [.. figures.Threads.Select(threads => Row(figures, threads, isPair))]);
    }

    private static List<string> Row(ThreadFigures figures, int threads, bool isPair)
    {
        List<string> row = [$"{threads}"];
        foreach (TestResult? result in figures.Tests.Select(test => figures.Find(test, threads)))
        {
            row.AddRange(result is null
                ? [Units.None, Units.None, Units.None]
                : [Units.Rate(figures.RateOf(result)), Units.Latency(result.LatencyMicroseconds.P50), Units.Latency(result.LatencyMicroseconds.P99)]);
        }

        TestResult? of = figures.Find(figures.Tests[0], isPair ? threads : figures.Threads[0]);
        TestResult? that = figures.Find(figures.Tests[isPair ? 1 : 0], threads);
        row.Add(of is not null && that is not null && figures.RateOf(of) > 0 ? Units.Percent(figures.RateOf(that) / figures.RateOf(of)) : Units.None);
        return row;
    }

    private static string Seconds(double seconds) => Units.Latency(seconds * 1e6);

    private static string Count(double? count) => count is { } value ? Units.Count(value) : Units.None;
}
