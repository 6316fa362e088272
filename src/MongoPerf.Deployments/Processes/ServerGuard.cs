using System.ComponentModel;
using System.Diagnostics;

namespace MongoPerf.Deployments.Processes;

/// <summary>
/// Ends a server whose client was killed, unless another client takes it over in time: a small shell that waits at a pipe to this process.
/// </summary>
/// <remarks>
/// The kernel closes the pipe however this process ends, kill -9 included. The shell then looks once a second: at the server, which may end
/// by itself, and at its state file, which whoever takes it over writes with another keeper. It does nothing before that. One thread.
/// </remarks>
public sealed class ServerGuard : IDisposable
{
    /// <summary>Another time than <see cref="Grace"/>, such as 2s; for tests.</summary>
    public const string Variable = "MONGOPERF_LINGER";

    private const int DefaultGraceSeconds = 60;

    // $1 process, $2 its start, $3 its state file, $4 keeper, $5 seconds to wait, $6 seconds between SIGTERM and SIGKILL. The start is the
    // 20th field behind the name in brackets.
    private const string Script = """
        cd /
        pid=$1 start=$2 state=$3 keeper=$4 grace=$5 limit=$6
        same() { s=$(cat /proc/$pid/stat 2>/dev/null) || return 1; set -- ${s##*) }; [ "${20}" = "$start" ]; }
        read -r word && exit 0
        while [ "$grace" -gt 0 ]; do
            same && grep -q "$keeper" "$state" 2>/dev/null || exit 0
            sleep 1
            grace=$((grace - 1))
        done
        same && grep -q "$keeper" "$state" 2>/dev/null || exit 0
        kill -TERM "$pid"
        while [ "$limit" -gt 0 ] && same; do sleep 1; limit=$((limit - 1)); done
        same && kill -KILL "$pid"
        """;

    private readonly Process _shell;

    private ServerGuard(Process shell) => _shell = shell;

    /// <summary>How long a server outlives its client.</summary>
    public static TimeSpan Grace => TimeSpan.FromSeconds(
        Environment.GetEnvironmentVariable(Variable) is { } text && int.TryParse(text.TrimEnd('s'), out int seconds) && seconds >= 0
            ? seconds
            : DefaultGraceSeconds);

    /// <summary>The process of the shell.</summary>
    public int ProcessId => _shell.Id;

    /// <param name="server">The server that is to be ended.</param>
    /// <param name="stateFile">Names its keeper.</param>
    /// <param name="keeper">Letters and digits: this process as the keeper of the server.</param>
    /// <param name="grace">How long the server outlives this process.</param>
    /// <param name="stopLimit">The time from SIGTERM to SIGKILL.</param>
    /// <returns>Null where there is no shell: then nobody ends the server.</returns>
    public static ServerGuard? Start(ProcessIdentity server, string stateFile, string keeper, TimeSpan grace, TimeSpan stopLimit)
    {
        var start = new ProcessStartInfo("/bin/sh") { RedirectStandardInput = true };
        // In a session of its own: what ends this process's group, or its terminal, must not end it.
        string[] arguments =
        [
            "-c", "exec >/dev/null 2>&1; command -v setsid >/dev/null && exec setsid sh -c \"$0\" mongoperf-guard \"$@\"; "
                + "exec sh -c \"$0\" mongoperf-guard \"$@\"", Script,
            $"{server.ProcessId}", $"{server.StartTicks}", Path.GetFullPath(stateFile), keeper, $"{(int)grace.TotalSeconds}",
            $"{(int)stopLimit.TotalSeconds}",
        ];
        foreach (string argument in arguments)
            start.ArgumentList.Add(argument);
        try
        {
            return new ServerGuard(Process.Start(start)!);
        }
        catch (Win32Exception)
        {
            return null;
        }
    }

    /// <summary>The server is to continue without this process.</summary>
    public void Leave()
    {
        try
        {
            _shell.StandardInput.WriteLine("leave");
            _shell.StandardInput.Flush();
        }
        catch (IOException)
        {
            // It has ended, and guards nothing.
        }

        Dispose();
    }

    /// <summary>Ends the shell once the server has ended, which it sees by itself.</summary>
    public void Dispose()
    {
        try
        {
            _shell.StandardInput.Close();
        }
        catch (IOException)
        {
            // As good as closed.
        }

        _shell.Dispose();
    }
}
