using System.Text.Json;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The server that a run started: it is started again when it dies, and a run continues on no other.</summary>
[Collection(KillingTests.Name)]
public sealed class OwnServerTests
{
    private static readonly string[] Series =
    [
        "series", "--target", "10k", "--step", "5k", "--shares", "10/60/30", "--batch", "50", "--threads", "4",
        "--window", "3s", "--rate", "200",
        "--max-skipped", "100%", "--tests", "unack,batch,safe,q4,size", "--format", "json",
    ];

    [MongodFact]
    public void A_server_that_is_killed_in_the_middle_is_started_again_and_the_series_ends_whole() => KillServer("mongod", "0", 4);

    [Fact]
    public void An_embedded_one_is_too_and_operations_that_failed_meanwhile_may_be_allowed() => KillServer("embedded", "1000000", 0);

    [MongodFact]
    public void A_series_goes_on_on_the_mongod_it_began_with_and_asks_for_one_that_this_machine_would_not_start()
    {
        using var runs = new RunsFolder();
        string mongod = runs.At("mongod");
        File.WriteAllText(mongod, $"#!/bin/sh\nexec {MongodBinary.Path} \"$@\"\n");
        File.SetUnixFileMode(mongod, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        var options = new ProgramOptions
        {
            Folder = runs.Path, Environment = new Dictionary<string, string?> { ["MONGOPERF_MONGOD"] = "./mongod" },
        };
        using (ProgramRun run = ProgramRun.Start(options, [.. Series, "--out", runs.Path]))
        {
            using var watch = GrowthWatch.Of(runs);
            Assert.True(watch.WaitFor(run, 3000), "the series ended too early");
            run.SendInterrupt();
            run.WaitForEnd().Expect(130);
        }

        // From another folder, and without the variable.
        string[] resume = ["resume", runs.Id, "--out", runs.Path, "--format", "json"];
        File.Move(mongod, mongod + ".away");
        ProgramRun.Run(resume).Expect(2).Says($"this run used {mongod}, which no longer exists").Says("--mongod");
        Assert.False(File.Exists(Path.Combine(runs.DataPath, "CURRENT")), "the embedded server was started in mongod's folder");
        File.Move(mongod + ".away", mongod);
        ProgramRun.Run(resume).Expect(2)
            .Says($"this run used {mongod}, which MongoPerf does not start on this machine unless it is named").Says($"--mongod {mongod}");
        ProgramResult result = ProgramRun.Run([.. resume, "--mongod", mongod]).Expect(0);
        Assert.Equal("mongod", result.Report().GetProperty("deployment").Text("kind"));
        AssertWhole(runs, "mongod");
    }

    [MongodFact]
    public void A_run_that_is_killed_while_its_server_starts_goes_on_on_the_server_that_it_chose()
    {
        using var runs = new RunsFolder();
        string mongod = runs.At("mongod");
        string go = runs.At("go");
        File.WriteAllText(mongod, $"#!/bin/sh\n[ \"$1\" = --version ] && exec {MongodBinary.Path} --version\n"
            + $"while [ ! -e {go} ]; do sleep 0.05; done\nexec {MongodBinary.Path} \"$@\"\n");
        File.SetUnixFileMode(mongod, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        using (ProgramRun run = ProgramRun.Start(new ProgramOptions(), "series", "--target", "1k", "--tests", "batch,size",
            "--mongod", mongod, "--out", runs.Path))
        {
            Assert.True(run.WaitUntil(() => runs.Find(stored => stored.FindNote("server kind")) is not null
                && ProcessState.Read(runs.DataPath) is { ProcessId: > 0 }, "the note"));
            run.Kill();
        }

        using (Storage.StoredRun stored = runs.FindStored()!)
            Assert.Equal((null, "Mongod"), (stored.Deployment, stored.FindNote("server kind")));
        File.WriteAllText(go, "");
        ProgramResult result = ProgramRun.Run("resume", runs.Id, "--mongod", mongod, "--out", runs.Path, "--format", "json").Expect(0);
        Assert.Equal("mongod", result.Report().GetProperty("deployment").Text("kind"));
    }

    [MongodFact]
    public void A_series_of_the_embedded_server_goes_on_on_it_where_there_is_a_mongod_now()
    {
        using var runs = new RunsFolder();
        using (ProgramRun run = ProgramRun.Start(new ProgramOptions(), [.. Series, "--out", runs.Path]))
        {
            using var watch = GrowthWatch.Of(runs);
            Assert.True(watch.WaitFor(run, 3000), "the series ended too early");
            run.SendInterrupt();
            run.WaitForEnd().Expect(130);
        }

        var options = new ProgramOptions { Environment = new Dictionary<string, string?> { ["MONGOPERF_MONGOD"] = MongodBinary.Path } };
        ProgramResult result = ProgramRun.Run(options, "resume", runs.Id, "--out", runs.Path, "--format", "json").Expect(0);
        Assert.Equal("embedded", result.Report().GetProperty("deployment").Text("kind"));
    }

    private static void KillServer(string kind, string maxErrors, int exitCode)
    {
        using var runs = new RunsFolder();
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions { Server = kind }, [.. Series, "--max-errors", maxErrors, "--out", runs.Path]);
        Assert.True(run.WaitForLine(": unack "), "the series ended too early");
        ProcessTable.System.Signal(ProcessState.Read(runs.DataPath)!.Identity, SystemCalls.Kill);
        // Again among the operations of q4, which the next server counts: outside of a phase's operations a kill makes none of them fail.
        using var watch = GrowthWatch.Of(runs);
        Assert.True(run.WaitUntil(() => watch.CountFinds() > 100, "q4 after the first kill"), "the series ended too early");
        ProcessTable.System.Signal(ProcessState.Read(runs.DataPath)!.Identity, SystemCalls.Kill);
        ProgramResult result = run.WaitForEnd().Expect(exitCode);

        JsonElement report = result.Report();
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal([5000, 10_000], report.GrowthSteps().Select(step => step.Documents));
        Assert.True(report.GetProperty("accounting").Number("failed") > 0, "no failed operation was counted");
        JsonElement[] restarts = [.. report.Items("events").Where(happened => happened.Text("kind") == "restart")];
        Assert.True(restarts.Length == 2, $"{restarts.Length} restarts, there were two kills: {result.All}");
        Assert.Contains(
            report.Items("events"), happened => happened.Text("kind") == "reconnect" && happened.GetProperty("seconds").GetDouble() > 0);
        AssertWhole(runs, kind);
    }

    private static void AssertWhole(RunsFolder runs, string kind)
    {
        using TestServer server = TestServer.OnDataOf(runs, kind);
        using MongoConnection connection = server.Connect();
        Documents.AssertWhole(connection, 10_000);
    }
}
