using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>What a session adds to commands, by what replies told it.</summary>
public sealed class WireSessionTests
{
    /// <summary>Any mongos can end a transaction that another one led, if it is told where the decision is kept.</summary>
    [Fact]
    public void What_ends_a_transaction_names_its_recovery_token_and_not_that_of_the_one_before()
    {
        var session = new WireSession(new TransactionSettings(), isCausal: true, usualLevel: null);
        session.Begin();
        Assert.Null(End(session).Find("recoveryToken"));
        session.Read(Reply(""" "recoveryToken": {"recoveryShardId": "s0"} """));
        session.Read(Reply(""" "recoveryToken": {"recoveryShardId": "s1"} """));
        session.Read(Reply(""" "recoveryToken": 7 """));
        Assert.Equal("s1", End(session).FindDocument("recoveryToken")!.FindString("recoveryShardId"));
        session.Begin();
        Assert.Null(End(session).Find("recoveryToken"));
    }

    /// <summary>It begins after what the session saw before it, not after what it sees itself. Source: causal-consistency.md.</summary>
    [Fact]
    public void A_transaction_begins_after_what_its_session_saw_before()
    {
        var session = new WireSession(new TransactionSettings(), isCausal: true, usualLevel: null);
        session.Begin();
        Assert.Null(Command(session).Find("readConcern"));
        session.Read(Reply(""" "operationTime": {"$timestamp": {"t": 5, "i": 1}} """));
        Assert.Null(Command(session).Find("startTransaction"));
        session.Begin();
        // What another thread's commit told meanwhile is no part of it.
        session.Read(Reply(""" "operationTime": {"$timestamp": {"t": 9, "i": 1}} """));
        BsonDocument first = Command(session);
        Assert.Equal((5UL << 32) | 1, BitConverter.ToUInt64(
            first.FindDocument("readConcern")!.Find("afterClusterTime")!.Value.Bytes.Span));
        Assert.NotNull(first.Find("startTransaction"));
    }

    private static byte[] Reply(string elements) => ExtendedJson.Parse($$"""{"ok": 1, {{elements}} }""").Bytes.ToArray();

    private static BsonDocument Command(WireSession session)
    {
        var writer = new OpMsgWriter();
        writer.Begin();
        session.Write(writer.Body, readLevel: null);
        writer.EndBody();
        return new BsonDocument(OpMsg.Parse(writer.Finish()).Body.ToArray());
    }

    private static BsonDocument End(WireSession session) =>
        new(OpMsg.Parse(session.WriteEnd(new OpMsgWriter(), "commitTransaction"u8, writeConcern: null)).Body.ToArray());
}
