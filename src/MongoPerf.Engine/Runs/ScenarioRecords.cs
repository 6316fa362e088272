namespace MongoPerf.Engine.Runs;

/// <summary>The scenario that a run executed.</summary>
public sealed record ScenarioInfo
{
    /// <summary>Such as ycsb/a.</summary>
    public required string Name { get; init; }

    public string Description { get; init; } = "";

    /// <summary>As it was found.</summary>
    public required string Path { get; init; }

    /// <summary>The file's text.</summary>
    public required string Text { get; init; }

    /// <summary>What the command line changed, such as "threads: 1, 8, 100 (--threads, the file says 4)".</summary>
    public IReadOnlyList<string> Overrides { get; init; } = [];

    /// <summary>What the file sets for the run's deployment, such as "total: 50M".</summary>
    public IReadOnlyList<string> Set { get; init; } = [];

    /// <summary>What its counts were multiplied by.</summary>
    public double Scale { get; init; } = 1;

    /// <summary>Parameters with one value, which points do not name.</summary>
    public IReadOnlyList<ParameterValue> Parameters { get; init; } = [];

    /// <summary>That its report shows; empty for none, and in runs of an older program.</summary>
    public IReadOnlyList<FigureInfo> Figures { get; init; } = [];

    /// <inheritdoc cref="Figures"/>
    public IReadOnlyList<TableInfo> Tables { get; init; } = [];
}

/// <summary>Which of a scenario's results a figure or a table takes; an empty list takes all.</summary>
public sealed record ResultChoice
{
    /// <summary>In the order in which they are shown.</summary>
    public IReadOnlyList<string> Phases { get; init; } = [];

    /// <inheritdoc cref="Phases"/>
    public IReadOnlyList<string> Operations { get; init; } = [];

    /// <summary>Values that dimensions must have.</summary>
    public IReadOnlyList<ParameterValue> Where { get; init; } = [];
}

/// <summary>A figure: metrics against a dimension. Dimensions are phase, operation, deployment, threads, documents, time and the parameters.</summary>
public sealed record FigureInfo
{
    public required string Title { get; init; }

    /// <summary>A dimension.</summary>
    public required string X { get; init; }

    /// <summary>Metrics, a panel each.</summary>
    public required IReadOnlyList<string> Y { get; init; }

    /// <summary>A dimension, of which each value gets a line; null for none.</summary>
    public string? Lines { get; init; }

    public ResultChoice Of { get; init; } = new();
}

/// <summary>A table: metrics by dimensions, which are those of <see cref="FigureInfo"/>.</summary>
public sealed record TableInfo
{
    public required string Title { get; init; }

    /// <summary>Dimensions; a row for each combination of their values.</summary>
    public required IReadOnlyList<string> Rows { get; init; }

    /// <summary>A dimension over which the values are spread; null for none.</summary>
    public string? Columns { get; init; }

    /// <summary>Metrics.</summary>
    public required IReadOnlyList<string> Values { get; init; }

    public ResultChoice Of { get; init; } = new();
}

/// <summary>One phase of a scenario with one value of each parameter: what the step of that number measured.</summary>
public sealed record ScenarioPoint
{
    /// <summary>1-based; its results are stored as those of this step.</summary>
    public required int Step { get; init; }

    public required string Phase { get; init; }

    /// <summary>It filled a collection.</summary>
    public bool IsLoad { get; init; }

    /// <summary>It made a collection: one operation, of which there are no rates to speak of.</summary>
    public bool IsCreate { get; init; }

    /// <summary>Documents (of a load) or operations after which each thread noted the time; null when none did.</summary>
    public long? Lap { get; init; }

    /// <summary>Those with several values, in the file's order.</summary>
    public IReadOnlyList<ParameterValue> Parameters { get; init; } = [];

    public required IReadOnlyList<GroupShare> Groups { get; init; }

    public IReadOnlyList<AssertionResult> Assertions { get; init; } = [];
}

public sealed record ParameterValue(string Name, string Value);

/// <summary>How far one thread was when.</summary>
/// <param name="Done">Documents or operations since the phase's start: those of a whole number of laps, or, where one operation did several, a little more.</param>
/// <param name="Seconds">Since the phase's start.</param>
public readonly record struct LapMark(long Done, double Seconds);

/// <summary>How far one thread of a scenario's phase was when.</summary>
/// <param name="Step">The phase's.</param>
/// <param name="Thread">0-based.</param>
/// <param name="Number">The thread's first is 1.</param>
/// <param name="Done">Documents of a load, operations of any other phase, since the phase's start.</param>
/// <param name="Seconds">Since the phase's start.</param>
public sealed record StoredLap(int Step, int Thread, int Number, long Done, double Seconds);

/// <summary>How evenly the threads of a group shared the work.</summary>
/// <param name="Name">Empty when the phase has only one group.</param>
/// <param name="Threads">Of the group.</param>
/// <param name="Seconds">Length of its measured part.</param>
/// <param name="Operations">Succeeded, over all threads.</param>
/// <param name="Least">Of one thread.</param>
/// <param name="Most">Of one thread.</param>
/// <param name="Deviation">Standard deviation of the threads' operations.</param>
/// <param name="Accounting">Of the group; warm-up included.</param>
public sealed record GroupShare(string Name, int Threads, double Seconds, long Operations, long Least, long Most, double Deviation, Accounting Accounting)
{
    public double Mean => (double)Operations / Math.Max(1, Threads);

    public static GroupShare Of(string name, double seconds, IReadOnlyList<long> threadOperations, Accounting accounting)
    {
        double mean = threadOperations.Average();
        double variance = threadOperations.Sum(n => (n - mean) * (n - mean)) / Math.Max(1, threadOperations.Count - 1);
        return new GroupShare(
            name, threadOperations.Count, seconds, threadOperations.Sum(), threadOperations.Min(), threadOperations.Max(), Math.Sqrt(variance), accounting);
    }
}

/// <param name="Text">As the scenario says it.</param>
/// <param name="Value">What was measured; null for nothing. Microseconds for latencies.</param>
/// <param name="Holds">Whether it is true.</param>
public sealed record AssertionResult(string Text, double? Value, bool Holds)
{
    /// <summary>The value is in microseconds.</summary>
    public bool IsLatency { get; init; }
}
