using System.Diagnostics;
using MongoPerf.Deployments.Processes;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

/// <summary>
/// A server whose client was killed does not stay for long. To the guard a client that closes its pipe is one that was killed.
/// </summary>
public sealed class ServerGuardTests : IDisposable
{
    private const string Keeper = "a1b2c3";

    private readonly TemporaryFolder _folder = new();
    // A name with blanks and brackets, as the system shows it between brackets.
    private readonly Process _server;

    public ServerGuardTests()
    {
        string program = _folder.At("my (server) x");
        File.Copy("/bin/sleep", program);
        _server = Process.Start(program, ["600"]);
    }

    public void Dispose()
    {
        _server.Kill();
        _server.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public void It_ends_the_server_when_its_client_is_gone()
    {
        ServerGuard guard = Start(Keeper);
        Assert.False(_server.WaitForExit(200));
        EndAndWait(guard, guard.Dispose);
        Assert.True(_server.WaitForExit(60_000), "it still runs");
    }

    [Fact]
    public void It_leaves_a_server_that_another_client_has_taken_over()
    {
        ServerGuard guard = Start("another");
        EndAndWait(guard, guard.Dispose);
        Assert.False(_server.HasExited);
    }

    [Fact]
    public void It_leaves_a_server_that_is_to_stay()
    {
        ServerGuard guard = Start(Keeper);
        EndAndWait(guard, guard.Leave);
        Assert.False(_server.HasExited);
    }

    [Fact]
    public void It_leaves_a_process_that_only_has_the_number_of_the_server()
    {
        ServerGuard guard = Start(Keeper, start: 1);
        EndAndWait(guard, guard.Dispose);
        Assert.False(_server.HasExited);
    }

    private ServerGuard Start(string keeper, long start = 0)
    {
        ProcessIdentity identity = ProcessTable.System.Find(_server.Id)!;
        new ProcessState { ProcessId = _server.Id, Keeper = keeper }.Write(_folder.Path);
        return ServerGuard.Start(
            start == 0 ? identity : identity with { StartTicks = start }, ProcessState.PathIn(_folder.Path), Keeper,
            TimeSpan.Zero, TimeSpan.FromSeconds(5))!;
    }

    private static void EndAndWait(ServerGuard guard, Action end)
    {
        using var shell = Process.GetProcessById(guard.ProcessId);
        end();
        Assert.True(shell.WaitForExit(60_000), "the guard still waits");
    }
}
