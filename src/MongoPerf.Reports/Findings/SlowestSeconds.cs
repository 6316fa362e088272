using System.Globalization;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>A second in which an operation was slow, and what else was recorded of it.</summary>
/// <param name="Operation">As charts over time call it.</param>
/// <param name="At">When it began, Unix milliseconds.</param>
/// <param name="Range">On the charts over time; of the collection its documents where it had one.</param>
/// <param name="PerSecond">Documents of inserts, operations of anything else.</param>
/// <param name="UsualPerSecond">The median of the phase's seconds; null where there are too few.</param>
/// <param name="P99Microseconds">Null where nothing was recorded.</param>
/// <param name="UsualP99Microseconds">The same of p99.</param>
/// <param name="MaxMicroseconds">Of its slowest operation; null where nothing was recorded.</param>
/// <param name="Coincided">Each a clause, such as "a checkpoint was running"; empty where nothing recorded coincides.</param>
public sealed record SlowSecond(
    string Operation, long At, FindingRange Range, double PerSecond, double? UsualPerSecond, double? P99Microseconds,
    double? UsualP99Microseconds, double? MaxMicroseconds, IReadOnlyList<string> Coincided)
{
    /// <summary>In one sentence.</summary>
    public string Why => Coincided.Count == 0 ? Words.Of("nothing recorded coincides") : Words.And(Coincided);
}

/// <summary>The worst seconds of a run, and those with its slowest operations.</summary>
internal sealed class SlowestSeconds
{
    private const int Most = 10;

    /// <summary>A second that is less than this much worse than usual is no news.</summary>
    private const double LeastTimes = 1.25;

    /// <summary>Of a count: chance leaves one of 30,000 seconds further below. Where fewer than 16 are usual it explains any.</summary>
    private const double ChanceDeviations = 4;

    /// <summary>Fewer have no usual one; the windows of a series are no longer.</summary>
    private const int LeastSeconds = 3;

    /// <summary>Of one operation among the slowest: the others are shown too.</summary>
    private const int MostOfOne = 3;

    /// <summary>What was sampled a little before or after belongs to the second, too.</summary>
    private const long BesideMilliseconds = 500;

    private static readonly OncePerRun<SlowestSeconds> Known = new(static run => new SlowestSeconds(RunSeries.Of(run)), hasTexts: true);

    private SlowestSeconds(RunSeries series)
    {
        Candidate[] all = [.. series.Operations.SelectMany(Candidates)];
        Seconds = [.. all.Where(one => one.Times >= LeastTimes).OrderByDescending(one => one.Times)
            .DistinctBy(one => (one.Series.Phase.Number, one.Second.FromMilliseconds / 1000)).Take(Most).Select(one => Of(series, one))];
        Operations = [.. all.Where(one => double.IsFinite(one.Second.Max)).OrderByDescending(one => one.Second.Max)
            .GroupBy(one => one.Series.Label).SelectMany(operation => operation.Take(MostOfOne))
            .OrderByDescending(one => one.Second.Max).Take(Most).Select(one => Of(series, one))];
    }

    /// <summary>Against the other seconds of the same phase, the worst first.</summary>
    public IReadOnlyList<SlowSecond> Seconds { get; }

    /// <summary>By the time that the slowest operation took, the slowest first.</summary>
    public IReadOnlyList<SlowSecond> Operations { get; }

    /// <summary>Reads the run's samples at the first call. May be called from several threads.</summary>
    public static SlowestSeconds Of(StoredRun run) => Known.Of(run);

    /// <param name="Series">Of its operation.</param>
    /// <param name="Second">The second.</param>
    /// <param name="UsualRate">The median of the phase's seconds; 0 where there are too few.</param>
    /// <param name="LeastRate">The lowest that chance explains; 0 where it explains any.</param>
    /// <param name="UsualP99">The median of the phase's seconds, microseconds; NaN where there are too few.</param>
    private sealed record Candidate(
        OperationSeries Series, SeriesSecond Second, double UsualRate, double LeastRate, double UsualP99)
    {
        /// <summary>How much worse than usual, by rate or by p99; where a rate is set, only its latency shows it.</summary>
        public double Times => Math.Max(
            Series.Phase.Rate is null && !Series.IsSteered && Second.Rate < LeastRate
                ? UsualRate / Math.Max(Second.Rate, UsualRate / 1000) : 0,
            double.IsFinite(Second.P99) && UsualP99 > 0 ? Second.P99 / UsualP99 : 0);
    }

    private static IEnumerable<Candidate> Candidates(OperationSeries series)
    {
        double[] latencies = [.. series.Seconds.Select(second => second.P99).Where(double.IsFinite)];
        double rate = series.Seconds.Count < LeastSeconds ? 0 : Quantiles.Median([.. series.Seconds.Select(second => second.Rate)]);
        double operations = Quantiles.Median([.. series.Seconds.Select(second => (double)second.Operations)]);
        double least = operations > 0 ? rate * (1 - (ChanceDeviations / Math.Sqrt(operations))) : 0;
        double p99 = latencies.Length < LeastSeconds ? double.NaN : Quantiles.Median(latencies);
        return series.Seconds.Select(second => new Candidate(series, second, rate, least, p99));
    }

    private static SlowSecond Of(RunSeries series, Candidate one)
    {
        SeriesSecond second = one.Second;
        return new SlowSecond(
            one.Series.Label, second.FromMilliseconds, series.Range(second.Window, second.Documents, second.Documents), second.Rate,
            // What the plan lowers itself has no usual rate.
            one.UsualRate > 0 && !one.Series.IsSteered ? one.UsualRate : null, Finite(second.P99), Finite(one.UsualP99), Finite(second.Max),
            [.. Coincided(series, one).Distinct()]);
    }

    private static double? Finite(double value) => double.IsFinite(value) ? value : null;

    /// <summary>What stood still first, then what happened, then what was different.</summary>
    private static IEnumerable<string> Coincided(RunSeries series, Candidate one)
    {
        TimeWindow window = one.Second.Window;
        TimeWindow around = new(window.From - BesideMilliseconds, window.To + BesideMilliseconds);
        double gap = series.HostSeconds.Where(second => second.FromMilliseconds < window.To && second.ToMilliseconds > window.From)
            .Select(second => second.Seconds).DefaultIfEmpty(0).Max();
        double silence = series.Server.LongestSilence(around);
        if (Math.Max(gap, window.Seconds) is >= Interruptions.LeastSeconds and var still)
            yield return Words.Of($"the client itself stood still for {Units.Significant(Math.Round(still, 1))} s");
        else if (silence >= Interruptions.LeastSeconds)
            yield return Words.Of($"the server did not answer serverStatus for {Units.Significant(Math.Round(silence, 1))} s");
        if (one.Second.IsDown)
            yield return Words.Of("the connection was lost");
        foreach (RunEvent happened in series.Run.Events
            .Where(e => e.Kind is not (RunEvent.Phase or RunEvent.Checked) && Overlaps(e, around)))
            yield return $"{Words.Of(happened.Kind)}: {happened.Text}";
        // Who looks for a server, or does nothing at all, waits for none of the rest.
        if (one.Second.IsDown || series.Interruptions.Explain(window))
            yield break;
        foreach (string circumstance in Circumstances.In(series, around, Rest(series, one, around)))
            yield return circumstance;
    }

    /// <summary>The other seconds of the phase; where there are too few, also those of the same operation at other sizes.</summary>
    private static TimeWindow[] Rest(RunSeries series, Candidate one, TimeWindow around)
    {
        TimeWindow[] rest = [.. Beside(one.Series.Window)];
        return rest.Sum(window => window.Seconds) >= LeastSeconds ? rest
            : [.. series.Operations.Where(other => other.Label == one.Series.Label).SelectMany(other => Beside(other.Window))];

        IEnumerable<TimeWindow> Beside(TimeWindow window) =>
            new[] { window with { To = Math.Min(window.To, around.From) }, window with { From = Math.Max(window.From, around.To) } }
                .Where(part => part.To > part.From);
    }

    private static bool Overlaps(RunEvent happened, TimeWindow window)
    {
        double seconds = Math.Min(happened.Seconds ?? 0, TimeSpan.FromDays(365).TotalSeconds);
        return happened.AtMilliseconds >= window.From && happened.AtMilliseconds - (seconds * 1000) <= window.To;
    }

    /// <summary>Both lists as reports show them; where there are none, nothing.</summary>
    public IEnumerable<ReportTable> Tables()
    {
        if (Seconds.Count > 0)
            yield return Table(Words.Of("The worst seconds, each against the others of its phase"), Seconds);
        if (Operations.Count > 0)
            yield return Table(Words.Of("The slowest operations, by the second in which they ended"), Operations);
    }

    private static ReportTable Table(string title, IReadOnlyList<SlowSecond> seconds) => new ReportTable(
        title, ["<at", "<operation", "documents", "rate", "usual rate", "p99", "usual p99", "max", "<what coincided"],
        [
            .. seconds.Select(one => (IReadOnlyList<string>)
            [
                Clock(one.Range.FromSeconds!.Value), one.Operation,
                one.Range.FromDocuments is { } documents ? Units.Count(documents) : Units.None,
                Units.Rate(one.PerSecond), Units.Rate(one.UsualPerSecond), Units.Latency(one.P99Microseconds),
                Units.Latency(one.UsualP99Microseconds), Units.Latency(one.MaxMicroseconds), one.Why,
            ]),
        ])
        {
            Links = [.. seconds.Select(one => ChartLink.Of(one.Range))],
        }.WithoutEmpty();

    /// <summary>"2:32", as the charts over time have it.</summary>
    public static string Clock(double seconds)
    {
        TimeSpan time = TimeSpan.FromSeconds(Math.Floor(seconds));
        return time.TotalHours >= 1
            ? string.Create(CultureInfo.InvariantCulture, $"{(long)time.TotalHours}:{time.Minutes:00}:{time.Seconds:00}")
            : string.Create(CultureInfo.InvariantCulture, $"{time.Minutes}:{time.Seconds:00}");
    }
}

/// <summary>Where a page's charts to explore show a range.</summary>
internal static class ChartLink
{
    /// <summary>Of the range's length, beside it; of a second, so that one sees what came before and after.</summary>
    private const double Beside = 0.5;
    private const double LeastBeside = 10;

    /// <returns>What explore.js reads; null for a range without seconds.</returns>
    public static string? Of(FindingRange range)
    {
        if (range is not { FromSeconds: { } from, ToSeconds: { } to })
            return null;
        double beside = Math.Max(LeastBeside, (to - from) * Beside);
        return string.Create(CultureInfo.InvariantCulture, $"#explore&from={Math.Max(0, from - beside):0.0}&to={to + beside:0.0}");
    }
}
