using System.Buffers;
using System.IO.Compression;
using System.Text;

namespace MongoPerf.Server.Storage.Keys;

/// <summary>
/// The root order of the Unicode collation algorithm as mongod 6.0 has it (ICU 57.1): the order of every locale that has no rules of its
/// own. Read at its first use; immutable, any thread.
/// </summary>
/// <remarks>
/// root-order.bin is made by scripts/make-root-order, from the weights of the Unicode Consortium's allkeys.txt and the order in which a
/// mongod was seen to sort every character. Like ICU without normalization, it takes combining marks in the order in which they stand.
/// </remarks>
internal sealed class RootOrder
{
    /// <summary>The secondary weight of a plain letter, and the least there is.</summary>
    public const int CommonSecondary = 32;

    /// <summary>The tertiary weight of a plain small letter, and the least there is.</summary>
    public const int CommonTertiary = 2;

    private const int PageBits = 8;
    private const int PageSize = 1 << PageBits;
    private const int FirstHan = 0x10000;
    private const int FirstUnassigned = 0x40000;
    private const int FirstHangul = 0xAC00;
    private const int LastHangul = 0xD7A3;
    private const int VowelsAndTails = 588;
    private const int Tails = 28;
    private static readonly Lazy<RootOrder> Loaded = new(() => new RootOrder());

    private readonly int[]?[] _pages = new int[]?[0x110000 >> PageBits];
    private readonly List<Weights> _elements = [];
    private readonly List<int> _starts = [];
    private readonly Dictionary<int, List<(int[] More, int Entry)>> _contractions = [];
    private readonly int[] _zeros;

    private RootOrder()
    {
        using Stream packed = typeof(RootOrder).Assembly.GetManifestResourceStream("root-order.bin")
            ?? throw new InvalidOperationException("root-order.bin is missing");
        using var unpacked = new DeflateStream(packed, CompressionMode.Decompress);
        using var bytes = new MemoryStream();
        unpacked.CopyTo(bytes);
        var reader = new Reader(bytes.ToArray());
        NumberPrimary = reader.Next();
        LastVariable = reader.Next();
        _zeros = new int[reader.Next()];
        int previous = 0;
        foreach (ref int zero in _zeros.AsSpan())
            zero = previous += reader.Next();
        int ideographs = reader.Next();
        previous = 0;
        for (int i = 0; i < ideographs; i++)
        {
            previous += reader.NextSigned();
            AddSingle(previous, [new Weights(FirstHan + i, CommonSecondary, CommonTertiary)]);
        }

        ReadEntries(ref reader);
        _starts.Add(_elements.Count);
    }

    public static RootOrder Instance => Loaded.Value;

    /// <summary>Where numbers stand that are compared by their value: before all digits.</summary>
    public int NumberPrimary { get; }

    /// <summary>The last primary weight of spaces and punctuation.</summary>
    public int LastVariable { get; }

    /// <summary>The value of a decimal digit of any script; -1 for all else.</summary>
    public int DigitOf(int codePoint)
    {
        int at = Array.BinarySearch(_zeros, codePoint);
        int zero = at >= 0 ? _zeros[at] : at == -1 ? int.MinValue / 2 : _zeros[~at - 1];
        return codePoint - zero <= 9 ? codePoint - zero : -1;
    }

    /// <summary>Adds the weights of the character, or contraction, that a text begins with.</summary>
    /// <returns>The bytes that it takes.</returns>
    public int Read(ReadOnlySpan<byte> text, List<Weights> weights)
    {
        Rune.DecodeFromUtf8(text, out Rune first, out int length);
        if (_contractions.TryGetValue(first.Value, out List<(int[] More, int Entry)>? known))
        {
            foreach ((int[] more, int entry) in known)
            {
                if (!StartsWith(text[length..], more, out int bytes))
                    continue;
                AddEntry(entry, weights);
                return length + bytes;
            }
        }

        AddCharacter(first.Value, weights);
        return length;
    }

    private static bool StartsWith(ReadOnlySpan<byte> text, int[] codePoints, out int length)
    {
        length = 0;
        foreach (int codePoint in codePoints)
        {
            if (Rune.DecodeFromUtf8(text[length..], out Rune rune, out int bytes) != OperationStatus.Done || rune.Value != codePoint)
                return false;
            length += bytes;
        }

        return true;
    }

    private void AddCharacter(int codePoint, List<Weights> weights)
    {
        int entry = _pages[codePoint >> PageBits] is { } page ? page[codePoint & (PageSize - 1)] : 0;
        if (entry != 0)
        {
            AddEntry(entry - 1, weights);
        }
        else if (codePoint is >= FirstHangul and <= LastHangul)
        {
            int syllable = codePoint - FirstHangul;
            AddCharacter(0x1100 + (syllable / VowelsAndTails), weights);
            AddCharacter(0x1161 + (syllable % VowelsAndTails / Tails), weights);
            if (syllable % Tails != 0)
                AddCharacter(0x11A7 + (syllable % Tails), weights);
        }
        else
        {
            int primary = codePoint switch
            {
                0xFFFE => Weights.LeastPrimary,
                0xFFFD => Weights.GreatestPrimary - 1,
                0xFFFF => Weights.GreatestPrimary,
                _ => FirstUnassigned + codePoint,
            };
            weights.Add(new Weights(primary, CommonSecondary, CommonTertiary));
        }
    }

    private void AddEntry(int entry, List<Weights> weights)
    {
        for (int i = _starts[entry]; i < _starts[entry + 1]; i++)
            weights.Add(_elements[i]);
    }

    private void AddSingle(int codePoint, ReadOnlySpan<Weights> elements)
    {
        int[] page = _pages[codePoint >> PageBits] ??= new int[PageSize];
        _starts.Add(_elements.Count);
        page[codePoint & (PageSize - 1)] = _starts.Count;
        _elements.AddRange(elements);
    }

    private void ReadEntries(ref Reader reader)
    {
        int count = reader.Next();
        int first = 0;
        int primary = 0;
        var elements = new List<Weights>();
        for (int i = 0; i < count; i++)
        {
            int[] rest = new int[reader.Next() - 1];
            first += reader.NextSigned();
            foreach (ref int codePoint in rest.AsSpan())
                codePoint = reader.Next();
            elements.Clear();
            for (int left = reader.Next(); left > 0; left--)
            {
                primary += reader.NextSigned();
                elements.Add(new Weights(primary, (short)reader.Next(), (short)reader.Next()));
            }

            if (rest.Length == 0)
            {
                AddSingle(first, elements.ToArray());
                continue;
            }

            if (!_contractions.TryGetValue(first, out List<(int[] More, int Entry)>? known))
                _contractions[first] = known = [];
            // The file has the shorter ones first, and the longest has to be looked for first.
            known.Insert(0, (rest, _starts.Count));
            _starts.Add(_elements.Count);
            _elements.AddRange(elements);
        }
    }

    /// <summary>Numbers of seven bits a byte, least first.</summary>
    private struct Reader(byte[] bytes)
    {
        private int _at;

        public int Next()
        {
            int value = 0;
            for (int shift = 0; ; shift += 7)
            {
                byte next = bytes[_at++];
                value |= (next & 0x7F) << shift;
                if (next < 0x80)
                    return value;
            }
        }

        public int NextSigned()
        {
            int value = Next();
            return (value & 1) == 0 ? value >> 1 : -(value >> 1) - 1;
        }
    }
}

/// <summary>A collation element: how a character, or a part of one, compares by letter, by accent and by case. 0: not at all.</summary>
internal readonly record struct Weights(int Primary, short Secondary, short Tertiary)
{
    public const int LeastPrimary = -1;
    public const int GreatestPrimary = 0x1FFFFF;
}
