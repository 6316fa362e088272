using MongoPerf.Reports.Charts;

namespace MongoPerf.Reports.Forecasts;

/// <summary>
/// What forecasts come to, on one screen: each operation at the largest size that was asked for, deployments beside each other, what is
/// outgrown, and the runs that would tell what is not known.
/// </summary>
internal static class ForecastAnswer
{
    private const string Letters = "ABCDEFGH";

    /// <param name="forecasts">One, or several for the same sizes.</param>
    /// <param name="typed">The runs, as commands take them.</param>
    public static IReadOnlyList<Block> Of(IReadOnlyList<RunForecast> forecasts, string typed)
    {
        NarrowingRun?[] runs = [.. forecasts.Select(NarrowingRun.Of)];
        string? more = RunAnswer.More(forecasts.Sum(forecast => forecast.Notes.Count), 0);
        Fact[] next =
        [
            .. runs.OfType<NarrowingRun>().Select(run => new Fact("next", Words.Of($"{NameOf(run, runs)} (about "
                + $"{Units.Duration(run.Time)}) shows {Words.And(run.Operations)}: {run.Command}"))),
            .. runs.Any(run => run is not null)
                ? [new Fact("then", Then(runs))]
                : (Fact[])[new Fact("next", Next(forecasts, typed))],
        ];
        return
        [
            new Block.Facts([.. forecasts.Select((forecast, i) => new Fact(forecasts.Count == 1 ? "run" : Letter(i), Subject(forecast)))])
            {
                In = Media.Console,
            },
            .. forecasts.Any(forecast => forecast.Operations.Count > 0)
                ? [new Block.Table(forecasts.Count == 1 ? Single(forecasts[0], runs) : Beside(forecasts, runs)) { IsPlain = true }]
                : Array.Empty<Block>(),
            new Block.Facts([.. forecasts.SelectMany((forecast, i) => Room(forecast, forecasts.Count == 1 ? "" : Letter(i) + ": "))]),
            new Block.Facts(
            [
                .. more is null ? Array.Empty<Fact>()
                    : [new Fact("more", Words.Of($"{more}: add --full"))],
                .. next,
            ]) { In = Media.Console },
            new Block.Facts(next) { In = Media.Documents },
        ];
    }

    /// <summary>What is done with the runs that would tell more.</summary>
    private static string Then(NarrowingRun?[] runs)
    {
        string[] replaced = [.. runs.Index().Where(run => run.Item is not null).Select(run => Letter(run.Index))];
        return runs.Length == 1 ? Words.Of("forecast again from the new run")
            : replaced.Length == 1 ? Words.Of($"forecast again, with the new run in place of {replaced[0]}")
            : Words.Of($"forecast again, with the new runs in place of {Words.And(replaced)}");
    }

    public static string Letter(int place) => Letters[place].ToString();

    /// <summary>"run 1" of several; what stands in place of a range that is too wide.</summary>
    public static string NameOf(NarrowingRun run, IReadOnlyList<NarrowingRun?> all) =>
        Words.Of($"run {all.OfType<NarrowingRun>().TakeWhile(other => other != run).Count() + 1}");

    /// <summary>"a: series, 10 sizes up to 10M documents, 1 GiB cache, 8 GiB memory".</summary>
    public static string Subject(RunForecast forecast)
    {
        string name = forecast.Run.DeploymentName is { } deployment ? $" ({deployment})" : "";
        return Words.Of($"{forecast.Run.Run.Id}{name}: {forecast.Growth.Name}, {Words.Counted(forecast.Growth.Steps.Count, "size")} up to "
            + $"{Units.Count(forecast.LargestDocuments)} documents, {ForecastReport.LimitsText(forecast.Measured)}");
    }

    private static string Next(IReadOnlyList<RunForecast> forecasts, string typed) => forecasts.Count > 1
        ? Words.Of($"to compare what they measured: {CommandText.Program} compare {typed}")
        : Words.Of($"to see how well this run predicts itself: {CommandText.Program} forecast {typed} --check");

    private static ReportTable Single(RunForecast forecast, NarrowingRun?[] runs)
    {
        long documents = forecast.Documents[^1];
        return new ReportTable(
            Words.Of($"from {Units.Count(forecast.LargestDocuments)} to {Units.Count(documents)} documents; rate: docs/s for inserts, "
                + $"else ops/s"),
            ["<operation", "measured", "forecast", "95 %", "change", "p99", "<verdict"],
            [.. forecast.Operations.Select(operation => (Operation: operation, Point: operation.At(documents)))
                .Select(one => (IReadOnlyList<string>)
                [
                    one.Operation.Name, Units.Rate(one.Operation.MeasuredPerSecond),
                    Figure(one.Point.PerSecond, runs[0], runs, v => Units.Rate(v)), Interval(one.Point.PerSecond),
                    Change(one.Point.PerSecond, one.Operation.MeasuredPerSecond),
                    Figure(one.Point.P99Microseconds, runs[0], runs, v => Units.Latency(v)), Trust(one.Point),
                ])]);
    }

    /// <summary>The value, a range that is narrow enough, or the run that would tell.</summary>
    public static string Figure(ForecastValue? value, NarrowingRun? run, IReadOnlyList<NarrowingRun?> runs, Func<double, string> write) =>
        value is null ? Units.None
        : run is not null && NarrowingRun.IsTooWide(value) ? NameOf(run, runs)
        : value.Value is { } one ? write(one)
        : Words.Of($"{write(value.Low)} to {write(value.High)}");

    private static string Change(ForecastValue? value, double? measured) =>
        !NarrowingRun.IsTooWide(value) && value?.Value / measured is { } change ? Units.Change(change) : Units.None;

    private static string Interval(ForecastValue? value) => value?.Value is null || NarrowingRun.IsTooWide(value)
        ? Units.None
        : Words.Of($"{Units.Rate(value.Low)} to {Units.Rate(value.High)}");

    private static string Trust(ForecastPoint point) => point.Reach switch
    {
        Reach.Unknown => Words.Of($"{string.Join(", ", point.Unknown.Select(Words.Of))} outgrown"),
        _ when NarrowingRun.IsTooWide(point.PerSecond) => Words.Of("not known"),
        Reach.Extrapolated => Words.Of("extrapolated"),
        _ => Words.Of("continues"),
    };

    private static ReportTable Beside(IReadOnlyList<RunForecast> forecasts, NarrowingRun?[] runs)
    {
        string[] names = [.. forecasts.SelectMany(forecast => forecast.Operations).Select(operation => operation.Name).Distinct()];
        long documents = forecasts[0].Documents[^1];
        return new ReportTable(
            Words.Of($"at {Units.Count(documents)} documents; rate: docs/s for inserts, else ops/s"),
            [
                "<operation", .. forecasts.SelectMany((_, i) => new[] { Words.Of($"{Letter(i)} rate"), Words.Of($"{Letter(i)} p99") }),
                "<ahead",
            ],
            [.. names.Select(name =>
            {
                ForecastPoint?[] points =
                    [.. forecasts.Select(forecast => forecast.Operations.FirstOrDefault(one => one.Name == name)?.At(documents))];
                return (IReadOnlyList<string>)
                [
                    name,
                    .. points.SelectMany((point, i) => new[]
                    {
                        Figure(point?.PerSecond, runs[i], runs, v => Units.Rate(v)),
                        Figure(point?.P99Microseconds, runs[i], runs, v => Units.Latency(v)),
                    }),
                    Ahead([.. points.Select(point => point?.PerSecond)]),
                ];
            })]);
    }

    /// <summary>"A × 3.4" where its interval lies above all others; otherwise that it is not known.</summary>
    private static string Ahead(ForecastValue?[] rates)
    {
        if (rates.Any(rate => rate is null))
            return Units.None;
        int best = Enumerable.Range(0, rates.Length).MaxBy(i => rates[i]!.Low);
        ForecastValue[] others = [.. rates.Where((_, i) => i != best).Select(rate => rate!)];
        if (others.Any(other => other.High >= rates[best]!.Low))
            return Words.Of("not known");
        double factor = others.All(other => other.Value is not null) && rates[best]!.Value is { } value
            ? value / others.Max(other => other.Value!.Value)
            : double.NaN;
        return double.IsFinite(factor) ? $"{Letter(best)} × {Units.Significant(factor)}" : Letter(best);
    }

    /// <summary>What the documents take up, and what they outgrow first.</summary>
    private static IEnumerable<Fact> Room(RunForecast forecast, string name)
    {
        long documents = forecast.Documents[^1];
        SizeForecast? size = forecast.OnDisk;
        if (size?.At(documents) is { } bytes)
            yield return new Fact("disk", Words.Of($"{name}{Units.Count(documents)} documents take {Units.Bytes(bytes.Value)} "
                + $"(95 %: {Units.Bytes(bytes.Low)} to {Units.Bytes(bytes.High)})"));
        if (forecast.FindSize(SizeForecast.Uncompressed)?.At(documents) is { } all
            && forecast.FindSize(SizeForecast.Indexes)?.At(documents) is { } indexes)
            yield return new Fact("memory", Words.Of($"{name}a cache of {Units.BinaryBytes(all.Value)} holds all of them, "
                + $"one of {Units.BinaryBytes(indexes.Value)} their indexes"));
        string[] outgrown = [.. forecast.Milestones.GroupBy(milestone => milestone.Limit)
            .Select(limit => limit.MinBy(m => m.Documents.Value)!)
            .Where(milestone => milestone.Documents.Value < documents)
            .Select(m => Words.Of($"{Words.Of(m.Limit)} ({Limit(m)}) outgrown by {Words.Of(m.What)} at "
                + $"{AxisScale.AboutText(m.Documents.Value)} documents"))];
        yield return new Fact("limits", outgrown.Length == 0
            ? Words.Of($"{name}cache, memory and disk suffice, as far as is known")
            : $"{name}{string.Join("; ", outgrown)}");
    }

    private static string Limit(Milestone milestone) =>
        milestone.Limit == "disk" ? Units.Bytes(milestone.LimitBytes) : Units.BinaryBytes(milestone.LimitBytes);
}
