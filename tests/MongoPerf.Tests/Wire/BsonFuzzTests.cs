using System.Buffers.Binary;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Wire;

/// <summary>Seeded damage: whatever the bytes are, only the exceptions that say "these bytes are wrong" may come out.</summary>
public sealed class BsonFuzzTests
{
    private const int Cases = 20_000;

    [Fact]
    public void Damaged_document_is_read_or_refused_with_a_BsonFormatException()
    {
        var random = new Random(20261121);
        byte[] original = Document();
        int refused = 0;
        for (int i = 0; i < Cases; i++)
        {
            byte[] bytes = Damage(original, random);
            try
            {
                BsonValidator.Validate(bytes);
                Walk(bytes, 0);
                Assert.True(ExtendedJson.Write(bytes, (ExtendedJsonMode)(i & 1)).Length > 0);
                Assert.Equal(bytes.Length, BsonCopy.Of(bytes).Length);
            }
            catch (BsonFormatException)
            {
                refused++;
            }
            catch (Exception e)
            {
                Assert.Fail($"case {i}: {e.GetType().Name} from {Convert.ToHexString(bytes)}: {e}");
            }
        }

        Assert.InRange(refused, Cases / 10, Cases * 95 / 100);
    }

    [Fact]
    public void Damaged_document_that_nobody_validated_is_written_as_json_or_refused()
    {
        var random = new Random(7);
        byte[] original = Document();
        for (int i = 0; i < Cases; i++)
        {
            byte[] bytes = Damage(original, random);
            try
            {
                _ = ExtendedJson.Write(bytes);
                foreach (KeyValuePair<string, BsonValue> element in new BsonDocument(bytes))
                    _ = element.Value.ToString();
            }
            catch (BsonFormatException)
            {
                continue;
            }
            catch (Exception e)
            {
                Assert.Fail($"case {i}: {e.GetType().Name} from {Convert.ToHexString(bytes)}: {e}");
            }
        }
    }

    [Fact]
    public void Damaged_message_is_read_or_refused_as_a_wire_or_format_error()
    {
        var random = new Random(3);
        byte[] original = Message();
        for (int i = 0; i < Cases; i++)
        {
            byte[] bytes = Damage(original, random);
            try
            {
                OpMsg message = OpMsg.Parse(bytes);
                Walk(message.Body, 0);
                foreach (DocumentSequence sequence in message.Sequences)
                {
                    for (ReadOnlySpan<byte> rest = sequence.Documents; rest.Length > 0;)
                    {
                        var reader = new BsonReader(rest);
                        Walk(reader.Document, 0);
                        rest = rest[reader.Document.Length..];
                    }
                }
            }
            catch (Exception e) when (e is BsonFormatException or WireProtocolException)
            {
                continue;
            }
            catch (Exception e)
            {
                Assert.Fail($"case {i}: {e.GetType().Name} from {Convert.ToHexString(bytes)}: {e}");
            }
        }
    }

    private static void Walk(ReadOnlySpan<byte> document, int depth)
    {
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            _ = reader.NameText;
            _ = reader.ToBoolean();
            if (reader.Type is BsonType.Document or BsonType.Array && depth < 100)
                Walk(reader.DocumentBytes, depth + 1);
        }
    }

    private static byte[] Damage(byte[] original, Random random)
    {
        byte[] bytes = (byte[])original.Clone();
        for (int i = random.Next(1, 4); i > 0; i--)
        {
            int at = random.Next(bytes.Length);
            switch (random.Next(6))
            {
                case 0: bytes[at] ^= (byte)(1 << random.Next(8)); break;
                case 1: bytes[at] = (byte)random.Next(256); break;
                case 2: bytes[at] = random.Next(2) == 0 ? (byte)0 : (byte)0xFF; break;
                case 3: BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(Math.Min(at, bytes.Length - 4)),
                    EdgeLength(random, bytes.Length)); break;
                case 4: bytes = bytes[..Math.Max(at, 5)]; break;
                default: bytes = [.. bytes[..at], (byte)random.Next(256), .. bytes[at..]]; break;
            }
        }

        // Most damage would end at the outer length; half of the cases get past it.
        if (bytes.Length >= 5 && random.Next(2) == 0)
            BinaryPrimitives.WriteInt32LittleEndian(bytes, bytes.Length);
        return bytes;
    }

    private static int EdgeLength(Random random, int length) => random.Next(7) switch
    {
        0 => int.MaxValue,
        1 => int.MinValue,
        2 => -1,
        3 => 0,
        4 => length,
        5 => 0x7FFFFFFF - random.Next(32),
        _ => random.Next(64),
    };

    private static byte[] Document()
    {
        byte[] nested = BsonDocument.Of(("a", 1), ("b", new object[] { "x", 2.5, null! })).Memory.ToArray();
        var writer = new BsonWriter();
        writer.StartDocument();
        writer.WriteRaw(nested.AsSpan(4, nested.Length - 5));
        writer.WriteDocument("doc"u8, nested);
        writer.WriteBinary("bin"u8, [1, 2, 3]);
        writer.WriteBinary("old"u8, [2, 0, 0, 0, 8, 9], 2);
        writer.WriteBoolean("yes"u8, true);
        writer.WriteDateTime("when"u8, 1_700_000_000_000);
        writer.WriteObjectId("id"u8, new ObjectId(1, 2));
        writer.WriteTimestamp("ts"u8, 77);
        writer.WriteValue("re"u8, BsonType.Regex, "a.*\0im\0"u8);
        writer.WriteValue("js"u8, BsonType.JavaScript, "\u0002\0\0\0x\0"u8);
        writer.WriteValue("ptr"u8, BsonType.DbPointer, [2, 0, 0, 0, (byte)'c', 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        writer.WriteValue("dec"u8, BsonType.Decimal128, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x30]);
        writer.WriteName(BsonType.JavaScriptWithScope, "cws"u8);
        writer.WriteRawInt32(4 + 6 + nested.Length);
        writer.WriteRaw("\u0002\0\0\0x\0"u8);
        writer.WriteRaw(nested);
        writer.End();
        return writer.ToArray();
    }

    private static byte[] Message()
    {
        var writer = new OpMsgWriter();
        writer.Begin(OpMsgFlags.None, requestId: 5);
        writer.Body.WriteString("insert"u8, "c");
        writer.EndBody("db");
        writer.BeginSequence("documents"u8);
        writer.Body.WriteRaw(Document());
        writer.Body.WriteRaw(BsonDocument.Empty.Bytes);
        writer.EndSequence();
        return writer.Finish().ToArray();
    }
}
