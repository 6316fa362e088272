using MongoPerf.Measurement;
using MongoPerf.Reports.Access;
using MongoPerf.Running.Progress;
using MongoPerf.Storage;
using Serilog;
using Serilog.Core;

namespace MongoPerf.Running.Sessions;

/// <summary>Says what happens in a run: in run.db while that is set, in the run's progress, and in run.log. Safe for all threads.</summary>
internal sealed class RunLog : IDisposable
{
    /// <summary>
    /// The most bytes of run.log; what is beyond goes to run_001.log and so on, of which the last <see cref="FileCount"/> stay.
    /// </summary>
    private const int FileBytes = 16_000_000;
    private const int FileCount = 2;

    private readonly Logger _file;

    /// <param name="folder">The run's folder, which gets run.log.</param>
    /// <param name="request">What is run.</param>
    /// <param name="deployment">Where it is run.</param>
    public RunLog(RunFolder folder, RunRequest request, DeploymentInfo deployment)
    {
        string path = Path.Combine(folder.Path, "run.log");
        RequireFiles(folder.Path);
        _file = new LoggerConfiguration()
            .WriteTo.File(
                path, outputTemplate: "{Timestamp:yyyy-MM-dd HH:mm:ss.fff} {Message:lj}{NewLine}", formatProvider: null,
                fileSizeLimitBytes: FileBytes, rollOnFileSizeLimit: true, retainedFileCountLimit: FileCount)
            .CreateLogger();
        Deployment = Describe(deployment, request.Settings.Engine);
        using (Words.InEnglish())
            (Access, Untold) = (AccessText.Of(deployment), UntoldText.Warning(deployment));
        Progress = new ProgressState(folder.Id, request.Plan.Plan, request.Place);
        Progress.SetDeployment(Deployment);
        Progress.Line += line => _file.Information("{Line:l}", line);
    }

    public ProgressState Progress { get; }

    /// <summary>
    /// The deployment, such as "mongod 6.0.5, standalone, 127.0.0.1:27017", and the client when it is not MongoPerf's own.
    /// </summary>
    public string Deployment { get; }

    /// <summary>What the run's user may see and do there, in English; null where there is nothing to say.</summary>
    public string? Access { get; }

    /// <summary>
    /// What a server of a version newer than MongoPerf knows does not tell, in English; null where there is nothing to say.
    /// </summary>
    public string? Untold { get; }

    /// <summary>Gets the events; null before the run begins, and when it has ended.</summary>
    public RunStore? Store { get; set; }

    public void Report(string kind, string text, double? seconds = null) =>
        Report(new RunEvent(SystemClock.Instance.UtcNow.ToUnixTimeMilliseconds(), kind, text, seconds));

    public void Report(RunEvent happened)
    {
        Store?.AddEvent(happened);
        Progress.OnEvent(happened);
    }

    public void Show(string line) => Progress.Show(line);

    public void Dispose() => _file.Dispose();

    /// <summary>Serilog would follow a link, and wait at a pipe: in run.log's place, or in that of one that it goes on in.</summary>
    internal static void RequireFiles(string runFolder)
    {
        foreach (string file in Directory.EnumerateFileSystemEntries(runFolder, "run*.log"))
        {
            if (OwnFiles.FindFault(file) is { } fault)
                throw new RunStoreException($"{file} {fault}; a run's log is a file\nhint:  to use the run, remove it");
        }
    }

    private static string Describe(DeploymentInfo info, EngineSettings engine) =>
        Describe(info) + (engine.Kind == EngineKind.Wire ? "" : $", through MongoDB.Driver {engine.Version}".TrimEnd());

    private static string Describe(DeploymentInfo info) =>
        info.IsEmbedded
            ? $"embedded server (not MongoDB){(info.ShardCount is { } shards ? $" as a mongos of {shards} shards" : "")}, {info.Address}"
        : info.OtherSystem is { } system ? $"{system} {info.ServerVersion}, {info.StorageEngine} database, {info.Address}"
        : info.Topology == Topology.Null ? $"null deployment (not MongoDB), {info.Address}"
        : $"{info.StandIn ?? $"{info.Router ?? "mongod"} {info.VersionText}"}, {info.ShapeText}, {info.Address}";
}
