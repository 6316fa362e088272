using System.Globalization;
using MongoPerf.Platforms;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>Something in which the sides' set-ups differ.</summary>
/// <param name="Name">What.</param>
/// <param name="Values">The values as texts, one per side, the baseline's first.</param>
/// <param name="IsUnlike">True when the figures can't be compared then; false for what may well be the subject of the comparison.</param>
public sealed record SetupDifference(string Name, IReadOnlyList<string> Values, bool IsUnlike)
{
    /// <summary>"shards: none → 2", of several candidates "shards: none → 2 / 4".</summary>
    public override string ToString() => $"{Name}: {Values[0]} → {string.Join(" / ", Values.Skip(1))}";
}

/// <summary>Whether runs can be compared: the work must be the same, what it was done on may differ.</summary>
public static class SetupCheck
{
    private const string OfTheFile = "as in the file";
    private const string Target = "target";

    /// <summary>The names of traits whose values need no name beside them.</summary>
    internal const string DeploymentName = "deployment name";

    /// <inheritdoc cref="DeploymentName"/>
    internal const string Topology = "topology";

    /// <summary>A fact of a run's set-up.</summary>
    private sealed record Trait(string Name, Func<StoredRun, string> Of, bool IsWork = false)
    {
        /// <summary>Must not differ between repeats of one run, although it may between others.</summary>
        public bool HoldsForRepeats { get; init; }

        /// <summary>It is a parameter of the scenario, which has a name for it.</summary>
        public bool IsParameter { get; init; }

        /// <summary>It makes another deployment, and not another version of one.</summary>
        public bool IsShape { get; init; }
    }

    /// <summary>What the text of a replay says, in place of a scenario's; a line of its own for each.</summary>
    private static readonly string[] ReplayLines =
        ["recording", "requests", "connections", "speed", "rate", "copies", "loop", "dependencies", "only", "databases"];

    /// <summary>The same work: the scenario's text, and what the command line put in place of its values.</summary>
    private static readonly Trait[] Work =
    [
        new("seed", run => run.Run.Seed.ToString(CultureInfo.InvariantCulture), IsWork: true),
        // A file may have been renamed or moved.
        new("scenario text",
            run => run.Settings.Plan.Recording is null ? Fingerprint(run.Settings.Plan.Text) : Words.Of("none"), IsWork: true),
        .. ReplayLines.Select(name => new Trait(name, run => ReplayLineOf(run, name), IsWork: true)),
        new("phases", run => Overrides(run).Phases is { Count: > 0 } phases ? string.Join(", ", phases) : Words.Of("all"), IsWork: true),
        .. new PlanOverrides().Compared.Select((one, i) => Overridden(one.Name, overrides => overrides.Compared[i].Value)),
        new("scale", run => Overrides(run).Scale.ToString(CultureInfo.InvariantCulture), IsWork: true),
        // Sizes that both have are compared.
        new(Target, run => Units.Exact(run.Settings.Plan.TargetDocuments)),
        new("documents verified", run => Units.Percent(run.Settings.Plan.VerifyShare)),
        new("secondaries awaited", run => run.Settings.Plan.AwaitsReplication ? Words.Of("yes") : Words.Of("no")),
    ];

    /// <summary>The same client.</summary>
    private static readonly Trait[] Client =
    [
        new("client build", run => run.Run.BuildKind, IsWork: true),
        new("client CPU", run => run.Environment?.CpuModel ?? Words.Of("unknown"), IsWork: true),
        new("client cores", run => run.Environment?.CpuCount.ToString(CultureInfo.InvariantCulture) ?? Words.Of("unknown"), IsWork: true),
        // Kernels leave out a little more or less of it at each start.
        new(
            "client memory",
            run => run.Environment is { } e ? $"{Math.Round(e.MemoryBytes / (double)(1L << 30)):0} GiB" : Words.Of("unknown"),
            IsWork: true),
        new("client system", run => run.Environment is { } e ? ReportLines.SystemOf(e) : Words.Of("unknown")),
        new("server on the client's machine",
            run => run.Environment is { } e ? e.ServerOnSameMachine ? Words.Of("yes") : Words.Of("no") : Words.Of("unknown")),
        new("MongoPerf", run => run.Run.Version),
    ];

    /// <summary>What is compared.</summary>
    private static readonly Trait[] Deployment =
    [
        new(DeploymentName, run => run.DeploymentName ?? Words.Of("none")) { IsShape = true },
        new("set by the deployment",
            run => run.Settings.Plan.Set is { Count: > 0 } set ? string.Join("; ", set) : Words.Of("nothing")) { IsShape = true },
        new("deployment", run => ChartText.DeploymentText(run.Deployment)) { HoldsForRepeats = true },
        new("started as", run => run.Deployment?.Kind.Text() ?? Words.Of("none")) { HoldsForRepeats = true },
        new("engine", run => run.Settings.Engine.Text) { HoldsForRepeats = true },
        new("address",
            run => run.Deployment is { } given && given.Kind.IsGiven() ? given.Address : Words.Of("its own")) { IsShape = true },
        new("storage engine", run => run.Deployment?.StorageEngine ?? Words.Of("unknown")) { IsShape = true },
        new("memory limit", run => CacheCrossing.MemoryOfEach(run) is { } bytes ? Units.BinaryBytes(bytes)
            : run.Settings.Deployment.MemoryLimitBytes is null ? Words.Of("default") : Words.Of("none")) { IsShape = true },
        new("CPUs", run => run.Settings.Deployment.Cpus?.ToString(CultureInfo.InvariantCulture) ?? Words.Of("all")) { IsShape = true },
        new("shards", run => run.Deployment?.ShardCount?.ToString(CultureInfo.InvariantCulture) ?? Words.Of("none"))
        {
            HoldsForRepeats = true, IsShape = true,
        },
        new("members", run => run.Deployment?.Members?.ToString(CultureInfo.InvariantCulture) ?? Words.Of("none"))
        {
            HoldsForRepeats = true, IsShape = true,
        },
        new("TLS", run => OnOff(run.Deployment?.Tls)) { HoldsForRepeats = true, IsShape = true },
        new("compression", run => run.Deployment is null ? Words.Of("unknown") : run.Deployment.Compressor ?? Words.Of("none"))
        {
            HoldsForRepeats = true, IsShape = true,
        },
        new("server API", run => run.Deployment?.ServerApi ?? Words.Of("none")) { HoldsForRepeats = true, IsShape = true },
        new("logins", run => OnOff(run.Deployment?.Auth)) { HoldsForRepeats = true, IsShape = true },
        new("router", run => run.Deployment?.Router ?? Words.Of("none")),
    ];

    /// <summary>Where the documents are.</summary>
    private static readonly Trait[] Data =
    [
        new("collections", run => run.Settings.Data.IsExisting ? Words.Of("existing") : Words.Of("created by the run")),
        new("shard key", ShardKeys) { HoldsForRepeats = true, IsShape = true },
        new("documents", Placement),
        new("initial chunks",
            run => run.Settings.Data.Sharding?.Presplit is { } chunks ? Units.Exact(chunks) : Words.Of("default")) { IsShape = true },
        new("chunk size",
            run => run.Settings.Data.Sharding?.ChunkMegabytes is { } size ? $"{size} MiB" : Words.Of("default")) { IsShape = true },
        new("balancer", run => run.Settings.Data.Sharding?.Balancer ?? Words.Of("unchanged")) { IsShape = true },
    ];

    private static string ReplayLineOf(StoredRun run, string name) => run.Settings.Plan.Recording is null
        ? Words.Of("none")
        : run.Settings.Plan.Text.Split('\n').FirstOrDefault(line => line.StartsWith($"{name}: ", StringComparison.Ordinal)) is { } line
            ? line[(name.Length + 2)..] : Words.Of("none");

    private static string OnOff(bool? value) => value switch { null => Words.Of("unknown"), true => Words.Of("on"), _ => Words.Of("off") };

    /// <summary>The shard keys as the cluster told them at the end of the run; of older runs the requested ones.</summary>
    private static string ShardKeys(StoredRun run)
    {
        var moves = ChunkMoves.Of(run);
        return run.Deployment?.Collections switch
        {
            [var only] => KeysOf(only),
            { Count: > 1 } several => string.Join(", ", several.Select(one => $"{one.Collection} {KeysOf(one)}")),
            _ => run.Settings.Data.Sharding is { } sharding ? sharding.ShardKey ?? Words.Of("unchanged") : Words.Of("none"),
        };

        // One after the other, where it was resharded while it was measured.
        string KeysOf(CollectionSharding one) => moves.KeysBefore(one.Collection).Append(one.Key ?? Words.Of("none"))
            .Aggregate(static (before, after) => Words.Of($"{before}, then {after}"));
    }

    /// <summary>"on one server", "spread over 2 shards", or which shard holds nearly all.</summary>
    private static string Placement(StoredRun run)
    {
        if (run.Deployment is not { ShardCount: not null, Collections: { Count: > 0 } collections })
            return run.Deployment?.ShardCount is null ? Words.Of("on one server") : Words.Of("unknown");
        string[] crowded = [.. collections.Where(c => c.NearlyOnly is not null)
            .Select(c => Words.Of($"{(collections.Count > 1 ? $"{c.Collection} " : "")}nearly all on {c.NearlyOnly!.Shard}"))];
        return crowded.Length > 0
            ? string.Join(", ", crowded)
            : Words.Of($"spread over {Words.Counted(run.Deployment.ShardCount.Value, "shard")}");
    }

    /// <summary>Of what a comparison tells with its version, the part that versions leave as it is.</summary>
    private static readonly Trait[] WithoutVersions =
    [
        new(Topology, run => Words.Of(run.Deployment?.Topology.Text() ?? "none")) { IsShape = true },
        new("engine", run => run.Settings.Engine.Kind.ToString().ToLowerInvariant()) { IsShape = true },
    ];

    private static readonly Trait State = new("state", run => Words.Of(run.StateText));

    /// <summary>What differs between the sides, unlike work first.</summary>
    /// <param name="sides">A run of each; the baseline's first.</param>
    public static IReadOnlyList<SetupDifference> Find(IReadOnlyList<StoredRun> sides) =>
        Find([.. Work, .. Parameters(sides), .. Documents(sides), .. Client, .. Deployment, .. Data, State], sides);

    /// <summary>What differs between repeats of one run and must not.</summary>
    public static IReadOnlyList<SetupDifference> FindAmongRepeats(IReadOnlyList<StoredRun> runs) =>
        Find(
            [
                .. Work.Concat(Parameters(runs)).Concat(Client).Where(t => t.IsWork),
                .. Deployment.Concat(Data).Where(t => t.HoldsForRepeats).Select(t => t with { IsWork = true }),
            ], runs);

    /// <summary>What makes a run's deployment another one than others, whatever versions its servers and its client have.</summary>
    /// <returns>Names in English, and values; the same names for every run, its deployment's own name first.</returns>
    internal static IReadOnlyList<(string Name, string Value)> ShapeOf(StoredRun run) =>
        [.. Deployment.Take(1).Concat(WithoutVersions).Concat(Deployment.Skip(1)).Concat(Data)
            .Where(trait => trait.IsShape).Select(trait => (trait.Name, trait.Of(run)))];

    private static IReadOnlyList<SetupDifference> Find(IEnumerable<Trait> traits, IReadOnlyList<StoredRun> sides) =>
    [
        .. traits.Select(trait => (Trait: trait, Values: (string[])[.. sides.Select(trait.Of)]))
            .Where(one => one.Values.Distinct().Count() > 1)
            .DistinctBy(one => one.Trait.Name)
            .Select(one =>
                new SetupDifference(one.Trait.IsParameter ? one.Trait.Name : Words.Of(one.Trait.Name), one.Values, one.Trait.IsWork))
            .OrderByDescending(difference => difference.IsUnlike),
    ];

    /// <summary>The scenario's own, apart from those that a deployment sets: it is compared with all that it sets.</summary>
    private static IEnumerable<Trait> Parameters(IReadOnlyList<StoredRun> sides)
    {
        IEnumerable<string> set = sides.SelectMany(run => run.Settings.Plan.Set).Select(text => text.Split(':')[0]);
        IEnumerable<string> names = sides.Select(run => run.Settings.Plan)
            .SelectMany(plan => plan.Parameters.Select(p => p.Name).Concat(plan.Overrides.Parameters.Keys));
        return names.Distinct().Except(set)
            .Select(name => new Trait(name, run => ParameterOf(run, name), IsWork: name != Target) { IsParameter = true });
    }

    private static string ParameterOf(StoredRun run, string name) =>
        run.Settings.Plan.Parameters.FirstOrDefault(p => p.Name == name)?.Value
        ?? Overrides(run).Parameters.GetValueOrDefault(name) ?? Words.Of(OfTheFile);

    /// <summary>What reads say of one size they don't say of another; inserts end at the size that their speed takes them to.</summary>
    private static IEnumerable<Trait> Documents(IReadOnlyList<StoredRun> sides)
    {
        bool isExisting = sides.All(run => run.Settings.Data.IsExisting && run.Phases is [{ Growth: null }, ..]);
        bool inserts = sides.Any(run => run.Results.Any(result => result.IsInsert));
        return isExisting ? [new Trait("documents in the collection", run => Units.Exact(run.Phases[0].Documents), IsWork: !inserts)] : [];
    }

    private static Trait Overridden(string name, Func<PlanOverrides, object?> of) =>
        new(name, run => TextOf(of(Overrides(run))), IsWork: true);

    private static PlanOverrides Overrides(StoredRun run) => run.Overrides;

    /// <summary>The text of a value of <see cref="PlanOverrides.Compared"/>.</summary>
    private static string TextOf(object? value) => value switch
    {
        long count => Units.Exact(count),
        double seconds => Units.Duration(seconds),
        IReadOnlyList<int> threads => string.Join(", ", threads),
        IReadOnlyList<double> rates => string.Join(", ", rates.Select(rate => $"{Units.Rate(rate)}/s")),
        string text => text,
        _ => Words.Of(OfTheFile),
    };

    /// <summary>Enough to tell two texts apart by eye.</summary>
    private static string Fingerprint(string text) => Sha256.Hex(text)[..12];
}
