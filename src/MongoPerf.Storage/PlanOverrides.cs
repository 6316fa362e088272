using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>What the command line puts in place of a scenario file's values; null leaves the file's.</summary>
public sealed record PlanOverrides
{
    /// <summary>Only these phases; empty for all.</summary>
    public IReadOnlyList<string> Phases { get; init; } = [];

    /// <summary>Only what <see cref="Phases"/> names of a growth runs, on data that is there, without the growth itself.</summary>
    public bool IsAlone { get; init; }

    /// <summary>The existing collection that a phase which runs alone reads in place of its own; null for its own.</summary>
    public string? Existing { get; init; }

    /// <summary>The filter of a phase on existing data, as it was typed; null for the file's.</summary>
    public string? Filter { get; init; }

    /// <summary>The threads of each phase that measures; several give a result for each.</summary>
    public IReadOnlyList<int>? Threads { get; init; }

    /// <summary>Documents of the only collection, not scaled.</summary>
    public long? Records { get; init; }

    /// <summary>Operations of each phase that measures, not scaled.</summary>
    public long? Operations { get; init; }

    /// <summary>Seconds of each phase that measures.</summary>
    public double? Duration { get; init; }

    /// <summary>Seconds.</summary>
    public double? Warmup { get; init; }

    /// <summary>The precision at which a measuring phase ends, such as "p99 ±2 %".</summary>
    public string? Until { get; init; }

    /// <summary>Operations per second; several give a result for each.</summary>
    public IReadOnlyList<double>? Rates { get; init; }

    /// <summary>What counts are multiplied by.</summary>
    public double Scale { get; init; } = 1;

    /// <summary>The documents at the end of a growth, not scaled.</summary>
    public long? Target { get; init; }

    /// <summary>The documents per step of a growth, not scaled.</summary>
    public long? Step { get; init; }

    /// <summary>The values of <c>--set name=value</c>.</summary>
    public IReadOnlyDictionary<string, string> Parameters { get; init; } = new Dictionary<string, string>();

    /// <summary>
    /// The values in which runs must be alike to be compared, by the names that comparisons give them. A long is a count, a double
    /// is seconds, a list of ints is threads, a list of doubles is rates. The target is not among them: sizes that both runs
    /// reached are compared.
    /// </summary>
    [JsonIgnore]
    public IReadOnlyList<(string Name, object? Value)> Compared =>
    [
        ("threads", Threads), ("records", Records), ("operations", Operations), ("duration", Duration), ("warm-up", Warmup),
        ("until", Until), ("rate", Rates), ("step", Step),
        ("existing collection", Existing), ("filter", Filter),
    ];
}
