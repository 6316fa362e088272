using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Comparison;

/// <summary>Something in which the sides' set-ups differ.</summary>
/// <param name="Name">What.</param>
/// <param name="Values">As texts, one per side, the baseline's first.</param>
/// <param name="IsUnlike">True when the figures can't be compared then; false for what may well be the subject of the comparison.</param>
internal sealed record SetupDifference(string Name, IReadOnlyList<string> Values, bool IsUnlike)
{
    public override string ToString() => $"{Name}: {string.Join(" | ", Values)}";
}

/// <summary>Whether runs can be compared: the work must be the same, what it was done on may differ.</summary>
internal static class SetupCheck
{
    /// <summary>The same work on the same client.</summary>
    private static readonly (string Name, Func<StoredRun, string> Of)[] MustBeAlike =
    [
        ("kind of run", run => run.Run.Kind),
        ("seed", run => run.Run.Seed.ToString(CultureInfo.InvariantCulture)),
        ("document schema", run => run.Settings.DocumentSchema.ToString(CultureInfo.InvariantCulture)),
        ("compressibility", run => $"{run.Settings.Compressibility} %"),
        ("documents per step", run => Units.Exact(run.Settings.StepDocumentCount)),
        ("shares", run => string.Join('/', run.Settings.Shares)),
        ("tests", run => string.Join(',', run.Settings.Tests.OrderBy(TestOrder.Of))),
        ("batch size", run => Units.Exact(run.Settings.BatchSize)),
        // Those of a scenario follow from its text, and from what a deployment sets.
        ("threads", run => run.Scenario is null ? string.Join(',', run.Settings.Threads.Order()) : "the scenario's"),
        ("window", run => Seconds(run.Settings.WindowSeconds)),
        ("warm-up", run => Seconds(run.Settings.WarmupSeconds)),
        ("journal", run => run.Settings.Journal ? "on" : "off"),
        ("rate asked for", run => run.Settings.Rate is { } rate ? $"{Units.Rate(rate)}/s" : "as fast as possible"),
        ("scenario's text", run => run.Scenario is { } scenario ? Fingerprint(scenario.Text) : "none"),
        ("changed in the scenario", run => run.Scenario is { Overrides: { Count: > 0 } changes } ? string.Join("; ", changes) : "nothing"),
        ("client build", run => run.Run.BuildKind),
        ("client CPU", run => run.Environment?.CpuModel ?? "unknown"),
        ("client cores", run => run.Environment?.CpuCount.ToString(CultureInfo.InvariantCulture) ?? "unknown"),
        // Kernels leave out a little more or less of it at each start.
        ("client memory", run => run.Environment is { } e ? $"{Math.Round(e.MemoryBytes / (double)(1L << 30)):0} GiB" : "unknown"),
    ];

    /// <summary>What is compared, or hardly matters.</summary>
    private static readonly (string Name, Func<StoredRun, string> Of)[] MayDiffer =
    [
        ("deployment's name", run => run.DeploymentName ?? "none"),
        ("set by the deployment", run => run.Scenario is { Set: { Count: > 0 } set } ? string.Join("; ", set) : "nothing"),
        ("memory limit of a server", run => run.Settings.MemoryLimitBytes switch { null => "not asked for", 0 => "none", { } bytes => Units.BinaryBytes(bytes) }),
        ("CPUs of a server", run => run.Settings.Cpus?.ToString(CultureInfo.InvariantCulture) ?? "all"),
        ("deployment", run => ChartText.DeploymentText(run.Deployment)),
        ("deployment's kind", run => run.Deployment?.Kind ?? "none"),
        ("address", run => run.Deployment is { Kind: "uri" or "tyrant" } given ? given.Address : "its own"),
        ("storage engine", run => run.Deployment?.StorageEngine ?? "unknown"),
        ("shards", run => run.Steps.Select(s => s.Sizes?.Shards.Count ?? 0).DefaultIfEmpty(0).Max() is > 0 and int shards ? shards.ToString(CultureInfo.InvariantCulture) : "none"),
        ("router", run => run.Deployment?.Router ?? "none"),
        ("shard key", run => run.Settings.Sharding is { } sharding ? sharding.ShardKey ?? "as it was" : "none"),
        ("server on the client's machine", run => run.Environment is { } e ? e.ServerOnSameMachine ? "yes" : "no" : "unknown"),
        ("target", run => Units.Exact(run.Settings.TargetDocumentCount)),
        ("documents verified", run => Units.Percent(run.Settings.VerifyShare)),
        ("MongoPerf", run => run.Run.Version),
        ("client system", run => run.Environment is { } e ? $"{e.OperatingSystem}, Linux {e.Kernel}, .NET {e.DotNetVersion}" : "unknown"),
        ("ended as", run => run.StateText),
    ];

    /// <summary>What differs between the sides, unlike set-ups first.</summary>
    public static IReadOnlyList<SetupDifference> Find(IReadOnlyList<StoredRun> sides) =>
    [
        .. MustBeAlike.Select(one => Difference(one.Name, one.Of, sides, isUnlike: true))
            .Append(Ordered(sides))
            .Append(Documents(sides))
            .Concat(MayDiffer.Select(one => Difference(one.Name, one.Of, sides, isUnlike: false)))
            .OfType<SetupDifference>()
            .OrderByDescending(d => d.IsUnlike),
    ];

    /// <summary>What differs between repeats of one run, which must be alike in everything but their ends.</summary>
    public static IReadOnlyList<SetupDifference> FindAmongRepeats(IReadOnlyList<StoredRun> runs) =>
        [.. Find(runs).Where(d => d.IsUnlike || d.Name is "deployment" or "deployment's kind" or "shards" or "shard key")];

    /// <summary>Shards are given unordered batches unless told otherwise: then it goes with the topology.</summary>
    private static SetupDifference? Ordered(IReadOnlyList<StoredRun> sides) => Difference(
        "batches", run => run.Settings.OrderedBatches ? "ordered" : "unordered", sides,
        isUnlike: sides.Select(run => run.Deployment?.Topology).Distinct().Count() == 1);

    /// <summary>A single query test says nothing about another size. Insert tests end at the size that their speed takes them to.</summary>
    private static SetupDifference? Documents(IReadOnlyList<StoredRun> sides) =>
        sides.Any(run => run.Run.Kind != "run" || run.Steps.Count == 0) ? null : Difference(
            "documents in the collection", run => Units.Exact(run.Steps[0].Documents), sides,
            isUnlike: !sides[0].Settings.Tests.Any(RunWindows.IsInsert));

    private static SetupDifference? Difference(string name, Func<StoredRun, string> of, IReadOnlyList<StoredRun> sides, bool isUnlike)
    {
        string[] values = [.. sides.Select(of)];
        return values.Distinct().Count() == 1 ? null : new SetupDifference(name, values, isUnlike);
    }

    /// <summary>Enough to tell two texts apart by eye; a file may have been renamed or moved.</summary>
    private static string Fingerprint(string text) => Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text)))[..12];

    private static string Seconds(double seconds) => Units.Duration(TimeSpan.FromSeconds(seconds));
}
