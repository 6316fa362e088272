using System.Globalization;
using System.Text;

namespace MongoPerf.Wire.Bson;

/// <summary>A decimal number of 34 digits (IEEE 754-2008 decimal128, binary integer encoding), to and from text. No arithmetic.</summary>
/// <param name="High">Bits 127 to 64: sign, exponent, the coefficient's upper bits.</param>
/// <param name="Low">Bits 63 to 0 of the coefficient.</param>
/// <remarks>Source: specifications/source/bson-decimal128/decimal128.md.</remarks>
public readonly record struct Decimal128(ulong High, ulong Low)
{
    /// <summary>Bytes in a document: Low first, little-endian.</summary>
    public const int Size = 16;

    private const int MaximumDigits = 34;
    private const int ExponentBias = 6176;
    private const int MinimumExponent = -6176;
    private const int MaximumExponent = 6111;
    private const long FarExponent = 10_000_000_000;
    private const ulong SignBit = 1UL << 63;
    private const ulong NaNBits = 0x7CUL << 56;
    private const ulong InfinityBits = 0x78UL << 56;

    private static readonly UInt128 MaximumCoefficient = UInt128.Parse("9999999999999999999999999999999999", CultureInfo.InvariantCulture);

    /// <summary>0, -0 or a coefficient that is none, whatever the exponent.</summary>
    public bool IsZero
    {
        get
        {
            ulong combination = (High >> 58) & 0x1F;
            if (combination >= 0x18)
                return combination < 0x1E;
            var coefficient = new UInt128(High & 0x0001_FFFF_FFFF_FFFF, Low);
            return coefficient == 0 || coefficient > MaximumCoefficient;
        }
    }

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
            value = new Decimal128(NaNBits, 0);
        else if (rest.Equals("inf", StringComparison.OrdinalIgnoreCase) || rest.Equals("infinity", StringComparison.OrdinalIgnoreCase))
            value = new Decimal128(InfinityBits | (isNegative ? SignBit : 0), 0);
        else
            return TryParseNumber(rest, isNegative, out value);
        return true;
    }

    /// <summary>
    /// The number as the specification's to-string rule says: scientific when the exponent is positive or the number tiny.
    /// </summary>
    public override string ToString()
    {
        string sign = (High & SignBit) != 0 ? "-" : "";
        ulong combination = (High >> 58) & 0x1F;
        if (combination == 0x1F)
            return "NaN";
        if (combination == 0x1E)
            return sign + "Infinity";
        // With 11 in front the coefficient would begin with 100 in binary, which is above 34 digits: it counts as zero.
        bool isOversized = combination >> 3 == 3;
        int exponent = (int)((High >> (isOversized ? 47 : 49)) & 0x3FFF) - ExponentBias;
        UInt128 coefficient = isOversized ? 0 : new UInt128(High & 0x1_FFFF_FFFF_FFFF, Low);
        if (coefficient > MaximumCoefficient)
            coefficient = 0;
        return sign + Format(coefficient.ToString(CultureInfo.InvariantCulture), exponent);
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
            return TryMake(0, (int)Math.Clamp(exponent, MinimumExponent, MaximumExponent), isNegative, out value);
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

        return TryMake(UInt128.Parse(digits, CultureInfo.InvariantCulture), (int)exponent, isNegative, out value);
    }

    private static bool TryMake(UInt128 coefficient, int exponent, bool isNegative, out Decimal128 value)
    {
        ulong high = (ulong)(coefficient >> 64) | ((ulong)(exponent + ExponentBias) << 49) | (isNegative ? SignBit : 0);
        value = new Decimal128(high, (ulong)coefficient);
        return true;
    }
}
