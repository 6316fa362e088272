using MongoPerf.Load.Plans;
using MongoPerf.Platforms;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Refuses a run whose threads would not all get a connection: names the limit before the run, not in its middle.</summary>
internal static class ConnectionRoom
{
    /// <summary>The handles for files, sampling and the runtime itself, whose libraries have two each.</summary>
    private const int OwnHandles = 160;

    /// <summary>Sampling, leases and preparation have connections too.</summary>
    private const int OwnConnections = 4;

    /// <summary>The threads of the phase that needs most.</summary>
    public static int ThreadsOf(Plan scenario) =>
        scenario.Phases.SelectMany(PartsOf).Select(groups => groups.Sum(g => g.Threads)).DefaultIfEmpty(1).Max();

    /// <summary>The groups that are at work at once, of each part of a phase.</summary>
    private static IEnumerable<IReadOnlyList<PhaseGroup>> PartsOf(Phase phase) => phase.Growth is { } growth
        ? [.. growth.Writes.SelectMany(write => write.Groups.Values).Select(group => (IReadOnlyList<PhaseGroup>)[group, .. growth.Beside]),
            .. growth.Each.Select(each => each.Groups)]
        : [phase.Groups];

    /// <exception cref="UserException">The client has too few file handles.</exception>
    public static void CheckClient(Plan scenario) => CheckClient(ThreadsOf(scenario), ProcessLimit.Read(ProcessLimit.Handles));

    /// <param name="threads">The threads of the run.</param>
    /// <param name="handles">The handles that this process may have; null when that is not known.</param>
    internal static void CheckClient(int threads, long? handles)
    {
        if (threads + OwnHandles > handles)
            throw new UserException(
                ExitCode.WrongUsage,
                $"{threads:N0} threads need {threads + OwnHandles:N0} file handles, but this process is limited to {handles:N0}",
                $"raise the limit (ulimit -n {Math.Max(1024, threads + (2 * OwnHandles))}) or use fewer threads");
    }

    /// <param name="scenario">About to run.</param>
    /// <param name="available">serverStatus connections.available; null when the server does not say.</param>
    /// <exception cref="UserException">The server takes fewer connections.</exception>
    public static void CheckServer(Plan scenario, long? available)
    {
        int threads = ThreadsOf(scenario);
        if (available is { } left && threads + OwnConnections > left)
            throw new UserException(ExitCode.WrongUsage, $"{threads:N0} threads need {threads + OwnConnections:N0} connections, but the "
                + $"server has {left:N0} left (serverStatus connections.available)", "raise the server's file handle limit (ulimit -n; "
                    + "mongod uses 80 % of it) or its net.maxIncomingConnections, or use fewer threads");
    }
}
