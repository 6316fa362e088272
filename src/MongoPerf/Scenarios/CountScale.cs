using MongoPerf.Input;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads the counts of one file that <c>--scale</c> multiplies.</summary>
/// <param name="factor">Above 0; 1 leaves them as they are.</param>
internal sealed class CountScale(double factor)
{
    private static readonly KeySet Counts = new("count", "", [new("count", KeyKind.Count, "")]);

    private (ScenarioNode Node, string What, long Full)? _first;
    private long _least = long.MaxValue;

    /// <summary>Operations of a phase: however small the scale, one is done.</summary>
    public long ReadOperations(ScenarioNode node)
    {
        long full = ReadFull(node, "count", 1);
        return IsExact(node) ? full : Math.Max(1, Scaled(full));
    }

    /// <summary>Documents, of a collection or a hot set. One of which nothing is left is remembered for <see cref="RequireSomething"/>.</summary>
    /// <exception cref="UserException">No count.</exception>
    public long Read(ScenarioNode node, string what, long least = 1)
    {
        long full = ReadFull(node, what, least);
        if (IsExact(node) || full == 0)
            return full;
        _least = Math.Min(_least, full);
        if (Scaled(full) < 1)
            _first ??= (node, what, full);
        return Math.Max(1, Scaled(full));
    }

    /// <summary>When all counts have been read: only then the smallest scale that works is known.</summary>
    /// <exception cref="UserException">The scale leaves nothing of one of them.</exception>
    public void RequireSomething()
    {
        if (_first is { } first)
            throw MappingReader.Wrong(first.Node, $"{first.What} is {first.Full:N0}, which rounds to 0 with --scale {factor:0.############}", $"--scale {Math.Min(1, 1.0 / _least):0.############} leaves at least one of each");
    }

    private static bool IsExact(ScenarioNode node) => node is ScalarNode { IsExact: true };

    private static long ReadFull(ScenarioNode node, string what, long least) => new MappingReader(new MappingNode(node.Position, []), what, Counts).CountOf(what, node, least, long.MaxValue);

    private long Scaled(long full) => (long)Math.Round(full * factor);
}
