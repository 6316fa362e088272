using System.Net;
using MongoPerf.Deployments;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Refuses a run whose connections would not all come to be: names the limit before the run, not in its middle.</summary>
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

    /// <summary>How long Linux keeps the port of a connection that this side has closed (TCP_TIMEWAIT_LEN).</summary>
    private const int ClosedSeconds = 60;

    /// <summary>The threads of the phase that needs most.</summary>
    public static int ThreadsOf(Plan scenario) => MostOf(scenario, group => group.Threads);

    /// <summary>The connections of the phase that needs most.</summary>
    public static int ConnectionsOf(Plan scenario) => MostOf(scenario, group => group.MostConnections);

    private static int MostOf(Plan scenario, Func<PhaseGroup, int> of) =>
        scenario.Phases.SelectMany(PartsOf).Select(groups => groups.Sum(of)).DefaultIfEmpty(1).Max();

    /// <summary>What needs connections, for people: threads, unless some share them or open them by themselves.</summary>
    private static string UsersOf(Plan scenario) =>
        scenario.Phases.SelectMany(phase => phase.AllGroups).All(group => group.Connections is null) ? "threads" : "measuring connections";

    /// <summary>The groups that are at work at once, of each part of a phase.</summary>
    private static IEnumerable<IReadOnlyList<PhaseGroup>> PartsOf(Phase phase) => phase.Growth is { } growth
        ? [.. growth.Writes.SelectMany(write => write.Groups.Values).Select(group => (IReadOnlyList<PhaseGroup>)[group, .. growth.Beside]),
            .. growth.Each.Select(each => each.Groups)]
        : [phase.Groups];

    /// <exception cref="UserException">The client has too few file handles or ports, or no room for so many threads.</exception>
    public static void CheckClient(RunRequest request)
    {
        Plan plan = request.Plan.Plan;
        CheckClient(ConnectionsOf(plan), UsersOf(plan), ProcessLimit.Read(ProcessLimit.Handles));
        IReadOnlyList<ServerAddress> hosts = request.Uri is { } uri ? request.System.HostsOf(uri) : [];
        int? ports = PortRange.Count(SystemFile.ReadText(PortRange.Path));
        if (!hosts.Any(host => host.IsUnixSocket))
            CheckPorts(ConnectionsOf(plan), UsersOf(plan), Math.Max(1, hosts.Count), ports);
        // Linux gives ports of closed connections to itself out again after a second.
        if (hosts.Any(host => !IsHere(host)))
            CheckPorts(plan, ports);
        new MachineRoom().Check(ThreadsOf(plan), ConnectionsOf(plan), hosts.All(IsHere));
    }

    /// <param name="connections">The connections of the run.</param>
    /// <param name="users">What needs them.</param>
    /// <param name="addresses">How many addresses they lead to.</param>
    /// <param name="ports">How many connections to one address can have a port; null when that is not known.</param>
    internal static void CheckPorts(int connections, string users, int addresses, int? ports)
    {
        if (ports is { } each && connections > (long)each * addresses)
            throw new UserException(ExitCode.WrongUsage,
                $"{connections:N0} {users} need a port each, but this machine has {each:N0} for connections to one address",
                $"use at most {(long)each * addresses:N0}, widen the range (sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"), "
                + "or use several mongos, or agents on several machines (--agents)");
    }

    /// <param name="connections">The connections of the run.</param>
    /// <param name="users">What needs them.</param>
    /// <param name="handles">The handles that this process may have; null when that is not known.</param>
    internal static void CheckClient(int connections, string users, long? handles)
    {
        if (connections + OwnHandles > handles)
            throw new UserException(
                ExitCode.WrongUsage,
                $"{connections:N0} {users} need {connections + OwnHandles:N0} file handles, but this process is limited to {handles:N0}",
                $"raise the limit (ulimit -n {Math.Max(1024, connections + (2 * OwnHandles))}) or use fewer {users}");
    }

    /// <param name="scenario">About to run on another machine.</param>
    /// <param name="ports">How many connections to one server can have a port; null when that is not known.</param>
    internal static void CheckPorts(Plan scenario, int? ports)
    {
        foreach (Phase phase in scenario.Phases)
        {
            double closed = phase.AllGroups.Where(group => group.Connections is { Kind: ConnectionKind.Churn }).Sum(group => Math.Min(
                group.Count ?? double.MaxValue, group.Rate!.ArrivalsIn(Math.Min(ClosedSeconds, group.Seconds ?? ClosedSeconds))));
            if (closed > ports)
                throw new UserException(ExitCode.WrongUsage, $"phase '{phase.Name}' closes {closed:N0} connections in {ClosedSeconds} s, "
                    + $"for which each keeps its port, and this machine has {ports:N0} ports for connections to one server",
                    "open fewer per second (churn), or widen net.ipv4.ip_local_port_range");
        }
    }

    private static bool IsHere(ServerAddress host) => host.IsUnixSocket || host.Host == "localhost"
        || (IPAddress.TryParse(host.Host, out IPAddress? address) && IPAddress.IsLoopback(address));

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
        CheckServer((ConnectionsOf(scenario) + routers - 1) / routers, UsersOf(scenario), own, available);
    }

    /// <param name="connections">The connections of operations to the server.</param>
    /// <param name="users">What needs them.</param>
    /// <param name="own">Connections that the run needs beside theirs.</param>
    /// <param name="available">How many the server still takes; null when that is not known.</param>
    internal static void CheckServer(int connections, string users, int own, long? available)
    {
        if (available is { } left && connections + own > left)
            throw new UserException(ExitCode.WrongUsage,
                $"{connections:N0} {users} need {connections + own:N0} connections, {own} of them for sampling and watching, but "
                + $"the server has {left:N0} left (serverStatus connections.available)",
                $"use fewer {users}, or raise the server's limit: net.maxIncomingConnections (--maxConns), or its file handles "
                + "(ulimit -n; mongod uses 80 % of them)");
    }
}
