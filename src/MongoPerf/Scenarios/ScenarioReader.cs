using MongoPerf.Cli;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Engine.Workloads.Templates;
using MongoPerf.Scenarios.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>A file that has been read and checked.</summary>
/// <param name="Scenario">What it describes.</param>
/// <param name="MaxErrors">The file's; null when it says nothing.</param>
/// <param name="Told">What the command line changed, a line each.</param>
/// <param name="Deployments">That the file brings up; empty for none.</param>
/// <param name="Set">What the file sets for the deployment that it was read for, a line each.</param>
internal sealed record ReadScenario(Scenario Scenario, long? MaxErrors, IReadOnlyList<string> Told, IReadOnlyList<ScenarioDeployment> Deployments, IReadOnlyList<string> Set)
{
    /// <summary>What its counts were multiplied by.</summary>
    public double Scale { get; init; } = 1;

    /// <summary>Parameters with one value.</summary>
    public IReadOnlyList<ParameterValue> Parameters { get; init; } = [];

    public IReadOnlyList<FigureInfo> Figures { get; init; } = [];

    public IReadOnlyList<TableInfo> Tables { get; init; } = [];
}

/// <summary>Turns a scenario file into a scenario: parameters put in, sweeps unrolled, everything checked.</summary>
internal static class ScenarioReader
{
    private const int MostSteps = 10_000;

    /// <param name="file">The file.</param>
    /// <param name="overrides">Of the command line.</param>
    /// <param name="seed">The run's.</param>
    /// <param name="on">One of the file's deployments, whose values of parameters hold; null for none.</param>
    /// <exception cref="UserException">The file is wrong; says where and how.</exception>
    public static ReadScenario Read(ScenarioFile file, ScenarioOverrides overrides, ulong seed, ScenarioDeployment? on = null)
    {
        var told = new List<string>();
        MappingNode asWritten = ScenarioYaml.Read(file.ShownPath, file.Text);
        MappingNode root = overrides.Apply(asWritten, told);
        var top = new MappingReader(root, "scenario", ScenarioLanguage.File);
        var parameters = new ScenarioParameters(top.Find("parameters"), on?.Set, overrides.Parameters, told);
        IReadOnlyList<ScenarioNode> phases = Phases(top);
        var scale = new CountScale(overrides.Scale);
        ScenarioNode data = top.Find("data") ?? new MappingNode(root.Position, []);
        ScenarioRound[] rounds = Rounds(parameters);
        scale.RequireSomething();
        parameters.RequireAllUsed(asWritten);
        int steps = rounds.Sum(r => r.Phases.Count);
        if (steps > MostSteps)
            throw MappingReader.Wrong(root, $"the parameters' values make {steps:N0} phases, allowed are up to {MostSteps:N0}");
        // What --set leaves out may still be named in figures.
        var written = new ScenarioParameters(top.Find("parameters"), null, ScenarioOverrides.None.Parameters, []);
        var figures = new FigureReader(written, (overrides.Parameters.Count == 0 && on?.Set is null) || !FigureReader.IsAsked(top) ? rounds : Rounds(written));
        return new ReadScenario(new Scenario(file.Name, top.Text("description") ?? "", rounds), top.Count("maxErrors", 0), told, new DeploymentReader(top, rounds[0].Collections).Read(), SetBy(on, overrides))
        {
            Scale = overrides.Scale,
            Parameters = [.. parameters.Names.Except(parameters.Sweeps).Select(name => new ParameterValue(name, parameters.LabelsOf(name).Single()))],
            Figures = figures.Figures(top),
            Tables = figures.Tables(top),
        };

        ScenarioRound[] Rounds(ScenarioParameters values) =>
            [.. values.Combine(values.SweepsIn(data)).Select(chosen => Round(top, data, phases, values, chosen, scale, seed))];
    }

    private static IReadOnlyList<string> SetBy(ScenarioDeployment? deployment, ScenarioOverrides overrides) =>
        [.. (deployment?.Set?.Entries ?? []).Where(entry => !overrides.Parameters.ContainsKey(entry.Name)).Select(entry => $"{entry.Name}: {entry.Value.Label}")];

    private static IReadOnlyList<ScenarioNode> Phases(MappingReader top) => top.Require("phases", "a list of what is done") switch
    {
        SequenceNode { Items.Count: > 0 } list => list.Items,
        { } other => throw MappingReader.Wrong(other, $"phases is {other.Describe()}, a list of phases is expected"),
    };

    private static ScenarioRound Round(
        MappingReader top, ScenarioNode data, IReadOnlyList<ScenarioNode> phases, ScenarioParameters parameters, IReadOnlyDictionary<string, NamedValue> chosen, CountScale scale, ulong seed)
    {
        IReadOnlyList<ScenarioCollection> collections = Collections(parameters.Resolve(data, chosen), scale, seed);
        var read = new List<(ScenarioPhase Phase, ScenarioNode Node)>();
        PhaseReader? first = null;
        for (int i = 0; i < phases.Count; i++)
        {
            ScenarioNode phase = phases[i];
            // Threads as a list are a sweep without a name of its own.
            IEnumerable<ScenarioNode?> threads = [null];
            if ((phase as MappingNode)?.Find("threads") is SequenceNode { Items.Count: > 0 } list)
                threads = list.Items;
            IReadOnlyList<string> sweeps = [.. parameters.SweepsIn(phase).Except(chosen.Keys)];
            foreach (IReadOnlyDictionary<string, NamedValue> values in parameters.Combine(sweeps))
            {
                Dictionary<string, NamedValue> all = new(chosen.Concat(values));
                ScenarioNode? defaults = top.Find("defaults") is { } given ? parameters.Resolve(given, all) : null;
                PhaseReader reader = new(collections, new OperationReader(collections, defaults, scale, seed), scale);
                first ??= reader;
                foreach (ScenarioNode? one in threads)
                    read.AddRange(Repeated(reader, Resolved(parameters, phase, one, all), i + 1, all, one).Select(found => (found, phase)));
            }
        }

        RequireCreated(collections, read);

        ScenarioPhase[] implied =
        [
            .. collections.Where(c => c.Count > 0 && read.All(p => p.Phase.Loads != c.Name)).Select(c => first!.ImpliedLoad(c) with { Parameters = Shown(chosen) }),
        ];
        // Where a phase makes the collection, there is nothing to load into before.
        ScenarioPhase[] every =
        [
            .. implied.Where(load => read.All(p => p.Phase.Creates != load.Loads)),
            .. read.SelectMany(p => implied.Where(load => load.Loads == p.Phase.Creates).Prepend(p.Phase)),
        ];
        return new ScenarioRound(collections, [.. every.Select(phase => WithoutExpectations(phase, every))]);
    }

    /// <summary>What a phase makes is not there before it.</summary>
    private static void RequireCreated(IReadOnlyList<ScenarioCollection> collections, IReadOnlyList<(ScenarioPhase Phase, ScenarioNode Node)> read)
    {
        HashSet<string> missing = [.. read.Select(p => p.Phase.Creates).OfType<string>()];
        foreach ((ScenarioPhase phase, ScenarioNode node) in read)
        {
            if (phase.Creates is { } created)
                missing.Remove(created);
            IEnumerable<string> used = phase.Groups.SelectMany(g => g.Operations).Select(o => o.Operation.Collection);
            if ((phase.TakesSizes ? used.Append(phase.Loads ?? collections[0].Name) : used).FirstOrDefault(missing.Contains) is { } early)
                throw MappingReader.Wrong(node, $"phase '{phase.Name}': it needs collection '{early}', which only a later phase makes", $"put the phase with create: {early} before it, or take that out: the collection is made before the first phase then");
        }
    }

    private static ScenarioNode Resolved(ScenarioParameters parameters, ScenarioNode phase, ScenarioNode? threads, Dictionary<string, NamedValue> chosen) =>
        parameters.Resolve(threads is null ? phase : ((MappingNode)phase).With("threads", threads), chosen);

    private static IEnumerable<ScenarioPhase> Repeated(PhaseReader reader, ScenarioNode phase, int number, Dictionary<string, NamedValue> chosen, ScenarioNode? threads)
    {
        List<KeyValuePair<string, string>> shown = [.. Shown(chosen)];
        if (threads is not null)
            shown.Add(new("threads", threads.Label));
        long repeat = phase is MappingNode ? new MappingReader(phase, $"phase '{PhaseReader.NameOf(phase, number)}'", ScenarioLanguage.Phase).Count("repeat", 1, 1000) ?? 1 : 1;
        for (int i = 1; i <= repeat; i++)
            yield return reader.Read(phase, number, repeat == 1 ? [.. shown] : [.. shown, new("repeat", $"{i}")]);
    }

    private static List<KeyValuePair<string, string>> Shown(IReadOnlyDictionary<string, NamedValue> chosen) => [.. chosen.Select(c => KeyValuePair.Create(c.Key, c.Value.Name))];

    private static ScenarioCollection[] Collections(ScenarioNode data, CountScale scale, ulong seed)
    {
        if (data is not MappingNode mapping)
            throw MappingReader.Wrong(data, $"data is {data.Describe()}, collections by name are expected");
        ScenarioCollection[] collections = [.. mapping.Entries.Select(entry => Collection(entry, scale, seed))];
        if (collections.SelectMany(c => c.Stored).GroupBy(stored => stored.Name).FirstOrDefault(same => same.Count() > 1) is { } twice)
            throw MappingReader.Wrong(data, $"data: '{twice.Key}' is a collection and a GridFS bucket's");
        return collections;
    }

    private static ScenarioCollection Collection(MappingEntry entry, CountScale scale, ulong seed)
    {
        string name = CheckedName(entry.Key);
        var reader = new MappingReader(entry.Value, $"collection '{name}'", ScenarioLanguage.Collection);
        int? shard = (int?)reader.Count("shard", 1, ClusterRequest.MostShards);
        if (shard is not null && reader.Find("shardKey") is { } key)
            throw MappingReader.Wrong(key, $"collection '{name}': shardKey spreads it, shard keeps it on one", "only one of them is allowed");
        if (reader.Find("files") is not null)
            return BucketReader.Read(reader, name, shard, scale, seed);
        ScenarioNode document = reader.Find("document") ?? new MappingNode(entry.Key.Position, []);
        var template = new DocumentTemplate(new TemplateReader(null, seed).Document(document, $"{name}.document"), seed, name);
        int length = template.Make(0).Bytes.Length;
        if (length > 16 * 1024 * 1024)
            throw MappingReader.Wrong(document, $"collection '{name}': a document has {length:N0} bytes, MongoDB takes up to {16 * 1024 * 1024:N0}");
        return new ScenarioCollection
        {
            Name = name,
            Count = reader.Find("count") is { } count ? scale.Read(count, "count", least: 0) : 0,
            Documents = template,
            Indexes = OperationReader.Indexes(reader.List("indexes"), $"collection '{name}': indexes"),
            ShardKey = Literal(reader, "shardKey"),
            Shard = shard,
            Options = Literal(reader, "options"),
        };
    }

    private static BsonDocument? Literal(MappingReader reader, string key) => reader.Find(key) is { } node ? TemplateReader.Literal(node, key) : null;

    private static string CheckedName(ScalarNode key)
    {
        try
        {
            return Names.Collection(key.Text, "mongoperf");
        }
        catch (UserException e)
        {
            throw MappingReader.Wrong(key, e.Message.Replace("--collection: ", "data: ", StringComparison.Ordinal), e.Hint);
        }
    }

    /// <summary>Where something changes documents, what a read must bring is not known.</summary>
    private static ScenarioPhase WithoutExpectations(ScenarioPhase phase, IEnumerable<ScenarioPhase> all)
    {
        HashSet<string> changed =
        [
            .. all.SelectMany(p => p.Groups).SelectMany(g => g.Operations).Where(o => o.Operation.IsWrite && !o.Operation.Inserts).Select(o => o.Operation.Collection),
        ];
        return changed.Count == 0 ? phase : phase with
        {
            Groups =
            [
                .. phase.Groups.Select(group => group with
                {
                    Operations =
                    [
                        .. group.Operations.Select(o => o.Operation is FindDocuments find && (changed.Contains(find.Collection) || changed.Contains(""))
                            ? o with { Operation = find with { Expected = null } }
                            : o),
                    ],
                }),
            ],
        };
    }
}
