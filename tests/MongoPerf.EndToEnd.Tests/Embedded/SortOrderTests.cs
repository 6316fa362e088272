using System.Text;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>Servers sort as <see cref="BsonOrder"/> compares, by which replies are judged and shard keys and zones are cut.</summary>
[Collection(OtherTests.Name)]
public sealed class SortOrderTests(TestServers servers)
{
    private const int Values = 600;

    [Theory]
    [EachServer]
    public void Values_of_all_types_are_sorted_in_our_order(string server)
    {
        const int Seed = 7;
        using MongoConnection connection = servers[server].Connect();
        string database = servers.NewDatabase();
        var random = new Random(Seed);
        BsonValue[] values = [.. Enumerable.Range(0, Values).Select(_ => Draw(random, depth: 2))];
        connection.RunCommand(database, BsonDocument.Of(("insert", "c"), ("documents",
            values.Select((value, i) => BsonDocument.Of(("_id", i), ("v", value))).ToArray())));
        // Once by what the server compares, once by the keys of its index.
        AssertSorted("without an index");
        connection.RunCommand(database, BsonDocument.Of(("createIndexes", "c"), ("indexes",
            new object[] { BsonDocument.Of(("key", BsonDocument.Of(("v", 1), ("_id", 1))), ("name", "v")) })));
        AssertSorted("with an index");

        void AssertSorted(string how)
        {
            BsonDocument reply = connection.RunCommand(database, BsonDocument.Of(
                ("find", "c"), ("sort", BsonDocument.Of(("v", 1), ("_id", 1))), ("batchSize", Values), ("singleBatch", true)));
            int[] sorted =
                [.. reply.FindDocument("cursor.firstBatch")!.Select(one => (int)one.Value.ToDocument().FindInt64("_id")!.Value)];
            Assert.Equal(Values, sorted.Length);
            foreach ((int before, int after) in sorted.Zip(sorted.Skip(1)))
            {
                int order = BsonOrder.Values.Compare(values[before], values[after]);
                Assert.True(order < 0 || (order == 0 && before < after),
                    $"{server} {how}, seed {Seed}: {Text(values[before])} comes before {Text(values[after])}, and compares {order}");
            }
        }
    }

    private static string Text(BsonValue value) => $"{value.Type} {Convert.ToHexString(value.Bytes.Span)}";

    private static BsonValue Draw(Random random, int depth)
    {
        switch (random.Next(depth > 0 ? 20 : 18))
        {
            case 0: return new BsonValue(random.Next(3) switch { 0 => BsonType.MinKey, 1 => BsonType.MaxKey, _ => BsonType.Null }, default);
            case 1: return Timestamp(random.NextInt64(1, long.MaxValue) | (random.NextInt64(2) << 63));
            case 2: return Timestamp(((long)random.Next(1, 3) << 32) + random.Next(250, 260));
            case 3: return Of(new DateTime(random.NextInt64(0, DateTime.MaxValue.Ticks), DateTimeKind.Utc));
            case 4: return new BsonValue(BsonType.Binary, Binary(random));
            case 5: return Of(new ObjectId((uint)random.Next(3), (ulong)random.Next(300)));
            case 6: return Of(random.Next(2) == 0);
            case 7: return new BsonValue(
                BsonType.Regex, Encoding.UTF8.GetBytes($"{Letters(random)}\0{(random.Next(2) == 0 ? "" : "i")}\0"));
            case 8: return new BsonValue(random.Next(2) == 0 ? BsonType.Symbol : BsonType.JavaScript, Of(Letters(random)).Bytes);
            case 9: return CodeWithScope(random);
            case 10 or 11: return Of(Letters(random));
            case < 18: return Number(random);
            case 18: return Of(BsonDocument.Of([.. Enumerable.Range(0, random.Next(3))
                .Select(i => (i == 0 ? Letters(random) : $"b{i}", (object?)Draw(random, depth - 1)))]));
            // A sort takes an array by one of its elements; within a document it is compared whole.
            default: return Of(BsonDocument.Of(("a", Enumerable.Range(0, random.Next(3)).Select(_ => Draw(random, depth - 1)).ToArray())));
        }
    }

    private static BsonValue Number(Random random)
    {
        long near = random.Next(6) switch
        {
            0 => 0,
            1 => 1L << 53,
            2 => -(1L << 53),
            3 => long.MaxValue - 2,
            4 => long.MinValue + 2,
            _ => random.NextInt64(-1000, 1000),
        } + random.Next(-2, 3);
        return random.Next(8) switch
        {
            0 => Of((int)near),
            1 or 2 => Of(near),
            3 => Of((double)near),
            4 => Of(near / 4.0),
            5 => Of(random.Next(4) switch { 0 => double.NaN, 1 => double.NegativeInfinity, 2 => double.PositiveInfinity, _ => -0.0 }),
            _ => Parse($"{{\"$numberDecimal\": \"{near}{random.Next(4) switch { 0 => "", 1 => ".0", 2 => ".5", _ => "E-2" }}\"}}"),
        };
    }

    private static byte[] Binary(Random random)
    {
        byte[] bytes = new byte[random.Next(3) == 0 ? random.Next(254, 259) : random.Next(3)];
        random.NextBytes(bytes);
        return [.. BitConverter.GetBytes(bytes.Length), (byte)(random.Next(2) * 5), .. bytes];
    }

    private static BsonValue CodeWithScope(Random random)
    {
        byte[] code = Of(Letters(random)).Bytes.ToArray();
        byte[] scope = BsonDocument.Of(("x", random.Next(3))).Bytes.ToArray();
        byte[] length = BitConverter.GetBytes(4 + code.Length + scope.Length);
        return new BsonValue(BsonType.JavaScriptWithScope, (byte[])[.. length, .. code, .. scope]);
    }

    private static BsonValue Timestamp(long value) => new(BsonType.Timestamp, BitConverter.GetBytes(value));

    private static string Letters(Random random) => new([.. Enumerable.Range(0, random.Next(4)).Select(_ => "aAbé"[random.Next(4)])]);

    private static BsonValue Parse(string text) => ExtendedJson.Parse($"{{\"v\": {text}}}").Find("v")!.Value;

    private static BsonValue Of(object? value) => BsonDocument.Of(("v", value)).Find("v")!.Value;
}
