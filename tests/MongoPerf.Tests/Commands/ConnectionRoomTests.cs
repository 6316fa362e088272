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
            () => ConnectionRoom.CheckClient(1000, ProcessLimit.Parse(Limits, ProcessLimit.Handles)));
        Assert.Equal("1,000 threads need 1,160 file handles, but this process is limited to 1,024", refused.Message);
        ConnectionRoom.CheckClient(860, ProcessLimit.Parse(Limits, ProcessLimit.Handles));
        ConnectionRoom.CheckClient(860, ProcessLimit.Parse("", ProcessLimit.Handles));
    }

    /// <summary>At 1,024 file handles mongod takes 819 connections.</summary>
    [Fact]
    public void Limit_of_the_servers_connections_is_named_before_the_run()
    {
        UserException refused = Assert.Throws<UserException>(() => ConnectionRoom.CheckServer(816, own: 3, 818));
        Assert.Equal("816 threads need 819 connections, 3 of them for sampling and watching, but the server has 818 left "
            + "(serverStatus connections.available)", refused.Message);
        Assert.Equal(ExitCode.WrongUsage, refused.Code);
        ConnectionRoom.CheckServer(815, own: 3, 818);
        ConnectionRoom.CheckServer(816, own: 3, null);
    }

    [Fact]
    public void Groups_of_a_phase_need_their_connections_at_once() => Assert.Equal(12, ConnectionRoom.ThreadsOf(ScenarioTexts.Plan(
        ScenarioTexts.Data + "phases:\n  - groups: [{name: a, threads: 5, count: 1, operations: [{find: users, key: uniform}]}, {name: b, "
        + "threads: 7, operations: [{find: users, key: uniform, name: x}]}]\n")));
}
