using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>Seconds in which next to nothing was done though the connection stood.</summary>
internal static class Stalls
{
    /// <summary>The share of the median second below which a second is a stall.</summary>
    private const double Share = 0.1;

    /// <summary>Where a usual second has fewer operations, an empty one is no surprise.</summary>
    private const double LeastOperations = 20;
    private const int LeastSeconds = 5;

    /// <summary>
    /// The share of the median second below which a rate is low rather than stalled: for five seconds, and mostly above <see
    /// cref="Share"/>.
    /// </summary>
    private const double LowShare = 0.2;

    private sealed record Stall(OperationSeries Series, int From, int To)
    {
        public TimeWindow Window => new(Series.Seconds[From].FromMilliseconds, Series.Seconds[To - 1].ToMilliseconds);
    }

    public static IEnumerable<Finding> Find(RunSeries series)
    {
        foreach (IGrouping<int, OperationSeries> phase in series.Operations.GroupBy(one => one.Phase.Number))
        {
            List<List<Stall>> together = [];
            foreach (Stall stall in phase.SelectMany(Of)
                .Where(stall => !series.Interruptions.Explain(stall.Window)).OrderBy(stall => stall.Window.From))
            {
                if (together.Count > 0 && together[^1].Max(other => other.Window.To) > stall.Window.From)
                    together[^1].Add(stall);
                else
                    together.Add([stall]);
            }

            if (together.Count > 0)
                yield return Make(series, together);
        }
    }

    /// <summary>Its seconds but for those of stalls, outages and the second after one.</summary>
    public static IReadOnlyList<SeriesSecond> Sound(OperationSeries series)
    {
        bool[] isStill = new bool[series.Seconds.Count];
        foreach (Stall stall in Of(series))
            Array.Fill(isStill, true, stall.From, Math.Min(isStill.Length, stall.To + 1) - stall.From);
        return [.. series.Seconds.Where((second, i) =>
            !isStill[i] && second is { IsDown: false, IsStill: false } && (i == 0 || !series.Seconds[i - 1].IsDown))];
    }

    private static IEnumerable<Stall> Of(OperationSeries series)
    {
        if (series.Seconds.Count < LeastSeconds)
            yield break;
        // What the plan asked less for, or next to nothing, has no reason to be as fast.
        double[] levels = [.. Enumerable.Range(0, series.Seconds.Count).Select(series.LevelAt)];
        double usual = UsualRate(series);
        double operations = Quantiles.Median([.. Leveled(series, second => second.Operations)]);
        if (operations < LeastOperations)
            yield break;
        for (int i = 0; i < series.Seconds.Count; i++)
        {
            int from = i;
            while (i < series.Seconds.Count && series.Seconds[i].Rate < Share * levels[i] * usual && !series.Seconds[i].IsDown
                && operations * levels[i] >= LeastOperations)
                i++;
            if (i > from && (series.IsSteered || !IsInLowRate(series, from, usual)))
                yield return new Stall(series, from, i);
        }
    }

    /// <summary>The median of the rates; where the plan changes them, of what they would be at its most.</summary>
    private static double UsualRate(OperationSeries series) => Quantiles.Median([.. Leveled(series, second => second.Rate)]);

    private static IEnumerable<double> Leveled(OperationSeries series, Func<SeriesSecond, double> valueOf) =>
        series.Seconds.Select((second, i) => valueOf(second) / Math.Max(0.01, series.LevelAt(i)));

    private static bool IsInLowRate(OperationSeries series, int at, double usual)
    {
        bool IsLow(int i) => series.Seconds[i].Rate < LowShare * usual && !series.Seconds[i].IsDown;
        int from = at, to = at;
        while (from > 0 && IsLow(from - 1))
            from--;
        while (to < series.Seconds.Count && IsLow(to))
            to++;
        int still = Enumerable.Range(from, to - from).Count(i => series.Seconds[i].Rate < Share * usual);
        return to - from >= LeastSeconds && still * 2 < to - from;
    }

    private static Finding Make(RunSeries series, List<List<Stall>> stalls)
    {
        List<Stall> longest = stalls.MaxBy(one => one.Max(stall => LengthOf(stall)))!;
        Stall lead = longest.MaxBy(LengthOf)!;
        double seconds = LengthOf(lead);
        string[] operations = [.. stalls.SelectMany(one => one).Select(stall => stall.Series.Label).Distinct()];
        FindingRange range = series.Range(lead.Window, lead.Series.Seconds[lead.From].Documents);
        string when = Words.Of($"at {Units.Duration(range.FromSeconds!.Value)}");
        string names = Words.And(operations);
        string text = (stalls.Count, WasStill(lead)) switch
        {
            (1, true) => Words.Of($"{names} stalled for {Units.Significant(seconds)} s {when}"),
            (1, false) => Words.Of($"{names} nearly stalled for {Units.Significant(seconds)} s {when}"),
            (_, true) => Words.Of($"{names} stalled {stalls.Count} times, for up to {Units.Significant(seconds)} s ({when})"),
            (_, false) => Words.Of($"{names} nearly stalled {stalls.Count} times, for up to {Units.Significant(seconds)} s ({when})"),
        };
        TimeWindow around = new(lead.Window.From - 1000, lead.Window.To + 1500);
        double silence = series.Server.LongestSilence(around);
        TimeWindow[] rest = [new(lead.Series.Window.From, lead.Window.From), new(lead.Window.To, lead.Series.Window.To)];
        IReadOnlyList<string> together = Circumstances.Of(series, [lead.Window], rest);
        // A router that asks the config server something answers nobody meanwhile, serverStatus neither.
        string? config = Circumstances.ConfigServer(series, [lead.Window]);
        bool isSilent = config is null && silence >= Math.Max(1.8, 0.7 * seconds);
        double share = stalls.Sum(one => one.Max(LengthOf)) / lead.Series.Window.Seconds;
        double usual = UsualRate(lead.Series) * lead.Series.LevelAt(lead.From);
        double during = lead.Series.Seconds.Skip(lead.From).Take(lead.To - lead.From).Average(second => second.Rate);
        return new Finding
        {
            Id = FindingIds.Stall,
            Text = text,
            Operations = operations,
            Range = range,
            Rate = new FindingEffect(during / usual, null, null),
            Evidence = [new FindingEvidence("timeline", Words.Of($"{Units.Rate(during)} {lead.Series.RateUnit} instead of "
                + $"{Units.Rate(usual)}; the slowest operation took {Units.Latency(Slowest(lead))}"))],
            Cause = isSilent ? Words.Of($"the server did not answer serverStatus for {Units.Significant(silence)} s either, "
                + $"so the whole process stalled") : together.Count > 0 ? Words.And(together) : null,
            IsCoincidence = !isSilent,
            Refute = isSilent
                ? Words.Of("run again and watch the server's process and machine (a stopped process, a paused virtual machine, "
                    + "an exhausted control group); if the server served other clients meanwhile, the network path to it is the cause")
                : Words.Of(
                    "run again: a stall at the same number of documents belongs to the server, one at the same time of day to the machine"),
            Weight = 10 * Math.Sqrt(Math.Min(1, share)),
        };
    }

    /// <summary>Nothing was done, or one operation lasted for most of it.</summary>
    private static bool WasStill(Stall stall) =>
        stall.Series.Seconds.Skip(stall.From).Take(stall.To - stall.From).All(second => second.Operations == 0)
        || Slowest(stall) / 1e6 >= stall.Window.Seconds / 2;

    /// <summary>Seconds; the slowest operation knows better than whole seconds do, unless others were done beside it.</summary>
    private static double LengthOf(Stall stall)
    {
        double slowest = Slowest(stall) / 1e6;
        double whole = stall.Window.Seconds;
        return slowest >= Math.Max(whole - 1, whole / 2) && slowest <= whole + 2 ? Math.Round(slowest, 1) : whole;
    }

    private static double Slowest(Stall stall) =>
        stall.Series.Seconds.Skip(stall.From)
            .Take(stall.To + 1 - stall.From).Select(second => second.Max).Where(double.IsFinite).DefaultIfEmpty(double.NaN).Max();
}
