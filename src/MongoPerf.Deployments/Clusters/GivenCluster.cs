using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments.Clusters;

/// <summary>
/// A cluster, or a replica set, that <c>cluster start</c> brought up (<c>--cluster DIR</c>): never started nor stopped by the run.
/// </summary>
public sealed class GivenCluster : IDeployment
{
    private readonly ClusterPlan _plan;
    private readonly SecurityFiles? _security;
    private volatile ShardedCluster? _parts;
    private string? _memoryProblem;
    private string? _cpuProblem;

    /// <exception cref="DeploymentException">There is none in the folder, or it is another user's.</exception>
    public GivenCluster(string folder)
    {
        DataFolder = Path.GetFullPath(folder);
        _plan = ClusterPlan.Read(DataFolder) ?? throw ClusterStatus.NoneIn(DataFolder);
        _security = _plan.Security(DataFolder);
        Address = ClusterProcesses.AddressOf(_plan.Processes[0]);
    }

    public DeploymentKind Kind => DeploymentKind.GivenCluster;

    public ServerAddress Address { get; private set; }

    public IReadOnlyList<ServerAddress> Members => _plan.MemberAddresses;

    public ConnectionSettings? Connections => _security?.User ?? ConnectionSettings.Default;

    public string? DataFolder { get; }

    public int? ProcessId { get; private set; }

    public IReadOnlyList<int> ProcessIds { get; private set; } = [];

    public ShardedCluster? Cluster => _parts;

    public long? MemoryLimitBytes => _memoryProblem is null ? _plan.MemoryLimitBytes : null;

    public IReadOnlyList<string> Remarks => ClusterRemarks.Of(_plan, _memoryProblem, _cpuProblem);

    public double BytesPerDocument(long documents) => _plan.BytesPerDocument(documents);

    /// <summary>Looks where its parts are.</summary>
    /// <returns>Always false: nothing was started.</returns>
    /// <exception cref="DeploymentException">A process does not run, or a shard has no member that takes writes.</exception>
    public bool EnsureRunning()
    {
        ClusterStatus status = ClusterStatus.Read(DataFolder!);
        if (_plan.IsReplicaSet)
            Address = status.FindPrimary();
        else
            _parts = status.FindParts();
        ProcessId = status.Members.First(member => ClusterProcesses.AddressOf(member.Member) == Address).ProcessId;
        ProcessIds = [.. status.Members.Select(member => member.ProcessId).OfType<int>()];
        (_memoryProblem, _cpuProblem) = (status.MemoryProblem, status.CpuProblem);
        return false;
    }
}
