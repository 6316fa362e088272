using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Executors;
using MongoPerf.Engine.Executors.Tyrant;
using MongoPerf.Engine.Executors.Wire;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Phases;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Sharding;
using MongoPerf.Input;
using MongoPerf.Reporting.Sharding;
using MongoPerf.Running.Progress;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using Serilog;
using Serilog.Core;

namespace MongoPerf.Running.Sessions;

/// <summary>Everything that one execution of a run has open: server, store, samplers, progress, log.</summary>
/// <remarks>Opened before anything is measured, disposed of when all is over; the server that the run started ends with it.</remarks>
internal sealed class RunSession : IDisposable
{
    private readonly Logger _log;
    private readonly DiskGuard? _disk;
    private readonly string? _dataFolder;
    private readonly ServerKeeper _keeper;
    private readonly string? _token;
    private readonly WriterLeases? _leases;
    private readonly LeaseKeeper? _keptLeases;
    private IExecutorSource? _client;
    private RunStore? _store;
    private BackgroundSampler? _sampler;
    private ClusterWatch? _watch;
    private ProgressView? _view;

    private RunSession(RunFolder folder, IDeployment deployment, Inspection inspection, ConnectionSettings connections, RunRequest request, string? token)
    {
        Folder = folder;
        Deployment = deployment;
        Inspection = inspection;
        Connections = connections;
        Request = request;
        _token = token;
        _keeper = new ServerKeeper(deployment);
        _keeper.StartedAgain += () => Report("restart", deployment.RestartText);
        if (Settings.Data.Sharding is not null)
            Cluster = new ClusterControl(deployment.RequireCluster, connections, Settings.Data.Database, Clock, line => Report("balancer", line));
        _dataFolder = inspection.DataFolder;
        _disk = _dataFolder is null || deployment.Kind == DeploymentKind.Null ? null : new DiskGuard(_dataFolder);
        string log = Path.Combine(folder.Path, "run.log");
        OwnFiles.RefuseLink(log);
        _log = new LoggerConfiguration()
            .WriteTo.File(
                log, outputTemplate: "{Timestamp:yyyy-MM-dd HH:mm:ss.fff} {Message:lj}{NewLine}", formatProvider: null,
                fileSizeLimitBytes: LogBytes, rollOnFileSizeLimit: true, retainedFileCountLimit: LogFiles)
            .CreateLogger();
        Progress = new ProgressState(folder.Id, request.Plan.Plan, request.Place);
        Progress.SetDeployment(Describe(inspection.Info, Settings.Engine));
        Progress.Line += line => _log.Information("{Line:l}", line);
        // Of several agents the first holds the leases for all.
        if (deployment.Kind is DeploymentKind.Null or DeploymentKind.Tyrant || request.Agent is { Share.IsFirst: false })
            return;
        _leases = new WriterLeases(Settings.Data.Database, folder.Id, token, LeaseKeeper.Length);
        _keptLeases = new LeaseKeeper(_leases, () => Deployment.Address, connections, Clock);
    }

    /// <summary>Of the stored run: full path of the mongod that it started.</summary>
    public const string ServerProgramNote = "server program";

    /// <summary>Of the stored run: the kind of server that it chose, there before the server is.</summary>
    public const string ServerKindNote = "server kind";

    /// <summary>Of run.log; what is beyond goes to run_001.log and so on, of which the last <see cref="LogFiles"/> stay.</summary>
    private const int LogBytes = 16_000_000;
    private const int LogFiles = 2;

    private static IClock Clock => SystemClock.Instance;

    public RunFolder Folder { get; }

    public IDeployment Deployment { get; }

    public Inspection Inspection { get; }

    public ConnectionSettings Connections { get; }

    public RunRequest Request { get; }

    public ProgressState Progress { get; }

    /// <summary>What a scenario's operations do behind the router of a sharded deployment; null for any other.</summary>
    public ClusterControl? Cluster { get; }

    public RunSettings Settings => Request.Settings;

    /// <summary>The deployment is the run's own, and holds nothing but what the run writes.</summary>
    public bool StartsEmpty => Settings.Deployment is { Uri: null, ClusterFolder: null };

    /// <summary>Runs groups of threads on the system that the deployment is.</summary>
    public GroupRunner OpenGroups(Plan plan)
    {
        if (_client is { } client)
            return new GroupRunner(Clock, (_, _) => client.OpenExecutor()) { Hurry = Connections.Stop };
        if (Deployment is not TyrantDeployment)
            return new GroupRunner(Clock, OpenWire) { Hurry = Connections.Stop };
        TyrantColumns columns = TyrantDataStore.ColumnsOf(plan);
        return new GroupRunner(Clock, (_, _) => new TyrantExecutor(() => Deployment.Address, Connections, columns, _keeper.BeforeReconnect)) { Hurry = Connections.Stop };
    }

    /// <summary>The plan's collections on the system that the deployment is.</summary>
    /// <param name="plan">To be run.</param>
    /// <param name="seed">Of its documents.</param>
    public IDataStore OpenData(Plan plan, ulong seed)
    {
        if (Deployment is not TyrantDeployment)
            return new WireDataStore(stored => OpenCollection(stored, plan.TargetOf(stored.Name)), seed, Folder.Id, _token);
        TyrantDataStore.Check(plan);
        return new TyrantDataStore(() => Deployment.Address, Connections, seed, Folder.Id, Clock, ReconnectTime.Read(), _keeper.BeforeReconnect);
    }

    /// <summary>A worker's executor, with connections for what its group does.</summary>
    private WireExecutor OpenWire(GroupPlan group, int worker) =>
        new(preference => Deployment.Select(preference, group.FirstThread + worker + group.Share.Index), Connections, Settings.Data.Database, _keeper.BeforeReconnect)
        {
            Cluster = Cluster,
            Preferences = WireExecutor.PreferencesOf(group.Operations.Select(item => item.Operation), Connections.ReadPreference),
        };

    /// <summary>Starts or finds the server and asks it what it is.</summary>
    /// <param name="folder">Of the run.</param>
    /// <param name="request">What to run.</param>
    /// <param name="store">Notes which server a new run chose before that is started, so that a run which is killed meanwhile continues on the same.</param>
    /// <param name="stop">Ends every wait for a server.</param>
    public static RunSession Open(RunFolder folder, RunRequest request, RunStore store, CancellationToken stop)
    {
        ServerAddress? tyrant = request.Uri is null ? null : ServerUri.ReadTyrant(request.Uri);
        (IReadOnlyList<ServerAddress>? hosts, ConnectionSettings connections) = tyrant is null && request.Uri is { } uri
            ? ServerUri.Read(uri, request.Settings.Engine.Kind, stop)
            : (null, ConnectionSettings.Default);
        if (tyrant is null && !request.DatabaseWasGiven && request.Uri is not null && ServerUri.UnusedDatabase(request.Uri, request.Settings.Data.Database) is { } unused)
            Console.Error.WriteLine($"warning: --uri: {unused}");
        connections = connections with { Stop = stop };
        IDeployment? kept = request.Server?.Deployment;
        IDeployment? deployment = null;
        try
        {
            // Data in another run's folder go with the server.
            if (kept is not null)
                store.SetNote(StoredRun.DeletedNote, DateTimeOffset.UtcNow.ToString("O"));
            else if (request.StartsServer)
                new RunDataFolder(folder.Path, store.Token).Claim();
            deployment = kept ?? DeploymentFactory.Create(new DeploymentRequest
            {
                Settings = request.Settings.Deployment,
                Hosts = hosts,
                Tyrant = tyrant,
                Connections = connections,
                RequiredKind = request.RequiredKind,
                ServerProgram = request.ServerProgram,
                DataFolder = folder.DataPath,
                RunFolder = folder.Path,
            });
            if (request.RequiredKind is null)
                NoteServer(store, deployment);
            deployment.EnsureRunning();
            if (request.Settings.Data.Sharding is not null && deployment.Cluster is null)
                throw new UserException(ExitCode.WrongUsage, $"{deployment.Address} is not a sharded deployment", "--topology sharded needs a mongos in --uri, or starts a cluster without --uri");
            if (request.Settings.Deployment.Topology == Topology.ReplicaSet && deployment.Cluster is not null)
                throw new UserException(ExitCode.WrongUsage, $"{deployment.DataFolder} holds a sharded cluster, but --topology is replicaset", "omit --topology");
            if (deployment.Connections is { } own)
                connections = own with { Stop = stop };
            RequireMembers(deployment, request.Plan.Plan, connections);
            connections = connections with { Dialect = deployment.Cluster?.Dialect ?? connections.Dialect };
            RequireRouter(request, connections.Dialect);
            Inspection inspection = DeploymentInspector.Inspect(deployment, connections, NamespaceOf(request));
            if (!inspection.HasJournal && !request.Settings.Data.IsExisting)
                throw new UserException(ExitCode.WrongUsage, $"{deployment.Address}: this server runs without a journal, and a resumed run relies on the journal", "start it with its journal (without --nojournal)");
            var session = new RunSession(folder, deployment, inspection, connections, request, store.Token);
            session.OpenClient();
            return session;
        }
        catch
        {
            if (kept is null)
                deployment?.Dispose();
            throw;
        }
    }

    /// <summary>Reads that no member fits would wait for one in the middle of the run.</summary>
    /// <exception cref="ConnectionFailedException">One of the plan's operations finds no server.</exception>
    private static void RequireMembers(IDeployment deployment, Plan plan, ConnectionSettings connections)
    {
        foreach (ReadPreference preference in WireExecutor.PreferencesOf(plan.Operations, connections.ReadPreference))
            deployment.Select(preference, 0);
    }

    /// <summary>Refuses a run that would fill the disk (exit code 6).</summary>
    /// <param name="documents">Still to be written, more than none.</param>
    /// <param name="bytesPerDocument">Of BSON.</param>
    public void CheckDisk(long documents, double bytesPerDocument) =>
        _disk?.CheckBefore(documents, Deployment.BytesPerDocument(documents) / 1024 * bytesPerDocument);

    /// <summary>Refuses batches that the server does not take: in the middle of a run that could not be mended.</summary>
    public void CheckBatches(Plan plan)
    {
        if (Deployment is TyrantDeployment)
            return;
        InsertDocuments[] inserts = [.. plan.Operations.OfType<InsertDocuments>()];
        if (inserts.Length == 0)
            return;
        using MongoConnection connection = MongoConnection.Open(Deployment.Address, Connections);
        foreach (InsertDocuments insert in inserts)
            BatchLimit.Check(connection.Server, insert);
    }

    /// <summary>One of the plan's collections; on a sharded deployment it is sharded by its own key, or by the command line's, or lies on the shard that it names.</summary>
    /// <param name="collection">Of the plan.</param>
    /// <param name="target">Its documents at the end.</param>
    private WireCollection OpenCollection(StoredCollection collection, long target)
    {
        var access = new CollectionAccess(() => Deployment.Select(ReadPreference.Primary, 0), Connections, Settings.Data.Database, Clock, ReconnectTime.Read(), _keeper.BeforeReconnect)
        {
            Leases = _leases,
            Members = () => Deployment.Readable,
            Tell = line => Report("counters", line),
        };
        var shape = new CollectionShape(collection.Indexes, collection.Options);
        if (Settings.Data.Sharding is not { } asked)
            return new WireCollection(access, collection.Name, collection.Documents, shape);
        var sharding = new ShardingPlan(Deployment.RequireCluster, Connections, asked, Math.Max(collection.Count, target))
        {
            Documents = collection.Documents,
            Key = collection.Shard is not null ? ShardKey.Parse("_id") : collection.ShardKey is { } key ? ShardKey.Of(key) : null,
            OnlyShard = collection.Shard - 1,
            Tell = line => Progress.Tell(line),
        };
        return new WireCollection(
            access, collection.Name, collection.Documents, shape, commands => new ShardedAdministration(sharding, Settings.Data.Database, collection.Name, Clock, commands));
    }

    /// <inheritdoc cref="RequireShards(IEnumerable{StoredCollection}, int)"/>
    public void RequireShards(IEnumerable<StoredCollection> collections)
    {
        if (Cluster is not null)
            RequireShards(collections, Deployment.Cluster?.Shards.Count ?? 0);
    }

    /// <exception cref="UserException">The cluster has not the shard that a collection names.</exception>
    public static void RequireShards(IEnumerable<StoredCollection> collections, int shards)
    {
        if (collections.FirstOrDefault(c => c.Shard > shards) is { } wrong)
            throw new UserException(ExitCode.WrongUsage, $"collection '{wrong.Name}': shard is {wrong.Shard}; allowed: 1 to {shards}, the cluster's shards", $"--shards {wrong.Shard} starts a larger cluster");
    }

    /// <exception cref="UserException">The run's client can't use a router of this dialect.</exception>
    public static void RequireRouter(RunRequest request, CommandDialect dialect)
    {
        if (request.Settings.Engine.Kind == EngineKind.Driver && dialect != CommandDialect.Plain)
            throw new UserException(ExitCode.WrongUsage, "--engine driver needs a mongos: this cluster is routed by a mongod, which uses command names of its own", "use --engine wire, or install a server with a mongos ('mongoperf server install')");
    }

    /// <summary>Stores how a cluster holds the plan's collections now, and says where that is not what shards are for; nothing for any other deployment.</summary>
    public void NoteCollections(Plan plan)
    {
        if (Deployment.Cluster is not { } cluster)
            return;
        IReadOnlyList<CollectionSharding> collections = ShardingFacts.Read(cluster, Connections, Settings.Data.Database, plan.Collections);
        _store?.SetDeployment(Inspection.Info with { Collections = collections });
        // Progress and run.log are English.
        using IDisposable english = Words.InEnglish();
        foreach (string text in collections.Select(ShardVerdict.Crowded).OfType<string>())
            Progress.Tell($"warning: {text}");
    }

    /// <summary>A sentence when another run has taken a collection over, or the disk is nearly full; null when neither is so.</summary>
    public string? ReasonToStop()
    {
        if ((_leases?.Lost ?? Request.Agent?.ReasonToStop()) is { } why)
            return why;
        return _disk is not null && _disk.IsLow(out string text) ? text : null;
    }

    public DiskUse? MeasureDisk() => _dataFolder is null ? null : DataFolderSize.Read(_dataFolder);

    /// <param name="folder">Of the run.</param>
    /// <param name="request">What it is to do.</param>
    public static RunInfo DescribeRun(RunFolder folder, RunRequest request) => new()
    {
        Id = folder.Id,
        Seed = request.Seed,
        Version = ThisBuild.Version,
        BuildKind = ThisBuild.Kind,
        CommandLine = request.CommandLine,
        StartedAt = DateTimeOffset.UtcNow,
        Part = request.Agent?.Part,
        Try = request.Try,
        Repeat = request.Repeat is { } repeat ? new RepeatOf(repeat.Group ?? folder.Id, repeat.Number, repeat.Count) : null,
    };

    /// <summary>Starts sampling and showing progress into this store.</summary>
    public void Begin(RunStore store, Plan plan)
    {
        _store = store;
        if (Request.Server is { } server)
            server.Deployment = Deployment;
        store.SetDeployment(Inspection.Info);
        NoteServer(store, Deployment);
        store.SetEnvironment(ReadEnvironment());
        var samplers = new RunSamplers(Deployment, Connections);
        _sampler = new BackgroundSampler(
            Clock, samplers.Servers(), new HostSampler(_dataFolder ?? Folder.Path, ServerProcesses),
            samplers.Shards(new ShardedNamespace(Settings.Data.Database, plan.MainCollection ?? ""), store.Run.StartedAt), store, Progress,
            Request.Agent is { } agent ? agent.Postpone : static () => null);
        // No connection of the client's tells of a shard or a secondary that ended.
        if (Deployment.Cluster is not null || Deployment.Members.Count > 1)
            _watch = new ClusterWatch(Deployment, _keeper, Connections, Clock, happened => Report(happened.Kind, happened.Text, happened.Seconds));
        _view = ProgressView.Create(Progress, Request.Output.Quiet, Request.Output.NoTui);
        Request.Live?.Begin(Folder.Path, Request.Output.Quiet ? Console.Error.WriteLine : Progress.Tell);
        Progress.Tell($"run {Folder.Id} on {(Settings.Deployment.Name is { } called ? $"'{called}': " : "")}{Describe(Inspection.Info, Settings.Engine)}");
        foreach (string remark in Inspection.Info.Remarks)
            Progress.Tell($"note: {remark}");
        if (Settings.Data.Sharding is null && Deployment.Cluster is not null)
            Progress.Tell("note: the collections are not sharded and live on one shard; --topology sharded spreads them");
    }

    private EnvironmentInfo ReadEnvironment()
    {
        EnvironmentInfo environment = EnvironmentReader.Read(_dataFolder ?? Folder.Path, Inspection.IsOnThisMachine) with { Clock = CompareClock() };
        // Calibrated is MongoPerf's own client, and the null deployment is what it was calibrated on.
        if (Request.Engine is not null || Deployment.Kind is DeploymentKind.Null or DeploymentKind.Tyrant || CalibrationFolder.OfUser() is not { } calibrations)
            return environment;
        ClientCalibration? found = calibrations.Find(environment.CpuModel, out string? problem);
        if (problem is not null)
            Progress.Tell($"warning: calibration not used: {problem}");
        return environment with { Calibration = found };
    }

    /// <summary>By the server's clock runs of several clients are laid over each other.</summary>
    private ClientClock? CompareClock()
    {
        if (Request.Agent is { } agent)
            return agent.CompareClock();
        if (Deployment is TyrantDeployment)
            return null;
        using MongoConnection connection = MongoConnection.Open(Deployment.Address, Connections);
        return ServerClock.Compare(connection, Clock);
    }

    /// <summary>Null when they are on this machine and not known: of several that were given only one says who it is.</summary>
    private IReadOnlyList<int>? ServerProcesses() =>
        !Inspection.IsOnThisMachine ? []
        : Deployment.ProcessIds is { Count: > 0 } known ? known
        : Inspection.Info is { ProcessId: { } id, Topology: not (Topology.ReplicaSet or Topology.Sharded) } ? [id]
        : null;

    public void Report(string kind, string text, double? seconds = null)
    {
        var happened = new RunEvent(Clock.UtcNow.ToUnixTimeMilliseconds(), kind, text, seconds);
        _store?.AddEvent(happened);
        Progress.OnEvent(happened);
    }

    /// <summary>Ends the run's own server and starts it again; its address stays. Nobody may be at work on it but the samplers, which look for it again.</summary>
    /// <param name="how">Cleanly, or by kill -9; cold makes the system forget the server's files meanwhile.</param>
    /// <exception cref="DeploymentException">It does not end, or does not start.</exception>
    public void RestartServer(ServerRestart how)
    {
        long begun = Clock.Now;
        bool kills = how == ServerRestart.Kill;
        ServerEnd.Wait(Deployment, kills);
        Report(kills ? RunEvent.Kill : RunEvent.CleanStop, kills ? "the server was killed" : "the server was stopped cleanly", Clock.SecondsBetween(begun, Clock.Now));
        if (how == ServerRestart.Cold)
            ServerEnd.ForgetFiles(Deployment);
        long started = Clock.Now;
        Deployment.EnsureRunning();
        using (MongoConnection connection = MongoConnection.Open(Deployment.Address, Connections))
            connection.RunLongCommand(Settings.Data.Database, BsonDocument.Of(("find", WireCollection.MarkerCollection), ("limit", 1), ("singleBatch", true)));
        Report(RunEvent.FirstAnswer, "from server start to the reply to the first query", Clock.SecondsBetween(started, Clock.Now));
        Report(
            how == ServerRestart.Cold ? RunEvent.ColdStart : RunEvent.WarmStart,
            $"the server was {(kills ? "killed" : "stopped")} and restarted on {Deployment.Address}{(how == ServerRestart.Cold ? ", its files dropped from the page cache" : "")}", Clock.SecondsBetween(begun, Clock.Now));
    }

    /// <summary>Ends sampling and the view; the server keeps running until <see cref="Dispose"/>.</summary>
    public void End()
    {
        _view?.Dispose();
        _view = null;
        _watch?.Dispose();
        _watch = null;
        _sampler?.Dispose();
        _sampler = null;
        _store = null;
    }

    public void Dispose()
    {
        End();
        Request.Live?.End();
        _keptLeases?.Dispose();
        _client?.Dispose();
        if (Request.Server?.Deployment != Deployment)
            Deployment.Dispose();
        _log.Dispose();
    }

    /// <exception cref="ConnectionStringException">The client does not take the connection string.</exception>
    private void OpenClient() => _client = Request.Engine?.Open(new ClientOptions
    {
        Uri = Request.Uri,
        Address = () => Deployment.Address,
        Members = Deployment.Members,
        Connections = Connections,
        Database = Settings.Data.Database,
        Workers = ConnectionRoom.ThreadsOf(Request.Plan.Plan),
        Cluster = Cluster,
        BeforeReconnect = _keeper.BeforeReconnect,
    });

    private static void NoteServer(RunStore store, IDeployment deployment)
    {
        store.SetNote(ServerKindNote, deployment.Kind.ToString());
        if (deployment.Program is { } program)
            store.SetNote(ServerProgramNote, program);
    }

    private static string NamespaceOf(RunRequest request) =>
        $"{request.Settings.Data.Database}.{request.Plan.Plan.MainCollection ?? "*"}";

    /// <summary>Such as "mongod 6.0.5, standalone, 127.0.0.1:27017", and the client when it is not MongoPerf's own.</summary>
    public static string Describe(DeploymentInfo info, EngineSettings engine) => Describe(info) + (engine.Kind == EngineKind.Wire ? "" : $", through MongoDB.Driver {engine.Version}".TrimEnd());

    private static string Describe(DeploymentInfo info) =>
        info.IsEmbedded ? $"embedded server (not MongoDB), {info.Address}"
        : info.Kind == DeploymentKind.Tyrant ? $"Tokyo Tyrant {info.ServerVersion}, {info.StorageEngine} database, {info.Address}"
        : info.Topology == Topology.Null ? $"null deployment, {info.Address}"
        : $"{info.Router ?? "mongod"} {info.ServerVersion}, {info.ShapeText}, {info.Address}";
}
