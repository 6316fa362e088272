using System.Globalization;
using System.Text;

namespace MongoPerf.Wire.Authentication;

/// <summary>Prepares a password, so that what looks alike is alike: SASLprep. Sources: RFC 4013, RFC 3454.</summary>
/// <remarks>
/// Code points that Unicode 3.2 did not know are let pass as they are, as RFC 3454 has it for queries; the server decides.
/// </remarks>
internal static class SaslPrep
{
    /// <summary>Table D.1 of RFC 3454: first and last of each range.</summary>
    private static readonly int[] RightToLeft =
    [
        0x05BE, 0x05BE, 0x05C0, 0x05C0, 0x05C3, 0x05C3, 0x05D0, 0x05EA, 0x05F0, 0x05F4, 0x061B, 0x061B, 0x061F, 0x061F,
        0x0621, 0x063A, 0x0640, 0x064A,
        0x066D, 0x066F, 0x0671, 0x06D5, 0x06DD, 0x06DD, 0x06E5, 0x06E6, 0x06FA, 0x06FE, 0x0700, 0x070D, 0x0710, 0x0710,
        0x0712, 0x072C, 0x0780, 0x07A5,
        0x07B1, 0x07B1, 0x200F, 0x200F, 0xFB1D, 0xFB1D, 0xFB1F, 0xFB28, 0xFB2A, 0xFB36, 0xFB38, 0xFB3C, 0xFB3E, 0xFB3E,
        0xFB40, 0xFB41, 0xFB43, 0xFB44,
        0xFB46, 0xFBB1, 0xFBD3, 0xFD3D, 0xFD50, 0xFD8F, 0xFD92, 0xFDC7, 0xFDF0, 0xFDFC, 0xFE70, 0xFE74, 0xFE76, 0xFEFC,
    ];

    /// <exception cref="SaslException">
    /// It holds a character that no password may hold, or mixes directions of writing. Says which kind, never the password.
    /// </exception>
    public static string Prepare(string text)
    {
        // Of ASCII only control characters matter.
        if (Ascii.IsValid(text) && !text.Any(char.IsControl))
            return text;
        var mapped = new List<int>(text.Length);
        foreach (Rune rune in Runes(text))
        {
            if (IsOtherSpace(rune.Value))
                mapped.Add(' ');
            else if (!IsMappedToNothing(rune.Value))
                mapped.Add(rune.Value);
        }

        List<int> normal = Nfkc.Normalize(mapped);
        foreach (int code in normal)
        {
            if (WhyProhibited(code) is { } why)
                throw new SaslException($"the password holds {why}, which SCRAM-SHA-256 does not allow (SASLprep)");
        }

        if (!IsOneDirection(normal))
            throw new SaslException(
                "the password mixes right-to-left and left-to-right letters in a way that SCRAM-SHA-256 does not allow (SASLprep)");
        return string.Concat(normal.Select(char.ConvertFromUtf32));
    }

    private static IEnumerable<Rune> Runes(string text)
    {
        for (int i = 0; i < text.Length;)
        {
            if (!Rune.TryGetRuneAt(text, i, out Rune rune))
                throw new SaslException("the password is not valid Unicode");
            yield return rune;
            i += rune.Utf16SequenceLength;
        }
    }

    /// <summary>Table C.1.2; U+200B is in B.1 too, and mapped to nothing by most.</summary>
    private static bool IsOtherSpace(int code) => code is 0x00A0 or 0x1680 or (>= 0x2000 and <= 0x200A) or 0x202F or 0x205F or 0x3000;

    /// <summary>Table B.1.</summary>
    private static bool IsMappedToNothing(int code) =>
        code is 0x00AD or 0x034F or 0x1806 or (>= 0x180B and <= 0x180D) or (>= 0x200B and <= 0x200D) or 0x2060
            or (>= 0xFE00 and <= 0xFE0F) or 0xFEFF;

    /// <summary>Tables C.2 to C.9.</summary>
    private static string? WhyProhibited(int code) => code switch
    {
        < 0x20 or (>= 0x7F and <= 0x9F) or 0x06DD or 0x070F or 0x180E or 0x2028 or 0x2029 or (>= 0x2060 and <= 0x2063)
        or (>= 0x206A and <= 0x206F)
            or (>= 0xFFF9 and <= 0xFFFC) or (>= 0x1D173 and <= 0x1D17A) => "a control character",
        (>= 0xE000 and <= 0xF8FF) or (>= 0xF0000 and <= 0xFFFFD) or (>= 0x100000 and <= 0x10FFFD) => "a character of private use",
        (>= 0xFDD0 and <= 0xFDEF) or 0xFFFD => "a character that stands for none",
        (>= 0x2FF0 and <= 0x2FFB) => "an ideographic description",
        0x0340 or 0x0341 or 0x200E or 0x200F or (>= 0x202A and <= 0x202E) => "a character that changes the direction of writing",
        0xE0001 or (>= 0xE0020 and <= 0xE007F) => "a tag",
        _ when (code & 0xFFFE) == 0xFFFE => "a character that stands for none",
        _ => null,
    };

    /// <summary>
    /// RFC 3454, section 6: with a right-to-left letter there is no left-to-right one, and the first and the last
    /// character are right-to-left.
    /// </summary>
    private static bool IsOneDirection(List<int> text) =>
        !text.Any(IsRightToLeft) || (IsRightToLeft(text[0]) && IsRightToLeft(text[^1]) && !text.Any(IsLeftToRight));

    private static bool IsRightToLeft(int code)
    {
        for (int i = 0; i < RightToLeft.Length; i += 2)
        {
            if (code >= RightToLeft[i] && code <= RightToLeft[i + 1])
                return true;
        }

        return false;
    }

    /// <summary>Table D.2 in all but rare symbols: the letters of any other script.</summary>
    private static bool IsLeftToRight(int code) => !IsRightToLeft(code) && CharUnicodeInfo.GetUnicodeCategory(code) is
        UnicodeCategory.UppercaseLetter or UnicodeCategory.LowercaseLetter or UnicodeCategory.TitlecaseLetter
        or UnicodeCategory.OtherLetter;
}
