using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>A real mongod, standalone, started for the run on a free loopback port with the run's own data folder.</summary>
internal sealed class MongodDeployment : IDeployment
{
    private readonly ServerProcessOptions _options;
    private readonly ServerLimits _limits;
    private readonly SecurityFiles? _security;
    private ServerProcess? _server;
    private bool _needsUser;

    /// <param name="program">Which mongod.</param>
    /// <param name="dataFolder">Made when it is not there.</param>
    /// <param name="settings">Cache, limits, logins and TLS of it; its own default cache fits the memory that it is limited to.</param>
    /// <param name="interrupt">Ends the wait for its answer.</param>
    /// <exception cref="DeploymentException">
    /// The cache does not fit, there are not so many CPUs, or the folder holds the embedded server's data.
    /// </exception>
    public MongodDeployment(MongodProgram program, string dataFolder, DeploymentSettings settings, CancellationToken interrupt = default)
    {
        bool auth = settings.Auth is true, tls = settings.Tls is true;
        if (tls)
            SecurityFiles.RequireTls(program.Version);
        DataFolder = Path.GetFullPath(dataFolder);
        _limits = new ServerLimits(DataFolder, settings);
        DataFolderOwner.RefuseForMongod(DataFolder);
        Program = program.Path;
        _security = auth || tls ? new SecurityFiles(DataFolder, auth, tls) : null;
        _security?.Ensure();
        _options = CreateOptions(program.Path, DataFolder, _limits.CacheBytes,
            [.. MemoryLimit.Arguments(_limits.Memory?.Bytes, program.Version), .. _security?.Arguments ?? []]) with
        {
            Memory = _limits.Memory, Cpus = _limits.Cpus, Interrupt = interrupt,
            Connections = _security?.Anonymous ?? ConnectionSettings.Default,
        };
        _needsUser = auth;
    }

    public DeploymentKind Kind => DeploymentKind.Mongod;

    /// <summary>Full path.</summary>
    public string? Program { get; }

    public ServerAddress Address => _server?.Address ?? new ServerAddress("127.0.0.1", ServerAddress.DefaultPort);

    public ConnectionSettings? Connections => _security?.User ?? ConnectionSettings.Default;

    public string? DataFolder { get; }

    public int? ProcessId => _server?.ProcessId;

    public bool IsRunning => _server?.IsRunning ?? false;

    public bool WasTakenOver => _server?.WasTakenOver ?? false;

    public string ExitText => _server?.ExitText ?? MemoryGroup.ExitText(null);

    public long? MemoryLimitBytes => _limits.Memory?.Bytes;

    public IReadOnlyList<string> Remarks => _limits.Describe(ProcessId, ProcessTable.System);

    public bool EnsureRunning()
    {
        bool wasStarted = _server is null;
        _server ??= ServerProcess.Start(_options);
        wasStarted |= _server.EnsureRunning();
        if (_needsUser)
            LocalUser.Ensure(Address, _security!);
        _needsUser = false;
        return wasStarted;
    }

    public void Stop()
    {
        _server?.Dispose();
        _server = null;
    }

    public void Dispose() => Stop();

    /// <summary>How a standalone mongod is started: loopback only, no unix socket, a log file.</summary>
    internal static ServerProcessOptions CreateOptions(
        string binary, string dataFolder, long? cacheBytes, params IReadOnlyList<string> more)
    {
        string log = Path.Combine(dataFolder, "mongod.log");
        return new ServerProcessOptions { Role = "mongod", Binary = binary, Folder = dataFolder, LogFile = log, Arguments = Arguments };

        IReadOnlyList<string> Arguments(int port)
        {
            List<string> arguments =
            [
                "--dbpath", dataFolder, "--bind_ip", "127.0.0.1", "--port", $"{port}", "--nounixsocket", "--logpath", log, "--logappend",
            ];
            if (cacheBytes is { } bytes)
                arguments.AddRange(CacheSize.Arguments(bytes));
            arguments.AddRange(more);
            return arguments;
        }
    }
}
