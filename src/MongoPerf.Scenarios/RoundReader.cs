using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads the data and phases of one combination of the parameters that the data depend on.</summary>
/// <param name="top">The whole file.</param>
/// <param name="parameters">The parameters of the file and the command line.</param>
/// <param name="chosen">The values of those that the data depend on.</param>
/// <param name="scale">What <c>--scale</c> multiplies counts by.</param>
/// <param name="sources">Where values come from.</param>
/// <param name="count">The count of the file's phases.</param>
/// <param name="warnings">Gets a line for each thing that is probably a mistake.</param>
internal sealed class RoundReader(
    MappingReader top, ScenarioParameters parameters, IReadOnlyDictionary<string, NamedValue> chosen, CountScale scale,
    ValueSources sources, PhaseCount count, ICollection<string> warnings)
{
    private readonly FieldCheck _fields = new();
    private PlanCollection[] _collections = [];
    private IReadOnlyList<AggregateDocuments> _checks = [];

    /// <summary>The phase at the end that looks at all of the file's checks.</summary>
    public const string CheckPhase = "checks";

    public PlanRound Read(ScenarioNode data, IReadOnlyList<ScenarioNode> phases)
    {
        HashSet<string> grown = [.. phases.Select(phase => parameters.Resolve(phase, Chosen)).SelectMany(GrowthReader.NamesIn)];
        ScenarioNode described = parameters.Resolve(data, chosen);
        _collections = CollectionReader.Read(described, grown, scale, sources);
        foreach (PlanCollection collection in _collections)
            _fields.Add(collection, ((MappingNode)described).Find(collection.Name)!);
        _checks = CheckReader.Read(
            top.Find("checks") is { } conditions ? parameters.Resolve(conditions, Chosen) : null, _collections, _fields);
        (Phase Phase, ScenarioNode Node)[] read =
            [.. phases.SelectMany((phase, i) => Expand(phase, i + 1, isOfGrowth: false).Select(found => (found, phase)))];
        RequireCreated(read);
        RequireCheckable(read);
        ExistingChecks.Require(_collections, read);
        Phase[] implied =
        [
            .. _collections.Where(c => c.Count > 0 && read.All(p => p.Phase.Loads != c.Name))
                .Select(c => ReaderFor(Chosen).ImpliedLoad(c) with { Parameters = Shown(Chosen) }),
        ];
        foreach (string warning in _fields.Warnings(_collections))
            warnings.Add(warning);
        // Where a phase makes the collection, there is nothing to load into before.
        return WriteChecks.Of(ReadChecks.Of(new PlanRound(_collections,
        [
            .. implied.Where(load => read.All(p => p.Phase.Creates != load.Loads)),
            .. read.SelectMany(p => implied.Where(load => load.Loads == p.Phase.Creates).Prepend(p.Phase)),
            // However the phases end, the last word is that of all checks.
            .. _checks.All(read[^1].Phase.Conditions.Contains) ? []
                : (Phase[])[new Phase { Name = CheckPhase, Conditions = _checks, Groups = [], Parameters = Shown(Chosen) }],
        ])));
    }

    /// <summary>Whether a document that a step inserts is there depends on what comes of the others.</summary>
    private static void RequireCheckable((Phase Phase, ScenarioNode Node)[] read)
    {
        StepSequence[] steps = [.. read.SelectMany(p => p.Phase.AllGroups).SelectMany(group => group.Operations)
            .Select(o => o.Operation).OfType<StepSequence>()];
        foreach ((Phase phase, ScenarioNode node) in read
            .Where(p => p.Phase.Checks is { } collection && steps.Any(one => one.InsertsInto(collection))))
            throw MappingReader.Wrong(node,
                $"check: '{phase.Checks}' gets documents from steps, and those of steps that fail, or are aborted, need not be there",
                "check another collection");
    }

    private Dictionary<string, NamedValue> Chosen => new(chosen);

    /// <summary>A phase as it is written, with each value of the parameters in it.</summary>
    private IEnumerable<Phase> Expand(ScenarioNode phase, int number, bool isOfGrowth)
    {
        if (!isOfGrowth && GrowthReader.NamesIn(phase).Any())
        {
            yield return Grow((MappingNode)phase, number);
            yield break;
        }

        foreach (IReadOnlyDictionary<string, NamedValue> values in parameters.Combine([.. parameters.SweepsIn(phase).Except(chosen.Keys)]))
        {
            Dictionary<string, NamedValue> all = new(chosen.Concat(values));
            foreach ((ScenarioNode one, IReadOnlyList<KeyValuePair<string, string>> swept) in Swept(phase))
            {
                foreach (Phase found in Repeated(parameters.Resolve(one, all), number, all, swept, isOfGrowth))
                    yield return found;
            }
        }
    }

    /// <summary>A phase with each value of its lists of threads and rates: a list is a sweep without a name of its own.</summary>
    public static IEnumerable<(ScenarioNode Phase, IReadOnlyList<KeyValuePair<string, string>> Swept)> Swept(ScenarioNode phase) =>
        from threads in ValuesOf(phase, "threads")
        from rate in ValuesOf(phase, "rate")
        select (With(With(phase, "threads", threads), "rate", rate), Shown(("threads", threads), ("rate", rate)));

    /// <returns>One null when it is no list.</returns>
    private static IReadOnlyList<ScenarioNode?> ValuesOf(ScenarioNode phase, string key) =>
        (phase as MappingNode)?.Find(key) is SequenceNode list && CourseReader.IsSweep(list) ? [.. list.Items] : [null];

    private static ScenarioNode With(ScenarioNode phase, string key, ScenarioNode? value) =>
        value is null ? phase : ((MappingNode)phase).With(key, value);

    private static IReadOnlyList<KeyValuePair<string, string>> Shown(params (string Key, ScenarioNode? Value)[] swept) =>
        [.. swept.Where(one => one.Value is not null).Select(one => KeyValuePair.Create(one.Key, one.Value!.Label))];

    private Phase Grow(MappingNode phase, int number)
    {
        MappingNode alone = phase.With("each", null);
        if (parameters.SweepsIn(alone).Except(chosen.Keys).FirstOrDefault() is { } sweep)
            throw MappingReader.Wrong(phase,
                $"phase '{PhaseReader.NameOf(phase, number)}': parameter '{sweep}' has several values, but a collection grows only once",
                "use it in the phases under each, or give it one value with --set");
        Phase[] each = [.. Items(phase.Find("each")).SelectMany((item, i) => Expand(item, i + 1, isOfGrowth: true))];
        OperationReader operations = OperationsFor(Chosen);
        return new GrowthReader(_collections, new PhaseReader(_collections, operations, scale), operations, scale)
            .Read(parameters.Resolve(alone, Chosen), number, each) with { Parameters = Shown(Chosen) };
    }

    private static IReadOnlyList<ScenarioNode> Items(ScenarioNode? node) => node switch
    {
        null or ScalarNode { IsNull: true } => [],
        SequenceNode list => list.Items,
        { } other => throw MappingReader.Wrong(other, $"each is {other.Describe()}; expected a list of phases"),
    };

    private IEnumerable<Phase> Repeated(
        ScenarioNode phase, int number, Dictionary<string, NamedValue> all, IEnumerable<KeyValuePair<string, string>> swept,
        bool isOfGrowth)
    {
        KeyValuePair<string, string>[] shown = [.. Shown(all), .. swept];
        PhaseReader reader = ReaderFor(all, isOfGrowth);
        long repeat = phase is MappingNode
            ? new MappingReader(phase, $"phase '{PhaseReader.NameOf(phase, number)}'", ScenarioLanguage.Phase).Count("repeat", 1, 1000) ?? 1
            : 1;
        for (int i = 1; i <= repeat; i++)
        {
            count.Add(phase);
            yield return reader.Read(phase, number, repeat == 1 ? shown : [.. shown, new("repeat", $"{i}")]);
        }
    }

    private PhaseReader ReaderFor(Dictionary<string, NamedValue> all, bool isOfGrowth = false) =>
        new(_collections, OperationsFor(all), scale, isOfGrowth) { Checks = _checks };

    private OperationReader OperationsFor(Dictionary<string, NamedValue> all) =>
        new(_collections, top.Find("defaults") is { } given ? parameters.Resolve(given, all) : null, scale,
            sources with { Collections = _collections }, _fields);

    private static List<KeyValuePair<string, string>> Shown(IReadOnlyDictionary<string, NamedValue> values) =>
        [.. values.Select(c => KeyValuePair.Create(c.Key, c.Value.Name))];

    /// <summary>What a phase makes is not there before it.</summary>
    private void RequireCreated((Phase Phase, ScenarioNode Node)[] read)
    {
        HashSet<string> missing = [.. read.Select(p => p.Phase.Creates).OfType<string>()];
        foreach ((Phase phase, ScenarioNode node) in read)
        {
            if (phase.Creates is { } created)
                missing.Remove(created);
            // A phase that is about none takes the sizes of the first.
            IEnumerable<string> used = phase.Groups.SelectMany(g => g.Operations).Select(o => o.Operation.Collection)
                .Where(name => name.Length > 0).DefaultIfEmpty(phase.TakesSizes && _collections is [var first, ..] ? first.Name : "");
            if (used.FirstOrDefault(missing.Contains) is { } early)
                throw MappingReader.Wrong(node, $"phase '{phase.Name}' needs collection '{early}', which only a later phase creates",
                    $"move the phase with create: {early} before it, or remove that phase: "
                    + "the collection is then created before the first one");
        }
    }
}
