using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Restarts;

/// <summary>How servers came back after they were ended on purpose, as a table and in sentences; none for any other run.</summary>
internal static class RestartReports
{
    /// <summary>A sample that is due at the end of a time may come up to a second later.</summary>
    private const long SampleMilliseconds = 1000;

    public static ReportTable? Table(StoredRun run)
    {
        IReadOnlyList<RestartFigures> restarts = RestartFigures.Of(run);
        return restarts.Count == 0 ? null : new ReportTable(
            Words.Of($"Restarts: {Units.Rate(restarts[0].RateBefore)} operations/s before; times run from the server's start"),
            ["<after", "stop took", "first answer", "back at 90 %", "first second", "read into cache", "read from disk", "page faults"],
            [.. restarts.Select(restart => Row(run, restart))]);
    }

    public static IEnumerable<Verdict> Verdicts(StoredRun run) => RestartFigures.Of(run).Select(Verdict);

    private static Verdict Verdict(RestartFigures restart)
    {
        string end = restart.End == RunEvent.Kill ? restart.End : Words.Of($"a {Words.Of(restart.End)}");
        string text = Words.Of(
            $"after {end} ({Seconds(restart.StopSeconds)}) the server answered {Seconds(restart.AnswerSeconds)} after its start; ");
        string rate = Words.Of($"90 % of {Units.Rate(restart.RateBefore)} operations/s");
        if (restart.BackSeconds is { } back)
        {
            return back <= restart.AnswerSeconds
                ? new Verdict(Grade.Good, Words.Of($"{text}the rate was at {rate} or more from the first second"))
                : new Verdict(
                    Grade.Good, Words.Of($"{text}the rate was back at {rate} after {Seconds(back)}")) { Finding = VerdictFinding.WarmUp };
        }

        double peak = restart.Rates.Select(r => r.Rate).DefaultIfEmpty(double.NaN).Max();
        string reached = double.IsNaN(peak) ? Words.Of($"the rate did not get back to {rate}: nothing was measured")
            : peak < restart.BackRate ? Words.Of(
                $"the rate did not get back to {rate}: it peaked at {Units.Percent(peak / restart.RateBefore)} of the rate before")
            : Words.Of($"the rate did not stay at {rate} for {RestartFigures.SecondsInARow} seconds, "
                + $"although it peaked at {Units.Percent(peak / restart.RateBefore)} of the rate before");
        return new Verdict(
            Grade.Note, Words.Of($"{text}{reached}; a longer --duration may show when it does")) { Finding = VerdictFinding.WarmUp };
    }

    private static IReadOnlyList<string> Row(StoredRun run, RestartFigures restart)
    {
        long end = restart.BackSeconds is { } back ? restart.StartedAt + (long)(back * 1000) : restart.EndedAt;
        return
        [
            Words.Of(restart.End), Seconds(restart.StopSeconds), Seconds(restart.AnswerSeconds),
            restart.BackSeconds is { } seconds ? Seconds(seconds)
                : restart.Rates.Any(r => r.Rate >= restart.BackRate) ? Words.Of("not for 3 s") : Words.Of("not reached"),
            restart.Rates.Count > 0 ? $"{Units.Rate(restart.Rates[0].Rate)}/s" : Units.None,
            Units.Bytes(ServerGrowth(run, restart, end, "cache_read")), Units.Bytes(HostGrowth(run, restart, end, "disk_read")),
            Count(ServerGrowth(run, restart, end, "page_faults")),
        ];
    }

    /// <summary>What a counter of the server, which started then, had reached at the end; null when no sample has it.</summary>
    private static double? ServerGrowth(StoredRun run, RestartFigures restart, long end, string metric)
    {
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Server, metric);
        double last = run.ReadServerSamples()
            .Where(sample => sample.AtMilliseconds >= restart.StartedAt && sample.AtMilliseconds <= end + SampleMilliseconds)
            .Select(sample => sample.Values[column]).LastOrDefault(double.IsFinite, double.NaN);
        return double.IsFinite(last) ? last : null;
    }

    /// <summary>What a counter of the machine, which keeps counting, grew by until the end; null when no two samples have it.</summary>
    private static double? HostGrowth(StoredRun run, RestartFigures restart, long end, string metric)
    {
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Host, metric);
        (long first, long last) = (restart.StartedAt - SampleMilliseconds, end + SampleMilliseconds);
        double[] values = [.. run.ReadHostSamples().Where(sample => sample.AtMilliseconds >= first && sample.AtMilliseconds <= last)
            .Select(sample => sample.Values[column]).Where(double.IsFinite)];
        return values.Length > 1 ? values[^1] - values[0] : null;
    }

    private static string Seconds(double seconds) => Units.Latency(seconds * 1e6);

    private static string Count(double? count) => count is { } value ? Units.Count(value) : Units.None;
}
