using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>
/// Rates that fall as the collection grows, at one place or all the way, and what was outgrown there; rates that rise or swing with it.
/// </summary>
internal static class SizeFindings
{
    /// <summary>A smaller fall is left to the reader.</summary>
    private const double Least = 0.1;
    private const double LeastSwing = 0.05;

    /// <summary>Rates that wander from size to size bend by chance, but do not halve.</summary>
    private const double Halved = 0.5;
    private const int Neighbours = 3;

    /// <summary>An operation at the sizes at which it has a rate.</summary>
    private sealed record Row(GrowthLine Line, string Name, string Chart, long[] Documents, OperationResult[] Results, double[] Rates)
    {
        public string Unit => Line.IsInsert ? Words.Of(" documents/s") : "/s";
    }

    /// <summary>What would refute that memory ran out.</summary>
    private static string LargerMemory => Words.Of("grow the same collection with a memory limit and a cache twice as large: "
        + "if it falls at the same size, memory is not what ran out");

    /// <summary>What would refute that a resume is why a rate fell.</summary>
    private static string Uninterrupted =>
        Words.Of("grow the collection again without an interruption: if it falls at the same size, the resume is not the cause");

    /// <param name="series">The run's.</param>
    /// <param name="level">
    /// Chance of any false finding, at most, for a cliff, for a decline or a rise, and for files that grow faster each.
    /// </param>
    /// <param name="rareLevel">The same for a period.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level, double rareLevel)
    {
        foreach ((int place, GrowthFigures growth) in GrowthFigures.Of(series.Run).Index())
        {
            Row[] rows = [.. growth.Lines.Where(line => line.IsIndependent)
                .Select(line => RowOf(growth, line, place)).Where(row => row.Rates.Length >= SizeStep.LeastSizes)];
            foreach (Row row in rows)
            {
                if (Find(series, growth, row, level / rows.Length) is { } finding)
                    yield return finding;
                if (Period.Find(row.Rates, rareLevel / rows.Length) is { Amplitude: >= LeastSwing } period)
                    yield return Swing(series, row, period);
            }

            foreach (Finding finding in GrowingBytes.Find(growth, "size" + GrowthCharts.SuffixOf(place), level))
                yield return finding;
        }
    }

    private static Finding? Find(RunSeries series, GrowthFigures growth, Row row, double level)
    {
        SizeStep? step = SizeStep.Find(row.Rates, level, Least);
        Finding? cliff = step is { IsCliff: true } ? Cliff(series, growth, row, step) : null;
        var scaling = Scaling.Of(row.Documents, [.. row.Rates.Select(rate => 1 / rate)]);
        // Against sizes in a row, what grows as their number is a curve, which may look like a cliff; only as a power of it is it straight.
        if (cliff is not { Cause: not null, IsCoincidence: false } && scaling.IsLinear && scaling.P < level)
            return Linear(series, growth, row, scaling);
        if (cliff is not null)
            return cliff;
        if (Trend.Of(row.Rates) is { } trend && trend.P < level)
        {
            FindingEffect effect = FindingEffect.Of(trend.Ratio, trend.Interval) with { By = Words.Of("trend over all sizes") };
            return trend.Interval.High < 1 && trend.Ratio <= 1 - Least ? Decline(series, growth, row, trend.Ratio, effect)
                : trend.Interval.Low > 1 && trend.Ratio >= 1 + Least ? Rise(series, row, trend.Ratio, effect)
                : null;
        }

        // To the trend's test a smooth bend looks like correlation.
        if (scaling.IsPower && scaling.P < level && 1 / scaling.Growth <= 1 - Least)
            return Decline(series, growth, row, 1 / scaling.Growth, null);
        if (step is null && Bend.Of(row.Rates) is { Ratio: <= Halved } bend && bend.P < level)
            return Decline(series, growth, row, bend.Ratio, null, bend.From);
        // A step that is not most of the fall is part of a decline.
        if (step is null && DifferenceSigns.P(row.Rates) >= level)
            return null;
        double ratio = row.Rates[^1] / row.Rates[0];
        return ratio <= 1 - Least ? Decline(series, growth, row, ratio, null)
            : ratio >= 1 + Least && step is null ? Rise(series, row, ratio, null) : null;
    }

    private static Row RowOf(GrowthFigures growth, GrowthLine line, int place)
    {
        int[] steps = [.. line.Results.Keys.Order().Where(step => line.RateAt(step) > 0)];
        string chart = (line.IsInsert ? "insert-rate" : "query-rate") + GrowthCharts.SuffixOf(place);
        return new Row(
            line, growth.NameOf(line), chart, [.. steps.Select(step => growth.Steps[step].Documents)],
            [.. steps.Select(step => line.Results[step])], [.. steps.Select(step => line.RateAt(step)!.Value)]);
    }

    private static Finding Cliff(RunSeries series, GrowthFigures growth, Row row, SizeStep step)
    {
        long from = row.Documents[step.From];
        long to = row.Documents[step.To];
        int[] before = [.. Enumerable.Range(Math.Max(0, step.From - Neighbours + 1), Math.Min(Neighbours, step.From + 1))];
        int[] after = [.. Enumerable.Range(step.To, Math.Min(Neighbours, row.Rates.Length - step.To))];
        Comparison compared = new(series, row, before, after);
        (string? cause, bool isCoincidence) = CauseOf(
            series, growth, compared, from - (row.Documents.Length > 1 ? row.Documents[1] - row.Documents[0] : 0), to);
        string? resumed = compared.ResumedBetween(step.From, step.To) ? Words.Of("the run was resumed between these sizes") : null;
        // A server that began again reads more until its cache is full, whatever the size.
        if (resumed is not null)
            (cause, isCoincidence) = (cause is null ? resumed : Words.And([resumed, cause]), true);
        return new Finding
        {
            Id = FindingIds.SizeCliff,
            Text = Words.Of($"{row.Name}'s rate falls from {Units.Rate(step.Before)} to {Units.Rate(step.After)}"
                + $"{row.Unit} between {Units.Count(from)} and {Units.Count(to)} documents"),
            Operations = [row.Name],
            Range = compared.Range(step.From, step.To),
            Rate = compared.Rate,
            P99 = compared.P99,
            Evidence = [new FindingEvidence(row.Chart, Figures(row)), .. compared.Evidence(Words.Of("after the fall"))],
            Cause = cause ?? compared.Processors,
            IsCoincidence = isCoincidence,
            Refute = resumed is not null ? Uninterrupted : cause is null
                ? Words.Of("grow the collection again with smaller steps around the fall: if it falls elsewhere, the size is not the cause")
                : LargerMemory,
            Weight = Math.Log(step.Before / step.After),
        };
    }

    /// <param name="series">The run's.</param>
    /// <param name="growth">A growth of the run.</param>
    /// <param name="row">A row of that growth.</param>
    /// <param name="ratio">The ratio of the rate at the largest size to that at the smallest, by what fits all sizes.</param>
    /// <param name="effect">The effect on the rate; null takes what the sizes at both ends show.</param>
    /// <param name="from">Place of the last size before the fall; 0: it falls all the way.</param>
    private static Finding Decline(RunSeries series, GrowthFigures growth, Row row, double ratio, FindingEffect? effect, int from = 0)
    {
        int last = row.Rates.Length - 1;
        double measured = row.Rates[last] / row.Rates[from];
        string change = ComparisonText.LatencyChange(measured);
        Comparison compared = Comparison.OfEnds(series, row, from);
        (string? cause, bool isCoincidence) = CauseOf(series, growth, compared, row.Documents[from], row.Documents[last]);
        return new Finding
        {
            Id = FindingIds.SizeDecline,
            Text = from == 0
                ? measured <= 1 - Least
                    ? Words.Of($"{row.Name}'s rate falls steadily as the collection grows: "
                        + $"at {Units.Count(row.Documents[last])} documents it is {change} than at {Units.Count(row.Documents[0])}")
                    : Words.Of($"{row.Name}'s rate falls as the collection grows: by the trend over all sizes it is "
                        + $"{ComparisonText.LatencyChange(ratio)} at {Units.Count(row.Documents[last])} documents than at "
                        + $"{Units.Count(row.Documents[0])}")
                : Words.Of($"{row.Name}'s rate falls beyond {Units.Count(row.Documents[from])} documents: "
                    + $"at {Units.Count(row.Documents[last])} it is {change}"),
            Operations = [row.Name],
            Range = compared.Range(from, last),
            // Where a straight line over the sizes is no fit.
            Rate = effect ?? compared.Rate,
            P99 = compared.P99,
            Evidence = [new FindingEvidence(row.Chart, Figures(row, from)), .. compared.Evidence(Words.Of("at the largest sizes"))],
            Cause = cause ?? compared.Processors,
            IsCoincidence = isCoincidence,
            Refute = Words.Of("measure the largest size first, on a fresh server: if it is as fast as the smallest was, "
                + "it slowed down with time, not with size"),
            Weight = Math.Log(1 / ratio) / 2,
        };
    }

    private static Finding Linear(RunSeries series, GrowthFigures growth, Row row, Scaling scaling)
    {
        Finding decline = Decline(series, growth, row, 1 / scaling.Growth, null);
        string how = scaling.IsFaster ? Words.Of("faster than the collection") : Words.Of("in proportion to the collection");
        return decline with
        {
            Id = FindingIds.LinearGrowth,
            Text = Words.Of($"{row.Name}'s time per operation grows {how}: × {Units.Significant(row.Rates[0] / row.Rates[^1])} from "
                + $"{Units.Count(row.Documents[0])} to {Units.Count(row.Documents[^1])} documents"),
            Evidence =
            [
                new FindingEvidence(row.Chart,
                    Words.Of($"it grows as documents to the power of {Units.Significant(Math.Round(scaling.Exponent, 2))}, "
                        + $"which explains {Units.Percent(scaling.Explained)} of the variance; {Figures(row)}")),
                .. decline.Evidence.Skip(1),
            ],
            Refute = decline is { Cause: not null, IsCoincidence: false }
                ? LargerMemory
                : Words.Of("look at the plan's documents examined: if they do not grow with the collection, it is not the scan that grows"),
        };
    }

    /// <inheritdoc cref="Decline"/>
    private static Finding Rise(RunSeries series, Row row, double ratio, FindingEffect? effect)
    {
        int last = row.Rates.Length - 1;
        double measured = row.Rates[last] / row.Rates[0];
        Comparison compared = Comparison.OfEnds(series, row);
        IReadOnlyList<string> together = compared.Together;
        return new Finding
        {
            Id = FindingIds.SizeRise,
            Text = measured >= 1 + Least
                ? Words.Of($"{row.Name}'s rate rises as the collection grows, which its size does not explain: "
                    + $"at {Units.Count(row.Documents[last])} it is {ComparisonText.LatencyChange(measured)}, compared with "
                    + $"{Units.Count(row.Documents[0])}")
                : Words.Of($"{row.Name}'s rate rises as the collection grows, which its size does not explain: by the trend over all "
                    + $"sizes it is {ComparisonText.LatencyChange(ratio)} at {Units.Count(row.Documents[last])} documents, "
                    + $"compared with {Units.Count(row.Documents[0])}"),
            Operations = [row.Name],
            Range = compared.Range(0, last),
            Rate = effect ?? compared.Rate,
            P99 = compared.P99,
            Evidence = [new FindingEvidence(row.Chart, Figures(row))],
            Cause = together.Count == 0 ? null : Words.And(together),
            IsCoincidence = true,
            Refute = Words.Of("grow the collection again, with a load of a minute before it: if the rate still rises, "
                + "server and client were not warming up"),
            Weight = Math.Log(ratio) / 2,
        };
    }

    private static Finding Swing(RunSeries series, Row row, Period period)
    {
        double documents = period.Length * (row.Documents[^1] - row.Documents[0]) / (row.Documents.Length - 1);
        return new Finding
        {
            Id = FindingIds.Period,
            Text = Words.Of(
                $"{row.Name}'s rate swings by ±{Units.Percent(period.Amplitude)} every {AxisScale.AboutText(documents)} documents"),
            Operations = [row.Name],
            Range = new Comparison(series, row, [], []).Range(0, row.Rates.Length - 1),
            Evidence = [new FindingEvidence(row.Chart, Words.Of($"folded at {AxisScale.AboutText(documents)} documents, "
                + $"the profile explains {Units.Percent(period.Explained)} of the variance, and both halves of the growth have it"))],
            Refute = Words.Of("grow the collection again with steps half as large: if the period stays the same in documents, "
                + "the data cause it; if it stays the same in steps, the growth does"),
            Weight = period.Amplitude,
        };
    }

    /// <param name="row">A row.</param>
    /// <param name="from">The size from which it changes.</param>
    private static string Figures(Row row, int from = 0) =>
        Words.Of($"{Units.Rate(row.Rates[from])} at {Units.Count(row.Documents[from])}, highest {Units.Rate(row.Rates.Max())}, "
            + $"{Units.Rate(row.Rates[^1])} at {Units.Count(row.Documents[^1])} documents");

    /// <summary>
    /// A limit that is outgrown where the rate falls is the likely cause if more is read from then on; anything less is only seen together.
    /// </summary>
    private static (string? Cause, bool IsCoincidence) CauseOf(
        RunSeries series, GrowthFigures growth, Comparison compared, double from, double to)
    {
        IReadOnlyList<CacheCrossing> crossings = CacheCrossing.Find(
            growth.Sizes, series.Run.Deployment?.AllCacheBytes, CacheCrossing.MemoryOf(series.Run));
        // What only memory's end explains comes before what a cache's end does.
        CacheCrossing? inside = crossings.Where(c => c.Documents >= from && c.Documents <= to)
            .OrderByDescending(c => c.Limit == CacheCrossing.Memory).ThenByDescending(c => c.Documents).FirstOrDefault();
        IReadOnlyList<string> more = [.. compared.Reads];
        if (inside is not null)
            return more.Count > 0
                ? (Words.Of($"{Outgrew(series.Run, inside)}, and {more[0]}"), false)
                : (Outgrew(series.Run, inside), true);
        CacheCrossing? earlier = crossings.Where(c => c.Documents < from).MaxBy(c => c.Documents);
        string[] together =
        [
            .. more, .. earlier is null ? Enumerable.Empty<string>() : [Words.Of($"{Outgrew(series.Run, earlier)} already")],
        ];
        return (together.Length == 0 ? null : Words.And(together), true);
    }

    /// <summary>"the files outgrew the memory limit (700 MiB) at 2.2M documents".</summary>
    private static string Outgrew(StoredRun run, CacheCrossing crossing)
    {
        long? bytes = crossing.Limit == CacheCrossing.Memory ? CacheCrossing.MemoryOf(run) : run.Deployment?.AllCacheBytes;
        string what = crossing.What == "files" ? Words.Of("data and indexes on disk") : Words.Of($"the {Words.Of(crossing.What)}");
        return Words.Of($"{what} outgrew the {Words.Of(crossing.Limit)} ({Units.BinaryBytes(bytes)}) "
            + $"at {AxisScale.AboutText(crossing.Documents)} documents");
    }

    /// <summary>Some sizes of a row against others.</summary>
    private sealed class Comparison
    {
        private readonly RunSeries _series;
        private readonly Row _row;
        private readonly int[] _before;
        private readonly int[] _after;
        private readonly TimeWindow?[] _windows;

        public Comparison(RunSeries series, Row row, int[] before, int[] after)
        {
            _series = series;
            _row = row;
            _before = before;
            _after = after;
            var windows = series.Operations.Concat(series.Independent).Distinct()
                .ToDictionary(one => (object)one.Result, one => one.Window, ReferenceEqualityComparer.Instance);
            _windows = [.. row.Results.Select(result => windows.TryGetValue(result, out TimeWindow window) ? window : (TimeWindow?)null)];
        }

        /// <summary>The smallest sizes and the largest; of the smallest those up to the last level one, if that is not the first.</summary>
        public static Comparison OfEnds(RunSeries series, Row row, int level = 0)
        {
            int few = Math.Min(Neighbours, row.Rates.Length / 2);
            return new Comparison(series, row, [.. Enumerable.Range(0, level == 0 ? few : Math.Min(few, level + 1))],
                [.. Enumerable.Range(row.Rates.Length - few, few)]);
        }

        public FindingEffect? Rate => Ratio(_row.Rates);

        public FindingEffect? P99 => Ratio([.. _row.Results.Select(result => result.ReportedMicroseconds.P99 ?? double.NaN)]);

        /// <summary>The run was interrupted after one size and resumed before the other.</summary>
        public bool ResumedBetween(int from, int to) => _windows[from] is { } first && _windows[to] is { } last
            && _series.Run.Events.Any(e =>
                e.Kind == RunEvent.Resumed && e.AtMilliseconds >= first.To && e.AtMilliseconds <= last.From);

        public IReadOnlyList<string> Together => Circumstances.Of(_series, Windows(_after), Windows(_before));

        public string? Processors =>
            Circumstances.Processors(_series, Windows(_after), Windows(_before), Rate?.Ratio);

        public IEnumerable<string> Reads => Circumstances.Reads(_series, Windows(_after), Windows(_before));

        public FindingRange Range(int from, int to) => _windows[from] is { } first && _windows[to] is { } last
            ? _series.Range(new TimeWindow(first.From, last.To), _row.Documents[from], _row.Documents[to])
            : new FindingRange(null, null, _row.Documents[from], _row.Documents[to]);

        /// <param name="when">The later sizes, such as "after the fall".</param>
        public IEnumerable<FindingEvidence> Evidence(string when)
        {
            foreach (string circumstance in Together)
                yield return new FindingEvidence(
                    "timeline", $"{when} {circumstance}".Replace(Words.Of("otherwise"), Words.Of("before"), StringComparison.Ordinal));
        }

        private FindingEffect? Ratio(double[] values)
        {
            double[] baseline = [.. _before.Select(i => Math.Log(values[i])).Where(double.IsFinite)];
            double[] candidate = [.. _after.Select(i => Math.Log(values[i])).Where(double.IsFinite)];
            if (baseline.Length == 0 || candidate.Length == 0)
                return null;
            double ratio = Math.Exp(candidate.Average() - baseline.Average());
            Interval? interval = baseline.Length > 1 && candidate.Length > 1 ? Bootstrap.OfRuns(baseline, candidate).At(0.95) : null;
            return FindingEffect.Of(ratio, interval) with { By = Words.Of("means of up to three sizes") };
        }

        private IReadOnlyList<TimeWindow> Windows(int[] places) => [.. places.Select(i => _windows[i]).OfType<TimeWindow>()];
    }
}
