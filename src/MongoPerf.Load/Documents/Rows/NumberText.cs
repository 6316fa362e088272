using System.Buffers.Text;
using System.Globalization;

namespace MongoPerf.Load.Documents.Rows;

/// <summary>What the text of a number says, held against the double that was read from it. Allocates nothing.</summary>
public static class NumberText
{
    /// <summary>More than any double was ever written with.</summary>
    private const int MostDigits = 128;

    /// <summary>It has digits alone, with a sign or without.</summary>
    public static bool IsWhole(ReadOnlySpan<byte> text) =>
        (text is [(byte)'-', ..] ? text[1..] : text) is { IsEmpty: false } digits && !digits.ContainsAnyExceptInRange((byte)'0', (byte)'9');

    /// <summary>
    /// The double stands for the number: it is neither infinite nor, for another number, 0; and of a whole number it is the one that is
    /// written so, as 1e20 is 100000000000000000000.
    /// </summary>
    /// <param name="number">The nearest double.</param>
    /// <param name="text">A decimal number, with or without a point and an exponent.</param>
    public static bool IsHeldBy(double number, ReadOnlySpan<byte> text) =>
        IsWhole(text) ? Compare(number, text, isShortest: true) : double.IsNormal(number) || KeepsDigits(number, text);

    /// <summary>Written with as many digits as the text has, the double has the same ones.</summary>
    /// <inheritdoc cref="IsHeldBy"/>
    public static bool KeepsDigits(double number, ReadOnlySpan<byte> text) => Compare(number, text, isShortest: false);

    private static bool Compare(double number, ReadOnlySpan<byte> text, bool isShortest)
    {
        Span<byte> digits = stackalloc byte[MostDigits];
        if (!TryReadDigits(text, digits, out int count, out int exponent))
            return false;
        if (count == 0 || !double.IsFinite(number))
            return count == 0 && number == 0;
        Span<char> format = stackalloc char[4];
        format[0] = 'E';
        (count - 1).TryFormat(format[1..], out int length, provider: CultureInfo.InvariantCulture);
        // A sign, a point, E and an exponent of four characters; the shortest text may have more zeros than digits.
        Span<byte> written = stackalloc byte[MostDigits + 320];
        Span<byte> others = stackalloc byte[MostDigits + 320];
        return Math.Abs(number).TryFormat(written, out int end, isShortest ? "R" : format[..(length + 1)], CultureInfo.InvariantCulture)
            && TryReadDigits(written[..end], others, out int found, out int scale) && scale == exponent
            && (isShortest ? digits[..count].TrimEnd((byte)'0').SequenceEqual(others[..found].TrimEnd((byte)'0'))
                : digits[..count].SequenceEqual(others[..found]));
    }

    /// <param name="text">The number's.</param>
    /// <param name="digits">Gets the digits from the first one that is not 0 on.</param>
    /// <param name="count">How many these are; 0 for the number 0.</param>
    /// <param name="exponent">The power of ten of the first of them.</param>
    /// <returns>False where there is no room for the digits, or the exponent is beyond all bounds.</returns>
    private static bool TryReadDigits(ReadOnlySpan<byte> text, Span<byte> digits, out int count, out int exponent)
    {
        (count, exponent) = (0, 0);
        int whole = 0, zeros = 0, at = text is [(byte)'-', ..] ? 1 : 0;
        bool isFraction = false;
        for (; at < text.Length && text[at] is not ((byte)'e' or (byte)'E'); at++)
        {
            if (text[at] == '.')
            {
                isFraction = true;
            }
            else if (count == 0 && text[at] == '0')
            {
                // Zeros in front count for the exponent alone.
                zeros += isFraction ? 1 : 0;
            }
            else
            {
                if (count == digits.Length)
                    return false;
                digits[count++] = text[at];
                whole += isFraction ? 0 : 1;
            }
        }

        if (at < text.Length && !Utf8Parser.TryParse(text[(at + 1)..], out exponent, out _))
            return false;
        exponent += whole > 0 ? whole - 1 : -zeros - 1;
        return true;
    }
}
