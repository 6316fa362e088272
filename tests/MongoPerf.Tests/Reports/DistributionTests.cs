using System.Text.Json;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Sharding;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Findings;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>What is said of documents on shards is said of the collection that they are in, as the run left it.</summary>
public sealed class DistributionTests : IDisposable
{
    private static readonly string[] Shards = ["s0", "s1", "s2"];

    private ScriptedRun? _run;

    public void Dispose() => _run?.Dispose();

    /// <summary>Found as "all 2 are within 4.2 %" of the first collection beside "shard s0 holds 100 %" of the second.</summary>
    [Fact]
    public void Of_several_collections_each_is_judged_by_its_name()
    {
        using StoredRun run =
            Run([Noted("users", "{_id: hashed}", 521, 479), Noted("items", "{kind: 1}", 20_000, 0), Noted("logs", "{_id: 1}", 700, 300)]);
        string[] said = [.. RunVerdicts.Of(run).Select(verdict => verdict.Text)];
        Assert.Contains("shards: documents of users are spread evenly over both shards (at most 4.2 % from an even share); "
            + "s0 has 40 % more of logs than an even share, s1 has 40 % less; no chunks migrated", said);
        Assert.Contains(said, text => text.StartsWith("items: shard s0 holds 100 % of 20,000 documents", StringComparison.Ordinal));
        Assert.Equal(
            [
                "Shards at 1k documents in users (500 would be an even share)",
                "Shards at 20k documents in items (10,000 would be an even share)",
                "Shards at 1k documents in logs (500 would be an even share)",
            ],
            ShardTables.Of(run).Select(table => table.Title));
    }

    [Fact]
    public void The_only_collection_needs_no_name()
    {
        using StoredRun run = Run([Noted("items", "{_id: hashed}", 10_100, 9900, 10_000)]);
        Assert.Contains(RunVerdicts.Of(run), verdict => verdict is { Grade: Grade.Good,
            Text: "shards: documents are spread evenly over all 3 shards (at most 1 % from an even share); no chunks migrated" });
        Assert.Equal("Shards at 30k documents (10,000 would be an even share)", Assert.Single(ShardTables.Of(run)).Title);
    }

    /// <summary>Found: "data" as of the load beside "owned" as of the end.</summary>
    [Fact]
    public void What_shards_hold_is_all_of_the_end()
    {
        using StoredRun run = Run(
            [
                new CollectionSharding("items", false,
                [
                    new ShardPart("s0", 6000, 1)
                    {
                        Orphans = 500, OwnedBytes = 6_000_000, OrphanedBytes = 500_000, DataBytes = 6_500_000, StorageBytes = 7_000_000,
                        IndexBytes = 400_000,
                    },
                    new ShardPart("s1", 4000, 1)
                    {
                        Orphans = 0, OwnedBytes = 4_000_000, OrphanedBytes = 0, DataBytes = 4_000_000, StorageBytes = 5_000_000,
                        IndexBytes = 300_000,
                    },
                ], "{_id: 1}"),
            ],
            scripted => scripted.Store.EndPhase(RunParts.Phase(90, "size") with
            {
                Sizes = [RunParts.Sizes(10_000) with
                {
                    Shards = [new ShardSize("s0", 6000, 9_900_000, 9_900_000, 990_000, 1), new ShardSize("s1", 4000, 1, 1, 1, 1)],
                }],
            }));
        ReportTable table = Assert.Single(ShardTables.Of(run), one => one.Title.StartsWith("Shards at", StringComparison.Ordinal));
        Assert.EndsWith("(storage and indexes as of the last checkpoint, up to a minute old)", table.Title, StringComparison.Ordinal);
        Assert.Equal("s0 6,000 +20 % 500 1 6.5 MB 6 MB 500 kB 7 MB 400 kB", string.Join(' ', table.Rows[0]));
    }

    /// <summary>Found with 12 migrations stored and told nowhere: the last sizes were those before the balancer began.</summary>
    [Fact]
    public void What_moved_after_the_last_sizes_is_in_the_report()
    {
        using StoredRun run = Run(
            [Noted("items", "{_id: 1}", 4000, 3000, 3000)],
            scripted =>
            {
                scripted.Store.EndPhase(RunParts.Phase(90, "size") with
                {
                    Sizes = [RunParts.Sizes(10_000) with { Shards = [new ShardSize("s0", 10_000, 1024, 2048, 512, 1)] }],
                });
                scripted.Store.AddChunkEvents([.. Enumerable.Range(0, 12).Select(i => new ChunkEvent
                {
                    Id = $"m{i}", Kind = ChunkEventKind.Migration, AtMilliseconds = ScriptedRun.At(i),
                    EndMilliseconds = ScriptedRun.At(i + 0.5),
                    From = "s0", To = Shards[1 + (i % 2)], Documents = 500, Outcome = ChunkEventOutcome.Done,
                })]);
                foreach (string shard in Shards)
                    scripted.Shard(shard, 1, 3, second =>
                    [
                        ("documents", 1), ("orphans", 7), ("data", 1e6), ("storage", 2e6), ("indexes", 3e5), ("opcounters_query", second),
                    ]);
            });
        ReportTable[] tables = [.. ShardTables.Of(run)];
        Assert.Equal(["Shards at 10k documents (3,333 would be an even share)", "Chunk migrations"],
            tables.Where(table => !table.Title.StartsWith("Operations", StringComparison.Ordinal)).Select(table => table.Title));
        Assert.Equal(["s0", "4,000", "+20 %", "7", "1", "1 MB", "2 MB", "300 kB"], tables[0].Rows[0]);
        Assert.Contains(RunVerdicts.Of(run), verdict =>
            verdict.Text == "shards: s0 has 20 % more than an even share, s1 has 10 % less; 12 migrations moved 6,000 documents in 6 s");
        using var text = new StringWriter();
        JsonReport.Write(run, text);
        JsonElement sharding = JsonDocument.Parse(text.ToString()).RootElement.GetProperty("sharding");
        Assert.Equal(("items", 12),
            (sharding.GetProperty("collection").GetString(), sharding.GetProperty("migrations").GetProperty("done").GetInt32()));
        Assert.Equal(
            [4000, 3000, 3000], sharding.GetProperty("shards").EnumerateArray().Select(shard => shard.GetProperty("documents").GetInt32()));
    }

    [Fact]
    public void Migrations_are_told_even_where_all_documents_are_on_one_shard_again()
    {
        using StoredRun run = Run(
            [Noted("items", "{_id: 1}", 10_000, 0, 0)],
            scripted => scripted.Store.AddChunkEvents([new ChunkEvent
            {
                Id = "m", Kind = ChunkEventKind.Migration, AtMilliseconds = ScriptedRun.At(1), EndMilliseconds = ScriptedRun.At(2),
                From = "s1", To = "s0", Documents = 500, Outcome = ChunkEventOutcome.Done,
            }]));
        Assert.Contains(
            RunVerdicts.Of(run), verdict => verdict is { Grade: Grade.Note, Text: "shards: 1 migration moved 500 documents in 1 s" });
    }

    /// <summary>Found as panels "Shards: documents" of a small collection beside the one that grew.</summary>
    [Fact]
    public void Panels_name_the_collection_that_shards_were_asked_of()
    {
        using StoredRun run = Run([Noted("users", null, 1, 1, 1), Noted("items", null, 1, 1, 1)], scripted =>
        {
            foreach (string shard in Shards)
                scripted.Shard(shard, 1, 3, second => [("documents", second), ("chunks", 1), ("opcounters_query", second)]);
        });
        Assert.Equal(["Shards: documents of items", "Shards: chunks of items", "Shards: % of operations"],
            RunPanels.Of(run).Shards.Select(panel => panel.Title));
    }

    [Theory]
    [InlineData("data: {users: {count: 100, document: {n: ^number}}, items: {document: {n: ^number}}}\n"
        + "phases: [{name: g, grow: items, to: 1000, step: 500}]", "items")]
    [InlineData("data: {users: {count: 100, document: {n: ^number}}, items: {count: 5000, document: {n: ^number}}}\n"
        + "phases: [{name: a, duration: 1s, operations: [{find: users, key: uniform}]}]", "items")]
    [InlineData("data: {users: {count: 100, document: {n: ^number}}, items: {count: 5000, shard: 1, document: {n: ^number}}}\n"
        + "phases: [{name: a, duration: 1s, operations: [{find: users, key: uniform}]}]", "users")]
    [InlineData("data: {first: {count: 100, document: {n: ^number}}, second: {count: 100, document: {n: ^number}}}\n"
        + "phases: [{name: a, duration: 1s, operations: [{find: first, key: uniform}]}]", "first")]
    public void The_collection_that_a_run_is_about_is_the_one_that_grows_or_the_largest(string yaml, string expected) =>
        Assert.Equal(expected, PlanReader.Read(new ScenarioFile("test", "test.yaml", yaml), new PlanOverrides(), 42).Plan.MainCollection);

    private static CollectionSharding Noted(string collection, string? key, params long[] documents) =>
        new(collection, false, [.. documents.Select((count, i) => new ShardPart($"s{i}", count, 1))], key);

    private StoredRun Run(CollectionSharding[] noted, Action<ScriptedRun>? fill = null)
    {
        _run = new ScriptedRun(RunParts.Deployment() with
        {
            Topology = Topology.Sharded, ShardCount = noted[0].Parts.Count, Namespace = "mongoperf.items", Collections = noted,
        });
        _run.Phase("q4", [1000, 1000, 1000, 1000]);
        fill?.Invoke(_run);
        return _run.End();
    }
}
