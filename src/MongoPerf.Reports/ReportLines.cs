using System.Globalization;
using MongoPerf.Reports.Access;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What reports say of a run in a line each.</summary>
public static class ReportLines
{
    /// <summary>What ran where, and as what.</summary>
    public static IReadOnlyList<Fact> Setup(StoredRun run)
    {
        PlanSettings plan = run.Settings.Plan;
        List<Fact> facts =
        [
            new("run", Words.Of($"{run.Run.Id}, {Words.Of(run.StateText)}, seed {run.Run.Seed}")),
            new("started", Started(run.Run)),
            new("program", Words.Of($"MongoPerf {run.Run.Version}, {run.Run.BuildKind} build")),
            new("server", ServerLine(run.Deployment) + ChartText.Through(run.Settings.Engine)),
            .. run.Deployment is { } deployment && AccessText.Of(deployment) is { } access
                ? [new Fact("access", access)] : Array.Empty<Fact>(),
            .. run.Deployment is null ? [] : UntoldText.Of(run.Deployment).Select(line => new Fact("not sampled", line)),
            .. Machine(run.Environment, run.Deployment),
            new("scenario", PlanText(plan)),
        ];
        if (plan.Parameters.Where(parameter => parameter.Value != "~").ToList() is { Count: > 0 } parameters)
            facts.Add(new Fact("settings", PhaseLabels.Parameters(parameters)));
        facts.AddRange(plan.Changes.Select(change => new Fact("changed", change.Text)));
        if (run.Settings.Data.Sharding is { } sharding)
            facts.Add(new Fact("shards", Sharding(sharding, run.Deployment?.Collections) + Before(run)));
        if (plan.VerifyShare > 0)
            facts.Add(new Fact("verified", Words.Of($"{Units.Percent(plan.VerifyShare)} of the returned documents, where possible")));
        return facts;
    }

    /// <summary>What to type next.</summary>
    /// <param name="run">The run.</param>
    /// <param name="runsFolder">The runs folder as typed after --out; null for the default.</param>
    public static string Next(StoredRun run, string? runsFolder)
    {
        (string why, string command) = run.StateText switch
        {
            "finished" => (Words.Of("to rebuild this report"), "report"),
            "running" => (Words.Of("to refresh this report"), "report"),
            _ when run.Run.Clients.Count > 0 || run.Settings.Plan.Recording is not null || run.FindNote(StoredRun.DeletedNote) is not null
                || run.FindNote(StoredRun.RejectedNote) is { Length: > 0 } => (Words.Of("to rebuild this report"), "report"),
            _ => (Words.Of("to resume"), "resume"),
        };
        // A program that only the stored run names is not started: it is named again.
        string mongod =
            command == "resume" && run.Settings.Deployment.MongodPath is { } named ? $" --mongod {CommandText.Quoted(named)}" : "";
        return $"{why}: {CommandText.Program} {command} {run.Run.Id}{mongod}{CommandText.Out(runsFolder)}";
    }

    private static string Started(RunInfo run)
    {
        string lasted = run.EndedAt is { } ended ? Words.Of($", took {Units.Duration(ended - run.StartedAt)}") : "";
        return run.StartedAt.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture) + lasted;
    }

    private static IEnumerable<Fact> Machine(EnvironmentInfo? machine, DeploymentInfo? server)
    {
        if (machine is null)
            yield break;
        string where = machine.ServerOnSameMachine ? Words.Of("shared with the server")
            : server is { MayBeHere: true } ? Words.Of("the server has an address of this machine, and does not say whether it runs here")
            : Words.Of("the server is elsewhere");
        yield return new Fact(
            "client", Words.Of($"{machine.CpuCount} × {machine.CpuModel}, {Units.BinaryBytes(machine.MemoryBytes)} of memory, {where}"));
        yield return new Fact("system", SystemOf(machine));
        if (!machine.IsLinux)
            yield return new Fact("host samples", Words.Of("none: CPU, memory, disks and network are sampled on Linux only"));
        yield return new Fact("disk",
            Words.Of($"{machine.Disk}, {Units.Bytes(machine.DiskFreeBytes)} of {Units.Bytes(machine.DiskTotalBytes)} free at the start"));
    }

    /// <summary>"Debian GNU/Linux 12 (bookworm), Linux 6.1.0, .NET 10.0.1".</summary>
    public static string SystemOf(EnvironmentInfo machine) => machine.IsLinux
        ? Words.Of($"{machine.OperatingSystem}, Linux {machine.Kernel}, .NET {machine.DotNetVersion}")
        : Words.Of($"{machine.OperatingSystem}, .NET {machine.DotNetVersion}");

    private static string ServerLine(DeploymentInfo? d)
    {
        if (d == null)
            return Words.Of("no server was reached");
        string product = d.IsEmbedded ? Words.Of("embedded server")
            : d.Topology == Topology.Null ? Words.Of("null server")
            : d.StandIn is { } standIn ? Words.Of($"{standIn}, which presents itself as MongoDB") : d.OtherSystem ?? "MongoDB";
        string engine = d.StorageEngine == null ? "" : $", {d.StorageEngine}";
        string cache = d.CacheBytes == null ? "" : Words.Of($", cache {ChartText.Cache(d)}");
        string api = d.ServerApi == null ? "" : Words.Of($", server API {d.ServerApi}");
        string topology =
            d.OtherSystem is not null || d.Topology is Topology.Embedded or Topology.Null ? "" : $" {Words.Of(d.ShapeText)}{Router(d)}";
        return Words.Of($"{product} {Words.Of(d.VersionText)}{topology}{engine}{cache}{api}, {d.Namespace} at {d.Address}");
    }

    private static string Router(DeploymentInfo d) =>
        d.Router is null ? "" : Words.Of($" (routed by {(d.Router == "mongod" ? Words.Of("a mongod") : d.Router)})");

    /// <summary>"news (scenarios/news.yaml): what it is about".</summary>
    public static string PlanText(PlanSettings plan) =>
        $"{plan.Name} ({plan.Path}){(plan.Description.Length > 0 ? $": {plan.Description}" : "")}";

    /// <summary>
    /// How a collection is sharded, such as "sharded by hashed _id, in 6 chunks, chunk size 8 MB, balancer on".
    /// </summary>
    /// <param name="s">When the run began.</param>
    /// <param name="collections">
    /// The collections as the cluster has them, which comes first: a scenario's collections have keys of their own. Null or empty where it
    /// was not asked.
    /// </param>
    public static string Sharding(ShardingSettings s, IReadOnlyList<CollectionSharding>? collections = null)
    {
        string key = collections is [{ Key: { } only } one] ? $"{Words.Of($"by {only}")}{InChunks(one)}"
            : collections is { Count: > 1 } ? Words.Of(
                $"by {string.Join(", ", collections.Select(one => $"{one.Collection} {one.Key ?? Words.Of("none")}{InChunks(one)}"))}")
            : s.ShardKey switch
            {
                null => Words.Of("by the key it had"),
                "hashed" => Words.Of("by hashed _id"),
                var given => Words.Of($"by {given}"),
            };
        // What was asked for, where nobody could count what there is.
        string presplit = s.Presplit is { } chunks && collections?.All(one => one.Chunks is null) is not false
            ? Words.Of($", presplit into {chunks} chunks") : "";
        string size = s.ChunkMegabytes is { } megabytes ? Words.Of($", chunk size {megabytes} MiB") : "";
        return Words.Of($"sharded {key}{presplit}{size}{(s.Balancer is { } balancer ? Words.Of($", balancer {balancer}") : "")}");
    }

    /// <summary>The keys that collections had when the run began, where they have got others.</summary>
    private static string Before(StoredRun run)
    {
        var moves = ChunkMoves.Of(run);
        return string.Concat((run.Deployment?.Collections ?? [])
            .Select(one => (one.Collection, Keys: moves.KeysBefore(one.Collection).ToList())).Where(one => one.Keys.Count > 0)
            .Select(one => Words.Of($"; {one.Collection} was sharded by {string.Join(", ", one.Keys)} before")));
    }

    private static string InChunks(CollectionSharding collection) => collection is { Key: not null, Chunks: { } chunks and > 0 }
        ? $" {(chunks == 1 ? Words.Of("in one chunk") : Words.Of($"in {Units.Exact(chunks)} chunks"))}" : "";
}
