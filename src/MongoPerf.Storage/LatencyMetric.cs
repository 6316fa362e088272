using MongoPerf.Measurement;
using MongoPerf.Texts.Input;

namespace MongoPerf.Storage;

/// <summary>Between which two moments an operation's time is taken.</summary>
public enum LatencySpan
{
    /// <summary>The time that counts: response time where a rate was set, otherwise service time.</summary>
    Reported,
    Service,
    Lateness,
}

/// <summary>
/// A figure of latencies by the name that it has wherever one may stand (assertions, figures, plots, options): min, mean, max, or any
/// percentile, also of service time or lateness, such as serviceP99.
/// </summary>
/// <param name="Name">Such as p75, serviceP9999 or max.</param>
/// <param name="Span">What it is taken of.</param>
/// <param name="Percent">75 of p75; null of min, mean and max.</param>
public sealed record LatencyMetric(string Name, LatencySpan Span, double? Percent)
{
    private static readonly (LatencySpan Span, string Prefix)[] Spans =
        [(LatencySpan.Service, "service"), (LatencySpan.Lateness, "lateness")];

    /// <summary>The names that lists and completion show; any other percentile may stand in their place.</summary>
    public static IReadOnlyList<string> Usual { get; } =
    [
        "min", "mean", "p50", "p90", "p95", "p99", "p999", "max", "serviceP50", "serviceP99", "latenessP50", "latenessP99",
    ];

    /// <summary>What is written of it, whatever it is of: p75.</summary>
    public string Figure => Span == LatencySpan.Reported ? Name : "p" + Name[(Spans.First(one => one.Span == Span).Prefix.Length + 1)..];

    /// <summary>Summaries have it; other percentiles are in histograms alone.</summary>
    public bool IsStored => Percent is null or 50 or 90 or 95 or 99 or 99.9;

    /// <returns>Null for any other name.</returns>
    public static LatencyMetric? Find(string name)
    {
        if (name is "min" or "mean" or "max")
            return new LatencyMetric(name, LatencySpan.Reported, null);
        (LatencySpan span, string prefix) = Spans.FirstOrDefault(one => name.StartsWith(one.Prefix, StringComparison.Ordinal));
        int at = prefix?.Length ?? 0;
        return Percentile.TryParse(name.AsSpan(at), out double percent) && name[at] == (at > 0 ? 'P' : 'p')
            ? new LatencyMetric(name, span, percent) : null;
    }

    /// <summary>Names to which any percentile is added.</summary>
    /// <param name="listed">The names that messages list.</param>
    /// <param name="onlyReported">Percentiles of service time and lateness are none of them.</param>
    public static AllowedNames AllowedWith(IReadOnlyList<string> listed, bool onlyReported = false) => new(listed)
    {
        IsOther = name => Find(name) is { Percent: not null } one && (one.Span == LatencySpan.Reported || !onlyReported),
        Others = "any other percentile",
        Rule = Percentile.Rule,
        Resembles = static name => name.Length > 1 && name[0] is 'p' or 'P' && char.IsAsciiDigit(name[1]),
    };

    /// <summary>Takes it from what is stored beside the histograms.</summary>
    /// <param name="result">Whose it is.</param>
    /// <param name="value">Microseconds; null where nothing was recorded.</param>
    /// <returns>False for a percentile that only a histogram has.</returns>
    public bool TryRead(OperationResult result, out double? value) => TryRead(Span switch
    {
        LatencySpan.Service => result.LatencyMicroseconds,
        LatencySpan.Lateness => result.LatenessMicroseconds,
        _ => result.ReportedMicroseconds,
    }, out value);

    /// <summary>Of a sample, which has to be read with its histograms unless it is one of <see cref="Usual"/>.</summary>
    /// <returns>Microseconds; null where nothing was recorded.</returns>
    /// <exception cref="HistogramFormatException">The histogram is damaged.</exception>
    public double? Of(Sample sample)
    {
        if (TryRead(Span switch
        {
            LatencySpan.Service => sample.LatencyMicroseconds,
            LatencySpan.Lateness => sample.LatenessMicroseconds,
            _ => sample.ReportedMicroseconds,
        }, out double? value))
            return value;
        ReadOnlyMemory<byte> encoded = Span switch
        {
            LatencySpan.Service => sample.Histogram,
            LatencySpan.Lateness => sample.LatenessHistogram,
            _ => sample.ReportedHistogram,
        };
        return encoded.IsEmpty ? null : Of(HistogramEncoding.Decode(encoded.Span));
    }

    /// <summary>Of several operations together.</summary>
    /// <returns>Microseconds; null where one of them has no such time, or nothing was recorded.</returns>
    public double? Of(IEnumerable<OperationLatency> all)
    {
        var sum = new LatencyHistogram();
        foreach (OperationLatency one in all)
        {
            LatencyHistogram? part = Span switch
            {
                LatencySpan.Service => one.Service,
                LatencySpan.Lateness => one.Lateness,
                _ => one.Response ?? one.Service,
            };
            if (part is null)
                return null;
            part.AddTo(sum);
        }

        return Of(sum);
    }

    /// <summary>The one place that makes it from a histogram.</summary>
    private double? Of(LatencyHistogram histogram)
    {
        if (Percent is { } percent)
            return LatencySummaries.PercentileOf(histogram, percent);
        TryRead(LatencySummaries.From(histogram), out double? value);
        return value;
    }

    /// <inheritdoc cref="TryRead(OperationResult, out double?)"/>
    /// <param name="stored">A summary; null where nothing of it was recorded.</param>
    /// <param name="value">Microseconds; null where nothing was recorded.</param>
    public bool TryRead(LatencySummary? stored, out double? value)
    {
        value = (Name, Percent) switch
        {
            ("min", _) => stored?.Min,
            ("mean", _) => stored?.Mean,
            ("max", _) => stored?.Max,
            (_, 50) => stored?.P50,
            (_, 90) => stored?.P90,
            (_, 95) => stored?.P95,
            (_, 99) => stored?.P99,
            (_, 99.9) => stored?.P999,
            _ => null,
        };
        return IsStored;
    }
}
