using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Comparison;
using MongoPerf.Reporting.Comparison.Statistics;

namespace MongoPerf.Reporting.Findings;

/// <summary>Rates that fall as the collection grows, at one place or all the way, and what was outgrown there.</summary>
internal static class SizeFindings
{
    /// <summary>A smaller fall is left to the reader.</summary>
    private const double Least = 0.1;
    private const int Neighbours = 3;

    /// <summary>An operation at the sizes at which it has a rate.</summary>
    private sealed record Row(GrowthLine Line, string Name, string Chart, long[] Documents, OperationResult[] Results, double[] Rates)
    {
        public string Unit => Line.IsInsert ? " documents/s" : "/s";
    }

    /// <param name="series">The run's.</param>
    /// <param name="level">Chance of any false finding, at most, for a cliff and for a decline each.</param>
    public static IEnumerable<Finding> Find(RunSeries series, double level)
    {
        foreach ((int place, GrowthFigures growth) in GrowthFigures.Of(series.Run).Index())
        {
            Row[] rows = [.. growth.Lines.Select(line => RowOf(growth, line, place)).Where(row => row.Rates.Length >= SizeStep.LeastSizes)];
            foreach (Row row in rows)
            {
                if (SizeStep.Find(row.Rates, level / rows.Length, Least) is { IsCliff: true } step)
                    yield return Cliff(series, growth, row, step);
                else if (Trend.Of(row.Rates) is { } trend && trend.P < level / rows.Length && trend.Interval.High < 1 && trend.Ratio <= 1 - Least)
                    yield return Decline(series, growth, row, trend);
            }
        }
    }

    private static Row RowOf(GrowthFigures growth, GrowthLine line, int place)
    {
        int[] steps = [.. line.Results.Keys.Order().Where(step => line.RateAt(step) > 0)];
        string chart = (line.IsInsert ? "insert-rate" : "query-rate") + (place == 0 ? "" : $"-{place + 1}");
        return new Row(
            line, growth.NameOf(line), chart, [.. steps.Select(step => growth.Steps[step].Documents)], [.. steps.Select(step => line.Results[step])], [.. steps.Select(step => line.RateAt(step)!.Value)]);
    }

    private static Finding Cliff(RunSeries series, GrowthFigures growth, Row row, SizeStep step)
    {
        long from = row.Documents[step.From];
        long to = row.Documents[step.To];
        int[] before = [.. Enumerable.Range(Math.Max(0, step.From - Neighbours + 1), Math.Min(Neighbours, step.From + 1))];
        int[] after = [.. Enumerable.Range(step.To, Math.Min(Neighbours, row.Rates.Length - step.To))];
        Comparison compared = new(series, row, before, after);
        (string? cause, bool isCoincidence) = CauseOf(series, growth, compared, from - (row.Documents.Length > 1 ? row.Documents[1] - row.Documents[0] : 0), to);
        return new Finding
        {
            Id = FindingIds.SizeCliff,
            Text = $"{row.Name}'s rate falls from {Units.Rate(step.Before)} to {Units.Rate(step.After)}{row.Unit} between {Units.Count(from)} and {Units.Count(to)} documents",
            Operations = [row.Name],
            Range = compared.Range(step.From, step.To),
            Rate = Ratio(row.Rates, before, after),
            P99 = Ratio([.. row.Results.Select(result => result.JudgedMicroseconds.P99 ?? double.NaN)], before, after),
            Evidence = [new FindingEvidence(row.Chart, Figures(row)), .. compared.Evidence()],
            Cause = cause,
            IsCoincidence = isCoincidence,
            Refute = cause is null
                ? "grow the collection again with smaller steps around the fall: if it comes elsewhere, it is not the size"
                : "grow the same collection with a memory limit and a cache twice as large: if the fall stays at the same size, memory is not what it ran out of",
            Weight = Math.Log(step.Before / step.After),
        };
    }

    private static Finding Decline(RunSeries series, GrowthFigures growth, Row row, Trend trend)
    {
        int last = row.Rates.Length - 1;
        int few = Math.Min(Neighbours, row.Rates.Length / 2);
        Comparison compared = new(series, row, [.. Enumerable.Range(0, few)], [.. Enumerable.Range(last - few + 1, few)]);
        (string? cause, bool isCoincidence) = CauseOf(series, growth, compared, row.Documents[0], row.Documents[last]);
        return new Finding
        {
            Id = FindingIds.SizeDecline,
            Text = $"{row.Name}'s rate falls steadily as the collection grows: at {Units.Count(row.Documents[last])} documents it is {ComparisonText.LatencyChange(trend.Ratio)} than at {Units.Count(row.Documents[0])}",
            Operations = [row.Name],
            Range = compared.Range(0, last),
            Rate = FindingEffect.Of(trend.Ratio, trend.Interval),
            P99 = Ratio([.. row.Results.Select(result => result.JudgedMicroseconds.P99 ?? double.NaN)], compared.Before, compared.After),
            Evidence = [new FindingEvidence(row.Chart, Figures(row)), .. compared.Evidence()],
            Cause = cause,
            IsCoincidence = isCoincidence,
            Refute = "measure the largest size first, on a fresh server: if it is no slower than the smallest, time and not size made it slower",
            Weight = Math.Log(1 / trend.Ratio) / 2,
        };
    }

    private static string Figures(Row row) =>
        $"{Units.Rate(row.Rates[0])} at {Units.Count(row.Documents[0])}, highest {Units.Rate(row.Rates.Max())}, {Units.Rate(row.Rates[^1])} at {Units.Count(row.Documents[^1])} documents";

    private static FindingEffect? Ratio(double[] values, int[] before, int[] after)
    {
        double[] baseline = [.. before.Select(i => Math.Log(values[i])).Where(double.IsFinite)];
        double[] candidate = [.. after.Select(i => Math.Log(values[i])).Where(double.IsFinite)];
        if (baseline.Length == 0 || candidate.Length == 0)
            return null;
        double ratio = Math.Exp(candidate.Average() - baseline.Average());
        return FindingEffect.Of(ratio, baseline.Length > 1 && candidate.Length > 1 ? Bootstrap.OfRuns(baseline, candidate).At(0.95) : null);
    }

    /// <summary>A limit that is outgrown where the rate falls is the likely cause if more is read from then on; anything less is only seen together.</summary>
    private static (string? Cause, bool IsCoincidence) CauseOf(RunSeries series, GrowthFigures growth, Comparison compared, double from, double to)
    {
        IReadOnlyList<CacheCrossing> crossings = CacheCrossing.Find(growth.Sizes, series.Run.Deployment?.AllCacheBytes, CacheCrossing.MemoryOf(series.Run));
        // What only memory's end explains comes before what a cache's end does.
        CacheCrossing? inside = crossings.Where(c => c.Documents >= from && c.Documents <= to).OrderByDescending(c => c.Limit == CacheCrossing.Memory).ThenByDescending(c => c.Documents).FirstOrDefault();
        IReadOnlyList<string> more = [.. compared.Reads];
        if (inside is not null)
            return more.Count > 0 ? ($"{Outgrew(series.Run, inside)}, and {more[0]}", false) : (Outgrew(series.Run, inside), true);
        CacheCrossing? earlier = crossings.Where(c => c.Documents < from).MaxBy(c => c.Documents);
        string[] together = [.. more, .. earlier is null ? Enumerable.Empty<string>() : [$"{Outgrew(series.Run, earlier)} already"]];
        return (together.Length == 0 ? null : Words.And(together), true);
    }

    /// <summary>"the files outgrew the memory limit (700 MiB) at 2.2M documents".</summary>
    private static string Outgrew(StoredRun run, CacheCrossing crossing)
    {
        long? bytes = crossing.Limit == CacheCrossing.Memory ? CacheCrossing.MemoryOf(run) : run.Deployment?.AllCacheBytes;
        string what = crossing.What == "files" ? "data and indexes on disk" : $"the {crossing.What}";
        return $"{what} outgrew the {crossing.Limit} ({Units.BinaryBytes(bytes)}) at {AxisScale.AboutText(crossing.Documents)} documents";
    }

    /// <summary>Some sizes of a row against others.</summary>
    private sealed class Comparison
    {
        private readonly RunSeries _series;
        private readonly Row _row;
        private readonly TimeWindow?[] _windows;

        public Comparison(RunSeries series, Row row, int[] before, int[] after)
        {
            _series = series;
            _row = row;
            Before = before;
            After = after;
            var windows = series.Operations.ToDictionary(one => (object)one.Result, one => one.Window, ReferenceEqualityComparer.Instance);
            _windows = [.. row.Results.Select(result => windows.TryGetValue(result, out TimeWindow window) ? window : (TimeWindow?)null)];
        }

        public int[] Before { get; }

        public int[] After { get; }

        public IEnumerable<string> Reads => Circumstances.Reads(_series, Windows(After), Windows(Before));

        public FindingRange Range(int from, int to) => _windows[from] is { } first && _windows[to] is { } last
            ? _series.Range(new TimeWindow(first.From, last.To), _row.Documents[from], _row.Documents[to])
            : new FindingRange(null, null, _row.Documents[from], _row.Documents[to]);

        public IEnumerable<FindingEvidence> Evidence()
        {
            foreach (string circumstance in Circumstances.Of(_series, Windows(After), Windows(Before)))
                yield return new FindingEvidence("timeline", $"after the fall {circumstance}".Replace("otherwise", "before", StringComparison.Ordinal));
        }

        private IReadOnlyList<TimeWindow> Windows(int[] places) => [.. places.Select(i => _windows[i]).OfType<TimeWindow>()];
    }
}
