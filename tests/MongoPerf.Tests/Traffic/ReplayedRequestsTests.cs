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

/// <summary>What a replay sends to a target whose cursors, ids and answers are others than those that were recorded.</summary>
public sealed class ReplayedRequestsTests : IDisposable
{
    private static readonly BsonDocument Ok = ServerRecordingTests.Ok();

    private readonly TemporaryFolder _folder = new();
    private readonly List<BsonDocument> _asked = [];
    private readonly ScriptedListener _target;
    private Recording? _recording;
    private ReplayScript? _script;
    private int _reconnects;
    private Func<BsonDocument, BsonDocument> _answer = _ => Ok;

    public ReplayedRequestsTests() => _target = new ScriptedListener("target", socket =>
    {
        bool isFirst = true;
        while (ScriptedListener.ReadMessage(socket) is { } message)
        {
            MessageHeader header = MessageHeader.Read(message);
            if (isFirst)
            {
                socket.Send(LyingServer.Message(LyingServer.Hello(21, isMember: true), header.RequestId));
                isFirst = false;
                continue;
            }

            OpMsg request = OpMsg.Parse(message);
            var command = new BsonDocument(request.Body.ToArray());
            lock (_asked)
                _asked.Add(command);
            if ((request.Flags & OpMsgFlags.MoreToCome) == 0)
                socket.Send(LyingServer.Message(_answer(command), header.RequestId));
        }
    });

    public void Dispose()
    {
        _target.Dispose();
        _recording?.Dispose();
        _folder.Dispose();
    }

    /// <summary>Another deployment can't know times and tokens that this one signed; a session of another shape is none.</summary>
    [Fact]
    public void What_only_the_recorded_deployment_knows_is_not_sent()
    {
        var time = new BsonValue(BsonType.Timestamp, new byte[] { 1, 0, 0, 0, 5, 0, 0, 0 });
        var session = new BsonValue(BsonType.Binary, (byte[])[16, 0, 0, 0, 4, .. new byte[16]]);
        var stranger = new BsonValue(BsonType.Binary, (byte[])[15, 0, 0, 0, 4, .. new byte[15]]);
        Replay(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("find", "a"), ("readConcern", BsonDocument.Of(
                ("level", "local"), ("afterClusterTime", time), ("atClusterTime", time))), ("lsid", BsonDocument.Of(("id", session))),
                ("$clusterTime", BsonDocument.Of(("clusterTime", time))), ("operationTime", time), ("recoveryToken", BsonDocument.Empty),
                ("$configTime", time), ("$topologyTime", time), ("$db", "d")), Ok)
            .Exchange(1, 2, BsonDocument.Of(("find", "a"), ("lsid", BsonDocument.Of(("id", stranger))), ("$db", "d")), Ok)
            .Exchange(1, 3, BsonDocument.Of(("find", "a"), ("lsid", BsonDocument.Of(("id", "text"))), ("$db", "d")), Ok));
        Assert.Equal(["find,readConcern,lsid,$db", "find,$db", "find,$db"],
            _asked.Select(command => string.Join(',', command.Select(one => one.Key))));
        Assert.Equal("level", Assert.Single(_asked[0].FindDocument("readConcern")!).Key);
        Assert.NotEqual(session.Bytes.ToArray(), _asked[0].FindDocument("lsid")!.Find("id")!.Value.Bytes.ToArray());
    }

    [Fact]
    public void Cursors_are_the_targets_own_and_what_reads_on_in_none_is_not_sent()
    {
        var open = new Queue<long>([1001, 1001, 0, 1002, 0, 0]);
        _answer = command => command.First().Key is "find" or "getMore" ? Cursor(open.Dequeue()) : Ok;
        (bool Succeeded, string? Error, bool IsCompared)[] outcomes = Replay(new TrafficFile()
            .Exchange(1, 1, Command("find", "a"), Cursor(77))
            .Exchange(1, 2, More(77), Cursor(77))
            .Exchange(1, 3, Command("find", "b"), Cursor(78))
            .Exchange(1, 4, Command("find", "c"), Cursor(79))
            .Exchange(1, 5, BsonDocument.Of(("killCursors", "a"), ("cursors", new object[] { 77L, 78L, 79L }), ("$db", "d")), Ok)
            .Exchange(1, 6, Command("find", "c"), Cursor(80))
            .Exchange(1, 7, More(80), Cursor(80))
            .Exchange(1, 8, BsonDocument.Of(("killCursors", "a"), ("cursors", new object[] { 80L }), ("$db", "d")), Ok));
        Assert.Equal(["find", "getMore", "find", "find", "killCursors", "find"], _asked.Select(command => command.First().Key));
        Assert.Equal(1001, _asked[1].FindInt64("getMore"));
        // The one that the target has ended at once is neither read on nor closed.
        Assert.Equal([1001L, 1002L], _asked[4].FindDocument("cursors")!.Select(cursor => cursor.Value.ToInt64()));
        Assert.Equal([true, true, true, true, true, true, false, false], outcomes.Select(outcome => outcome.Succeeded));
        Assert.Equal([ErrorCount.NoValue, ErrorCount.NoValue], outcomes[^2..].Select(outcome => outcome.Error));
        // Nothing came that could be compared, and not the reply before it.
        Assert.Equal([true, true, true, true, true, true, false, false], outcomes.Select(outcome => outcome.IsCompared));
    }

    [Fact]
    public void An_error_that_was_recorded_is_what_a_request_leads_to_and_another_one_a_failure()
    {
        var codes = new Queue<int>([26, 26, 13, 0]);
        _answer = _ => codes.Dequeue() is var code and > 0 ? Refusal(code) : Ok;
        TrafficFile file = new TrafficFile()
            .Exchange(1, 1, Command("drop", "a"), Refusal(26)).Exchange(1, 2, Command("drop", "a"), Ok)
            .Exchange(1, 3, Command("drop", "a"), Refusal(26)).Exchange(1, 4, Command("drop", "a"), Refusal(26));
        Assert.Equal([true, false, false, true], Replay(file).Select(outcome => outcome.Succeeded));
    }

    [Fact]
    public void Requests_of_any_length_are_sent_whole_and_a_fence_follows_what_nobody_acknowledged()
    {
        var file = new TrafficFile();
        string[] texts = [.. ((int[])[10, 70_000, 200_000, 5, 150_000]).Select(length => new string('x', length))];
        foreach ((int i, string text) in texts.Index())
        {
            file.Request(1, i + 1, BsonDocument.Of(("insert", "a"), ("documents", new object[] { BsonDocument.Of(("t", text)) }),
                ("$db", "d")), OpMsgFlags.MoreToCome);
        }

        Assert.All(Replay(file), outcome => Assert.Equal((true, null, false), outcome));
        Assert.Equal([.. texts, null], _asked.Select(command => command.FindString("documents.0.t")));
        Assert.Equal(("ping", "admin"), (_asked[^1].First().Key, _asked[^1].FindString("$db")));
    }

    [Fact]
    public void Without_anything_unacknowledged_there_is_no_fence()
    {
        Replay(new TrafficFile().Exchange(1, 1, Command("find", "a"), Ok));
        Assert.Equal(["find"], _asked.Select(command => command.First().Key));
    }

    [Fact]
    public void Ids_that_both_servers_made_are_the_targets_own_and_others_stay()
    {
        ObjectId[] recorded = [new(1, 1), new(1, 2), new(1, 3)];
        var own = new ObjectId(2, 2);
        _answer = command => command.First().Key == "update" ? Upserted((4, own), (9, new ObjectId(3, 3))) : Ok;
        BsonDocument Find(object id) => BsonDocument.Of(("find", "a"), ("filter", BsonDocument.Of(("_id", id),
            ("in", new object[] { BsonDocument.Of(("deep", id)) }))), ("$db", "d"));
        Replay(new TrafficFile()
            .Exchange(1, 1, Command("update", "a"), Upserted((2, recorded[0]), (4, recorded[1]), (6, recorded[2])))
            .Exchange(1, 2, Find(recorded[0]), Ok).Exchange(1, 3, Find(recorded[1]), Ok).Exchange(1, 4, Find(recorded[2]), Ok));
        Assert.Equal(
            ((ObjectId[])[recorded[0], own, recorded[2]]).Select(id => ExtendedJson.Write(Find(id).FindDocument("filter")!.Bytes)),
            _asked.Skip(1).Select(command => ExtendedJson.Write(command.FindDocument("filter")!.Bytes)));

        static BsonDocument Upserted(params (int Index, ObjectId Id)[] made) => BsonDocument.Of(("n", made.Length),
            ("upserted", made.Select(one => (object)BsonDocument.Of(("index", one.Index), ("_id", one.Id))).ToArray()), ("ok", 1.0));
    }

    [Fact]
    public void What_waits_for_a_connection_that_sends_nothing_more_is_not_sent()
    {
        using IExecutorSource source = Open(new TrafficFile()
            .Request(2, 9, ServerRecordingTests.Ping())
            .Exchange(1, 1, Command("find", "a"), Cursor(77)).Reply(2, 9, Ok)
            .Exchange(2, 1, More(77), Cursor(0)), workers: 2);
        using IOperationExecutor one = source.OpenExecutor(), other = source.OpenExecutor();
        one.Connect();
        other.Connect();
        IScriptedOperation[] work = [one.PrepareScript(0), other.PrepareScript(1)];
        int opener = _script!.WorkerOf[1];
        Assert.NotEqual(opener, _script.WorkerOf[0]);
        IScriptedOperation waits = work[_script.WorkerOf[0]];
        Assert.True(waits.TryTake(out _) && waits.Draw() && waits.Execute().Succeeded);
        work[opener].Complete();
        Assert.True(waits.TryTake(out _));
        Assert.False(waits.Draw());
        Assert.Equal(["ping"], _asked.Select(command => command.First().Key));
    }

    [Fact]
    public void Traffic_of_a_connection_that_was_made_again_is_counted_with_that_of_the_first()
    {
        using IExecutorSource source = Open(new TrafficFile().Exchange(1, 1, Command("find", "a"), Ok), workers: 1);
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
        Assert.Equal(0, _reconnects);
        IScriptedOperation work = executor.PrepareScript(0);
        Assert.True(work.TryTake(out _) && work.Draw() && work.Execute().Succeeded);
        TrafficCounters first = executor.Traffic!.Value;
        executor.Connect();
        Assert.Equal(1, _reconnects);
        TrafficCounters both = executor.Traffic!.Value;
        Assert.True(both.MessageBytesSent > first.MessageBytesSent && both.WireBytesReceived > first.WireBytesReceived);
        executor.Dispose();
        Assert.Equal(both, executor.Traffic!.Value);
    }

    /// <summary>Versions and variants of UUIDs are those that were recorded.</summary>
    [Fact]
    public void Sessions_stay_UUIDs_of_their_version_and_differ_in_each_replay()
    {
        Open(new TrafficFile().Exchange(1, 1, Command("find", "a"), Ok), workers: 1).Dispose();
        byte[][] salts = [.. Enumerable.Range(0, 50).Select(_ => new ReplayState(_script!).SessionSalt)];
        Assert.All(salts, salt => Assert.True(salt is { Length: 16 } && salt[6] < 0x10 && salt[8] < 0x40));
        Assert.Equal(50, salts.Select(Convert.ToHexString).Distinct().Count());
    }

    private (bool Succeeded, string? Error, bool IsCompared)[] Replay(TrafficFile file)
    {
        using IExecutorSource source = Open(file, workers: 1);
        using IOperationExecutor executor = source.OpenExecutor();
        executor.Connect();
        IScriptedOperation work = executor.PrepareScript(0);
        var outcomes = new List<(bool, string?, bool)>();
        while (work.TryTake(out _))
        {
            Assert.True(work.Draw());
            bool succeeded = work.Execute().Succeeded;
            outcomes.Add((succeeded, succeeded ? null : work.LastError!.Name, work.Comparison.IsCompared));
        }

        work.Complete();
        return [.. outcomes];
    }

    private IExecutorSource Open(TrafficFile file, int workers)
    {
        _recording = Recording.Open(file.Write(_folder.At("a.bin")));
        _script = ReplayScriptReader.Read(_recording, new ReplaySettings { Speed = double.PositiveInfinity });
        return new ReplayEngine(_script).Open(new ClientOptions
        {
            Address = () => _target.Address, Connections = ConnectionSettings.Default, Database = "d", Workers = workers,
            BeforeReconnect = () => _reconnects++,
        });
    }

    private static BsonDocument Command(string name, string collection) => BsonDocument.Of((name, collection), ("$db", "d"));

    private static BsonDocument More(long cursor) => BsonDocument.Of(("getMore", cursor), ("collection", "a"), ("$db", "d"));

    private static BsonDocument Cursor(long id) => BsonDocument.Of(
        ("cursor", BsonDocument.Of(("id", id), ("ns", "d.a"), ("firstBatch", new object[] { BsonDocument.Of(("_id", 1)) }))), ("ok", 1.0));

    private static BsonDocument Refusal(int code) =>
        BsonDocument.Of(("ok", 0.0), ("code", code), ("codeName", $"Code{code}"), ("errmsg", "no"));
}
