using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>What goes over the wire for steps, and what becomes of their transactions when servers refuse, lie or go away.</summary>
public sealed class PreparedStepsTests : IDisposable
{
    private const string Transfer = "transaction: true, steps: [{findAndModify: users, key: uniform, with: {$inc: {n: 1}}, as: user}, "
        + "{insert: log, with: {of: {^from: user.name}}}]";

    private static readonly BsonDocument User = BsonDocument.Of(("_id", 7), ("n", 5), ("name", "ann"), ("friends", new object[] { 3, 4 }));
    private static readonly BsonDocument Written = BsonDocument.Of(("n", 1), ("nModified", 1), ("value", User), ("ok", 1.0));

    private readonly LyingServer _server = new();
    private readonly ManualClock _clock = new();
    private readonly List<BsonDocument> _commands = [];
    private readonly WireExecutor _executor;

    public PreparedStepsTests() => _executor = new WireExecutor(_ => _server.Address, ConnectionSettings.Default, "d");

    private IEnumerable<string> Names => _commands.Select(command => command.First().Key);

    public void Dispose()
    {
        _executor.Dispose();
        _server.Dispose();
    }

    [Fact]
    public void A_value_of_any_type_goes_from_one_reply_into_the_next_command()
    {
        IPreparedOperation steps = Prepare("steps: [{find: users, key: uniform, as: user}, "
            + "{update: users, filter: {_id: {$in: {^from: user.friends}}, n: {^from: user.n}}, with: {$set: {name: {^from: user.0.name}, "
            + "whole: {^from: user.0}, none: {^from: {path: user.age, default: 18}}}}}]", Found);
        Assert.Equal((true, 2), Run(steps));
        BsonDocument update = _commands[1].FindDocument("updates.0")!;
        Assert.Equal([3L, 4L], update.FindDocument("q._id.$in")!.Select(item => item.Value.ToInt64()));
        Assert.Equal((5L, "ann", 18L), (update.FindInt64("q.n"), update.FindString("u.$set.name"), update.FindInt64("u.$set.none")));
        Assert.Equal(User.Bytes.ToArray(), update.FindDocument("u.$set.whole")!.Bytes.ToArray());
    }

    [Fact]
    public void A_step_runs_once_for_each_element_and_its_list_of_results_can_be_used()
    {
        IPreparedOperation steps = Prepare("steps: [{find: users, key: uniform, as: user}, "
            + "{find: users, filter: {_id: {^from: each}}, each: user.friends, as: friends}, "
            + "{update: users, filter: {_id: {^from: each.0._id}}, with: {$inc: {n: 1}}, each: friends}]", Found);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(["find", "find", "find", "update", "update"], Names);
        Assert.Equal([3L, 4L], _commands.Skip(1).Take(2).Select(command => command.FindInt64("filter._id")!.Value));
        Assert.Equal([7L, 7L], _commands.Skip(3).Select(command => command.FindInt64("updates.0.q._id")!.Value));
        Assert.Equal([0, 1, 1, 2, 2], steps.Steps!.Entries.ToArray().Select(entry => entry.Step));
    }

    [Theory]
    [InlineData("user", true)]
    [InlineData("{user.n: 5}", true)]
    [InlineData("{user.n: 5.0}", true)]
    [InlineData("{user.n: {$numberDecimal: '5.00'}}", true)]
    [InlineData("{user.n: {$lt: {$numberDecimal: '10'}, $gt: {$numberDecimal: '-7'}}}", true)]
    [InlineData("{user.n: {$gt: 5}}", false)]
    [InlineData("{user.n: {$gte: 5, $lt: 6}}", true)]
    [InlineData("{user.name: {$ne: bob}}", true)]
    [InlineData("{user.name: {$lt: bob}, user.n: 4}", false)]
    [InlineData("{user.age: {$exists: false}}", true)]
    [InlineData("{user.age: null}", true)]
    [InlineData("{user.n: {^from: user.friends.1}}", false)]
    [InlineData("user.age", false)]
    public void A_step_is_left_out_unless_its_conditions_hold(string condition, bool runs)
    {
        IPreparedOperation steps = Prepare(
            $"steps: [{{find: users, key: uniform, as: user}}, {{delete: users, key: uniform, if: {condition}}}]", Found);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(runs ? 2 : 1, _commands.Count);
    }

    [Fact]
    public void A_value_that_no_step_brought_fails_the_operation_before_anything_is_sent()
    {
        IPreparedOperation steps = Prepare(
            "steps: [{find: users, key: uniform, as: user}, {delete: users, filter: {_id: {^from: user.age}}}]", Found);
        Assert.False(Run(steps).Succeeded);
        Assert.Equal(["find"], Names);
        Assert.Equal([(0, true), (1, false)], Entries(steps));
        Assert.Equal(
            (ErrorCount.NoValue, "step 'delete' takes 'user.age', and no earlier step returned it: give it a default, or the step an if"),
            (steps.LastError!.Name, steps.LastError.Message));
    }

    /// <summary>Found by a review: the next step that ran was named, and without one nothing was said.</summary>
    [Theory]
    [InlineData("{delete: users, key: uniform, if: {user.n: {$gt: {^from: user.age}}}}", "delete")]
    [InlineData("{think: 1ms, if: {user.n: {$gt: {^from: user.age}}}}, {delete: users, key: uniform}", "think")]
    public void A_condition_that_compares_with_what_no_step_brought_fails_its_own_step(string step, string name)
    {
        IPreparedOperation steps = Prepare($"steps: [{{find: users, key: uniform, as: user}}, {step}]", Found);
        Assert.False(Run(steps).Succeeded);
        Assert.Equal(["find"], Names);
        Assert.StartsWith($"step '{name}' takes 'user.age', and no earlier step returned it", steps.LastError!.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Values_that_a_step_draws_are_the_same_in_all_later_steps_and_in_each_attempt()
    {
        int inserts = 0;
        IPreparedOperation steps = Prepare("transaction: true, steps: [{values: {n: {^long: [1, 1000000000]}, "
            + "list: {^array: {length: 3, of: {^int: [0, 99]}}}}, as: in}, {find: users, filter: {n: {^from: in.n}}}, "
            + "{insert: log, with: {of: {^from: in.n}, list: {^from: in.list}}}]",
            command => command.First().Key == "insert" && inserts++ == 0
                ? Refusal(112, "WriteConflict", "TransientTransactionError")
                : Found(command));
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(["find", "insert", "abortTransaction", "find", "insert", "commitTransaction"], Names);
        long?[] drawn =
            [_commands[0].FindInt64("filter.n"), _commands[1].FindInt64("documents.0.of"), _commands[4].FindInt64("documents.0.of")];
        Assert.NotNull(drawn[0]);
        Assert.Single(drawn.Distinct());
        Assert.Equal(3, _commands[1].FindDocument("documents.0.list")!.Count());
        Assert.True(Run(steps).Succeeded);
        Assert.NotEqual(drawn[0], _commands[6].FindInt64("filter.n"));
    }

    [Fact]
    public void Paths_take_the_middle_of_an_array_its_size_and_the_element_at_the_same_place()
    {
        IPreparedOperation steps = Prepare("steps: [{values: {four: [1, 2, 3, 4], five: [1, 2, 3, 4, 5], none: [], "
            + "lines: [{price: 3}, {price: 5}]}, as: in}, "
            + "{values: {place: {^from: place}, sum: {^add: [{^from: each}, {^from: in.lines.each.price}]}}, each: in.four, "
            + "if: {each: {$lt: 3}}, as: sums}, {insert: log, with: {four: {^from: in.four.middle}, five: {^from: in.five.middle}, "
            + "none: {^from: {path: in.none.middle, default: 0}}, last: {^from: in.four.last}, "
            + "no: {^from: {path: in.none.last, default: 7}}, size: {^from: in.five.size}, empty: {^from: in.none.size}, "
            + "sums: {^from: sums}}}]", Found);
        Assert.True(Run(steps).Succeeded);
        BsonDocument log = _commands.Single().FindDocument("documents.0")!;
        Assert.Equal([2L, 3L, 0L, 4L, 7L, 5L, 0L],
            ((string[])["four", "five", "none", "last", "no", "size", "empty"]).Select(name => log.FindInt64(name)!.Value));
        Assert.Equal(
            [1L, 4L, 2L, 7L], ((string[])["0.place", "0.sum", "1.place", "1.sum"]).Select(at => log.FindInt64($"sums.{at}")!.Value));
        // Elements that were left out keep their places.
        Assert.Equal([BsonType.Null, BsonType.Null], log.FindDocument("sums")!.Skip(2).Select(item => item.Value.Type));
    }

    [Fact]
    public void A_condition_on_the_element_decides_on_each_by_itself()
    {
        IPreparedOperation steps = Prepare("steps: [{find: users, key: uniform, as: user}, "
            + "{delete: users, filter: {_id: {^from: each}}, each: user.friends, if: {each: {$ne: 3}}}]", Found);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal([4L], _commands.Skip(1).Select(command => command.FindInt64("deletes.0.q._id")!.Value));
    }

    /// <summary>Found by a review: each element was looked for from the array's beginning, and a long reply held its worker.</summary>
    [Fact]
    public void Elements_of_a_long_reply_are_gone_through_once()
    {
        BsonDocument user = BsonDocument.Of(("_id", 7), ("friends", Enumerable.Range(0, 100_000).Select(i => (object)i).ToArray()));
        IPreparedOperation steps = Prepare("steps: [{find: users, key: uniform, as: user}, "
            + "{delete: users, filter: {_id: {^from: each}}, each: user.friends, if: {each: 99999}}]",
            command => command.First().Key == "find" ? Cursor("firstBatch", 0, user) : Written);
        TimeSpan before = ThreadCpuTime.Now;
        Assert.True(Run(steps).Succeeded);
        Assert.Equal([99_999L], _commands.Skip(1).Select(command => command.FindInt64("deletes.0.q._id")!.Value));
        // Otherwise it would take a minute.
        Assert.InRange((ThreadCpuTime.Now - before).TotalSeconds, 0, 10);
    }

    [Fact]
    public void A_run_that_is_stopped_does_not_wait_for_elements_that_are_left_out()
    {
        var steps = new PreparedSteps(new StoppedClient(), (StepSequence)Bound(
            "steps: [{values: {list: [1, 2]}, as: in}, {delete: users, key: uniform, each: in.list, if: {each: 3}}]"),
            new OperationContext(42, 0, null));
        steps.Draw();
        Assert.Throws<ConnectionFailedException>(() => steps.Execute());
    }

    /// <summary>Found by a review: behind an element that was left out, number 0 was inserted again and again.</summary>
    [Fact]
    public void Inserts_for_some_elements_have_numbers_of_their_own()
    {
        IPreparedOperation steps = Prepare("steps: [{values: {list: [1, 2, 3, 4, 5, 6, 7, 8]}, as: in}, "
            + "{insert: log, each: in.list, if: {each: {$gt: 5}}}]", Found);
        Assert.True(Run(steps).Succeeded && Run(steps).Succeeded);
        Assert.Equal([0L, 1L, 2L, 3L, 4L, 5L], _commands.Select(command => command.FindInt64("documents.0.n")!.Value));
    }

    /// <summary>Found by a review: those who watch the collection missed their events.</summary>
    [Theory]
    [InlineData("", 1)]
    [InlineData("transaction: true, ", 0)]
    public void What_a_transaction_left_on_purpose_inserted_is_not_acknowledged(string transaction, int acknowledged)
    {
        var tracked = new TrackedWrites(new KeySpace(0), null, 1);
        IPreparedOperation steps = Prepare($"{transaction}steps: [{{values: {{stop: true}}, as: in}}, {{insert: log}}, "
            + "{abort: true, if: {in.stop: true}}]", _ => Written, tracked: tracked);
        Assert.True(Run(steps).Succeeded);
        steps.Track(1, 7);
        Assert.Equal(acknowledged, tracked.Inserts.All().Count());
    }

    /// <summary>Found by a review: what was inserted and taken back counted as documents.</summary>
    [Theory]
    [InlineData("", 2)]
    [InlineData("transaction: true, ", 1)]
    public void What_a_transaction_left_on_purpose_wrote_is_no_document_of_it(string transaction, int documents)
    {
        IPreparedOperation steps = Prepare($"{transaction}steps: [{{find: users, key: uniform, as: user}}, {{insert: log}}, "
            + "{abort: true, if: user}]", Found);
        Assert.Equal((true, documents), Run(steps));
    }

    [Fact]
    public void A_transaction_left_on_purpose_is_aborted_and_counts_as_done()
    {
        IPreparedOperation steps = Prepare("transaction: true, steps: [{findAndModify: users, key: uniform, with: {$inc: {n: 1}}, "
            + "as: user}, {abort: true, if: user}, {insert: log}]", _ => Written);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(["findAndModify", "abortTransaction"], Names);
        Assert.Equal((1, 0, 0, 0), (steps.Steps!.RolledBack, steps.Steps.Committed, steps.Steps.Aborted, steps.Steps.Retried));
        Assert.Equal([(0, true), (3, true)], Entries(steps));
    }

    [Fact]
    public void Without_a_transaction_an_abort_leaves_the_steps_that_follow_out()
    {
        IPreparedOperation steps =
            Prepare("steps: [{find: users, key: uniform, as: user}, {abort: true, if: {user.n: 5}}, {insert: log}]", Found);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(["find"], Names);
        Assert.Equal([0, 2], steps.Steps!.Entries.ToArray().Select(entry => entry.Step));
    }

    [Fact]
    public void Computing_with_what_is_no_number_fails_the_operation_before_anything_is_sent()
    {
        IPreparedOperation steps = Prepare("steps: [{find: users, key: uniform, as: user}, "
            + "{delete: users, filter: {n: {^add: [1, {^from: user.name}]}}}]", Found);
        Assert.False(Run(steps).Succeeded);
        Assert.Equal(["find"], Names);
        Assert.Equal((ErrorCount.NoValue, "step 'delete' computes ^add of a value of type String, which is not a number"),
            (steps.LastError!.Name, steps.LastError.Message));
    }

    [Fact]
    public void A_cursor_is_read_on_and_brings_all_its_documents()
    {
        IPreparedOperation steps = Prepare("steps: [{find: users, filter: {}, as: all}, "
            + "{delete: users, each: all, filter: {_id: {^from: each._id}}}]",
            command => command.First().Key switch
            {
                "find" => Cursor("firstBatch", 99, BsonDocument.Of(("_id", 1)), BsonDocument.Of(("_id", 2))),
                "getMore" => Cursor("nextBatch", 0, BsonDocument.Of(("_id", 3))),
                _ => Written,
            });
        Assert.True(Run(steps).Succeeded);
        Assert.Equal([1L, 2L, 3L], _commands.Where(c => c.First().Key == "delete").Select(c => c.FindInt64("deletes.0.q._id")!.Value));
    }

    [Fact]
    public void A_transaction_begins_with_its_first_command_and_ends_with_a_commit()
    {
        const string Options = "{readConcern: snapshot, writeConcern: {w: majority}, maxCommitTimeMS: 300}";
        IPreparedOperation steps = Prepare(Transfer.Replace("true", Options, StringComparison.Ordinal), _ => Written);
        Assert.Equal((true, 2), Run(steps));
        Assert.Equal(["findAndModify", "insert", "commitTransaction"], Names);
        Assert.Equal([true, null, null], _commands.Select(c => c.Find("startTransaction")?.ToBoolean()));
        Assert.Equal(["snapshot", null, null], _commands.Select(c => c.FindString("readConcern.level")));
        Assert.Equal([null, null, "majority"], _commands.Select(c => c.FindString("writeConcern.w")));
        Assert.All(_commands, c => Assert.False(c.Find("autocommit")!.Value.ToBoolean()));
        Assert.Single(_commands.Select(c => (c.FindInt64("txnNumber"), Convert.ToHexString(c.Find("lsid")!.Value.Bytes.Span))).Distinct());
        Assert.Equal(("ann", 300L, "admin"),
            (_commands[1].FindString("documents.0.of"), _commands[2].FindInt64("maxTimeMS"), _commands[2].FindString("$db")));
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(1, _commands[3].FindInt64("txnNumber") - _commands[0].FindInt64("txnNumber"));
        Assert.Equal((1, 0, 0), (steps.Steps!.Committed, steps.Steps.Aborted, steps.Steps.Retried));
    }

    [Fact]
    public void After_a_write_conflict_the_whole_transaction_runs_again_with_the_same_values()
    {
        int inserts = 0;
        IPreparedOperation steps = Prepare(Transfer, command => command.First().Key == "insert" && inserts++ < 2
            ? Refusal(112, "WriteConflict", "TransientTransactionError")
            : Written);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(
            ["findAndModify", "insert", "abortTransaction", "findAndModify", "insert", "abortTransaction", "findAndModify", "insert",
                "commitTransaction"], Names);
        Assert.Equal((1, 2, 2, 0), (steps.Steps!.Committed, steps.Steps.Aborted, steps.Steps.Retried, steps.Steps.Unknown));
        Assert.True(steps.Steps.RetryTicks > 0);
        // The same document is changed, and the same one inserted; each attempt is a transaction of its own.
        Assert.Single(_commands.Where(c => c.First().Key == "findAndModify")
            .Select(c => Convert.ToHexString(c.FindDocument("query")!.Bytes)).Distinct());
        BsonDocument[] inserted = [.. _commands.Where(c => c.First().Key == "insert")];
        Assert.Single(inserted.Select(c => c.FindInt64("documents.0.n")).Distinct());
        Assert.Equal([0L, 1L, 2L], inserted.Select(c => c.FindInt64("txnNumber")!.Value - inserted[0].FindInt64("txnNumber")!.Value));
    }

    [Fact]
    public void An_error_that_does_not_pass_aborts_the_transaction_and_fails_the_operation()
    {
        BsonDocument failed = BsonDocument.Of(("index", 0), ("code", 11000), ("errmsg", "E11000"));
        IPreparedOperation steps = Prepare(Transfer, command => command.First().Key == "insert"
            ? BsonDocument.Of(("n", 0), ("writeErrors", new[] { failed }), ("ok", 1.0))
            : Written);
        Assert.False(Run(steps).Succeeded);
        Assert.Equal(["findAndModify", "insert", "abortTransaction"], Names);
        Assert.Equal(
            (0, 1, 0, ServerError.DuplicateKey),
            (steps.Steps!.Committed, steps.Steps.Aborted, steps.Steps.Retried, steps.LastError!.Code));
    }

    [Fact]
    public void A_commit_whose_result_is_unknown_is_sent_again_to_most_members()
    {
        int commits = 0;
        IPreparedOperation steps = Prepare(Transfer, command => command.First().Key == "commitTransaction" && commits++ == 0
            ? BsonDocument.Of(("writeConcernError", BsonDocument.Of(("code", 64), ("errmsg", "waiting timed out"))), ("ok", 1.0))
            : Written);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(["findAndModify", "insert", "commitTransaction", "commitTransaction"], Names);
        Assert.Equal(("majority", 10_000L), (_commands[3].FindString("writeConcern.w"), _commands[3].FindInt64("writeConcern.wtimeout")));
        Assert.Equal((1, 1, 0), (steps.Steps!.Committed, steps.Steps.CommitRetried, steps.Steps.Unknown));
    }

    [Fact]
    public void A_connection_that_breaks_in_a_commit_is_made_again_and_the_server_asked()
    {
        int commits = 0;
        IPreparedOperation steps = Prepare(
            Transfer, command => command.First().Key == "commitTransaction" && commits++ == 0 ? null : Written);
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(["findAndModify", "insert", "commitTransaction", "commitTransaction"], Names);
        Assert.Equal(_commands[2].FindInt64("txnNumber"), _commands[3].FindInt64("txnNumber"));
        Assert.Equal([(0, true), (1, true), (2, false), (2, true)], Entries(steps));
        Assert.Equal((1, 1, 0), (steps.Steps!.Committed, steps.Steps.CommitRetried, steps.Steps.Unknown));
    }

    /// <summary>
    /// Where the server had no more time drivers do not ask again; what may be committed is neither aborted nor run again.
    /// </summary>
    [Fact]
    public void A_commit_that_ran_out_of_time_is_unknown_and_left_alone()
    {
        IPreparedOperation steps = Prepare(Transfer, command => command.First().Key == "commitTransaction"
            ? Refusal(50, "MaxTimeMSExpired", "UnknownTransactionCommitResult")
            : Written);
        Assert.False(Run(steps).Succeeded);
        Assert.Equal(["findAndModify", "insert", "commitTransaction"], Names);
        Assert.Equal((0, 0, 1, 0), (steps.Steps!.Committed, steps.Steps.Aborted, steps.Steps.Unknown, steps.Steps.CommitRetried));
        Assert.Equal((50, false), (steps.LastError!.Code, Entries(steps)[^1].Succeeded));
    }

    [Fact]
    public void A_commit_of_which_no_answer_tells_is_asked_about_for_two_minutes()
    {
        int commits = 0;
        IPreparedOperation steps = Prepare(Transfer, command =>
        {
            if (command.First().Key != "commitTransaction")
                return Written;
            _clock.Advance(50);
            // So that it ends whatever it does about the time.
            return ++commits > 9 ? Written
                : BsonDocument.Of(("writeConcernError", BsonDocument.Of(("code", 64), ("errmsg", "waiting timed out"))), ("ok", 1.0));
        });
        Assert.False(Run(steps).Succeeded);
        Assert.Equal(3, commits);
        Assert.Equal((0, 2, 1), (steps.Steps!.Committed, steps.Steps.CommitRetried, steps.Steps.Unknown));
        Assert.Equal(150 * _clock.TicksPerSecond, steps.Steps.TransactionTicks);
    }

    [Fact]
    public void A_server_that_went_away_in_a_commit_is_looked_for_with_growing_pauses()
    {
        bool isAway = false;
        int commits = 0, tries = 0;
        IPreparedOperation steps = Prepare(Transfer, command =>
        {
            if (command.First().Key != "commitTransaction" || commits++ > 0)
                return Written;
            isAway = true;
            return null;
        });
        _server.Handshake = exchange =>
        {
            if (isAway && tries++ < 3)
                exchange.Close();
            else
                exchange.Reply(LyingServer.Hello(17, isMember: true));
        };
        Assert.True(Run(steps).Succeeded);
        Assert.Equal(0.05 + 0.1 + 0.2, _clock.Seconds, 6);
        Assert.Equal((1, 1, 0), (steps.Steps!.Committed, steps.Steps.CommitRetried, steps.Steps.Unknown));
    }

    [Fact]
    public void A_transaction_left_before_its_first_command_has_an_abort_that_took_no_time()
    {
        IPreparedOperation steps = Prepare("transaction: true, steps: [{values: {n: 5}, as: in}, {abort: true, if: {in.n: 5}}, "
            + "{insert: log}]", _ => Written);
        Assert.True(Run(steps).Succeeded);
        Assert.Empty(_commands);
        Assert.Equal((1, true), (steps.Steps!.RolledBack, Entries(steps).Single().Succeeded));
    }

    [Fact]
    public void An_insert_that_the_server_does_not_count_fails_and_its_bytes_are_those_that_were_sent()
    {
        int count = 1;
        IPreparedOperation steps = Prepare("steps: [{insert: log}]", _ => BsonDocument.Of(("n", count), ("ok", 1.0)));
        Assert.True(steps.Draw());
        OperationOutcome whole = steps.Execute();
        Assert.Equal((true, 1), (whole.Succeeded, whole.Documents));
        Assert.Equal(_commands[0].FindDocument("documents")!.Sum(one => one.Value.Bytes.Length), whole.Bytes);
        count = 0;
        Assert.False(Run(steps).Succeeded);
        Assert.Equal(("ShortCount", "the server counts 0 documents, 1 were sent"), (steps.LastError!.Name, steps.LastError.Message));
    }

    /// <summary>A server without the times of a replica set sends none, or zero: then there is nothing to read after.</summary>
    [Fact]
    public void A_time_of_zero_is_no_time_to_read_after()
    {
        var zero = new BsonValue(BsonType.Timestamp, new byte[8]);
        var one = new BsonValue(BsonType.Timestamp, BitConverter.GetBytes(1UL));
        int replies = 0;
        IPreparedOperation steps = Prepare("session: causal, steps: [{find: log, filter: {}}, {find: log, filter: {}}, "
            + "{find: log, filter: {}}]", command => BsonDocument.Of(
            [
                .. Found(command).Select(e => (e.Key, (object?)e.Value)), ("operationTime", replies++ == 0 ? zero : one),
            ]));
        Assert.True(Run(steps).Succeeded);
        Assert.Equal([null, null, "1"], _commands.Select(command => command.Find("readConcern.afterClusterTime") is { } after
            ? $"{BitConverter.ToUInt64(after.Bytes.Span)}" : null));
        Assert.All(_commands, command => Assert.Null(command.Find("$clusterTime")));
    }

    [Fact]
    public void A_connection_that_breaks_before_the_commit_leaves_nothing()
    {
        IPreparedOperation steps = Prepare(Transfer, command => command.First().Key == "insert" ? null : Written);
        Assert.True(steps.Draw());
        Assert.Throws<ConnectionFailedException>(() => steps.Execute());
        Assert.Equal((0, 1, 0, 0), (steps.Steps!.Committed, steps.Steps.Aborted, steps.Steps.Retried, steps.Steps.Unknown));
    }

    [Fact]
    public void A_causal_session_reads_after_what_it_has_seen()
    {
        var time = new BsonValue(BsonType.Timestamp, BitConverter.GetBytes(0x6000_0000_0000_0001UL));
        BsonDocument cluster = BsonDocument.Of(("clusterTime", time));
        IPreparedOperation steps = Prepare(
            "session: causal, steps: [{insert: log, as: note}, {find: log, filter: {_id: {^from: note._id}}, readConcern: majority}]",
            command => BsonDocument.Of(
            [
                .. (command.First().Key == "find" ? Found(command) : Written).Select(e => (e.Key, (object?)e.Value)),
                ("operationTime", time), ("$clusterTime", cluster),
            ]));
        Assert.True(Run(steps).Succeeded);
        Assert.Null(_commands[0].Find("readConcern"));
        Assert.Equal("majority", _commands[1].FindString("readConcern.level"));
        Assert.Equal(time.Bytes.ToArray(), _commands[1].Find("readConcern.afterClusterTime")!.Value.Bytes.ToArray());
        Assert.Equal(cluster.Bytes.ToArray(), _commands[1].FindDocument("$clusterTime")!.Bytes.ToArray());
        Assert.Null(_commands[1].Find("txnNumber"));
        Assert.Equal(_commands[0].Find("documents.0._id")!.Value.Bytes.ToArray(), _commands[1].Find("filter._id")!.Value.Bytes.ToArray());
    }

    /// <summary>Specification, driver-sessions.md: "the highest seen"; causal-consistency.md: operationTime never goes back.</summary>
    [Fact]
    public void An_earlier_time_in_a_later_reply_takes_a_session_not_back()
    {
        // As little-endian bytes, or as signed numbers, they would come in another order.
        ulong[] times = [0x1_0000_00FF, 0x1_0000_0100, 0x1_0000_00FE, 0x8000_0000_0000_0001, 0x7FFF_FFFF_FFFF_FFFF];
        object?[] damaged = [null, BsonDocument.Of(("clusterTime", 1)), BsonDocument.Empty];
        int replies = 0;
        IPreparedOperation steps = Prepare(
            "session: causal, steps: [" + string.Join(", ", Enumerable.Repeat("{find: log, filter: {}}", 9)) + "]",
            command =>
            {
                int reply = replies++;
                bool isDamaged = reply >= times.Length;
                object operation = isDamaged ? reply : Time(times[reply]);
                object? cluster = isDamaged ? damaged[Math.Min(reply - times.Length, 2)] : Cluster(times[reply]);
                return BsonDocument.Of([.. Found(command).Select(e => (e.Key, (object?)e.Value)),
                    ("operationTime", operation), ("$clusterTime", cluster)]);
            });
        Assert.True(Run(steps).Succeeded);
        Assert.Null(_commands[0].Find("$clusterTime"));
        ulong latest = 0;
        foreach ((int i, BsonDocument command) in _commands.Skip(1).Index())
        {
            latest = Math.Max(latest, i < times.Length ? times[i] : 0);
            Assert.Equal(latest, BitConverter.ToUInt64(command.Find("readConcern.afterClusterTime")!.Value.Bytes.Span));
            Assert.Equal(Cluster(latest).Bytes.ToArray(), command.FindDocument("$clusterTime")!.Bytes.ToArray());
        }

        static BsonValue Time(ulong time) => new(BsonType.Timestamp, BitConverter.GetBytes(time));

        // With the signature that belongs to this time and to no other.
        static BsonDocument Cluster(ulong time) => BsonDocument.Of(
            ("clusterTime", Time(time)), ("signature", BsonDocument.Of(("hash", BitConverter.GetBytes(time)), ("keyId", 1L))));
    }

    [Fact]
    public void A_standalone_server_is_refused_by_name()
    {
        OperationLimitException e = Assert.Throws<OperationLimitException>(() => Prepare(Transfer, _ => Written, isMember: false));
        Assert.StartsWith("steps: a transaction needs a replica set or a real mongos, and this server is neither",
            e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("steps: [{find: users, key: uniform, as: user}, "
        + "{update: users, filter: {_id: {^from: user._id}}, with: {$set: {name: {^from: user.name}}}, if: {user.n: {$gt: 0}}}, "
        + "{find: users, each: user.friends, filter: {_id: {^from: each}}, as: friends}, {insert: log, with: {of: {^from: friends}}}]")]
    [InlineData("transaction: true, steps: [{find: users, key: uniform, as: user}, {insert: log, with: {of: {^from: user.name}}}]")]
    public void Steps_allocate_nothing(string operation)
    {
        BsonDocument reply = BsonDocument.Of([.. Found(BsonDocument.Empty).Concat(Written.Where(e => e.Key is "n" or "nModified"))
            .Select(e => (e.Key, (object?)e.Value))]);
        using var server = new CannedServer(reply, isMember: true);
        using var executor = new WireExecutor(_ => server.Address, ConnectionSettings.Default, "d");
        executor.Connect();
        IPreparedOperation steps = executor.Prepare(Bound(operation), new OperationContext(42, 0, null));
        Repeat();
        Assert.Equal(0, Allocation.LeastBytes(Repeat));

        void Repeat()
        {
            for (int i = 0; i < 500; i++)
                Assert.True(steps.Draw() && steps.Execute().Succeeded);
        }
    }

    private static BsonDocument Found(BsonDocument command) =>
        command.Any() && command.First().Key is not "find" ? Written : Cursor("firstBatch", 0, User);

    private static BsonDocument Cursor(string batch, long id, params BsonDocument[] documents) => BsonDocument.Of(
        ("cursor", BsonDocument.Of((batch, documents), ("id", id), ("ns", "d.users"))), ("ok", 1.0));

    private static BsonDocument Refusal(int code, string name, string label) => BsonDocument.Of(
        ("ok", 0.0), ("code", code), ("codeName", name), ("errmsg", name), ("errorLabels", new[] { label }));

    private static (int Step, bool Succeeded)[] Entries(IPreparedOperation steps) =>
        [.. steps.Steps!.Entries.ToArray().Select(entry => (entry.Step, entry.Succeeded))];

    private static (bool Succeeded, int Documents) Run(IPreparedOperation steps)
    {
        Assert.True(steps.Draw());
        OperationOutcome outcome = steps.Execute();
        return (outcome.Succeeded, outcome.Documents);
    }

    /// <param name="operation">In braces of its own.</param>
    /// <param name="answer">Null breaks the connection.</param>
    /// <param name="isMember">Of a replica set.</param>
    /// <param name="tracked">The writes that somebody watches; null for none.</param>
    private IPreparedOperation Prepare(
        string operation, Func<BsonDocument, BsonDocument?> answer, bool isMember = true, TrackedWrites? tracked = null)
    {
        _server.Handshake = exchange => exchange.Reply(LyingServer.Hello(17, isMember));
        _server.Answer = exchange =>
        {
            var command = new BsonDocument(OpMsg.Parse(exchange.Request).Body.ToArray());
            _commands.Add(command);
            if (answer(command) is { } reply)
                exchange.Reply(reply);
            else
                exchange.Close();
        };
        _executor.Connect();
        return _executor.Prepare(
            Bound(operation).Each(one => one with { Tracked = tracked }), new OperationContext(42, 0, null) { Clock = _clock });
    }

    private static Operation Bound(string operation) => ScenarioTexts.Plan(
            "data:\n  users: {count: 1000, document: {n: ^number, name: ^word}}\n  log: {document: {n: ^number}}\n"
            + $"phases: [{{name: p, count: 1, operations: [{{{operation}}}]}}]\n")
        .Phases.Last().Groups[0].Operations[0].Operation.Each(one => one with
        {
            Keys = one.Inserts ? new KeySpace(0) : null, Chooser = one.Choice?.Open(new KeySpace(1000), 0),
        });

    private sealed class StoppedClient : IStepClient, IStepCommand
    {
        public bool HasBegun => false;

        public bool IsAborted => true;

        public string? Member => null;

        public ServerError? LastError => null;

        public IStepCommand Prepare(Step step, StepValues values, StepNumbers? numbers) => this;

        public void Begin()
        {
        }

        public ServerError? Commit(bool isRetry) => throw new NotSupportedException();

        public void Abort()
        {
        }

        public void Reconnect()
        {
        }

        public void Complete()
        {
        }

        public void Stage(in ValueContext context)
        {
        }

        public OperationOutcome Execute() => throw new NotSupportedException();

        public void Keep(StepValues values, int slot)
        {
        }
    }
}
