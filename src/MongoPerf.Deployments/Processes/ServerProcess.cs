using System.Collections.Concurrent;
using System.Diagnostics;
using MongoPerf.Platforms;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Processes;

/// <summary>What to start, and how to know it again.</summary>
public sealed record ServerProcessOptions
{
    /// <summary>What the server is called in texts: "mongod", "config server", "shard rs1", "router".</summary>
    public required string Role { get; init; }

    /// <summary>Full path of the program.</summary>
    public required string Binary { get; init; }

    /// <summary>Its arguments for a port; they name <see cref="Folder"/> by <see cref="FolderOption"/>.</summary>
    public required Func<int, IReadOnlyList<string>> Arguments { get; init; }

    /// <summary>The process's own folder (of a router: where its log lies).</summary>
    public required string Folder { get; init; }

    /// <summary>
    /// The option by which the process's command line shows that it is this folder's: "--dbpath", or "--logpath" for a router, with <see
    /// cref="LogFile"/>.
    /// </summary>
    public string FolderOption { get; init; } = "--dbpath";

    /// <summary>Where the program writes its log.</summary>
    public required string LogFile { get; init; }

    /// <summary>The only port that will do; null for one that is free.</summary>
    public int? Port { get; init; }

    /// <summary>Limits its memory; null for no limit.</summary>
    public MemoryGroup? Memory { get; init; }

    /// <summary>The only CPUs that it may use; null for all that this program may.</summary>
    public IReadOnlyList<int>? Cpus { get; init; }

    /// <summary>How it is asked whether it answers; nobody logs in for that.</summary>
    public ConnectionSettings Connections { get; init; } = ConnectionSettings.Default;

    /// <summary>The time that it may take to answer hello. After a crash with much data mongod first recovers.</summary>
    public TimeSpan StartLimit { get; init; } = TimeSpan.FromMinutes(5);

    /// <summary>Ends the wait for its answer.</summary>
    public CancellationToken Interrupt { get; init; }

    /// <summary>The time that it may take to end by itself after SIGTERM: mongod writes a last checkpoint.</summary>
    public TimeSpan StopLimit { get; init; } = TimeSpan.FromMinutes(1);
}

/// <summary>One real server binary on a loopback port: started, taken over, watched and stopped.</summary>
/// <remarks>
/// It runs in a session of its own, so Ctrl+C in the terminal does not reach it, and its output goes to a file, so it never waits for
/// us. It ends with this program; when that is killed, the state file in its folder lets the next one take it over, and without one
/// <see cref="ServerGuard"/> ends it a minute later.
/// One thread, but <see cref="IsRunning"/> may be asked by any.
/// </remarks>
public sealed class ServerProcess : IDisposable
{
    private const int PortAttempts = 3;
    private const int LogLines = 5;
    private static readonly TimeSpan PortLimit = TimeSpan.FromSeconds(1);

    /// <summary>Those that end with this program.</summary>
    private static readonly ConcurrentDictionary<ServerProcess, bool> Own = new();

    private readonly ServerProcessOptions _options;
    private readonly ProcessTable _table;
    private readonly EventHandler _atExit;
    private readonly string _keeper = Guid.NewGuid().ToString("N");
    private Process? _child;
    private ServerGuard? _guard;
    private volatile ProcessIdentity? _identity;

    private ServerProcess(ServerProcessOptions options, ProcessTable table)
    {
        _options = options;
        _table = table;
        _atExit = (_, _) => Stop();
        Address = new ServerAddress("127.0.0.1", 0);
    }

    public ServerAddress Address { get; private set; }

    /// <summary>Null while it does not run.</summary>
    public int? ProcessId => IsRunning ? _identity?.ProcessId : null;

    /// <summary>True when the process was there already, left by an earlier run of the program.</summary>
    public bool WasTakenOver { get; private set; }

    /// <summary>How the process before this one had ended, to follow the server's name.</summary>
    public string ExitText { get; private set; } = MemoryGroup.ExitText(null);

    public bool IsRunning => _identity is { } identity && _table.IsAlive(identity);

    /// <summary>Whether it is in the group that limits its memory.</summary>
    public bool IsMemoryLimited => _options.Memory is { } group && ProcessId is { } processId && group.Holds(processId, _table);

    /// <summary>Whether it may use the requested CPUs and no others.</summary>
    public bool IsConfined => _options.Cpus is { } cpus && ProcessId is { } processId && _table.CpusOf(processId).SequenceEqual(cpus);

    private string OutputFile => Path.Combine(_options.Folder, "output.log");

    /// <summary>Takes over the process that runs on the folder if it is ours; else starts one and waits until it answers.</summary>
    /// <exception cref="DeploymentException">
    /// It does not start or answer (with its last log lines), or the folder is another server's.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was interrupted.</exception>
    public static ServerProcess Start(ServerProcessOptions options, ProcessTable? table = null)
    {
        var server = new ServerProcess(options, table ?? ProcessTable.System);
        AppDomain.CurrentDomain.ProcessExit += server._atExit;
        Own[server] = true;
        try
        {
            server.EnsureRunning();
            return server;
        }
        catch
        {
            server.Dispose();
            throw;
        }
    }

    /// <summary>The process that an earlier run of the program left on the folder. It does not end with this program.</summary>
    /// <returns>Null when none runs there, or one that is not ours.</returns>
    public static ServerProcess? FindLeftOver(ServerProcessOptions options, ProcessTable? table = null)
    {
        var server = new ServerProcess(options, table ?? ProcessTable.System);
        if (ProcessState.Read(options.Folder) is not { } state || server.FindOurs(state) is not { } ours)
            return null;
        (server._identity, server.WasTakenOver) = (ours, true);
        server.Address = server.Address with { Port = state.Port };
        return server;
    }

    /// <summary>Starts it again when it is not there, on the same port if that is free.</summary>
    /// <returns>True when it had to be started or taken over.</returns>
    /// <exception cref="DeploymentException">As <see cref="Start"/>.</exception>
    public bool EnsureRunning()
    {
        if (IsRunning)
            return false;
        ExitText = MemoryGroup.ExitText(_options.Memory);
        Directory.CreateDirectory(_options.Folder);
        ProcessState? state = ProcessState.Read(_options.Folder);
        if (FindOurs(state) is { } ours)
        {
            (_identity, WasTakenOver) = (ours, true);
            Address = Address with { Port = state!.Port };
            Note(state, ours);
            if (WaitUntilItAnswersOrEnds())
                return true;
        }

        RefuseIfHeld();
        WasTakenOver = false;
        int port = _options.Port ?? (Address.Port != 0 ? Address.Port : state?.Port ?? 0);
        for (int attempt = 1; ; attempt++)
        {
            Address = Address with { Port = ChoosePort(port) };
            Launch();
            try
            {
                WaitUntilItAnswers();
                return true;
            }
            catch (DeploymentException e) when (_options.Port is null && attempt < PortAttempts && !IsRunning
                && e.Message.Contains("ddress already in use", StringComparison.Ordinal))
            {
                // Another program was faster between our look at the port and the server's.
                port = 0;
            }
        }
    }

    /// <summary>Ends it: SIGTERM, on which mongod shuts down as by its shutdown command, then SIGKILL. Never throws.</summary>
    public void Stop()
    {
        AppDomain.CurrentDomain.ProcessExit -= _atExit;
        Own.TryRemove(this, out _);
        if (_identity is { } identity && _table.End(identity, _options.StopLimit))
        {
            _identity = null;
            Forget(_options.Folder);
        }

        _guard?.Dispose();
        _guard = null;
        _child?.Dispose();
        _child = null;
    }

    /// <summary>
    /// Tells all that would end with this program to end, and waits for none: for a program that ends at once. From any thread.
    /// </summary>
    public static void TerminateAll()
    {
        foreach (ServerProcess server in Own.Keys)
        {
            if (server._identity is { } identity)
                server._table.Signal(identity, SystemCalls.Terminate);
        }
    }

    /// <summary>
    /// Takes away what a process that has ended left beside its data: its state file and its control group. Never throws.
    /// </summary>
    public static void Forget(string folder)
    {
        try
        {
            // The file may be somebody else's, and name any folder.
            if (ProcessState.Read(folder)?.Group is { } group && MemoryGroup.IsOurs(group))
                MemoryGroup.Remove(group);
            ProcessState.Delete(folder);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // It will be found stale.
        }
    }

    /// <exception cref="DeploymentException">It has ended; with its last log lines.</exception>
    public void RequireRunning()
    {
        if (!IsRunning)
            throw Failed("has exited");
    }

    /// <summary>Leaves it running when this program ends; the state file lets a later one take it over.</summary>
    public void Leave()
    {
        AppDomain.CurrentDomain.ProcessExit -= _atExit;
        _guard?.Leave();
        _guard = null;
        Own.TryRemove(this, out _);
        _child?.Dispose();
        _child = null;
        _identity = null;
    }

    public void Dispose() => Stop();

    // The state file names it, and it is what the file says: same start, and our folder in its command line.
    private ProcessIdentity? FindOurs(ProcessState? state)
    {
        if (state is null)
            return null;
        if (state.ProcessId != 0)
            return _table.IsAlive(state.Identity) && HasOurFolder(state.ProcessId) ? state.Identity : null;
        // MongoPerf was killed between starting the server and noting its number: then it is the one on our folder with the noted port.
        return FindHolder() is { } holder && HasOurFolder(holder) && _table.OptionOf(holder, "--port") == $"{state.Port}"
            ? _table.Find(holder)
            : null;
    }

    private bool HasOurFolder(int processId) => _options.FolderOption == "--logpath"
        ? _table.HasFolder(processId, _options.FolderOption, _options.LogFile)
        : _table.HasFolder(processId, _options.FolderOption, _options.Folder);

    // By looking at processes, not into mongod.lock: .NET takes a lock of its own on a file that it opens, which a
    // running mongod's forbids.
    private int? FindHolder()
    {
        foreach (int processId in _table.All())
        {
            if (_table.NameOf(processId).StartsWith("mongo", StringComparison.Ordinal) && _table.Find(processId) is not null
                && (HasOurFolder(processId) || _table.HasOpen(processId, LockFile)))
                return processId;
        }

        return null;
    }

    private string LockFile => Path.Combine(_options.Folder, "mongod.lock");

    private void RefuseIfHeld()
    {
        if (FindHolder() is { } holder)
        {
            throw new DeploymentException(
                Fault.Refused,
                $"{_options.Folder}: in use by process {holder} ({_table.NameOf(holder)}), which this run did not start\n" +
                $"hint:  stop it (kill {holder}) or use another folder");
        }
    }

    private int ChoosePort(int port)
    {
        if (_options.Port is null)
            return FreePort.IsFree(port) ? port : FreePort.Find();
        // The one before that was just killed may still be closing its sockets.
        long end = Environment.TickCount64 + (long)PortLimit.TotalMilliseconds;
        while (!FreePort.IsFree(port))
        {
            if (Environment.TickCount64 > end)
                throw new DeploymentException(Fault.CannotConnect,
                    $"{_options.Role}: port {port} of 127.0.0.1 is in use by another program\n"
                    + "hint:  stop the program listening there (ss -ltnp shows it)");
            Thread.Sleep(20);
        }

        return port;
    }

    private void Launch()
    {
        Forget(_options.Folder);
        string? groupFile = _options.Memory?.Make();
        var state = new ProcessState
        {
            Port = Address.Port, Binary = _options.Binary, Group = groupFile is null ? null : _options.Memory!.Folder,
        };
        state.Write(_options.Folder);
        _child?.Dispose();
        _child = DetachedStart.Run(
            _options.Binary, _options.Arguments(Address.Port), _options.Folder, OutputFile, groupFile, _options.Cpus);
        _identity = _table.Find(_child.Id);
        if (_identity is { } identity)
            Note(state, identity);
    }

    private void Note(ProcessState state, ProcessIdentity identity)
    {
        (state with { ProcessId = identity.ProcessId, StartTicks = identity.StartTicks, BootId = identity.BootId, Keeper = _keeper })
            .Write(_options.Folder);
        _guard?.Dispose();
        _guard = ServerGuard.Start(identity, ProcessState.PathIn(_options.Folder), _keeper, ServerGuard.Grace, _options.StopLimit);
    }

    private void WaitUntilItAnswers()
    {
        long end = Environment.TickCount64 + (long)_options.StartLimit.TotalMilliseconds;
        ConnectionSettings settings = _options.Connections with
        {
            ConnectTimeout = TimeSpan.FromSeconds(2), ReplyTimeout = TimeSpan.FromSeconds(2), Stop = _options.Interrupt,
        };
        while (true)
        {
            _options.Interrupt.ThrowIfCancellationRequested();
            if (!IsRunning)
            {
                Forget(_options.Folder);
                throw Failed($"exited before it answered on {Address}");
            }

            try
            {
                using MongoConnection connection = MongoConnection.Open(Address, settings);
                return;
            }
            catch (Exception e) when (e is IOException or ServerCommandException)
            {
                if (Environment.TickCount64 > end)
                    throw Failed($"did not answer on {Address} within {_options.StartLimit.TotalSeconds:0} s");
                Thread.Sleep(50);
            }
            catch (ServerTooOldException e)
            {
                throw new DeploymentException(Fault.CannotConnect, e.Message, e);
            }
        }
    }

    /// <summary>One that was left may have been told to end.</summary>
    private bool WaitUntilItAnswersOrEnds()
    {
        try
        {
            WaitUntilItAnswers();
            return true;
        }
        catch (DeploymentException) when (!IsRunning)
        {
            return false;
        }
    }

    private DeploymentException Failed(string what) => new(
        Fault.CannotConnect,
        $"{_options.Role}: {_options.Binary} {what}; its last log lines:\n{LogTail.Describe(LogLines, OutputFile, _options.LogFile)}\n" +
        $"hint:  see the full log in {_options.LogFile}");
}
