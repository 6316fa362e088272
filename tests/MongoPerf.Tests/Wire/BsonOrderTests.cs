using System.Numerics;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Wire;

/// <summary>Source: MongoDB's manual, "Comparison/Sort Order"; end-to-end tests hold the same order against a mongod's sort.</summary>
public sealed class BsonOrderTests
{
    // Every double and every decimal128 is a whole number of these: 2^-1074 and 10^-6176.
    private const int DoubleBits = 1074;
    private static readonly BigInteger OfDecimals = BigInteger.Pow(10, -Decimal128.MinimumExponent);

    [Fact]
    public void Kinds_come_one_after_the_other_and_values_within_them()
    {
        const string Ordered = """
            {"a": {"$minKey": 1}, "b": null, "c": {"$numberDecimal": "-1E+30"}, "d": -2.5, "e": 1, "f": {"$numberDecimal": "1.2"},
             "g": {"$numberDecimal": "1.9"}, "h": {"$numberLong": "2"}, "i": {"$numberLong": "9007199254740993"},
             "j": {"$numberDecimal": "9007199254740994"}, "k": "", "l": "A", "m": "a", "n": {"$symbol": "b"}, "o": {},
             "p": {"x": 2}, "q": {"y": 1}, "r": {"y": 2}, "s": {"a": ""}, "t": [], "u": [1], "v": [1, 1], "w": [2],
             "x": {"$binary": {"base64": "", "subType": "05"}}, "y": {"$binary": {"base64": "/w==", "subType": "00"}},
             "z": {"$binary": {"base64": "AA==", "subType": "05"}}, "aa": {"$binary": {"base64": "AAA=", "subType": "00"}},
             "ab": {"$oid": "000000000000000000000001"}, "ac": {"$oid": "010000000000000000000000"}, "ad": false, "ae": true,
             "af": {"$date": {"$numberLong": "-5"}}, "ag": {"$date": {"$numberLong": "5"}}, "ah": {"$date": {"$numberLong": "256"}},
             "ai": {"$timestamp": {"t": 1, "i": 1}}, "aj": {"$timestamp": {"t": 1, "i": 256}}, "ak": {"$timestamp": {"t": 2, "i": 0}},
             "al": {"$timestamp": {"t": 256, "i": 0}}, "am": {"$timestamp": {"t": 4294967295, "i": 4294967295}},
             "an": {"$regularExpression": {"pattern": "a", "options": ""}}, "ao": {"$regularExpression": {"pattern": "a", "options": "i"}},
             "ap": {"$regularExpression": {"pattern": "ab", "options": ""}}, "aq": {"$code": ""}, "ar": {"$code": "a"},
             "as": {"$code": "b"},
             "at": {"$code": "a", "$scope": {"x": 1}}, "au": {"$code": "a", "$scope": {"x": 2}}, "av": {"$maxKey": 1}}
            """;
        BsonValue[] values = [.. ExtendedJson.Parse(Ordered).Select(one => one.Value)];
        for (int i = 0; i < values.Length; i++)
        {
            for (int j = 0; j < values.Length; j++)
                Assert.Equal((i, j, i.CompareTo(j)), (i, j, Math.Sign(BsonOrder.Values.Compare(values[i], values[j]))));
        }
    }

    [Fact]
    public void Long_binaries_come_after_short_ones()
    {
        // As little-endian bytes, 256 would come before 2.
        BsonValue[] values = [.. ((int[])[1, 2, 255, 256, 257, 65_536]).Select(length => Value(new byte[length]))];
        Assert.Equal(values, values.Reverse().Order(BsonOrder.Values));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Numbers_of_all_types_compare_as_the_exact_numbers_do(int seed)
    {
        var random = new Random(seed);
        (BsonValue Value, BigInteger Exact)[] numbers = [.. Enumerable.Range(0, 250).Select(_ => Number(random)).Select(value =>
            (value, Exact(value)))];
        foreach ((BsonValue left, BigInteger exactLeft) in numbers)
        {
            foreach ((BsonValue right, BigInteger exactRight) in numbers)
            {
                int expected = exactLeft.CompareTo(exactRight);
                int found = Math.Sign(BsonOrder.Values.Compare(left, right));
                Assert.True(expected == found, $"seed {seed}: {left.Type} {left} and {right.Type} {right}: {found}, exactly {expected}");
            }
        }
    }

    [Fact]
    public void A_type_that_BSON_does_not_have_is_refused()
    {
        const BsonType Unknown = (BsonType)0x42;
        Assert.Throws<BsonFormatException>(() => BsonOrder.Compare(Unknown, [], BsonType.Null, []));
        Assert.Throws<BsonFormatException>(() => BsonOrder.Compare(BsonType.Null, [], Unknown, []));
    }

    [Fact]
    public void Comparing_allocates_nothing()
    {
        BsonValue[] values = [.. ((object?[])[1, 2L, 2.5, "a", "b", null, true, BsonDocument.Of(("a", 1)), new[] { 1, 2 }, new byte[9]])
            .Select(Value)];
        Assert.Equal(0, Allocation.LeastBytes(() =>
        {
            foreach (BsonValue left in values)
            {
                foreach (BsonValue right in values)
                    BsonOrder.Compare(left.Type, left.Bytes.Span, right.Type, right.Bytes.Span);
            }
        }));
    }

    private static BsonValue Value(object? value) => BsonDocument.Of(("v", value)).Find("v")!.Value;

    /// <summary>Numbers of all types, most of them next to where a type loses exactness.</summary>
    private static BsonValue Number(Random random)
    {
        long near = random.Next(8) switch
        {
            0 => 0,
            1 => int.MaxValue,
            2 => 1L << 53,
            3 => -(1L << 53),
            4 => (1L << 62) + 1024,
            5 => long.MaxValue - 3,
            6 => long.MinValue + 3,
            _ => random.NextInt64(long.MinValue + 3, long.MaxValue - 3),
        } + random.Next(-3, 4);
        return random.Next(6) switch
        {
            0 => Value((int)near),
            1 => Value(near),
            2 => Value((double)near),
            3 => Value(Math.BitIncrement((double)near)),
            4 => Value(near / 8.0),
            _ => DecimalOf(near + random.Next(6) switch { 0 => "", 1 => ".0", 2 => ".5", 3 => ".00000000001", 4 => "E-3", _ => "E+3" }),
        };
    }

    private static BsonValue DecimalOf(string text)
    {
        Assert.True(Decimal128.TryParse(text, out Decimal128 value), text);
        byte[] bytes = new byte[Decimal128.Size];
        value.CopyTo(bytes);
        return new BsonValue(BsonType.Decimal128, bytes);
    }

    private static BigInteger Exact(BsonValue value) => value.Type switch
    {
        BsonType.Double => OfDouble(value.ToDouble()) * OfDecimals,
        BsonType.Decimal128 => value.ToDecimal128() is var number
            ? ((number.IsNegative ? -(BigInteger)number.Coefficient : number.Coefficient)
                * BigInteger.Pow(10, number.Exponent - Decimal128.MinimumExponent)) << DoubleBits : default,
        _ => ((BigInteger)value.ToInt64() * OfDecimals) << DoubleBits,
    };

    private static BigInteger OfDouble(double value)
    {
        long bits = BitConverter.DoubleToInt64Bits(value);
        int exponent = (int)((bits >> 52) & 0x7FF);
        BigInteger mantissa = (bits & 0xFFFFFFFFFFFFF) | (exponent == 0 ? 0 : 1L << 52);
        return (value < 0 ? -mantissa : mantissa) << (Math.Max(exponent, 1) - 1075 + DoubleBits);
    }
}
