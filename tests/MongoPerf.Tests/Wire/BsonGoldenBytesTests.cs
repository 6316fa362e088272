using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Wire;

/// <summary>Bytes written by hand from bsonspec.org, so that a mistake in reader and writer can't agree with itself.</summary>
public sealed class BsonGoldenBytesTests
{
    /// <summary>One element of each kind; a space parts the fields of the grammar.</summary>
    private const string Golden =
        "d8000000 " // document: int32 total
        + "01 6400 000000000000f83f " // "d": 1.5
        + "02 7300 03000000 6869 00 " // "s": "hi"
        + "03 6f00 0c000000 10 6100 01000000 00 " // "o": {a: 1}
        + "04 6172 00 13000000 10 3000 07000000 10 3100 08000000 00 " // "ar": [7, 8]
        + "05 6200 03000000 80 010203 " // "b": binary, subtype 0x80
        + "06 7500 " // "u": undefined
        + "07 6900 0102030405060708090a0b0c " // "i": ObjectId
        + "08 7400 01 " // "t": true
        + "08 6600 00 " // "f": false
        + "09 6d00 e803000000000000 " // "m": 1000 ms after 1970
        + "0a 6e00 " // "n": null
        + "0b 7200 612e 00 69 00 " // "r": /a./i
        + "0c 7000 02000000 63 00 0102030405060708090a0b0c " // "p": DBPointer c
        + "0d 6a00 02000000 78 00 " // "j": code x
        + "0e 7900 02000000 7a 00 " // "y": symbol z
        + "10 6b00 ffffffff " // "k": int32 -1
        + "11 6c00 0200000001000000 " // "l": timestamp t 1, i 2
        + "12 7100 feffffffffffffff " // "q": int64 -2
        + "13 6500 01000000000000000000000000004030 " // "e": decimal 1
        + "ff 7600 " // "v": MinKey
        + "7f 7700 " // "w": MaxKey
        + "00";

    private static readonly byte[] Bytes = FromHex(Golden);

    [Fact]
    public void Writer_makes_the_specifications_bytes()
    {
        byte[] id = FromHex("0102030405060708090a0b0c");
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.WriteDouble("d"u8, 1.5);
        writer.WriteString("s"u8, "hi");
        writer.StartDocument("o"u8);
        writer.WriteInt32("a"u8, 1);
        writer.End();
        writer.StartArray("ar"u8);
        writer.WriteInt32("0"u8, 7);
        writer.WriteInt32("1"u8, 8);
        writer.End();
        writer.WriteBinary("b"u8, [1, 2, 3], 0x80);
        writer.WriteName(BsonType.Undefined, "u"u8);
        writer.WriteObjectId("i"u8, ObjectId.FromBytes(id));
        writer.WriteBoolean("t"u8, true);
        writer.WriteBoolean("f"u8, false);
        writer.WriteDateTime("m"u8, 1000);
        writer.WriteNull("n"u8);
        writer.WriteValue("r"u8, BsonType.Regex, "a.\0i\0"u8);
        writer.WriteValue("p"u8, BsonType.DbPointer, [2, 0, 0, 0, (byte)'c', 0, .. id]);
        writer.WriteValue("j"u8, BsonType.JavaScript, "\u0002\0\0\0x\0"u8);
        writer.WriteValue("y"u8, BsonType.Symbol, "\u0002\0\0\0z\0"u8);
        writer.WriteInt32("k"u8, -1);
        writer.WriteTimestamp("l"u8, (1UL << 32) | 2);
        writer.WriteInt64("q"u8, -2);
        writer.WriteValue("e"u8, BsonType.Decimal128, FromHex("01000000000000000000000000004030"));
        writer.WriteName(BsonType.MinKey, "v"u8);
        writer.WriteName(BsonType.MaxKey, "w"u8);
        writer.End();
        Assert.Equal(Convert.ToHexString(Bytes), Convert.ToHexString(writer.Written));
    }

    [Fact]
    public void Reader_finds_each_value_in_the_specifications_bytes()
    {
        BsonValidator.Validate(Bytes);
        Assert.Equal(1.5, At("d").Double);
        Assert.Equal("hi", At("s").StringText);
        Assert.Equal("0c0000001061000100000000", Convert.ToHexStringLower(At("o").DocumentBytes));
        Assert.Equal(BsonType.Array, At("ar").Type);
        Assert.Equal("0300000080010203", Convert.ToHexStringLower(At("b").Value));
        Assert.Equal((BsonType.Undefined, 0), (At("u").Type, At("u").Value.Length));
        Assert.Equal("0102030405060708090a0b0c", At("i").ObjectId.ToString());
        Assert.True(At("t").Boolean);
        Assert.False(At("f").Boolean);
        Assert.Equal(1000, At("m").DateTimeMilliseconds);
        Assert.Equal(BsonType.Null, At("n").Type);
        Assert.Equal("612e006900", Convert.ToHexStringLower(At("r").Value));
        Assert.Equal(18, At("p").Value.Length);
        Assert.Equal(("x", "z"), (At("j").StringText, At("y").StringText));
        Assert.Equal((-1, -2L), (At("k").Int32, At("q").Int64));
        Assert.Equal("0200000001000000", Convert.ToHexStringLower(At("l").Value));
        Assert.Equal("1", Decimal128.FromBytes(At("e").Value).ToString());
        Assert.Equal((BsonType.MinKey, BsonType.MaxKey), (At("v").Type, At("w").Type));
        Assert.Equal(Bytes, BsonCopy.Of(Bytes));
    }

    [Fact]
    public void Reader_says_which_type_was_found_where_another_was_asked_for()
    {
        string message = Assert.Throws<BsonFormatException>(() => At("s").Int32).Message;
        Assert.Contains("'s' is String, Int32 is expected", message, StringComparison.Ordinal);
    }

    [Fact]
    public void Empty_document_is_five_bytes()
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.End();
        Assert.Equal([5, 0, 0, 0, 0], writer.ToArray());
        Assert.False(new BsonReader(writer.Written).Read());
    }

    [Fact]
    public void Every_truncation_is_refused_whatever_length_it_declares()
    {
        for (int length = 0; length < Bytes.Length; length++)
        {
            byte[] cut = Bytes[..length];
            Assert.Throws<BsonFormatException>(() => BsonValidator.Validate(cut));
            if (length < BsonReader.MinimumDocumentLength)
                continue;
            // The declared length made to fit, the last byte still what it was: an element cut in two, or no final zero.
            BitConverter.TryWriteBytes(cut, length);
            Assert.Throws<BsonFormatException>(() => BsonValidator.Validate(cut));
        }
    }

    [Fact]
    public void Bytes_after_the_document_are_refused() => Assert.Throws<BsonFormatException>(() => BsonValidator.Validate([.. Bytes, 0]));

    private static BsonReader At(string name)
    {
        var reader = new BsonReader(Bytes);
        Assert.True(reader.Find(System.Text.Encoding.UTF8.GetBytes(name)), name);
        return reader;
    }

    private static byte[] FromHex(string text) => Convert.FromHexString(text.Replace(" ", "", StringComparison.Ordinal));
}
