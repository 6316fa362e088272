using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;
using MongoPerf.Deployments;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>How a process of the program ended.</summary>
internal sealed record ProgramResult(int ExitCode, string Output, string Errors, TimeSpan Elapsed)
{
    /// <summary>For assertions that fail: everything that was said.</summary>
    public string All => $"exit code {ExitCode} after {Elapsed.TotalSeconds:0.0} s\n--- stdout\n{Output}\n--- stderr\n{Errors}";

    public ProgramResult Expect(int exitCode)
    {
        Assert.True(ExitCode == exitCode, $"expected exit code {exitCode}: {All}");
        return this;
    }

    /// <summary>One line that names what was wrong, and no stack trace.</summary>
    public ProgramResult Says(string text)
    {
        Assert.True(Errors.Contains(text, StringComparison.Ordinal), $"expected '{text}' on stderr: {All}");
        Assert.DoesNotContain("   at MongoPerf", Errors, StringComparison.Ordinal);
        return this;
    }
}

/// <summary>What a process of the program gets beside its arguments.</summary>
internal sealed record ProgramOptions
{
    /// <summary>"mongod" puts the tests' mongod into MONGOPERF_MONGOD; "embedded" sees to it that none is found.</summary>
    public string Server { get; init; } = "embedded";

    /// <summary>
    /// Writing a report takes half of a short run's time, and drawing takes seconds, so both are left out where a test is
    /// about something else.
    /// </summary>
    public bool WriteReport { get; init; }

    /// <inheritdoc cref="WriteReport"/>
    public bool DrawCharts { get; init; }

    /// <summary>Compiles what is not precompiled fully before its first call, as for users; see EndToEnd.runsettings.</summary>
    public bool AsShipped { get; init; }

    /// <summary>Runs in a pseudo-terminal of its own; stdout and stderr come as one then.</summary>
    public bool InTerminal { get; init; }

    public string? Folder { get; init; }

    /// <summary>When it is held to hang.</summary>
    public TimeSpan Limit { get; init; } = TimeSpan.FromMinutes(5);

    public IReadOnlyDictionary<string, string?> Environment { get; init; } = new Dictionary<string, string?>();

    /// <summary>
    /// For what only a process of its own shows or has: its environment, folder, terminal, compiler, or what it uses of the processors.
    /// </summary>
    public bool NeedsOwnProcess
    {
        get => field || DrawCharts || AsShipped || InTerminal || Folder is not null || Environment.Count > 0;
        init;
    }
}

/// <summary>
/// A real process of the program: dotnet mongoperf.dll of the tests' own output folder, leading a process group of its own.
/// </summary>
internal sealed partial class ProgramRun : IDisposable
{
    private const int Interrupt = 2;
    private const int KillNow = 9;
    private readonly Process _process;
    private readonly TimeSpan _limit;
    private readonly StringBuilder _output = new();
    private readonly StringBuilder _errors = new();
    private readonly long _start = Environment.TickCount64;

    private ProgramRun(Process process, TimeSpan limit)
    {
        _process = process;
        _limit = limit;
        process.OutputDataReceived += (_, line) => Add(_output, line.Data);
        process.ErrorDataReceived += (_, line) => Add(_errors, line.Data);
        process.Start();
        process.StandardInput.Close();
        process.BeginOutputReadLine();
        process.BeginErrorReadLine();
    }

    public int Id => _process.Id;

    public bool HasEnded => _process.HasExited;

    public string Errors => Text(_errors);

    /// <summary>Runs it to its end, within this process.</summary>
    public static ProgramResult Run(params string[] arguments) => Run(new ProgramOptions(), arguments);

    /// <summary>Runs it to its end: within this process where nothing that is asked for needs one of its own.</summary>
    public static ProgramResult Run(ProgramOptions options, params string[] arguments)
    {
        if (!options.NeedsOwnProcess && (options.Server == "embedded" || arguments is ["run" or "series" or "resume", ..]))
            return ProgramHere.Run(
                [.. arguments, .. WithoutReport(options, arguments), .. options.Server == "mongod"
                    ? ["--mongod", MongodBinary.Path]
                    : (string[])[]],
                options.Limit);
        using ProgramRun run = Start(options, arguments);
        return run.WaitForEnd();
    }

    public static ProgramRun Start(ProgramOptions options, params string[] arguments) =>
        new(new Process { StartInfo = StartInfo(options, arguments) }, options.Limit);

    private static ProcessStartInfo StartInfo(ProgramOptions options, string[] arguments)
    {
        // A shell that starts tests in the background has SIGINT ignored, and children inherit that.
        ProgramHere.Prepare();
        string[] command = ["--default-signal=INT", "setsid", .. InTerminal(
            options, [.. ThisProgram.Command, .. arguments, .. WithoutReport(options, arguments)])];
        var start = new ProcessStartInfo("/usr/bin/env", command)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = options.Folder ?? Path.GetTempPath(),
        };
        if (options.Server == "mongod")
            start.Environment["MONGOPERF_MONGOD"] = MongodBinary.Path;
        if (options.DrawCharts)
            start.Environment.Remove("MONGOPERF_CHARTS");
        if (options.AsShipped)
            start.Environment.Remove("DOTNET_TieredCompilation");
        foreach ((string name, string? value) in options.Environment)
            start.Environment[name] = value;
        return start;
    }

    /// <summary>Runs it at a terminal where somebody answers its question.</summary>
    /// <param name="question">The answer is typed when this has been shown.</param>
    /// <param name="answer">Without the line's end.</param>
    /// <param name="arguments">Of the program.</param>
    /// <returns>The exit code, and all that the terminal showed.</returns>
    public static (int ExitCode, string Shown) Answer(string question, string answer, params string[] arguments) =>
        Answer([(question, answer)], arguments);

    /// <summary>As <see cref="Answer(string, string, string[])"/>, for several questions, which come in this order.</summary>
    public static (int ExitCode, string Shown) Answer(IReadOnlyList<(string Question, string Answer)> talk, params string[] arguments)
    {
        var options = new ProgramOptions { InTerminal = true };
        using var process = Process.Start(StartInfo(options, arguments))!;
        process.ErrorDataReceived += (_, _) => { };
        process.BeginErrorReadLine();
        var shown = new StringBuilder();
        using var patience = new Timer(_ => process.Kill(entireProcessTree: true), null, options.Limit, Timeout.InfiniteTimeSpan);
        char[] buffer = new char[4096];
        int answered = 0;
        for (int count; (count = process.StandardOutput.Read(buffer)) > 0;)
        {
            shown.Append(buffer, 0, count);
            if (answered == talk.Count || !shown.ToString().Contains(talk[answered].Question, StringComparison.Ordinal))
                continue;
            process.StandardInput.Write(talk[answered++].Answer + "\n");
            process.StandardInput.Flush();
        }

        process.WaitForExit();
        return (process.ExitCode, shown.ToString());
    }

    /// <summary>Waits for its end; kills it and all that it started when that takes too long.</summary>
    public ProgramResult WaitForEnd()
    {
        if (!_process.WaitForExit(_limit))
        {
            _process.Kill(entireProcessTree: true);
            Assert.Fail($"not ended after {_limit.TotalSeconds:0} s\n--- stdout\n{Text(_output)}\n--- stderr\n{Errors}");
        }

        // Without a limit of time: until both pipes are read to their ends.
        _process.WaitForExit();
        return new ProgramResult(_process.ExitCode, Text(_output), Errors, TimeSpan.FromMilliseconds(Environment.TickCount64 - _start));
    }

    /// <summary>Waits until the condition holds.</summary>
    /// <returns>False when the program ended before.</returns>
    public bool WaitUntil(Func<bool> condition, string what)
    {
        long end = Environment.TickCount64 + (long)_limit.TotalMilliseconds;
        while (true)
        {
            long asked = Environment.TickCount64;
            if (condition())
                return true;
            if (HasEnded)
                return false;
            Assert.True(Environment.TickCount64 < end, $"{what} did not come\n--- stdout\n{Text(_output)}\n--- stderr\n{Errors}");
            // What takes long to find out (from a run's file, a server) must not keep the processors from the run, nor come late
            // where they are busy.
            Thread.Sleep((int)Math.Clamp(4 * (Environment.TickCount64 - asked), 5, 50));
        }
    }

    public bool WaitForLine(string text) => WaitUntil(() => Errors.Contains(text, StringComparison.Ordinal), $"'{text}'");

    /// <summary>kill -9 of the program alone; what it started is left to itself.</summary>
    public void Kill()
    {
        _ = SendSignal(Id, KillNow);
        _process.WaitForExit();
    }

    /// <summary>Ctrl+C's signal for the program alone.</summary>
    public void SendInterrupt() => Assert.Equal(0, SendSignal(Id, Interrupt));

    /// <summary>What Ctrl+C in a terminal does: the signal goes to every process of the group.</summary>
    public void SendInterruptToGroup() => Assert.Equal(0, SendSignal(-Id, Interrupt));

    public void Dispose()
    {
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        _process.Dispose();
    }

    private static string[] WithoutReport(ProgramOptions options, string[] arguments) =>
        arguments is ["run" or "series" or "resume", ..] && !options.WriteReport && !options.DrawCharts ? ["--no-report"] : [];

    private static string[] InTerminal(ProgramOptions options, string[] command) => options.InTerminal
        ? ["script", "-qefc", string.Join(' ', command.Select(part => $"'{part}'")), "/dev/null"]
        : command;

    private static void Add(StringBuilder text, string? line)
    {
        lock (text)
        {
            if (line is not null)
                text.Append(line).Append('\n');
        }
    }

    private static string Text(StringBuilder text)
    {
        lock (text)
            return text.ToString();
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int SendSignal(int processId, int signal);
}
