using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>Which of a recording's requests are replayed. Stored by name: never rename a value.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ReplayedRequests>))]
public enum ReplayedRequests
{
    All,

    /// <summary>find, with the rest of its cursor.</summary>
    Finds,

    /// <summary>What is known to change nothing.</summary>
    Reads,
}

/// <summary>How a recording is replayed.</summary>
public sealed record ReplaySettings
{
    public const double LeastSpeed = 0.001;
    public const double MostSpeed = 1000;
    public const int MostLoops = 1000;
    public const int MostCopies = 1000;

    /// <summary>Of all copies together.</summary>
    public const int MostConnections = 100_000;

    /// <summary>How many times as fast as recorded; infinite for as fast as replies come.</summary>
    public double Speed { get; init; } = 1;

    /// <summary>Requests per second on average, of all connections together, in place of <see cref="Speed"/>; null for none.</summary>
    public double? Rate { get; init; }

    /// <summary>How often it is replayed, one after the other.</summary>
    public int Loops { get; init; } = 1;

    /// <summary>How often each connection is replayed at the same time.</summary>
    public int Copies { get; init; } = 1;

    public ReplayedRequests Only { get; init; }

    /// <summary>Databases that stand in place of recorded ones.</summary>
    public IReadOnlyDictionary<string, string> Databases { get; init; } = new Dictionary<string, string>();

    /// <summary>At most so many connections for each copy, 1 or more; null for as many as were open at once.</summary>
    public int? Threads { get; init; }

    /// <summary>What depends on another request waits for its reply.</summary>
    public bool KeepsDependencies { get; init; }

    /// <summary>The share of the replies that may differ from the recorded ones; null for a run of a version that did not judge.</summary>
    public double? MaxDifferent { get; init; }

    /// <summary>The recording's own times are whole multiples of this many microseconds; 0 where that is not known.</summary>
    public long ResolutionMicroseconds { get; init; }

    /// <summary>SHA-256 of the recording, hexadecimal; null where nobody else needs to have the same one.</summary>
    public string? Hash { get; init; }

    /// <summary>Its numbers are such as a command line can give. What is stored may be somebody else's.</summary>
    [JsonIgnore]
    public bool IsSound => (Speed is >= LeastSpeed and <= MostSpeed or double.PositiveInfinity) && Rate is null or > 0
        && Loops is >= 1 and <= MostLoops && Copies is >= 1 and <= MostCopies && Threads is null or (>= 1 and <= MostConnections)
        && MaxDifferent is null or (>= 0 and <= 1) && Enum.IsDefined(Only);
}

/// <summary>What a replay's target had, before anything was sent, of the collections that the recording reads or changes.</summary>
/// <param name="Databases">Their databases, under the names of the target.</param>
/// <param name="Collections">How many there are.</param>
/// <param name="Missing">How many of them were not there.</param>
/// <param name="Empty">How many of them had no document.</param>
public sealed record ReplayTarget(IReadOnlyList<string> Databases, int Collections, int Missing, int Empty);
