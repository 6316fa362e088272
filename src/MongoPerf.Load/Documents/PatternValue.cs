using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>Texts that a regular expression matches.</summary>
/// <remarks>
/// Of regular expressions: characters, classes such as [A-Z0-9_], \d \w \s and the point (printable ASCII), groups with alternatives,
/// and repetition by ?, {n}, {n,m}, * and + (at most <see cref="MostOpen"/> times). Alternatives, characters and repetitions are equally
/// likely.
/// </remarks>
public sealed class TextPattern
{
    /// <summary>How often * and + repeat at most.</summary>
    public const int MostOpen = 8;

    /// <summary>Bytes of the longest text that a pattern may make.</summary>
    public const int MostBytes = 64 * 1024;

    private const string Digits = "0123456789";
    private const string WordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    private static readonly string Printable = string.Concat(Enumerable.Range(' ', '~' - ' ' + 1).Select(c => (char)c));

    private readonly string _text;
    private readonly Part _root;
    private int _at;

    /// <exception cref="FormatException">Not such a pattern: says where and why.</exception>
    public TextPattern(string text)
    {
        _text = text;
        _root = Alternatives(0);
        if (_at < text.Length)
            throw Wrong("a ) without its (");
        if (_root.Most > MostBytes)
            throw new FormatException($"'{text}' makes texts of up to {_root.Most:N0} bytes; allowed are {MostBytes:N0}");
    }

    /// <summary>Bytes of the shortest and the longest text.</summary>
    public (int Least, int Most) Length => ((int)_root.Least, (int)_root.Most);

    /// <returns>How many bytes were written.</returns>
    internal int Write(Span<byte> text, ulong bits)
    {
        var random = new RandomStream(bits);
        return _root.Write(text, ref random);
    }

    private Part Alternatives(int depth)
    {
        const int MostDepth = 50;
        if (depth > MostDepth)
            throw Wrong($"nested deeper than {MostDepth} groups");
        var alternatives = new List<Part> { Sequence(depth) };
        while (_at < _text.Length && _text[_at] == '|')
        {
            _at++;
            alternatives.Add(Sequence(depth));
        }

        return alternatives.Count == 1 ? alternatives[0] : new OneOf([.. alternatives]);
    }

    private Sequenced Sequence(int depth)
    {
        var parts = new List<Part>();
        while (_at < _text.Length && _text[_at] is not ('|' or ')'))
            parts.Add(Repetition(Single(depth)));
        return new Sequenced([.. parts]);
    }

    private Part Single(int depth)
    {
        char c = _text[_at++];
        switch (c)
        {
            case '(':
                if (_text.AsSpan(_at).StartsWith("?:"))
                    _at += 2;
                Part group = Alternatives(depth + 1);
                if (_at == _text.Length)
                    throw Wrong("a ( without its )");
                _at++;
                return group;
            case '[':
                return Class();
            case '.':
                return new Characters(Printable);
            case '\\':
                return new Characters(Escaped());
            case '*' or '+' or '?' or '{':
                throw Wrong($"{c} has nothing before it to repeat");
            case '^' or '$':
                throw Wrong($"{c} is not needed: a pattern describes the whole text; write \\{c} for the character");
            default:
                // A pair of surrogates is one character.
                string whole = char.IsHighSurrogate(c) && _at < _text.Length ? $"{c}{_text[_at++]}" : $"{c}";
                return new Literal(Encoding.UTF8.GetBytes(whole));
        }
    }

    private string Escaped()
    {
        if (_at == _text.Length)
            throw Wrong("nothing follows the \\");
        char c = _text[_at++];
        return c switch
        {
            'd' => Digits,
            'w' => WordCharacters,
            's' => " ",
            _ when char.IsAsciiLetterOrDigit(c) || c > '~' =>
                throw Wrong($"\\{c} is not known; allowed: \\d, \\w, \\s and signs such as \\."),
            _ => $"{c}",
        };
    }

    private Characters Class()
    {
        bool isNegated = _at < _text.Length && _text[_at] == '^';
        if (isNegated)
            _at++;
        var all = new SortedSet<char>();
        for (bool isFirst = true; ; isFirst = false)
        {
            if (_at == _text.Length)
                throw Wrong("a [ without its ]");
            char c = _text[_at++];
            if (c == ']' && !isFirst)
                break;
            string set = c == '\\' ? Escaped() : $"{c}";
            if (set.Length == 1 && _at + 1 < _text.Length && _text[_at] == '-' && _text[_at + 1] != ']')
            {
                char last = _text[_at + 1];
                _at += 2;
                char first = set[0];
                if (last < first)
                    throw Wrong($"{first}-{last} is not a range: the lower character comes first");
                set = string.Concat(Enumerable.Range(first, last - first + 1).Select(one => (char)one));
            }

            if (set.Any(one => one is < ' ' or > '~'))
                throw Wrong("a class holds printable ASCII characters only; others stand outside of classes");
            all.UnionWith(set);
        }

        string characters = isNegated ? string.Concat(Printable.Except(all)) : string.Concat(all);
        return characters.Length > 0 ? new Characters(characters) : throw Wrong("a class without characters");
    }

    private Part Repetition(Part part)
    {
        if (_at == _text.Length)
            return part;
        (int least, int most) = _text[_at] switch
        {
            '?' => (0, 1),
            '*' => (0, MostOpen),
            '+' => (1, MostOpen),
            '{' => Counts(),
            _ => (-1, -1),
        };
        if (least < 0)
            return part;
        _at++;
        return new Repeated(part, least, most);
    }

    /// <summary>Stops at the }.</summary>
    private (int Least, int Most) Counts()
    {
        int end = _text.IndexOf('}', _at);
        string[] counts = end < 0 ? [] : _text[(_at + 1)..end].Split(',');
        if (counts.Length is < 1 or > 2 || !Count(counts[0], out int least) || !Count(counts[^1], out int most) || least > most)
            throw Wrong("expected {n} or {n,m}, each 0 to 1,000, the smaller first");
        _at = end;
        return (least, most);

        static bool Count(string text, out int count) =>
            int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out count) && count <= 1000;
    }

    private FormatException Wrong(string why) => new($"'{_text}', character {_at}: {why}");

    private abstract class Part
    {
        public abstract long Least { get; }

        public abstract long Most { get; }

        public abstract int Write(Span<byte> text, ref RandomStream random);
    }

    private sealed class Literal(byte[] bytes) : Part
    {
        public override long Least => bytes.Length;

        public override long Most => bytes.Length;

        public override int Write(Span<byte> text, ref RandomStream random)
        {
            bytes.CopyTo(text);
            return bytes.Length;
        }
    }

    private sealed class Characters(string characters) : Part
    {
        private readonly byte[] _bytes = Encoding.ASCII.GetBytes(characters);

        public override long Least => 1;

        public override long Most => 1;

        public override int Write(Span<byte> text, ref RandomStream random)
        {
            text[0] = _bytes.Length == 1 ? _bytes[0] : _bytes[random.Next(_bytes.Length)];
            return 1;
        }
    }

    private sealed class Sequenced(Part[] parts) : Part
    {
        public override long Least { get; } = parts.Sum(part => part.Least);

        public override long Most { get; } = parts.Sum(part => part.Most);

        public override int Write(Span<byte> text, ref RandomStream random)
        {
            int length = 0;
            foreach (Part part in parts)
                length += part.Write(text[length..], ref random);
            return length;
        }
    }

    private sealed class OneOf(Part[] alternatives) : Part
    {
        public override long Least { get; } = alternatives.Min(part => part.Least);

        public override long Most { get; } = alternatives.Max(part => part.Most);

        public override int Write(Span<byte> text, ref RandomStream random) =>
            alternatives[random.Next(alternatives.Length)].Write(text, ref random);
    }

    private sealed class Repeated(Part part, int least, int most) : Part
    {
        public override long Least { get; } = part.Least * least;

        // Nested repetitions may pass any number: far beyond what is allowed they need not be exact.
        public override long Most { get; } = Math.Min(int.MaxValue, part.Most * most);

        public override int Write(Span<byte> text, ref RandomStream random)
        {
            // What is always empty is not repeated: nested, that would never end.
            if (part.Most == 0)
                return 0;
            int length = 0;
            int count = least == most ? least : least + random.Next(most - least + 1);
            for (int i = 0; i < count; i++)
                length += part.Write(text[length..], ref random);
            return length;
        }
    }
}

/// <summary>A text that follows a pattern.</summary>
public static class PatternValue
{
    public static TemplateValue Of(TextPattern pattern, ulong salt) =>
        pattern.Length.Least == pattern.Length.Most ? new Fixed(pattern, salt) : new Varying(pattern, salt);

    private sealed class Fixed(TextPattern pattern, ulong salt) : FixedValue(BsonType.String, pattern.Length.Most + 5)
    {
        public override void Fill(Span<byte> value, in ValueContext context)
        {
            BinaryPrimitives.WriteInt32LittleEndian(value, value.Length - 4);
            pattern.Write(value[4..^1], context.BitsOf(salt));
            value[^1] = 0;
        }
    }

    private sealed class Varying(TextPattern pattern, ulong salt) : TemplateValue
    {
        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
        {
            writer.WriteName(BsonType.String, name);
            int start = writer.Length;
            writer.WriteRawInt32(0);
            int length = pattern.Write(writer.Grow(pattern.Length.Most), context.BitsOf(salt));
            writer.Truncate(start + 4 + length);
            writer.WriteRawByte(0);
            writer.PatchInt32(start, length + 1);
        }
    }
}
