using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors.Tyrant;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Tyrant;

namespace MongoPerf.Running.Systems;

/// <summary>Tokyo Tyrant with a table database, as <c>--uri tyrant://</c> names it.</summary>
internal sealed class TyrantSystem : DatabaseSystem
{
    public override string Name => "Tokyo Tyrant";

    public override bool IsNamedBy(string uri) => TyrantUri.IsOne(uri);

    public override string Mask(string uri) => TyrantUri.Scheme + TyrantUri.Parse(uri);

    public override IReadOnlyList<ServerAddress> HostsOf(string uri) => [TyrantUri.Parse(uri)];

    public override void Check(Plan plan) => TyrantDataStore.Check(plan);

    public override IDeployment Open(DeploymentRequest request) => request.RequiredKind is null
        ? new TyrantDeployment(request.Hosts![0], request.Connections)
        : throw DeploymentException.WrongUsage($"this run was on {Name}; such runs can't be resumed", "start a new run");

    public override Inspection Inspect(IDeployment deployment, ConnectionSettings connections, string ns) =>
        ((TyrantDeployment)deployment).Inspect();

    public override IReadOnlyList<IServerSampler> OpenSamplers(IDeployment deployment, ConnectionSettings connections) =>
        [new TyrantSampler(() => deployment.Address, connections)];

    public override IDataStore OpenData(SystemRun run, Plan plan, ulong seed)
    {
        Check(plan);
        return new TyrantDataStore(() => run.Deployment.Address, run.Connections, seed, run.Id, SystemClock.Instance,
            run.ReconnectFor, run.BeforeReconnect);
    }

    public override Func<GroupPlan, int, IOperationExecutor> OpenExecutors(SystemRun run, Plan plan)
    {
        TyrantColumns columns = TyrantDataStore.ColumnsOf(plan);
        return (_, _) => new TyrantExecutor(() => run.Deployment.Address, run.Connections, columns, run.BeforeReconnect);
    }

    /// <summary>The server has one table, whatever the file and --db call it.</summary>
    public override UserException Foreign(IDeployment deployment, string ns, bool isExisting) => new(
        ExitCode.Refused, $"the table at {deployment.Address} was not created by MongoPerf; nothing was written or dropped",
        $"start the server on another file, or --force-drop {ns} if you no longer need its records");
}
