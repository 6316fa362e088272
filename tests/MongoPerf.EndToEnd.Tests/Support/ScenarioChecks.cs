using System.Text.Json;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Scenarios;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>A scenario's run against its file: phases, operations and what is stored in the end.</summary>
internal sealed class ScenarioChecks
{
    private readonly Scenario _scenario;
    private readonly IReadOnlyList<JsonElement> _steps;
    private readonly bool _isLimitedByTime;

    /// <param name="name">Of the scenario.</param>
    /// <param name="overrides">That the run was given.</param>
    /// <param name="ended">The run, with --format json.</param>
    public ScenarioChecks(string name, ScenarioOverrides overrides, ProgramResult ended)
    {
        // How long phases take changes nothing of what the file counts.
        _isLimitedByTime = overrides.Duration is not null;
        _scenario = ScenarioReader.Read(ScenarioFile.Find(name), overrides, Documents.DefaultSeed).Scenario;
        _steps = JsonDocument.Parse(ended.Output).RootElement.Items("steps");
    }

    /// <summary>Every phase was run, nothing failed, and as much was done as the file counts.</summary>
    public void AssertDone()
    {
        ScenarioPhase[] phases = [.. _scenario.Rounds.SelectMany(round => round.Phases)];
        Assert.Equal(phases.Length, _steps.Count);
        foreach ((ScenarioPhase phase, JsonElement step) in phases.Zip(_steps))
            AssertDone(phase, step.Items("tests"));
    }

    /// <summary>The last round's documents are there: loaded, inserted and not deleted.</summary>
    public void AssertStored(MongoConnection connection, string database)
    {
        ScenarioRound round = _scenario.Rounds[^1];
        (CollectionOperation Operation, JsonElement Test)[] measured =
        [
            .. round.Phases.Zip(_steps.TakeLast(round.Phases.Count)).Where(p => p.First.Loads is null)
                .SelectMany(p => p.Second.Items("tests").Select(test => (p.First.Groups.SelectMany(g => g.Operations).First(o => o.Operation.Test == test.Text("test")).Operation, test))),
        ];
        foreach (ScenarioCollection collection in round.Collections)
        {
            (CollectionOperation Operation, JsonElement Test)[] own = [.. measured.Where(m => m.Operation.Collection == collection.Name)];
            long expected = collection.Count + own.Where(m => m.Operation.Inserts).Sum(m => m.Test.Number("documents"))
                - own.Where(m => m.Operation is DeleteDocuments).Sum(m => m.Test.Number("operations"));
            // The last one of a bucket's holds a document for each file.
            long stored = Documents.Count(connection, database, collection.Stored[^1].Name);
            if (collection.Files is { } files)
                Assert.Equal(stored * files.ChunkCount, Documents.Count(connection, database, files.Bucket.Chunks));
            // Warm-up is in no result.
            Assert.True(_isLimitedByTime ? stored >= expected : stored == expected, $"{collection.Name}: {stored} documents, {expected} expected");
        }
    }

    private void AssertDone(ScenarioPhase phase, IReadOnlyList<JsonElement> tests)
    {
        Assert.All(tests, t => Assert.Equal((0, 0), (t.Number("failed"), t.Number("wrong"))));
        Assert.True(tests.Sum(t => t.Number("operations")) > 0, $"nothing was done in {phase.Name}");
        if (phase.Loads is { } loaded)
            Assert.Contains(Assert.Single(tests).Number("documents"), _scenario.Rounds.Select(r => r.Collections.Single(c => c.Name == loaded).Count));
        else if (phase.Groups is [{ Count: { } count }])
            Assert.Equal(count, tests.Sum(t => t.Number("operations")));
    }
}
