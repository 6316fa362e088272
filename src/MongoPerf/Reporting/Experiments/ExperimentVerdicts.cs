using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;

namespace MongoPerf.Reporting.Experiments;

/// <summary>What an experiment found, in a sentence or two; none for any other run.</summary>
internal static class ExperimentVerdicts
{
    /// <summary>Less than that is the noise of a few seconds.</summary>
    private const double Noticeable = 0.1;

    public static IEnumerable<Verdict> Of(StoredRun run)
    {
        foreach (RestartFigures restart in RestartFigures.Of(run))
            yield return Restart(restart);
        if (ThreadFigures.Of(run) is not { } figures)
            yield break;
        if (figures.Tests is [ExperimentTests.Insert])
            yield return Threads(figures);
        else if (figures.Tests is [ExperimentTests.Written, ExperimentTests.Journaled])
            yield return Compare(figures, "inserts that wait for the journal");
        else if (figures.Tests is [ExperimentTests.SortById, ExperimentTests.SortByNumber])
            yield return Compare(figures, "a sort by Number, beside one by _id,");
    }

    private static Verdict Restart(RestartFigures restart)
    {
        string text = $"after a {restart.End} ({Seconds(restart.StopSeconds)}) the first answer came {Seconds(restart.AnswerSeconds)} after the start; ";
        string rate = $"90 % of {Units.Rate(restart.RateBefore)} operations/s";
        if (restart.BackSeconds is { } back)
            return new Verdict(Grade.Good, text + (back <= restart.AnswerSeconds ? $"from the first second on the rate was at {rate} or more" : $"the rate was back at {rate} after {Seconds(back)}"));
        string reached = restart.Rates.Count == 0 ? "nothing was measured" : $"it reached {Units.Percent(restart.Rates.Max(r => r.Rate) / restart.RateBefore)} of it";
        return new Verdict(Grade.Note, $"{text}the rate did not get back to {rate} while it was watched: {reached}; a longer --duration may show it");
    }

    private static Verdict Threads(ThreadFigures figures)
    {
        List<(int Threads, double Rate)> rates = [.. figures.Threads.Select(t => (t, figures.Find(figures.Tests[0], t))).Where(r => r.Item2 is not null).Select(r => (r.t, figures.RateOf(r.Item2!)))];
        (int Threads, double Rate) best = rates.MaxBy(r => r.Rate);
        (int Threads, double Rate) last = rates[^1];
        string text = best == rates[0] ? $"inserts: {Rate(best)}, most of all" : $"inserts: {Rate(rates[0])}, most of all {Rate(best)}";
        return last.Rate < best.Rate * (1 - Noticeable)
            ? new Verdict(Grade.Note, $"{text}; with more threads the rate fell, by {Units.Percent(1 - (last.Rate / best.Rate))} to {Rate(last)}")
            : new Verdict(Grade.Good, $"{text}; with more threads it did not fall ({Rate(last)})");

        static string Rate((int Threads, double Rate) one) => $"{Units.Rate(one.Rate)} documents/s by {Charts.ChartText.ThreadsText(one.Threads)}";
    }

    private static Verdict Compare(ThreadFigures figures, string what)
    {
        IEnumerable<string> ratios = figures.Threads
            .Select(threads => (Threads: threads, First: figures.Find(figures.Tests[0], threads), Second: figures.Find(figures.Tests[1], threads)))
            .Where(r => r.First is not null && r.Second is not null && figures.RateOf(r.First) > 0)
            .Select(r => $"{Units.Percent(figures.RateOf(r.Second!) / figures.RateOf(r.First!))} by {Charts.ChartText.ThreadsText(r.Threads)}");
        return new Verdict(Grade.Good, $"{what} reached {string.Join(", ", ratios)} of the rate");
    }

    private static string Seconds(double seconds) => Units.Latency(seconds * 1e6);
}
