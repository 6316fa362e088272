using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Clusters;

/// <summary>A sharded cluster or a replica set of real programs, started for the run in the run's own data folder and stopped with it.</summary>
internal sealed class OwnCluster : IDeployment
{
    private readonly LocalCluster _cluster;

    /// <param name="request">Of the run.</param>
    /// <param name="variable">Reads the environment.</param>
    /// <exception cref="DeploymentException">As <see cref="LocalCluster.Prepare"/>.</exception>
    public OwnCluster(DeploymentRequest request, Func<string, string?> variable)
    {
        RequireOwnPrograms(request, variable);
        _cluster = LocalCluster.Prepare(request.DataFolder, new ClusterRequest
        {
            Settings = request.Settings with
            {
                Auth = request.Settings.Auth is true, Tls = request.Settings.Tls is true,
                // The folder knows the programs of a cluster that continues; what was typed when it began may be relative to another folder.
                MongodPath = request.ServerProgram is { } noted ? (ClusterPlan.IsIn(request.DataFolder) ? null : noted) : request.Settings.MongodPath,
            },
            Variable = variable,
            Interrupt = request.Connections.Stop,
        });
    }

    public DeploymentKind Kind => _cluster.Plan.IsReplicaSet ? DeploymentKind.ReplicaSet : DeploymentKind.Sharded;

    /// <summary>Full path of its mongod.</summary>
    public string? Program => _cluster.Plan.Mongod;

    public ServerAddress Address => _cluster.Address;

    public IReadOnlyList<ServerAddress> Members => _cluster.Plan.MemberAddresses;

    public ConnectionSettings? Connections => _cluster.Connections;

    public string? DataFolder => _cluster.Folder;

    public int? ProcessId => _cluster.ProcessId;

    public IReadOnlyList<int> ProcessIds => _cluster.ProcessIds;

    public bool IsRunning => _cluster.IsRunning;

    public ShardedCluster? Cluster => _cluster.Parts;

    public string RestartText => $"{string.Join(", ", _cluster.LastStarted)} of the {_cluster.Plan.Noun} had exited and {(_cluster.LastStarted.Count > 1 ? "were" : "was")} restarted";

    public IReadOnlyList<string> Remarks => ClusterRemarks.Of(_cluster.Plan, _cluster.MemoryProblem, _cluster.CpuProblem);

    public double BytesPerDocument(long documents) => ClusterDisk.BytesPerDocument(_cluster.Plan, documents);

    public bool EnsureRunning() => _cluster.EnsureRunning();

    public void Stop() => _cluster.Stop();

    public void Dispose() => _cluster.Dispose();

    /// <summary>Of a resumed run and for which no mongod was named: its folder names the programs, and may come from somebody else.</summary>
    /// <exception cref="DeploymentException">This machine would not start them by itself.</exception>
    private static void RequireOwnPrograms(DeploymentRequest request, Func<string, string?> variable)
    {
        if (request.RequiredKind is null || request.Settings.MongodPath is not null)
            return;
        ClusterPlan? there = ClusterPlan.Read(request.DataFolder);
        if ((there?.Mongod ?? request.ServerProgram) is { } mongod)
            DeploymentFactory.RequireOwnChoice(mongod, variable);
        if (there?.Mongos is { } mongos && !ClusterPrograms.Own(there.Mongod, variable).Contains(mongos))
        {
            throw new DeploymentException(
                DeploymentFault.WrongUsage,
                $"this run used {mongos}, which this machine would not start without being told to\nhint:  if you know that program, name the mongod beside it with --mongod, or set {ClusterPrograms.MongosVariable}");
        }
    }
}
