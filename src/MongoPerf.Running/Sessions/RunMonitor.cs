using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Running.Progress;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Samples servers and machine, watches the parts of a deployment and shows progress, for as long as a run measures.</summary>
internal sealed class RunMonitor : IDisposable
{
    private readonly BackgroundSampler _sampler;
    private readonly ClusterWatch? _watch;
    private readonly ProgressView _view;

    /// <param name="session">Has the deployment and the log.</param>
    /// <param name="keeper">Starts parts of the run's own deployment again.</param>
    /// <param name="store">Gets the samples.</param>
    /// <param name="collection">Whose shards are sampled, where there are any; null for none.</param>
    public RunMonitor(RunSession session, ServerKeeper keeper, RunStore store, string? collection)
    {
        (IDeployment deployment, Inspection inspection, _) = session.On;
        RunRequest request = session.Request;
        _sampler = new BackgroundSampler(
            SystemClock.Instance,
            request.System.OpenSamplers(deployment, session.On.Connections),
            new HostSampler(inspection.DataFolder ?? session.Folder.Path, () => ServerProcesses(deployment, inspection)),
            OpenShards(session, new SampledNamespace(request.Settings.Data.Database, collection ?? ""), store.Run.StartedAt),
            request.System.OpenReplicas(deployment, inspection.Info, session.On.Connections),
            store, session.Log.Progress, session.Log.Report,
            request.Agent is { } agent ? agent.Postpone : static () => null);
        // No connection of the client's tells of a shard or a secondary that ended.
        if (deployment.Members.Count > 1 || deployment.WatchedSets.Count > 0)
            _watch = new ClusterWatch(deployment, keeper, session.On.Connections, SystemClock.Instance,
                happened => session.Log.Report(happened.Kind, happened.Text, happened.Seconds));
        _view = ProgressView.Create(session.Log.Progress, request.Output.Quiet, request.Output.NoTui);
    }

    public void Dispose()
    {
        _view.Dispose();
        _watch?.Dispose();
        _sampler.Dispose();
    }

    /// <summary>Null unless the deployment is sharded.</summary>
    private static ClusterSampler? OpenShards(RunSession session, SampledNamespace collection, DateTimeOffset since)
    {
        IDeployment deployment = session.On.Deployment;
        return deployment.Cluster is null ? null : new ClusterSampler(() => deployment.Cluster, session.On.Connections, collection, since);
    }

    /// <summary>Null when they are on this machine and not known: of several that were given only one says who it is.</summary>
    private static IReadOnlyList<int>? ServerProcesses(IDeployment deployment, Inspection inspection) =>
        !inspection.IsOnThisMachine ? inspection.Info.MayBeHere ? null : []
        : deployment.ProcessIds is { Count: > 0 } known ? known
        : inspection.Info is { ProcessId: { } id, Topology: not (Topology.ReplicaSet or Topology.Sharded) } ? [id]
        : null;
}
