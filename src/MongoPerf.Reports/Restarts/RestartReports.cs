using MongoPerf.Reports.Findings;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Restarts;

/// <summary>How servers came back after they were ended on purpose, as a table and in sentences; none for any other run.</summary>
internal static class RestartReports
{
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
        var window = new MetricWindow(
            restart.StartedAt, restart.BackSeconds is { } back ? restart.StartedAt + (long)(back * 1000) : restart.EndedAt);
        return
        [
            Words.Of(restart.End), Seconds(restart.StopSeconds), Seconds(restart.AnswerSeconds),
            restart.BackSeconds is { } seconds ? Seconds(seconds)
                : restart.Rates.Any(r => r.Rate >= restart.BackRate) ? Words.Of("not for 3 s") : Words.Of("not reached"),
            restart.Rates.Count > 0 ? $"{Units.Rate(restart.Rates[0].Rate)}/s" : Units.None,
            Units.Bytes(window.ServerGrowth(run, "cache_read")), Units.Bytes(window.HostGrowth(run, "disk_read")),
            Count(window.ServerGrowth(run, "page_faults")),
        ];
    }

    private static string Seconds(double seconds) => Units.Latency(seconds * 1e6);

    private static string Count(double? count) => count is { } value ? Units.Count(value) : Units.None;
}
