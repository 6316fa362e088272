using MongoPerf.Load.Growth;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads a phase that grows collections, but for the phases that run at each size.</summary>
internal sealed class GrowthReader(IReadOnlyList<PlanCollection> data, PhaseReader phases, OperationReader operations, CountScale scale)
{
    private const int MostSizes = 100_000;
    private const double MostShare = 1e9;

    /// <summary>Names of the collections that a phase as it is written grows; none for any other phase.</summary>
    public static IEnumerable<string> NamesIn(ScenarioNode phase) => (phase as MappingNode)?.Find("grow") switch
    {
        ScalarNode one => [one.Text],
        MappingNode several => several.Entries.Select(entry => entry.Name),
        // Not allowed: read as a growth, which says what is.
        SequenceNode list => list.Items.OfType<ScalarNode>().Select(item => item.Text),
        _ => [],
    };

    /// <param name="node">The phase, parameters put in.</param>
    /// <param name="number">1-based, for a phase without a name.</param>
    /// <param name="each">What runs at each size.</param>
    public Phase Read(ScenarioNode node, int number, IReadOnlyList<Phase> each)
    {
        string name = PhaseReader.NameOf(node, number);
        var reader = new MappingReader(node, $"phase '{name}'", ScenarioLanguage.Phase);
        PhaseKeys.Require(reader, name);
        GrowingCollection[] collections = Collections(reader);
        PhaseGroup[] beside = reader.Find("beside") is SequenceNode list ? phases.GroupsOf(list, name) : [];
        RequireSameDocumentsBeside(reader, name, beside);
        WatchReader.Require(reader, name, beside, [.. collections.Select(collection => collection.Name)]);
        foreach (Phase phase in each)
            RequireSameSizes(reader, phase, collections);
        IReadOnlyList<long> sizes = Sizes(reader, name);
        foreach (GrowingCollection growing in collections)
            CollectionReader.RequireValues(
                data.First(c => c.Name == growing.Name), sizes[^1] * growing.Factor, reader.Find("to") ?? reader.Node);
        IReadOnlyList<GrowthWrite> writes = Writes(reader, name, collections);
        RequireDifferentNames(reader, name, writes, each);
        foreach (GrowthWrite write in writes)
            PhaseReader.RequireDifferentNames(reader, name, [write.Groups.Values.First(), .. beside]);
        return new Phase
        {
            Name = name,
            Description = reader.Text("description") ?? "",
            Groups = [],
            Growth = new GrowthPlan
            {
                Collections = collections, Sizes = sizes, Writes = writes, Beside = beside, Each = each,
            },
        };
    }

    /// <summary>Which documents of the growth arrived can be verified only while nothing else adds or removes any.</summary>
    private static void RequireSameDocumentsBeside(MappingReader reader, string name, PhaseGroup[] beside)
    {
        if (LeavesOf(beside).FirstOrDefault(o => ChangesCount(o.Leaf)) is not { Leaf: { } wrong } operation)
            return;
        throw MappingReader.Wrong(
            reader.Find("beside")!,
            $"phase '{name}': operation '{operation.Name}' {(wrong.Inserts ? "inserts" : "removes")} documents while "
            + "the collection grows, so it could not be verified which documents arrived",
            "reads and updates are allowed beside a growth");
    }

    /// <summary>Requires that at each size the growing collections have as many documents as the growth wrote.</summary>
    private static void RequireSameSizes(MappingReader reader, Phase phase, GrowingCollection[] collections)
    {
        if (LeavesOf(phase.Groups).FirstOrDefault(o => ChangesCount(o.Leaf) && collections.Any(c => c.Name == o.Leaf.Collection))
            is not { Leaf: { } wrong } operation)
            return;
        throw MappingReader.Wrong(
            reader.Node,
            $"phase '{phase.Name}': operation '{operation.Name}' {(wrong.Inserts ? "inserts" : "removes")} "
            + $"documents of '{wrong.Collection}', which grows: its sizes would not be those of the steps",
            "reads and updates are allowed at each size, and inserts into other collections");
    }

    private static void RequireDifferentNames(
        MappingReader reader, string name, IReadOnlyList<GrowthWrite> writes, IReadOnlyList<Phase> each)
    {
        if (writes.GroupBy(w => w.Name).FirstOrDefault(g => g.Count() > 1) is { } twice)
            throw MappingReader.Wrong(reader.Node, $"phase '{name}': two writes are called '{twice.Key}'",
                "give each a name of its own: results are told apart by it");
        if (writes.FirstOrDefault(w => each.Any(p => p.Name == w.Name)) is { } both)
            throw MappingReader.Wrong(reader.Node, $"phase '{name}': a write and a phase are both called '{both.Name}'",
                "give one of them another name: results are told apart by it");
    }

    /// <summary>What the operations of groups do, each with the name of its operation.</summary>
    private static IEnumerable<(string Name, Operation Leaf)> LeavesOf(IEnumerable<PhaseGroup> groups) =>
        groups.SelectMany(group => group.Operations).SelectMany(item => item.Operation.Leaves.Select(leaf => (item.Operation.Name, leaf)));

    private GrowingCollection[] Collections(MappingReader reader)
    {
        ScenarioNode node = reader.Require("grow", "the name of a collection");
        return node switch
        {
            ScalarNode one => [new GrowingCollection(Named(one), 1)],
            MappingNode { Entries.Count: > 0 } several =>
            [
                .. several.Entries.Select(e => new GrowingCollection(Named(e.Key), reader.CountOf($"grow.{e.Name}", e.Value, 1, 1_000_000)))
            ],
            _ => throw MappingReader.Wrong(
                node,
                $"grow is {node.Describe()}; expected a collection, or several such as {{users: 1, orders: 5}}",
                node is SequenceNode { Items.Count: > 0 } list
                    ? $"grow: {{{string.Join(", ", list.Items.OfType<ScalarNode>().Select(item => $"{item.Text}: 1"))}}}"
                    : null),
        };
    }

    private string Named(ScalarNode name)
    {
        if (data.FirstOrDefault(c => c.Name == name.Text) is not { } collection)
        {
            throw MappingReader.Wrong(
                name, $"grow: no collection '{name.Text}' in data; allowed: {string.Join(", ", data.Select(c => c.Name))}",
                NearestName.Hint(name.Text, data.Select(c => c.Name)));
        }

        if (collection.Files is not null)
            throw MappingReader.Wrong(
                name, $"grow: '{name.Text}' is a GridFS bucket; only collections of documents can grow", "load it with a count");
        return collection.Count == 0
            ? name.Text
            : throw MappingReader.Wrong(name, $"grow: '{name.Text}' has a count in data, which would load it first",
                "remove the count: the growth says how many documents it gets");
    }

    private IReadOnlyList<long> Sizes(MappingReader reader, string name)
    {
        if (reader.Find("sizes") is { } chosen)
        {
            if ((reader.Find("to") ?? reader.Find("step")) is { } other)
                throw MappingReader.Wrong(other, $"phase '{name}': use either 'sizes' or '{(reader.Find("to") is null ? "step" : "to")}'",
                    "sizes names every size; to and step space them evenly");
            long[] sizes = chosen is SequenceNode { Items.Count: > 0 } list
                ? [.. list.Items.Select(item => scale.Read(item, "sizes"))]
                : throw MappingReader.Wrong(chosen, $"phase '{name}': sizes is {chosen.Describe()}; expected a list such as [1M, 2M, 5M]");
            return sizes.Zip(sizes.Skip(1)).All(pair => pair.First < pair.Second)
                ? sizes
                : throw MappingReader.Wrong(chosen, $"phase '{name}': sizes must increase from one to the next");
        }

        long target = scale.Read(reader.Require("to", "documents at the end, such as to: 10M"), "to");
        long step = reader.Find("step") is { } given ? scale.Read(given, "step") : GrowthSchedule.DefaultStep(target);
        if (step > target)
            throw MappingReader.Wrong(
                reader.Find("step")!,
                $"phase '{name}': step is {step:N0}, which is above the {target:N0} documents to grow to",
                $"a step of {GrowthSchedule.DefaultStep(target):N0}, the default, makes ten sizes");
        return (target + step - 1) / step <= MostSizes
            ? GrowthSchedule.Sizes(target, step)
            : throw MappingReader.Wrong(
                reader.Find("step") ?? reader.Find("to")!,
                $"phase '{name}': step is {step:N0}, which makes {target / step:N0} steps to {target:N0}; "
                + $"at most {MostSizes:N0} are allowed",
                $"a step of {(target / MostSizes) + 1:N0} makes fewer");
    }

    private GrowthWrite[] Writes(MappingReader reader, string phase, GrowingCollection[] collections)
    {
        if (reader.Find("writes") is not { } node)
            return [new GrowthWrite("insert", 1, collections.ToDictionary(c => c.Name, c => Group(c, null, "insert")))];
        IReadOnlyList<ScenarioNode> items = reader.List("writes");
        GrowthWrite[] writes = [.. items.Select((item, i) => Write(item, phase, i + 1, collections)).Where(w => w.Share > 0)];
        return writes.Length > 0 ? writes
            : throw MappingReader.Wrong(node, $"phase '{phase}': every share is 0", "give at least one of the writes a share above 0");
    }

    private GrowthWrite Write(ScenarioNode node, string phase, int number, GrowingCollection[] collections)
    {
        string name = (node as MappingNode)?.Find("name") is ScalarNode given ? given.Text : $"write {number}";
        var reader = new MappingReader(node, $"phase '{phase}', write '{name}'", ScenarioLanguage.Write);
        return new GrowthWrite(name, reader.Number("share", 0, MostShare) ?? 1,
            collections.ToDictionary(c => c.Name, c => Group(c, reader, name))) { Description = reader.Text("description") ?? "" };
    }

    /// <summary>It adds documents, or takes some away.</summary>
    private static bool ChangesCount(Operation operation) => operation.Removes || operation.Inserts;

    private PhaseGroup Group(GrowingCollection growing, MappingReader? write, string name)
    {
        PlanCollection collection = data.First(c => c.Name == growing.Name);
        InsertDocuments insert = write is null
            ? new InsertDocuments(name, collection.Name, collection.Documents, OperationReader.UsualBatch(collection), Ordered: false)
            : operations.Write(collection, write, name);
        return new PhaseGroup
        {
            Threads = (int)(write?.Count("threads", 1, PhaseReader.MostThreads) ?? 1), Operations = [new WeightedOperation(insert, 1)],
        };
    }
}
