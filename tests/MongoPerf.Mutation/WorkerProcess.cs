using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;

namespace MongoPerf.Mutation;

/// <summary>A process that runs tests: started when it is needed, ended when a test in it does not end.</summary>
/// <param name="folder">The folder of the tests, with mutated projects.</param>
/// <param name="project">The tests' project.</param>
/// <param name="mutants">The highest number of a mutant.</param>
/// <param name="environment">What is set for it.</param>
internal sealed class WorkerProcess(string folder, string project, int mutants, IReadOnlyDictionary<string, string> environment)
    : IDisposable
{
    // Processor time beyond which a test is taken to loop, and time without work for a processor beyond which it is taken to wait
    // for what never comes: so many times what it took without a mutant, and so much more (a new process compiles as it goes).
    // How busy other programs keep the machine makes no difference to either.
    private const int Times = 4;
    private static readonly TimeSpan Looping = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan Waiting = TimeSpan.FromSeconds(10);
    // A first suspicion, which a new process has to confirm, may come sooner.
    private static readonly TimeSpan Suspicious = TimeSpan.FromSeconds(1.5);

    private Process? _process;
    private Socket? _socket;
    private StreamReader? _reader;
    private StreamWriter? _writer;
    private string _last = "";
    private TimeSpan _used;

    /// <summary>Whether nothing ran in the process yet.</summary>
    public bool IsFresh { get; private set; } = true;

    /// <summary>What the processes have used of processors so far.</summary>
    public TimeSpan Used => _used + (_process is null ? TimeSpan.Zero : Look().Used);

    public void Dispose() => End();

    /// <summary>Ends the process; the next request starts another.</summary>
    public void End()
    {
        if (_process is { } process)
        {
            _used = Used;
            try
            {
                process.Kill(entireProcessTree: true);
                process.WaitForExit();
            }
            catch (InvalidOperationException) { }
            process.Dispose();
        }
        _reader?.Dispose();
        _writer = null;
        _socket?.Dispose();
        _process = null;
        IsFresh = true;
    }

    /// <summary>The names of all test methods.</summary>
    public async Task<List<string>> List()
    {
        await Send("list");
        List<string> units = [];
        while (await Read() is { Length: > 0 } unit) units.Add(unit);
        return units.Count > 0 ? units : throw new InvalidOperationException($"no tests found: {_last}");
    }

    /// <summary>Runs a test without a mutant.</summary>
    /// <returns>
    /// Its outcome, how many milliseconds of a processor and of time it took, and which mutants it reached; null if it did not end.
    /// </returns>
    public async Task<string?> Cover(string unit, TimeSpan atMost)
    {
        await Send($"cover\t{unit}");
        Task<string?> answer = Read();
        if (await Task.WhenAny(answer, Task.Delay(atMost)) == answer && await answer is { } line) return line;
        End();
        return null;
    }

    /// <summary>Runs tests with a mutant.</summary>
    /// <param name="expected">How long each takes without a mutant.</param>
    /// <returns>What became of it ("killed", "survived", "unreached", "broken", "timeout", "crash") and at which test.</returns>
    public async Task<(string Verdict, string? Unit)> Run(
        int mutant, bool fresh, IReadOnlyList<string> units, Func<string, (TimeSpan Processor, TimeSpan Elapsed)> expected)
    {
        TimeSpan looping = IsFresh ? Looping : Suspicious;
        await Send($"run\t{mutant}\t{(fresh ? "fresh" : "warm")}\t{string.Join('\t', units)}");
        string? current = null;
        Load begun = Look(), last = begun;
        TimeSpan idle = TimeSpan.Zero;
        Task<string?> answer = Read();
        while (true)
        {
            if (await Task.WhenAny(answer, Task.Delay(250)) == answer)
            {
                if (await answer is not { } line)
                {
                    End();
                    return ("crash", current);
                }
                string[] parts = line.Split('\t');
                if (parts[0] != "start") return (parts[0], parts.ElementAtOrDefault(1));
                current = parts[1];
                begun = null!;
                idle = TimeSpan.Zero;
                answer = Read();
                continue;
            }
            Load now = Look();
            begun ??= now;
            if (now.Used + now.Queued - last.Used - last.Queued < (now.At - last.At) / 10) idle += now.At - last.At;
            last = now;
            (TimeSpan processor, TimeSpan elapsed) = current is null ? default : expected(current);
            if (now.Used - begun.Used > Times * processor + looping || idle > Times * elapsed + Waiting)
            {
                End();
                return ("timeout", current);
            }
        }
    }

    private async Task<string?> Read()
    {
        try
        {
            return await _reader!.ReadLineAsync();
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            return null;
        }
    }

    /// <summary>What the process's threads have used of processors, and how long they have waited for one.</summary>
    private Load Look()
    {
        long used = 0, queued = 0;
        try
        {
            foreach (string thread in Directory.GetDirectories($"/proc/{_process!.Id}/task"))
            {
                string[] times = File.ReadAllText(Path.Combine(thread, "schedstat")).Split(' ');
                used += long.Parse(times[0], CultureInfo.InvariantCulture);
                queued += long.Parse(times[1], CultureInfo.InvariantCulture);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or InvalidOperationException) { }
        return new(TimeSpan.FromTicks(used / 100), TimeSpan.FromTicks(queued / 100), TimeSpan.FromMilliseconds(Environment.TickCount64));
    }

    private async Task Send(string line)
    {
        if (_process is null) await Start();
        IsFresh = false;
        try
        {
            await _writer!.WriteLineAsync(line);
        }
        catch (IOException)
        {
            End();
            await Start();
            await _writer!.WriteLineAsync(line);
        }
    }

    private async Task Start()
    {
        string path = Path.Combine(Path.GetTempPath(), $"mutate-{Guid.NewGuid():N}");
        using Socket listener = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen(1);
        string tests = Path.Combine(folder, project);
        ProcessStartInfo info = new("dotnet",
        [
            "exec", "--depsfile", $"{tests}.deps.json", "--runtimeconfig", $"{tests}.runtimeconfig.json",
            Path.Combine(folder, "MongoPerf.Mutation.dll"), "worker", path, $"{tests}.dll", $"{mutants}",
        ])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = folder,
        };
        foreach ((string name, string value) in environment) info.Environment[name] = value;
        _process = Process.Start(info)!;
        _process.OutputDataReceived += (_, _) => { };
        _process.BeginOutputReadLine();
        _last = "";
        _process.ErrorDataReceived += (_, e) => _last += e.Data is { Length: > 0 } && _last.Length < 2000 ? $"\n{e.Data}" : "";
        _process.BeginErrorReadLine();
        _process.StandardInput.Close();
        Task<Socket> accepted = listener.AcceptAsync();
        while (await Task.WhenAny(accepted, Task.Delay(500)) != accepted)
        {
            if (_process.HasExited) throw new InvalidOperationException($"the tests' process ended with code {_process.ExitCode}: {_last}");
        }
        File.Delete(path);
        _socket = await accepted;
        NetworkStream stream = new(_socket, ownsSocket: true);
        _reader = new StreamReader(stream);
        _writer = new StreamWriter(stream) { AutoFlush = true };
    }

    private sealed record Load(TimeSpan Used, TimeSpan Queued, TimeSpan At);
}
