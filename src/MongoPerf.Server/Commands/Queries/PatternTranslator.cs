using System.Globalization;
using System.Text;
using MongoPerf.Server.Operations;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// Turns one PCRE pattern into .NET's, code point by code point; case is spelt out as classes, and classes as ranges of units.
/// </summary>
internal sealed class PatternTranslator
{
    private const int LastCodePoint = 0x10FFFF;
    private static readonly (int First, int Last)[] Digits = [('0', '9')];
    private static readonly (int First, int Last)[] WordCharacters = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
    private static readonly (int First, int Last)[] Spaces = [('\t', '\r'), (' ', ' ')];

    private readonly string _pattern;
    private readonly int[] _points;
    private readonly bool _ignoresCase;
    private readonly bool _isMultiline;
    private readonly StringBuilder _text = new();
    private int _at;

    public PatternTranslator(string pattern, bool ignoresCase, bool isMultiline)
    {
        _pattern = pattern;
        _points = [.. pattern.EnumerateRunes().Select(rune => rune.Value)];
        _ignoresCase = ignoresCase;
        _isMultiline = isMultiline;
        // Named code points above U+FFFF, with their other cases, are intervals of their own.
        Bounds = [.. _points.Concat(ignoresCase ? _points.SelectMany(CaseVariants.Of) : [])
            .Where(point => point >= TextPattern.FirstAstral)
            .SelectMany(point => (int[])[point, point + 1])
            .Append(TextPattern.FirstAstral).Where(point => point <= LastCodePoint).Distinct().Order()];
        if (Bounds.Length > TextPattern.MaximumIntervals)
            throw Refused();
    }

    /// <summary>See <see cref="TextPattern"/>.</summary>
    public int[] Bounds { get; }

    /// <exception cref="CommandException">238 for what is not taken; 51091 for what is no pattern.</exception>
    public string Translate()
    {
        while (_at < _points.Length)
        {
            ActiveOperation.Check();
            int point = _points[_at++];
            switch (point)
            {
                case '\\': TranslateEscape(); break;
                case '[': TranslateClass(); break;
                // PCRE's ^ does not match behind a line end that ends the text.
                case '^' when _isMultiline: _text.Append(@"(?:\A|(?<=\n)(?!\z))"); break;
                case '(' when Peek() == '?' && Peek(1) != ':': throw Refused();
                case '+' when IsPossessive(): throw Refused();
                case '^' or '$' or '.' or '(' or ')' or '|' or '?' or '*' or '+' or '{' or '}': _text.Append((char)point); break;
                default:
                    // The digits of {2,3} stand for themselves too.
                    AppendLiteral(point);
                    break;
            }
        }

        return _text.ToString();
    }

    private void TranslateEscape()
    {
        if (_at == _points.Length)
            throw CommandException.Location(51091, "Regular expression is invalid: \\ at end of pattern");
        int point = _points[_at++];
        switch (point)
        {
            case 'd': AppendClass(Digits, isNegated: false); break;
            case 'D': AppendClass(Digits, isNegated: true); break;
            case 'w': AppendClass(WordCharacters, isNegated: false); break;
            case 'W': AppendClass(WordCharacters, isNegated: true); break;
            case 's': AppendClass(Spaces, isNegated: false); break;
            case 'S': AppendClass(Spaces, isNegated: true); break;
            default: AppendLiteral(Escaped(point)); break;
        }
    }

    /// <summary>What stands after a backslash for itself or for a control character.</summary>
    private int Escaped(int point) => point switch
    {
        't' => '\t',
        'n' => '\n',
        'r' => '\r',
        'f' => '\f',
        < 128 when !char.IsAsciiLetterOrDigit((char)point) => point,
        _ => throw Refused(),
    };

    private void TranslateClass()
    {
        bool isNegated = Peek() == '^';
        if (isNegated)
            _at++;
        var ranges = new List<(int First, int Last)>();
        var named = new List<(int First, int Last)>();
        // A bracket that comes first is a member.
        for (bool isFirst = true; isFirst || Peek() != ']'; isFirst = false)
        {
            if (_at >= _points.Length)
                throw CommandException.Location(51091, "Regular expression is invalid: missing terminating ] for character class");
            if (Peek() == '[' && Peek(1) is ':' or '.' or '=')
                throw Refused();
            if (Peek() == '\\' && ClassOf(Peek(1)) is { } members)
            {
                _at += 2;
                named.AddRange(members);
                continue;
            }

            int first = Member();
            bool isRange = Peek() == '-' && Peek(1) is not (']' or -1) && !(Peek(1) == '\\' && ClassOf(Peek(2)) != null);
            if (isRange)
                _at++;
            int last = isRange ? Member() : first;
            ranges.Add(last >= first
                ? (first, last)
                : throw CommandException.Location(51091, "Regular expression is invalid: range out of order in character class"));
        }

        _at++;
        // \w and the like are ASCII, whatever the case.
        AppendClass([.. named, .. _ignoresCase ? WithOtherCases(ranges) : ranges], isNegated);
    }

    private static (int First, int Last)[]? ClassOf(int letter) => letter switch
    {
        'd' => Digits,
        'w' => WordCharacters,
        's' => Spaces,
        _ => null,
    };

    private int Member()
    {
        if (_at >= _points.Length)
            throw CommandException.Location(51091, "Regular expression is invalid: missing terminating ] for character class");
        int point = _points[_at++];
        return point != '\\' ? point : _at < _points.Length ? Escaped(_points[_at++])
            : throw CommandException.Location(51091, "Regular expression is invalid: \\ at end of pattern");
    }

    private static List<(int First, int Last)> WithOtherCases(List<(int First, int Last)> ranges)
    {
        var all = new List<(int First, int Last)>(ranges);
        foreach ((int first, int last) in ranges)
        {
            ActiveOperation.Check();
            IEnumerable<int> others = last - first < 64
                ? Enumerable.Range(first, last - first + 1).SelectMany(CaseVariants.Of)
                : CaseVariants.All.Where(pair => pair.Key >= first && pair.Key <= last).SelectMany(pair => pair.Value);
            all.AddRange(others.Where(other => other < first || other > last).Select(other => (other, other)));
        }

        return all;
    }

    private void AppendLiteral(int point)
    {
        IReadOnlyList<int> others = _ignoresCase ? CaseVariants.Of(point) : [];
        if (others.Count == 0)
            AppendUnit(point >= TextPattern.FirstAstral ? TextPattern.UnitOf(Bounds, point) : (char)point);
        else
            AppendClass([(point, point), .. others.Select(other => (other, other))], isNegated: false);
    }

    private void AppendClass(IEnumerable<(int First, int Last)> ranges, bool isNegated)
    {
        _text.Append(isNegated ? "[^" : "[");
        foreach ((int first, int last) in ranges)
        {
            if (first < TextPattern.FirstAstral)
                AppendRange((char)first, (char)Math.Min(last, 0xFFFF));
            if (last >= TextPattern.FirstAstral)
                AppendRange(TextPattern.UnitOf(Bounds, Math.Max(first, TextPattern.FirstAstral)), TextPattern.UnitOf(Bounds, last));
        }

        _text.Append(']');
    }

    private void AppendRange(char first, char last)
    {
        // Surrogates stand for what lies above, so a range around them is cut in two.
        if (first < '\uD800' && last > '\uDFFF')
        {
            AppendRange(first, '\uD7FF');
            AppendRange('\uE000', last);
            return;
        }

        AppendUnit(first);
        _text.Append('-');
        AppendUnit(last);
    }

    /// <summary>Letters and digits as they are, so that a quantifier's stay readable; all others by their number.</summary>
    private void AppendUnit(char unit)
    {
        if (char.IsAsciiLetterOrDigit(unit) || unit == ',')
            _text.Append(unit);
        else
            _text.Append(CultureInfo.InvariantCulture, $"\\u{(int)unit:X4}");
    }

    private bool IsPossessive() => _at >= 2 && _points[_at - 2] is '*' or '+' or '?' or '}' && !IsEscaped(_at - 2);

    private bool IsEscaped(int at)
    {
        int from = at;
        while (from > 0 && _points[from - 1] == '\\')
            from--;
        return (at - from) % 2 == 1;
    }

    private int Peek(int ahead = 0) => _at + ahead < _points.Length ? _points[_at + ahead] : -1;

    private CommandException Refused() => CommandException.NotSupported($"a part of the regular expression '{_pattern}'");
}
