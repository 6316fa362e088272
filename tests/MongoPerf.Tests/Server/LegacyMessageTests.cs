using System.Buffers.Binary;
using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Server;

/// <summary>Messages of old drivers, broken ones and exhaust cursors: each gets mongod's answer, and the connection stays open.</summary>
public sealed class LegacyMessageTests : ServerTest
{
    private const int Request = 7;
    private const int QueryFailure = 2;
    private const int RemovedOpCode = 5739101;

    [Theory]
    [InlineData("test.c")]
    [InlineData("admin.$cmd.sys.inprog")]
    public void A_query_on_a_collection_fails_where_drivers_look_for_it(string collection)
    {
        (int flags, BsonDocument reply) = Ask(Query(collection, "{'a': 1}", numberToReturn: -1));
        Assert.Equal(QueryFailure, flags);
        Assert.Equal(RemovedOpCode, reply.FindInt64("code"));
        Assert.Equal("$err", reply.First().Key);
    }

    [Fact]
    public void A_get_more_of_the_old_kind_fails_and_closes_nothing()
    {
        (int flags, BsonDocument reply) = Ask(Message(OpCode.GetMore, [0, 0, 0, 0, .. "test.c\0"u8, .. new byte[12]]));
        Assert.Equal((QueryFailure, RemovedOpCode), (flags, (int)reply.FindInt64("code")!));
        Succeed("{'ping': 1}");
    }

    [Theory]
    [InlineData("{'ping': 1}", -1, 352)]
    [InlineData("{'nosuch': 1}", -1, 352)]
    [InlineData("{'logout': 1}", -1, 352)]
    [InlineData("{'saslStart': 1, 'mechanism': 'SCRAM-SHA-256', 'payload': 'eHg='}", -1, 18)]
    [InlineData("{'saslContinue': 1, 'conversationId': 1, 'payload': ''}", -1, 17)]
    [InlineData("{'isMaster': 1}", 5, 16979)]
    [InlineData("{'isMaster': 1}", -1, null)]
    [InlineData("{'$query': {'isMaster': 1}, '$readPreference': {'mode': 'primary'}}", -1, null)]
    public void A_command_as_a_query_is_a_handshake_or_refused(string command, int numberToReturn, int? code) =>
        Assert.Equal(code, Ask(Query("admin.$cmd", command, numberToReturn)).Reply.FindInt64("code"));

    [Fact]
    public void An_exhaust_cursor_sends_its_batches_unasked()
    {
        InsertNumbers(5);
        long id = Succeed("{'find': 'c', 'batchSize': 2}").FindInt64("cursor.id")!.Value;
        Client.Send(new OpMsgWriter().WriteCommand("test", BsonDocument.Of(("getMore", id), ("collection", "c"), ("batchSize", 2)), Request,
            OpMsgFlags.ExhaustAllowed));
        byte[] first = Client.ReceiveMessage()!;
        byte[] second = Client.ReceiveMessage()!;
        Assert.Equal((OpMsgFlags.MoreToCome, OpMsgFlags.None), (OpMsg.Parse(first).Flags, OpMsg.Parse(second).Flags));
        Assert.Equal(
            (Request, MessageHeader.Read(first).RequestId), (MessageHeader.Read(first).ResponseTo, MessageHeader.Read(second).ResponseTo));
        Assert.Equal(0, new BsonDocument(OpMsg.Parse(second).Body.ToArray()).FindInt64("cursor.id"));
        Succeed("{'ping': 1}");
    }

    [Fact]
    public void What_is_wrong_inside_a_message_has_mongods_code()
    {
        byte[] ping = TestClient.Json("{'ping': 1, '$db': 'test'}").Bytes.ToArray();
        byte[] badEnd = [.. ping[..^1], 7];
        byte[] tooLong = [(byte)(ping.Length + 30), .. ping[1..]];
        (byte[] Body, int Code)[] cases =
        [
            ([0, .. badEnd], 22), ([0, .. tooLong], 22), ([0, .. ping, 0, .. ping], 40430), ([0, .. ping, 9, .. ping], 40432), ([], 40587),
            ([0, .. ping, 1, 8, 0, 0, 0, .. "docs"u8], 15),
        ];
        foreach ((byte[] body, int code) in cases)
        {
            Client.Send(Message(OpCode.Msg, [0, 0, 0, 0, .. body]));
            Assert.Equal(code, new BsonDocument(OpMsg.Parse(Client.ReceiveMessage()!).Body.ToArray()).FindInt64("code"));
        }

        Succeed("{'ping': 1}");
    }

    [Fact]
    public void A_database_that_differs_in_case_only_is_refused()
    {
        Succeed("{'insert': 'c', 'documents': [{'_id': 1}]}", "CaseDb");
        Assert.Equal(13297, Run("{'insert': 'c', 'documents': [{'_id': 1}]}", "casedb").FindInt64("writeErrors.0.code"));
        Assert.Equal(13297, Run("{'create': 'x'}", "caseDB").FindInt64("code"));
        Assert.Equal(
            13297, Run("{'update': 'c', 'updates': [{'q': {}, 'u': {'a': 1}, 'upsert': true}]}", "casedb").FindInt64("writeErrors.0.code"));
        Succeed("{'find': 'c'}", "casedb");
        Succeed("{'dropDatabase': 1}", "CaseDb");
        Succeed("{'create': 'x'}", "casedb");
    }

    [Fact]
    public void A_timestamp_of_zero_becomes_the_time_in_a_new_document_and_in_a_replacement()
    {
        const string Zero = "{'$timestamp': {'t': 0, 'i': 0}}";
        Succeed($"{{'insert': 'c', 'documents': [{{'_id': {Zero}, 'a': {Zero}, 'b': {{'c': {Zero}}}}}, {{'_id': 2}}]}}");
        Succeed($"{{'update': 'c', 'updates': [{{'q': {{'_id': 2}}, 'u': {{'a': {Zero}}}}}]}}");
        Succeed($"{{'update': 'c', 'updates': [{{'q': {{'_id': 2}}, 'u': {{'$set': {{'s': {Zero}}}}}}}]}}");
        List<BsonDocument> all = Client.FindAll("{'find': 'c', 'sort': {'a': 1}}");
        Assert.All(all, document => Assert.NotEqual(0UL, Bits(document, "a")));
        Assert.Equal((0UL, 0UL, 0UL), (Bits(all[0], "_id"), Bits(all[0], "b.c"), Bits(all[1], "s")));
    }

    private static ulong Bits(BsonDocument document, string path) =>
        BinaryPrimitives.ReadUInt64LittleEndian(document.Find(path)!.Value.Bytes.Span);

    private (int Flags, BsonDocument Reply) Ask(byte[] message)
    {
        Client.Send(message);
        byte[] reply = Client.ReceiveMessage()!;
        return (BinaryPrimitives.ReadInt32LittleEndian(reply.AsSpan(MessageHeader.Size)),
            new BsonDocument(reply.AsMemory(MessageHeader.Size + 20)));
    }

    private static byte[] Query(string collection, string document, int numberToReturn) => Message(OpCode.Query,
        [
            0, 0, 0, 0, .. Encoding.UTF8.GetBytes(collection), 0, 0, 0, 0, 0, .. BitConverter.GetBytes(numberToReturn),
            .. TestClient.Json(document).Bytes,
        ]);

    private static byte[] Message(OpCode opCode, byte[] body)
    {
        byte[] message = new byte[MessageHeader.Size + body.Length];
        new MessageHeader(message.Length, Request, 0, opCode).Write(message);
        body.CopyTo(message, MessageHeader.Size);
        return message;
    }
}
