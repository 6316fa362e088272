using MongoPerf.Deployments;
using MongoPerf.Engine.Executors;
using MongoPerf.Engine.Executors.Tyrant;
using MongoPerf.Engine.Executors.Wire;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Sharding;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Opens the workers' executors: those of the client that was asked for, or our own on the system under load.</summary>
internal sealed class RunExecutors : IDisposable
{
    private readonly RunDeployment _on;
    private readonly RunRequest _request;
    private readonly ServerKeeper _keeper;
    private readonly ClusterControl? _cluster;
    private readonly IExecutorSource? _client;

    /// <param name="on">The run's deployment.</param>
    /// <param name="request">What is run.</param>
    /// <param name="keeper">Looks after the server when connections break.</param>
    /// <param name="cluster">Does what operations do behind the router; null without shards.</param>
    /// <exception cref="ConnectionStringException">The client does not take the connection string.</exception>
    public RunExecutors(RunDeployment on, RunRequest request, ServerKeeper keeper, ClusterControl? cluster)
    {
        (_on, _request, _keeper, _cluster) = (on, request, keeper, cluster);
        _client = request.Engine?.Open(new ClientOptions
        {
            Uri = request.Uri,
            Address = () => on.Deployment.Address,
            Members = on.Deployment.Members,
            Connections = on.Connections,
            Database = request.Settings.Data.Database,
            Workers = ConnectionRoom.ThreadsOf(request.Plan.Plan),
            Cluster = cluster,
            BeforeReconnect = keeper.BeforeReconnect,
        });
    }

    /// <summary>Runs groups of threads on the system that the deployment is.</summary>
    public GroupRunner Open(Plan plan) => new(SystemClock.Instance, Opener(plan)) { Hurry = _on.Connections.Stop };

    public void Dispose() => _client?.Dispose();

    private Func<GroupPlan, int, IOperationExecutor> Opener(Plan plan)
    {
        if (_client is { } client)
            return (_, _) => client.OpenExecutor();
        if (_on.Deployment is not TyrantDeployment)
            return OpenWire;
        TyrantColumns columns = TyrantDataStore.ColumnsOf(plan);
        return (_, _) => new TyrantExecutor(() => _on.Deployment.Address, _on.Connections, columns, _keeper.BeforeReconnect);
    }

    /// <summary>A worker's executor, with connections for what its group does.</summary>
    private WireExecutor OpenWire(GroupPlan group, int worker) =>
        new(preference => _on.Deployment.Select(preference, group.FirstThread + worker + group.Share.Index), _on.Connections, _request.Settings.Data.Database, _keeper.BeforeReconnect)
        {
            Cluster = _cluster,
            Preferences = WireExecutor.PreferencesOf(group.Operations.Select(item => item.Operation), _on.Connections.ReadPreference),
        };
}
