using MongoPerf.Reports.Charts;

namespace MongoPerf.Reports.Forecasts;

/// <summary>What is reported of a forecast, or of the check of one, and in which order.</summary>
public static class ForecastReport
{
    /// <param name="forecasts">One, or several for the same sizes, which are set beside each other.</param>
    /// <param name="typed">The runs, as commands take them.</param>
    public static Report Of(IReadOnlyList<RunForecast> forecasts, string typed)
    {
        NarrowingRun?[] runs = [.. forecasts.Select(NarrowingRun.Of)];
        return new Report(
            Words.Of($"MongoPerf: forecast from {Words.And([.. forecasts.Select(forecast => forecast.Run.Run.Id)])}"), [],
            [.. forecasts.SelectMany((forecast, i) => Sections(forecast, runs[i], runs))])
        {
            Answer = ForecastAnswer.Of(forecasts, typed),
        }.Marked([.. forecasts.Select(forecast => forecast.Run)]);
    }

    private static IEnumerable<Section> Sections(RunForecast forecast, NarrowingRun? run, IReadOnlyList<NarrowingRun?> runs) =>
    [
        new Section(forecast.Run.Run.Id,
        [
            new Block.Facts(
            [
                new Fact("run", ForecastAnswer.Subject(forecast)),
                new Fact("asked for",
                    Words.Of($"{string.Join(", ", forecast.Documents.Select(n => Units.Count(n)))} documents, {LimitsText(forecast.Target)}"
                        + $"{(forecast.DiskBytes is { } disk ? Words.Of($", {Units.Bytes(disk)} of disk") : "")}")),
                new Fact("method", Words.Of("each law (flat, a slope over the logarithm of the documents, a working set that outgrows its "
                    + "memory) is fitted to logarithms and weighted by how well the measured sizes support it; intervals contain 95 of 100 "
                    + "new measurements if those laws are the right ones (docs/forecast.md)")),
            ]),
            new Block.Cautions(forecast.Notes),
            .. Tables(forecast, run, runs).Select(table => new Block.Table(table)),
        ]),
    ];

    public static Report Of(ForecastCheck check) => new Report(
        Words.Of($"MongoPerf: forecast checked on {check.Forecast.Run.Run.Id}"),
        [new Block.Facts([new Fact("run", check.Forecast.Run.Run.Id), .. Outcome(check).Select(text => new Fact("check", text))])],
        [.. Tables(check).Select(Section.Of)]).Marked([check.Forecast.Run]);

    private static IEnumerable<ReportTable> Tables(RunForecast forecast, NarrowingRun? run, IReadOnlyList<NarrowingRun?> runs)
    {
        if (forecast.Sizes.Count > 0)
            yield return Sizes(forecast);
        if (forecast.Milestones.Count > 0)
            yield return Milestones(forecast);
        if (forecast.Operations.Count == 0)
            yield break;
        yield return new ReportTable(
            Words.Of("what the run shows"), ["<operation", Words.Of($"rate at {Units.Count(forecast.LargestDocuments)}"), "p99", "<rate"],
            [.. forecast.Operations.Select(o =>
                (IReadOnlyList<string>)[o.Name, Units.Rate(o.MeasuredPerSecond), Units.Latency(o.MeasuredP99Microseconds), o.Law])]);
        foreach (long documents in forecast.Documents)
            yield return Operations(forecast, documents, run, runs);
    }

    private static IEnumerable<string> Outcome(ForecastCheck check)
    {
        yield return Words.Of($"{Words.Counted(check.Forecast.Growth.Steps.Count, "size")} up to "
            + $"{Units.Count(check.Forecast.LargestDocuments)} documents predict {Words.Counted(check.Forecast.Documents.Count, "size")} "
            + $"from {Units.Count(check.Forecast.Documents[0])} to {Units.Count(check.Forecast.Documents[^1])}");
        CheckedOperation[] all = [.. check.Operations];
        int intervals = all.Sum(o => o.Sizes - o.Ranges);
        yield return Words.Of($"{Units.Exact(all.Sum(o => o.Inside))} of {Units.Exact(all.Sum(o => o.Sizes))} measurements lie in their "
            + $"interval or range ({Units.Exact(intervals)} have an interval, {Units.Exact(all.Sum(o => o.Sizes) - intervals)} have a "
            + $"range because the first half does not show what is outgrown there)");
    }

    private static IEnumerable<ReportTable> Tables(ForecastCheck check)
    {
        yield return Checked(Words.Of("rates and p99: second half of the sizes, predicted from the first"), check.Operations);
        if (check.Sizes.Count > 0)
            yield return Checked(Words.Of("bytes at the largest size, predicted from the first half"), check.Sizes);
    }

    private static ReportTable Checked(string title, IReadOnlyList<CheckedOperation> rows) => new(
        title, ["<of", "<what", "sizes", "inside", "ranges", "median error", "worst error", "interval, high/low"],
        [
            .. rows.Select(row => (IReadOnlyList<string>)
            [
                row.Operation, row.Measure, Units.Exact(row.Sizes), Units.Exact(row.Inside), Units.Exact(row.Ranges),
                row.MedianError is { } median ? Units.Percent(median) : Units.None,
                row.WorstError is { } worst ? (worst > 0 ? "+" : "") + Units.Percent(worst) : Units.None,
                row.Width is { } width ? Units.Significant(width) : Units.None,
            ]),
        ]);

    public static string LimitsText(ServerMemory limits) =>
        $"{(limits.CacheBytes is { } cache ? Words.Of($"{Units.BinaryBytes(cache)} cache") : Words.Of("cache unknown"))}, "
        + $"{(limits.MemoryBytes is { } memory ? Words.Of($"{Units.BinaryBytes(memory)} memory") : Words.Of("memory unknown"))}";

    private static ReportTable Sizes(RunForecast forecast) => new(
        Words.Of("bytes per document"),
        ["<of", Words.Of($"at {Units.Count(forecast.LargestDocuments)}"), .. forecast.Documents.SelectMany(n => new[]
        {
            Words.Of($"at {Units.Count(n)}"), "<95 % interval", Words.Of("in all"),
        })],
        [
            .. forecast.Sizes.Select(size => (IReadOnlyList<string>)
            [
                Words.Of(size.What), Units.Significant(size.EachAt(forecast.LargestDocuments).Value),
                .. forecast.Documents.SelectMany(n => size.EachAt(n) is var each ? new[]
                {
                    Units.Significant(each.Value),
                    Words.Of($"{Units.Significant(each.Low)} to {Units.Significant(each.High)}"),
                    Units.Bytes(each.Value * n),
                } : []),
            ]),
        ]);

    private static ReportTable Milestones(RunForecast forecast) => new(
        Words.Of("what is outgrown"), ["<what", "<outgrows", Words.Of("documents"), "<95 % interval", "<in the run"],
        [
            .. forecast.Milestones.Select(m => (IReadOnlyList<string>)
            [
                Words.Of(m.What),
                $"{Words.Of(m.Limit)} ({(m.Limit == "disk" ? Units.Bytes(m.LimitBytes) : Units.BinaryBytes(m.LimitBytes))})",
                AxisScale.AboutText(m.Documents.Value, 3),
                Words.Of($"{AxisScale.AboutText(m.Documents.Low)} to {AxisScale.AboutText(m.Documents.High)}"),
                m.Documents.Value <= forecast.LargestDocuments ? Words.Of("within its sizes") : Words.Of("beyond its sizes"),
            ]),
        ]);

    private static ReportTable Operations(
        RunForecast forecast, long documents, NarrowingRun? run, IReadOnlyList<NarrowingRun?> runs) => new(
        Words.Of($"at {Units.Count(documents)} documents: documents/s for inserts, operations/s for others; brackets mark a range that "
            + $"the run can't narrow down"),
        ["<operation", "rate", "<95 % interval", "p99", "<p99 interval", "<how far to trust it"],
        [
            .. forecast.Operations.Select(o => (Name: o.Name, Point: o.At(documents))).Select(one => (IReadOnlyList<string>)
            [
                one.Name, Units.Rate(ValueOf(one.Point.PerSecond)), Range(one.Point.PerSecond, v => Units.Rate(v), run, runs),
                Units.Latency(ValueOf(one.Point.P99Microseconds)),
                Range(one.Point.P99Microseconds, v => Units.Latency(v), run, runs), ReachText(one.Point),
            ]),
        ]);

    /// <summary>None where the interval is too wide for one.</summary>
    private static double? ValueOf(ForecastValue? value) => NarrowingRun.IsTooWide(value) ? null : value?.Value;

    private static string Range(
        ForecastValue? value, Func<double, string> write, NarrowingRun? run, IReadOnlyList<NarrowingRun?> runs) =>
        value is null ? Units.None
        : run is not null && NarrowingRun.IsTooWide(value) ? Words.Of($"{ForecastAnswer.NameOf(run, runs)} would tell")
        : value.Value is null ? Words.Of($"[{write(value.Low)} to {write(value.High)}]")
        : Words.Of($"{write(value.Low)} to {write(value.High)}");

    private static string ReachText(ForecastPoint point) => point.Reach switch
    {
        Reach.Unknown => Words.Of($"unknown: {Words.And([.. point.Unknown.Select(Words.Of)])} outgrown, which the run does not show"),
        _ when NarrowingRun.IsTooWide(point.PerSecond) => Words.Of("not known"),
        Reach.Extrapolated => Words.Of("extrapolated beyond 5 times the measured sizes"),
        _ => Words.Of("continues what was measured"),
    };
}
