using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>A scenario in which nothing grows, broken off in its load and in its mix.</summary>
[Collection(HeavyTests.Name)]
public sealed class BrokenOffScenarioTests : IDisposable
{
    private const long Loaded = 20_000;
    private const int Interrupted = 130;
    private const int Killed = 128 + 9;

    private const string Text = """
        data:
          users:
            count: 20k
            document: {number: ^number, name: ^word, text: {^string: [50, 150]}}
            indexes: [number]
        phases:
          - {load: users, batch: 1}
          - name: mix
            threads: 4
            think: 5ms
            count: 3000
            operations:
              - {find: users, name: read, weight: 8, filter: {number: {^field: number}}, limit: 1}
              - {insert: users, name: add, weight: 2}
          - name: sizes
            sizes: users
        """;

    private readonly RunsFolder _runs = new();
    private readonly string _file;

    public BrokenOffScenarioTests()
    {
        _file = _runs.At(".scenario.yaml");
        File.WriteAllText(_file, Text);
    }

    public void Dispose() => _runs.Dispose();

    // One on each server: what each of them keeps is for other tests.
    [Fact]
    public void Ctrl_c_in_the_load_and_in_the_mix_loses_nothing_and_resume_goes_on()
    {
        const string kind = "embedded";
        using (ProgramRun run = Start(kind))
        {
            WaitInTheLoad(run);
            run.SendInterruptToGroup();
            ProgramResult result = run.WaitForEnd().Expect(Interrupted);
            Assert.Contains($"mongoperf resume {_runs.Id} --out {_runs.Path}", result.Errors, StringComparison.Ordinal);
            JsonElement saved = JsonShape.Check(JsonShape.Run, File.ReadAllText(_runs.At(_runs.Id, "report", "result.json")));
            Assert.Equal("interrupted", saved.GetProperty("run").Text("state"));
            Assert.False(saved.Items("phases")[^1].GetProperty("complete").GetBoolean());
        }

        using (ProgramRun run = Resume(kind))
        {
            WaitInTheMix(run);
            run.SendInterrupt();
            run.WaitForEnd().Expect(Interrupted);
        }

        AssertEndsWhole(kind);
    }

    [MongodFact]
    public void Kill_9_in_the_load_and_in_the_mix_loses_nothing_and_resume_goes_on()
    {
        const string kind = "mongod";
        using (ProgramRun run = Start(kind))
        {
            WaitInTheLoad(run);
            run.Kill();
            Assert.Equal(Killed, run.WaitForEnd().ExitCode);
        }

        using (ProgramRun run = Resume(kind))
        {
            WaitInTheMix(run);
            run.Kill();
            Assert.Equal(Killed, run.WaitForEnd().ExitCode);
        }

        AssertEndsWhole(kind);
    }

    private ProgramRun Start(string kind) =>
        ProgramRun.Start(new ProgramOptions { Server = kind, WriteReport = true }, "run", _file, "--verify", "all", "--out", _runs.Path);

    private ProgramRun Resume(string kind) =>
        ProgramRun.Start(new ProgramOptions { Server = kind }, "resume", _runs.Id, "--out", _runs.Path);

    private void WaitInTheLoad(ProgramRun run)
    {
        using var watch = GrowthWatch.Of(_runs, "users");
        Assert.True(watch.WaitFor(run, 3000), "the load ended too early");
    }

    private void WaitInTheMix(ProgramRun run)
    {
        Assert.True(run.WaitForLine("phase: mix"), "the run ended too early");
        using var watch = GrowthWatch.Of(_runs, "users");
        Assert.True(watch.WaitFor(run, Loaded + 50), "the mix ended too early");
    }

    private void AssertEndsWhole(string kind)
    {
        JsonElement report = ProgramRun.Run(new ProgramOptions { Server = kind }, "resume", _runs.Id, "--out", _runs.Path,
            "--format", "json").Expect(0).Report();
        Assert.Equal("finished", report.GetProperty("run").Text("state"));
        Assert.Equal(["load users", "mix", "sizes"], report.Items("phases").Select(phase => phase.Text("phase")));
        Assert.All(report.Items("phases"), phase => Assert.True(phase.GetProperty("complete").GetBoolean(), phase.Text("phase")));
        Assert.Equal(Loaded, report.Items("phases")[0].Number("documents"));
        Assert.Equal(2, report.Items("events").Count(happened => happened.Text("kind") == "resumed"));
        JsonElement mix = report.Phase("mix");
        Assert.All(mix.Items("operations"), operation => Assert.Equal((0L, 0L), (operation.Number("failed"), operation.Number("wrong"))));

        PlanCollection users = Documents.CollectionOf(_file);
        using TestServer server = TestServer.OnDataOf(_runs, kind);
        using MongoConnection connection = server.Connect();
        long stored = Documents.Count(connection, "mongoperf", "users");
        Assert.Equal(stored, Assert.Single(report.Phase("sizes").Items("sizes")).Number("documents"));
        Assert.True(stored >= Loaded + 50 + mix.Operation("add").Number("documents"), $"{stored} documents");
        Documents.AssertRight(connection, stored, "mongoperf", "users", users.Documents);
    }
}
