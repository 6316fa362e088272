using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Systems;

/// <summary>
/// A system that runs put load on. Whatever differs from one system to another is asked of it;
/// <see cref="DatabaseSystems"/> registers them.
/// </summary>
/// <remarks>Immutable, for all threads. What is not overridden is what a system has that only takes load.</remarks>
public abstract class DatabaseSystem
{
    /// <summary>
    /// The name as messages and reports name it; stored with runs (<see cref="DeploymentInfo.OtherSystem"/>), so it never changes.
    /// </summary>
    public abstract string Name { get; }

    /// <summary>Its collections carry markers, by which runs are resumed, taken back, kept apart, and repeated on the same data.</summary>
    public virtual bool HasMarkers => false;

    /// <summary>Calibrations of this machine hold for MongoPerf's own client of it.</summary>
    public virtual bool IsCalibrated => false;

    /// <summary>The connection string is one of this system's, rightly or wrongly written.</summary>
    public abstract bool IsNamedBy(string uri);

    /// <summary>The connection string as it is stored and shown: secrets replaced by ***.</summary>
    /// <exception cref="ConnectionStringException">It is not one.</exception>
    public abstract string Mask(string uri);

    /// <summary>The connection string says how safe writes are that don't say so themselves.</summary>
    /// <exception cref="ConnectionStringException">It is not one.</exception>
    public virtual bool HasWriteConcern(string uri) => false;

    /// <summary>The connection string names the server API itself.</summary>
    /// <exception cref="ConnectionStringException">It is not one.</exception>
    public virtual bool HasServerApi(string uri) => false;

    /// <summary>
    /// A line for people whose connection string names a database that the run does not use; null where it names none, or the run's.
    /// </summary>
    public virtual string? UnusedDatabase(string uri, string used) => null;

    /// <summary>The servers that a connection string names, without asking anybody.</summary>
    /// <exception cref="ConnectionStringException">It is not one.</exception>
    public abstract IReadOnlyList<ServerAddress> HostsOf(string uri);

    /// <summary>The servers that a connection string names, and how to connect to them. Connects to none.</summary>
    /// <param name="uri">The connection string as typed, with its secrets.</param>
    /// <param name="engine">The client of the measured operations.</param>
    /// <param name="stop">Ends every wait.</param>
    /// <exception cref="ConnectionStringException">It is not one, or asks for what can't be done.</exception>
    public virtual (IReadOnlyList<ServerAddress> Hosts, ConnectionSettings Connections) Read(
        string uri, EngineKind engine, CancellationToken stop = default) =>
        (HostsOf(uri), ConnectionSettings.Default);

    /// <summary>Refuses what the system can't do.</summary>
    /// <exception cref="OperationLimitException">Names the operation.</exception>
    public virtual void Check(Plan plan)
    {
    }

    /// <summary>Refuses what <see cref="Open"/> would refuse, and starts nothing.</summary>
    /// <returns>What the run would start; null where it starts nothing that stores documents.</returns>
    /// <exception cref="DeploymentException">As <see cref="Open"/>.</exception>
    public virtual PlannedServer? CheckOpen(DeploymentRequest request) => null;

    /// <summary>The deployment that a run is on. Nothing is started yet.</summary>
    /// <exception cref="DeploymentException">There is none such.</exception>
    public abstract IDeployment Open(DeploymentRequest request);

    /// <summary>Asks a deployment of this system what it is.</summary>
    /// <param name="deployment">Running.</param>
    /// <param name="connections">How to connect.</param>
    /// <param name="ns">"database.collection" of the run.</param>
    /// <exception cref="DeploymentException">It is not reachable, or no such system.</exception>
    public abstract Inspection Inspect(IDeployment deployment, ConnectionSettings connections, string ns);

    /// <summary>Refuses batches that the servers do not take.</summary>
    /// <exception cref="OperationLimitException">Names the batch and the limit.</exception>
    public virtual void CheckBatches(IDeployment deployment, ConnectionSettings connections, Plan plan)
    {
    }

    /// <summary>How far the servers' clock is from this machine's; null where they don't say.</summary>
    public virtual ClientClock? CompareClock(IDeployment deployment, ConnectionSettings connections) => null;

    /// <summary>Samplers of the servers, those that hold data first.</summary>
    public abstract IReadOnlyList<IServerSampler> OpenSamplers(IDeployment deployment, ConnectionSettings connections);

    /// <summary>A sampler of the deployment's replica sets; null for none, or where their primaries can't be asked.</summary>
    public virtual ReplicaSampler? OpenReplicas(IDeployment deployment, DeploymentInfo info, ConnectionSettings connections) => null;

    /// <summary>Prepares, checks and repairs a plan's collections.</summary>
    /// <param name="run">The run on a deployment of this system.</param>
    /// <param name="plan">The plan to be run.</param>
    /// <param name="seed">The seed of its documents.</param>
    /// <exception cref="OperationLimitException">The plan asks for what the system can't do.</exception>
    public abstract IDataStore OpenData(SystemRun run, Plan plan, ulong seed);

    /// <summary>Makes the executors of MongoPerf's own client: of a group's worker, counted from 0.</summary>
    /// <param name="run">The run on a deployment of this system.</param>
    /// <param name="plan">The plan to be run.</param>
    public abstract Func<GroupPlan, int, IOperationExecutor> OpenExecutors(SystemRun run, Plan plan);

    /// <summary>Refuses to touch a collection that MongoPerf did not create.</summary>
    /// <param name="deployment">Where it is.</param>
    /// <param name="ns">"database.collection".</param>
    /// <param name="isExisting">The run needs documents that are there already.</param>
    public abstract UserException Foreign(IDeployment deployment, string ns, bool isExisting);
}
