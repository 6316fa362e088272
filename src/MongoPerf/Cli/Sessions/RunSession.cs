using System.Diagnostics;
using System.Reflection;
using MongoPerf.Cli.Progress;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Execution.Tyrant;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;
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

    /// <summary>How long a lost server is waited for.</summary>
    public static TimeSpan ReconnectFor { get; } = TimeSpan.FromSeconds(60);

    public static IClock Clock => SystemClock.Instance;

    public RunFolder Folder { get; }

    public IDeployment Deployment { get; }

    public Inspection Inspection { get; }

    public ConnectionSettings Connections { get; }

    public RunRequest Request { get; }

    public DocumentGenerator Generator { get; private set; }

    public ProgressState Progress { get; }

    public WireCollection Collection { get; private set; }

    public SeriesSettings Settings => Request.Settings;

    public PhaseRunner Phases => new(
        Clock, () => new WireExecutor(() => Deployment.Address, Connections, Settings.Database, Settings.Collection, Generator, _keeper.BeforeReconnect));

    /// <summary>The same on a Tokyo Tyrant server.</summary>
    /// <param name="columns">Of its table.</param>
    public PhaseRunner TyrantPhases(TyrantColumns columns) => new(
        Clock, () => new TyrantExecutor(() => Deployment.Address, Connections, Generator, _keeper.BeforeReconnect) { Columns = columns });

    /// <summary>Starts or finds the server and asks it what it is.</summary>
    public static RunSession Open(RunFolder folder, RunRequest request)
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
                DataFolder = folder.DataPath,
            });
            deployment.EnsureRunning();
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
            _disk?.CheckBefore(documents, DiskGuard.MongodBytesPerDocument);
    }

    /// <inheritdoc cref="CheckDisk(long)"/>
    public void CheckDisk(long documents, long bytesPerDocument)
    {
        if (documents > 0)
            _disk?.CheckBefore(documents, bytesPerDocument);
    }

    /// <summary>One of a scenario's collections.</summary>
    public WireCollection OpenCollection(string name, IReadOnlyList<BsonDocument> indexes, BsonDocument? options) => new(
        () => Deployment.Address, Connections, Settings.Database, name, Generator, Clock, ReconnectFor, _keeper.BeforeReconnect, indexes, options);

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
    };

    /// <summary>Starts sampling and showing progress into this store.</summary>
    public void Begin(RunStore store)
    {
        _store = store;
        store.SetDeployment(Inspection.Info);
        if (Deployment is MongodDeployment { Program: var program })
            store.SetNote(ServerProgramNote, program);
        store.SetEnvironment(EnvironmentReader.Read(_dataFolder ?? Folder.Path, Inspection.IsOnThisMachine));
        _sampler = new BackgroundSampler(Clock, OpenSampler(), _dataFolder ?? Folder.Path, store, Progress);
        _view = ProgressView.Create(Progress, Request.Output.Quiet, Request.Output.NoTui);
        Progress.Tell($"run {Folder.Id} on {Describe(Inspection.Info)}");
        foreach (string remark in Inspection.Info.Remarks)
            Progress.Tell($"note: {remark}");
    }

    /// <summary>Ends sampling and the view; the server goes on until <see cref="Dispose"/>.</summary>
    public void End()
    {
        _view?.Dispose();
        _view = null;
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

    private IServerSampler OpenSampler() => Deployment is TyrantDeployment
        ? new TyrantSampler(() => Deployment.Address, Connections)
        : new ServerSampler(() => Deployment.Address, Connections);

    private WireCollection OpenCollection() =>
        new(() => Deployment.Address, Connections, Settings.Database, Settings.Collection, Generator, Clock, ReconnectFor, _keeper.BeforeReconnect);

    private void TellRestart()
    {
        var happened = new RunEvent(Clock.UtcNow.ToUnixTimeMilliseconds(), "restart", $"the server had ended and was started again on {Deployment.Address}");
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
        : $"{(info.Topology == "sharded" ? "mongos" : "mongod")} {info.ServerVersion}, {info.Topology}, {info.Address}";

    /// <summary>What matters is whether the compiler optimised: `dotnet run` builds "Debug", optimised all the same.</summary>
    private static string BuildKind =>
        typeof(RunSession).Assembly.GetCustomAttribute<DebuggableAttribute>()?.IsJITOptimizerDisabled == true ? "Debug" : "Release";
}
