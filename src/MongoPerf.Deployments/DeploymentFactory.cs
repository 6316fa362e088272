using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>
/// Chooses the deployment: null when requested, else what <c>--cluster</c> or <c>--uri</c> names, else a cluster or replica set when
/// requested, else a mongod, else the embedded server, which without a mongod also stands in for a cluster.
/// </summary>
/// <remarks>A run that continues chooses nothing: it gets the kind of server, and the program, that it began with.</remarks>
public static class DeploymentFactory
{
    /// <summary>Nothing is started yet: call <see cref="IDeployment.EnsureRunning"/>.</summary>
    /// <exception cref="DeploymentException">
    /// The mongod that was named does not run, the cache does not fit, the folder holds another kind of server's data, or what the run
    /// began with is missing.
    /// </exception>
    public static IDeployment Create(DeploymentRequest request) => Create(request, Environment.GetEnvironmentVariable);

    internal static IDeployment Create(DeploymentRequest request, Func<string, string?> variable) => request.RequiredKind switch
    {
        null => Choose(request, variable),
        DeploymentKind.Null => ChildDeployment.Null(request.RunFolder, request.FilesFolder, request.Connections.Stop),
        DeploymentKind.Given => request.Hosts is { Count: > 0 } hosts
            ? Given(request, hosts)
            : throw DeploymentException.WrongUsage("this run used an existing server, and no --uri names one now", "name it with --uri"),
        DeploymentKind.Mongod => Mongod(request, FindRequired(request, variable)),
        DeploymentKind.Sharded or DeploymentKind.ReplicaSet => LocalCluster.ForRun(request, variable),
        DeploymentKind.GivenCluster => request.Settings.ClusterFolder is { } folder
            ? new GivenCluster(folder)
            : throw DeploymentException.WrongUsage("this run used an existing cluster, and its folder is unknown",
                "start a new run with --cluster"),
        DeploymentKind.Embedded => request.Settings.MongodPath is null
            ? Embedded(request)
            : throw DeploymentException.WrongUsage(
                $"this run used the embedded server; --mongod {request.Settings.MongodPath} can't use its data", "omit --mongod"),
        { } other => throw DeploymentException.WrongUsage($"this run was on {other.Text()}; such runs can't be resumed", "start a new run"),
    };

    /// <summary>Refuses what <see cref="Create(DeploymentRequest)"/> would refuse, and makes and starts nothing.</summary>
    /// <param name="request">The request of a new run; its data folder is not there.</param>
    /// <returns>What the run would start; null where it starts nothing that stores documents.</returns>
    /// <exception cref="DeploymentException">As <see cref="Create(DeploymentRequest)"/>.</exception>
    public static PlannedServer? Check(DeploymentRequest request) => Check(request, Environment.GetEnvironmentVariable);

    internal static PlannedServer? Check(DeploymentRequest request, Func<string, string?> variable)
    {
        if (request.Settings.Topology == Topology.Null)
            return null;
        if (request.Settings.ClusterFolder is { } folder)
        {
            _ = new GivenCluster(folder);
            return null;
        }

        if (request.Hosts is { Count: > 0 })
            return null;
        if (IsEmbeddedCluster(request, variable))
            return new PlannedServer(static _ => DiskGuard.MongodBytesPerDocument, EmbeddedShards.Of(request.Settings), RouterKind.Mongos)
            {
                IsEmbedded = true,
            };
        if (request.Settings.Topology is Topology.Sharded or Topology.ReplicaSet)
        {
            ClusterPlan plan = LocalCluster.RequestOf(request, variable).MakePlan(Path.GetFullPath(request.DataFolder));
            return new PlannedServer(plan.BytesPerDocument, plan.Shards, plan.IsReplicaSet ? null : plan.Router);
        }

        MongodProgram? program = MongodProgram.Find(request.Settings.MongodPath, variable);
        if (program is not null && request.Settings.Tls is true)
            SecurityFiles.RequireTls(program.Version);
        _ = new ServerLimits(request.DataFolder, request.Settings);
        return new PlannedServer(static _ => DiskGuard.MongodBytesPerDocument, 0, null) { IsEmbedded = program is null };
    }

    private static IDeployment Choose(DeploymentRequest request, Func<string, string?> variable)
    {
        if (request.Settings.Topology == Topology.Null)
            return ChildDeployment.Null(request.RunFolder, request.FilesFolder, request.Connections.Stop);
        if (request.Settings.ClusterFolder is { } folder)
            return new GivenCluster(folder);
        if (request.Hosts is { Count: > 0 } hosts)
            return Given(request, hosts);
        if (request.Settings.Topology is Topology.Sharded or Topology.ReplicaSet && !IsEmbeddedCluster(request, variable))
            return LocalCluster.ForRun(request, variable);
        if (MongodProgram.Find(request.Settings.MongodPath, variable) is { } program)
            return Mongod(request, program);
        return Embedded(request);
    }

    private static bool IsEmbeddedCluster(DeploymentRequest request, Func<string, string?> variable) =>
        request.Settings.Topology == Topology.Sharded && MongodProgram.Find(request.Settings.MongodPath, variable) is null;

    private static GivenDeployment Given(DeploymentRequest request, IReadOnlyList<ServerAddress> hosts) =>
        new(hosts, request.Connections, mustBeMongos: request.Settings.Topology == Topology.Sharded);

    private static MongodDeployment Mongod(DeploymentRequest request, MongodProgram program) =>
        new(program, request.DataFolder, request.Settings, request.Connections.Stop);

    private static ChildDeployment Embedded(DeploymentRequest request) =>
        ChildDeployment.Embedded(request.DataFolder, request.Settings, request.Connections.Stop);

    private static MongodProgram FindRequired(DeploymentRequest request, Func<string, string?> variable)
    {
        if (request.ServerProgram is not { } noted)
        {
            return MongodProgram.Find(request.Settings.MongodPath, variable)
                ?? throw DeploymentException.WrongUsage("this run used a mongod, and none is found now", "name it with --mongod");
        }

        if (!File.Exists(noted))
            throw DeploymentException.WrongUsage($"this run used {noted}, which no longer exists",
                "name a mongod that can use its data with --mongod");
        RequireOwnChoice(noted, variable);
        return MongodProgram.Find(noted, variable)!;
    }

    /// <summary>A run's folder may come from somebody else, and what it names be any program at all.</summary>
    /// <param name="noted">Full path of the mongod that the folder names.</param>
    /// <param name="variable">Reads the environment.</param>
    /// <exception cref="DeploymentException">This machine would not start it by itself.</exception>
    public static void RequireOwnChoice(string noted, Func<string, string?> variable)
    {
        if (!MongodProgram.Own(variable).Contains(noted))
        {
            throw DeploymentException.WrongUsage(
                $"this run used {noted}, which MongoPerf does not start on this machine unless it is named",
                $"if you trust that program, name it: --mongod {noted}");
        }
    }
}

/// <summary>A server, or a cluster, that a run would start.</summary>
/// <param name="BytesPerDocument">The bytes of a document, as <see cref="IDeployment.BytesPerDocument"/> has them.</param>
/// <param name="Shards">0 for anything but a sharded cluster.</param>
/// <param name="Router">Null for anything but a sharded cluster.</param>
public sealed record PlannedServer(Func<long, double> BytesPerDocument, int Shards, RouterKind? Router)
{
    /// <summary>It is the embedded server, which stands in where there is no mongod.</summary>
    public bool IsEmbedded { get; init; }
}
