using System.Diagnostics;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Live;

/// <summary>
/// <c>--live</c> and <c>--otlp</c>: a child process that serves the page of the run under way, and sends its metrics: <c>watch</c>.
/// </summary>
/// <remarks>
/// The page lives in a process of its own, so that nothing it does stops the threads that measure: neither its garbage collections nor a
/// reader's. It reads the run's folder, ends when its input does, and is never waited for. Its priority is the usual one: on a machine that
/// is worked to its limit a lower one would keep the page away for minutes, and what it may use is bounded anyway by LivePlot. The runs of
/// a command follow one another under one address.
/// </remarks>
public sealed class LiveChild
{
    /// <summary>Of <c>watch</c>: where it sends metrics.</summary>
    public const string ReceiverOption = "--otlp";

    /// <summary>Of <c>watch</c>: it serves nothing.</summary>
    public const string NoPageOption = "--no-page";

    private const string KeyVariable = "MONGOPERF_LIVE_KEY";
    private const int LeastKey = 16;

    private readonly string _key = NewKey();
    private readonly string? _receiver;
    private int? _port;
    private Process? _child;

    /// <param name="port">Of the page; 0 for a free one, null for no page.</param>
    /// <param name="receiver">Address that metrics are sent to; null for none.</param>
    /// <exception cref="UserException">The port is in use.</exception>
    public LiveChild(int? port, string? receiver)
    {
        if (port > 0 && !FreePort.IsFree(port.Value))
            throw new UserException(ExitCode.WrongUsage, $"--live: port {port} of 127.0.0.1 is in use",
                "choose another, or omit it to use a free one");
        (_port, _receiver) = (port, receiver);
    }

    /// <summary>
    /// The key of a page's address, without which nothing is served: a new one, or that of the environment, for what comes again and again.
    /// </summary>
    /// <exception cref="UserException">The environment's could be guessed, or is no part of an address.</exception>
    public static string NewKey()
    {
        if (Environment.GetEnvironmentVariable(KeyVariable) is not { Length: > 0 } given)
            return Convert.ToHexStringLower(SystemRandom.GetBytes(8));
        return given.Length >= LeastKey && given.All(static c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_') ? given
            : throw new UserException(ExitCode.WrongUsage,
                $"{KeyVariable} is no key; allowed: {LeastKey} or more letters, digits, - and _", "'openssl rand -hex 16' makes one");
    }

    /// <summary>Starts it; its address is told when it is there.</summary>
    /// <param name="runFolder">The folder of the run.</param>
    /// <param name="tell">Gets lines for people, on another thread.</param>
    public void Begin(string runFolder, Action<string> tell)
    {
        try
        {
            IReadOnlyList<string> program = ThisProgram.Command;
            Process child = DetachedStart.RunWithPipes(program[0],
            [
                .. program.Skip(1), "watch", Path.GetFullPath(runFolder),
                .. _port is { } port ? ["--port", $"{port}"] : (string[])[NoPageOption],
                // Other users see a process's arguments: what may be a key goes to its standard input.
                .. _receiver is null ? Array.Empty<string>() : [ReceiverOption, Masking.MaskArgument(_receiver)],
            ]);
            child.OutputDataReceived += (_, line) => Heard(line.Data, tell);
            child.ErrorDataReceived += (_, line) => Complain(line.Data, tell);
            child.BeginOutputReadLine();
            child.BeginErrorReadLine();
            child.StandardInput.WriteLine(_key);
            child.StandardInput.WriteLine(_receiver);
            child.StandardInput.Flush();
            _child = child;
        }
        catch (Exception e) when (e is IOException or DeploymentException)
        {
            tell($"warning: {Name}: {e.Message}");
        }
    }

    /// <summary>The option that asked for it.</summary>
    private string Name => _port is null ? ReceiverOption : "--live";

    /// <summary>Lets it tell how the run ended, and go; it is not waited for.</summary>
    public void End()
    {
        try
        {
            _child?.StandardInput.Close();
        }
        catch (IOException)
        {
            // It was faster.
        }

        _child = null;
    }

    private void Heard(string? line, Action<string> tell)
    {
        if (!Uri.TryCreate(line, UriKind.Absolute, out Uri? url))
            return;
        _port = url.Port;
        tell($"live: {url}");
    }

    /// <summary>Its first line says what is wrong; its exit code is not this program's. A receiver that is away it tells itself.</summary>
    private void Complain(string? line, Action<string> tell)
    {
        if (line?.StartsWith("error:", StringComparison.Ordinal) is true)
            tell($"warning: {Name}: {line["error:".Length..].Trim()}");
        else if (line?.StartsWith("warning:", StringComparison.Ordinal) is true)
            tell(line);
    }
}
