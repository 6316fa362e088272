using MongoPerf.Deployments;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>Refuses a run whose threads would not all get a connection: names the limit before the run, not in its middle.</summary>
internal static class ConnectionRoom
{
    /// <summary>The handles for files, sampling and the runtime itself, whose libraries have two each.</summary>
    private const int OwnHandles = 160;

    /// <summary>The sampler, the lease, and a look at the servers; those of preparation are open when the server is asked.</summary>
    private const int OwnConnections = 3;

    /// <summary>Of a replica set or cluster: its members' state, and who the primaries are.</summary>
    private const int WatchingConnections = 2;

    /// <summary>MongoDB.Driver has a heartbeat and a round-trip time of its own for each server.</summary>
    private const int DriverConnections = 2;

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
    /// <param name="deployment">On which it runs; several mongos share the threads.</param>
    /// <param name="engine">The client of the threads.</param>
    /// <param name="available">serverStatus connections.available; null when the server does not say.</param>
    /// <exception cref="UserException">The server takes fewer connections.</exception>
    public static void CheckServer(Plan scenario, IDeployment deployment, EngineKind engine, long? available)
    {
        int routers = deployment.Cluster?.Router == RouterKind.Mongos ? deployment.Readable.Count : 1;
        int own = OwnConnections + (deployment.WatchedSets.Count > 0 || deployment.Cluster is not null ? WatchingConnections : 0)
            + (engine == EngineKind.Driver ? DriverConnections : 0);
        CheckServer((ThreadsOf(scenario) + routers - 1) / routers, own, available);
    }

    /// <param name="threads">The threads that connect to the server.</param>
    /// <param name="own">Connections that the run needs beside theirs.</param>
    /// <param name="available">How many the server still takes; null when that is not known.</param>
    internal static void CheckServer(int threads, int own, long? available)
    {
        if (available is { } left && threads + own > left)
            throw new UserException(ExitCode.WrongUsage,
                $"{threads:N0} threads need {threads + own:N0} connections, {own} of them for sampling and watching, but the server has "
                + $"{left:N0} left (serverStatus connections.available)",
                "use fewer threads, or raise the server's limit: net.maxIncomingConnections (--maxConns), or its file handles "
                + "(ulimit -n; mongod uses 80 % of them)");
    }
}
