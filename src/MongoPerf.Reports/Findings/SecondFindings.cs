using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Reports.Findings;

/// <summary>What the seconds of a phase show: drift, stretches on another level, a slow start, a period.</summary>
internal static class SecondFindings
{
    /// <summary>The fewest operations in a quarter of the seconds; with fewer, chance alone makes waves.</summary>
    private const long LeastOperations = 20;

    /// <summary>
    /// The fewest bytes per second that the server reads or writes: with less it does nothing that an operation would feel.
    /// </summary>
    private const double LeastBytes = 1e6;
    private const double SharedLevel = 0.01;

    private sealed record Drifted(OperationSeries Series, Trend Trend);

    /// <param name="Series">Whose.</param>
    /// <param name="Sound">Its seconds, without stalls.</param>
    /// <param name="Shift">The stretch on another level.</param>
    /// <param name="Others">The phase's other stretches.</param>
    private sealed record Shifted(
        OperationSeries Series, IReadOnlyList<SeriesSecond> Sound, LevelShift Shift, IReadOnlyList<LevelShift> Others)
    {
        private const int LeastLike = 5;

        public TimeWindow Window => new(Sound[Shift.From].FromMilliseconds, Sound[Shift.To - 1].ToMilliseconds);

        public string Id => Shift.Ratio > 1 ? FindingIds.RateRise
            : Shift.From == 0 ? FindingIds.SlowStart
            : Shift.To == Sound.Count ? FindingIds.RateDrop : FindingIds.RateDip;

        public SeriesSecond[] Inside => [.. Sound.Skip(Shift.From).Take(Shift.To - Shift.From)];

        /// <summary>
        /// The seconds beside it that nothing but this stretch sets apart from it: those in the same other stretches; all beside it
        /// where these are few.
        /// </summary>
        public SeriesSecond[] Outside
        {
            get
            {
                int middle = (Shift.From + Shift.To) / 2;
                int[] beside = [.. Enumerable.Range(0, Sound.Count).Where(i => !Shift.Contains(i))];
                int[] like = [.. beside.Where(i => Others.All(other => other.Contains(i) == other.Contains(middle)))];
                return [.. (like.Length < LeastLike ? beside : like).Select(i => Sound[i])];
            }
        }
    }

    /// <param name="Series">Whose.</param>
    /// <param name="Period">The period in seconds, or in steps of documents.</param>
    /// <param name="Step">Seconds or documents from one value to the next.</param>
    /// <param name="IsByDocuments">It comes round after as many documents.</param>
    private sealed record Swinging(OperationSeries Series, Period Period, double Step, bool IsByDocuments = false);

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most, for each of the three.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level)
    {
        (OperationSeries Series, IReadOnlyList<SeriesSecond> Sound)[] judged =
            [.. series.Independent.Select(one => (one, Stalls.Sound(one)))
                .Where(one => one.Item2.Count >= LevelScan.LeastValues && HasEnough(one.Item2))];
        double each = level / Math.Max(1, judged.Length);
        foreach (var phase in judged.GroupBy(one => one.Series.Phase.Number))
        {
            List<Drifted> drifted = [];
            List<Shifted> shifted = [];
            List<Swinging> swinging = [];
            foreach ((OperationSeries one, IReadOnlyList<SeriesSecond> sound) in phase)
            {
                SecondAnalysis analysis = SecondAnalysis.Of([.. sound.Select(second => second.Rate)], each, InStep(one, sound));
                if (analysis.Drift is { } trend)
                    drifted.Add(new Drifted(one, trend));
                if (SwingOf(one, sound, analysis.Period, each) is { } swing)
                    swinging.Add(swing);
                // A fast start is a drop to those who watch: what came before is what they expect.
                shifted.AddRange(analysis.Shifts.Select(shift =>
                    new Shifted(one, sound, shift is { From: 0, Ratio: > 1 } ? shift.OfRest(sound.Count) : shift,
                        [.. analysis.Shifts.Where(other => other != shift)])));
            }

            foreach (Finding finding in Drifts(series, drifted).Concat(Shifts(series, shifted)).Concat(Periods(series, swinging)))
                yield return finding;
        }
    }

    /// <summary>
    /// The rates from the first sound second to the last; those that are not sound lie on the line between their neighbours.
    /// </summary>
    private static double[] InStep(OperationSeries one, IReadOnlyList<SeriesSecond> sound)
    {
        var rates = new List<double>(one.Seconds.Count);
        int next = 0;
        foreach (SeriesSecond second in one.Seconds)
        {
            if (next < sound.Count && second == sound[next])
            {
                rates.Add(second.Rate);
                next++;
            }
            else if (next > 0 && next < sound.Count)
            {
                double part = (double)(second.FromMilliseconds - sound[next - 1].FromMilliseconds)
                    / (sound[next].FromMilliseconds - sound[next - 1].FromMilliseconds);
                rates.Add(sound[next - 1].Rate + (part * (sound[next].Rate - sound[next - 1].Rate)));
            }
        }

        return [.. rates];
    }

    private static bool HasEnough(IReadOnlyList<SeriesSecond> seconds) =>
        seconds.Count(second => second.Operations >= LeastOperations) * 4 >= seconds.Count && seconds.All(second => second.Count > 0);

    private static IEnumerable<Finding> Drifts(RunSeries series, List<Drifted> drifted)
    {
        if (drifted.Count == 0)
            yield break;
        Drifted lead = drifted.MaxBy(one => Math.Abs(Math.Log(one.Trend.Ratio)))!;
        OperationSeries one = lead.Series;
        IReadOnlyList<SeriesSecond> sound = Stalls.Sound(one);
        int third = sound.Count / 3;
        TimeWindow[] early = [new(one.Window.From, sound[third].ToMilliseconds)];
        TimeWindow[] late = [new(sound[^third].FromMilliseconds, one.Window.To)];
        string way = lead.Trend.Ratio < 1 ? Words.Of("falls") : Words.Of("rises");
        IReadOnlyList<string> together = Circumstances.Of(series, late, early, lead.Trend.Ratio);
        yield return new Finding
        {
            Id = FindingIds.SlowDrift,
            Text = Words.Of($"{Names(drifted.Select(d => d.Series), one)}'s rate {way} steadily, "
                + $"by {Units.Percent(Math.Abs(lead.Trend.Ratio - 1))} within {Units.Duration(one.Window.Seconds)}"),
            Operations = [.. drifted.Select(d => d.Series.Label)],
            Range = series.Range(one.Window, one.Seconds[0].Documents, one.Seconds[^1].Documents),
            Rate = FindingEffect.Of(lead.Trend.Ratio, lead.Trend.Interval),
            P99 = SecondEffects.P99([.. sound.Take(third)], [.. sound.TakeLast(third)]),
            Evidence = [new FindingEvidence("timeline", Words.Of($"slope {Units.Percent((lead.Trend.Ratio - 1) / one.Window.Seconds * 60)} "
                + $"a minute; Mann–Kendall p {ComparisonText.Probability(lead.Trend.P)}"))],
            Cause = together.Count == 0 ? null : Words.And(together),
            IsCoincidence = true,
            Refute = Words.Of("run the phase again on the same data, twice as long: if it starts anew, something warms up or fills up; "
                + "if it continues where it ended, the data are the cause"),
            Weight = Math.Abs(Math.Log(lead.Trend.Ratio)) / 2,
        };
    }

    private static IEnumerable<Finding> Shifts(RunSeries series, List<Shifted> shifted)
    {
        List<List<Shifted>> groups = [];
        foreach (Shifted one in shifted.OrderBy(one => one.Window.From))
        {
            List<Shifted>? same =
                groups.FirstOrDefault(group => group[0].Id == one.Id && group.Any(other => Overlap(other.Window, one.Window) >= 0.5));
            if (same is null)
                groups.Add([one]);
            else
                same.Add(one);
        }

        return groups.Select(group => ShiftFinding(series, group));
    }

    private static Finding ShiftFinding(RunSeries series, List<Shifted> group)
    {
        Shifted lead = group.MaxBy(one => Math.Abs(Math.Log(one.Shift.Ratio)))!;
        OperationSeries one = lead.Series;
        SeriesSecond[] inside = lead.Inside;
        TimeWindow window = lead.Window;
        FindingRange range = series.Range(window, inside[0].Documents, inside[^1].Documents);
        IReadOnlyList<string> together = Circumstances.Of(
            series, [window], [new TimeWindow(one.Window.From, window.From), new TimeWindow(window.To, one.Window.To)], lead.Shift.Ratio);
        string names = Names(group.Select(g => g.Series), one) + Words.Of("'s rate");
        double rate = inside.Average(s => s.Rate);
        // What the ratio was judged against: the other seconds, without a drift and other stretches.
        string rates = Words.Of($"{Units.Rate(rate)} instead of {Units.Rate(rate / lead.Shift.Ratio)} {one.RateUnit}");
        string length = Units.Duration(window.Seconds);
        string at = Units.Duration(range.FromSeconds!.Value);
        string change = ComparisonText.LatencyChange(lead.Shift.Ratio);
        return new Finding
        {
            Id = lead.Id,
            Text = lead.Id switch
            {
                FindingIds.SlowStart => Words.Of($"{names} is {change} in the first {length} after the warm-up: {rates}"),
                FindingIds.RateDrop => Words.Of($"{names} drops at {at} and stays {change}: {rates}"),
                _ => Words.Of($"{names} is {change} for {length} from {at} on: {rates}"),
            },
            Operations = [.. group.Select(g => g.Series.Label)],
            Range = range,
            Rate = FindingEffect.Of(lead.Shift.Ratio, lead.Shift.Interval),
            P99 = SecondEffects.P99(lead.Outside, inside),
            Evidence = [new FindingEvidence("timeline", Words.Of($"{rates}; chance makes such a stretch in fewer than 1 of "
                + $"{Units.Exact((long)Math.Min(1e6, 1 / Math.Max(1e-9, lead.Shift.P)))} phases"))],
            Cause = together.Count == 0 ? null : Words.And(together),
            IsCoincidence = true,
            Refute = lead.Id == FindingIds.SlowStart
                ? Words.Of("run with twice the warm-up: if the start is as slow, warming up is not the cause")
                : Words.Of("run the phase again with the same seed: a change that returns at the same place belongs to the server or the "
                    + "data, any other to the machine"),
            Weight = Math.Abs(Math.Log(lead.Shift.Ratio)) * Math.Sqrt(window.Seconds / one.Window.Seconds),
        };
    }

    /// <summary>Inserts may swing with the documents and not with time: then the rate by documents has the plainer period.</summary>
    private static Swinging? SwingOf(OperationSeries one, IReadOnlyList<SeriesSecond> sound, Period? inSeconds, double level)
    {
        long grown = sound[^1].Documents - sound[0].Documents;
        if (one.Result.IsInsert && grown > 0 && Period.Find(ByDocuments(sound), inSeconds is null ? level / 5 : level) is { } period
            && period.Amplitude >= SecondAnalysis.Least && period.Explained > (inSeconds?.Explained ?? 0) + 0.05)
            return new Swinging(one, period, (double)grown / (sound.Count - 1), IsByDocuments: true);
        return inSeconds is null ? null : new Swinging(one, inSeconds, one.Window.Seconds / one.Seconds.Count);
    }

    /// <summary>The rates by documents: as many as there are seconds, at equal steps of documents.</summary>
    private static double[] ByDocuments(IReadOnlyList<SeriesSecond> sound)
    {
        double first = sound[0].Documents;
        double step = (sound[^1].Documents - first) / (sound.Count - 1);
        double[] rates = new double[sound.Count];
        int next = 0;
        for (int i = 0; i < rates.Length; i++)
        {
            while (next < sound.Count - 1 && sound[next].Documents < first + (i * step))
                next++;
            rates[i] = sound[next].Rate;
        }

        return rates;
    }

    private static IEnumerable<Finding> Periods(RunSeries series, List<Swinging> swinging)
    {
        if (swinging.Count == 0)
            yield break;
        Swinging lead = swinging.MaxBy(one => one.Period.Amplitude)!;
        OperationSeries one = lead.Series;
        double length = lead.Period.Length * lead.Step;
        (string? cause, string refute) = lead.IsByDocuments
            ? (null, Words.Of("insert at half the rate: if the period stays the same in documents, the data cause it; if it stays the same "
                + "in seconds, the server does"))
            : Shared(series, one, length);
        string every = lead.IsByDocuments ? Words.Of($"{AxisScale.AboutText(length)} documents") : $"{Units.Significant(length)} s";
        yield return new Finding
        {
            Id = FindingIds.Period,
            Text = Words.Of(
                $"{Names(swinging.Select(s => s.Series), one)}'s rate swings by ±{Units.Percent(lead.Period.Amplitude)} every {every}"),
            Operations = [.. swinging.Select(s => s.Series.Label)],
            Range = series.Range(one.Window, one.Seconds[0].Documents, one.Seconds[^1].Documents),
            Evidence = [new FindingEvidence("timeline", Words.Of($"folded at {every}, "
                + $"the profile explains {Units.Percent(lead.Period.Explained)} of the variance, and both halves of the phase have it"))],
            Cause = cause,
            IsCoincidence = true,
            Refute = refute,
            Weight = lead.Period.Amplitude,
        };
    }

    /// <summary>
    /// What comes as often: checkpoints; what the server writes to its files, as flushes and compactions do, or reads from them.
    /// </summary>
    private static (string? Cause, string Refute) Shared(RunSeries series, OperationSeries one, double seconds)
    {
        long[] ends = [.. series.Server.GrowthsOf(one.Window, "checkpoints").Order()];
        double apart = ends.Length < 3 ? double.NaN : Quantiles.Median([.. ends.Zip(ends.Skip(1), (a, b) => (b - a) / 1000.0)]);
        if (Math.Abs(apart - seconds) <= Math.Max(2, seconds / 10))
            return (Words.Of($"checkpoints end every {Units.Significant(apart)} s"),
                Words.Of("change how often the server takes checkpoints (--syncdelay): a period that does not change has another cause"));
        if (SwingsAsWell("block_written"))
            return (Words.Of("the server's writes to its files vary with the same period"),
                Words.Of("run with the data on a faster disk: if the rate swings as much, the server's writes are not the cause"));
        if (SwingsAsWell("cache_read"))
            return (Words.Of("the server's reads into its cache vary with the same period"),
                Words.Of("run with a larger cache: if the rate swings as much, the server's reads are not the cause"));
        return (null, Words.Of("run for twice as long: a real period persists, chance does not"));

        bool SwingsAsWell(string metric)
        {
            double[] bytes = [.. one.Seconds.Select(second => series.Server.RateOf([second.Window], metric) ?? 0)];
            double mean = bytes.Average();
            // Seconds without any are no less than a tenth of the usual: only their logarithms are compared.
            return mean >= LeastBytes && Period.Find([.. bytes.Select(b => b + (mean / 10))], SharedLevel) is { } period
                && Math.Abs((period.Length * one.Window.Seconds / bytes.Length) - seconds) <= Math.Max(1, seconds / 10);
        }
    }

    private static double Overlap(TimeWindow a, TimeWindow b)
    {
        double shared = Math.Max(0, Math.Min(a.To, b.To) - Math.Max(a.From, b.From));
        return shared / (a.To - a.From + (b.To - b.From) - shared);
    }

    /// <summary>The plainest first.</summary>
    private static string Names(IEnumerable<OperationSeries> all, OperationSeries lead) =>
        Words.And([lead.Label, .. all.Select(one => one.Label).Where(label => label != lead.Label).Distinct()]);
}
