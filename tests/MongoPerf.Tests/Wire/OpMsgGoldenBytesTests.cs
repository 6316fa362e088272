using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>Messages written by hand from specifications/source/message/OP_MSG.md.</summary>
public sealed class OpMsgGoldenBytesTests
{
    /// <summary>An unacknowledged insert of two documents as a section of kind 1.</summary>
    private const string Insert =
        "5e000000 2a000000 00000000 dd070000 " // messageLength, requestID 42, responseTo, opCode 2013
        + "02000000 " // flagBits: moreToCome
        + "00 " // section of kind 0
        + "1e000000 02 696e7365727400 02000000 6300 02 24646200 02000000 6400 00 " // {insert: "c", $db: "d"}
        + "01 " // section of kind 1
        + "2a000000 646f63756d656e747300 " // its size (itself included), "documents"
        + "0c000000 10 6100 01000000 00 " // {a: 1}
        + "10000000 01 6200 000000000000f83f 00"; // {b: 1.5}

    private static readonly byte[] Bytes = FromHex(Insert);

    [Fact]
    public void Writer_makes_the_specifications_bytes_of_an_insert_with_a_sequence()
    {
        var writer = new OpMsgWriter();
        for (int i = 0; i < 2; i++)
        {
            writer.Begin(OpMsgFlags.MoreToCome, requestId: 42);
            writer.Body.WriteString("insert"u8, "c");
            writer.EndBody("d");
            writer.BeginSequence("documents"u8);
            writer.Body.StartDocument();
            writer.Body.WriteInt32("a"u8, 1);
            writer.Body.End();
            writer.Body.StartDocument();
            writer.Body.WriteDouble("b"u8, 1.5);
            writer.Body.End();
            writer.EndSequence();
            Assert.Equal(Convert.ToHexString(Bytes), Convert.ToHexString(writer.Finish()));
        }
    }

    [Fact]
    public void Parser_finds_flags_body_and_sequence_in_the_specifications_bytes()
    {
        Assert.Equal(new MessageHeader(Bytes.Length, 42, 0, OpCode.Msg), MessageHeader.Read(Bytes));
        OpMsg message = OpMsg.Parse(Bytes);
        Assert.Equal(OpMsgFlags.MoreToCome, message.Flags);
        Assert.Equal("""{"insert": "c", "$db": "d"}""", ExtendedJson.Write(message.Body));
        int sequences = 0;
        foreach (DocumentSequence sequence in message.Sequences)
        {
            sequences++;
            Assert.Equal("documents", sequence.NameText);
            Assert.Equal("""{"a": 1}""", ExtendedJson.Write(sequence.Documents));
            Assert.Equal("""{"b": 1.5}""", ExtendedJson.Write(sequence.Documents[12..]));
        }

        Assert.Equal(1, sequences);
    }

    [Fact]
    public void Command_that_runs_once_is_written_with_its_database_last()
    {
        byte[] expected =
            FromHex("33000000 07000000 00000000 dd070000 00000000 00 1e000000 10 70696e6700 01000000 02 24646200 06000000 61646d696e00 00");
        Assert.Equal(Convert.ToHexString(expected),
            Convert.ToHexString(new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(("ping", 1)), requestId: 7)));
    }

    [Fact]
    public void Reply_names_no_database()
    {
        var writer = new OpMsgWriter();
        writer.Begin(requestId: 9, responseTo: 7);
        writer.Body.WriteDouble("ok"u8, 1);
        writer.EndBody();
        Assert.Equal(
            FromHex("26000000 09000000 07000000 dd070000 00000000 00 11000000 01 6f6b00 000000000000f03f 00"),
            writer.Finish().ToArray());
    }

    [Theory]
    [InlineData("2a000000 01000000 00000000 dd070000 01000000 00 11000000 01 6f6b00 000000000000f03f 00 7e99e670", null)] // with a checksum
    [InlineData("26000000 01000000 00000000 dd070000 00000200 00 11000000 01 6f6b00 000000000000f03f 00", null)] // optional bit 17
    [InlineData("26000000 01000000 00000000 dd070000 08000000 00 11000000 01 6f6b00 000000000000f03f 00", "flag bits 0x8")]
    [InlineData("26000000 01000000 00000000 dd070000 00000000 02 11000000 01 6f6b00 000000000000f03f 00", "kind 2")]
    [InlineData("26000000 01000000 00000000 dd070000 00000000 00 12000000 01 6f6b00 000000000000f03f 00", "declares 18 bytes")]
    [InlineData("26000000 01000000 00000000 dd070000 00000000 00 10000000 01 6f6b00 000000000000f03f 00", "declares 0 bytes")]
    [InlineData("26000000 01000000 00000000 dd070000 00000000 01 11000000 01 6f6b00 000000000000f03f 00", "without a section of kind 0")]
    [InlineData("20000000 01000000 00000000 dd070000 00000000 00 05000000 00 00 05000000 00", "two sections of kind 0")]
    [InlineData("14000000 01000000 00000000 dd070000 00000000", "without a section of kind 0")]
    [InlineData("13000000 01000000 00000000 dd070000 000000", "at least 20")]
    public void Message_is_taken_or_refused_with_what_was_found(string hex, string? refusal)
    {
        byte[] bytes = FromHex(hex);
        if (refusal is null)
            Assert.Equal("""{"ok": 1.0}""", ExtendedJson.Write(OpMsg.Parse(bytes).Body));
        else
            Assert.Contains(refusal, Assert.Throws<WireProtocolException>(() => OpMsg.Parse(bytes)).Message, StringComparison.Ordinal);
    }

    private static byte[] FromHex(string text) => Convert.FromHexString(text.Replace(" ", "", StringComparison.Ordinal));
}
