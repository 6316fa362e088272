using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class KeyOrderTests
{
    private static readonly double[] Doubles =
        [
            double.NaN, double.NegativeInfinity, -1e300, -9007199254740993.0, -1.5, -0.0, 0.0, 1e-300, 0.5, 1, 9007199254740992.0,
            9007199254740994.0, 9.3e18, double.PositiveInfinity,
        ];

    private static readonly long[] Longs =
        [
            long.MinValue, long.MinValue + 1, -9007199254740993, -9007199254740992, -1, 0, 1, 9007199254740991, 9007199254740992,
            9007199254740993, long.MaxValue - 1, long.MaxValue,
        ];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Encoded_keys_compare_as_the_values_do(int seed)
    {
        var random = new Random(seed);
        (BsonType Type, byte[] Value)[] values = [.. Enumerable.Range(0, 300).Select(_ => Element(random, depth: 2))];
        byte[][] keys = [.. values.Select(value => Key(value.Type, value.Value))];
        for (int i = 0; i < values.Length; i++)
        {
            for (int k = 0; k < values.Length; k++)
            {
                int expected = Math.Sign(BsonOrder.Compare(values[i].Type, values[i].Value, values[k].Type, values[k].Value));
                int actual = Math.Sign(keys[i].AsSpan().SequenceCompareTo(keys[k]));
                Assert.True(expected == actual, $"seed {seed}: {values[i].Type} and {values[k].Type}: values {expected}, keys {actual}");
            }
        }
    }

    [Fact]
    public void Encoded_numbers_compare_exactly_across_types()
    {
        var numbers = new List<(BsonType Type, byte[] Value, decimal? Exact)>();
        numbers.AddRange(Longs.Select(value => (BsonType.Int64, BitConverter.GetBytes(value), (decimal?)value)));
        numbers.AddRange(Doubles.Where(value => Math.Abs(value) < 1e20)
            .Select(value => (BsonType.Double, BitConverter.GetBytes(value), (decimal?)value)));
        foreach ((BsonType leftType, byte[] left, decimal? leftExact) in numbers)
        {
            foreach ((BsonType rightType, byte[] right, decimal? rightExact) in numbers)
            {
                // decimal keeps only 15 digits of a double; all doubles here that are larger are written out by the cast to long.
                int expected = Math.Sign(Exact(leftType, left).CompareTo(Exact(rightType, right)));
                Assert.Equal(expected, Math.Sign(Key(leftType, left).AsSpan().SequenceCompareTo(Key(rightType, right))));
                Assert.NotNull(leftExact);
                Assert.NotNull(rightExact);
            }
        }

        static System.Numerics.BigInteger Exact(BsonType type, byte[] value) => type == BsonType.Int64
            ? new System.Numerics.BigInteger(BitConverter.ToInt64(value)) << 1080
            : Scaled(BitConverter.ToDouble(value));

        static System.Numerics.BigInteger Scaled(double value)
        {
            long bits = BitConverter.DoubleToInt64Bits(value);
            int exponent = (int)((bits >> 52) & 0x7FF);
            System.Numerics.BigInteger mantissa = (bits & 0xFFFFFFFFFFFFF) | (exponent == 0 ? 0 : 1L << 52);
            return (value < 0 ? -mantissa : mantissa) << (Math.Max(exponent, 1) - 1075 + 1080);
        }
    }

    [Theory]
    [InlineData(4)]
    public void No_encoded_value_begins_another(int seed)
    {
        var random = new Random(seed);
        byte[][] keys = [.. Enumerable.Range(0, 300).Select(_ => Element(random, depth: 2)).Select(value => Key(value.Type, value.Value))];
        foreach (byte[] left in keys)
            Assert.DoesNotContain(keys, right => right.Length > left.Length && right.AsSpan().StartsWith(left));
    }

    private static byte[] Key(BsonType type, byte[] value)
    {
        var key = new KeyBuffer();
        KeyEncoder.Write(key, type, value);
        return key.Written.ToArray();
    }

    private static (BsonType Type, byte[] Value) Element(Random random, int depth)
    {
        BsonDocument document = BsonDocument.Of(("v", Value(random, depth)));
        BsonValue value = document.Find("v")!.Value;
        return random.Next(20) switch
        {
            0 => (BsonType.MinKey, []),
            1 => (BsonType.MaxKey, []),
            2 => (BsonType.Timestamp, BitConverter.GetBytes(random.NextInt64())),
            _ => (value.Type, value.Bytes.ToArray()),
        };
    }

    private static object? Value(Random random, int depth) => random.Next(depth > 0 ? 12 : 10) switch
    {
        0 => null,
        1 => random.Next(-3, 3),
        2 => random.Next(2) == 0 ? random.NextInt64() : Longs[random.Next(Longs.Length)],
        3 => Doubles[random.Next(Doubles.Length)],
        4 => Text(random),
        5 => random.Next(2) == 0,
        6 => new DateTime(
            random.NextInt64(DateTime.UnixEpoch.Ticks - 1_000_000_000_000, DateTime.UnixEpoch.Ticks + 1_000_000_000_000), DateTimeKind.Utc),
        7 => new ObjectId((uint)random.Next(3), (ulong)random.Next(3)),
        8 => Bytes(random),
        9 => random.Next(-3, 3) + (random.Next(2) * 0.5),
        10 => BsonDocument.Of([.. Enumerable.Range(0, random.Next(3))
            .Select(_ => (random.Next(2) == 0 ? "a" : "ab", Value(random, depth - 1)))]),
        _ => Enumerable.Range(0, random.Next(3)).Select(_ => Value(random, depth - 1)).ToArray(),
    };

    private static byte[] Bytes(Random random)
    {
        byte[] bytes = new byte[random.Next(4)];
        random.NextBytes(bytes);
        return bytes;
    }

    private static string Text(Random random) =>
        new([.. Enumerable.Range(0, random.Next(4)).Select(_ => "\0\u0001aé\uffff"[random.Next(5)])]);
}
