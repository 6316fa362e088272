using System.Text.Json.Serialization;

namespace MongoPerf.Storage;

/// <summary>
/// The scenario that a run executes, and what the command line made of it: the plan is read from this again when the run is resumed.
/// </summary>
public sealed record PlanSettings
{
    /// <summary>The name, such as ycsb/a.</summary>
    public required string Name { get; init; }

    public string Description { get; init; } = "";

    /// <summary>The path as it was found.</summary>
    public required string Path { get; init; }

    /// <summary>The file's text.</summary>
    [JsonConverter(typeof(StoredText.WholeConverter))]
    public required string Text { get; init; }

    public PlanOverrides Overrides { get; init; } = new();

    /// <summary>The same for people, such as "threads of 'read': 1, 8 (--threads, the file says 4)".</summary>
    public IReadOnlyList<StoredMessage> Changes { get; init; } = [];

    /// <summary>What a reader must know of settings that nobody typed; null for nothing.</summary>
    public StoredMessage? Note { get; init; }

    /// <summary>The recording that the run replays, as it was named; null for a run of a scenario.</summary>
    public string? Recording { get; init; }

    /// <summary>How it is replayed; null without one, and for a run of a version that did not store it.</summary>
    public ReplaySettings? Replay { get; init; }

    /// <summary>Which of the file's deployments it was read for; null for none.</summary>
    public string? Deployment { get; init; }

    /// <summary>What the file sets for the run's deployment, such as "total: 50M".</summary>
    public IReadOnlyList<string> Set { get; init; } = [];

    /// <summary>Parameters with one value, which phase records do not name.</summary>
    public IReadOnlyList<ParameterValue> Parameters { get; init; } = [];

    /// <summary>How many documents all collections together have at the plan's end, as far as it says.</summary>
    public long TargetDocuments { get; init; }

    /// <summary>0 to 1: the share of replies whose documents are compared with what was written.</summary>
    public double VerifyShare { get; init; }

    /// <summary>Failed operations that are allowed.</summary>
    public long MaxErrors { get; init; }

    /// <summary>Before each measured phase the secondaries are waited for.</summary>
    public bool AwaitsReplication { get; init; }

    /// <summary>Arrivals of rates that may be skipped.</summary>
    public SkipLimit MaxSkipped { get; init; } = new(0, 0);

    /// <summary>The figures that its report shows.</summary>
    public IReadOnlyList<FigureInfo> Figures { get; init; } = [];

    /// <inheritdoc cref="Figures"/>
    public IReadOnlyList<TableInfo> Tables { get; init; } = [];
}

/// <summary>Which of a scenario's results a figure or a table takes; an empty list takes all.</summary>
public sealed record ResultChoice
{
    /// <summary>The phases in the order in which they are shown.</summary>
    public IReadOnlyList<string> Phases { get; init; } = [];

    /// <inheritdoc cref="Phases"/>
    public IReadOnlyList<string> Operations { get; init; } = [];

    /// <summary>Values that dimensions must have; one of several with the same name.</summary>
    public IReadOnlyList<ParameterValue> Where { get; init; } = [];
}

/// <summary>
/// A figure: metrics against a dimension. Dimensions are phase, operation, deployment, threads, documents, time and the parameters.
/// </summary>
public sealed record FigureInfo
{
    public required string Title { get; init; }

    /// <summary>A dimension.</summary>
    public required string X { get; init; }

    /// <summary>Metrics, a panel each.</summary>
    public required IReadOnlyList<string> Y { get; init; }

    /// <summary>A dimension, of which each value gets a line; null for none.</summary>
    public string? Lines { get; init; }

    /// <summary>Where the axis ends, seconds if it is one of time; null for all.</summary>
    public double? To { get; init; }

    /// <summary>Latencies by their logarithm, however close they are.</summary>
    public bool IsLogarithmic { get; init; }

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

/// <summary>How many arrivals of a rate may be skipped: one of the two is 0.</summary>
/// <param name="Count">So many.</param>
/// <param name="Share">0 to 1: that part of those that were due.</param>
public sealed record SkipLimit(long Count, double Share)
{
    /// <param name="arrivals">The arrivals of all groups with a rate.</param>
    public bool Allows(Accounting arrivals) => arrivals.Skipped <= Math.Max(Count, Share * arrivals.Scheduled);
}
