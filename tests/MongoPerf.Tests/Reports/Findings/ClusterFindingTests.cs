using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>What shards and secondaries do to a run, by their own counters.</summary>
public sealed class ClusterFindingTests : IDisposable
{
    private static readonly PlanSummary Plan = new() { Stages = "SHARD_MERGE > COLLSCAN", Shards = 3 };

    private readonly ScriptedRun _run = new(RunParts.Deployment() with
    {
        ShardCount = 3, Namespace = "perf.docs",
        Collections = [new CollectionSharding(
            "docs", false, [new ShardPart("a", 40_000), new ShardPart("b", 30_000), new ShardPart("c", 30_000)], "{n: 1}")],
    });

    public void Dispose() => _run.Dispose();

    [Fact]
    public void A_query_that_asks_all_shards_is_told_with_the_key_that_it_does_not_name()
    {
        _run.Phase("q5", Flat(20, 1000), ofResult: result => result with { Plan = Plan });
        _run.Server(0, 22, second => [("asked_find_all", 1000.0 * second), ("asked_find_one", 10.0 * second)]);
        Finding found = Single(FindingIds.AsksAllShards);
        Assert.Equal("q5 asks all 3 shards: shards add work to it, not speed", found.Text);
        Assert.Equal("no condition fixes the shard key {n: 1}", found.Cause);
        Assert.Equal("q5: 99 % of its commands ask all shards", Assert.Single(found.Evidence).Text);
    }

    [Theory]
    [InlineData("asked_find_one")]
    [InlineData("asked_find_several")]
    [InlineData("asked_find_unsharded")]
    public void A_query_that_asks_fewer_shards_is_no_finding(string counter)
    {
        _run.Phase("q5", Flat(20, 1000), ofResult: result => result with { Plan = Plan });
        _run.Server(0, 22, second => [(counter, 1000.0 * second)]);
        Assert.DoesNotContain(_run.Findings(), finding => finding.Id == FindingIds.AsksAllShards);
    }

    /// <summary>The routers' counters are of all of them together.</summary>
    [Fact]
    public void Queries_that_ask_all_shards_at_once_are_all_told()
    {
        foreach (string name in (string[])["q4", "q5", "q6", "q7"])
            _run.Phase(name, Flat(20, 1000), ofResult: result => result with { Plan = Plan with { Shards = name == "q6" ? 1 : 3 } });
        Assert.Equal("q4, q5 and q7 ask all 3 shards: shards add work to them, not speed", Single(FindingIds.AsksAllShards).Text);
    }

    [Fact]
    public void Routers_counters_add_up_over_routers_and_restarts()
    {
        _run.Phase("q5", Flat(3, 1000));
        // It is started again after the second.
        _run.Server(1, 4, second => [("asked_find_one", second < 3 ? 100 * second : 10 * (second - 2)), ("asked_update_several", second)]);
        using StoredRun run = _run.End();
        IReadOnlyList<ShardsAsked> all = ShardsAsked.Of(run);
        Assert.Equal(["find", "update"], all.Select(one => one.Command));
        Assert.Equal([110.0, 0, 0, 0], all[0].Counts);
        Assert.Equal([3.0, 0], [all[1].Counts[1], all[1].Counts[0]]);
        ReportTable table = Assert.Single(
            ShardTables.Of(run), one => one.Title.StartsWith("Shards that operations asked", StringComparison.Ordinal));
        Assert.Equal(["<command", "operations", "one shard", "several shards"], table.Columns);
        Assert.Equal(["find", "110", "100 %", "-"], table.Rows[0]);
    }

    [Fact]
    public void Inserts_that_all_go_to_one_shard_are_told_with_the_key()
    {
        _run.Phase("batch", Flat(30, 1000));
        foreach ((string shard, double speed) in new[] { ("a", 0.0), ("b", 20), ("c", 980) })
            _run.Shard(shard, 1, 30, second => [("opcounters_insert", speed * second), ("documents", 30_000)]);
        IReadOnlyList<Finding> all = RunFindings.Of(_run.End());
        Finding found = Assert.Single(all, finding => finding.Id == FindingIds.InsertsToOneShard);
        Assert.Equal("shard c got 98 % of all inserts, although there are 3 shards", found.Text);
        Assert.Equal("a shard key that grows, as {n: 1} may, sends all new documents to the last chunk", found.Cause);
        Assert.DoesNotContain(all, finding => finding.Id == FindingIds.HotShard);
    }

    [Fact]
    public void Range_deletion_is_held_against_the_seconds_outside_it()
    {
        _run.Phase("q4", [.. Enumerable.Range(0, 90).Select(i => i % 30 is >= 10 and < 18 ? 700.0 : 1000)]);
        double deleted = 0;
        foreach (string shard in new[] { "a", "b", "c" })
            _run.Shard(shard, 1, 90, second => [("documents", 30_000),
                ("range_deleted", shard == "a" ? deleted += second % 30 is > 10 and <= 18 ? 5000 : 0 : 0)]);
        using StoredRun run = _run.End();
        Finding found = Assert.Single(RunFindings.Of(run), finding => finding.Id == FindingIds.RangeDeletionCost);
        Assert.StartsWith("q4's rate is ", found.Text, StringComparison.Ordinal);
        Assert.InRange(0.7, found.Rate!.Low!.Value, found.Rate.High!.Value);
        Assert.Contains("120,000 documents deleted in 3 stretches", found.Evidence[0].Text, StringComparison.Ordinal);
        Assert.Contains(SlowestSeconds.Of(run).Tables().SelectMany(table => table.Rows),
            row => row.Any(cell => cell.Contains("shards were deleting documents that had moved away", StringComparison.Ordinal)));
    }

    [Fact]
    public void Migrations_tell_their_critical_sections()
    {
        _run.Store.AddChunkEvents([.. new[] { 10, 40, 70 }.Select(from => new ChunkEvent
        {
            AtMilliseconds = ScriptedRun.At(from), EndMilliseconds = ScriptedRun.At(from + 8), Kind = ChunkEventKind.Migration,
            Outcome = ChunkEventOutcome.Done, From = "a", To = "b", Id = $"{from}",
        })]);
        _run.Phase("q4", [.. Enumerable.Range(0, 90).Select(i => i % 30 is >= 10 and < 18 ? 700.0 : 1000)]);
        foreach (string shard in new[] { "a", "b", "c" })
            _run.Shard(shard, 1, 90, second => [("documents", 30_000), ("critical_section", shard == "a" ? 50.0 * second : 0)]);
        Finding found = Single(FindingIds.MigrationCost);
        Assert.StartsWith("3 migrations in 3 stretches; ", found.Evidence[0].Text, StringComparison.Ordinal);
        Assert.Contains(found.Evidence, one => one.Text.StartsWith("4.4", StringComparison.Ordinal)
            && one.Text.EndsWith("in critical sections, in which a shard takes no writes to the collection", StringComparison.Ordinal));
    }

    [Fact]
    public void A_phase_that_is_resharded_tells_its_rates_before_meanwhile_and_after()
    {
        _run.Phase("q4", [.. Enumerable.Range(0, 60).Select(i => i is >= 20 and < 28 ? 400.0 : i < 20 ? 1000 : 2000)], noise: false);
        _run.Store.AddChunkEvents([Resharding(20, 28)]);
        using StoredRun run = _run.End();
        Finding found = Assert.Single(RunFindings.Of(run), finding => finding.Id == FindingIds.Resharded);
        Assert.Equal("docs was resharded from {_id: hashed} to {n: 1} within q4, whose figures are of both keys: q4 did 1,000 operations/s "
            + "before, 400 meanwhile and 2,000 after", found.Text);
        Assert.Equal(2, found.Rate!.Ratio, 2);
        Assert.Contains("docs took no writes for 2.2 s", found.Evidence.Select(one => one.Text));
        Assert.Equal((20.0, 28.0), (found.Range!.FromSeconds, found.Range.ToSeconds));
        Assert.Contains(ChartCatalogue.Build(run),
            chart => chart.Bands.Any(band => (band.Kind, band.From, band.To) == ("resharding", 20, 28)));
        var moves = ChunkMoves.Of(run);
        Assert.Equal(["{_id: hashed}"], moves.KeysBefore("docs"));
        Assert.Equal((0, MoveSum.None), (moves.Merges, moves.All));
        using var other = new ScriptedRun(run.Deployment);
        other.Phase("q4", Flat(60, 1000));
        using StoredRun steady = other.End();
        Assert.Contains("shard key: {n: 1} → {_id: hashed}, then {n: 1}", SetupCheck.Find([steady, run]).Select(one => one.ToString()));
    }

    [Fact]
    public void Writes_that_a_resharding_blocks_are_no_stall_without_a_cause()
    {
        _run.Phase("update", [.. Enumerable.Range(0, 60).Select(i => i is 26 or 27 ? 0.0 : 1000)], noise: false);
        _run.Store.AddChunkEvents([Resharding(20, 28)]);
        Finding stall = Single(FindingIds.Stall);
        Assert.Contains("docs took no writes for 2.2 s while it was being resharded", stall.Cause, StringComparison.Ordinal);
    }

    /// <summary>Found: "3.1 s stall: nothing recorded coincides"; and that the router, which waits for it, is silent, too.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_stall_while_the_config_server_is_away_is_explained_by_it(bool isSilent)
    {
        _run.Server(0, 30, second => [("uptime", second)]);
        _run.Server(isSilent ? 34 : 31, 62, second => [("uptime", second)]);
        _run.Phase("insert", [.. Enumerable.Range(0, 60).Select(i => i is >= 30 and < 33 ? 0.0 : 1000)], noise: false);
        const string Text = "config server did not answer (127.0.0.1:27019: no reply) and was back after 20.3 s";
        _run.Store.AddEvent(new RunEvent(ScriptedRun.At(40), RunEvent.ConfigServer, Text, 20.3));
        using StoredRun run = _run.End();
        IReadOnlyList<Finding> all = RunFindings.Of(run);
        Assert.Equal(Text, Assert.Single(all, finding => finding.Id == FindingIds.Stall).Cause);
        Assert.DoesNotContain(all, finding => finding.Id == FindingIds.Outage);
    }

    private static ChunkEvent Resharding(int from, int to) => new()
    {
        Id = "x", Kind = ChunkEventKind.Resharding, Collection = "docs", AtMilliseconds = ScriptedRun.At(from),
        EndMilliseconds = ScriptedRun.At(to), From = "config", Outcome = ChunkEventOutcome.Done, BlockedSeconds = 2.2,
        KeyBefore = "{_id: hashed}", KeyAfter = "{n: 1}",
    };

    [Fact]
    public void Flow_control_is_told_with_its_share_of_the_time()
    {
        _run.Phase("batch", Flat(20, 1000));
        _run.Server(0, 22, second => [("flow_control_lagged", 310_000.0 * second)]);
        Assert.Equal("writes were throttled by flow control for 31 % of the time of batch: the majority commit point was too far behind",
            Single(FindingIds.FlowControl).Text);
    }

    [Theory]
    [InlineData(4, null)]
    [InlineData(35, "the server met 350 write conflicts/s in update, 0.35 for each write: operations changed the same documents at the "
        + "same time, and it tried them again")]
    public void Write_conflicts_are_told_by_the_servers_own_count(int percent, string? text)
    {
        _run.Phase("update", Flat(20, 1000));
        _run.Server(0, 22, second => [("write_conflicts", 10.0 * percent * second), ("latency_writes_operations", 1000.0 * second)]);
        Assert.Equal(text, RunFindings.Of(_run.End()).SingleOrDefault(finding => finding.Id == FindingIds.WriteConflicts)?.Text);
    }

    [Fact]
    public void Flow_control_of_several_shards_at_once_is_not_added_up()
    {
        _run.Phase("batch", Flat(20, 1000));
        foreach ((string member, double share) in new[] { ("a:1", 0.31), ("b:1", 0.3), ("c:1", 0.05) })
            _run.Server(member, 0, 22, second => [("uptime", second), ("flow_control_lagged", share * 1e6 * second)]);
        using StoredRun run = _run.End();
        Assert.StartsWith("writes were throttled by flow control for 31 % of the time", Assert.Single(
            RunFindings.Of(run), finding => finding.Id == FindingIds.FlowControl).Text, StringComparison.Ordinal);
        Panel panel = Assert.Single(RunPanels.Of(run).States, one => one.Title == "Flow control");
        Assert.Equal(31, panel.Series[0].Largest, 0.001);
    }

    [Fact]
    public void What_no_server_can_mean_by_a_time_fails_no_report()
    {
        _run.Store.AddChunkEvents([.. new[] { 10, 40, 70 }.Select(from => new ChunkEvent
        {
            AtMilliseconds = ScriptedRun.At(from), EndMilliseconds = ScriptedRun.At(from + 8), Kind = ChunkEventKind.Migration,
            Outcome = ChunkEventOutcome.Done, From = "a", To = "b", Id = $"{from}",
        })]);
        _run.Phase("q4", [.. Enumerable.Range(0, 90).Select(i => i % 30 is >= 10 and < 18 ? 700.0 : 1000)]);
        foreach (string shard in new[] { "a", "b", "c" })
            _run.Shard(shard, 1, 90, second => [("documents", 30_000), ("critical_section", 1e15 * second)]);
        _run.Store.AddReplicaSample(new MetricSample(ScriptedRun.At(1), "b:1", [9e17, double.NaN, double.NaN, double.NaN]));
        using StoredRun run = _run.End();
        Assert.Contains(RunFindings.Of(run), finding => finding.Id == FindingIds.MigrationCost);
        Assert.Equal(Grade.Note, ReplicationVerdict.Of(run)!.Grade);
    }

    [Theory]
    [InlineData(null, true)]
    [InlineData("Number1_1", true)]
    [InlineData("Number_1", false)]
    public void A_plan_that_is_not_the_same_on_all_shards_is_told(string? last, bool isFound)
    {
        _run.Phase("q4", Flat(20, 1000), ofResult: result => result with
        {
            Plan = Plan with
            {
                Index = "Number_1",
                ByShard =
                [
                    new ShardPlan("a", "FETCH > IXSCAN", 10, 10, 10, "Number_1"), new ShardPlan("b", "EOF", 0, 0, 0, null),
                    new ShardPlan("c", "FETCH > IXSCAN", 20, 900, 10, last),
                ],
            },
        });
        Finding? found = RunFindings.Of(_run.End()).SingleOrDefault(finding => finding.Id == FindingIds.PlanDiffers);
        Assert.Equal(isFound ? $"q4's plan is not the same on all shards (a: Number_1; c: {last ?? "collection scan"}): the slowest of "
            + "them decides" : null, found?.Text);
    }

    /// <summary>Found after migrations: an index was to help a query without a filter.</summary>
    [Theory]
    [InlineData(9207, "9,207 orphans that migrations left there are examined, too, until they are deleted (orphanCleanupDelaySecs)")]
    [InlineData(100, "an index on its filter would help")]
    public void What_a_scan_examines_of_orphans_is_no_matter_of_indexes(long orphans, string advice)
    {
        using var run = new ScriptedRun(RunParts.Deployment() with
        {
            ShardCount = 2, Namespace = "perf.docs",
            Collections =
            [
                new CollectionSharding("docs", false,
                    [new ShardPart("a", 30_000) { Orphans = orphans, OrphanedBytes = 1025 * orphans }, new ShardPart("b", 30_000)],
                    "{n: 1}"),
            ],
        });
        run.Phase("q7", Flat(20, 1000), ofResult: result => result with
        {
            Plan = Plan with { Shards = 2, DocumentsExamined = 8612, Returned = 100, Necessary = 200 },
        });
        StoredRun stored = run.End();
        Assert.Contains($"q7 scanned the collection: it examined up to 8,612 documents per operation to return 100 documents; {advice}",
            OperationVerdicts.Of(stored).Select(verdict => verdict.Text));
        Assert.EndsWith(orphans > 100 ? "; 9,207 orphans of docs count in its sizes"
            : "; 100 orphans of docs count in its sizes", ShardVerdict.Of(stored)!.Text, StringComparison.Ordinal);
    }

    /// <summary>One explain stands for a phase; each shard counts what its queries used.</summary>
    [Theory]
    [InlineData(305, 95, true)]
    [InlineData(305, 300, false)]
    public void Which_index_each_shard_used_most_decides_whether_plans_differ(long a, long c, bool isFound)
    {
        using var run = new ScriptedRun(RunParts.Deployment() with
        {
            ShardCount = 3, Namespace = "perf.docs",
            Collections =
            [
                new CollectionSharding("docs", false, [new ShardPart("a", 40_000), new ShardPart("c", 30_000)], "{n: 1}")
                {
                    Indexes =
                    [
                        new IndexUse("Number_1", new Dictionary<string, long> { ["a"] = 365 - a, ["c"] = 365 - c }),
                        new IndexUse("Number1_1", new Dictionary<string, long> { ["a"] = a, ["c"] = c }),
                    ],
                },
            ],
        });
        run.Phase("q5", Flat(20, 1000), ofResult: result => result with
        {
            Plan = Plan with
            {
                Index = "Number_1",
                ByShard =
                [
                    new ShardPlan("a", "FETCH > IXSCAN", 10, 10, 10, "Number_1"),
                    new ShardPlan("c", "FETCH > IXSCAN", 20, 900, 10, "Number1_1"),
                ],
            },
        });
        Finding? found = RunFindings.Of(run.End()).SingleOrDefault(finding => finding.Id == FindingIds.PlanDiffers);
        Assert.Equal(isFound ? "q5's plan is not the same on all shards (a: Number1_1; c: Number_1): the slowest of them decides" : null,
            found?.Text);
        if (isFound)
            Assert.Equal("used in the whole run: a: Number_1 60, Number1_1 305; c: Number_1 270, Number1_1 95", found!.Evidence[^1].Text);
    }

    [Theory]
    [InlineData(0.2, 0.1, Grade.Good, "replication: secondaries kept up, at most 0.2 s behind")]
    [InlineData(4.2, 0.1, Grade.Good, "replication: secondaries were up to 4.2 s behind and had caught up when the run ended")]
    [InlineData(4.2, 2.3, Grade.Note, "replication: when the run ended, b:1 was 2.3 s behind its primary (at most 4.2 s during the run)")]
    [InlineData(4.2, double.NaN, Grade.Note, "replication: when the run ended, b:1 was away (at most 4.2 s during the run)")]
    public void Whether_secondaries_kept_up_is_said(double most, double atEnd, Grade grade, string text)
    {
        _run.Phase("batch", Flat(3, 1000));
        Add(1, "a:1", double.NaN, 7);
        Add(1, "b:1", most * 1000, double.NaN);
        Add(2, "a:1", double.NaN, 7);
        Add(2, "b:1", atEnd * 1000, double.NaN);
        using StoredRun run = _run.End();
        Verdict verdict = ReplicationVerdict.Of(run)!;
        Assert.Equal((grade, text), (verdict.Grade, verdict.Text));

        void Add(int second, string member, double lag, double term) => _run.Store.AddReplicaSample(
            new MetricSample(ScriptedRun.At(second), member, [lag, double.NaN, double.NaN, term]));
    }

    /// <summary>Found of a set whose primary was killed: "secondaries kept up, at most 0.3 s behind".</summary>
    [Fact]
    public void A_primary_that_never_came_back_is_away()
    {
        _run.Phase("batch", Flat(3, 1000));
        foreach ((int second, string member, double lag, double term) in new[]
        {
            (1, "a:1", double.NaN, 7), (1, "b:1", 300, double.NaN), (2, "a:1", double.NaN, double.NaN), (2, "b:1", double.NaN, 8.0),
        })
            _run.Store.AddReplicaSample(new MetricSample(ScriptedRun.At(second), member, [lag, double.NaN, double.NaN, term]));
        using StoredRun run = _run.End();
        Assert.Equal("replication: when the run ended, a:1 was away (at most 0.3 s during the run)", ReplicationVerdict.Of(run)!.Text);
    }

    /// <summary>Found of a shard with three members: "did 54.7 % of the operations", of which its secondaries had read the oplog.</summary>
    [Theory]
    [InlineData("opcounters_getmore", false)]
    [InlineData("opcounters_query", true)]
    public void Replication_of_a_shard_with_more_members_makes_it_no_hot_one(string more, bool isHot)
    {
        _run.Phase("q4", Flat(30, 1000));
        foreach (string shard in new[] { "a", "b", "c" })
            _run.Shard(shard, 1, 30, second =>
                [("opcounters_update", 100 * second), ("documents", 30_000), (more, shard == "a" ? 535 * second : 0)]);
        using StoredRun run = _run.End();
        Assert.Equal(isHot, RunFindings.Of(run).Any(finding => finding.Id == FindingIds.HotShard));
        var operations = ShardOperations.Of(run);
        Assert.Equal(535 * 29, operations.Count("a", more));
        Assert.Equal(isHot ? 635 / 835.0 : 1 / 3.0, operations.Share("a")!.Value, 6);
    }

    /// <summary>Found as a straight line from 4,000 to 2,000 through an outage of which there was no sample.</summary>
    [Fact]
    public void A_line_ends_where_a_shard_does_not_answer()
    {
        _run.Phase("q4", Flat(30, 1000));
        foreach (string shard in new[] { "a", "b", "c" })
            _run.Shard(shard, 1, 30, second => [("opcounters_query", 100 * second), ("documents",
                shard == "b" && second is > 10 and < 15 ? double.NaN : second < 12 ? 4000 : 2000)]);
        using StoredRun run = _run.End();
        Panel documents = RunPanels.Of(run).Shards.First(panel => panel.Title.Contains("documents", StringComparison.Ordinal));
        Assert.Equal(1, documents.Series[1].Values.Count(double.IsNaN));
        Assert.DoesNotContain(documents.Series[0].Values, double.IsNaN);
    }

    /// <summary>Found: each collection's table had the operations of the whole shard.</summary>
    [Fact]
    public void Operations_of_shards_have_a_table_of_their_own()
    {
        _run.Phase("q4", Flat(30, 1000));
        foreach (string shard in new[] { "a", "b", "c" })
            _run.Shard(shard, 1, 30, second =>
                [("opcounters_query", (shard == "c" ? 200 : 100) * second), ("opcounters_getmore", 5 * second)]);
        using StoredRun run = _run.End();
        ReportTable[] tables = [.. ShardTables.Of(run)];
        Assert.DoesNotContain("operations", Assert.Single(
            tables, one => one.Title.StartsWith("Shards at", StringComparison.Ordinal)).Columns);
        ReportTable operations = Assert.Single(tables, one => one.Title.StartsWith("Operations by shard", StringComparison.Ordinal));
        Assert.Equal(["<shard", "share", "inserts", "queries", "updates", "deletes"], operations.Columns);
        Assert.Equal(["a 25 % 0 2,900 0 0", "b 25 % 0 2,900 0 0", "c 50 % 0 5,800 0 0"],
            operations.Rows.Select(row => string.Join(' ', row)));
    }

    [Fact]
    public void A_run_without_secondaries_says_nothing_of_replication()
    {
        _run.Phase("batch", Flat(3, 1000));
        using StoredRun run = _run.End();
        Assert.Null(ReplicationVerdict.Of(run));
    }

    private static double[] Flat(int seconds, double rate) => [.. Enumerable.Repeat(rate, seconds)];

    private Finding Single(string id) => Assert.Single(RunFindings.Of(_run.End()), finding => finding.Id == id);
}
