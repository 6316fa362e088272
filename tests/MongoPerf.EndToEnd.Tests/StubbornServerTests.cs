using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Servers that keep a run waiting, and what Ctrl+C does about them.</summary>
public sealed class StubbornServerTests
{
    private const int Interrupted = 130;

    [Fact]
    public void Ctrl_c_ends_the_wait_for_a_server_that_says_nothing_and_leaves_nothing_behind()
    {
        using var asked = new ManualResetEventSlim();
        using var server = new ScriptedListener("silent server", socket =>
        {
            byte[] ignored = new byte[1];
            ScriptedListener.ReadFully(socket, ignored);
            asked.Set();
            ScriptedListener.ReadFully(socket, new byte[1 << 20]);
        });
        using var runs = new RunsFolder();
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions(), "series", "--target", "1k",
            "--uri", $"mongodb://{server.Address}/?connectTimeoutMS=300000", "--out", runs.Path);
        Assert.True(run.WaitUntil(() => asked.IsSet, "a connection"), "the program did not wait for the server");
        run.SendInterrupt();
        run.WaitForEnd().Expect(Interrupted).Says("interrupted before anything was measured");
        Assert.Empty(Directory.GetFileSystemEntries(runs.Path));
    }

    [MongodFact]
    public void A_second_ctrl_c_ends_the_servers_too()
    {
        using var runs = new RunsFolder();
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions { Server = "mongod" }, "series", "--target", "10M", "--tests", "batch", "--no-tui", "--out", runs.Path);
        Assert.True(run.WaitForLine("estimated time"), "the series ended too early");
        ProcessIdentity server = ProcessState.Read(runs.At(runs.Id, "data"))!.Identity;
        run.SendInterrupt();
        // It may have ended by then, before it could say so.
        if (run.WaitForLine("interrupt again to quit at once"))
        {
            // What comes within a second of the first is taken for one with it.
            Thread.Sleep(1000);
            if (!run.HasEnded)
                run.SendInterrupt();
        }

        run.WaitForEnd().Expect(Interrupted);
        Assert.True(ProcessTable.System.WaitForEnd(server, TimeSpan.FromMinutes(1)));
    }
}
