using System.Collections.Concurrent;
using MongoPerf.Load.Executors;
using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Testing;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Traffic;

/// <summary>Which requests wait for which, that those come first however long a server takes, and that nobody waits for ever.</summary>
public sealed class ReplayDependenciesTests : IDisposable
{
    private static readonly BsonDocument Ok = ServerRecordingTests.Ok();
    private static readonly ReplaySettings Kept = new() { KeepsDependencies = true, Speed = double.PositiveInfinity };

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void What_was_answered_before_on_the_same_documents_comes_first_where_one_of_both_writes()
    {
        BsonDocument insert = BsonDocument.Of(("insert", "a"), ("documents", new object[] { Id(1) }), ("$db", "d"));
        BsonDocument find = Find(Id(1));
        (BsonDocument First, BsonDocument Then, bool Waits)[] cases =
        [
            (insert, find, true), (find, insert, true), (find, find, false), (insert, insert, true),
            (insert, Find(Id(2)), false), (insert, Find(Id(1.0)), true), (insert, Find(Id(1L)), true),
            (insert, Find(BsonDocument.Of(("sku", 1))), true), (insert, Find(Id(BsonDocument.Of(("$in", new object[] { 5, 1 })))), true),
            (insert, Find(Id(BsonDocument.Of(("$in", new object[] { 5, 6 })))), false),
            (insert, Find(Id(BsonDocument.Of(("$gt", 5)))), true), (insert, Find(Id(BsonDocument.Of(("$eq", 5)))), false),
            (insert, BsonDocument.Of(("find", "a"), ("filter", Id(2)), ("collation", BsonDocument.Of(("locale", "en"))), ("$db", "d")),
                true),
            (insert, BsonDocument.Of(("find", "b"), ("filter", Id(1)), ("$db", "d")), false),
            (BsonDocument.Of(("insert", "a"), ("documents", new object[] { Id(-0.0) }), ("$db", "d")), Find(Id(0)), true),
            (insert, BsonDocument.Of(("find", "a"), ("filter", Id(1)), ("$db", "e")), false),
            (insert, BsonDocument.Of(("dropDatabase", 1), ("$db", "d")), true),
            (insert, BsonDocument.Of(("dropDatabase", 1), ("$db", "e")), false),
            (BsonDocument.Of(("drop", "a"), ("$db", "d")), find, true), (BsonDocument.Of(("drop", "b"), ("$db", "d")), find, false),
            (BsonDocument.Of(("inventedCommand", 1), ("$db", "d")), find, true),
            (insert, BsonDocument.Of(("listCollections", 1), ("$db", "d")), true),
            (insert, BsonDocument.Of(("dbStats", 1), ("$db", "d")), true), (insert, BsonDocument.Of(("dbHash", 1), ("$db", "d")), true),
            (insert, BsonDocument.Of(("dbStats", 1), ("$db", "e")), false),
            (BsonDocument.Of(("dbStats", 1), ("$db", "d")), insert, true), (find, BsonDocument.Of(("dbStats", 1), ("$db", "d")), false),
            (insert, BsonDocument.Of(("find", "a"), ("filter", 2), ("$db", "d")), true), (insert, ServerRecordingTests.Ping(), false),
            (insert, BsonDocument.Of(("aggregate", "b"), ("pipeline", new object[]
            {
                BsonDocument.Of(("$lookup", BsonDocument.Of(("from", "a"), ("as", "x")))),
            }), ("$db", "d")), true),
            (BsonDocument.Of(("aggregate", "b"), ("pipeline", new object[] { BsonDocument.Of(("$out", "a")) }), ("$db", "d")), find, true),
            (BsonDocument.Of(("renameCollection", "d.b"), ("to", "d.a"), ("$db", "admin")), find, true),
            (BsonDocument.Of(("update", "a"), ("updates", new object[] { BsonDocument.Of(("q", Id(1)), ("u", Id(1))) }), ("$db", "d")),
                Find(Id(2)), false),
            (BsonDocument.Of(("delete", "a"), ("deletes", new object[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) }),
                ("$db", "d")), find, true),
        ];
        foreach ((BsonDocument first, BsonDocument then, bool waits) in cases)
        {
            ReplayScript script = Read(new TrafficFile().Exchange(1, 1, first, Ok).Exchange(2, 1, then, Ok), Kept);
            Assert.True(waits == WaitsFor(script, 1).Contains(0), $"{then} after {first}");
            // It came before the other one was answered.
            script = Read(new TrafficFile().Request(1, 1, first).Request(2, 1, then).Reply(1, 1, Ok).Reply(2, 1, Ok), Kept);
            Assert.Empty(WaitsFor(script, 1));
        }

        Assert.Empty(Read(new TrafficFile().Exchange(1, 1, insert, Ok).Exchange(2, 1, find, Ok)).Priors);
    }

    [Fact]
    public void Statements_in_a_section_of_their_own_are_read_like_others()
    {
        byte[] statements = [.. ((int[])[1, 2]).SelectMany(id => BsonDocument.Of(("q", Id(id)), ("u", Id(id))).Bytes.ToArray())];
        byte[] update = TrafficFile.MessageOf(
            1, 0, BsonDocument.Of(("update", "a"), ("$db", "d")), OpMsgFlags.None, ("updates", statements));
        foreach ((int id, bool waits) in ((int, bool)[])[(1, true), (2, true), (3, false)])
        {
            var file = new TrafficFile();
            file.Message(1, 0, update);
            file.At++;
            Assert.Equal(waits, WaitsFor(Read(file.Reply(1, 1, Ok).Exchange(2, 1, Find(Id(id)), Ok), Kept), 1).Contains(0));
        }
    }

    /// <summary>It depends on the cursor's beginning and on nothing that is written meanwhile.</summary>
    [Fact]
    public void What_closes_a_cursor_waits_for_no_write()
    {
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, Find(Id(1)), BsonDocument.Of(("cursor", BsonDocument.Of(
                ("id", 77L), ("ns", "d.a"), ("firstBatch", Array.Empty<object>()))), ("ok", 1.0)))
            .Exchange(2, 1, BsonDocument.Of(("drop", "a"), ("$db", "d")), Ok)
            .Exchange(3, 1, BsonDocument.Of(("killCursors", "a"), ("cursors", new object[] { 77L }), ("$db", "d")), Ok), Kept);
        Assert.DoesNotContain(1, WaitsFor(script, 2));
        Assert.Equal(0, script.Requests[2].After);
    }

    /// <summary>A message has room for a million names: they would be compared two by two.</summary>
    [Fact]
    public void What_touches_very_many_collections_counts_as_a_write_to_everything()
    {
        BsonDocument many = BsonDocument.Of(("bulkWrite", 1), ("ops", Array.Empty<object>()), ("nsInfo",
            Enumerable.Range(0, 300).Select(i => (object)BsonDocument.Of(("ns", $"d.c{i}"))).ToArray()), ("$db", "admin"));
        ReplayScript script = Read(
            new TrafficFile().Exchange(1, 1, many, Ok).Exchange(2, 1, many, Ok).Exchange(3, 1, Find(Id(1)), Ok), Kept);
        Assert.InRange(script.Priors.Count, 2, 10);
        Assert.Contains(0, WaitsFor(script, 1));
        Assert.Contains(1, WaitsFor(script, 2));
    }

    [Fact]
    public void What_a_transaction_wrote_is_seen_when_it_ends()
    {
        BsonDocument session = BsonDocument.Of(("id", new BsonValue(BsonType.Binary, (byte[])[16, 0, 0, 0, 4, .. new byte[16]])));
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("insert", "a"), ("documents", new object[] { Id(1) }), ("lsid", session),
                ("startTransaction", true), ("autocommit", false), ("$db", "d")), Ok)
            .Exchange(2, 1, Find(Id(1)), Ok)
            .Exchange(1, 2, BsonDocument.Of(("commitTransaction", 1), ("lsid", session), ("autocommit", false), ("$db", "admin")), Ok)
            .Exchange(2, 2, Find(Id(1)), Ok)
            .Exchange(2, 3, Find(Id(2)), Ok), Kept);
        // The read that did not see it comes before the commit, the one that did comes behind.
        Assert.Contains(1, WaitsFor(script, 2));
        Assert.Contains(2, WaitsFor(script, 3));
        Assert.Empty(WaitsFor(script, 4));
    }

    /// <summary>Its writes would conflict with what came before and is not in what it sees.</summary>
    [Fact]
    public void A_transaction_begins_when_all_writes_before_it_were_answered()
    {
        TrafficFile file = new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("insert", "a"), ("documents", new object[] { Id(1) }), ("$db", "d")), Ok)
            .Exchange(2, 1, Find(Id(2)), Ok)
            .Exchange(3, 1, InSession(Find(Id(3)), 0, 7, ("startTransaction", true), ("autocommit", false)), Ok)
            .Exchange(3, 2, InSession(Find(Id(4)), 0, 7, ("autocommit", false)), Ok);
        ReplayScript script = Read(file, Kept);
        Assert.Equal([0], WaitsFor(script, 2));
        Assert.Empty(WaitsFor(script, 3));
        Assert.Equal(2, script.Requests[3].After);
    }

    /// <summary>A server refuses a lower number than the last one; the reads of one session need not wait for one another.</summary>
    [Fact]
    public void Requests_of_a_session_keep_their_order_on_whichever_connection()
    {
        BsonDocument update = BsonDocument.Of(("update", "a"), ("updates", Array.Empty<object>()), ("$db", "d"));
        (string, object?) seen = ("readConcern", BsonDocument.Of(("afterClusterTime", new BsonValue(BsonType.Timestamp, new byte[8]))));
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, InSession(update, 0, 1), Ok)
            .Exchange(2, 1, InSession(Find(Id(1)), 0, null), Ok)
            .Exchange(2, 2, InSession(update, 0, 2), Ok)
            .Exchange(3, 1, InSession(update, 1, 1), Ok)
            .Exchange(3, 2, InSession(Find(Id(1)), 0, null, seen), Ok)
            .Exchange(1, 2, InSession(update, 0, null), Ok)
            .Request(1, 3, InSession(update, 1, 2)).Exchange(2, 3, InSession(update, 1, 3), Ok).Reply(1, 3, Ok));
        Assert.Equal([-1, -1, 0, -1, 2, 4, 3, -1], script.Requests.Select(request => request.InSession));
        // Each of several clients has sessions of its own.
        ReplayScript[] parts = [.. script.Divide(3)];
        Assert.All(parts, part => Assert.Single(part.Lines, line => part.Has(line.Worker)));
    }

    /// <summary>
    /// A commit waits for its majority, and what it wrote can be seen before its reply: whoever wrote the same documents then had seen it.
    /// </summary>
    [Theory]
    // The documents of both, whether the other one commits, what the second one's write comes to, and whether the second one waits.
    [InlineData(1, 1, "commitTransaction", 0, true)]
    [InlineData(1, 2, "commitTransaction", 0, false)]
    [InlineData(1, 1, "abortTransaction", 0, false)]
    [InlineData(1, 1, "commitTransaction", 112, false)]
    public void A_transaction_begins_when_what_it_must_have_seen_is_committed(int one, int other, string end, int code, bool waits)
    {
        TrafficFile file = new TrafficFile()
            .Exchange(1, 1, Statement(Update(one), 0, 1, starts: true), Ok)
            .Request(1, 2, Ending(end, 0, 1))
            .Exchange(2, 1, Statement(Find(Id(3)), 1, 1, starts: true), Ok)
            .Reply(1, 2, Ok)
            .Exchange(2, 2, Statement(Update(other), 1, 1), code == 0 ? Ok : BsonDocument.Of(("ok", 0.0), ("code", code)))
            .Exchange(2, 3, Ending("commitTransaction", 1, 1), Ok);
        ReplayScript script = Read(file, Kept);
        Assert.Equal(waits, WaitsFor(script, 2).Contains(1));
        Assert.DoesNotContain(1, WaitsFor(Read(file, Kept with { Threads = 1 }), 2));
    }

    /// <summary>A write has long been done when its majority has it; and one that came later had to wait for the end.</summary>
    [Fact]
    public void A_write_comes_before_the_transaction_that_saw_it_or_behind_it()
    {
        ReplayScript script = Read(new TrafficFile()
            .Request(1, 1, Update(1))
            .Exchange(2, 1, Statement(Find(Id(3)), 1, 1, starts: true), Ok)
            .Reply(1, 1, Ok)
            .Exchange(2, 2, Statement(Update(1), 1, 1), Ok)
            .Request(1, 2, Update(1))
            .Request(2, 3, Ending("commitTransaction", 1, 1))
            .Reply(1, 2, Ok)
            .Reply(2, 3, Ok), Kept);
        Assert.Contains(0, WaitsFor(script, 1));
        // Its number is lower than that of what it waits for.
        Assert.Equal([4], WaitsFor(script, 3).Where(number => number > 3));
    }

    /// <summary>It held no document any more once it had failed, so that it must not hold one here.</summary>
    [Fact]
    public void A_statement_that_conflicted_comes_behind_what_it_conflicted_with()
    {
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, Statement(Find(Id(3)), 0, 1, starts: true), Ok)
            .Exchange(2, 1, Statement(Find(Id(3)), 1, 1, starts: true), Ok)
            .Request(1, 2, Statement(Update(1), 0, 1))
            .Exchange(2, 2, Statement(Update(1), 1, 1), BsonDocument.Of(("ok", 0.0), ("code", 112)))
            .Reply(1, 2, Ok)
            .Exchange(1, 3, Ending("commitTransaction", 0, 1), Ok), Kept);
        Assert.Contains(2, WaitsFor(script, 3));
        Assert.True(script.Requests[3].IsStatement);
        Assert.False(script.Requests[4].IsStatement);
    }

    /// <summary>Its transaction was over then; here it would go on, and hold what others wrote.</summary>
    [Theory]
    [InlineData(112, true)]
    [InlineData(0, false)]
    public void A_statement_that_failed_then_and_succeeds_here_is_aborted(int recorded, bool isAborted)
    {
        TrafficFile file = new TrafficFile().Exchange(1, 1, Statement(Update(1), 0, 1, starts: true),
            recorded == 0 ? Ok : BsonDocument.Of(("ok", 0.0), ("code", recorded)));
        using Recording recording = Recording.Open(file.Write(_folder.At("conflict.bin")));
        ReplayScript script = ReplayScriptReader.Read(recording, Kept);
        var asked = new ConcurrentQueue<BsonDocument>();
        WithTarget(script, 17, command =>
        {
            asked.Enqueue(command);
            return Ok;
        }, work => Assert.True(work.TryTake(out _) && work.Draw() && work.Execute().Succeeded));
        BsonDocument[] sent = [.. asked.SkipWhile(command => command.Find("update") is null)];
        Assert.Equal(isAborted ? ["update", "abortTransaction"] : ["update"], sent.Select(command => command.First().Key));
        Assert.Single(sent.Select(command => Convert.ToHexString(command.FindDocument("lsid")!.Bytes)).Distinct());
    }

    /// <summary>An abort frees what was written, once it is done; a write of the same waits for it.</summary>
    [Fact]
    public void A_statement_comes_behind_the_abort_that_let_it_write()
    {
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, Statement(Update(1), 0, 1, starts: true), Ok)
            .Exchange(2, 1, Statement(Find(Id(3)), 1, 1, starts: true), Ok)
            .Request(1, 2, Ending("abortTransaction", 0, 1))
            .Exchange(2, 2, Statement(Update(1), 1, 1), Ok)
            .Reply(1, 2, Ok)
            .Exchange(2, 3, Ending("commitTransaction", 1, 1), Ok), Kept);
        Assert.Contains(2, WaitsFor(script, 3));
    }

    /// <summary>
    /// Transactions on a server that keeps documents locked and snapshots apart, with replies that come late: each replay in another order
    /// that the script allows has no conflict but those that were recorded, and nobody waits for ever.
    /// </summary>
    [Fact]
    public void However_replies_come_transactions_conflict_as_they_did()
    {
        var failures = new List<string>();
        for (int seed = 0; seed < 200; seed++)
        {
            var random = new Random(seed);
            var recorded = new SnapshotServer();
            ReplayScript script = Read(recorded.Record(random), Kept);
            SnapshotServer replayed = recorded.Again();
            Simulate(script, random, seed, out _, replayed.Do);
            failures.AddRange(recorded.Codes.Where(one => one.Value == 0 && replayed.Codes[one.Key] != 0).Take(1)
                .Select(one => $"seed {seed}: request {one.Key} fails here alone"));
        }

        Assert.Empty(failures);
    }

    private static BsonDocument Update(int id) => BsonDocument.Of(
        ("update", "a"), ("updates", new object[] { BsonDocument.Of(("q", Id(id)), ("u", Id(id))) }), ("$db", "d"));

    private static BsonDocument Statement(BsonDocument command, int session, long number, bool starts = false) => InSession(
        command, session, number, starts ? [("startTransaction", true), ("autocommit", false)] : [("autocommit", false)]);

    private static BsonDocument Ending(string command, int session, long number) =>
        Statement(BsonDocument.Of((command, 1), ("$db", "admin")), session, number);

    private static BsonDocument InSession(BsonDocument command, int session, long? number, params (string, object?)[] more) =>
        BsonDocument.Of([
            .. command.Select(field => (field.Key, (object?)field.Value)), ("lsid", BsonDocument.Of(("id", new BsonValue(BsonType.Binary,
                (byte[])[16, 0, 0, 0, 4, (byte)session, .. new byte[15]])))),
            .. number is null ? Array.Empty<(string, object?)>() : [("txnNumber", number)], .. more,
        ]);

    /// <summary>By the definition, pair by pair, and by sending everything in an order that chance makes; each case has its seed.</summary>
    [Fact]
    public void However_long_a_server_takes_nobody_waits_for_ever_and_dependencies_come_first()
    {
        for (int seed = 0; seed < 300; seed++)
        {
            var random = new Random(seed);
            (TrafficFile file, (int Begin, int End, int Id, bool Writes, int Session)[] made) =
                Make(random, random.Next(2, 6), random.Next(5, 40));
            ReplayScript script = Read(file, Kept with { Threads = random.Next(2) == 0 ? null : random.Next(1, 4) });
            Assert.Equal(made.Length, script.Count);
            for (int number = 0; number < made.Length; number++)
            {
                (int from, int to) = script.PriorsOf(number);
                Assert.Distinct(script.Priors.Take(to).Skip(from));
            }

            int[] ended = Simulate(script, random, seed, out int[] sent);
            for (int then = 0; then < made.Length; then++)
            {
                for (int first = 0; first < then; first++)
                {
                    bool depends = made[first].End < made[then].Begin && (made[first].Writes || made[then].Writes)
                        && (made[first].Id == made[then].Id || made[first].Id < 0 || made[then].Id < 0)
                        && made[first].Id != Cursor && made[then].Id != Cursor;
                    (int Begin, int End, int, bool, int Session)[] line = [.. made[first..(then + 1)]
                        .Where(one => one.Session >= 0 && one.Session == made[first].Session)];
                    depends |= line.Length > 1 && made[then].Session == made[first].Session
                        && line.Zip(line.Skip(1)).All(pair => pair.First.End < pair.Second.Begin);
                    Assert.True(!depends || ended[first] < sent[then], $"seed {seed}: request {then} was sent before {first} was answered");
                }
            }
        }
    }

    [Fact]
    public void Connections_are_folded_onto_threads_and_keep_their_order()
    {
        var file = new TrafficFile();
        for (int i = 0; i < 10; i++)
        {
            for (int connection = 1; connection <= 6; connection++)
                file.Request(connection, i, ServerRecordingTests.Ping());
            for (int connection = 6; connection >= 1; connection--)
                file.Reply(connection, i, Ok);
        }

        ReplayScript script = Read(file, new ReplaySettings { Threads = 4 });
        Assert.Equal((6, 4), (script.RecordedConnections, script.Connections));
        Assert.Equal([10, 10, 20, 20], script.Workers.Select(worker => worker.Length).Order());
        for (int connection = 0; connection < 6; connection++)
        {
            int[] own = [.. Enumerable.Range(0, 10).Select(i => (i * 6) + connection)];
            int[] worker = script.Workers[script.WorkerOf[connection]];
            Assert.Equal(own, worker.Where(own.Contains));
        }

        Assert.Equal(6, Read(file, new ReplaySettings { Threads = 50 }).Connections);
    }

    /// <summary>The busiest connection has a thread of its own, and the others share.</summary>
    [Fact]
    public void Folded_connections_have_about_as_many_requests_on_each_thread()
    {
        var file = new TrafficFile();
        for (int connection = 1; connection <= 5; connection++)
            file.Request(connection, 0, ServerRecordingTests.Ping());
        for (int connection = 1; connection <= 5; connection++)
        {
            file.Reply(connection, 0, Ok);
            for (int i = 1; i < (connection == 5 ? 40 : 10); i++)
                file.Exchange(connection, i, ServerRecordingTests.Ping(), Ok);
        }

        Assert.Equal([40, 40], Read(file, new ReplaySettings { Threads = 2 }).Workers.Select(worker => worker.Length));
    }

    /// <summary>A wait at the server ends by what another connection sends.</summary>
    [Fact]
    public void What_waited_at_the_server_does_not_keep_back_what_ended_its_wait()
    {
        ReplayScript script = Read(new TrafficFile()
            .Request(1, 1, Find(Id(1)))
            .Exchange(2, 1, BsonDocument.Of(("insert", "a"), ("$db", "d")), Ok)
            .Reply(1, 1, Ok), new ReplaySettings { Threads = 1 });
        Assert.Equal([1, 0], Assert.Single(script.Workers));
    }

    [Fact]
    public void What_uses_an_id_that_the_server_made_waits_for_it()
    {
        ObjectId made = new(0x11223344, 0x5566778899AABBCC);
        ReplayScript script = Read(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("update", "a"), ("$db", "d")), BsonDocument.Of(("n", 2),
                ("upserted", new object[] { BsonDocument.Of(("index", 3), ("_id", made)), BsonDocument.Of(("index", 4), ("_id", 5)) }),
                ("ok", 1.0)))
            .Exchange(2, 1, Find(Id(made)), Ok)
            .Exchange(2, 2, BsonDocument.Of(("insert", "b"), ("documents", new object[] { BsonDocument.Of(("of", Id(made))) }),
                ("$db", "d")), Ok)
            .Exchange(2, 3, Find(Id(new ObjectId(1, 1))), Ok));
        Assert.Equal([false, true, true, false], script.Requests.Select(request => request.UsesGeneratedIds));
        Assert.Equal([0], WaitsFor(script, 1));
        Assert.Equal([0], WaitsFor(script, 2));
        Assert.Equal([3], script.IdsMadeBy[0].Statements);
    }

    /// <summary>As a server of 8.0 answers: each result by itself, in a cursor.</summary>
    [Fact]
    public void An_id_that_the_server_made_in_a_bulkWrite_is_the_target_s_own()
    {
        ObjectId recorded = new(1, 1), own = new(2, 2);
        TrafficFile file = new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("bulkWrite", 1), ("ops", new object[]
            {
                BsonDocument.Of(("update", 0), ("filter", BsonDocument.Of(("x", 1))), ("updateMods", BsonDocument.Of(("y", 2))),
                    ("upsert", true)),
            }), ("nsInfo", new object[] { BsonDocument.Of(("ns", "d.a")) }), ("$db", "admin")), Results(recorded))
            .Exchange(1, 2, Find(Id(recorded)), Ok);
        using Recording recording = Recording.Open(file.Write(_folder.At("bulk.bin")));
        ReplayScript script = ReplayScriptReader.Read(recording, Kept);
        BsonDocument? asked = null;
        WithTarget(script, 25, command =>
        {
            asked = command.FindDocument("filter") ?? asked;
            return command.Find("bulkWrite") is null ? Ok : Results(own);
        }, work =>
        {
            while (work.TryTake(out _) && work.Draw())
                Assert.True(work.Execute().Succeeded);
        });
        Assert.Equal(Id(own).Bytes.ToArray(), asked!.Bytes.ToArray());

        static BsonDocument Results(ObjectId id) => BsonDocument.Of(("cursor", BsonDocument.Of(("id", 0L), ("firstBatch", new object[]
        {
            BsonDocument.Of(("ok", 1.0), ("idx", 0), ("n", 1), ("nModified", 0), ("upserted", BsonDocument.Of(("_id", id)))),
        }), ("ns", "admin.$cmd.bulkWrite"))), ("nErrors", 0), ("nUpserted", 1), ("ok", 1.0));
    }

    /// <summary>The count saw the insert when it was recorded; here that takes long, on another connection.</summary>
    [Fact]
    public void A_request_is_sent_when_what_it_depends_on_was_answered_however_slowly()
    {
        BsonDocument insert = BsonDocument.Of(("insert", "a"), ("documents", new object[] { Id(1) }), ("$db", "d"));
        BsonDocument count = BsonDocument.Of(("count", "a"), ("$db", "d"));
        var file = new TrafficFile();
        file.Request(1, 1, insert).Request(2, 1, ServerRecordingTests.Ping()).Reply(2, 1, Ok).Reply(1, 1, Ok).Exchange(2, 2, count, Ok);
        using Recording recording = Recording.Open(file.Write(_folder.At("slow.bin")));
        ReplayScript script = ReplayScriptReader.Read(recording, Kept);
        bool isAnswered = false;
        var seen = new ConcurrentQueue<(string Command, bool AfterInsert)>();
        using var server = new ScriptedListener("slow server", socket =>
        {
            BsonDocument reply = LyingServer.Hello(17, false);
            while (ScriptedListener.ReadMessage(socket) is { } message)
            {
                MessageHeader header = MessageHeader.Read(message);
                string name = header.OpCode == OpCode.Msg ? new BsonDocument(OpMsg.Parse(message).Body.ToArray()).First().Key : "";
                seen.Enqueue((name, Volatile.Read(ref isAnswered)));
                if (name == "insert")
                {
                    Thread.Sleep(150);
                    Volatile.Write(ref isAnswered, true);
                }

                socket.Send(LyingServer.Message(reply, header.RequestId));
                reply = Ok;
            }
        });
        using IExecutorSource source = new ReplayEngine(script).Open(new ClientOptions
        {
            Address = () => server.Address, Connections = ConnectionSettings.Default, Database = "d", Workers = 2,
        });
        IOperationExecutor[] executors = [source.OpenExecutor(), source.OpenExecutor()];
        Thread[] workers = [.. executors.Select((executor, i) => new Thread(() =>
        {
            executor.Connect();
            IScriptedOperation work = executor.PrepareScript(i);
            while (work.TryTake(out _) && work.Draw())
                Assert.True(work.Execute().Succeeded);
            work.Complete();
        }))];
        Array.ForEach(workers, worker => worker.Start());
        Array.ForEach(workers, worker => worker.Join());
        Array.ForEach(executors, executor => executor.Dispose());
        Assert.Contains(("count", true), seen);
        Assert.DoesNotContain(("count", false), seen);
    }

    private const int Cursor = -2;

    /// <summary>Replays on a server of that wire version, which answers so after the handshake; one worker.</summary>
    private static void WithTarget(
        ReplayScript script, int version, Func<BsonDocument, BsonDocument> answer, Action<IScriptedOperation> replay)
    {
        using var server = new ScriptedListener("target", socket =>
        {
            bool isShaken = false;
            while (ScriptedListener.ReadMessage(socket) is { } message)
            {
                MessageHeader header = MessageHeader.Read(message);
                BsonDocument reply = header.OpCode == OpCode.Msg ? answer(new BsonDocument(OpMsg.Parse(message).Body.ToArray())) : Ok;
                socket.Send(LyingServer.Message(isShaken ? reply : LyingServer.Hello(version, false), header.RequestId));
                isShaken = true;
            }
        });
        using IExecutorSource source = new ReplayEngine(script).Open(new ClientOptions
        {
            Address = () => server.Address, Connections = ConnectionSettings.Default, Database = "d", Workers = 1,
        });
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
        replay(executor.PrepareScript(0));
    }

    private static BsonDocument Id(object value) => BsonDocument.Of(("_id", value));

    private static BsonDocument Find(BsonDocument filter) => BsonDocument.Of(("find", "a"), ("filter", filter), ("$db", "d"));

    /// <summary>All that a request waits for, directly or as one of the beginning of a sequence.</summary>
    private static HashSet<int> WaitsFor(ReplayScript script, int number)
    {
        int end = number + 1 < script.Count ? script.Requests[number + 1].FirstPrior : script.Priors.Count;
        return [.. script.Priors.Take(end).Skip(script.Requests[number].FirstPrior)
            .SelectMany(prior => prior.Sequence < 0 ? [prior.Count] : script.Sequences[prior.Sequence].Take(prior.Count))];
    }

    /// <summary>Requests that overlap: each connection has one under way, now and then two.</summary>
    private static (TrafficFile File, (int Begin, int End, int Id, bool Writes, int Session)[] Made) Make(
        Random random, int connections, int count)
    {
        var file = new TrafficFile();
        var made = new List<(int Begin, int End, int Id, bool Writes, int Session)>();
        var open = new List<(int Connection, int Number, BsonDocument Reply)>();
        var cursors = new List<long>();
        for (int clock = 0; made.Count < count || open.Count > 0; clock++)
        {
            int connection = random.Next(1, connections + 1);
            if (open.Count > 0 && (made.Count == count || random.Next(2) == 0))
            {
                int at = random.Next(open.Count);
                (int answered, int number, BsonDocument reply) = open[at];
                open.RemoveAt(at);
                file.Reply(answered, number + 1, reply);
                made[number] = made[number] with { End = clock };
                if (reply.FindInt64("cursor.id") is > 0 and var cursor)
                    cursors.Add(cursor);
            }
            else if (made.Count < count && (random.Next(8) == 0 || open.All(one => one.Connection != connection)))
            {
                int id = random.Next(-1, 3);
                BsonDocument filter = id < 0 ? BsonDocument.Empty : Id(id);
                (BsonDocument Command, bool Writes) next = random.Next(cursors.Count > 0 ? 4 : 3) switch
                {
                    0 => (Find(filter), false),
                    1 => (BsonDocument.Of(("delete", "a"), ("deletes", new object[] { BsonDocument.Of(("q", filter), ("limit", 0)) }),
                        ("$db", "d")), true),
                    2 => (BsonDocument.Of(("update", "a"), ("updates", new object[] { BsonDocument.Of(("q", filter), ("u", filter)) }),
                        ("$db", "d")), true),
                    _ => (BsonDocument.Of(("killCursors", "a"), ("cursors", new object[] { cursors[random.Next(cursors.Count)] }),
                        ("$db", "d")), false),
                };
                bool opens = next.Command.First().Key == "find" && random.Next(3) == 0;
                int session = next.Writes ? random.Next(-1, 2) : -1;
                file.Request(connection, made.Count + 1, session < 0 ? next.Command : InSession(next.Command, session, made.Count));
                open.Add((connection, made.Count, !opens ? Ok : BsonDocument.Of(("cursor", BsonDocument.Of(
                    ("id", 1000L + made.Count), ("ns", "d.a"), ("firstBatch", Array.Empty<object>()))), ("ok", 1.0))));
                made.Add((clock, int.MaxValue, next.Command.First().Key == "killCursors" ? Cursor : id, next.Writes, session));
            }

            file.At++;
        }

        return (file, [.. made]);
    }

    /// <summary>Sends and answers in any order that the script allows.</summary>
    /// <returns>When each request was answered.</returns>
    private static int[] Simulate(ReplayScript script, Random random, int seed, out int[] sent, Action<int>? execute = null)
    {
        bool[] isDone = new bool[script.Requests.Length];
        int[] ended = [.. Enumerable.Repeat(int.MaxValue, script.Requests.Length)];
        sent = new int[script.Count];
        int[] next = new int[script.Workers.Length];
        bool[] isUnderWay = new bool[script.Workers.Length];
        for (int clock = 1; next.Index().Any(one => one.Item < script.Workers[one.Index].Length); clock++)
        {
            int[] able = [.. Enumerable.Range(0, next.Length).Where(worker => next[worker] < script.Workers[worker].Length
                && (isUnderWay[worker] || IsReady(script.Workers[worker][next[worker]])))];
            Assert.True(able.Length > 0, $"seed {seed}: all workers wait");
            int one = able[random.Next(able.Length)];
            int request = script.Workers[one][next[one]];
            // A server does it at any time between.
            if (execute is not null && !isDone[request] && (isUnderWay[one] || random.Next(2) == 0))
            {
                isDone[request] = true;
                execute(request);
            }

            if (isUnderWay[one])
            {
                ended[request] = clock;
                next[one]++;
            }
            else
            {
                sent[request] = clock;
            }

            isUnderWay[one] = !isUnderWay[one];
        }

        return ended;

        bool IsReady(int request) => (script.Requests[request].After is var after && (after < 0 || ended[after] < int.MaxValue))
            && (script.Requests[request].InSession is var before && (before < 0 || ended[before] < int.MaxValue))
            && WaitsFor(script, request).All(other => ended[other] < int.MaxValue);
    }

    private ReplayScript Read(TrafficFile file, ReplaySettings? options = null)
    {
        using Recording recording = Recording.Open(file.Write(_folder.At("a.bin")));
        return ReplayScriptReader.Read(recording, options ?? new ReplaySettings());
    }

    /// <summary>What a server does with transactions: each writes what nobody else has written since it began, or holds.</summary>
    private sealed class SnapshotServer
    {
        private const int Sessions = 4;
        private const int Requests = 60;
        private const int Conflict = 112, NoTransaction = 251;

        private readonly List<(int Session, string Kind, int Document, bool Starts)> _made = [];
        private readonly Transaction?[] _open = new Transaction?[Sessions];
        private readonly Dictionary<int, int> _written = [];
        private Dictionary<int, int>? _recorded;
        private int _clock;

        /// <summary>By request.</summary>
        public Dictionary<int, int> Codes { get; } = [];

        /// <summary>The same requests on another server, in another order.</summary>
        public SnapshotServer Again()
        {
            var again = new SnapshotServer { _recorded = Codes };
            again._made.AddRange(_made);
            return again;
        }

        public void Do(int request)
        {
            _clock++;
            (int session, string kind, int document, bool starts) = _made[request];
            if (starts)
                _open[session] = new Transaction(_clock);
            Transaction? transaction = _open[session];
            int code = transaction is null || transaction.IsOver ? NoTransaction
                : kind == "update" && (_written.GetValueOrDefault(document) > transaction.Snapshot || Array.Exists(_open, other =>
                    other is { IsOver: false } && other != transaction && other.Documents.Contains(document))) ? Conflict : 0;
            if (code == 0 && kind == "update")
                transaction!.Documents.Add(document);
            if (code == 0 && kind == "commitTransaction")
            {
                foreach (int written in transaction!.Documents)
                    _written[written] = _clock;
            }

            // A replay ends what had failed when it was recorded.
            if (transaction is not null && (code != 0 || kind.EndsWith("Transaction", StringComparison.Ordinal)
                || _recorded?[request] is not (null or 0)))
                transaction.IsOver = true;
            Codes[request] = code;
        }

        public TrafficFile Record(Random random)
        {
            var file = new TrafficFile();
            int?[] underWay = new int?[Sessions];
            bool[] isOpen = new bool[Sessions], hasFailed = new bool[Sessions];
            int[] numbers = new int[Sessions];
            while (_made.Count < Requests || Array.Exists(isOpen, open => open))
            {
                file.At++;
                int session = random.Next(Sessions);
                if (underWay[session] is { } request)
                {
                    if (!Codes.TryGetValue(request, out int code))
                    {
                        Do(request);
                        continue;
                    }

                    file.Reply(session + 1, request + 1, code == 0 ? Ok : BsonDocument.Of(("ok", 0.0), ("code", code)));
                    underWay[session] = null;
                    hasFailed[session] = code != 0;
                    isOpen[session] = !_made[request].Kind.EndsWith("Transaction", StringComparison.Ordinal);
                    continue;
                }

                if (!isOpen[session] && _made.Count >= Requests)
                    continue;
                bool starts = !isOpen[session];
                numbers[session] += starts ? 1 : 0;
                string kind = hasFailed[session] && !starts ? "abortTransaction" : random.Next(starts ? 2 : 5) switch
                {
                    0 => "find", 1 or 2 => "update", 3 => "commitTransaction", _ => random.Next(4) == 0 ? "abortTransaction" : "update",
                };
                int document = random.Next(3);
                isOpen[session] = true;
                underWay[session] = _made.Count;
                _made.Add((session, kind, document, starts));
                file.Request(session + 1, _made.Count, kind switch
                {
                    "find" => Statement(Find(Id(document)), session, numbers[session], starts),
                    "update" => Statement(Update(document), session, numbers[session], starts),
                    _ => Ending(kind, session, numbers[session]),
                });
            }

            return file;
        }

        private sealed class Transaction(int snapshot)
        {
            public int Snapshot => snapshot;

            public HashSet<int> Documents { get; } = [];

            public bool IsOver { get; set; }
        }
    }
}
