using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Running.Systems;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Commands;

/// <summary>
/// scenarios/series.yaml: what its parameters are called, what they are when nothing is typed, and the phases that
/// <c>run</c> knows by name.
/// </summary>
internal static class SeriesScenario
{
    public const string Name = "series";

    /// <summary>Seconds of a query's window at each size of a first look.</summary>
    public const double ShortWindow = 0.5;

    /// <summary>Documents below which a series is a first look.</summary>
    public const long SmallTarget = 100_000;

    private const string Ordered = "ordered";
    private const string WriteConcern = "w";
    private const string Journal = "journal";

    private const long LargeTarget = 10_000_000;
    private const long LongTarget = 100_000_000;

    public static ScenarioFile Find() => ScenarioFile.Find(Name);

    /// <summary>
    /// Percent of a step for unack, batch and safe: small steps give the single inserts more, so that each is long enough to measure.
    /// </summary>
    public static IReadOnlyList<int> DefaultShares(long target) => target < LargeTarget ? [20, 60, 20] : [10, 85, 5];

    /// <summary>Seconds of a query's window at each size, except of a first look.</summary>
    public static double DefaultWindow(long target) => target < LongTarget ? 5 : 4;

    /// <summary>Nobody asked for windows or warm-ups, and the target is small: such a series should end within a minute.</summary>
    public static bool IsFirstLook(long target, double? window, double? warmup) =>
        target < SmallTarget && window is null && warmup is null;

    /// <summary>Its ways of writing and the phases that run at each size, in the file's order; queries have a window.</summary>
    public static IReadOnlyList<(string Name, string Description, bool HasWindow)> Phases(ScenarioFile file)
    {
        MappingNode root = ScenarioYaml.Read(file.ShownPath, file.Text);
        IEnumerable<MappingNode> growths = ((root.Find("phases") as SequenceNode)?.Items ?? []).OfType<MappingNode>()
            .Where(phase => phase.Find("grow") is not null);
        return
        [
            .. growths.SelectMany(growth => ItemsOf(growth, "writes").Concat(ItemsOf(growth, "each"))).OfType<MappingNode>()
                .Select(phase => (TextOf(phase, "name"), TextOf(phase, "description"), TextOf(phase, "duration").Length > 0))
                .Where(phase => phase.Item1.Length > 0),
        ];
    }

    /// <summary>What the shared options set of its parameters.</summary>
    public static Dictionary<string, string> Parameters(ParseResult parsed, SharedOptions options)
    {
        var parameters = new Dictionary<string, string>();
        foreach ((Option option, Func<ParseResult, string?> text) in options.OfSeries)
        {
            if (text(parsed) is { } value)
                parameters[option.Name[2..]] = value;
        }

        return parameters;
    }

    /// <summary>
    /// What one deployment sets of its parameters, where the command line does not: an ordered batch is cut at every change of shard, and
    /// acknowledged inserts take the connection string's write concern.
    /// </summary>
    public static Dictionary<string, string> Parameters(PlanOverrides overrides, DeploymentChoice deployment, bool isPreset)
    {
        var parameters = new Dictionary<string, string>();
        if (deployment.Settings.Topology == Topology.Sharded && !isPreset && !overrides.Parameters.ContainsKey(Ordered))
            parameters[Ordered] = "false";
        if (deployment.Uri is not null && DatabaseSystems.Of(deployment.Uri).HasWriteConcern(deployment.Uri)
            && !overrides.Parameters.ContainsKey(Journal))
            parameters[WriteConcern] = "~";
        return parameters;
    }

    private static IReadOnlyList<ScenarioNode> ItemsOf(MappingNode node, string key) => (node.Find(key) as SequenceNode)?.Items ?? [];

    private static string TextOf(MappingNode node, string key) => (node.Find(key) as ScalarNode)?.Text ?? "";
}
