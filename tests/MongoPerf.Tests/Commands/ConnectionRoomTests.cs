using MongoPerf.Load.Plans;
using MongoPerf.Platforms;
using MongoPerf.Running.Sessions;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

public sealed class ConnectionRoomTests
{
    private const string Limits = "Limit                     Soft Limit           Hard Limit           Units     \n"
        + "Max open files            1024                 1048576              files     \n";

    [Fact]
    public void Limit_of_the_clients_file_handles_is_named_before_the_run()
    {
        UserException refused = Assert.Throws<UserException>(
            () => ConnectionRoom.CheckClient(1000, "threads", ProcessLimit.Parse(Limits, ProcessLimit.Handles)));
        Assert.Equal("1,000 threads need 1,160 file handles, but this process is limited to 1,024", refused.Message);
        ConnectionRoom.CheckClient(860, "threads", ProcessLimit.Parse(Limits, ProcessLimit.Handles));
        ConnectionRoom.CheckClient(860, "threads", ProcessLimit.Parse("", ProcessLimit.Handles));
    }

    /// <summary>At 1,024 file handles mongod takes 819 connections.</summary>
    [Fact]
    public void Limit_of_the_servers_connections_is_named_before_the_run()
    {
        UserException refused = Assert.Throws<UserException>(() => ConnectionRoom.CheckServer(816, "threads", own: 3, 818));
        Assert.Equal("816 threads need 819 connections, 3 of them for sampling and watching, but the server has 818 left "
            + "(serverStatus connections.available)", refused.Message);
        Assert.Equal(ExitCode.WrongUsage, refused.Code);
        ConnectionRoom.CheckServer(815, "threads", own: 3, 818);
        ConnectionRoom.CheckServer(816, "threads", own: 3, null);
    }

    [Fact]
    public void Groups_of_a_phase_need_their_connections_at_once() => Assert.Equal(12, ConnectionRoom.ThreadsOf(ScenarioTexts.Plan(
        ScenarioTexts.Data + "phases:\n  - groups: [{name: a, threads: 5, count: 1, operations: [{find: users, key: uniform}]}, {name: b, "
        + "threads: 7, operations: [{find: users, key: uniform, name: x}]}]\n")));

    [Theory]
    [InlineData("threads: 900, connections: {pool: 20}", 20)]
    [InlineData("threads: 30, connections: {churn: 50/s}", 30)]
    [InlineData("connections: {storm: 2000}", 2000)]
    public void Threads_that_share_connections_need_no_more_than_these(string group, int connections) =>
        Assert.Equal(connections, ConnectionRoom.ConnectionsOf(Group(group)));

    /// <summary>Each connection that this side closes keeps its port for a minute.</summary>
    [Fact]
    public void Ports_that_closed_connections_keep_are_counted_before_the_run()
    {
        int? ports = PortRange.Count("32768\t60999\n");
        Assert.Equal(28_232, ports);
        Assert.Null(PortRange.Count(""));
        Plan plan = Group("duration: 5m, connections: {churn: 1000/s}");
        UserException refused = Assert.Throws<UserException>(() => ConnectionRoom.CheckPorts(plan, ports));
        Assert.Equal("phase 'p' closes 60,000 connections in 60 s, for which each keeps its port, and this machine has 28,232 ports for "
            + "connections to one server", refused.Message);
        ConnectionRoom.CheckPorts(plan, null);
        ConnectionRoom.CheckPorts(Group("duration: 20s, connections: {churn: 1000/s}"), ports);
        ConnectionRoom.CheckPorts(Group("count: 20k, connections: {churn: 1000/s}"), ports);
        ConnectionRoom.CheckPorts(Group("duration: 5m, connections: {churn: 400/s}"), ports);
    }

    [Fact]
    public void Each_connection_needs_a_port_of_its_own()
    {
        ConnectionRoom.CheckPorts(28_232, "threads", addresses: 1, ports: 28_232);
        ConnectionRoom.CheckPorts(28_233, "threads", addresses: 2, ports: 28_232);
        ConnectionRoom.CheckPorts(28_233, "threads", addresses: 1, ports: null);
        UserException refused =
            Assert.Throws<UserException>(() => ConnectionRoom.CheckPorts(28_233, "threads", addresses: 1, ports: 28_232));
        Assert.Equal("28,233 threads need a port each, but this machine has 28,232 for connections to one address", refused.Message);
        Assert.StartsWith("use at most 28,232, widen the range (sysctl -w net.ipv4.ip_local_port_range=", refused.Hint,
            StringComparison.Ordinal);
    }

    private static Plan Group(string keys) => ScenarioTexts.Plan(ScenarioTexts.Data
        + $"phases: [{{name: p, {keys}, operations: [{{find: users, key: uniform}}]}}]\n");
}
