using System.Buffers.Binary;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>Lengths that declare too little or too much by one, in documents and messages: each is refused, and says why.</summary>
public sealed class HostileBytesTests
{
    [Theory]
    // Text of "a" in a document whose one element is x: 4 + 1 + 2 bytes precede the value.
    [InlineData("02 7800 02000000 6100", null)]
    [InlineData("02 7800 01000000 6100", "byte 11: string does not end with a zero byte")]
    [InlineData("02 7800 00000000 6100", "byte 7: string length is 0; allowed: 1 to 2")]
    [InlineData("02 7800 ffffffff 6100", "byte 7: string length is -1; allowed: 1 to 2")]
    [InlineData("02 7800 03000000 6100", "byte 7: string length is 3; allowed: 1 to 2")]
    [InlineData("02 7800 02000000 6161", "byte 12: string does not end with a zero byte")]
    [InlineData("05 7800 02000000 00 6162", null)]
    [InlineData("05 7800 03000000 00 6162", "byte 7: binary length is 3; allowed: 0 to 2")]
    [InlineData("05 7800 ffffffff 00 6162", "byte 7: binary length is -1; allowed: 0 to 2")]
    [InlineData("05 7800 06000000 02 02000000 6162", null)]
    [InlineData("05 7800 04000000 02 00000000", null)]
    [InlineData("05 7800 06000000 02 03000000 6162", "byte 12: inner length of old binary is not 2")]
    [InlineData("05 7800 03000000 02 000000", "byte 12: inner length of old binary is not -1")]
    [InlineData("08 7800 01", null)]
    [InlineData("08 7800 02", "byte 7: boolean is 2; allowed: 0 and 1")]
    [InlineData("0b 7800 6100 6900", null)]
    [InlineData("0f 7800 0f000000 02000000 6100 0500000000", null)]
    [InlineData("0f 7800 0e000000 01000000 00 0500000000", null)]
    [InlineData("0f 7800 0d000000 01000000 00 0500000000", "byte 7: code with scope declares 13 bytes; allowed: 14 to 14")]
    [InlineData("0f 7800 0f000000 01000000 00 0500000000", "byte 7: code with scope declares 15 bytes; allowed: 14 to 14")]
    [InlineData("0f 7800 0e000000 02000000 6100 0500000000", "byte 7: code with scope declares 14 bytes and holds 15")]
    [InlineData("0f 7800 0e000000 08000000 6161616161616100 00", "byte 11: code runs past the end of its element")]
    [InlineData("03 7800 0500000000", null)]
    [InlineData("03 7800 0400000000", "byte 7: document length is 4; allowed: 5 to 6")]
    [InlineData("03 7800 0700000000", "byte 7: document length is 7; allowed: 5 to 6")]
    [InlineData("03 7800 0500000001", "byte 11: document does not end with a zero byte")]
    [InlineData("10 7800 010000", "byte 7: value of 4 bytes runs past the end of the document")]
    [InlineData("10 7800 01000000 00", "byte 11: document ends before its declared length")]
    [InlineData("1f 7800", "byte 4: element type 0x1f does not exist")]
    [InlineData("02 7800 03000000 ff6100", "byte 7: text is not UTF-8")]
    [InlineData("02 ff00 02000000 6100", "byte 7: text is not UTF-8")]
    [InlineData("0c 7800 02000000 ff00 0102030405060708090a0b0c", "byte 7: text is not UTF-8")]
    [InlineData("0b 7800 ff00 00", "byte 7: text is not UTF-8")]
    [InlineData("0f 7800 0f000000 02000000 ff00 0500000000", "byte 8: text is not UTF-8")]
    public void An_element_whose_length_does_not_fit_is_refused(string element, string? why)
    {
        byte[] bytes = Document(element);
        if (why is null)
            Assert.Equal(1, BsonValidator.Validate(bytes) - (element[..2] is "03" or "0f" ? 1 : 0));
        else
            Assert.Equal("BSON, " + why, Assert.Throws<BsonFormatException>(() => BsonValidator.Validate(bytes)).Message);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(200)]
    [InlineData(201)]
    public void A_document_may_hold_200_levels(int levels)
    {
        BsonDocument document = BsonDocument.Empty;
        for (int i = 0; i < levels; i++)
            document = BsonDocument.Of(("a", document));
        byte[] bytes = document.Bytes.ToArray();
        foreach (Func<int> validate in (Func<int>[])[
            () => BsonValidator.Validate(bytes), () => BsonValidator.ValidateStructure(bytes)])
        {
            if (levels <= 200)
                Assert.Equal(levels + 1, validate());
            else
                Assert.Contains("deeper than 200", Assert.Throws<BsonDepthException>(() => validate()).Message);
        }

        Assert.Throws<BsonFormatException>(() => BsonValidator.Validate([.. bytes, 0]));
    }

    [Fact]
    public void A_value_of_another_type_is_no_number_no_document_and_no_binary()
    {
        BsonValue text = BsonDocument.Of(("a", "1")).Find("a")!.Value;
        Assert.Equal("BSON, byte 0: value is String, a number is expected", Refusal(() => text.ToDouble()));
        Assert.Equal("BSON, byte 0: value is String, a number is expected", Refusal(() => text.ToInt64()));
        Assert.Equal("BSON, byte 0: value is String, a document is expected", Refusal(() => text.ToDocument()));
        Assert.Equal("BSON, byte 0: value is String, binary is expected", Refusal(() => text.ToBinary()));
        Assert.False(text.ToBoolean());
        BsonDocument others = BsonDocument.Of(("i", 2), ("l", 0L), ("d", 0.5), ("z", 0.0), ("t", true), ("f", false), ("n", null));
        Assert.Equal([true, false, true, false, true, false, false], others.Select(one => one.Value.ToBoolean()));

        static string Refusal(Func<object?> read) => Assert.Throws<BsonFormatException>(read).Message;
    }

    [Theory]
    [InlineData("a.b.c", BsonType.Int32, 21, null)]
    [InlineData("a.l.1", BsonType.Int32, 43, null)]
    [InlineData("a.b", BsonType.Document, 14, null)]
    [InlineData("a.x", BsonType.Int32, 0, "'a.x' is not in the document: 'x' is missing")]
    [InlineData("a.b.c", BsonType.Int64, 0, "'a.b.c': 'c' is Int32, Int64 is expected")]
    [InlineData("a.b.c.d", BsonType.Int32, 0, "'a.b.c.d': 'c' is Int32, Document is expected")]
    [InlineData("a.b", BsonType.Int32, 0, "'a.b': 'b' is Document, Int32 is expected")]
    public void The_place_of_a_value_is_found_by_its_path(string path, BsonType type, int at, string? why)
    {
        byte[] bytes = BsonDocument.Of(("a", BsonDocument.Of(("b", BsonDocument.Of(("c", 7))), ("l", new[] { 8, 9 })))).Bytes.ToArray();
        if (why is not null)
        {
            Assert.StartsWith(why, Assert.Throws<ArgumentException>(() => BsonPath.ValueOffset(bytes, path, type)).Message);
            return;
        }

        Assert.Equal(at, BsonPath.ValueOffset(bytes, path, type));
        if (type == BsonType.Int32)
            Assert.Equal(path.EndsWith('c') ? 7 : 9, BinaryPrimitives.ReadInt32LittleEndian(bytes.AsSpan(at)));
    }

    [Fact]
    public void A_legacy_query_has_the_fields_of_its_bytes()
    {
        byte[] message = Query("admin.$cmd", BsonDocument.Of(("isMaster", 1)));
        OpQuery query = OpQuery.Parse(message);
        Assert.Equal("admin.$cmd"u8, query.Collection);
        Assert.Equal("admin"u8, query.Database);
        Assert.Equal((-1, true, true), (query.NumberToReturn, query.IsCommand, query.IsExhaust));
        Assert.Equal(BsonDocument.Of(("isMaster", 1)).Bytes, query.Query);
        Assert.Equal(query.Query, query.Command);
        Assert.False(OpQuery.Parse(Query("", BsonDocument.Empty)).IsCommand);
        foreach (string name in (string[])["$query", "query"])
        {
            message = Query("a.$cmd", BsonDocument.Of((name, BsonDocument.Of(("ping", 1))), ("$readPreference", 1)));
            Assert.Equal(BsonDocument.Of(("ping", 1)).Bytes, OpQuery.Parse(message).Command);
        }

        message = Query("a.$cmd", BsonDocument.Of(("$query", 1)));
        Assert.Equal(OpQuery.Parse(message).Query, OpQuery.Parse(message).Command);
    }

    [Fact]
    public void A_legacy_query_that_ends_early_or_whose_document_does_not_fit_is_refused()
    {
        byte[] whole = Query("a.$cmd", BsonDocument.Of(("ping", 1)));
        for (int length = MessageHeader.Size; length < whole.Length; length++)
            Assert.Throws<WireProtocolException>(() => OpQuery.Parse(whole.AsSpan(0, length)));
        int at = whole.Length - BsonDocument.Of(("ping", 1)).Bytes.Length;
        foreach (int size in (int[])[4, 0, -1, int.MinValue, whole.Length - at + 1, int.MaxValue])
        {
            byte[] wrong = [.. whole];
            BinaryPrimitives.WriteInt32LittleEndian(wrong.AsSpan(at), size);
            Assert.Equal($"OP_QUERY document declares {size} bytes; allowed: 5 to {whole.Length - at}",
                Assert.Throws<WireProtocolException>(() => OpQuery.Parse(wrong)).Message);
        }

        byte[] endless = [.. whole];
        endless.AsSpan(MessageHeader.Size + 4).Fill((byte)'a');
        Assert.Throws<WireProtocolException>(() => OpQuery.Parse(endless));
    }

    [Fact]
    public void A_reply_that_says_ok_has_a_cursor_with_a_batch()
    {
        byte[] good = Reply(("cursor", BsonDocument.Of(("id", 5L), ("firstBatch", new[] { BsonDocument.Of(("a", 1)) }))), ("ok", 1));
        CursorReply reply = CursorReply.Parse(good);
        Assert.Equal((true, 1, 12L, 5L), (reply.IsOk, reply.Documents, reply.Bytes, reply.CursorId));
        foreach (byte[] wrong in (byte[][])[Reply(("ok", 1)), Reply(("ok", 1), ("cursor", BsonDocument.Of(("id", 5L))))])
            Assert.Equal("the reply has no cursor", Assert.Throws<WireProtocolException>(() => CursorReply.Parse(wrong)).Message);
        Assert.False(CursorReply.Parse(Reply(("ok", 0.0), ("errmsg", "x"))).IsOk);

        static byte[] Reply(params (string, object?)[] elements) =>
            new OpMsgWriter().WriteCommand("d", BsonDocument.Of(elements), requestId: 1).ToArray();
    }

    [Fact]
    public void A_cursor_that_never_ends_is_left_and_one_that_may_take_its_time_is_not()
    {
        using MongoConnection patient = MongoConnection.ToNowhere(new ServerAddress("h", 1), BsonDocument.Of(("ok", 1)));
        var guard = new CursorGuard(patient, mostDocuments: 10);
        guard.AskForMore(10);
        Assert.Equal("h:1: a cursor has returned 11 documents and still has more; its query allows at most 10 (connection closed)",
            Refusal(ref guard, 1));
        guard = new CursorGuard(patient, mostDocuments: 10);
        for (int round = 0; round < 2; round++)
        {
            for (int i = 0; i < 100; i++)
                guard.AskForMore(0);
            guard.AskForMore(1);
        }

        for (int i = 0; i < 100; i++)
            guard.AskForMore(0);
        Assert.Equal("h:1: a cursor has returned 101 empty batches in a row and claims to have more (connection closed)",
            Refusal(ref guard, 0));

        static string Refusal(ref CursorGuard guard, long documents)
        {
            try
            {
                guard.AskForMore(documents);
                return "";
            }
            catch (WireProtocolException e)
            {
                return e.Message;
            }
        }
    }

    [Fact]
    public void A_reply_from_memory_comes_in_as_many_pieces_as_it_is_asked_for()
    {
        byte[] body = BsonDocument.Of(("ok", 1)).Bytes.ToArray();
        using var transport = new RepeatingTransport(body);
        for (int round = 0; round < 2; round++)
        {
            transport.Send(new OpMsgWriter().WriteCommand("d", BsonDocument.Of(("ping", 1)), requestId: 77 + round));
            transport.ExpectMessage();
            byte[] got = new byte[200];
            Assert.Equal(16, transport.Receive(got.AsSpan(0, 16)));
            int rest = transport.Receive(got.AsSpan(16));
            Assert.Equal(5 + body.Length, rest);
            Assert.Equal((16 + rest, 77 + round), (MessageHeader.Read(got).Length, MessageHeader.Read(got).ResponseTo));
            Assert.Equal(body, OpMsg.Parse(got.AsSpan(0, 16 + rest)).Body);
        }
    }

    private static byte[] Document(string element)
    {
        byte[] inner = Convert.FromHexString(element.Replace(" ", "", StringComparison.Ordinal));
        byte[] bytes = [0, 0, 0, 0, .. inner, 0];
        BinaryPrimitives.WriteInt32LittleEndian(bytes, bytes.Length);
        return bytes;
    }

    /// <summary>OP_QUERY (2004) with the exhaust flag, that skips 3 and asks for -1.</summary>
    private static byte[] Query(string collection, BsonDocument query)
    {
        byte[] name = System.Text.Encoding.UTF8.GetBytes(collection);
        byte[] message =
        [
            0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xD4, 7, 0, 0, 64, 0, 0, 0, .. name, 0, 3, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, .. query.Bytes,
        ];
        BinaryPrimitives.WriteInt32LittleEndian(message, message.Length);
        return message;
    }
}
