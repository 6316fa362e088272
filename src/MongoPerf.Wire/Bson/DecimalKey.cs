using System.Numerics;

namespace MongoPerf.Wire.Bson;

/// <summary>A decimal128 among the numbers of the other types: the one that stands before it, and how far it is from there.</summary>
/// <param name="Before">The nearest number of another type that comes before it in the order, or that is equal.</param>
/// <param name="Rest">0 for one that is equal; else grows with the order among the decimals behind <paramref name="Before"/>.</param>
public readonly record struct DecimalKey(NumberKey Before, UInt128 Rest)
{
    private const double BeyondInt64 = 9223372036854775808.0;
    private const int CoefficientBits = 113;

    /// <summary>The key of a number of any type, upwards.</summary>
    public static DecimalKey Of(BsonType type, ReadOnlySpan<byte> value) => type == BsonType.Decimal128
        ? Of(Decimal128.FromBytes(value), isDescending: false)
        : new DecimalKey(NumberKey.Of(type, value), 0);

    /// <param name="value">Any; NaN is below all numbers, and equal to a double's.</param>
    /// <param name="isDescending">The numbers before it are those above it.</param>
    public static DecimalKey Of(Decimal128 value, bool isDescending)
    {
        if (!value.IsFinite || value.IsZero)
            return new DecimalKey(NumberKey.OfDouble(value.ToDouble()), 0);
        double nearest = value.ToDouble();
        if (Math.Abs(nearest) is >= NumberKey.ExactIntegers and <= BeyondInt64 && TryInteger(value, isDescending, out DecimalKey key))
            return key;
        int order = Compare(nearest, value);
        if (order == 0)
            return new DecimalKey(NumberKey.OfDouble(nearest), 0);
        double before = !isDescending && order > 0 ? Math.BitDecrement(nearest)
            : isDescending && order < 0 ? Math.BitIncrement(nearest) : nearest;
        return new DecimalKey(NumberKey.OfDouble(before), RestOf(value, isDescending));
    }

    public int CompareTo(DecimalKey other)
    {
        int byNumber = Before.CompareTo(other.Before);
        return byNumber != 0 ? byNumber : Rest.CompareTo(other.Rest);
    }

    /// <summary>From 2^53 on every int64 has a key of its own.</summary>
    private static bool TryInteger(Decimal128 value, bool isDescending, out DecimalKey key)
    {
        key = default;
        BigInteger power = BigInteger.Pow(10, Math.Abs(value.Exponent));
        BigInteger signed = value.IsNegative ? -(BigInteger)value.Coefficient : value.Coefficient;
        BigInteger whole = value.Exponent >= 0 ? signed * power : BigInteger.DivRem(signed, power, out BigInteger fraction) switch
        {
            // Towards what comes before: division cuts towards zero.
            var cut when fraction.Sign < 0 && !isDescending => cut - 1,
            var cut when fraction.Sign > 0 && isDescending => cut + 1,
            var cut => cut,
        };
        if (whole < long.MinValue || whole > long.MaxValue)
            return false;
        bool isWhole = value.Exponent >= 0 || whole * power == signed;
        key = new DecimalKey(NumberKey.OfInt64((long)whole), isWhole ? 0 : RestOf(value, isDescending));
        return true;
    }

    /// <summary>Exponent and coefficient of the number written with 34 digits; those of one sign grow with it.</summary>
    private static UInt128 RestOf(Decimal128 value, bool isDescending)
    {
        UInt128 coefficient = value.Coefficient;
        // An exponent may become less than any that decimal128 has: these are below zero.
        int exponent = value.Exponent - Decimal128.MinimumExponent + Decimal128.MaximumDigits;
        while (coefficient < FullCoefficient)
        {
            coefficient *= 10;
            exponent--;
        }

        UInt128 size = ((UInt128)exponent << CoefficientBits) | coefficient;
        return value.IsNegative == isDescending ? size : ~size;
    }

    private static UInt128 FullCoefficient { get; } = (UInt128)BigInteger.Pow(10, Decimal128.MaximumDigits - 1);

    /// <summary>Compares a double, which may be infinite, with a decimal exactly.</summary>
    private static int Compare(double left, Decimal128 right)
    {
        if (double.IsInfinity(left))
            return Math.Sign(left);
        long bits = BitConverter.DoubleToInt64Bits(left);
        int exponent = (int)((bits >> 52) & 0x7FF);
        BigInteger mantissa = (bits & 0xFFFFFFFFFFFFF) | (exponent == 0 ? 0 : 1L << 52);
        int power = Math.Max(exponent, 1) - 1075;
        BigInteger first = left < 0 ? -mantissa : mantissa;
        BigInteger second = right.IsNegative ? -(BigInteger)right.Coefficient : right.Coefficient;
        if (right.Exponent >= 0)
            second *= BigInteger.Pow(10, right.Exponent);
        else
            first *= BigInteger.Pow(10, -right.Exponent);
        if (power >= 0)
            first <<= power;
        else
            second <<= -power;
        return first.CompareTo(second);
    }
}
