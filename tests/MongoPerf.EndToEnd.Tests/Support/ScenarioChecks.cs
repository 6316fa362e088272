using System.Globalization;
using System.Text.Json;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>A scenario's run against its file: phases, operations and what is stored in the end.</summary>
internal sealed class ScenarioChecks
{
    private readonly Plan _plan;
    private readonly IReadOnlyList<JsonElement> _phases;
    private readonly bool _isLimitedByTime;

    /// <param name="arguments">
    /// Of the run: "run", the scenario, and options; of those that change the file's counts --scale, --operations, --threads,
    /// --set and --duration.
    /// </param>
    /// <param name="ended">The run, with --format json.</param>
    public ScenarioChecks(string[] arguments, ProgramResult ended)
    {
        string? last = ValuesOf("--operations").LastOrDefault();
        var overrides = new PlanOverrides
        {
            Scale = double.Parse(ValuesOf("--scale").Single(), CultureInfo.InvariantCulture),
            Operations = last is null ? null : long.Parse(last, CultureInfo.InvariantCulture),
            Threads = ValuesOf("--threads").LastOrDefault()?.Split(',').Select(int.Parse).ToArray(),
            Parameters = ValuesOf("--set").Select(value => value.Split('=')).ToDictionary(pair => pair[0], pair => pair[1]),
        };
        // How long phases take changes nothing of what the file counts.
        _isLimitedByTime = arguments.Contains("--duration");
        _plan = PlanReader.Read(ScenarioFile.Find(arguments[1]), overrides, Documents.DefaultSeed).Plan;
        _phases = ended.Report().Items("phases");

        IEnumerable<string> ValuesOf(string option) => arguments.Index().Where(a => a.Item == option).Select(a => arguments[a.Index + 1]);
    }

    /// <summary>Every phase was run, nothing failed, and as much was done as the file counts.</summary>
    public void AssertDone()
    {
        Phase[] phases = [.. _plan.Rounds.SelectMany(round => round.Phases)];
        Assert.Equal(phases.Select(phase => phase.Name), _phases.Select(phase => phase.Text("phase")));
        foreach ((Phase phase, JsonElement stored) in phases.Zip(_phases))
            AssertDone(phase, stored.Items("operations"));
        foreach ((Phase phase, JsonElement stored) in phases.Zip(_phases).Where(p => p.First is { HasRanges: true, Lap: not null }))
            AssertLaps(phase, stored.GetProperty("laps"));
    }

    /// <summary>
    /// The last round's documents are the generator's, those that were inserted behind the load too; nothing may have
    /// changed or removed any.
    /// </summary>
    public void AssertContents(MongoConnection connection, string database)
    {
        foreach (PlanCollection collection in _plan.Rounds[^1].Collections)
        {
            BsonDocument[] stored =
                [.. Documents.Find(connection, database, collection.Name, BsonDocument.Empty, ("sort", BsonDocument.Of(("_id", 1))))];
            Assert.All(stored.Index(), s => Assert.Equal(collection.Documents.Make(s.Index).Bytes.ToArray(), s.Item.Bytes.ToArray()));
        }
    }

    /// <summary>The last round's documents are there: loaded, inserted and not deleted.</summary>
    public void AssertStored(MongoConnection connection, string database)
    {
        PlanRound round = _plan.Rounds[^1];
        (Operation Operation, JsonElement Result)[] measured =
        [
            .. round.Phases.Zip(_phases.TakeLast(round.Phases.Count)).Where(p => p.First.Loads is null)
                .SelectMany(p => p.Second.Items("operations").Select(result => (p.First.Groups.SelectMany(g => g.Operations)
                    .First(o => o.Operation.Name == result.Text("operation")).Operation, result))),
        ];
        foreach (PlanCollection collection in round.Collections)
        {
            (Operation Operation, JsonElement Result)[] own = [.. measured.Where(m => m.Operation.Collection == collection.Name)];
            long expected = collection.Count + own.Where(m => m.Operation.Inserts).Sum(m => m.Result.Number("documents"))
                - own.Where(m => m.Operation is DeleteDocuments).Sum(m => m.Result.Number("operations"));
            // The last one of a bucket's holds a document for each file.
            long stored = Documents.Count(connection, database, collection.Stored[^1].Name);
            if (collection.Files is { } files)
                Assert.Equal(stored * files.ChunkCount, Documents.Count(connection, database, files.Bucket.Chunks));
            // Warm-up is in no result.
            Assert.True(
                _isLimitedByTime ? stored >= expected : stored == expected, $"{collection.Name}: {stored} documents, {expected} expected");
        }
    }

    /// <summary>Every task did the whole laps of its own range.</summary>
    private void AssertLaps(Phase phase, JsonElement laps)
    {
        int tasks = phase.Groups.Single().Threads;
        long count = _plan.Rounds.Single(r => r.Phases.Contains(phase)).Collections.Single(c => c.Name == phase.Loads).Count;
        Assert.Equal(
            Enumerable.Range(0, tasks)
                .Select(task => new NumberSource(0, count).Range(task, tasks)).Select(own => (own.End - own.First) / phase.Lap!.Value),
            laps.Items("tasks").Select(task => (long)task.GetArrayLength()));
        Assert.All(
            laps.Items("tasks").SelectMany(task => task.EnumerateArray()), lap => Assert.True(lap.GetProperty("seconds").GetDouble() > 0));
    }

    private void AssertDone(Phase phase, IReadOnlyList<JsonElement> results)
    {
        Assert.All(results, r => Assert.Equal((0, 0), (r.Number("failed"), r.Number("wrong"))));
        Assert.True(results.Sum(r => r.Number("operations")) > 0, $"nothing was done in {phase.Name}");
        if (phase.Loads is { } loaded)
            Assert.Contains(
                Assert.Single(results).Number("documents"), _plan.Rounds.Select(r => r.Collections.Single(c => c.Name == loaded).Count));
        else if (phase.Groups is [{ Count: { } count }])
            Assert.Equal(count, results.Sum(r => r.Number("operations")));
    }
}
