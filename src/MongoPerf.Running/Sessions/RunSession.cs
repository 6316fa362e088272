using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Reports.Sharding;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;

namespace MongoPerf.Running.Sessions;

/// <summary>Everything that one execution of a run has open: server, collections, executors, samplers, progress, log.</summary>
/// <remarks>Opened before anything is measured, disposed of when all is over; the server that the run started ends with it.</remarks>
internal sealed class RunSession : IDisposable
{
    private readonly ServerKeeper _keeper;
    private readonly SystemRun _run;
    private RunMonitor? _monitor;
    private IndexCounters _indexesBefore = IndexCounters.None;

    private RunSession(RunFolder folder, RunDeployment on, RunRequest request, string? token)
    {
        (Folder, On, Request) = (folder, on, request);
        Log = new RunLog(folder, request, on.Inspection.Info);
        _keeper = new ServerKeeper(on.Deployment);
        _keeper.StartedAgain += () => Log.Report("restart", on.Deployment.RestartText);
        if (Settings.Data.Sharding is not null)
            Cluster = new ClusterControl(on.Deployment.RequireCluster, on.Connections, Settings.Data.Database,
                (folder.Id, token), SystemClock.Instance, line => Log.Report("balancer", line));
        Guard = new RunGuard(on, request, folder.Id, token);
        _run = new SystemRun
        {
            Id = folder.Id, Token = token, Data = Settings.Data, Deployment = on.Deployment, Connections = on.Connections,
            ReconnectFor = ReconnectTime.Read(),
            BeforeReconnect = _keeper.BeforeReconnect, Leases = Guard.Leases, Cluster = Cluster,
            Report = (kind, text) => Log.Report(kind, text), Notify = Log.Show,
        };
        Executors = new RunExecutors(request, _run);
    }

    public RunFolder Folder { get; }

    public RunDeployment On { get; }

    public RunRequest Request { get; }

    public RunLog Log { get; }

    public RunGuard Guard { get; }

    public RunExecutors Executors { get; }

    /// <summary>What a scenario's operations do behind the router of a sharded deployment; null for any other.</summary>
    public ClusterControl? Cluster { get; }

    public RunSettings Settings => Request.Settings;

    /// <summary>Starts or finds the server, and opens what a run needs of it.</summary>
    /// <inheritdoc cref="RunDeployment.Open"/>
    public static RunSession Open(RunFolder folder, RunRequest request, RunStore store, CancellationToken stop)
    {
        RunDeployment on = RunDeployment.Open(folder, request, store, stop);
        try
        {
            return new RunSession(folder, on, AskedSharding.On(on, request, store), store.Token);
        }
        catch
        {
            EndServer(request, on.Deployment);
            throw;
        }
    }

    /// <summary>The plan's collections, where the run is.</summary>
    /// <inheritdoc cref="DatabaseSystem.OpenData"/>
    public IDataStore OpenData(Plan plan, ulong seed) => Request.System.OpenData(_run, plan, seed);

    /// <summary>Starts sampling and showing progress into this store.</summary>
    public void Begin(RunStore store, Plan plan)
    {
        DeploymentInfo deployment = On.Inspection.Info;
        Log.Store = store;
        if (Request.Server is { } server)
            server.Deployment = On.Deployment;
        store.SetDeployment(deployment);
        RunDeployment.Note(store, On.Deployment);
        store.SetEnvironment(ClientEnvironment.Read(this));
        if (On.Deployment.Cluster is { } cluster)
            _indexesBefore = FactsOf(cluster, plan).ReadIndexCounters();
        _monitor = new RunMonitor(this, _keeper, store, plan.MainCollection);
        Request.Live?.Begin(Folder.Path, Request.Output.Quiet ? Console.Error.WriteLine : Log.Show);
        Log.Show($"run {Folder.Id} on {(Settings.Deployment.Name is { } called ? $"'{called}': " : "")}{Log.Deployment}");
        if (Log.Access is { } access)
            Log.Show($"access: {access}");
        if (Log.Untold is { } untold)
            Log.Show($"warning: {untold}");
        foreach (string remark in deployment.Remarks)
            Log.Show($"note: {remark}");
        // Somebody may have sharded them, and a recording's are known when it is replayed.
        if (Settings.Data.Sharding is null && On.Deployment.Cluster is { Shards.Count: > 1 } shards && !plan.IsOnExistingData
            && plan.Collections.Any() && !FactsOf(shards, plan).AreSharded())
            Log.Show("note: the collections are not sharded and live on one shard; --topology sharded spreads them");
    }

    /// <summary>
    /// Stores how a cluster holds the plan's collections now, and says where that is not what shards are for; nothing for
    /// any other deployment.
    /// </summary>
    public void NoteCollections(Plan plan)
    {
        if (On.Deployment.Cluster is not { } cluster)
            return;
        IReadOnlyList<CollectionSharding> collections = FactsOf(cluster, plan).Read(_indexesBefore);
        Log.Store?.SetDeployment(On.Inspection.Info with { Collections = collections });
        // Progress and run.log are English.
        using IDisposable english = Words.InEnglish();
        foreach (string text in collections.Select(ShardVerdict.Crowded).OfType<string>())
            Log.Show($"warning: {text}");
    }

    private ShardingFacts FactsOf(ShardedCluster cluster, Plan plan) =>
        new(cluster, On.Connections, Settings.Data.Database, plan.Collections);

    /// <summary>Ends sampling and the view; the server keeps running until <see cref="Dispose"/>.</summary>
    public void End()
    {
        _monitor?.Dispose();
        _monitor = null;
        Log.Store = null;
    }

    public void Dispose()
    {
        End();
        Request.Live?.End();
        Guard.Dispose();
        Executors.Dispose();
        EndServer(Request, On.Deployment);
        Log.Dispose();
    }

    /// <summary>A server that several runs of a command use is ended by whoever keeps it.</summary>
    private static void EndServer(RunRequest request, IDeployment deployment)
    {
        if (request.Server?.Deployment != deployment)
            deployment.Dispose();
    }
}
