using System.Numerics;

namespace MongoPerf.Wire.Bson;

/// <summary>
/// Arithmetic of decimal128 by IEEE 754-2008: 34 digits, half to even, each result with the exponent that the standard prefers.
/// </summary>
public static class DecimalArithmetic
{
    private const int DigitsOfDouble = 15;

    // Beyond so many digits between two numbers only the sign of the lesser one counts.
    private const int FarDigits = 80;

    /// <summary>A number of any type; a double with 15 digits, as $inc, $mul and $multiply take it.</summary>
    public static Decimal128 Of(BsonValue number) => number.Type switch
    {
        BsonType.Decimal128 => number.ToDecimal128(),
        BsonType.Double => OfRoundedDouble(number.ToDouble()),
        _ => OfInteger(number.ToInt64()),
    };

    /// <summary>A double with 15 digits, as <see cref="Of"/> has it.</summary>
    public static Decimal128 OfRoundedDouble(double number) => OfDouble(number, DigitsOfDouble);

    /// <summary>A double with 34 digits, as sums take it.</summary>
    public static Decimal128 OfDouble(double number) => OfDouble(number, digits: null);

    public static Decimal128 OfInteger(Int128 number) => Round(number < 0, BigInteger.Abs(number), 0);

    public static Decimal128 Absolute(Decimal128 value) =>
        !value.IsFinite ? (value.IsNaN ? value : Decimal128.Infinity(false)) : Decimal128.Of(false, value.Coefficient, value.Exponent);

    public static Decimal128 Add(Decimal128 left, Decimal128 right)
    {
        if (left.IsNaN || right.IsNaN || (left.IsInfinity && right.IsInfinity && left.IsNegative != right.IsNegative))
            return Decimal128.NaN;
        if (left.IsInfinity || right.IsInfinity)
            return left.IsInfinity ? left : right;
        int exponent = Math.Min(left.Exponent, right.Exponent);
        if (!left.IsZero && !right.IsZero && Math.Abs(left.Exponent - right.Exponent) > FarDigits)
        {
            // One unit far behind the last digit rounds like any number that is so small.
            exponent = Math.Max(left.Exponent, right.Exponent) - FarDigits + Decimal128.MaximumDigits;
            (left, right) = left.Exponent > right.Exponent
                ? (left, Decimal128.Of(right.IsNegative, 1, exponent)) : (right, Decimal128.Of(left.IsNegative, 1, exponent));
        }

        BigInteger sum = Signed(left, exponent) + Signed(right, exponent);
        bool isNegative = sum.IsZero ? left.IsNegative && right.IsNegative : sum.Sign < 0;
        return Round(isNegative, BigInteger.Abs(sum), exponent);
    }

    public static Decimal128 Subtract(Decimal128 left, Decimal128 right) => Add(left, Negate(right));

    public static Decimal128 Multiply(Decimal128 left, Decimal128 right)
    {
        bool isNegative = left.IsNegative != right.IsNegative;
        if (left.IsNaN || right.IsNaN || (left.IsInfinity && right.IsZero) || (left.IsZero && right.IsInfinity))
            return Decimal128.NaN;
        return left.IsInfinity || right.IsInfinity
            ? Decimal128.Infinity(isNegative)
            : Round(isNegative, (BigInteger)left.Coefficient * right.Coefficient, left.Exponent + right.Exponent);
    }

    /// <summary>Divides; the divisor is not zero.</summary>
    public static Decimal128 Divide(Decimal128 left, Decimal128 right)
    {
        bool isNegative = left.IsNegative != right.IsNegative;
        if (left.IsNaN || right.IsNaN || (left.IsInfinity && right.IsInfinity))
            return Decimal128.NaN;
        if (left.IsInfinity)
            return Decimal128.Infinity(isNegative);
        if (right.IsInfinity)
            return Decimal128.Of(isNegative, 0, Decimal128.MinimumExponent);
        int preferred = left.Exponent - right.Exponent;
        if (left.IsZero)
            return Round(isNegative, 0, preferred);
        const int MoreDigits = (2 * Decimal128.MaximumDigits) + 2;
        BigInteger quotient = BigInteger.DivRem(
            left.Coefficient * BigInteger.Pow(10, MoreDigits), right.Coefficient, out BigInteger rest);
        int exponent = preferred - MoreDigits;
        if (!rest.IsZero)
            return Round(isNegative, (quotient * 10) + 1, exponent - 1);
        while (exponent < preferred && BigInteger.DivRem(quotient, 10, out BigInteger digit) is var shorter && digit.IsZero)
            (quotient, exponent) = (shorter, exponent + 1);
        return Round(isNegative, quotient, exponent);
    }

    /// <summary>What is left of the first number, with its sign; the second is not zero.</summary>
    public static Decimal128 Remainder(Decimal128 left, Decimal128 right)
    {
        if (!left.IsFinite || right.IsNaN)
            return Decimal128.NaN;
        if (right.IsInfinity)
            return left;
        int exponent = Math.Min(left.Exponent, right.Exponent);
        // A divisor above 34 digits more leaves the first number as it is.
        if (right.Exponent - exponent > Decimal128.MaximumDigits)
            return left;
        BigInteger divisor = right.Coefficient * BigInteger.Pow(10, right.Exponent - exponent);
        BigInteger rest = left.Coefficient % divisor * BigInteger.ModPow(10, left.Exponent - exponent, divisor) % divisor;
        return Round(left.IsNegative, rest, exponent);
    }

    /// <summary>The whole number above or below; NaN, as on mongod, where it has more than 34 digits.</summary>
    public static Decimal128 Whole(Decimal128 value, bool isUp)
    {
        if (!value.IsFinite)
            return Decimal128.NaN;
        if (value.Exponent >= 0)
            return value.IsZero || Digits(value.Coefficient) + value.Exponent <= Decimal128.MaximumDigits
                ? Round(value.IsNegative, value.Coefficient * BigInteger.Pow(10, value.IsZero ? 0 : value.Exponent), 0) : Decimal128.NaN;
        BigInteger whole = BigInteger.DivRem(value.Coefficient, BigInteger.Pow(10, -value.Exponent), out BigInteger fraction);
        return Round(value.IsNegative, fraction.IsZero || isUp == value.IsNegative ? whole : whole + 1, 0);
    }

    /// <summary>The nearest whole number, half to even.</summary>
    public static Decimal128 Nearest(Decimal128 value) => value.IsFinite && value.Exponent < 0
        ? Round(value.IsNegative, HalfToEven(value.Coefficient, -value.Exponent), 0)
        : value;

    private static Decimal128 Negate(Decimal128 value) => value.IsNaN ? value
        : value.IsInfinity ? Decimal128.Infinity(!value.IsNegative) : Decimal128.Of(!value.IsNegative, value.Coefficient, value.Exponent);

    private static BigInteger Signed(Decimal128 value, int exponent)
    {
        if (value.IsZero)
            return 0;
        BigInteger scaled = value.Coefficient * BigInteger.Pow(10, value.Exponent - exponent);
        return value.IsNegative ? -scaled : scaled;
    }

    /// <param name="number">Any.</param>
    /// <param name="digits">How many the result has; null: as few of 34 as hold the number, and zeros before the point.</param>
    private static Decimal128 OfDouble(double number, int? digits)
    {
        bool isNegative = double.IsNegative(number);
        if (!double.IsFinite(number))
            return double.IsNaN(number) ? Decimal128.NaN : Decimal128.Infinity(isNegative);
        if (number == 0)
            return Decimal128.Of(isNegative, 0, 0);
        long bits = BitConverter.DoubleToInt64Bits(number);
        int power = (int)((bits >> 52) & 0x7FF);
        BigInteger mantissa = (bits & 0xFFFFFFFFFFFFF) | (power == 0 ? 0 : 1L << 52);
        power = Math.Max(power, 1) - 1075;
        // m / 2^k is m * 5^k / 10^k.
        (BigInteger coefficient, int exponent) = power >= 0
            ? (mantissa << power, 0)
            : (mantissa * BigInteger.Pow(5, -power), power);
        while (exponent < 0 && BigInteger.DivRem(coefficient, 10, out BigInteger digit) is var shorter && digit.IsZero)
            (coefficient, exponent) = (shorter, exponent + 1);
        if (digits is not { } wanted)
            return Round(isNegative, coefficient, exponent);
        Decimal128 rounded = Round(isNegative, coefficient, exponent);
        coefficient = rounded.Coefficient;
        exponent = rounded.Exponent;
        int surplus = Digits(coefficient) - wanted;
        coefficient = surplus > 0 ? HalfToEven(coefficient, surplus) : coefficient * BigInteger.Pow(10, -surplus);
        exponent += surplus;
        return Digits(coefficient) > wanted
            ? Round(isNegative, coefficient / 10, exponent + 1)
            : Round(isNegative, coefficient, exponent);
    }

    /// <summary>The nearest decimal of 34 digits; infinite beyond the largest, zero below the least.</summary>
    private static Decimal128 Round(bool isNegative, BigInteger coefficient, int exponent)
    {
        if (coefficient.IsZero)
            return Decimal128.Of(isNegative, 0, Math.Clamp(exponent, Decimal128.MinimumExponent, Decimal128.MaximumExponent));
        int dropped = Math.Max(Digits(coefficient) - Decimal128.MaximumDigits, Decimal128.MinimumExponent - exponent);
        if (dropped > 0)
        {
            coefficient = HalfToEven(coefficient, dropped);
            exponent += dropped;
            if (Digits(coefficient) > Decimal128.MaximumDigits)
                (coefficient, exponent) = (coefficient / 10, exponent + 1);
        }

        if (exponent > Decimal128.MaximumExponent && !coefficient.IsZero)
        {
            int padding = exponent - Decimal128.MaximumExponent;
            if (Digits(coefficient) + padding > Decimal128.MaximumDigits)
                return Decimal128.Infinity(isNegative);
            coefficient *= BigInteger.Pow(10, padding);
            exponent = Decimal128.MaximumExponent;
        }

        return Decimal128.Of(isNegative, (UInt128)coefficient, exponent);
    }

    private static BigInteger HalfToEven(BigInteger coefficient, int dropped)
    {
        if (dropped > Digits(coefficient))
            return 0;
        BigInteger unit = BigInteger.Pow(10, dropped);
        BigInteger kept = BigInteger.DivRem(coefficient, unit, out BigInteger rest);
        int half = (2 * rest).CompareTo(unit);
        return half > 0 || (half == 0 && !kept.IsEven) ? kept + 1 : kept;
    }

    /// <summary>The decimal digits of a number that is not negative.</summary>
    private static int Digits(BigInteger number)
    {
        if (number.IsZero)
            return 1;
        int digits = (int)Math.Floor((number.GetBitLength() - 1) * 0.30102999566398120) + 1;
        return number >= BigInteger.Pow(10, digits) ? digits + 1 : digits;
    }
}
