using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Systems;

/// <summary>MongoDB, and what stands in for it: the embedded server, and the null deployment.</summary>
internal sealed class MongoDbSystem : DatabaseSystem
{
    public override string Name => "MongoDB";

    public override bool HasMarkers => true;

    public override bool IsCalibrated => true;

    public override bool IsNamedBy(string uri) => true;

    public override string Mask(string uri) => ServerUri.Parse(uri).ToMaskedString();

    public override bool HasWriteConcern(string uri) => ServerUri.Parse(uri).WriteConcern is not null;

    public override bool HasServerApi(string uri) => ServerUri.Parse(uri).ServerApi is not null;

    public override string? UnusedDatabase(string uri, string used) => ServerUri.UnusedDatabase(uri, used);

    public override IReadOnlyList<ServerAddress> HostsOf(string uri) => ServerUri.Parse(uri).Hosts;

    public override (IReadOnlyList<ServerAddress> Hosts, ConnectionSettings Connections) Read(
        string uri, EngineKind engine, CancellationToken stop = default) =>
        ServerUri.Read(uri, engine, stop);

    public override PlannedServer? CheckOpen(DeploymentRequest request) => DeploymentFactory.Check(request);

    public override IDeployment Open(DeploymentRequest request) => DeploymentFactory.Create(request);

    public override Inspection Inspect(IDeployment deployment, ConnectionSettings connections, string ns) =>
        DeploymentInspector.Inspect(deployment, connections, ns);

    public override void CheckBatches(IDeployment deployment, ConnectionSettings connections, Plan plan) =>
        MongoDbCollections.CheckBatches(deployment.Address, connections, plan);

    public override ClientClock? CompareClock(IDeployment deployment, ConnectionSettings connections)
    {
        using MongoConnection connection = MongoConnection.Open(deployment.Address, connections);
        return ServerClock.Compare(connection, SystemClock.Instance);
    }

    public override IReadOnlyList<IServerSampler> OpenSamplers(IDeployment deployment, ConnectionSettings connections) =>
        MongoDbSamplers.OpenServers(deployment, connections);

    public override ReplicaSampler? OpenReplicas(IDeployment deployment, DeploymentInfo info, ConnectionSettings connections) =>
        MongoDbSamplers.OpenReplicas(deployment, info, connections);

    public override IDataStore OpenData(SystemRun run, Plan plan, ulong seed) =>
        new WireDataStore(stored => MongoDbCollections.Open(run, stored, plan.TargetOf(stored.Name)), seed, run.Id, run.Token);

    /// <summary>Executors with connections for what their group does.</summary>
    public override Func<GroupPlan, int, IOperationExecutor> OpenExecutors(SystemRun run, Plan plan) => (group, worker) =>
        new WireExecutor(preference => run.Deployment.Select(preference, group.FirstThread + worker + group.Share.Index), run.Connections,
            run.Data.Database, run.BeforeReconnect)
        {
            Cluster = run.Cluster,
            ForcesCompact = run.Deployment.HasPrimaries && run.Deployment.Kind != DeploymentKind.Given,
            Preferences = WireExecutor.PreferencesOf(group.Operations.Select(item => item.Operation), run.Connections.ReadPreference),
        };

    public override UserException Foreign(IDeployment deployment, string ns, bool isExisting) => new(
        ExitCode.Refused, $"{ns} was not created by MongoPerf; nothing was written or dropped",
        "a scenario reads it as it is with 'existing: true', and a built-in one with --on; otherwise use another --db or collection"
            + (isExisting ? "" : $", or --force-drop {ns} if you no longer need it"));
}
