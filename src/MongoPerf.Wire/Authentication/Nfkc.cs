using System.Globalization;

namespace MongoPerf.Wire.Authentication;

/// <summary>
/// Unicode's normalization form KC. The runtime's own does nothing without ICU (InvariantGlobalization), so the tables are
/// ours: scripts/make-nfkc.
/// </summary>
/// <remarks>
/// Immutable once loaded, for any thread; loaded by the first password that is not ASCII. Source: Unicode Standard Annex 15.
/// </remarks>
internal sealed class Nfkc
{
    private const int HangulFirst = 0xAC00;
    private const int LeadFirst = 0x1100;
    private const int VowelFirst = 0x1161;
    private const int TailFirst = 0x11A7;
    private const int Leads = 19;
    private const int Vowels = 21;
    private const int Tails = 28;

    private static readonly Lazy<Nfkc> Tables = new(() => new Nfkc());

    private readonly Dictionary<int, int[]> _decompositions = [];
    private readonly Dictionary<(int First, int Second), int> _compositions = [];
    private readonly Dictionary<int, int> _classes = [];

    private Nfkc()
    {
        using Stream table = typeof(Nfkc).Assembly.GetManifestResourceStream("nfkc.txt")!;
        using var reader = new StreamReader(table);
        while (reader.ReadLine() is { } line)
            Add(line[0], [.. line[2..].Split(' ').Select(code => int.Parse(code, NumberStyles.HexNumber, CultureInfo.InvariantCulture))]);
    }

    public static List<int> Normalize(IEnumerable<int> text)
    {
        Nfkc tables = Tables.Value;
        var codes = new List<int>();
        foreach (int code in text)
            tables.Decompose(code, codes);
        tables.Order(codes);
        return tables.Compose(codes);
    }

    private void Add(char kind, int[] codes)
    {
        switch (kind)
        {
            case 'd':
                _decompositions[codes[0]] = codes[1..];
                break;
            case 'c':
                _compositions[(codes[0], codes[1])] = codes[2];
                break;
            default:
                for (int code = codes[0]; code <= codes[1]; code++)
                    _classes[code] = codes[2];
                break;
        }
    }

    private int ClassOf(int code) => _classes.GetValueOrDefault(code);

    private void Decompose(int code, List<int> into)
    {
        int syllable = code - HangulFirst;
        if (syllable is >= 0 and < Leads * Vowels * Tails)
        {
            into.Add(LeadFirst + (syllable / (Vowels * Tails)));
            into.Add(VowelFirst + (syllable / Tails % Vowels));
            if (syllable % Tails != 0)
                into.Add(TailFirst + (syllable % Tails));
        }
        else if (_decompositions.TryGetValue(code, out int[]? parts))
        {
            into.AddRange(parts);
        }
        else
        {
            into.Add(code);
        }
    }

    /// <summary>Combining marks in the order of their classes; those of one class stay as they stood.</summary>
    private void Order(List<int> codes)
    {
        for (int i = 1; i < codes.Count; i++)
        {
            for (int at = i; at > 0 && ClassOf(codes[at]) is > 0 and var later && ClassOf(codes[at - 1]) > later; at--)
                (codes[at - 1], codes[at]) = (codes[at], codes[at - 1]);
        }
    }

    private List<int> Compose(List<int> codes)
    {
        var composed = new List<int>(codes.Count);
        int starter = -1;
        foreach (int code in codes)
        {
            int own = ClassOf(code);
            int previous = composed.Count == 0 ? 0 : ClassOf(composed[^1]);
            // Nothing between the two may be of the same class, or a starter.
            bool isBlocked = starter != composed.Count - 1 && (previous >= own || previous == 0);
            if (starter >= 0 && !isBlocked && TryCompose(composed[starter], code, out int whole))
            {
                composed[starter] = whole;
                continue;
            }

            composed.Add(code);
            if (own == 0)
                starter = composed.Count - 1;
        }

        return composed;
    }

    private bool TryCompose(int first, int second, out int whole)
    {
        int lead = first - LeadFirst, vowel = second - VowelFirst, syllable = first - HangulFirst, tail = second - TailFirst;
        if (lead is >= 0 and < Leads && vowel is >= 0 and < Vowels)
        {
            whole = HangulFirst + (((lead * Vowels) + vowel) * Tails);
            return true;
        }

        if (syllable is >= 0 and < Leads * Vowels * Tails && syllable % Tails == 0 && tail is > 0 and < Tails)
        {
            whole = first + tail;
            return true;
        }

        return _compositions.TryGetValue((first, second), out whole);
    }
}
