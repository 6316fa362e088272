using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.RegularExpressions;

namespace MongoPerf.Texts;

/// <summary>
/// What people read, in their language. The English text is the key, so English needs no table; what has no translation stays English.
/// </summary>
/// <remarks>
/// It serves reports, charts and help only: what is stored, and what programs read, is made within <see cref="In"/> English. Units and
/// numbers are the same in all languages. Never keep a text in a static field: it would stay in the language of whoever came first.
/// </remarks>
public static partial class Words
{
    private static readonly AsyncLocal<Language?> Scope = new();
    private static Language _chosen = Language.English;

    public static Language Language => Scope.Value ?? _chosen;

    /// <summary>Sets the language for the whole process; once, before anything is printed.</summary>
    public static void Choose(Language language) => _chosen = language;

    /// <summary>Sets the language for this thread of execution, until the result is disposed.</summary>
    public static IDisposable In(Language language)
    {
        var before = new Former(Scope.Value);
        Scope.Value = language;
        return before;
    }

    /// <summary>Sets English for what programs read.</summary>
    public static IDisposable InEnglish() => In(Language.English);

    /// <param name="english">An English text without values.</param>
    public static string Of(string english) => Language.Find(english);

    /// <param name="english">
    /// An English text with values, such as $"took {time}", whose key is "took {0}". Values are not translated.
    /// </param>
    public static string Of(Sentence english) => english.ToString();

    /// <summary>"1 chart", "2 charts", "1,234 charts"; the key is "{0} charts" for any number.</summary>
    public static string Counted(long count, string one, string? many = null)
    {
        string number = count.ToString("N0", CultureInfo.InvariantCulture);
        many ??= one + "s";
        return Language.IsEnglish
            ? $"{number} {(count == 1 ? one : many)}"
            : string.Format(CultureInfo.InvariantCulture, Language.Find($"{{0}} {many}"), number);
    }

    /// <summary>"q4", "q4 and q5", "q4, q5 and q6".</summary>
    public static string And(IReadOnlyList<string> words) =>
        words.Count < 2 ? string.Concat(words) : Of($"{string.Join(", ", words.Take(words.Count - 1))} and {words[^1]}");

    /// <summary>Columns of a terminal: a Chinese character takes two.</summary>
    public static int Width(string text)
    {
        int width = 0;
        foreach (Rune rune in text.EnumerateRunes())
            width += IsWide(rune) ? 2 : 1;
        return width;
    }

    /// <summary>The text in at most so many columns of a terminal; one that is longer ends with an ellipsis.</summary>
    public static string Cut(string text, int width)
    {
        if (Width(text) <= width)
            return text;
        var cut = new StringBuilder();
        int taken = 1;
        foreach (Rune rune in text.EnumerateRunes())
        {
            taken += IsWide(rune) ? 2 : 1;
            if (taken > width)
                break;
            cut.Append(rune);
        }

        return cut.Append('…').ToString();
    }

    /// <summary>
    /// The texts in at most so many columns each. Where some would look alike, what all long ones begin with is left out, and those that
    /// still do show their first word and what tells them apart, as far as there is room.
    /// </summary>
    public static string[] Cut(IReadOnlyList<string> texts, int width)
    {
        string[] cut = [.. texts.Select(text => Cut(text, width))];
        if (cut.Distinct().Count() == texts.Distinct().Count())
            return cut;
        int begin = RestOf([.. texts.Where(text => Width(text) > width)], width - 1);
        string[] whole = [.. texts.Select(text => begin == 0 || Width(text) <= width ? text : "…" + text[begin..])];
        cut = [.. whole.Select(text => Cut(text, width))];
        TellApart([.. Enumerable.Range(0, whole.Length)]);
        // Those of one group are told apart, and may look like another's.
        int[] left = [.. Enumerable.Range(0, cut.Length).GroupBy(i => cut[i])
            .Where(alike => alike.DistinctBy(i => texts[i]).Skip(1).Any()).SelectMany(alike => alike)];
        string[] uncommon = [.. WithoutCommonWords([.. left.Select(i => texts[i])]).Select(text => Cut(text, width))];
        if (uncommon.Distinct().Count() > left.DistinctBy(i => cut[i]).Count())
        {
            foreach ((int i, string text) in left.Zip(uncommon))
                cut[i] = text;
        }

        return cut;

        void TellApart(int[] places)
        {
            foreach (int[] alike in places.GroupBy(i => cut[i]).Select(group => group.ToArray()))
            {
                string first = whole[alike[0]];
                if (alike.All(i => whole[i] == first))
                    continue;
                string head = Cut(first, width / 3);
                if (head.LastIndexOf(' ') is > 0 and var blank)
                    head = head[..blank] + "…";
                int room = width - Width(head);
                int rest = RestOf([.. alike.Select(i => whole[i])], room);
                foreach (int i in alike)
                    cut[i] = head + Cut(whole[i][rest..], room);
                if (alike.Select(i => cut[i]).Distinct().Skip(1).Any())
                    TellApart(alike);
            }
        }
    }

    /// <summary>The first word of each text, and those that not all of the texts have.</summary>
    private static IEnumerable<string> WithoutCommonWords(string[] texts)
    {
        string[][] words = [.. texts.Select(text => text.Split(' '))];
        HashSet<string> common = [.. words.FirstOrDefault([])];
        foreach (string[] own in words)
            common.IntersectWith(own);
        foreach (string[] own in words)
        {
            var kept = new StringBuilder(own[0]);
            bool isGap = false;
            foreach (string word in own.Skip(1))
            {
                bool isCommon = common.Contains(word);
                if (!isCommon)
                    kept.Append(isGap ? '…' : ' ').Append(word);
                isGap = isCommon;
            }

            yield return kept.Append(isGap ? "…" : "").ToString();
        }
    }

    /// <summary>
    /// Where the ends of texts begin that tell them apart: if there is room, with a word that all of them have, or in the middle of one.
    /// </summary>
    private static int RestOf(string[] texts, int room)
    {
        int same = texts.Min(text => text.Length);
        foreach (string text in texts)
            same = text.AsSpan(0, same).CommonPrefixLength(texts[0]);
        if (same > 0 && char.IsHighSurrogate(texts[0][same - 1]))
            same--;
        int all = texts.Max(Width) - room;
        int[] words = [.. Enumerable.Range(1, same).Where(i => texts[0][i - 1] == ' ')];
        int within = 0, columns = 0;
        foreach (Rune rune in texts[0].AsSpan(0, same).EnumerateRunes())
        {
            if (columns >= all)
                break;
            columns += IsWide(rune) ? 2 : 1;
            within += rune.Utf16SequenceLength;
        }

        return words.FirstOrDefault(i => i >= all, words.LastOrDefault(i => Width(texts[0][i..same]) < room - 1, within));
    }

    /// <summary>
    /// Stands for a blank at which a line must not be broken. Spectre.Console breaks lines at all white space, no-break spaces included.
    /// It is a noncharacter, which Unicode keeps for such use within a program, so that no text has it.
    /// </summary>
    private const char Tie = '\uFDD0';

    /// <summary>The text with each number tied to its unit, for whatever breaks lines at blanks.</summary>
    public static string Tied(string text) => BeforeUnit().Replace(text, Tie.ToString());

    public static string Untied(string text) => text.Replace(Tie, ' ');

    [GeneratedRegex(@"(?<=\d) (?=(?:%|[mnµ]?s|min|h|d|[kMGTP]?B|[KMGTP]iB|[\w/]+/s)(?!\w))|(?<=[×±]) (?=\d)")]
    private static partial Regex BeforeUnit();

    /// <summary>
    /// The text in rows of at most so many columns, broken at blanks but for those before a unit; a word that is longer stays whole.
    /// </summary>
    public static string Wrap(string text, int width)
    {
        var rows = new List<string>();
        foreach (string word in Tied(text).Split(' '))
        {
            if (rows.Count > 0 && Width(rows[^1]) + 1 + Width(word) <= width)
                rows[^1] += " " + word;
            else
                rows.Add(word);
        }

        return Untied(string.Join('\n', rows));
    }

    /// <summary>
    /// Whether a line may be broken before and after it. The blocks of East_Asian_Width W and F that Chinese texts use (Unicode
    /// Standard Annex 11).
    /// </summary>
    public static bool IsWide(Rune rune) => rune.Value is (>= 0x2E80 and <= 0xA4CF) or (>= 0xF900 and <= 0xFAFF)
        or (>= 0xFE30 and <= 0xFE4F) or (>= 0xFF00 and <= 0xFF60) or (>= 0xFFE0 and <= 0xFFE6) or (>= 0x20000 and <= 0x3FFFD);

    private sealed class Former(Language? language) : IDisposable
    {
        public void Dispose() => Scope.Value = language;
    }
}

/// <summary>An interpolated text of which literals and values are known apart: the compiler makes one of $"…".</summary>
[InterpolatedStringHandler]
public readonly ref struct Sentence(int literalLength, int formattedCount)
{
    private readonly StringBuilder _key = new(literalLength + (3 * formattedCount));
    private readonly List<object?> _values = new(formattedCount);

    public void AppendLiteral(string text) => _key.Append(text.Replace("{", "{{").Replace("}", "}}"));

    public void AppendFormatted<T>(T value) => AppendFormatted(value, null);

    public void AppendFormatted<T>(T value, string? format)
    {
        _key.Append('{').Append(_values.Count).Append('}');
        _values.Add(
            format is not null && value is IFormattable formattable ? formattable.ToString(format, CultureInfo.InvariantCulture) : value);
    }

    /// <summary>The text in the language of now.</summary>
    public override string ToString() => string.Format(CultureInfo.InvariantCulture, Words.Language.Find(_key.ToString()), [.. _values]);
}
