using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>A file that has been read and checked.</summary>
/// <param name="Plan">What to run.</param>
/// <param name="MaxErrors">The file's; null when it says nothing.</param>
/// <param name="MaxSkipped">The same of skipped arrivals.</param>
/// <param name="Changes">What the command line changed.</param>
/// <param name="Deployments">The deployments that the file brings up; empty for none.</param>
/// <param name="Set">What the file sets for the deployment that it was read for, a line each.</param>
public sealed record ReadPlan(Plan Plan, long? MaxErrors, SkipLimit? MaxSkipped, IReadOnlyList<StoredMessage> Changes,
    IReadOnlyList<ScenarioDeployment> Deployments, IReadOnlyList<string> Set)
{
    /// <summary>What the file says it may write although its run does not create it: shop.audit, shop.*, server.</summary>
    public IReadOnlyList<string> MayWrite { get; init; } = [];

    /// <summary>What it comes to is to hold for MongoDB: neither the embedded nor the null server may stand in.</summary>
    public bool IsForMongoDbOnly { get; init; }

    /// <summary>What its counts were multiplied by.</summary>
    public double Scale { get; init; } = 1;

    /// <summary>Parameters with one value.</summary>
    public IReadOnlyList<ParameterValue> Parameters { get; init; } = [];

    public IReadOnlyList<FigureInfo> Figures { get; init; } = [];

    public IReadOnlyList<TableInfo> Tables { get; init; } = [];

    /// <summary>What is probably a mistake, or can't be verified, a line each; the file is valid.</summary>
    public IReadOnlyList<string> Warnings { get; init; } = [];
}

/// <summary>Turns a scenario file and the command line into a plan: parameters put in, sweeps unrolled, everything checked.</summary>
public static class PlanReader
{
    /// <param name="file">The file.</param>
    /// <param name="overrides">The overrides of the command line.</param>
    /// <param name="seed">The run's.</param>
    /// <param name="on">One of the file's deployments, whose values of parameters hold; null for none.</param>
    /// <exception cref="UserException">The file is wrong; says where and how.</exception>
    public static ReadPlan Read(ScenarioFile file, PlanOverrides overrides, ulong seed, ScenarioDeployment? on = null)
    {
        var changes = new List<StoredMessage>();
        MappingNode asWritten = ScenarioYaml.Read(file.ShownPath, file.Text);
        MappingNode root = new OverrideReader(overrides).Apply(asWritten, changes);
        var top = new MappingReader(root, "scenario", ScenarioLanguage.File);
        var parameters = new ScenarioParameters(top.Find("parameters"), on?.Set, overrides.Parameters, changes);
        if (overrides.Scale != 1 && !top.Flag("scalable", usual: true))
            throw MappingReader.Wrong(
                top.Find("scalable")!, "--scale is not allowed: what is done depends on the file's counts",
                parameters.Names.Any() ? $"--set changes its parameters: {string.Join(", ", parameters.Names)}" : null);
        IReadOnlyList<ScenarioNode> phases = Phases(top);
        WrittenPhases.Require(phases);
        List<string> warnings = [.. WrittenPhases.Warnings(phases)];
        var scale = new CountScale(overrides.Scale);
        ScenarioNode data = top.Find("data") ?? new MappingNode(root.Position, []);
        if (overrides.Scale != 1)
        {
            // What is a count only its reader knows.
            var full = new CountScale(1);
            _ = Rounds(parameters, full, []);
            parameters.Multiply(scale, full.Places);
        }

        PlanRound[] rounds = [.. Rounds(parameters, scale, warnings).Select(round => PhaseSelection.Of(round, overrides, scale))];
        scale.RequireSomething();
        parameters.RequireAllUsed(asWritten);
        RequirePhases(asWritten, rounds, overrides);
        // What the command line leaves out may still be named in figures.
        var written = new ScenarioParameters(top.Find("parameters"), null, new Dictionary<string, string>(), []);
        var text = new ScaledText(parameters, scale);
        var figures = new FigureReader(
            written, (overrides.Parameters.Count == 0 && overrides.Phases.Count == 0 && on?.Set is null) || !FigureReader.IsAsked(top)
                ? rounds
                : Rounds(written, scale, warnings), text);
        if (overrides.Scale != 1)
            changes.Insert(0, Scaled(asWritten, overrides, text));
        rounds = [.. rounds.Select(round => round with { Phases = [.. round.Phases.Select(text.Of)] })];
        IReadOnlySet<string> used = parameters.UsedIn(root);
        return new ReadPlan(
            new Plan(file.Name, text.Of(top.Text("description") ?? ""), rounds), top.Count("maxErrors", 0), MaxSkipped(top), changes,
            new DeploymentReader(top, rounds[0].Collections, overrides.Scale).Read(), SetBy(on, overrides, text))
        {
            MayWrite = MayWrite(top),
            IsForMongoDbOnly = top.Flag("onlyMongoDb"),
            Scale = overrides.Scale,
            // What the command line replaced says nothing of the run, and of phases that run alone most parameters don't either.
            Parameters =
            [
                .. parameters.Names.Except(parameters.Sweeps)
                    .Where(used.Contains).Where(name => !overrides.IsAlone || overrides.Parameters.ContainsKey(name))
                    .Select(name => new ParameterValue(name, text.Of(name, parameters.LabelsOf(name).Single()))),
            ],
            Figures = figures.Figures(top),
            Tables = figures.Tables(top),
            Warnings = [.. warnings.Concat(RemovedByServer(rounds)).Distinct()],
        };

        PlanRound[] Rounds(ScenarioParameters values, CountScale by, List<string> found)
        {
            var count = new PhaseCount();
            return [.. values.Combine(values.SweepsIn(data))
                .Select(chosen => new RoundReader(
                    top, values, chosen, by, new ValueSources(seed, file.Data) { Scale = by }, count, found).Read(data, phases))];
        }
    }

    /// <summary>Warns of each collection from which the server removes documents: it promises to keep none of them.</summary>
    private static IEnumerable<string> RemovedByServer(IEnumerable<PlanRound> rounds) => rounds.SelectMany(round => round.Collections)
        .Where(collection => collection.RemovedBecause is not null)
        .Select(collection => $"collection '{collection.Name}': the server removes documents by itself ({collection.RemovedBecause}), "
            + "so lost documents can't be told from removed ones; those that come back are verified");

    private static string[] MayWrite(MappingReader top)
    {
        try
        {
            return [.. top.Texts("mayWrite").Select(WriteTargets.Parse)];
        }
        catch (FormatException e)
        {
            throw MappingReader.Wrong(top.Find("mayWrite")!, $"mayWrite: {e.Message}");
        }
    }

    private static SkipLimit? MaxSkipped(MappingReader top)
    {
        try
        {
            return top.Text("maxSkipped") is { } text ? SkipLimits.Parse(text) : null;
        }
        catch (FormatException e)
        {
            throw MappingReader.Wrong(top.Find("maxSkipped")!, $"maxSkipped: {e.Message}", "such as 100 or 1%");
        }
    }

    private static void RequirePhases(ScenarioNode root, PlanRound[] rounds, PlanOverrides overrides)
    {
        if (rounds.All(round => round.Phases.Count == 0))
            throw MappingReader.Wrong(root,
                overrides.Phases.Count > 0 ? $"no phase is called {string.Join(" or ", overrides.Phases)}" : "the scenario has no phases");
    }

    /// <summary>
    /// "counts, memory and caches: times 0.0002 (--scale), so recordcount=200, 2k (file: 1M, 10M)": the one place that names the
    /// file's own numbers.
    /// </summary>
    private static StoredMessage Scaled(MappingNode root, PlanOverrides overrides, ScaledText text)
    {
        bool limitsMemory = root.Find("deployments") is MappingNode { Entries: var deployments }
            && deployments.Any(d => d.Value is MappingNode node && (node.Find("memory") ?? node.Find("cache")) is not null);
        return new StoredMessage(
            limitsMemory ? MessageCode.CountsAndMemoryScaled : MessageCode.CountsScaled,
            [$"{overrides.Scale:0.########}", .. text.Changes(overrides.Parameters.Keys)]);
    }

    private static IReadOnlyList<string> SetBy(ScenarioDeployment? deployment, PlanOverrides overrides, ScaledText text) =>
    [
        .. (deployment?.Set?.Entries ?? []).Where(entry => !overrides.Parameters.ContainsKey(entry.Name))
            .Select(entry => $"{entry.Name}: {ValueOf(entry, text)}"),
    ];

    private static string ValueOf(MappingEntry entry, ScaledText text) => entry.Value is SequenceNode list
        ? $"[{string.Join(", ", list.Items.Select(item => text.Of(entry.Name, item.Label)))}]"
        : text.Of(entry.Name, entry.Value.Label);

    private static IReadOnlyList<ScenarioNode> Phases(MappingReader top) => top.Require("phases", "such as phases: [{load: users}]") switch
    {
        SequenceNode { Items.Count: > 0 } list => list.Items,
        { } other => throw MappingReader.Wrong(
            other, $"phases is {(other is SequenceNode ? "an empty list" : other.Describe())}; expected a list of phases"),
    };
}
