using MongoPerf.Storage;

namespace MongoPerf.Reports.Forecasts;

/// <summary>How far a forecast can be trusted. The names are those of the JSON, in camelCase.</summary>
public enum Reach
{
    /// <summary>The run holds what the forecast continues.</summary>
    Continued,

    /// <summary>More than five times the largest size that was measured.</summary>
    Extrapolated,

    /// <summary>Something is outgrown that the run never outgrew: only a range.</summary>
    Unknown,
}

/// <summary>A rate or a percentile at one size.</summary>
/// <param name="Value">Null where the run can't tell.</param>
/// <param name="Low">The low end of the interval, or of the range.</param>
/// <param name="High">The high end of the interval, or of the range.</param>
public sealed record ForecastValue(double? Value, double Low, double High)
{
    public static ForecastValue Of(Prediction prediction) => new(prediction.Value, prediction.Low, prediction.High);

    public bool Holds(double measured) => measured >= Low && measured <= High;
}

/// <summary>An operation at one size.</summary>
/// <param name="Documents">The documents in the collection.</param>
/// <param name="Reach">How far to trust it.</param>
/// <param name="Unknown">What is outgrown that the run never outgrew: "cache" or "memory"; empty for nothing.</param>
/// <param name="PerSecond">Documents of inserts, operations of anything else; null where a rate was set, or too few sizes have one.</param>
/// <param name="P99Microseconds">Null for unacknowledged operations, or where too few sizes have one.</param>
public sealed record ForecastPoint(
    long Documents, Reach Reach, IReadOnlyList<string> Unknown, ForecastValue? PerSecond, ForecastValue? P99Microseconds);

/// <summary>How an operation's rate and p99 follow the size.</summary>
public sealed class OperationForecast
{
    /// <summary>Beyond as many times the largest size a forecast is called an extrapolation.</summary>
    public const double FarFactor = 5;

    private const double LikelyWeight = 0.5;

    /// <summary>A page that the cache lacks and the system's file cache has is read and decompressed in about 50 µs of one core.</summary>
    private const double CacheMissesPerSecond = 20_000;

    private readonly GrowthLine _line;
    private readonly CapacityLimit[] _limits;
    private readonly double _missesPerOperation;

    private OperationForecast(GrowthLine line, string name, CapacityLimit[] limits, double missesPerOperation)
    {
        _line = line;
        Name = name;
        _limits = limits;
        _missesPerOperation = missesPerOperation;
    }

    public string Name { get; }

    public bool IsInsert => _line.IsInsert;

    public int Threads => _line.Threads;

    /// <summary>The fit of the time per operation (the reciprocal of the rate), in seconds.</summary>
    public GrowthFit? Time { get; private init; }

    /// <summary>The fit of p99, in microseconds.</summary>
    public GrowthFit? P99 { get; private init; }

    public double LargestDocuments { get; private init; }

    /// <summary>The rate measured at <see cref="LargestDocuments"/> per second; null where a rate was set.</summary>
    public double? MeasuredPerSecond { get; private init; }

    public double? MeasuredP99Microseconds { get; private init; }

    /// <summary>Where the run shows that its working set no longer fits; null when it does not show that.</summary>
    public Prediction? Outgrown => Time is { ShapeWeight: >= LikelyWeight } ? Time.Where<Outgrown>(shape => shape.Documents) : null;

    /// <summary>What it outgrew; null when nothing.</summary>
    public CapacityLimit? OutgrownLimit => Outgrown is { } at ? LimitAt(at.Value) : null;

    /// <summary>Null for an operation with too few sizes.</summary>
    public static OperationForecast? Of(
        GrowthFigures growth, GrowthLine line, string name, IReadOnlyList<CapacityLimit> limits, int indexes)
    {
        int[] steps = [.. line.Results.Keys.Where(step => growth.Steps[step].Documents > 0 && line.RateAt(step) > 0).Order()];
        if (steps.Length < GrowthFit.LeastSizes)
            return null;
        OperationResult last = line.Results[steps[^1]];
        double largest = growth.Steps[steps[^1]].Documents;
        double least = limits.Select(limit => limit.LeastMeasured).DefaultIfEmpty(0).Min();
        (double, double?)[] times = [.. steps.Where(step => !line.Results[step].HasRate)
            .Select(step => ((double)growth.Steps[step].Documents, 1 / line.RateAt(step)))];
        (double, double?)[] p99 = line.IsUnacknowledged ? []
            : [.. steps.Select(step => ((double)growth.Steps[step].Documents, line.Results[step].ReportedMicroseconds.P99))];
        return new OperationForecast(line, name, [.. limits], MissesOf(line, last, indexes))
        {
            Time = Fit(times, least, 0.02),
            P99 = Fit(p99, least, 0.05),
            LargestDocuments = largest,
            MeasuredPerSecond = last.HasRate ? null : line.RateAt(steps[^1]),
            MeasuredP99Microseconds = line.IsUnacknowledged ? null : last.ReportedMicroseconds.P99,
        };
    }

    /// <summary>What is outgrown at a size that the run never outgrew with it.</summary>
    public IReadOnlyList<CapacityLimit> UnknownAt(long documents) => [.. _limits.Where(limit => documents > HorizonOf(limit))];

    public ForecastPoint At(long documents)
    {
        IReadOnlyList<CapacityLimit> unknown = UnknownAt(documents);
        double scale = (OutgrownLimit ?? LimitAt(LargestDocuments))?.Scale ?? 1;
        Prediction? time = Time?.At(documents, scale);
        Prediction? p99 = P99?.At(documents, scale);
        Reach reach = unknown.Count > 0 ? Reach.Unknown : documents > FarFactor * LargestDocuments ? Reach.Extrapolated : Reach.Continued;
        double misses = unknown.Sum(limit =>
            _missesPerOperation * limit.MissesAt(documents) / (limit.IsCache ? CacheMissesPerSecond : limit.ReadsPerSecond));
        return new ForecastPoint(
            documents, reach, [.. unknown.Select(limit => limit.Name)],
            time is { } t ? (misses > 0 ? new ForecastValue(null, 1 / (t.High + misses), 1 / t.Low) : ForecastValue.Of(t.Inverse)) : null,
            // Every thread may wait for the misses of all others.
            p99 is { } p
                ? (misses > 0 ? new ForecastValue(null, p.Low, p.High + (misses * Threads * _line.Batch * 1e6)) : ForecastValue.Of(p))
                : null);
    }

    /// <summary>The law in words: what the run shows of it.</summary>
    public string Law => Time is null ? Words.Of("a rate was set: only its latency is forecast")
        : Outgrown is { } at ? Words.Of($"falls beyond {Units.Count(Rounded(at.Value))} "
            + $"documents{(OutgrownLimit is { } limit ? Words.Of($", where its working set outgrows the {Words.Of(limit.Name)}") : "")}")
        : Time.SlopeWeight < LikelyWeight ? Words.Of("does not depend on size, as far as measured")
        : Words.Of($"{(Time.Best.Slope > 0 ? Words.Of("falls") : Words.Of("rises"))} by "
            + $"{Units.Percent(Math.Abs(1 - Math.Pow(2, -Time.Best.Slope)))} per doubling");

    /// <summary>Two digits.</summary>
    private static double Rounded(double value)
    {
        double step = Math.Pow(10, Math.Floor(Math.Log10(value)) - 1);
        return Math.Round(value / step) * step;
    }

    /// <summary>The largest size up to which the run tells what a limit does to it.</summary>
    private double HorizonOf(CapacityLimit limit)
    {
        // Memory holds what the cache does and more, so who outgrew it has seen both.
        if (OutgrownLimit is { } outgrown && (outgrown == limit || limit.IsCache))
            return double.PositiveInfinity;
        // What fitted all along in what all data had outgrown is smaller than they are, and fits in more as much longer.
        double proved = limit.MeasuredDocuments < LargestDocuments ? LargestDocuments * limit.Scale : 0;
        return Math.Max(limit.Documents, proved);
    }

    /// <summary>The largest limit that can have been outgrown at a size of the run; null for none.</summary>
    private CapacityLimit? LimitAt(double documents) =>
        _limits.Where(limit => limit.LeastMeasured <= documents && limit.MeasuredDocuments < LargestDocuments)
            .MaxBy(limit => limit.MeasuredDocuments)
        ?? _limits.Where(limit => limit.LeastMeasured <= documents).MinBy(limit => limit.MeasuredDocuments);

    private static GrowthFit? Fit((double Documents, double? Value)[] points, double leastOutgrown, double deviation)
    {
        (double Documents, double Value)[] there = [.. points.Where(point => point.Value > 0)
            .Select(point => (point.Documents, point.Value!.Value))];
        if (there.Length < GrowthFit.LeastSizes)
            return null;
        double[] documents = [.. there.Select(point => point.Documents)];
        return GrowthFit.Of(documents, [.. there.Select(point => point.Value)], RequestFor(documents, deviation, leastOutgrown));
    }

    /// <summary>What times may follow: a slope, and memory outgrown at any of the sizes.</summary>
    /// <param name="documents">The documents that were measured.</param>
    /// <param name="deviation">The deviation of a measurement, as a share.</param>
    /// <param name="leastOutgrown">The size before which nothing is outgrown.</param>
    public static FitRequest RequestFor(double[] documents, double deviation, double leastOutgrown)
    {
        double first = Math.Max(leastOutgrown, documents.Min() / 2);
        double last = documents.Max() * 0.98;
        IEnumerable<Outgrown> shapes = Enumerable.Range(0, 24).SelectMany(i =>
            Enumerable.Range(0, 20).Select(k => new Outgrown(first * Math.Pow(last / first, i / 23.0), Math.Pow(10, k / 5.4))));
        return new FitRequest(deviation, 0.25, 0.03, first < last ? [[.. shapes]] : []);
    }

    /// <summary>
    /// Pages that an operation reads at most when it finds none: of a document read its own and one of the index; of one
    /// inserted one of each index.
    /// </summary>
    private static double MissesOf(GrowthLine line, OperationResult result, int indexes) => line.IsInsert
        ? Math.Max(1, indexes)
        : 1 + (result.Plan is { } plan ? plan.DocumentsExaminedPerOperation ?? plan.DocumentsExamined
            : result.Operations > 0 ? (double)result.Documents / result.Operations : 1);
}

/// <summary>A cache or memory, in the run and in the forecast.</summary>
/// <param name="Name">"cache" or "memory".</param>
/// <param name="Bytes">The bytes in the forecast.</param>
/// <param name="MeasuredBytes">The bytes measured in the run.</param>
/// <param name="Documents">All data and indexes outgrow it there, in the forecast.</param>
/// <param name="MeasuredDocuments">All data and indexes outgrow it there, in the run.</param>
/// <param name="ReadsPerSecond">The reads per second of what lies below it.</param>
public sealed record CapacityLimit(
    string Name, double Bytes, double MeasuredBytes, double Documents, double MeasuredDocuments, double ReadsPerSecond)
{
    public const string Cache = "cache";
    public const string Memory = "memory";

    public bool IsCache => Name == Cache;

    /// <summary>
    /// The share from which on it may have been outgrown in the run: a cache evicts before it is full, and a memory holds the server's
    /// process, whose cache has part of the files once more.
    /// </summary>
    public double LeastMeasured => MeasuredDocuments * LeastShare;

    private double LeastShare => IsCache ? 0.5 : 0.25;

    /// <summary>How much larger it is than it was in the run.</summary>
    public double Scale => Bytes / MeasuredBytes;

    /// <summary>Share of accesses to all data that miss, at most.</summary>
    public double MissesAt(double documents) => Math.Max(0, 1 - (Documents / documents));
}
