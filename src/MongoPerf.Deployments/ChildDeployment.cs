using System.Diagnostics;
using System.Text.RegularExpressions;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Security;
using MongoPerf.Load.Sharding;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments;

/// <summary>A server that is this same program in a child process: the embedded server, or the null server.</summary>
/// <remarks>The child ends when its standard input does, so it never outlives this process, however that ends.</remarks>
internal sealed partial class ChildDeployment : IDeployment
{
    private const int FirstLines = 8;
    private static readonly TimeSpan StartLimit = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan StopLimit = TimeSpan.FromSeconds(30);

    private readonly Func<int, IReadOnlyList<string>> _arguments;
    private readonly string _remark;
    private readonly ServerLimits? _limits;
    private readonly SecurityFiles? _security;
    private readonly CancellationToken _interrupt;
    private readonly ProcessTable _table = ProcessTable.System;
    private readonly List<string> _errors = [];
    private Process? _child;
    private readonly bool _isSharded;
    private volatile ProcessIdentity? _identity;
    private volatile ShardedCluster? _cluster;

    private ChildDeployment(
        DeploymentKind kind, string? dataFolder, Func<int, IReadOnlyList<string>> arguments, string remark, ServerLimits? limits,
        SecurityFiles? security, CancellationToken interrupt, bool isSharded = false)
    {
        _isSharded = isSharded;
        _interrupt = interrupt;
        Kind = kind;
        DataFolder = dataFolder is null ? null : Path.GetFullPath(dataFolder);
        _arguments = arguments;
        _remark = remark;
        _limits = limits;
        _security = security;
        Address = new ServerAddress("127.0.0.1", 0);
    }

    public DeploymentKind Kind { get; }

    public ServerAddress Address { get; private set; }

    public ConnectionSettings? Connections => _security?.User;

    public string? DataFolder { get; }

    public ShardedCluster? Cluster => _cluster;

    public int? ProcessId => IsRunning ? _identity?.ProcessId : null;

    public bool IsRunning => _identity is { } identity && _table.IsAlive(identity);

    public string ExitText { get; private set; } = MemoryGroup.ExitText(null);

    public long? MemoryLimitBytes => _limits?.Memory?.Bytes;

    public IReadOnlyList<string> Remarks => [_remark, .. _limits?.Describe(ProcessId, _table) ?? []];

    /// <summary>The embedded server: <c>serve --port N --data DIR [--shards N] [--cache BYTES] [--auth] …</c>.</summary>
    /// <param name="dataFolder">Made when it is not there.</param>
    /// <param name="settings">Cache, limits, logins and TLS of it; its own default cache fits the memory that it is limited to.</param>
    /// <param name="interrupt">Ends the wait for its answer.</param>
    /// <exception cref="DeploymentException">
    /// The cache does not fit, there are not so many CPUs, or the folder holds a mongod's data.
    /// </exception>
    public static ChildDeployment Embedded(string dataFolder, DeploymentSettings settings, CancellationToken interrupt = default)
    {
        bool auth = settings.Auth is true, tls = settings.Tls is true;
        int shards = EmbeddedShards.Of(settings);
        string full = Path.GetFullPath(dataFolder);
        var limits = new ServerLimits(full, settings);
        DataFolderOwner.RefuseForEmbedded(full);
        SecurityFiles? security = auth || tls ? new SecurityFiles(full, auth, tls, SecurityFiles.EmbeddedFolderName) : null;
        security?.Ensure();
        if (auth)
            LocalUser.Store(full, security!);
        return new ChildDeployment(DeploymentKind.Embedded, full, Arguments, "results are for the embedded server, not MongoDB",
            limits, security, interrupt, isSharded: shards > 0);

        IReadOnlyList<string> Arguments(int port)
        {
            List<string> arguments = ["serve", "--port", $"{port}", "--data", full];
            if (shards > 0)
                arguments.AddRange(["--shards", $"{shards}"]);
            if (limits.CacheBytes is { } bytes)
                arguments.AddRange(["--cache", $"{bytes}"]);
            arguments.AddRange(security?.EmbeddedArguments ?? []);
            return arguments;
        }
    }

    /// <summary>The null server: <c>null-server --port N [--run DIR]</c>. After a crash it starts empty.</summary>
    /// <param name="runFolder">The folder of the run, whose plan says what documents it answers with.</param>
    /// <param name="filesFolder">The folder in which the plan finds files; null for none.</param>
    /// <param name="interrupt">Ends the wait for its answer.</param>
    public static ChildDeployment Null(string? runFolder, string? filesFolder = null, CancellationToken interrupt = default) => new(
        DeploymentKind.Null, null,
        port =>
        [
            "null-server", "--port", $"{port}", .. runFolder is null ? Array.Empty<string>() : ["--run", runFolder],
            .. filesFolder is null ? Array.Empty<string>() : ["--files", filesFolder],
        ],
        "nothing is stored: results show the limits of the client and the loopback", null, null, interrupt);

    public bool EnsureRunning()
    {
        if (IsRunning)
            return false;
        ExitText = MemoryGroup.ExitText(_limits?.Memory);
        EndPredecessor();
        Start(FreePort.IsFree(Address.Port) ? Address.Port : 0);
        return true;
    }

    public void Stop()
    {
        if (_child is null)
            return;
        try
        {
            _child.StandardInput.Close();
        }
        catch (IOException)
        {
            // It was faster.
        }

        if (_identity is { } identity && !_table.WaitForEnd(identity, StopLimit))
            _table.End(identity, TimeSpan.FromSeconds(1));
        _identity = null;
        _child.Dispose();
        _child = null;
        if (DataFolder is not null)
            ServerProcess.Forget(DataFolder);
    }

    public void Dispose() => Stop();

    // One whose parent was killed may still be closing its store.
    private void EndPredecessor()
    {
        _child?.Dispose();
        _child = null;
        if (DataFolder is null)
            return;
        Directory.CreateDirectory(DataFolder);
        if (ProcessState.Read(DataFolder) is { ProcessId: > 0 } state)
        {
            if (_table.HasFolder(state.ProcessId, "--data", DataFolder))
                _table.End(state.Identity, StopLimit);
            else if (!Platform.IsLinux)
                // What a process was started with is not known: it may be anybody's, and is only waited for.
                _table.WaitForEnd(state.Identity, StopLimit);
        }

        ServerProcess.Forget(DataFolder);
    }

    private void Start(int port)
    {
        lock (_errors)
            _errors.Clear();
        IReadOnlyList<string> program = ThisProgram.Command;
        string? groupFile = _limits?.Memory?.Make();
        _child = DetachedStart.RunWithPipes(program[0], [.. program.Skip(1), .. _arguments(port)], groupFile, _limits?.Cpus);
        _identity = _table.Find(_child.Id);
        if (DataFolder is not null && _identity is { } identity)
        {
            new ProcessState
            {
                ProcessId = identity.ProcessId, StartTicks = identity.StartTicks, BootId = identity.BootId, Binary = program[0],
                Group = groupFile is null ? null : _limits!.Memory!.Folder,
            }.Write(DataFolder);
        }

        var firstLine = new TaskCompletionSource<string?>(TaskCreationOptions.RunContinuationsAsynchronously);
        _child.OutputDataReceived += (_, line) => firstLine.TrySetResult(line.Data);
        _child.ErrorDataReceived += (_, line) => Remember(line.Data);
        _child.BeginOutputReadLine();
        _child.BeginErrorReadLine();
        if (!firstLine.Task.Wait(StartLimit, _interrupt))
            throw Failed($"printed nothing within {StartLimit.TotalSeconds:0} s");
        Match match = PortAtEnd().Match(firstLine.Task.Result ?? "");
        if (!match.Success)
        {
            // Once it has ended, without a limit of time: until all that it said is read.
            if (_child.WaitForExit(2000))
                _child.WaitForExit();
            throw Failed(firstLine.Task.Result is { } line ? $"printed '{line}' instead of its address" : "exited at once");
        }

        Address = Address with { Port = int.Parse(match.Groups[1].Value) };
        if (_isSharded)
            _cluster = ReadCluster(Connections ?? ConnectionSettings.Default);
    }

    // Its shards listen at other ports after each start.
    private ShardedCluster ReadCluster(ConnectionSettings settings)
    {
        using MongoConnection router = MongoConnection.Open(Address, settings);
        return MongosParts.Read(router, settings);
    }

    // The first lines say what is wrong and what to do; behind them there is at most more of the same.
    private void Remember(string? line)
    {
        if (string.IsNullOrEmpty(line))
            return;
        lock (_errors)
        {
            if (_errors.Count < FirstLines)
                _errors.Add(line);
        }
    }

    private DeploymentException Failed(string what)
    {
        string said;
        // Its exit code is not this program's.
        lock (_errors)
            said = string.Join(
                '\n', _errors.Where(line => !line.StartsWith("exit code ", StringComparison.Ordinal)).Select(line => "  " + line));
        Fault fault = FaultOf(_child);
        Stop();
        return new DeploymentException(
            fault, $"{Kind.Text()}: the child process {what}{(said.Length > 0 ? "; its output:\n" + said : "")}");
    }

    // The child is this same program: its exit code says who is to blame.
    private static Fault FaultOf(Process? child) =>
        child is { HasExited: true, ExitCode: (int)Fault.WrongUsage or (int)Fault.Refused }
            ? (Fault)child.ExitCode
            : Fault.CannotConnect;

    [GeneratedRegex(@":(\d+)\s*$")]
    private static partial Regex PortAtEnd();
}
