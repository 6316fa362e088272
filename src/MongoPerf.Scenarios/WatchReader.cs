using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>What a group that watches a collection needs, and what it can't have.</summary>
internal static class WatchReader
{
    private static readonly string[] NotAllowed = ["duration", "count", "rate", "think", "connections", "after"];

    /// <param name="reader">The reader of the phase.</param>
    /// <param name="name">The name of the phase.</param>
    /// <param name="groups">Its groups.</param>
    /// <param name="written">Collections that the phase writes beside them.</param>
    public static void Require(MappingReader reader, string name, IReadOnlyList<PhaseGroup> groups, params string[] written)
    {
        for (int i = 0; i < groups.Count; i++)
        {
            if (groups[i].Operations.Select(item => item.Operation).OfType<WatchChanges>().FirstOrDefault() is not { } watch)
                continue;
            ScenarioNode node = ((reader.Find("groups") ?? reader.Find("beside")) as SequenceNode)?.Items[i] ?? reader.Node;
            if (groups[i].Operations.Count > 1)
                throw MappingReader.Wrong(
                    node, $"phase '{name}': operation '{watch.Name}' watches a collection, and needs a group of its own",
                    "such as groups: [{name: writers, operations: […]}, "
                    + $"{{name: watcher, operations: [{{watch: {watch.Collection}}}]}}]");
            if (!written.Contains(watch.Collection) && !groups.SelectMany(group => group.Operations)
                .SelectMany(item => item.Operation.Leaves).Any(leaf => leaf.IsWrite && leaf.Collection == watch.Collection))
                throw MappingReader.Wrong(node,
                    $"phase '{name}': operation '{watch.Name}' watches '{watch.Collection}', to which nothing in the phase writes",
                    "add a group that does: delays count from the acknowledgements of its writes");
            if (NotAllowed.FirstOrDefault(key => (node as MappingNode)?.Find(key) is not null) is { } wrong)
                throw MappingReader.Wrong(((MappingNode)node).Find(wrong)!,
                    $"phase '{name}': {wrong} is not allowed in a group that watches, which begins before the others and ends after them");
        }
    }
}
