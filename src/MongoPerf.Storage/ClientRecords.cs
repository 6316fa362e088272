namespace MongoPerf.Storage;

// What a run stores of the client that did it, where several clients do one plan together, and of those that it was merged from.

/// <summary>Which of several clients' parts of a plan a run is.</summary>
/// <param name="Group">Common to the parts of one execution.</param>
/// <param name="Name">The name of the client.</param>
/// <param name="Number">1-based.</param>
/// <param name="Count">How many parts there are.</param>
public sealed record ClientPart(string Group, string Name, int Number, int Count);

/// <summary>How a client's clock stood against a server's when the run began.</summary>
/// <param name="Server">Whose clock, host:port.</param>
/// <param name="OffsetMilliseconds">Added to a time of the client's it gives the server's.</param>
/// <param name="UncertaintyMilliseconds">The offset is within so much of it: half a round trip at best.</param>
public sealed record ClientClock(string Server, double OffsetMilliseconds, double UncertaintyMilliseconds);

/// <summary>One of the runs that a run was merged from.</summary>
/// <param name="Name">The name of the client.</param>
/// <param name="Run">Its id there.</param>
/// <param name="State">The state that <see cref="StoredRun.StateText"/> gave when it was merged, or "missing".</param>
public sealed record MergedClient(string Name, string Run, string State)
{
    /// <summary>Anything but a finished part makes the merged run a partial one.</summary>
    public const string Missing = "missing";

    /// <summary>Null where it is not known.</summary>
    public string? Host { get; init; }

    /// <summary>The CPUs of its machine; null where they are not known.</summary>
    public int? CpuCount { get; init; }

    /// <summary>Null for a run that noted none: its times are taken as they are.</summary>
    public ClientClock? Clock { get; init; }

    /// <summary>Why it ended early; null when it did not.</summary>
    public string? StoppedBecause { get; init; }
}

/// <summary>What one client did of an operation.</summary>
/// <param name="Client">Its name.</param>
/// <param name="Operations">Succeeded, in the measured part.</param>
/// <param name="OperationsPerSecond">The operations per second; for inserts the documents per second.</param>
/// <param name="P99Microseconds">The 99th percentile of what is judged; null where nothing was recorded.</param>
/// <param name="Threads">The threads that did it.</param>
/// <param name="CpuCores">The cores that the client used meanwhile, on average.</param>
public sealed record ClientResult(
    string Client, long Operations, double OperationsPerSecond, double? P99Microseconds = null, int Threads = 0, double CpuCores = 0);
