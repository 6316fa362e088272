using System.Text;
using MongoPerf.Traffic.Proxying;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Tests.Traffic;

/// <summary>Whatever clients and servers say ends neither the recording nor, with the thread that reads it, the proxy.</summary>
public sealed class HostileTrafficTests
{
    private static readonly int Count =
        int.TryParse(Environment.GetEnvironmentVariable("MONGOPERF_FUZZ"), out int asked) ? asked : 3000;

    private static readonly string[] Commands =
        ["find", "update", "insert", "delete", "aggregate", "findAndModify", "bulkWrite", "getMore", "explain", "create", "distinct"];

    private static readonly string[] Documents =
    [
        "filter", "query", "q", "u", "$set", "$push", "$elemMatch", "projection", "cursor", "value", "lastErrorObject", "explain",
        "$match", "$project", "$group", "$expr", "lsid", "upserted", "validator", "let",
    ];

    private static readonly string[] Arrays =
    [
        "updates", "deletes", "pipeline", "firstBatch", "nextBatch", "values", "upserted", "$in", "$and", "arrayFilters", "ops", "$substr",
    ];

    private static readonly string[] Values =
        ["_id", "index", "idx", "ns", "$db", "ok", "n", "id", "type", "$regex", "$options", "$literal", "name", "code", "$geoNear", "a.b"];

    private static readonly string[] Texts =
    [
        "", "x", "$path", "^[ab]{2,3}(?i:c)\\d+\\", "admin.$cmd.bulkWrite", "Point", "grün", "日本語 1234", "\U0001F600z", new('q', 70), "(?#",
        "[^]",
    ];

    private static readonly BsonType[] Types = [.. Enum.GetValues<BsonType>()];

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Deformed_messages_are_read_or_left_out(bool redacts)
    {
        MessageCompression[] compressions =
            [.. Compressors.Known.Select(name => new MessageCompression(Compressors.Create(name, zlibLevel: -1)))];
        using var writer = new TrafficWriter(Stream.Null, redacts);
        for (int seed = 0; seed < Count; seed++)
        {
            var random = new Random(seed);
            try
            {
                foreach (bool isRequest in (ReadOnlySpan<bool>)[true, false])
                {
                    byte[] message = MakeMessage(random, isRequest);
                    if (random.Next(4) == 0)
                        Deform(random, message.AsSpan(MessageHeader.Size));
                    if (random.Next(3) == 0)
                        message = compressions[random.Next(compressions.Length)].Pack(message).ToArray();
                    if (random.Next(4) == 0)
                        Deform(random, message.AsSpan(MessageHeader.Size));
                    writer.Add(seed, isRequest, seed, message);
                }

                writer.End(seed);
            }
            catch (Exception e)
            {
                Assert.Fail($"seed {seed}: {e}");
            }
        }

        Array.ForEach(compressions, one => one.Dispose());
        Assert.InRange(writer.Requests, Count / 4, Count - 1);
        Assert.Equal((0, 0), (writer.Unreadable, writer.Begun.Count));
    }

    private static void Deform(Random random, Span<byte> bytes)
    {
        for (int changes = random.Next(1, 4); changes > 0; changes--)
            bytes[random.Next(bytes.Length)] ^= (byte)(1 << random.Next(8));
    }

    private static byte[] MakeMessage(Random random, bool isRequest)
    {
        var writer = new BsonWriter();
        new MessageHeader(0, isRequest ? 1 : 2, isRequest ? 0 : 1, OpCode.Msg).Write(writer.Grow(MessageHeader.Size));
        bool hasChecksum = random.Next(4) == 0;
        writer.WriteRawInt32((hasChecksum ? 1 : 0) | (random.Next(6) == 0 ? 2 : 0) | (random.Next(6) == 0 ? 1 << 16 : 0));
        writer.WriteRawByte(0);
        writer.StartDocument();
        if (isRequest)
            writer.WriteString(Encoding.UTF8.GetBytes(Pick(random, Commands)), "orders");
        AddElements(random, writer, depth: 0);
        writer.End();
        if (random.Next(3) == 0)
        {
            writer.WriteRawByte(1);
            int start = writer.Length;
            writer.WriteRawInt32(0);
            writer.WriteRaw(Encoding.UTF8.GetBytes(Pick(random, Arrays) + '\0'));
            for (int i = random.Next(4); i > 0; i--)
            {
                writer.StartDocument();
                AddElements(random, writer, depth: 1);
                writer.End();
            }

            writer.PatchInt32(start, writer.Length - start);
        }

        if (hasChecksum)
            writer.WriteRawInt32(random.Next());
        writer.PatchInt32(0, writer.Length);
        return writer.ToArray();
    }

    private static void AddElements(Random random, BsonWriter writer, int depth)
    {
        for (int i = random.Next(6); i > 0; i--)
        {
            int kind = random.Next(depth > 5 ? 1 : 3);
            string name = Pick(random, kind == 0 ? Values : kind == 1 ? Documents : Arrays);
            if (random.Next(8) == 0)
                name = Pick(random, Texts);
            AddValue(random, writer, Encoding.UTF8.GetBytes(name),
                kind == 0 ? Types[random.Next(Types.Length)] : kind == 1 ? BsonType.Document : BsonType.Array, depth);
        }
    }

    private static void AddValue(Random random, BsonWriter writer, byte[] name, BsonType type, int depth)
    {
        if (type is BsonType.Document or BsonType.Array)
        {
            if (type == BsonType.Document)
                writer.StartDocument(name);
            else
                writer.StartArray(name);
            AddElements(random, writer, depth + 1);
            writer.End();
            return;
        }

        writer.WriteName(type, name);
        switch (type)
        {
            case BsonType.String or BsonType.JavaScript or BsonType.Symbol:
                AddText(random, writer);
                break;
            case BsonType.DbPointer:
                AddText(random, writer);
                AddBytes(random, writer, 12);
                break;
            case BsonType.Regex:
                writer.WriteRaw(Encoding.UTF8.GetBytes(Pick(random, Texts) + "\0i\0"));
                break;
            case BsonType.JavaScriptWithScope:
                int start = writer.Length;
                writer.WriteRawInt32(0);
                AddText(random, writer);
                writer.WriteRaw([5, 0, 0, 0, 0]);
                writer.PatchInt32(start, writer.Length - start);
                break;
            case BsonType.Binary:
                int length = random.Next(20);
                byte subtype = (byte)random.Next(10);
                bool isOld = subtype == 2;
                writer.WriteRawInt32(length + (isOld ? 4 : 0));
                writer.WriteRawByte(subtype);
                if (isOld)
                    writer.WriteRawInt32(length);
                AddBytes(random, writer, length);
                break;
            case BsonType.Boolean:
                writer.WriteRawByte((byte)random.Next(2));
                break;
            case BsonType.Null or BsonType.Undefined or BsonType.MinKey or BsonType.MaxKey:
                break;
            default:
                AddBytes(random, writer, type switch { BsonType.Int32 => 4, BsonType.ObjectId => 12, BsonType.Decimal128 => 16, _ => 8 });
                break;
        }
    }

    private static void AddText(Random random, BsonWriter writer)
    {
        byte[] text = Encoding.UTF8.GetBytes(Pick(random, Texts));
        writer.WriteRawInt32(text.Length + 1);
        writer.WriteRaw(text);
        writer.WriteRawByte(0);
    }

    /// <summary>Mostly small numbers, where bytes are one.</summary>
    private static void AddBytes(Random random, BsonWriter writer, int count)
    {
        Span<byte> bytes = writer.Grow(count);
        random.NextBytes(bytes);
        if (random.Next(2) == 0)
            bytes[Math.Min(2, count)..].Clear();
    }

    private static string Pick(Random random, string[] from) => from[random.Next(from.Length)];
}
