using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Puts what the command line says in place of a file's values.</summary>
public sealed class OverrideReader(PlanOverrides overrides)
{
    /// <summary>The file's tree with these values in it.</summary>
    /// <param name="root">The root of the file.</param>
    /// <param name="changes">Gets each value that is another now.</param>
    /// <exception cref="UserException">There is nothing to put a value in place of.</exception>
    public MappingNode Apply(MappingNode root, List<StoredMessage> changes)
    {
        if (overrides.Existing is not null)
            return SetPhases(new ExistingPhase(overrides).In(root), changes);
        // A phase that runs alone gets the documents that it asks for from a load of its own.
        MappingNode changed = overrides.IsAlone ? root : SetCollection(root, changes);
        return SetPhases(SetGrowth(changed, changes), changes);
    }

    /// <summary>A phase that has these values and no others.</summary>
    public MappingNode Phase() => Put(new MappingNode(Place, []), Given(PlanPlace.Phases), "", []);

    /// <summary>The option's value, as <c>--set</c> would give it to a parameter.</summary>
    /// <returns>Null when the option was not typed.</returns>
    public string? ParameterText(PlanOption option) => option.ValueIn(overrides) is not { } value ? null : NodeOf(value) switch
    {
        SequenceNode list => string.Join(',', list.Items.Select(item => item.Label)),
        var one => one.Label,
    };

    private PlanOption[] Given(PlanPlace place) => [.. PlanOptions.All.Where(option => option.Place == place && option.IsIn(overrides))];

    private MappingNode SetCollection(MappingNode root, List<StoredMessage> changes)
    {
        if (Given(PlanPlace.Collection) is not [var first, ..] given)
            return root;
        if (root.Find("data") is not MappingNode { Entries: var collections } data || collections.Count(one => IsLoaded(one, root)) != 1)
            throw NoCollection(root, first.Name);
        MappingEntry only = collections.First(one => IsLoaded(one, root));
        return root.With("data", data.With(only.Name, Put((MappingNode)only.Value, given, only.Name, changes)));
    }

    private static UserException NoCollection(MappingNode root, string option)
    {
        if (root.Find("phases") is SequenceNode phases && phases.Items.Any(IsGrowth))
            return new UserException(ExitCode.WrongUsage, $"{option}: the scenario grows its collections", "use --target");
        string[] loaded = root.Find("data") is MappingNode data
            ? [.. data.Entries.Where(one => IsLoaded(one, root)).Select(entry => entry.Name)]
            : [];
        string found = loaded.Length == 0 ? "no collection" : $"{loaded.Length} collections ({string.Join(", ", loaded)})";
        return new UserException(
            ExitCode.WrongUsage, $"{option}: the scenario loads {found}; it has to load exactly one",
            "change the counts in the file, or with --set where they are parameters");
    }

    private MappingNode SetGrowth(MappingNode root, List<StoredMessage> changes)
    {
        if (Given(PlanPlace.Growth) is not [var first, ..] given)
            return root;
        if (root.Find("phases") is not SequenceNode phases || phases.Items.Count(IsGrowth) != 1)
        {
            string found = root.Find("phases") is SequenceNode list && list.Items.Any(IsGrowth) ? "several growths" : "no growth";
            throw new UserException(
                ExitCode.WrongUsage, $"{first.Name}: the scenario has {found}", "change the file, or use --set where it has parameters");
        }

        return root.With("phases", phases with
        {
            Items = [.. phases.Items.Select(item => IsGrowth(item) ? Put((MappingNode)item, given, "", changes) : item)],
        });
    }

    private static bool IsGrowth(ScenarioNode node) => (node as MappingNode)?.Find("grow") is not null;

    /// <summary>It has a count, or takes all rows of a file.</summary>
    private static bool IsLoaded(MappingEntry entry, MappingNode root) => entry.Value is MappingNode node && (node.Find("count") is not null
        || ((node.Find("document") as MappingNode)?.Find(Generator.FileName) is not null
            && (root.Find("phases") as SequenceNode)?.Items.SelectMany(GrowthReader.NamesIn).Contains(entry.Name) != true));

    private MappingNode SetPhases(MappingNode root, List<StoredMessage> changes)
    {
        if (Given(PlanPlace.Phases) is not [var first, ..] given || root.Find("phases") is not SequenceNode phases)
            return root;
        ScenarioNode[] changed = [.. phases.Items.Select(item => item is MappingNode phase ? SetIn(phase, given, changes) : item)];
        return changed.Where((item, i) => !ReferenceEquals(item, phases.Items[i])).Any()
            ? root.With("phases", phases with { Items = changed })
            : throw new UserException(
                ExitCode.WrongUsage,
                $"{first.Name}: no phase of the scenario has threads of its own (create phases, loads and groups keep the file's values)",
                "change the file, or use --set where it has parameters");
    }

    /// <summary>Puts the values into a phase; of a growth, into the phases that run at each size.</summary>
    private MappingNode SetIn(MappingNode phase, PlanOption[] given, List<StoredMessage> changes)
    {
        if (IsMeasured(phase))
            return Set(phase);
        if (phase.Find("each") is not SequenceNode each)
            return phase;
        ScenarioNode[] changed = [.. each.Items.Select(item => item is MappingNode one && IsMeasured(one) ? Set(one) : item)];
        return phase.With("each", each with { Items = changed });

        MappingNode Set(MappingNode one) => Put(one, given, (one.Find("name") as ScalarNode)?.Text ?? "phase", changes);
    }

    private static bool IsMeasured(MappingNode phase) =>
        phase.Find("operations") is not null
        && (phase.Find("create") ?? phase.Find("load") ?? phase.Find("balancer") ?? phase.Find("groups")) is null;

    /// <summary>The values in a mapping of the file, without what they displace there.</summary>
    /// <param name="node">The node as the file has it.</param>
    /// <param name="given">The options whose values go there.</param>
    /// <param name="of">The name of what the mapping describes; empty where there is only one.</param>
    /// <param name="changes">Gets each value that is another now.</param>
    private MappingNode Put(MappingNode node, PlanOption[] given, string of, List<StoredMessage> changes)
    {
        MappingNode changed = node;
        foreach (string key in given.SelectMany(option => option.Displaces).Except(given.Select(option => option.Key)))
            changed = key == PlanOptions.Warmup.Key && HasNoWarmup(node) ? changed : changed.With(key, null);
        foreach (PlanOption option in given)
        {
            object typed = option.ValueIn(overrides)!;
            ScenarioNode value = NodeOf(typed);
            ScenarioNode? said = node.Find(option.Key) ?? (option.OtherKey is { } other ? node.Find(other) : null);
            if (said?.Label != value.Label)
                changes.Add(new StoredMessage(
                    MessageCode.ValueReplaced, option.Key, of, TextOf(typed), option.Name, said?.Label ?? ""));
            changed = changed.With(option.Key, value);
        }

        return changed;
    }

    /// <summary>Where the beginning is what counts, another length does not change that.</summary>
    private static bool HasNoWarmup(MappingNode phase) =>
        phase.Find("warmup") is ScalarNode { Text: ['0', ..] text } && !text.Any(c => c is >= '1' and <= '9');

    private static Position Place => Position.CommandLine;

    private static ScenarioNode NodeOf(object value) => value switch
    {
        // Meant as it stands: the scale is for the file's counts.
        long count => Scalar(count) with { IsExact = true },
        double seconds => new ScalarNode(Place, $"{seconds:R}s", false),
        IReadOnlyList<int> threads => OneOrList([.. threads.Select(t => (double)t)]),
        IReadOnlyList<double> rates => OneOrList(rates),
        _ => new ScalarNode(Place, (string)value, false),
    };

    private static string TextOf(object value) => value switch
    {
        long count => $"{count:N0}",
        double seconds => $"{seconds:0.###}s",
        IReadOnlyList<int> threads => string.Join(", ", threads),
        IReadOnlyList<double> rates => string.Join(", ", rates.Select(rate => $"{rate:N0}")),
        _ => (string)value,
    };

    private static ScalarNode Scalar(double value) => new(Place, value.ToString("R"), false);

    private static ScenarioNode OneOrList(IReadOnlyList<double> values) =>
        values.Count == 1 ? Scalar(values[0]) : new SequenceNode(Place, [.. values.Select(Scalar)]);
}
