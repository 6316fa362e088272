using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Makes a phase of a growth a phase on a collection that is there: <c>run q4 --on shop.products</c>.</summary>
/// <param name="overrides">Names the phase, the collection and the filter.</param>
internal sealed class ExistingPhase(PlanOverrides overrides)
{
    private static readonly Position Typed = Position.CommandLine;

    /// <param name="root">The file of the phase.</param>
    /// <returns>The file with that phase alone, and with the collection that is there as its data.</returns>
    /// <exception cref="UserException">The phase means nothing without the file's own documents, or the filter is none.</exception>
    public MappingNode In(MappingNode root)
    {
        MappingNode[] phases =
        [
            .. (root.Find("phases") as SequenceNode)!.Items.OfType<MappingNode>().SelectMany(phase => ItemsOf(phase, "each"))
                .OfType<MappingNode>().Where(phase => phase.Find("name") is ScalarNode name && overrides.Phases.Contains(name.Text)),
        ];
        if (phases.Length == 0)
            throw new UserException(ExitCode.WrongUsage,
                $"--on: '{string.Join(", ", overrides.Phases)}' writes documents, and existing data are only read", "use q4, q7 or size");
        var collection = new MappingNode(Typed, [new MappingEntry(Scalar("existing"), Scalar("true"))]);
        return root
            .With("data", new MappingNode(Typed, [new MappingEntry(Scalar(overrides.Existing!), collection)]))
            .With("phases", new SequenceNode(Typed, [.. phases.Select(OnCollection)]));
    }

    private MappingNode OnCollection(MappingNode phase)
    {
        if (phase.Find("sizes") is not null)
            return overrides.Filter is null ? phase.With("sizes", Scalar(overrides.Existing!))
                : throw new UserException(ExitCode.WrongUsage, "--filter: 'size' reads no documents", "omit it");
        string name = ((ScalarNode)phase.Find("name")!).Text;
        IEnumerable<MappingNode> finds = ItemsOf(phase, "operations").OfType<MappingNode>();
        return phase.With("operations", new SequenceNode(Typed, [.. finds.Select(find => Find(find, name))]));
    }

    private MappingNode Find(MappingNode find, string phase)
    {
        if (((string[])["sort", "projection"]).FirstOrDefault(key => find.Find(key) is not null) is { } named)
            throw new UserException(ExitCode.WrongUsage, $"--on: the {named} of '{phase}' names fields of the series' documents",
                $"use q4, or write a scenario with data: {{{overrides.Existing}: {{existing: true}}}}");
        if (overrides.Filter is null && find.Find("filter") is MappingNode { Entries.Count: > 0 })
            throw new UserException(ExitCode.WrongUsage, $"--on: the filter of '{phase}' names fields of the series' documents",
                "give it one, such as --filter '{_id: ^existing}'");
        MappingNode filtered = overrides.Filter is { } filter
            ? find.With("filter", ScenarioYaml.Read("--filter", filter, "expected a filter such as {_id: ^existing}", null))
            : find;
        return filtered.With("find", Scalar(overrides.Existing!));
    }

    private static IReadOnlyList<ScenarioNode> ItemsOf(MappingNode node, string key) => (node.Find(key) as SequenceNode)?.Items ?? [];

    private static ScalarNode Scalar(string text) => new(Typed, text, false);
}
