using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What is compared of an operation.</summary>
public enum Measure
{
    /// <summary>Documents per second of inserts, operations per second of others.</summary>
    Rate,

    /// <summary>Microseconds: response time where a rate was set, otherwise from an operation's start to its reply.</summary>
    P50,

    /// <inheritdoc cref="P50"/>
    P99,

    /// <summary>Microseconds from an operation's start to its reply, shown beside response time and not judged.</summary>
    ServiceP50,

    /// <inheritdoc cref="ServiceP50"/>
    ServiceP99,
}

/// <summary>Which percentile a measure is, and of what.</summary>
internal static class Measures
{
    public static IReadOnlyList<Measure> All { get; } = Enum.GetValues<Measure>();

    public static bool IsService(this Measure measure) => measure is Measure.ServiceP50 or Measure.ServiceP99;

    /// <summary>50 or 99; 0 for a rate.</summary>
    public static double Percent(this Measure measure) => measure switch
    {
        Measure.Rate => 0,
        Measure.P50 or Measure.ServiceP50 => 50,
        _ => 99,
    };

    /// <returns>Microseconds; null when none was recorded.</returns>
    public static double? Of(this Measure measure, LatencySummary? summary) => measure.Percent() == 50 ? summary?.P50 : summary?.P99;
}
