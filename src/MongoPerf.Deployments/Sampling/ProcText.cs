using System.Buffers.Text;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Picks numbers out of the text tables of /proc.</summary>
internal static class ProcText
{
    /// <summary>Cuts the first line off.</summary>
    /// <returns>False when nothing is left.</returns>
    public static bool TryTakeLine(ref ReadOnlySpan<byte> text, out ReadOnlySpan<byte> line)
    {
        if (text.IsEmpty)
        {
            line = default;
            return false;
        }

        int end = text.IndexOf((byte)'\n');
        line = end < 0 ? text : text[..end];
        text = end < 0 ? default : text[(end + 1)..];
        return true;
    }

    /// <summary>Cuts the first word off: up to a blank or tab, blanks before it left out.</summary>
    /// <returns>Empty at the line's end.</returns>
    public static ReadOnlySpan<byte> TakeWord(ref ReadOnlySpan<byte> line)
    {
        ReadOnlySpan<byte> rest = line.TrimStart(" \t"u8);
        int end = rest.IndexOfAny((byte)' ', (byte)'\t');
        ReadOnlySpan<byte> word = end < 0 ? rest : rest[..end];
        line = rest[word.Length..];
        return word;
    }

    /// <summary>The next word as a number; NaN when there is none.</summary>
    public static double TakeNumber(ref ReadOnlySpan<byte> line)
    {
        ReadOnlySpan<byte> word = TakeWord(ref line);
        return Utf8Parser.TryParse(word, out long value, out int used) && used == word.Length ? value : double.NaN;
    }

    public static void SkipWords(ref ReadOnlySpan<byte> line, int count)
    {
        for (int i = 0; i < count; i++)
            TakeWord(ref line);
    }

    /// <summary>The number after a line's first word, as in "MemFree: 123 kB"; NaN when no line starts so.</summary>
    public static double FindNumber(ReadOnlySpan<byte> text, ReadOnlySpan<byte> firstWord)
    {
        while (TryTakeLine(ref text, out ReadOnlySpan<byte> line))
        {
            if (TakeWord(ref line).SequenceEqual(firstWord))
                return TakeNumber(ref line);
        }

        return double.NaN;
    }
}
