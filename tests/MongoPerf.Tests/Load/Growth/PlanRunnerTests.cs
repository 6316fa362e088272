using MongoPerf.Load.Collections;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>A plan from loading to its last phase, with scripted operations on a manual clock.</summary>
public sealed class PlanRunnerTests : IDisposable
{
    private const string Users = GrowthHarness.Users;

    private GrowthHarness _plan = new();

    public void Dispose() => _plan.Dispose();

    [Fact]
    public void Phases_run_in_order_and_are_stored_with_their_parameters()
    {
        IReadOnlyList<PhaseRecord> records =
            Run(Users + "phases:\n  - {name: read, threads: [1, 2], count: 10, operations: [{find: users, key: uniform}]}\n");
        Assert.Equal([(1, "load users"), (2, "read"), (3, "read")], records.Select(r => (r.Number, r.Phase)));
        Assert.Equal([PhaseKind.Load, PhaseKind.Measure, PhaseKind.Measure], records.Select(r => r.Kind));
        Assert.Equal(
            ["", "threads=1", "threads=2"], records.Select(r => string.Join(',', r.Parameters.Select(v => $"{v.Name}={v.Value}"))));
        Assert.Equal([1, 10, 10], records.Select(r => r.Operations.Single().Operations));
        Assert.Equal(["create users", "checkpoint users 100", "sizes users 100", "plan find", "explain find", "plan find", "explain find"],
            _plan.Data.Calls);
        Assert.Equal([10, 10], records.Skip(1).Select(r => r.Groups.Single().Operations));
        Assert.All(records, r => Assert.True(r.IsComplete));
    }

    [Fact]
    public void Documents_of_a_load_that_did_not_arrive_are_written_again()
    {
        PhaseRecord load = Run(Users + "phases: [{load: users, batch: 10, writeConcern: {w: 0}}]\n",
            i => Scripted.Ok() with { Arrives = i != 3 }).Single();
        Assert.Equal(100, _plan.Data.Numbers("users").Count);
        Assert.Equal((100L, 90L, 10L),
            (load.Operations[0].Unacknowledged!.Sent, load.Operations[0].Unacknowledged!.Arrived, load.Operations[0].Repaired));
        Assert.Equal((100L, 0L), (load.Documents, _plan.Missing));
    }

    [Fact]
    public void Documents_that_can_not_be_found_again_are_counted_and_missing_ones_told()
    {
        _plan = new GrowthHarness
        {
            Text = Users + "phases: [{load: users, batch: 1, writeConcern: {w: 0}}]\n",
            Data = new MemoryData(new ManualClock()) { FindsNumbers = false },
        };
        Assert.True(_plan.Run(i => Scripted.Ok() with { Arrives = i >= 7 }));
        Assert.Equal(7, _plan.Missing);
        Assert.Contains(_plan.Heard.Events, e => e.Kind == "missing" && e.Text == "7 of 100 documents did not arrive in users");
        Assert.Equal(93, _plan.Records.Single().Documents);
    }

    [Fact]
    public void Of_documents_that_can_not_be_found_again_those_that_a_unique_index_refused_are_not_missing()
    {
        _plan = new GrowthHarness
        {
            Text = Users + "phases: [{load: users, batch: 1}, {check: users}]\n", MaxErrors = 2,
            Data = new MemoryData(new ManualClock()) { FindsNumbers = false },
        };
        _plan.Data.Twice.UnionWith([3, 9]);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(0, _plan.Missing);
        Assert.Equal([98L, 98], _plan.Records.Select(record => record.Documents));
        Assert.Contains(_plan.Heard.Events,
            e => e is { Kind: "checked", Text: "users holds all 100 documents, not counting 2 that a unique index refused" });
    }

    [Fact]
    public void Keys_of_inserted_documents_are_asked_for_later()
    {
        IReadOnlyList<PhaseRecord> records = Run(Users + "phases:\n  - {name: add, count: 50, operations: [{insert: users}]}\n"
            + "  - {name: read, count: 500, operations: [{find: users, key: uniform}]}\n");
        Assert.Equal([100, 150, 150], records.Select(r => r.Documents));
        Assert.InRange(_plan.Executors[^1].KeysDrawn.Max(), 100, 149);
    }

    /// <summary>Found in i7 and i8: a phase that only inserts left out the sizes that it was asked for.</summary>
    [Fact]
    public void Sizes_are_taken_after_inserts_as_after_reads()
    {
        IReadOnlyList<PhaseRecord> records = Run(Users + "phases:\n  - {name: add, count: 50, sizes: true, operations: [{insert: users}]}\n"
            + "  - {name: read, count: 5, sizes: true, operations: [{find: users, key: uniform}]}\n");
        Assert.All(records, record => Assert.Single(record.Sizes));
        Assert.Equal(["sizes users 100", "sizes users 150", "sizes users 150"],
            _plan.Data.Calls.Where(call => call.StartsWith("sizes", StringComparison.Ordinal)));
    }

    /// <summary>Found in CI: a delete that came before the first insert was acknowledged ended the run.</summary>
    [Fact]
    public void Mix_may_begin_on_an_empty_collection()
    {
        IReadOnlyList<PhaseRecord> records = Run("data:\n  log: {}\nphases:\n"
            + "  - {name: work, count: 20, operations: [{insert: log}, {find: log, key: zipfian}, {delete: log, key: uniform}]}\n");
        Assert.Equal((0L, 0L), (_plan.Wrong, _plan.Failed));
        Assert.Equal(20, records.Single().Operations.Sum(o => o.Operations));
    }

    /// <summary>Found in o2: a tenth was removed, and its table showed all of them still.</summary>
    [Fact]
    public void Documents_are_counted_where_some_were_removed()
    {
        IReadOnlyList<PhaseRecord> records = Run(
            Users + "phases:\n  - {name: add, count: 50, operations: [{insert: users}]}\n  - {name: remove, count: 5, operations: "
            + "[{delete: users, key: uniform}]}\n  - {name: read, count: 5, operations: [{find: users, key: uniform}]}\n");
        int left = _plan.Data.Numbers("users").Count;
        Assert.InRange(left, 145, 149);
        Assert.Equal([100, 150, left, left], records.Select(r => r.Documents));
    }

    /// <summary>Found by a review: only the collection of a bulk's first write was counted.</summary>
    [Fact]
    public void Documents_are_counted_where_a_later_write_of_a_bulk_removes_some()
    {
        Begin(Users + "  log: {}\nphases:\n  - {name: clean, count: 5, operations: [{bulkWrite: [{insert: log}, {delete: users, key: "
            + "uniform}]}]}\n  - {name: read, count: 5, operations: [{find: users, key: uniform}]}\n");
        _plan.Heard.Before = record => _plan.Data.Remove("users", record.Phase == "clean" ? 3 : -1);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(99, _plan.Records[^1].Documents);
    }

    /// <summary>Found in workloads of bug reports: "documents 10" in four phases, while upserts and $out made 953 of them.</summary>
    [Theory]
    [InlineData("update: users, filter: {n: 1}, with: {$inc: {n: 1}}, upsert: true")]
    [InlineData("findAndModify: users, filter: {n: 1}, with: {$inc: {n: 1}}, upsert: true")]
    [InlineData("bulkWrite: [{insert: log}, {update: users, filter: {n: 1}, with: {$inc: {n: 1}}, upsert: true}]")]
    [InlineData("aggregate: log, pipeline: [{$match: {n: 1}}, {$out: users}]")]
    [InlineData("aggregate: log, pipeline: [{$merge: {into: users}}]")]
    public void Documents_are_counted_where_they_may_have_come_without_a_number(string write)
    {
        Begin(Users + "  log: {}\nphases:\n  - {name: write, count: 5, sizes: true, operations: [{" + write + "}]}\n"
            + "  - {name: read, count: 5, operations: [{find: users, key: uniform}]}\n");
        _plan.Heard.Before = record => _ = record.Phase == "write" && _plan.Data.Insert("users", 5000);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(101, _plan.Records[^1].Documents);
        Assert.Contains("sizes users 101", _plan.Data.Calls);
    }

    /// <summary>A phase had the sizes of the first collection, whichever it was about.</summary>
    [Theory]
    [InlineData("{find: log, filter: {a: 1}}", "log")]
    [InlineData("{insert: log}, {find: users, key: uniform}", "users, log")]
    [InlineData("{runCommand: {ping: 1}, name: ping, database: admin}", "users")]
    public void Sizes_are_those_of_the_collections_that_a_phase_is_about(string operations, string collections)
    {
        Run(Users + "  log: {}\nphases: [{name: work, count: 6, sizes: true, operations: [" + operations + "]}]\n");
        // Behind those of the load.
        Assert.Equal(collections, string.Join(", ", _plan.Data.Calls.Where(call => call.StartsWith("sizes ", StringComparison.Ordinal))
            .Skip(1).Select(call => call.Split(' ')[1])));
    }

    /// <summary>Found in workloads of bug reports: explain before a phase that fills its collection saw it empty, "(none), 0".</summary>
    [Theory]
    [InlineData("{find: users, filter: {n: 1}}", "plan find, explain find", false)]
    [InlineData("{find: users, filter: {n: 1}}, {insert: users}", "explain find, explain find", true)]
    [InlineData("{update: users, filter: {n: 1}, with: {$inc: {n: 1}}}", "explain update, explain update", true)]
    [InlineData("{delete: users, filter: {n: 1}}", "explain delete, explain delete", true)]
    [InlineData("{findAndModify: users, filter: {n: 1}, with: {$inc: {n: 1}}}", "explain findAndModify, explain findAndModify", true)]
    [InlineData("{count: users, filter: {n: 1}}", "plan count, explain count", false)]
    [InlineData("{distinct: users, field: n}", "plan distinct, explain distinct", false)]
    public void What_explain_takes_is_explained_before_a_phase_and_after_it(string operations, string calls, bool isChanged)
    {
        Begin(Users + "phases: [{name: work, count: 5, explain: true, operations: [" + operations + "]}]\n");
        _plan.Data.OnExplain = _ => _plan.Data.Calls.Count(call => call.StartsWith("explain", StringComparison.Ordinal)) switch
        {
            1 => new PlanSummary { Stages = "EOF" },
            _ when isChanged => new PlanSummary { Stages = "FETCH > IXSCAN", Index = "n_1", DocumentsExamined = 500 },
            _ => new PlanSummary { Stages = "EOF" },
        };
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(calls, string.Join(", ", _plan.Data.Calls.Where(call => call.StartsWith("explain", StringComparison.Ordinal)
            || call.StartsWith("plan", StringComparison.Ordinal))));
        PlanSummary plan = _plan.Records[^1].Operations.Select(result => result.Plan).OfType<PlanSummary>().Single();
        Assert.Equal(isChanged ? ("n_1", "EOF") : (null, null), (plan.Index, plan.Before?.Stages));
    }

    /// <summary>The same plan that has ten times as much to examine is told, one that has as much is not.</summary>
    [Theory]
    [InlineData(100, 1000, true)]
    [InlineData(1000, 100, true)]
    [InlineData(1000, 1900, false)]
    [InlineData(1, 90, false)]
    public void A_plan_that_examines_much_more_at_the_end_has_its_beginning_too(long first, long last, bool isTold)
    {
        Begin(Users + "phases: [{name: work, count: 5, explain: true, operations: [{update: users, filter: {n: 1}, with: {$inc: {n: 1}}}]}]"
            + "\n");
        int asked = 0;
        _plan.Data.OnExplain = _ => new PlanSummary { Stages = "COLLSCAN", DocumentsExamined = asked++ == 0 ? first : last };
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        PlanSummary plan = _plan.Records[^1].Operations[0].Plan!;
        Assert.Equal((last, isTold ? first : null), (plan.DocumentsExamined, plan.Before?.DocumentsExamined));
    }

    /// <summary>Counters of a server count what $facet's branches look up more than once (seen with 6.0.5: 6,001 for 2,001).</summary>
    [Theory]
    [InlineData("$facet > IDHACK", 3, null)]
    [InlineData("$facet > IDHACK", 2, 20.0)]
    [InlineData("$lookup > IDHACK", 3, 20.0)]
    public void Counters_are_left_out_where_they_count_too_much(string stages, int sources, double? expected)
    {
        Begin(Users + "phases: [{name: work, count: 5, explain: true, operations: [{aggregate: users, pipeline: [{$match: {n: 1}}]}]}]\n");
        long examined = 0;
        _plan.Data.Examined = () => new ExaminedCounters(0, examined += 100, "server");
        _plan.Data.OnExplain = _ => new PlanSummary
        {
            Stages = stages, Sources = [.. Enumerable.Range(0, sources).Select(i => new PlanSource($"c{i}", 1))],
        };
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(expected, _plan.Records[^1].Operations[0].Plan!.DocumentsExaminedPerOperation);
    }

    [Fact]
    public void That_the_server_gives_no_plan_is_said_once()
    {
        Begin(Users + "phases: [{name: work, threads: [1, 2, 3], count: 5, explain: true, operations: [{count: users}]}]\n");
        _plan.Data.OnExplain = _ => null;
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(["count: the server gives no query plan, so index and documents examined are unknown"],
            _plan.Heard.Events.Where(e => e.Kind == "explain").Select(e => e.Text));
    }

    [Fact]
    public void Sweep_of_the_data_makes_them_anew_each_time()
    {
        IReadOnlyList<PhaseRecord> records =
            Run("parameters: {count: [20, 10]}\ndata:\n  users: {count: $(count), document: {n: ^number}}\nphases: [{load: users}]\n");
        Assert.Equal(["create users", "checkpoint users 20", "sizes users 20", "create users", "checkpoint users 10", "sizes users 10"],
            _plan.Data.Calls);
        Assert.Equal([20, 10], records.Select(r => r.Documents));
        Assert.Equal(10, _plan.Data.Numbers("users").Count);
    }

    [Fact]
    public void Pause_is_waited_for_and_assertions_are_checked()
    {
        IReadOnlyList<PhaseRecord> records = Run(
            Users + "phases:\n  - {name: read, pause: 5s, count: 10, operations: [{find: users, key: uniform}], assert: ['find.p99 < 2ms', "
            + "'find.p99 < 500us', 'total.operations == 10']}\n");
        Assert.True(_plan.Clock.Seconds >= 5);
        Assert.Equal(["read: find.p99 < 500us"], _plan.FailedAssertions);
        Assert.Equal([true, false, true], records[1].Assertions.Select(a => a.Holds));
    }

    [Fact]
    public void Stop_ends_the_run_and_keeps_what_there_is()
    {
        Begin(Users + "phases:\n  - {name: read, count: 100, operations: [{find: users, key: uniform}]}\n"
            + "  - {name: never, count: 1, operations: [{find: users, key: uniform}]}\n");
        using var stop = new CancellationTokenSource();
        Assert.False(_plan.Run(
            i =>
            {
                if (i == 20)
                    stop.Cancel();
                return Scripted.Ok();
            },
            stop.Token));
        Assert.Equal([("load users", true), ("read", false)], _plan.Records.Select(r => (r.Phase, r.IsComplete)));
        Assert.True(_plan.Records[1].Groups.Single().Accounting.Skipped > 0);
    }

    [Fact]
    public void A_reason_to_stop_ends_a_phase_in_its_middle()
    {
        Begin(Users + "phases: [{name: read, duration: 100s, operations: [{find: users, key: uniform}]}]\n");
        _plan.ReasonToStop = () => _plan.Clock.Seconds > 3 ? "the disk is full" : null;
        Assert.False(_plan.Run(_ => Scripted.Ok()));
        Assert.InRange(_plan.Clock.Seconds, 3, 6);
    }

    [Fact]
    public void A_load_whose_server_is_lost_again_and_again_is_not_repaired_beyond_a_stop()
    {
        using var stop = new CancellationTokenSource();
        Begin(Users + "phases: [{load: users}]\n");
        int checkpoints = 0;
        _plan.Data.OnCheckpoint = () =>
        {
            checkpoints++;
            if (checkpoints == 3)
                stop.Cancel();
            // So that it ends without a stop too.
            if (checkpoints < 10)
                _plan.Data.LostConnections++;
        };
        Assert.ThrowsAny<OperationCanceledException>(() => _plan.Run(_ => Scripted.Ok(), stop.Token));
        Assert.Equal(3, checkpoints);
        Assert.DoesNotContain(_plan.Records, record => record.IsComplete);
    }

    [Fact]
    public void Error_that_ends_a_worker_comes_out_after_the_results_are_stored()
    {
        Begin(Users + "phases:\n  - {name: read, count: 100, operations: [{find: users, key: uniform}]}\n");
        Assert.Throws<InvalidOperationException>(() => _plan.Run(i => i == 20 ? Scripted.Dies() : Scripted.Ok()));
        Assert.Equal([("load users", true), ("read", false)], _plan.Records.Select(r => (r.Phase, r.IsComplete)));
        Assert.Equal(19, _plan.Records[1].Operations.Single().Operations);
    }

    [Fact]
    public void Each_operation_of_a_mix_is_prepared_and_counted_by_itself()
    {
        IReadOnlyList<PhaseRecord> records = Run(Users + "phases:\n  - {name: mix, count: 40, operations: [{find: users, key: uniform}, "
            + "{update: users, key: uniform, with: {$set: {n: 1}}}]}\n");
        Assert.Equal(["find", "load", "update"], _plan.Prepared.Select(p => p.Name).Distinct().Order());
        Assert.Equal(["find", "update"], records[1].Operations.Select(o => o.Operation));
        Assert.Equal(40, records[1].Operations.Sum(o => o.Operations));
        // Its own percentiles are those of all 40.
        Assert.Equal(["find", "update"], records[1].Groups.Single().Mix);
        OperationResult total = records[1].Total!;
        Assert.Equal((40, records[1].Operations.Max(o => o.LatencyMicroseconds.Max)), (total.Operations, total.LatencyMicroseconds.Max));
        Assert.Equal([total], records[1].Independent);
        Assert.Null(records[0].Total);
    }

    [Fact]
    public void Collection_of_a_create_phase_is_made_by_it_and_timed()
    {
        Begin(
            "data:\n  users: {count: 100, document: {n: ^number}}\n  log: {}\n"
            + "phases:\n  - {name: log, count: 5, operations: [{insert: log}]}\n"
            + "  - {name: init, create: users, assert: [create.max < 3s, create.min > 2s]}\n  - {load: users, threads: 2}\n");
        _plan.Data.CreateSeconds = 2.5;
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(["create log", "create users", "checkpoint users 100", "sizes users 100"], _plan.Data.Calls);
        Assert.Equal([("log", PhaseKind.Measure), ("init", PhaseKind.Create), ("load users", PhaseKind.Load)],
            _plan.Records.Select(r => (r.Phase, r.Kind)));
        OperationResult created = Assert.Single(_plan.Records[1].Operations);
        Assert.Equal(("create", 1L, 1, 2.5), (created.Operation, created.Operations, created.Threads, created.Seconds));
        Assert.Equal(2_500_000, created.LatencyMicroseconds.P50!.Value, 5_000d);
        Assert.Empty(_plan.FailedAssertions);
    }

    [Fact]
    public void Collection_that_can_not_be_made_ends_the_run_with_the_reason_and_its_phase_is_stored()
    {
        Begin(Users + "phases:\n  - {name: init, create: users}\n  - {load: users}\n");
        _plan.Data.CreateFailure = new OperationLimitException("an index of several fields");
        Assert.Throws<OperationLimitException>(() => _plan.Run(_ => Scripted.Ok()));
        PhaseRecord record = Assert.Single(_plan.Records);
        Assert.Equal(("init", 1L), (record.Phase, record.Operations.Single().Failed));
    }

    [Fact]
    public void Laps_of_each_thread_are_stored_with_their_phase()
    {
        Run(
            Users + "phases:\n  - {load: users, batch: 1}\n"
            + "  - {name: read, count: 10, lap: 4, operations: [{find: users, key: uniform}]}\n",
            _ => Scripted.Ok(0.002) with { Found = 1 });
        Assert.Equal([null, 4L], _plan.Records.Select(r => r.Lap));
        using StoredRun run = _plan.OpenStored();
        Assert.All(run.Laps, lap => Assert.Equal((2, 0), (lap.Phase, lap.Thread)));
        Assert.Equal([(1, 4L, 0.008), (2, 8L, 0.016)], run.Laps.Select(lap => (lap.Number, lap.Done, lap.Seconds)));
    }

    [Fact]
    public void Server_is_started_again_before_the_phases_that_ask_for_it()
    {
        Run(
            Users + "phases:\n  - {load: users}\n  - {name: a, restart: cold, count: 1, operations: [{find: users, key: uniform}]}\n"
            + "  - {name: b, restart: none, count: 1, operations: [{find: users, key: uniform}]}\n"
            + "  - {name: c, restart: kill, count: 1, operations: [{find: users, key: uniform}]}\n  - {check: users, restart: warm}\n");
        Assert.Equal(
            ["create users", "checkpoint users 100", "sizes users 100", "restart Cold", "restart Kill", "restart Warm"],
            _plan.Data.Calls.Where(call => !call.EndsWith("find", StringComparison.Ordinal)));
    }

    /// <summary>A cold cache stays cold until it is measured.</summary>
    [Theory]
    [InlineData("restart: cold, ", "plan update, explain update")]
    [InlineData("", "explain update, explain update")]
    [InlineData("explain: false, ", "")]
    public void Nothing_is_carried_out_between_a_restart_and_its_phase(string keys, string calls)
    {
        Run(Users + "phases:\n  - {load: users}\n  - {" + keys
            + "name: a, count: 1, operations: [{update: users, filter: {n: 1}, with: {$inc: {n: 1}}}]}\n");
        Assert.Equal(calls, string.Join(", ", _plan.Data.Calls.Where(call => call.EndsWith(" update", StringComparison.Ordinal))));
    }

    [Fact]
    public void Inserts_that_are_all_of_a_phase_are_proved_and_repaired()
    {
        IReadOnlyList<PhaseRecord> records = Run(
            Users + "phases:\n  - {load: users}\n  - {name: add, count: 50, operations: [{insert: users, writeConcern: {w: 0}}]}\n",
            i => Scripted.Ok() with { Arrives = i is not (3 or 5) });
        Assert.Equal(150, _plan.Data.Numbers("users").Count);
        Assert.Equal((50L, 48L, 2L), (records[1].Operations[0].Unacknowledged!.Sent, records[1].Operations[0].Unacknowledged!.Arrived,
            records[1].Operations[0].Repaired));
    }

    [Fact]
    public void A_check_finds_what_is_missing_and_writes_nothing()
    {
        Begin(Users
            + "phases:\n  - {load: users}\n  - {name: read, count: 1, operations: [{find: users, key: uniform}]}\n  - {check: users}\n");
        Assert.True(_plan.Run(i =>
        {
            if (i == 1)
                _plan.Data.Remove("users", 17);
            return Scripted.Ok();
        }));
        Assert.Equal(("check users", PhaseKind.Check, 99L), (_plan.Records[^1].Phase, _plan.Records[^1].Kind, _plan.Records[^1].Documents));
        Assert.Equal(1, _plan.Missing);
        Assert.Empty(_plan.Data.Written);
        Assert.Contains(_plan.Heard.Events, e => e is { Kind: "missing", Text: "1 of 100 documents of users are missing" });
    }

    [Fact]
    public void All_checks_are_looked_at_and_each_violation_is_shown_with_its_first_document()
    {
        Begin(Users + "checks:\n  - {name: a, aggregate: users, pipeline: []}\n  - {name: b, aggregate: users, pipeline: []}\n"
            + "phases:\n  - {load: users}\n");
        _plan.Data.OnAggregate = name => name == "a" ? (3, "{\"_id\": 7}") : (0, null);
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        PhaseRecord record = _plan.Records[^1];
        Assert.Equal(("checks", PhaseKind.Check, true, true), (record.Phase, record.Kind, record.IsComplete, record.IsInconsistent));
        Assert.Equal([("a", false, 3.0), ("b", true, 0.0)], record.Assertions.Select(one => (one.Text, one.Holds, one.Value!.Value)));
        Assert.Equal("a: 3 violations, the first is {\"_id\": 7}", record.Assertions[0].Shown);
        Assert.Equal("check failed: checks: a: 3 violations, the first is {\"_id\": 7}", record.Assertions[0].FailedIn("checks"));
        Assert.Contains(_plan.Heard.Events, e => e.Kind == "violated" && e.Text == record.Assertions[0].Shown);
        Assert.Contains(_plan.Heard.Events, e => e is { Kind: "checked", Text: "b: no violations" });
    }

    [Fact]
    public void A_check_of_what_is_whole_says_so()
    {
        Run(Users + "phases:\n  - {load: users}\n  - {check: users}\n");
        Assert.Equal((0L, 100L), (_plan.Missing, _plan.Records[^1].Documents));
        Assert.Contains(_plan.Heard.Events, e => e is { Kind: "checked", Text: "users holds all 100 documents" });
    }

    [Fact]
    public void A_collection_that_is_grown_is_gone_on_with_and_any_other_made_anew()
    {
        Begin("data:\n  users: {count: 5, document: {n: ^number}}\n  log: {document: {n: ^number}}\nphases:\n  - {load: users}\n"
            + "  - {grow: log, to: 20, step: 10}\n");
        for (int i = 0; i < 10; i++)
        {
            _plan.Data.Insert("log", i);
            _plan.Data.Insert("users", 100 + i);
        }

        _plan.StartDocuments["log"] = 10;
        Assert.True(_plan.Run(_ => Scripted.Ok()));
        Assert.Equal(Enumerable.Range(0, 20).Select(n => (long)n), _plan.Data.Numbers("log"));
        Assert.Equal(5, _plan.Data.Numbers("users").Count);
        // The first step was there; the second one's number is that of a whole growth.
        Assert.Equal([1, 3], _plan.Records.Select(r => r.Number));
    }

    private void Begin(string text)
    {
        _plan.Dispose();
        _plan = new GrowthHarness { Text = text };
    }

    private IReadOnlyList<PhaseRecord> Run(string text, Func<int, Scripted>? script = null)
    {
        Begin(text);
        Assert.True(_plan.Run(script ?? (_ => Scripted.Ok())));
        return _plan.Records;
    }
}
