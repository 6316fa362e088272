using MongoPerf.Storage;
using System.Text;
using MongoPerf.Tests.Support;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Traffic.Replaying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Traffic;

/// <summary>What a proxy passes on becomes a recording that is replayed as a server's own; no secret gets into it.</summary>
public sealed class TrafficRecorderTests : IDisposable
{
    private const string Secret = "c2VjcmV0IG9mIGEgdXNlcg==";

    private static readonly BsonDocument Ok = ServerRecordingTests.Ok();

    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(100_000)]
    public void Messages_come_whole_out_of_any_pieces(int pieceBytes)
    {
        string path = Record(recorder =>
        {
            Send(recorder, 1, true, pieceBytes, Message(1, 0, Find()), Message(2, 0, Find()));
            Send(recorder, 1, false, pieceBytes, Message(9, 1, Reply(3)), Message(10, 2, Reply(0)));
            // One that never comes whole.
            recorder.Add(2, true, Message(1, 0, Find()).AsSpan(0, 40));
        });
        using Recording recording = Recording.Open(path);
        Assert.Equal("recorded by mongoperf record", recording.Format);
        ReplayScript script = ReplayScriptReader.Read(recording, new ReplaySettings());
        Assert.Null(recording.TruncatedAt);
        Assert.Equal("find shop.orders {sku}", Assert.Single(script.Shapes).Name);
        Assert.Equal([3, 0], script.Requests.Select(request => request.Reply.Documents));
        Assert.All(script.Requests, request => Assert.True(request.HasReply));
        byte[] again = new byte[script.Requests[1].Length];
        recording.ReadMessage(script.Requests[1].Place, again);
        Assert.Equal(Message(2, 0, Find()), again);
    }

    [Fact]
    public void Replies_are_told_apart_by_their_documents_and_by_nothing_else()
    {
        BsonDocument a = BsonDocument.Of(("_id", 1), ("name", "a document of more than eight bytes"));
        BsonDocument b = BsonDocument.Of(("_id", 2));
        ulong both = Of(("cursor", Batch("firstBatch", 0, a, b)));
        BsonDocument time = BsonDocument.Of(("t", 1));
        Assert.Equal(both, Of(("operationTime", 5L), ("cursor", Batch("nextBatch", 77, b, a)), ("$clusterTime", time)));
        Assert.Equal(Of(("value", a)), Of(("cursor", Batch("firstBatch", 0, a))));
        Assert.Equal(both, Of(("values", new object[] { a, b })));
        Assert.Equal(0UL, Of(("n", 5)));
        // XXH64 of the value, with its type as seed: recordings keep it.
        Assert.Equal(0xDCDB6132C8BCF751UL, Of(("values", new object[] { 1 })));
        Assert.Equal(0UL, Of(("cursor", Batch("firstBatch", 3))));
        ulong[] others =
        [
            both, Of(("values", new object[] { a, a })), Of(("values", new object[] { a })), Of(("values", new object[] { b })),
            Of(("values", new object[] { 1 })), Of(("values", new object[] { 1L })), Of(("values", new object[] { 2 })),
            Of(("values", new object[] { "" })), Of(("values", new object[] { "a" })),
            Of(("value", BsonDocument.Of(("_id", 1), ("name", "a document of more than eight bytes!")))),
        ];
        Assert.DoesNotContain(0UL, others);
        Assert.Equal(others.Length, others.Distinct().Count());

        static ulong Of(params (string Name, object? Value)[] fields) =>
            ReplyHash.Of(Message(1, 2, BsonDocument.Of([.. fields, ("ok", 1.0)])));

        static BsonDocument Batch(string name, long cursor, params BsonDocument[] documents) =>
            BsonDocument.Of((name, documents.Cast<object>().ToArray()), ("id", cursor), ("ns", "shop.orders"));
    }

    [Fact]
    public void The_hash_of_a_reply_is_recorded_and_recordings_of_before_are_read_without_it()
    {
        string path = Record(recorder =>
        {
            Send(recorder, 1, true, 99, Message(1, 0, Find()));
            Send(recorder, 1, false, 99, Message(9, 1, Reply(3)));
        });
        Assert.Equal(ReplyHash.Of(Message(9, 1, Reply(3))), Replied(path).Hash);
        byte[] now = File.ReadAllBytes(path);
        int reply = 8 + 8 + BitConverter.ToInt32(now, 8);
        Assert.Equal((0, 0), (Replied(path).Modified, Replied(path).Upserted));
        // Of versions 1, 2 and 3, each with less at its end.
        foreach ((byte version, int less, ulong hash) in ((byte, int, ulong)[])[(1, 24, 0), (2, 16, 0), (3, 16, Replied(path).Hash)])
        {
            byte[] former = [.. now[..^less]];
            former[7] = version;
            BitConverter.TryWriteBytes(former.AsSpan(reply), BitConverter.ToInt32(now, reply) - less);
            BitConverter.TryWriteBytes(former.AsSpan(reply + 4), RecordingFile.Checksum(former.AsSpan(reply + 8)));
            File.WriteAllBytes(path, former);
            RecordedFacts read = Replied(path);
            Assert.Equal((3, hash, null, null), (read.Reply.Documents, read.Hash, read.Modified, read.Upserted));
        }

        now[7] = 5;
        File.WriteAllBytes(path, now);
        Assert.Contains("of version 5; this program reads versions 1 to 4",
            Assert.Throws<MongoPerfException>(() => Recording.Open(path)).Message, StringComparison.Ordinal);

        static RecordedFacts Replied(string path)
        {
            using Recording recording = Recording.Open(path);
            Assert.True(recording.TryRead(out _));
            Assert.True(recording.TryRead(out RecordedMessage message));
            return message.Reply!.Value;
        }
    }

    [Fact]
    public void Ids_that_the_server_made_are_recorded()
    {
        ObjectId[] made = [new(1, 2), new(3, 4), new(5, 6), new(7, 8)];
        BsonDocument update = BsonDocument.Of(("n", 9), ("upserted", new object[]
        {
            BsonDocument.Of(("index", 4), ("_id", made[0])), BsonDocument.Of(("index", 6), ("_id", "the client's")),
            BsonDocument.Of(("index", 8), ("_id", made[1])),
        }), ("ok", 1.0));
        BsonDocument modify = BsonDocument.Of(
            ("lastErrorObject", BsonDocument.Of(("n", 1), ("upserted", made[2]))), ("value", null), ("ok", 1.0));
        string path = Record(recorder =>
        {
            Send(recorder, 1, true, 99, Message(1, 0, Find()), Message(2, 0, Find()), Message(3, 0, Find()), Message(4, 0, Find()),
                Message(5, 0, Find()));
            Send(recorder, 1, false, 99, Message(7, 1, update), Message(8, 2, modify), Message(9, 3, Reply(0)),
                Message(10, 4, Bulk("nextBatch", "admin.$cmd.bulkWrite")), Message(11, 5, Bulk("firstBatch", "shop.bulkWrite")));
        });
        ReplayScript script = Read(path);
        Assert.Equal(made.Index().Select(one => (one.Item, one.Index)),
            script.GeneratedIds.Select(id => (id.Key, id.Value)).Order());
        Assert.Equal([4, 8], script.IdsMadeBy[0].Statements);
        Assert.Equal([0], script.IdsMadeBy[1].Statements);
        Assert.Equal([11], script.IdsMadeBy[3].Statements);
        // Documents that only look like results are data.
        Assert.Equal([0, 1, 3], script.IdsMadeBy.Keys.Order());

        BsonDocument Bulk(string batch, string from) => BsonDocument.Of(("cursor", BsonDocument.Of(("id", 0L), (batch, new object[]
        {
            BsonDocument.Of(("ok", 1.0), ("idx", 9), ("n", 1), ("nModified", 0), ("upserted", BsonDocument.Of(("_id", "the client's")))),
            BsonDocument.Of(("ok", 1.0), ("idx", 10), ("n", 1), ("nModified", 1)),
            BsonDocument.Of(("ok", 1.0), ("idx", 11), ("n", 1), ("nModified", 0), ("upserted", BsonDocument.Of(("_id", made[3])))),
        }), ("ns", from))), ("ok", 1.0));
    }

    [Fact]
    public void No_login_and_no_password_is_stored()
    {
        BsonDocument[] secrets =
        [
            BsonDocument.Of(("saslStart", 1), ("mechanism", "SCRAM-SHA-256"), ("payload", Secret), ("$db", "admin")),
            BsonDocument.Of(("saslContinue", 1), ("payload", Secret), ("$db", "admin")),
            BsonDocument.Of(("authenticate", 1), ("key", Secret), ("$db", "admin")),
            BsonDocument.Of(("hello", 1), ("speculativeAuthenticate", BsonDocument.Of(("payload", Secret))), ("$db", "admin")),
            BsonDocument.Of(("isMaster", 1), ("speculativeAuthenticate", BsonDocument.Of(("payload", Secret))), ("$db", "admin")),
            BsonDocument.Of(("createUser", "u"), ("pwd", Secret), ("$db", "admin")),
            BsonDocument.Of(("updateUser", "u"), ("pwd", Secret), ("$db", "admin")),
            BsonDocument.Of(("setParameter", 1), ("ldapQueryPassword", Secret), ("$db", "admin")),
        ];
        string path = Record(recorder =>
        {
            using var compression = new MessageCompression(Compressors.Create("zlib", zlibLevel: -1));
            for (int i = 0; i < secrets.Length; i++)
            {
                Send(recorder, 1, true, 50, Message(i, 0, secrets[i]), compression.Pack(Message(30 + i, 0, secrets[i])).ToArray());
                Send(recorder, 1, false, 50, Message(100 + i, i, BsonDocument.Of(("payload", Secret), ("ok", 1.0))));
            }

            // As old drivers begin: OP_QUERY to admin.$cmd.
            byte[] query = [.. new byte[20], .. "admin.$cmd\0"u8, .. new byte[4], 255, 255, 255, 255, .. secrets[4].Bytes];
            new MessageHeader(query.Length, 49, 0, OpCode.Query).Write(query);
            Send(recorder, 1, true, 50, query, Message(50, 0, Find()));
        });
        Assert.True(File.ReadAllBytes(path).AsSpan().IndexOf("sku"u8) > 0);
        Assert.True(File.ReadAllBytes(path).AsSpan().IndexOf("c2VjcmV0"u8) < 0);
        Assert.Equal(1, Read(path).Count);
    }

    /// <summary>Else a recording of an old driver would be empty without a word.</summary>
    [Fact]
    public void Requests_before_OP_MSG_are_counted_but_for_handshakes_and_logins()
    {
        string path = Record(recorder =>
        {
            Send(recorder, 1, true, 50, Query(1, "admin.$cmd", BsonDocument.Of(("isMaster", 1))),
                Query(2, "admin.$cmd", BsonDocument.Of(("$query", BsonDocument.Of(("saslStart", 1))))),
                Query(3, "shop.$cmd", BsonDocument.Of(("find", "orders"))), Query(4, "shop.orders", BsonDocument.Empty), Old(5, 2002),
                Message(6, 0, Find()));
            // What the server answers so is no request.
            Send(recorder, 1, false, 50, Old(100, 1), Message(101, 6, Reply(0)));
        }, recorder => Assert.Equal((1, 3), (recorder.Requests, recorder.Legacy)));
        Assert.Equal(1, Read(path).Count);
        TrafficFile server = new TrafficFile().Message(1, 0, Query(1, "admin.$cmd", BsonDocument.Of(("isMaster", 1))))
            .Message(1, 0, Query(2, "shop.orders", BsonDocument.Empty)).Message(1, 0, Old(3, 2002)).Request(1, 4, Find());
        Assert.Equal([("in a protocol before OP_MSG", 2), ("handshakes and sessions of connections", 1)],
            Read(server.Write(_folder.At("server.bin"))).LeftOut);

        static byte[] Query(int number, string collection, BsonDocument query)
        {
            byte[] message = [.. new byte[20], .. Encoding.ASCII.GetBytes(collection + "\0"), .. new byte[4], 1, 0, 0, 0, .. query.Bytes];
            new MessageHeader(message.Length, number, 0, OpCode.Query).Write(message);
            return message;
        }

        static byte[] Old(int number, int code)
        {
            byte[] message = new byte[40];
            new MessageHeader(message.Length, number, 0, (OpCode)code).Write(message);
            return message;
        }
    }

    /// <summary>The server answers the first request, then each of its own replies.</summary>
    [Fact]
    public void A_stream_of_replies_is_recorded_as_if_each_had_been_asked_for()
    {
        BsonDocument more = BsonDocument.Of(("getMore", 77L), ("collection", "orders"), ("$db", "shop"));
        string path = Record(recorder =>
        {
            Send(recorder, 1, true, 99, Message(4, 0, Find()));
            Send(recorder, 1, false, 99, Message(100, 4, Batch(77, 1)));
            Send(recorder, 1, true, 99, TrafficFile.MessageOf(5, 0, more, OpMsgFlags.ExhaustAllowed));
            Send(recorder, 1, false, 99, TrafficFile.MessageOf(101, 5, Batch(77, 2), OpMsgFlags.MoreToCome),
                TrafficFile.MessageOf(102, 101, Batch(77, 3), OpMsgFlags.MoreToCome), Message(103, 102, Batch(0, 4)));
            // Who asks for no stream gets none, whatever the reply says.
            Send(recorder, 1, true, 99, Message(6, 0, Find()));
            Send(recorder, 1, false, 99, TrafficFile.MessageOf(104, 6, Batch(0, 5), OpMsgFlags.MoreToCome), Message(105, 104, Batch(0, 9)));
        });
        Assert.Equal([1L, 2L, 3L, 4L, 5L], Read(path).Requests.Select(request => request.Reply.Documents));

        static BsonDocument Batch(long cursor, int documents) => BsonDocument.Of(("cursor", BsonDocument.Of(
            ("nextBatch", Enumerable.Range(0, documents).Select(i => (object)BsonDocument.Of(("_id", i))).ToArray()), ("id", cursor),
            ("ns", "shop.orders"))), ("ok", 1.0));
    }

    [Fact]
    public void What_is_not_the_protocol_ends_the_recording_of_that_connection_alone()
    {
        string path = Record(recorder =>
        {
            // A hello of TLS: what stands for the length might be one.
            Send(recorder, 1, true, 9, [0x16, 0x03, 0x01, 0x01, 0x20, 1, 0, 1, 0x1c, 3, 3, 9, 9, 9, 9, 9, 9, 9, 9]);
            Send(recorder, 2, true, 9, Message(1, 0, Find()));
            Send(recorder, 1, true, 9, Message(1, 0, Find()));
        }, recorder => Assert.Equal(1, recorder.Unreadable));
        Assert.Equal(1, Read(path).Count);
    }

    [Fact]
    public void A_recorder_that_falls_behind_stops_once_and_keeps_what_it_has()
    {
        string? why = null;
        int stops = 0;
        string path = _folder.At("behind.rec");
        using (var recorder = new TrafficRecorder(path, mostPending: 1000)
        {
            OnStopped = reason =>
            {
                why = reason;
                stops++;
            },
        })
        {
            using var stream = new RecordedRequests(recorder, 1);
            for (byte i = 1; i < 100; i++)
            {
                stream.Room[..2000].Fill(i);
                Assert.Equal(Enumerable.Repeat(i, 2000), stream.Add(2000).ToArray());
            }
        }

        Assert.Equal(("it falls behind", 1), (why, stops));
        using Recording recording = Recording.Open(path);
        Assert.False(recording.TryRead(out _));
    }

    /// <summary>A proxy goes on for as long as there are clients.</summary>
    [Fact]
    public void Requests_that_have_begun_are_forgotten_once_recording_has_stopped()
    {
        using var recorder = new TrafficRecorder(_folder.At("stopped.rec"));
        recorder.Add(1, true, Message(1, 0, Find()).AsSpan(0, 40));
        Eventually.Is(() => recorder.Begun.Count == 40);
        recorder.Stop("test");
        Eventually.Is(() => recorder.Begun.Count == 0);
    }

    [Fact]
    public void A_recording_is_never_written_over()
    {
        string path = Record(_ => { });
        MongoPerfException refused = Assert.Throws<MongoPerfException>(() => new TrafficRecorder(path));
        Assert.Contains("is there already", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_changed_byte_is_found_and_a_missing_end_is_told()
    {
        string path = Record(recorder => Send(recorder, 1, true, 99, Message(1, 0, Find()), Message(2, 0, Find())));
        byte[] whole = File.ReadAllBytes(path);
        for (int at = 8; at < whole.Length; at++)
        {
            byte[] changed = (byte[])whole.Clone();
            changed[at] ^= 0x20;
            File.WriteAllBytes(path, changed);
            using Recording recording = Recording.Open(path);
            Exception? failure = Xunit.Record.Exception(() =>
            {
                while (recording.TryRead(out _))
                {
                }
            });
            Assert.True(
                failure is MongoPerfException { Fault: Fault.WrongUsage } || recording.TruncatedAt is not null, $"byte {at}: {failure}");
        }

        File.WriteAllBytes(path, whole[..^1]);
        Assert.Equal(1, Read(path).Count);
    }

    private static BsonDocument Find() =>
        BsonDocument.Of(("find", "orders"), ("filter", BsonDocument.Of(("sku", "s-1"))), ("$db", "shop"));

    private static BsonDocument Reply(int documents) => BsonDocument.Of(("cursor", BsonDocument.Of(
        ("firstBatch", Enumerable.Range(0, documents).Select(i => (object)BsonDocument.Of(("_id", i))).ToArray()), ("id", 0L),
        ("ns", "shop.orders"))), ("ok", 1.0));

    private static byte[] Message(int request, int responseTo, BsonDocument body) => TrafficFile.MessageOf(request, responseTo, body);

    private static void Send(TrafficRecorder recorder, long connection, bool isRequest, int pieceBytes, params byte[][] messages)
    {
        foreach (byte[] piece in messages.SelectMany(message => message).Chunk(pieceBytes))
            recorder.Add(connection, isRequest, piece);
    }

    private static ReplayScript Read(string path)
    {
        using Recording recording = Recording.Open(path);
        return ReplayScriptReader.Read(recording, new ReplaySettings());
    }

    private string Record(Action<TrafficRecorder> act, Action<TrafficRecorder>? then = null)
    {
        string path = _folder.At($"{Guid.NewGuid():N}.rec");
        var recorder = new TrafficRecorder(path);
        using (recorder)
            act(recorder);
        then?.Invoke(recorder);
        return path;
    }
}
