using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads a time to think: always the same, drawn anew each time, or both together.</summary>
internal static class ThinkReader
{
    private const string Fixed = "fixed";
    private const string Mean = "mean";

    private static readonly KeySet Keys = new("think", "Times that are drawn.",
    [
        new Key(Fixed, KeyKind.Duration, "Waited each time, before what is drawn."),
        new Key(Mean, KeyKind.Duration, "Of the exponential distribution."),
    ]);

    /// <param name="node">A time, or what it is drawn from.</param>
    /// <param name="name">For messages.</param>
    public static ThinkTime Read(ScenarioNode node, string name)
    {
        MappingNode one = node as MappingNode
            ?? new MappingNode(node.Position, [new MappingEntry(new ScalarNode(node.Position, Fixed, false), node)]);
        var reader = new MappingReader(one, $"{name}: think", Keys);
        var think = new ThinkTime(reader.Duration(Fixed) ?? 0, reader.Duration(Mean) ?? 0);
        return think.FixedSeconds + think.MeanSeconds > 0 ? think : throw MappingReader.Wrong(node,
            $"{name}: think is {(one.Entries.Count == 0 ? "without a mean" : "0")}; expected a time such as 10ms, or {{mean: 10ms}}");
    }
}
