using System.Globalization;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Wire;

/// <summary>
/// Arithmetic of decimal128 beside another implementation of IEEE 754: the tables were made by Python's decimal (34 digits, exponents -6143
/// to 6144, half to even).
/// </summary>
public sealed class DecimalArithmeticTests
{
    private const string Results = """
        1 + 2 = 3
        -1 + 2 = 1
        1 + -2 = -1
        -1.5 + -2.25 = -3.75
        0.1 + 0.2 = 0.3
        9999999999999999999999999999999999 + 1 = 1.000000000000000000000000000000000E+34
        9999999999999999999999999999999999 + -0.4 = 9999999999999999999999999999999999
        1E+100 + 1 = 1.000000000000000000000000000000000E+100
        1 + -1E-100 = 1.000000000000000000000000000000000
        -1 + 1E-100 = -1.000000000000000000000000000000000
        -1E-200 + 7E+300 = 7.000000000000000000000000000000000E+300
        0 + 1E-100 = 1E-100
        1E+100 + 0 = 1.000000000000000000000000000000000E+100
        5E-6176 + -5E-6176 = 0E-6176
        -3E+6111 + 1 = -3.000000000000000000000000000000000E+6111
        Infinity + 1 = Infinity
        1 + -Infinity = -Infinity
        Infinity + Infinity = Infinity
        -Infinity + Infinity = NaN
        NaN + 1 = NaN
        1 + NaN = NaN
        1234567890123456789012345678901234 + 0.5 = 1234567890123456789012345678901234
        1234567890123456789012345678901235 + 0.5 = 1234567890123456789012345678901236
        -0 + 0 = 0
        0 + -0 = 0
        1 - 2 = -1
        0.3 - 0.1 = 0.2
        -0 - -0 = 0
        Infinity - Infinity = NaN
        Infinity - -Infinity = Infinity
        NaN - NaN = NaN
        1 - Infinity = -Infinity
        2 - 1E-50 = 2.000000000000000000000000000000000
        3 * 4 = 12
        -3 * 4 = -12
        -0.5 * -0.20 = 0.100
        9999999999999999999999999999999999 * 9999999999999999999999999999999999 = 9.999999999999999999999999999999998E+67
        1.000000000000000000000000000000000E+6144 * 10 = Infinity
        1E+6111 * 1E+33 = 1.000000000000000000000000000000000E+6144
        1E+6111 * 1E+32 = 1.00000000000000000000000000000000E+6143
        2.0E+6112 * 3E+10 = 6.00000000000E+6122
        0E+6000 * 0E+6000 = 0E+6111
        1E-6176 * 0.1 = 0E-6176
        1E-6176 * 0.5 = 0E-6176
        1E-6176 * 0.6 = 1E-6176
        3E-6176 * 0.5 = 2E-6176
        Infinity * 0 = NaN
        0 * -Infinity = NaN
        Infinity * -2 = -Infinity
        -Infinity * -Infinity = Infinity
        NaN * 0 = NaN
        0 * NaN = NaN
        NaN * Infinity = NaN
        -0 * 5 = -0
        1 / 3 = 0.3333333333333333333333333333333333
        -2 / 3 = -0.6666666666666666666666666666666667
        1 / -8 = -0.125
        100 / 4 = 25
        1E+10 / 2E+3 = 5E+6
        Infinity / Infinity = NaN
        Infinity / -3 = -Infinity
        3 / -Infinity = -0E-6176
        NaN / 1 = NaN
        1 / NaN = NaN
        0 / -3 = -0
        1.000000000000000000000000000000000E+6144 / 1E-10 = Infinity
        1E-6176 / 4 = 0E-6176
        7 / 1.000000000000000000000000000000000E+6144 = 7E-6144
        7 % 3 = 1
        -7 % 3 = -1
        7 % -3 = 1
        7.5 % 2 = 1.5
        1E+40 % 7 = 4
        1E-40 % 7 = 1E-40
        7 % 1E+40 = 7
        3 % Infinity = 3
        -3 % -Infinity = -3
        Infinity % 3 = NaN
        NaN % 3 = NaN
        3 % NaN = NaN
        0.30 % 0.1 = 0.00
        123456789 % 0.0007 = 0.0004
        """;

    /// <summary>A number, the whole numbers above and below (NaN beyond 34 digits, as on mongod), the nearest.</summary>
    private const string Wholes = """
        1.5 | 2 | 1 | 2
        -1.5 | -1 | -2 | -2
        2.5 | 3 | 2 | 2
        -2.5 | -2 | -3 | -2
        0.5 | 1 | 0 | 0
        -0.5 | -0 | -1 | -0
        3 | 3 | 3 | 3
        -3 | -3 | -3 | -3
        3.0 | 3 | 3 | 3
        1E+3 | 1000 | 1000 | 1E+3
        -1E+3 | -1000 | -1000 | -1E+3
        9E+33 | 9000000000000000000000000000000000 | 9000000000000000000000000000000000 | 9E+33
        1E+34 | NaN | NaN | 1E+34
        0E+5 | 0 | 0 | 0E+5
        0.00000 | 0 | 0 | 0
        Infinity | NaN | NaN | Infinity
        NaN | NaN | NaN | NaN
        1E-6176 | 1 | 0 | 0
        -1E-6176 | -0 | -1 | -0
        12345678901234567890.5 | 12345678901234567891 | 12345678901234567890 | 12345678901234567890
        0.49 | 1 | 0 | 0
        0.51 | 1 | 0 | 1
        3.5 | 4 | 3 | 4
        -3.5 | -3 | -4 | -4
        1E+33 | 1000000000000000000000000000000000 | 1000000000000000000000000000000000 | 1E+33
        1.2E+33 | 1200000000000000000000000000000000 | 1200000000000000000000000000000000 | 1.2E+33
        1.2E+34 | NaN | NaN | 1.2E+34
        """;

    /// <summary>A double, all its digits up to 34, and 15 of them.</summary>
    private const string Doubles = """
        1.0 | 1 | 1.00000000000000
        -1.0 | -1 | -1.00000000000000
        0.0 | 0 | 0
        0.1 | 0.1000000000000000055511151231257827 | 0.100000000000000
        -0.1 | -0.1000000000000000055511151231257827 | -0.100000000000000
        1.5 | 1.5 | 1.50000000000000
        10.0 | 10 | 10.0000000000000
        1000000000000000.0 | 1000000000000000 | 1.00000000000000E+15
        1.2345678901234568e+17 | 123456789012345680 | 1.23456789012346E+17
        1e+300 | 1.000000000000000052504760255204420E+300 | 1.00000000000000E+300
        -1e+300 | -1.000000000000000052504760255204420E+300 | -1.00000000000000E+300
        5e-324 | 4.940656458412465441765687928682214E-324 | 4.94065645841247E-324
        2.2250738585072014e-308 | 2.225073858507201383090232717332404E-308 | 2.22507385850720E-308
        1.7976931348623157e+308 | 1.797693134862315708145274237317044E+308 | 1.79769313486232E+308
        0.3333333333333333 | 0.3333333333333333148296162562473910 | 0.333333333333333
        0.3 | 0.2999999999999999888977697537484346 | 0.300000000000000
        2.5e-05 | 0.00002500000000000000119804340059648240 | 0.0000250000000000000
        1e+22 | 10000000000000000000000 | 1.00000000000000E+22
        1e+23 | 99999999999999991611392 | 1.00000000000000E+23
        999999999999999.9 | 999999999999999.875 | 1.00000000000000E+15
        9999999999999996.0 | 9999999999999996 | 1.00000000000000E+16
        """;

    public static TheoryData<string> ResultRows => [.. Results.Split('\n')];

    public static TheoryData<string> WholeRows => [.. Wholes.Split('\n')];

    public static TheoryData<string> DoubleRows => [.. Doubles.Split('\n')];

    [Theory]
    [MemberData(nameof(ResultRows))]
    public void A_result_is_the_standards(string row)
    {
        string[] parts = row.Split(' ');
        (Decimal128 left, Decimal128 right) = (Decimal(parts[0]), Decimal(parts[2]));
        Assert.Equal(parts[4], (parts[1] switch
        {
            "+" => DecimalArithmetic.Add(left, right),
            "-" => DecimalArithmetic.Subtract(left, right),
            "*" => DecimalArithmetic.Multiply(left, right),
            "/" => DecimalArithmetic.Divide(left, right),
            _ => DecimalArithmetic.Remainder(left, right),
        }).ToString());
        if (parts[1] is "+" or "*")
        {
            Decimal128 turned = parts[1] == "+" ? DecimalArithmetic.Add(right, left) : DecimalArithmetic.Multiply(right, left);
            Assert.Equal(parts[4], turned.ToString());
        }
    }

    [Theory]
    [MemberData(nameof(WholeRows))]
    public void The_whole_number_above_below_and_nearest_is_found(string row)
    {
        string[] parts = row.Split(" | ");
        Decimal128 value = Decimal(parts[0]);
        Assert.Equal(parts[1..], (string[])[
            DecimalArithmetic.Whole(value, isUp: true).ToString(), DecimalArithmetic.Whole(value, isUp: false).ToString(),
            DecimalArithmetic.Nearest(value).ToString(),
        ]);
    }

    [Theory]
    [MemberData(nameof(DoubleRows))]
    public void A_double_has_the_digits_that_are_asked_for(string row)
    {
        string[] parts = row.Split(" | ");
        double number = double.Parse(parts[0], CultureInfo.InvariantCulture);
        Assert.Equal(
            (parts[1], parts[2]),
            (DecimalArithmetic.OfDouble(number).ToString(), DecimalArithmetic.OfRoundedDouble(number).ToString()));
    }

    [Fact]
    public void Doubles_that_are_no_numbers_and_signs_of_zero_are_kept()
    {
        Assert.Equal("-0", DecimalArithmetic.OfDouble(-0.0).ToString());
        Assert.Equal("-0", DecimalArithmetic.OfRoundedDouble(-0.0).ToString());
        Assert.Equal("NaN", DecimalArithmetic.OfDouble(double.NaN).ToString());
        Assert.Equal("-Infinity", DecimalArithmetic.OfRoundedDouble(double.NegativeInfinity).ToString());
        Assert.Equal("1.701411834604692317316873037158841E+38", DecimalArithmetic.OfInteger(Int128.MaxValue).ToString());
        Assert.Equal("-9223372036854775808", DecimalArithmetic.OfInteger(long.MinValue).ToString());
    }

    [Theory]
    [InlineData("1.5", "1.5", 1.5, 1, true)]
    [InlineData("-1.50", "1.50", -1.5, -1, true)]
    [InlineData("-0", "0", -0.0, 0, false)]
    [InlineData("0E+99", "0E+99", 0.0, 0, false)]
    [InlineData("NaN", "NaN", double.NaN, 0, true)]
    [InlineData("-Infinity", "Infinity", double.NegativeInfinity, long.MinValue, true)]
    [InlineData("Infinity", "Infinity", double.PositiveInfinity, long.MaxValue, true)]
    [InlineData("9223372036854775807.9", "9223372036854775807.9", 9223372036854775807.0, long.MaxValue, true)]
    [InlineData("-9223372036854775809", "9223372036854775809", -9223372036854775809.0, long.MinValue, true)]
    [InlineData("1E+34", "1E+34", 1e34, long.MaxValue, true)]
    [InlineData("-1E+35", "1E+35", -1e35, long.MinValue, true)]
    [InlineData("5E+18", "5E+18", 5e18, 5_000_000_000_000_000_000, true)]
    [InlineData("1E-35", "1E-35", 1e-35, 0, true)]
    [InlineData("1234567890123456789012345678901234E-34", "0.1234567890123456789012345678901234", 0.12345678901234568, 0, true)]
    public void A_decimal_is_the_nearest_number_of_other_types(string text, string absolute, double number, long whole, bool isTrue)
    {
        Decimal128 value = Decimal(text);
        byte[] bytes = new byte[Decimal128.Size];
        value.CopyTo(bytes);
        var element = new BsonValue(BsonType.Decimal128, bytes);
        Assert.Equal((number, whole, isTrue), (element.ToDouble(), element.ToInt64(), element.ToBoolean()));
        Assert.Equal(value, DecimalArithmetic.Of(element));
        Assert.Equal(absolute, DecimalArithmetic.Absolute(value).ToString());
    }

    private static Decimal128 Decimal(string text) =>
        Decimal128.TryParse(text, out Decimal128 value) ? value : throw new ArgumentException(text);
}
