using MongoPerf.Deployments;
using MongoPerf.Load.Collections;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Keeps a run from filling the disk and from writing collections that another run has taken over.</summary>
internal sealed class RunGuard : IDisposable
{
    private readonly IDeployment _deployment;
    private readonly string? _dataFolder;
    private readonly DiskGuard? _disk;
    private readonly LeaseKeeper? _keeper;
    private readonly IAgentRole? _agent;

    /// <param name="on">The run's deployment.</param>
    /// <param name="request">What is run.</param>
    /// <param name="run">The run's id.</param>
    /// <param name="token">The run's token.</param>
    public RunGuard(RunDeployment on, RunRequest request, string run, string? token)
    {
        _deployment = on.Deployment;
        _dataFolder = on.Inspection.DataFolder;
        _disk = _dataFolder is null || _deployment.Kind == DeploymentKind.Null ? null : new DiskGuard(_dataFolder);
        _agent = request.Agent;
        // Of several agents the first holds the leases for all.
        if (_deployment.Kind == DeploymentKind.Null || !request.System.HasMarkers || _agent is { Share.IsFirst: false })
            return;
        Leases = new WriterLeases(request.Settings.Data.Database, run, token, LeaseKeeper.Length);
        _keeper = new LeaseKeeper(Leases, () => on.Deployment.Address, on.Connections, SystemClock.Instance);
    }

    /// <summary>What the run may write; null where nobody else could.</summary>
    public WriterLeases? Leases { get; }

    /// <summary>Refuses a run that would fill the disk (exit code 6).</summary>
    /// <param name="documents">Still to be written, more than none.</param>
    /// <param name="bytesPerDocument">The bytes of BSON per document.</param>
    /// <exception cref="DeploymentException">The disk would fill.</exception>
    public void CheckDisk(long documents, double bytesPerDocument) =>
        _disk?.CheckBefore(documents, _deployment.BytesPerDocument(documents) / 1024 * bytesPerDocument);

    /// <summary>What the server's data folder takes; null where that is not to be seen.</summary>
    public DiskUse? MeasureDisk() => _dataFolder is null ? null : DataFolderSize.Read(_dataFolder);

    /// <summary>
    /// A sentence when another run has taken a collection over, all agents are stopped, or the disk is nearly full; null otherwise.
    /// </summary>
    public string? ReasonToStop()
    {
        if ((Leases?.Lost ?? _agent?.ReasonToStop()) is { } why)
            return why;
        return _disk is not null && _disk.IsLow(out string text) ? text : null;
    }

    public void Dispose() => _keeper?.Dispose();
}
