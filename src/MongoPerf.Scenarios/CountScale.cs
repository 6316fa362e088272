using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads the counts of one file that <c>--scale</c> multiplies, and remembers what became of each.</summary>
/// <param name="factor">The factor, above 0; 1 leaves them as they are.</param>
public sealed class CountScale(double factor)
{
    private static readonly KeySet Counts = new("count", "", [new("count", KeyKind.Count, "")]);

    private readonly Dictionary<Position, ScaledCount> _scaled = [];
    private readonly HashSet<Position> _uses = [];
    private (ScenarioNode Node, string What, long Full)? _first;
    private long _least = long.MaxValue;

    public double Factor => factor;

    /// <summary>Every count that was multiplied.</summary>
    public IEnumerable<ScaledCount> Scaled => _scaled.Values;

    /// <summary>Operations of a phase: however small the scale, one is done.</summary>
    public long ReadOperations(ScenarioNode node)
    {
        long full = ReadFull(node, "count", 1);
        return IsExact(node) ? full : Remember(node, full);
    }

    /// <summary>
    /// Documents, of a collection or a hot set. One of which nothing is left is remembered for <see cref="RequireSomething"/>.
    /// </summary>
    /// <exception cref="UserException">No count.</exception>
    public long Read(ScenarioNode node, string what, long least = 1)
    {
        long full = ReadFull(node, what, least);
        if (IsExact(node) || full == 0)
            return full;
        _least = Math.Min(_least, full);
        if (Multiply(full) < 1)
            _first ??= (node, what, full);
        return Remember(node, full);
    }

    /// <summary>Documents of a collection that takes all rows of a file.</summary>
    public long Rows(ScenarioNode node, long rows)
    {
        _least = Math.Min(_least, rows);
        if (Multiply(rows) < 1)
            _first ??= (node, "count", rows);
        return Math.Max(1, Multiply(rows));
    }

    /// <summary>When all counts have been read: only then the smallest scale that works is known.</summary>
    /// <exception cref="UserException">The scale leaves nothing of one of them.</exception>
    public void RequireSomething()
    {
        if (_first is { } first)
            throw MappingReader.Wrong(
                first.Node, $"{first.What} is {first.Full:N0}, which rounds to 0 with --scale {factor:0.############}",
                $"--scale {Math.Min(1, 1.0 / _least):0.############} leaves at least one of each");
    }

    /// <summary>What became of a single value that was read as a count; null for any other.</summary>
    /// <param name="definedAt">Where it stands itself.</param>
    public ScaledCount? Find(Position definedAt) => _scaled.GetValueOrDefault(definedAt);

    /// <summary>Where single values stand that were read as counts.</summary>
    public IEnumerable<Position> Places => _scaled.Keys;

    /// <summary>What a parameter's value is in values of documents and operations, which must fit the counts.</summary>
    /// <param name="full">The value, which is read as a count elsewhere.</param>
    public long InValues(long full) => full == 0 ? 0 : Math.Max(1, Multiply(full));

    /// <summary>Notes that a piece of the file was read as values, where what parameters count is multiplied too.</summary>
    public void NoteValues(ScenarioNode node)
    {
        // One that multiplies nothing may be shared.
        if (factor != 1)
            _uses.UnionWith(node.Scalars.Where(scalar => scalar.Scaled is not null).Select(scalar => scalar.Position));
    }

    /// <summary>What a parameter counts was multiplied at this place.</summary>
    public bool WasReadAt(Position place) => _uses.Contains(place);

    private static bool IsExact(ScenarioNode node) => node is ScalarNode { IsExact: true };

    private static long ReadFull(ScenarioNode node, string what, long least) =>
        new MappingReader(new MappingNode(node.Position, []), what, Counts).CountOf(what, node, least, long.MaxValue);

    private long Multiply(long full) => (long)Math.Round(full * factor);

    private long Remember(ScenarioNode node, long full)
    {
        long scaled = Math.Max(1, Multiply(full));
        _scaled[(node as ScalarNode)?.DefinedAt ?? node.Position] = new ScaledCount(full, scaled);
        _uses.Add(node.Position);
        return scaled;
    }
}

/// <param name="Full">The count that the file has.</param>
/// <param name="Count">What runs.</param>
public sealed record ScaledCount(long Full, long Count);

/// <summary>Where a scenario's values come from.</summary>
/// <param name="Seed">The run's.</param>
/// <param name="Files">Where files are found.</param>
public sealed record ValueSources(ulong Seed, FilesFolder Files)
{
    /// <summary>For values that are generated from nothing.</summary>
    public static ValueSources None { get; } = new(0, FilesFolder.None);

    /// <summary>The collections that values may refer to.</summary>
    public IReadOnlyList<PlanCollection> Collections { get; init; } = [];

    /// <summary>What <c>--scale</c> multiplies counts by.</summary>
    public CountScale Scale { get; init; } = new(1);
}
