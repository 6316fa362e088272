using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Scenarios;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Scenarios of published series at a thousandth of their sizes and less, on a real mongod: what each phase did is what its file says.</summary>
[Collection(LightTests.Name)]
public sealed class PublishedScenarioTests(TestServers servers) : IClassFixture<TestServers>, IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    /// <summary>One of each kind; those that are left out differ in sizes and hot sets only.</summary>
    [MongodTheory]
    [InlineData("report-2.4.8/i1", "0.002")]
    [InlineData("report-2.4.8/i4", "0.000005")]
    [InlineData("report-2.4.8/i7", "0.000005")]
    [InlineData("report-2.4.8/i8", "0.0001")]
    [InlineData("report-2.4.8/i9", "0.005", "--verify", "all")]
    [InlineData("report-2.4.8/q1", "0.00002", "--duration", "200ms")]
    [InlineData("report-2.4.8/q3", "0.0001")]
    [InlineData("report-2.4.8/q4", "0.0001")]
    [InlineData("report-2.4.8/q7", "0.00002", "--duration", "200ms")]
    [InlineData("report-2.4.8/q9", "0.000005", "--duration", "200ms")]
    [InlineData("report-2.4.8/o1", "0.00002", "--duration", "500ms")]
    [InlineData("report-2.4.8/o2", "0.00002")]
    [InlineData("news", "0.0005", "--duration", "200ms")]
    public void Each_phase_does_what_the_file_says(string name, string scale, params string[] more)
    {
        string database = servers.NewDatabase();
        ProgramResult ended = ProgramRun.Run(
            ["run", name, "--uri", servers["mongod"].Uri, "--db", database, "--scale", scale, "--quiet", "--out", _runs.Path, "--format", "json", .. more]).Expect(0);
        IReadOnlyList<JsonElement> steps = JsonDocument.Parse(ended.Output).RootElement.Items("steps");
        Scenario scenario = ScenarioReader.Read(ScenarioFile.Find(name), new ScenarioOverrides { Scale = double.Parse(scale) }, Documents.DefaultSeed).Scenario;
        ScenarioPhase[] phases = [.. scenario.Rounds.SelectMany(round => round.Phases)];
        Assert.Equal(phases.Length, steps.Count);
        foreach ((ScenarioPhase phase, JsonElement step) in phases.Zip(steps))
            AssertDone(scenario, phase, step.Items("tests"), isLimitedByTime: more.Contains("--duration"));
        AssertStored(scenario.Rounds[^1], steps, database);
    }

    private static void AssertDone(Scenario scenario, ScenarioPhase phase, IReadOnlyList<JsonElement> tests, bool isLimitedByTime)
    {
        Assert.All(tests, t => Assert.Equal((0, 0), (t.Number("failed"), t.Number("wrong"))));
        Assert.True(tests.Sum(t => t.Number("operations")) > 0, $"nothing was done in {phase.Name}");
        if (phase.Loads is { } loaded)
            Assert.Contains(Assert.Single(tests).Number("documents"), scenario.Rounds.Select(r => r.Collections.Single(c => c.Name == loaded).Count));
        else if (!isLimitedByTime && phase.Groups is [{ Count: { } count }])
            Assert.Equal(count, tests.Sum(t => t.Number("operations")));
    }

    /// <summary>The last round's documents: loaded, inserted and deleted ones together.</summary>
    private void AssertStored(ScenarioRound round, IReadOnlyList<JsonElement> steps, string database)
    {
        using MongoConnection connection = servers["mongod"].Connect();
        JsonElement[] measured = [.. steps.TakeLast(round.Phases.Count).Zip(round.Phases).Where(p => p.Second.Loads is null).SelectMany(p => p.First.Items("tests"))];
        long inserted = measured.Where(t => t.Text("test") is "insert" or "insertMany" or "write" && IsInsert(round, t)).Sum(t => t.Number("documents"));
        long deleted = measured.Where(t => t.Text("test") == "delete").Sum(t => t.Number("documents"));
        foreach (ScenarioCollection collection in round.Collections)
        {
            long expected = collection.Count + (round.Collections.Count == 1 ? inserted - deleted : 0);
            Assert.Equal(expected, Documents.Count(connection, database, collection.Name));
        }
    }

    private static bool IsInsert(ScenarioRound round, JsonElement test) =>
        round.Phases.SelectMany(p => p.Groups).SelectMany(g => g.Operations).Any(o => o.Operation.Test == test.Text("test") && o.Operation is Engine.Workloads.Operations.InsertDocuments);
}
