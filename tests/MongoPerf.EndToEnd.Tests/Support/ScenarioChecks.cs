using System.Text.Json;
using MongoPerf.Engine.Workloads;
using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Scenarios;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>A scenario's run against its file: phases, operations and what is stored in the end.</summary>
internal sealed class ScenarioChecks
{
    private readonly Scenario _scenario;
    private readonly IReadOnlyList<JsonElement> _steps;
    private readonly IReadOnlyList<JsonElement> _phases;
    private readonly bool _isLimitedByTime;

    /// <param name="name">Of the scenario.</param>
    /// <param name="overrides">That the run was given.</param>
    /// <param name="ended">The run, with --format json.</param>
    public ScenarioChecks(string name, ScenarioOverrides overrides, ProgramResult ended)
    {
        // How long phases take changes nothing of what the file counts.
        _isLimitedByTime = overrides.Duration is not null;
        _scenario = ScenarioReader.Read(ScenarioFile.Find(name), overrides, Documents.DefaultSeed).Scenario;
        JsonElement root = JsonDocument.Parse(ended.Output).RootElement;
        _steps = root.Items("steps");
        _phases = root.GetProperty("scenario").Items("phases");
    }

    /// <summary>Every phase was run, nothing failed, and as much was done as the file counts.</summary>
    public void AssertDone()
    {
        ScenarioPhase[] phases = [.. _scenario.Rounds.SelectMany(round => round.Phases)];
        Assert.Equal(phases.Length, _steps.Count);
        foreach ((ScenarioPhase phase, JsonElement step) in phases.Zip(_steps))
            AssertDone(phase, step.Items("tests"));
        foreach ((ScenarioPhase phase, JsonElement stored) in phases.Zip(_phases).Where(p => p.First is { HasRanges: true, Lap: not null }))
            AssertLaps(phase, stored.GetProperty("laps"));
    }

    /// <summary>The last round's documents are the generator's, those that were inserted behind the load too; nothing may have changed or removed any.</summary>
    public void AssertContents(MongoConnection connection, string database)
    {
        foreach (ScenarioCollection collection in _scenario.Rounds[^1].Collections)
        {
            BsonDocument[] stored = [.. Documents.Find(connection, database, collection.Name, BsonDocument.Empty, ("sort", BsonDocument.Of(("_id", 1))))];
            Assert.All(stored.Index(), s => Assert.Equal(collection.Documents.Make(s.Index).Bytes.ToArray(), s.Item.Bytes.ToArray()));
        }
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

    /// <summary>Every task did the whole laps of its own range.</summary>
    private void AssertLaps(ScenarioPhase phase, JsonElement laps)
    {
        int tasks = phase.Groups.Single().Threads;
        long count = _scenario.Rounds.Single(r => r.Phases.Contains(phase)).Collections.Single(c => c.Name == phase.Loads).Count;
        Assert.Equal(
            Enumerable.Range(0, tasks).Select(task => new NumberSource(0, count).Range(task, tasks)).Select(own => (own.End - own.First) / phase.Lap!.Value),
            laps.Items("tasks").Select(task => (long)task.GetArrayLength()));
        Assert.All(laps.Items("tasks").SelectMany(task => task.EnumerateArray()), lap => Assert.True(lap.GetProperty("seconds").GetDouble() > 0));
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
