using System.Diagnostics;
using System.Reflection;
using MongoPerf.Cli.Progress;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Engine.Execution.Tyrant;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Wire.Connections;
using Serilog;
using Serilog.Core;

namespace MongoPerf.Cli.Sessions;

/// <summary>Everything that one execution of a run has open: server, store, samplers, progress, log.</summary>
/// <remarks>Opened before anything is measured, disposed of when all is over; the server that the run started ends with it.</remarks>
internal sealed class RunSession : IDisposable
{
    private readonly Logger _log;
    private readonly DiskGuard? _disk;
    private readonly string? _dataFolder;
    private readonly ServerKeeper _keeper;
    private RunStore? _store;
    private BackgroundSampler? _sampler;
    private ClusterWatch? _watch;
    private ProgressView? _view;

    private RunSession(RunFolder folder, IDeployment deployment, Inspection inspection, ConnectionSettings connections, RunRequest request, DocumentGenerator generator)
    {
        Folder = folder;
        Deployment = deployment;
        Inspection = inspection;
        Connections = connections;
        Request = request;
        Generator = generator;
        _keeper = new ServerKeeper(deployment);
        _keeper.StartedAgain += TellRestart;
        Collection = OpenCollection();
        Cluster = Settings.Sharding is null ? null : new ClusterControl(
            FindCluster, connections, Settings.Database, Clock, line => Report(new RunEvent(Clock.UtcNow.ToUnixTimeMilliseconds(), "balancer", line)));
        _dataFolder = inspection.DataFolder;
        _disk = _dataFolder is null || deployment.Kind == "null" ? null : new DiskGuard(_dataFolder);
        _log = new LoggerConfiguration()
            .WriteTo.File(Path.Combine(folder.Path, "run.log"), outputTemplate: "{Timestamp:yyyy-MM-dd HH:mm:ss.fff} {Message:lj}{NewLine}", formatProvider: null)
            .CreateLogger();
        Progress = new ProgressState(folder.Id, request.Settings, showEta: request.Kind == "series");
        Progress.SetDeployment(Describe(inspection.Info));
        Progress.Line += line => _log.Information("{Line:l}", line);
    }

    /// <summary>Of the stored run: full path of the mongod that it started.</summary>
    public const string ServerProgramNote = "server program";

    /// <summary>Of the stored run: the kind of server that it chose, there before the server is.</summary>
    public const string ServerKindNote = "server kind";

    /// <summary>Shortens <see cref="ReconnectFor"/>, for tests of a server that stays away.</summary>
    private const string ReconnectVariable = "MONGOPERF_RECONNECT";

    /// <summary>How long a lost server is waited for: a minute, unless the environment says otherwise.</summary>
    /// <exception cref="UserException">It says so in another form than 90s, 500ms or 10m.</exception>
    public static TimeSpan ReconnectFor => TimeSpan.FromSeconds(ReadReconnectSeconds());

    public static IClock Clock => SystemClock.Instance;

    public RunFolder Folder { get; }

    public IDeployment Deployment { get; }

    public Inspection Inspection { get; }

    public ConnectionSettings Connections { get; }

    public RunRequest Request { get; }

    public DocumentGenerator Generator { get; private set; }

    public ProgressState Progress { get; }

    public WireCollection Collection { get; private set; }

    /// <summary>What a scenario's operations do behind the router of a sharded deployment; null for any other.</summary>
    public ClusterControl? Cluster { get; }

    public SeriesSettings Settings => Request.Settings;

    public PhaseRunner Phases => new(
        Clock, () => new WireExecutor(() => Deployment.Address, Connections, Settings.Database, Settings.Collection, Generator, _keeper.BeforeReconnect) { Cluster = Cluster });

    /// <summary>The same on a Tokyo Tyrant server.</summary>
    /// <param name="columns">Of its table.</param>
    public PhaseRunner TyrantPhases(TyrantColumns columns) => new(
        Clock, () => new TyrantExecutor(() => Deployment.Address, Connections, Generator, _keeper.BeforeReconnect) { Columns = columns });

    /// <summary>Starts or finds the server and asks it what it is.</summary>
    /// <param name="folder">Of the run.</param>
    /// <param name="request">What is asked for.</param>
    /// <param name="store">Of a run that is stored already: it notes which server was chosen before that is started, so that a run which is
    /// killed meanwhile goes on on the same.</param>
    public static RunSession Open(RunFolder folder, RunRequest request, RunStore? store = null)
    {
        ServerAddress? tyrant = request.Uri is null ? null : ServerUri.ReadTyrant(request.Uri);
        if (tyrant is not null && request.Kind != "scenario")
            throw new UserException(ExitCode.WrongUsage, "--uri: Tokyo Tyrant runs scenarios; the series and its tests are MongoDB's", "name a scenario file: ./mongoperf run FILE --uri tyrant://HOST");
        (IReadOnlyList<ServerAddress>? hosts, ConnectionSettings connections) = tyrant is null && request.Uri is { } uri
            ? ServerUri.Read(uri)
            : (null, ConnectionSettings.Default);
        IDeployment? deployment = null;
        try
        {
            deployment = DeploymentFactory.Create(new DeploymentSettings
            {
                Topology = request.Settings.Topology,
                Hosts = hosts,
                Tyrant = tyrant,
                Connections = connections,
                Mongod = request.Settings.MongodPath,
                RequiredKind = request.RequiredKind,
                ServerProgram = request.ServerProgram,
                CacheBytes = request.Settings.CacheBytes,
                MemoryLimitBytes = request.Settings.MemoryLimitBytes,
                Cpus = request.Settings.Cpus,
                Cluster = request.Settings.Cluster,
                DataFolder = folder.DataPath,
            });
            if (store is not null)
                NoteServer(store, deployment);
            deployment.EnsureRunning();
            if (request.Settings.Sharding is not null && deployment.Cluster is null)
                throw new UserException(ExitCode.WrongUsage, $"{deployment.Address} is no sharded deployment", "--topology sharded needs a mongos, or a mongod 6.0 or later to start one with");
            connections = connections with { Dialect = deployment.Cluster?.Dialect ?? connections.Dialect };
            Inspection inspection = DeploymentInspector.Inspect(deployment, connections, $"{request.Settings.Database}.{request.Settings.Collection}");
            if (tyrant is null)
                BatchLimit.Check(deployment.Address, connections, request.Settings.BatchSize);
            return new RunSession(folder, deployment, inspection, connections, request, new DocumentGenerator(request.Seed, request.Settings.Compressibility));
        }
        catch
        {
            deployment?.Dispose();
            throw;
        }
    }

    /// <summary>Goes on with the documents of a collection that is there, whatever seed they were made with.</summary>
    public void Adopt(CollectionMarker marker)
    {
        Generator = new DocumentGenerator(marker.Seed, marker.Compressibility);
        Collection.Dispose();
        Collection = OpenCollection();
    }

    /// <summary>Refuses a run that would fill the disk (exit code 6).</summary>
    public void CheckDisk(long documents)
    {
        if (documents > 0)
            _disk?.CheckBefore(documents, Deployment.BytesPerDocument(documents));
    }

    /// <inheritdoc cref="CheckDisk(long)"/>
    public void CheckDisk(long documents, long bytesPerDocument)
    {
        if (documents > 0)
            _disk?.CheckBefore(documents, bytesPerDocument);
    }

    /// <summary>One of a scenario's collections; on a sharded deployment it is sharded by its own key, or by the command line's, or lies on the shard that it names.</summary>
    public WireCollection OpenCollection(StoredCollection collection)
    {
        ShardingPlan? sharding = Settings.Sharding is not { } asked ? null : new ShardingPlan(FindCluster, Connections, asked with { Presplit = null }, collection.Count)
        {
            Key = collection.Shard is not null ? ShardKey.Parse("_id") : collection.ShardKey is { } key ? ShardKey.Of(key) : null,
            OnlyShard = collection.Shard - 1,
            Tell = line => Progress.Tell(line),
        };
        return new WireCollection(
            () => Deployment.Address, Connections, Settings.Database, collection.Name, Generator, Clock, ReconnectFor, _keeper.BeforeReconnect, sharding,
            new CollectionShape(collection.Indexes, collection.Options));
    }

    /// <exception cref="UserException">The cluster has not the shard that a collection names.</exception>
    public void RequireShards(IEnumerable<StoredCollection> collections)
    {
        int shards = Deployment.Cluster?.Shards.Count ?? 0;
        if (Cluster is not null && collections.FirstOrDefault(c => c.Shard > shards) is { } wrong)
            throw new UserException(ExitCode.WrongUsage, $"collection '{wrong.Name}': shard is {wrong.Shard}, the cluster has {shards}, allowed are 1 to {shards}", $"--shards {wrong.Shard} starts a cluster that has it");
    }

    /// <summary>The one table of a Tokyo Tyrant server.</summary>
    public TyrantScenarioData OpenTable(string runId) =>
        new(() => Deployment.Address, Connections, Request.Seed, runId, Clock, ReconnectFor, _keeper.BeforeReconnect);

    /// <summary>A sentence when the disk is nearly full; null when it is not.</summary>
    public string? ReasonToStop()
    {
        if (_disk is null)
            return null;
        _disk.Observe(Progress.Documents);
        Progress.SetDocumentsWhenDiskFull(_disk.DocumentsWhenFull);
        return _disk.IsLow(out string text) ? text : null;
    }

    public long? MeasureDisk() => _dataFolder is null ? null : DataFolderSize.ReadBytes(_dataFolder);

    /// <param name="folder">Of the run.</param>
    /// <param name="request">What was asked for.</param>
    /// <param name="seed">That of the documents, which a run on data that is there takes from them.</param>
    public static RunInfo DescribeRun(RunFolder folder, RunRequest request, ulong seed) => new()
    {
        Id = folder.Id,
        Kind = request.Kind,
        Seed = seed,
        Version = ProgramVersion,
        BuildKind = BuildKind,
        CommandLine = request.CommandLine,
        StartedAt = DateTimeOffset.UtcNow,
        Repeat = request.Repeat is { } repeat ? new RepeatOf(repeat.Group ?? folder.Id, repeat.Number, repeat.Count) : null,
    };

    /// <summary>Starts sampling and showing progress into this store.</summary>
    public void Begin(RunStore store)
    {
        _store = store;
        store.SetDeployment(Inspection.Info);
        NoteServer(store, Deployment);
        if (Request.DeploymentName is { } name)
            store.SetNote(StoredRun.DeploymentNote, name);
        store.SetEnvironment(EnvironmentReader.Read(_dataFolder ?? Folder.Path, Inspection.IsOnThisMachine));
        var samplers = new RunSamplers(Deployment, Connections);
        _sampler = new BackgroundSampler(
            Clock, samplers.Servers(), new HostSampler(_dataFolder ?? Folder.Path),
            samplers.Shards(new ShardedNamespace(Settings.Database, Settings.Collection), store.Run.StartedAt), store, Progress);
        if (Deployment.Cluster is not null)
            _watch = new ClusterWatch(Deployment, _keeper, Connections, Clock, Report);
        _view = ProgressView.Create(Progress, Request.Output.Quiet, Request.Output.NoTui);
        Progress.Tell($"run {Folder.Id} on {(Request.DeploymentName is { } called ? $"'{called}': " : "")}{Describe(Inspection.Info)}");
        foreach (string remark in Inspection.Info.Remarks)
            Progress.Tell($"note: {remark}");
        if (Settings is { Sharding: not null, OrderedBatches: false })
            Progress.Tell("note: batches are unordered: an ordered one is cut at every change of shard (--ordered true asks for it)");
        if (Settings.Sharding is null && Deployment.Cluster is not null)
            Progress.Tell("note: the collection is not sharded and lies on one shard: --topology sharded spreads it");
    }

    /// <summary>Ends the run's own server cleanly and starts it again; its address stays. Nobody may be at work on it but the samplers, which look for it again.</summary>
    /// <param name="isCold">Meanwhile the system forgets the server's files.</param>
    /// <exception cref="DeploymentException">It does not end, or does not start.</exception>
    public void RestartServer(bool isCold)
    {
        long begun = Clock.Now;
        ServerEnd.Wait(Deployment, kills: false);
        if (isCold)
            ServerEnd.ForgetFiles(Deployment);
        Deployment.EnsureRunning();
        Report(new RunEvent(
            Clock.UtcNow.ToUnixTimeMilliseconds(), isCold ? RunEvent.ColdStart : RunEvent.WarmStart,
            $"the server was stopped and started again on {Deployment.Address}{(isCold ? "; meanwhile the system forgot its files" : "")}", Clock.SecondsBetween(begun, Clock.Now)));
    }

    /// <summary>Ends sampling and the view; the server goes on until <see cref="Dispose"/>.</summary>
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
        Collection.Dispose();
        Deployment.Dispose();
        _log.Dispose();
    }

    private static double ReadReconnectSeconds()
    {
        try
        {
            return Environment.GetEnvironmentVariable(ReconnectVariable) is { Length: > 0 } time ? Quantities.ParseDuration(time) : 60;
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"{ReconnectVariable}: {e.Message}");
        }
    }

    private static void NoteServer(RunStore store, IDeployment deployment)
    {
        store.SetNote(ServerKindNote, deployment.Kind);
        if (deployment.Program is { } program)
            store.SetNote(ServerProgramNote, program);
    }

    private WireCollection OpenCollection() => new(
        () => Deployment.Address, Connections, Settings.Database, Settings.Collection, Generator, Clock, ReconnectFor, _keeper.BeforeReconnect, PlanSharding());

    private ShardingPlan? PlanSharding() => Settings.Sharding is not { } sharding ? null : new ShardingPlan(FindCluster, Connections, sharding, Settings.TargetDocumentCount)
    {
        Tell = line => Progress.Tell(line),
    };

    private ShardedCluster FindCluster() => Deployment.Cluster ?? throw new ConnectionFailedException(Deployment.Address, "the parts of the cluster are not known just now");

    private void TellRestart() => Report(new RunEvent(Clock.UtcNow.ToUnixTimeMilliseconds(), "restart", Deployment.RestartText));

    private void Report(RunEvent happened)
    {
        _store?.AddEvent(happened);
        Progress.OnEvent(happened);
    }

    public static string ProgramVersion =>
        typeof(RunSession).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "unknown";

    /// <summary>Such as "mongod 6.0.5, standalone, 127.0.0.1:27017".</summary>
    public static string Describe(DeploymentInfo info) =>
        info.IsEmbedded ? $"embedded server (not MongoDB), {info.Address}"
        : info.Kind == TyrantDeployment.KindName ? $"Tokyo Tyrant {info.ServerVersion}, {info.StorageEngine} database, {info.Address}"
        : info.Topology == "null" ? $"null deployment, {info.Address}"
        : $"{info.Router ?? "mongod"} {info.ServerVersion}, {info.Topology}, {info.Address}";

    /// <summary>What matters is whether the compiler optimised: `dotnet run` builds "Debug", optimised all the same.</summary>
    private static string BuildKind =>
        typeof(RunSession).Assembly.GetCustomAttribute<DebuggableAttribute>()?.IsJITOptimizerDisabled == true ? "Debug" : "Release";
}
