using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads one phase whose parameters have been put in.</summary>
public sealed class PhaseReader(IReadOnlyList<PlanCollection> data, OperationReader operations, CountScale scale, bool isOfGrowth = false)
{
    public const int MostThreads = 10_000;

    /// <summary>The file's.</summary>
    public IReadOnlyList<AggregateDocuments> Checks { get; init; } = [];

    /// <summary>The seconds of a phase that measures: what is left of it after the warm-up is enough to be compared.</summary>
    public const double UsualSeconds = 30;

    /// <summary>The most seconds of a phase that measures until something is known.</summary>
    public const double MostSeconds = 600;

    /// <summary>The most laps of all threads together; they are kept in memory and stored when the phase is over.</summary>
    private const long MostLaps = 100_000;

    /// <param name="node">The phase; threads is a single value.</param>
    /// <param name="number">1-based, for a phase without a name.</param>
    /// <param name="parameters">Values of the sweeps in it.</param>
    public Phase Read(ScenarioNode node, int number, IReadOnlyList<KeyValuePair<string, string>> parameters)
    {
        string name = NameOf(node, number);
        var reader = new MappingReader(node, $"phase '{name}'", isOfGrowth ? ScenarioLanguage.Each : ScenarioLanguage.Phase);
        PhaseKeys.Require(reader, name);
        var phase = new Phase
        {
            Name = name,
            Description = reader.Text("description") ?? "",
            Groups = [],
            Restart = Restart(reader),
            PauseSeconds = reader.Duration("pause") ?? 0,
            Parameters = parameters,
        };
        if (PhaseKeys.IsOfSizes(reader))
            return phase with { Measures = Collection(reader, "sizes")!.Name };
        if (Collection(reader, "check") is { } checkedOne)
            return phase with { Checks = checkedOne.Name };
        if (reader.Find("checks") is { } conditions)
            return phase with { Conditions = CheckReader.Choose(conditions, name, Checks) };
        PlanCollection? created = Collection(reader, "create");
        PlanCollection? loaded = Collection(reader, "load");
        PhaseGroup[] groups = created is not null ? [Create(created)]
            : loaded is not null ? [Load(reader, loaded)]
            : BalancerReader.Find(reader, $"phase '{name}'", data) is { } balancer ? [balancer]
            : reader.Find("groups") is { } list ? Groups(list, name) : [Measured(reader, name, scale, Operations(reader, name))];
        RequireDifferentNames(reader, name, groups);
        WatchReader.Require(reader, name, groups);
        string[] names = [.. groups.SelectMany(g => g.Operations).Select(o => o.Operation.Name),
            .. groups.Select(g => g.Connections?.Name).OfType<string>()];
        return phase with
        {
            Creates = created?.Name,
            Loads = loaded?.Name,
            HasRanges = reader.Flag("ranges"),
            Lap = Lap(reader, name, loaded?.Count ?? groups[0].Count ?? 0),
            Groups = groups,
            ExplainsQueries = reader.Flag("explain", usual: true),
            Assertions = [.. reader.List("assert").Select(item => AssertionReader.Read(item, names))],
            TakesSizes = reader.Flag("sizes", usual: loaded is not null),
        };
    }

    /// <summary>What the file does not load itself is loaded first, by one thread.</summary>
    public Phase ImpliedLoad(PlanCollection collection)
    {
        var empty = new MappingReader(new MappingNode(new Position("", 0, 0), []), "load", ScenarioLanguage.Phase);
        return new Phase
        {
            Name = LoadName(collection.Name), Loads = collection.Name, Groups = [Load(empty, collection)], TakesSizes = true,
        };
    }

    /// <exception cref="UserException">It can't be shown in one line.</exception>
    public static string NameOf(ScenarioNode phase, int number) => WrittenName(phase, number) is var name && !name.Any(char.IsControl)
        ? name
        : throw MappingReader.Wrong(phase, $"phase {number}: its name contains a control character");

    private static string WrittenName(ScenarioNode phase, int number) => phase is not MappingNode mapping ? $"{number}"
        : mapping.Find("name") is ScalarNode name ? name.Text
        : mapping.Find("load") is ScalarNode loaded ? LoadName(loaded.Text)
        : mapping.Find("grow") is ScalarNode grown ? grown.Text
        : mapping.Find("grow") is MappingNode { Entries: [var first, ..] } ? first.Name
        : mapping.Find("check") is ScalarNode looked ? $"check {looked.Text}"
        : mapping.Find("checks") is not null ? $"checks {number}"
        : mapping.Find("create") is ScalarNode created ? $"create {created.Text}"
        : mapping.Find("balancer") is ScalarNode balancer ? $"balancer {balancer.Text}"
        : $"phase {number}";

    public static string LoadName(string collection) => $"load {collection}";

    /// <returns>Null when the phase has no such key.</returns>
    private PlanCollection? Collection(MappingReader reader, string key)
    {
        if (reader.Text(key) is not { } name)
            return null;
        if (data.FirstOrDefault(c => c.Name == name) is { } collection)
            return collection;
        throw MappingReader.Wrong(
            reader.Find(key)!,
            $"{key}: no collection '{name}' in data; allowed: {string.Join(", ", data.Select(c => c.Name))}",
            NearestName.Hint(name, data.Select(c => c.Name)));
    }

    private static PhaseGroup Create(PlanCollection collection) => new()
    {
        Threads = 1, Count = 1, Operations = [new WeightedOperation(new CreateCollection(collection.Name), 1)],
    };

    private static ServerRestart Restart(MappingReader reader) => reader.OneOf("restart", ScenarioLanguage.Restarts) switch
    {
        "cold" => ServerRestart.Cold,
        "warm" => ServerRestart.Warm,
        "kill" => ServerRestart.Kill,
        _ => ServerRestart.None,
    };

    /// <summary>However small the scale, a lap is one document or operation long.</summary>
    private long? Lap(MappingReader reader, string phase, long count)
    {
        if (reader.Find("lap") is not { } node)
            return null;
        long lap = scale.ReadOperations(node);
        return count / lap <= MostLaps
            ? lap
            : throw MappingReader.Wrong(node,
                $"phase '{phase}': lap is {lap:N0}, which makes {count / lap:N0} laps in {count:N0}; at most {MostLaps:N0} are allowed",
                $"a lap of {1 + (count / MostLaps):N0} makes fewer");
    }

    private PhaseGroup Load(MappingReader reader, PlanCollection collection) => new()
    {
        Threads = (int)(reader.Count("threads", 1, MostThreads) ?? 1),
        Operations = [new WeightedOperation(operations.Load(collection, reader), 1)],
    };

    /// <summary>A quarter; what may take ten minutes warms up no longer than what usually does.</summary>
    public static double WarmupOf(double seconds, Until? until) => Math.Min(seconds, until is null ? seconds : UsualSeconds) / 4;

    /// <summary>A phase's only group: how long, how fast and with how many threads it measures.</summary>
    /// <param name="reader">The reader of the phase.</param>
    /// <param name="name">The name of the phase.</param>
    /// <param name="scale">What <c>--scale</c> multiplies counts by.</param>
    /// <param name="operations">What it measures.</param>
    public static PhaseGroup Measured(MappingReader reader, string name, CountScale scale, IReadOnlyList<WeightedOperation> operations)
    {
        long? count = reader.Find("count") is { } node ? scale.ReadOperations(node) : null;
        Until? until = UntilReader.Find(reader, name);
        double? seconds = reader.Duration("duration") ?? (count is not null ? null : until is null ? UsualSeconds : MostSeconds);
        double warmup = reader.Duration("warmup") ?? (count is null ? WarmupOf(seconds!.Value, until) : 0);
        return Limited(reader, name, new CourseReader(reader, $"phase '{name}'").AddTo(new PhaseGroup
        {
            Threads = 1,
            Seconds = seconds,
            WarmupSeconds = warmup,
            Count = count,
            Until = until,
            Operations = operations,
        }));
    }

    private PhaseGroup[] Groups(ScenarioNode node, string phase)
    {
        if (node is not SequenceNode { Items.Count: > 0 } list)
            throw MappingReader.Wrong(node, $"phase '{phase}': groups is {node.Describe()}; expected a list");
        PhaseGroup[] groups = GroupsOf(list, phase);
        return groups.Any(g => g.IsLimited) ? groups
            : throw MappingReader.Wrong(node, $"phase '{phase}': no group has a duration or count, so the phase would never end");
    }

    /// <summary>Groups that need not end by themselves.</summary>
    public PhaseGroup[] GroupsOf(SequenceNode list, string phase) => [.. list.Items.Select((item, i) => Group(item, phase, i + 1))];

    private PhaseGroup Group(ScenarioNode node, string phase, int number)
    {
        string name = (node as MappingNode)?.Find("name") is ScalarNode given ? given.Text : $"group {number}";
        var reader = new MappingReader(node, $"phase '{phase}', group '{name}'", ScenarioLanguage.Group);
        if (BalancerReader.Find(reader, $"{phase}.{name}", data) is { } balancer)
            return balancer with { Name = name, AfterSeconds = reader.Duration("after") ?? 0 };
        return Limited(reader, $"{phase}.{name}", new CourseReader(reader, $"phase '{phase}', group '{name}'").AddTo(new PhaseGroup
        {
            Name = name,
            Threads = 1,
            Seconds = reader.Duration("duration"),
            WarmupSeconds = reader.Duration("warmup") ?? 0,
            Count = reader.Find("count") is { } count ? scale.ReadOperations(count) : null,
            AfterSeconds = reader.Duration("after") ?? 0,
            Operations = Operations(reader, $"{phase}.{name}"),
        }));
    }

    private static PhaseGroup Limited(MappingReader reader, string name, PhaseGroup group)
    {
        if (group.Seconds is 0)
            throw MappingReader.Wrong(reader.Find("duration")!, $"{name}: duration is 0; it must be longer");
        return group.Seconds is { } all && group.WarmupSeconds >= all
            ? throw MappingReader.Wrong(
                reader.Find("warmup") ?? reader.Node,
                $"{name}: warmup is {group.WarmupSeconds:0.###} s and duration {all:0.###} s, so nothing would be measured",
                reader.Find("warmup")?.Position == Position.CommandLine
                    ? "--warmup has to be shorter than each phase"
                    : "make the warm-up shorter, or the duration longer")
            : group;
    }

    private WeightedOperation[] Operations(MappingReader reader, string path)
    {
        IReadOnlyList<ScenarioNode> nodes = reader.List("operations");
        if (nodes.Count == 0)
            throw MappingReader.Wrong(
                reader.Node, $"{path}: 'operations' is missing", "such as: operations: [{find: users, key: uniform}]");
        // In a growth's charts a phase with one operation is one line, and called by its own name.
        WeightedOperation[] read =
            [.. nodes.Select(node => WithThink(operations.Read(node, path, isOfGrowth && nodes.Count == 1 ? path : null), node, path))];
        // What weighs nothing is never done, and shows in no result.
        WeightedOperation[] done = [.. read.Where(o => o.Weight > 0)];
        return done.Length > 0 ? done : throw MappingReader.Wrong(reader.Find("operations")!, $"{path}: all weights are 0");
    }

    private static WeightedOperation WithThink(WeightedOperation read, ScenarioNode node, string path) =>
        (node as MappingNode)?.Find("think") is { } think and not ScalarNode { IsNull: true }
            ? read with { Operation = read.Operation with { Think = ThinkReader.Read(think, $"{path}.{read.Operation.Name}") } }
            : read;

    /// <summary>Names in a group's results: those of one kind on different collections may share one, and are counted together.</summary>
    private static IEnumerable<string> Counted(PhaseGroup group) =>
        group.Operations.Select(o => o.Operation).GroupBy(o => (o.Name, o.GetType()))
            .SelectMany(same =>
                // Steps of one operation are counted by their places.
                same.First() is StepSequence || same.GroupBy(o => o.Collection).Max(collection => collection.Count()) > 1
                    ? same.Select(o => o.Name)
                    : [same.Key.Name]).Concat(group.Connections is { } use ? [use.Name] : []);

    /// <summary>Results are told apart by operations' names, and totals by theirs.</summary>
    public static void RequireDifferentNames(MappingReader reader, string phase, IReadOnlyList<PhaseGroup> groups)
    {
        string[] names = [.. groups.SelectMany(Counted)];
        if (names.GroupBy(n => n).FirstOrDefault(g => g.Count() > 1) is { } twice)
            throw MappingReader.Wrong(reader.Node, $"phase '{phase}': two operations are called '{twice.Key}'", "give one of them another "
                + "name; only operations of one kind on different collections may share a name, and are then counted together");
        string[] totals =
        [
            OperationResult.TotalName,
            .. groups.Where(group => group.Operations.Count > 1).Select(group => OperationResult.TotalOf(group.Name)),
        ];
        if (names.FirstOrDefault(totals.Contains) is { } total)
        {
            string of = total == OperationResult.TotalName ? "all" : "a group's operations";
            throw MappingReader.Wrong(NameNode(reader.Node, total) ?? reader.Node,
                $"phase '{phase}': an operation is called '{total}', the name of the sum of {of}", "give it another name");
        }
    }

    /// <summary>Where something is given a name.</summary>
    private static ScenarioNode? NameNode(ScenarioNode node, string name) => node switch
    {
        MappingNode mapping when mapping.Find("name") is ScalarNode found && found.Text == name => found,
        MappingNode mapping => mapping.Entries.Select(entry => NameNode(entry.Value, name)).FirstOrDefault(found => found is not null),
        SequenceNode list => list.Items.Select(item => NameNode(item, name)).FirstOrDefault(found => found is not null),
        _ => null,
    };
}
