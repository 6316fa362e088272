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
    [InlineData(5)]
    [InlineData(6)]
    public void Keys_of_two_fields_with_decimals_compare_as_the_values_do_in_either_direction(int seed)
    {
        var random = new Random(seed);
        (BsonType Type, byte[] Value)[] pool = [.. Enumerable.Range(0, 60).Select(_ => NumberNear(random))];
        (int First, int Second)[] pairs = [.. Enumerable.Range(0, 100).Select(_ => (random.Next(pool.Length), random.Next(pool.Length)))];
        foreach (bool isFirstDown in (bool[])[false, true])
        {
            foreach (bool isSecondDown in (bool[])[false, true])
            {
                byte[][] keys = [.. pairs.Select(pair => Key(pool[pair.First], isFirstDown, pool[pair.Second], isSecondDown))];
                for (int i = 0; i < pairs.Length; i++)
                {
                    for (int k = 0; k < pairs.Length; k++)
                    {
                        int first = Compare(pool[pairs[i].First], pool[pairs[k].First]) * (isFirstDown ? -1 : 1);
                        int second = Compare(pool[pairs[i].Second], pool[pairs[k].Second]) * (isSecondDown ? -1 : 1);
                        int actual = Math.Sign(keys[i].AsSpan().SequenceCompareTo(keys[k]));
                        Assert.True((first != 0 ? first : second) == actual, $"seed {seed}: {Text(pool[pairs[i].First])}, "
                            + $"{Text(pool[pairs[i].Second])} and {Text(pool[pairs[k].First])}, {Text(pool[pairs[k].Second])}: {actual}");
                    }
                }
            }
        }
    }

    [Theory]
    [InlineData("1", false, "0ABFF0000000000000")]
    [InlineData("1", true, "F5400FFFFFFFFFFFFF")]
    [InlineData("-1.5", false, "0A4007FFFFFFFFFFFF")]
    [InlineData("{'$numberLong': '9007199254740993'}", false, "0AC3400000000000008001")]
    [InlineData("'ab'", true, "F09E9DFFFF")]
    [InlineData("[1, null]", false, "190ABFF00000000000000500")]
    [InlineData("null", true, "FA")]
    public void Keys_are_those_that_stores_of_earlier_versions_hold(string value, bool isDescending, string expected)
    {
        BsonValue made = ExtendedJson.Parse($"{{'v': {value}}}".Replace('\'', '"')).Find("v")!.Value;
        var key = new KeyBuffer();
        KeyEncoder.Write(key, made.Type, made.Bytes.Span, isDescending);
        Assert.Equal(expected, Convert.ToHexString(key.Written));
    }

    [Fact]
    public void Decimals_compare_exactly_with_numbers_of_other_types()
    {
        // Each is less than the next; what stands in one line is equal.
        string[][] ascending =
        [
            ["{'$numberDecimal': 'NaN'}", "{'$numberDouble': 'NaN'}"],
            ["{'$numberDecimal': '-Infinity'}", "{'$numberDouble': '-Infinity'}"],
            ["{'$numberDecimal': '-1E+400'}"], ["{'$numberDouble': '-1e300'}"],
            ["{'$numberDecimal': '-9223372036854775808.5'}"],
            ["{'$numberDecimal': '-9223372036854775808'}", "{'$numberLong': '-9223372036854775808'}"],
            ["{'$numberDecimal': '-9223372036854775807.5'}"], ["{'$numberLong': '-9223372036854775807'}"],
            ["{'$numberDecimal': '-0.5'}", "-0.5"], ["{'$numberDecimal': '-1E-400'}"],
            ["{'$numberDecimal': '-0E+3'}", "0", "{'$numberDouble': '-0.0'}"],
            ["{'$numberDecimal': '1E-6176'}"], ["{'$numberDecimal': '1E-400'}"], ["{'$numberDouble': '5e-324'}"],
            ["{'$numberDecimal': '0.1'}"], ["0.1"], ["{'$numberDecimal': '0.1000000000000000055511151231257828'}"],
            ["{'$numberDecimal': '1.0'}", "{'$numberDecimal': '1'}", "1", "1.0", "{'$numberLong': '1'}"],
            ["{'$numberLong': '9007199254740992'}", "{'$numberDecimal': '9007199254740992.00'}"],
            ["{'$numberDecimal': '9007199254740992.5'}"],
            ["{'$numberLong': '9007199254740993'}", "{'$numberDecimal': '9007199254740993'}"],
            ["{'$numberLong': '9223372036854775807'}"], ["{'$numberDecimal': '9223372036854775807.5'}"],
            ["{'$numberDouble': '9223372036854775808'}", "{'$numberDecimal': '9223372036854775808'}"],
            ["{'$numberDecimal': '9223372036854775809'}"], ["{'$numberDouble': '1e300'}"], ["{'$numberDecimal': '1E+400'}"],
            ["{'$numberDouble': 'Infinity'}", "{'$numberDecimal': 'Infinity'}"],
        ];
        (int Place, BsonValue Value)[] numbers = [.. ascending.SelectMany((line, place) => line.Select(text =>
            (place, ExtendedJson.Parse($"{{'v': {text}}}".Replace('\'', '"')).Find("v")!.Value)))];
        foreach ((int leftPlace, BsonValue left) in numbers)
        {
            foreach ((int rightPlace, BsonValue right) in numbers)
            {
                int order = BsonOrder.Compare(left.Type, left.Bytes.Span, right.Type, right.Bytes.Span);
                Assert.True(Math.Sign(leftPlace.CompareTo(rightPlace)) == Math.Sign(order), $"{left} and {right}: {order}");
            }
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

    private static byte[] Key(
        (BsonType Type, byte[] Value) first, bool isFirstDown, (BsonType Type, byte[] Value) second, bool isSecondDown)
    {
        var key = new KeyBuffer();
        KeyEncoder.Write(key, first.Type, first.Value, isFirstDown);
        KeyEncoder.Write(key, second.Type, second.Value, isSecondDown);
        // As in an index that is not unique: the record's number follows.
        key.AddUInt64(1);
        return key.Written.ToArray();
    }

    private static int Compare((BsonType Type, byte[] Value) left, (BsonType Type, byte[] Value) right) =>
        Math.Sign(BsonOrder.Compare(left.Type, left.Value, right.Type, right.Value));

    private static string Text((BsonType Type, byte[] Value) value) => $"{value.Type} {new BsonValue(value.Type, value.Value)}";

    /// <summary>Numbers of all types close to each other, some of them in arrays, and a few other values.</summary>
    private static (BsonType Type, byte[] Value) NumberNear(Random random)
    {
        long whole = random.Next(5) switch
        {
            0 => 0,
            1 => 1L << 53,
            2 => -(1L << 53),
            3 => long.MaxValue - 3,
            _ => random.Next(-2, 3),
        } + random.Next(-1, 3);
        object? value = random.Next(8) switch
        {
            0 => whole,
            1 => (double)whole,
            2 => null,
            3 => "text",
            var kind => Decimal(whole + (string)(random.Next(4) switch { 0 => "", 1 => ".0", 2 => ".1", _ => ".5000001" })) is var number
                && kind == 4 ? new object[] { number, whole } : number,
        };
        BsonValue made = BsonDocument.Of(("v", value)).Find("v")!.Value;
        return (made.Type, made.Bytes.ToArray());
    }

    private static BsonValue Decimal(string text) =>
        ExtendedJson.Parse($"{{\"v\": {{\"$numberDecimal\": \"{text}\"}}}}").Find("v")!.Value;

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
