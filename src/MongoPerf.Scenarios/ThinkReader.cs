using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads a time to think: always the same, or drawn anew each time.</summary>
internal static class ThinkReader
{
    private static readonly KeySet Mean = new(
        "think", "Times that are drawn.", [new Key("mean", KeyKind.Duration, "Of the exponential distribution.")]);

    /// <param name="node">A time, or the mean of times that are drawn.</param>
    /// <param name="name">For messages.</param>
    public static ThinkTime Read(ScenarioNode node, string name)
    {
        bool isDrawn = node is MappingNode;
        MappingNode one = node as MappingNode
            ?? new MappingNode(node.Position, [new MappingEntry(new ScalarNode(node.Position, "mean", false), node)]);
        double? seconds = new MappingReader(one, $"{name}: think", Mean).Duration("mean");
        return seconds is > 0 ? new ThinkTime(seconds.Value, isDrawn) : throw MappingReader.Wrong(node,
            $"{name}: think is {(seconds is null ? "without a mean" : "0")}; expected a time such as 10ms, or {{mean: 10ms}}");
    }
}
