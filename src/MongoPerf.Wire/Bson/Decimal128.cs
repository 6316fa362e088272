using System.Globalization;
using System.Numerics;
using System.Text;

namespace MongoPerf.Wire.Bson;

/// <summary>
/// A decimal number of 34 digits (IEEE 754-2008 decimal128, binary integer encoding): its parts and its text. No arithmetic.
/// </summary>
/// <param name="High">Bits 127 to 64: sign, exponent, the coefficient's upper bits.</param>
/// <param name="Low">Bits 63 to 0 of the coefficient.</param>
/// <remarks>Source: specifications/source/bson-decimal128/decimal128.md.</remarks>
public readonly record struct Decimal128(ulong High, ulong Low)
{
    /// <summary>Bytes in a document: Low first, little-endian.</summary>
    public const int Size = 16;

    public const int MaximumDigits = 34;
    public const int MinimumExponent = -6176;
    public const int MaximumExponent = 6111;

    private const int ExponentBias = 6176;
    private const long FarExponent = 10_000_000_000;
    private const ulong SignBit = 1UL << 63;
    private const ulong NaNBits = 0x7CUL << 56;
    private const ulong InfinityBits = 0x78UL << 56;

    private static readonly UInt128 MaximumCoefficient = UInt128.Parse("9999999999999999999999999999999999", CultureInfo.InvariantCulture);

    public static Decimal128 NaN => new(NaNBits, 0);

    public bool IsNaN => Combination == 0x1F;

    public bool IsInfinity => Combination == 0x1E;

    public bool IsFinite => Combination < 0x1E;

    public bool IsNegative => (High & SignBit) != 0;

    /// <summary>0, -0 or a coefficient that is none, whatever the exponent.</summary>
    public bool IsZero => IsFinite && Coefficient == 0;

    /// <summary>The digits of a finite number, as a whole number; 0 for those that are above 34 digits.</summary>
    public UInt128 Coefficient
    {
        get
        {
            UInt128 coefficient = IsOversized ? 0 : new UInt128(High & 0x1_FFFF_FFFF_FFFF, Low);
            return coefficient > MaximumCoefficient ? 0 : coefficient;
        }
    }

    /// <summary>The power of ten that a finite number's coefficient is multiplied by, -6176 to 6111.</summary>
    public int Exponent => (int)((High >> (IsOversized ? 47 : 49)) & 0x3FFF) - ExponentBias;

    // With 11 in front the coefficient would begin with 100 in binary, which is above 34 digits.
    private bool IsOversized => Combination >> 3 == 3;

    private ulong Combination => (High >> 58) & 0x1F;

    /// <summary>The finite number of these parts.</summary>
    /// <param name="isNegative">Its sign; -0 is another value than 0, and equal to it.</param>
    /// <param name="coefficient">At most 34 digits.</param>
    /// <param name="exponent">-6176 to 6111.</param>
    public static Decimal128 Of(bool isNegative, UInt128 coefficient, int exponent) => new(
        (ulong)(coefficient >> 64) | ((ulong)(exponent + ExponentBias) << 49) | (isNegative ? SignBit : 0), (ulong)coefficient);

    public static Decimal128 Infinity(bool isNegative) => new(InfinityBits | (isNegative ? SignBit : 0), 0);

    public static Decimal128 FromBytes(ReadOnlySpan<byte> bytes) => new(
        System.Buffers.Binary.BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]),
        System.Buffers.Binary.BinaryPrimitives.ReadUInt64LittleEndian(bytes));

    public void CopyTo(Span<byte> destination)
    {
        System.Buffers.Binary.BinaryPrimitives.WriteUInt64LittleEndian(destination, Low);
        System.Buffers.Binary.BinaryPrimitives.WriteUInt64LittleEndian(destination[8..], High);
    }

    /// <summary>Reads digits with an optional sign, point and exponent, or NaN, Inf, Infinity in any case.</summary>
    /// <returns>False for other text, and for a number that can't be held exactly.</returns>
    public static bool TryParse(string text, out Decimal128 value)
    {
        value = default;
        bool isNegative = text.StartsWith('-');
        ReadOnlySpan<char> rest = text.AsSpan(isNegative || text.StartsWith('+') ? 1 : 0);
        if (rest.Equals("nan", StringComparison.OrdinalIgnoreCase))
            value = NaN;
        else if (rest.Equals("inf", StringComparison.OrdinalIgnoreCase) || rest.Equals("infinity", StringComparison.OrdinalIgnoreCase))
            value = Infinity(isNegative);
        else
            return TryParseNumber(rest, isNegative, out value);
        return true;
    }

    /// <summary>
    /// The number as the specification's to-string rule says: scientific when the exponent is positive or the number tiny.
    /// </summary>
    public override string ToString()
    {
        if (IsNaN)
            return "NaN";
        string sign = IsNegative ? "-" : "";
        return sign + (IsInfinity ? "Infinity" : Format(Coefficient.ToString(CultureInfo.InvariantCulture), Exponent));
    }

    /// <summary>The nearest double; infinite where none is near.</summary>
    public double ToDouble() => IsNaN ? double.NaN
        : IsInfinity ? (IsNegative ? double.NegativeInfinity : double.PositiveInfinity)
        : double.Parse(ToString(), CultureInfo.InvariantCulture);

    /// <summary>The number without its fraction; the nearest int64 where it is beyond those, and 0 for NaN.</summary>
    public long ToInt64()
    {
        if (IsNaN || IsZero)
            return 0;
        if (IsInfinity || Exponent > MaximumDigits)
            return IsNegative ? long.MinValue : long.MaxValue;
        BigInteger whole = Exponent >= 0 ? Coefficient * BigInteger.Pow(10, Exponent)
            : Exponent < -MaximumDigits ? 0 : Coefficient / BigInteger.Pow(10, -Exponent);
        return (long)BigInteger.Clamp(IsNegative ? -whole : whole, long.MinValue, long.MaxValue);
    }

    private static string Format(string digits, int exponent)
    {
        int adjusted = digits.Length - 1 + exponent;
        if (exponent > 0 || adjusted < -6)
        {
            string fraction = digits.Length > 1 ? "." + digits[1..] : "";
            return $"{digits[0]}{fraction}E{(adjusted < 0 ? "-" : "+")}{Math.Abs(adjusted)}";
        }

        if (exponent == 0)
            return digits;
        int point = digits.Length + exponent;
        return point > 0 ? $"{digits[..point]}.{digits[point..]}" : "0." + new string('0', -point) + digits;
    }

    private static bool TryParseNumber(ReadOnlySpan<char> text, bool isNegative, out Decimal128 value)
    {
        value = default;
        long exponent = 0;
        int e = text.IndexOfAny('e', 'E');
        if (e >= 0)
        {
            if (!long.TryParse(text[(e + 1)..], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out exponent))
                return false;
            // Far out of range either way; cut short so that sums of it can't overflow.
            exponent = Math.Clamp(exponent, -FarExponent, FarExponent);
            text = text[..e];
        }

        int point = text.IndexOf('.');
        ReadOnlySpan<char> whole = point < 0 ? text : text[..point];
        ReadOnlySpan<char> fraction = point < 0 ? "" : text[(point + 1)..];
        if (whole.Length + fraction.Length == 0 || whole.ContainsAnyExceptInRange('0', '9') || fraction.ContainsAnyExceptInRange('0', '9'))
            return false;
        var digits = new StringBuilder().Append(whole).Append(fraction).ToString().TrimStart('0');
        return TryFit(digits, exponent - fraction.Length, isNegative, out value);
    }

    /// <summary>Moves zeros between coefficient and exponent until both are in range; never rounds.</summary>
    private static bool TryFit(string digits, long exponent, bool isNegative, out Decimal128 value)
    {
        value = default;
        if (digits.Length == 0)
        {
            value = Of(isNegative, 0, (int)Math.Clamp(exponent, MinimumExponent, MaximumExponent));
            return true;
        }

        long trimmed = Math.Max(digits.Length - MaximumDigits, MinimumExponent - exponent);
        if (trimmed > 0)
        {
            if (digits.Length - digits.TrimEnd('0').Length < trimmed)
                return false;
            digits = digits[..^(int)trimmed];
            exponent += trimmed;
        }

        if (exponent > MaximumExponent)
        {
            if (digits.Length + exponent - MaximumExponent > MaximumDigits)
                return false;
            digits += new string('0', (int)exponent - MaximumExponent);
            exponent = MaximumExponent;
        }

        value = Of(isNegative, UInt128.Parse(digits, CultureInfo.InvariantCulture), (int)exponent);
        return true;
    }
}
