using System.Diagnostics;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Live;

/// <summary><c>--live</c>: a child process that serves the page of the run under way: <c>watch</c>.</summary>
/// <remarks>
/// The page lives in a process of its own, so that nothing it does stops the threads that measure: neither its garbage collections nor a
/// reader's. It reads the run's folder, ends when its input does, and is never waited for. Its priority is the usual one: on a machine that
/// is worked to its limit a lower one would keep the page away for minutes, and what it may use is bounded anyway by LivePlot. The runs of
/// a command follow one another under one address.
/// </remarks>
public sealed class LiveChild
{
    private readonly string _key = Convert.ToHexStringLower(SystemRandom.GetBytes(8));
    private int _port;
    private Process? _child;

    /// <param name="port">0 for a free one.</param>
    /// <exception cref="UserException">It is in use.</exception>
    public LiveChild(int port)
    {
        if (port > 0 && !FreePort.IsFree(port))
            throw new UserException(ExitCode.WrongUsage, $"--live: port {port} of 127.0.0.1 is in use",
                "choose another, or omit it to use a free one");
        _port = port;
    }

    /// <summary>Starts it; its address is told when it is there.</summary>
    /// <param name="runFolder">The folder of the run.</param>
    /// <param name="tell">Gets lines for people, on another thread.</param>
    public void Begin(string runFolder, Action<string> tell)
    {
        try
        {
            IReadOnlyList<string> program = ThisProgram.Command;
            Process child = DetachedStart.RunWithPipes(
                program[0], [.. program.Skip(1), "watch", Path.GetFullPath(runFolder), "--port", $"{_port}"]);
            child.OutputDataReceived += (_, line) => Heard(line.Data, tell);
            child.ErrorDataReceived += (_, line) => Complain(line.Data, tell);
            child.BeginOutputReadLine();
            child.BeginErrorReadLine();
            child.StandardInput.WriteLine(_key);
            child.StandardInput.Flush();
            _child = child;
        }
        catch (Exception e) when (e is IOException or DeploymentException)
        {
            tell($"warning: --live: {e.Message}");
        }
    }

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

    /// <summary>Its first line says what is wrong; its exit code is not this program's.</summary>
    private static void Complain(string? line, Action<string> tell)
    {
        if (line is { Length: > 0 } && line.StartsWith("error:", StringComparison.Ordinal))
            tell($"warning: --live: {line["error:".Length..].Trim()}");
    }
}
