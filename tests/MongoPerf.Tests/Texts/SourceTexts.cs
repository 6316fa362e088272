namespace MongoPerf.Tests.Texts;

/// <summary>A text in a source: as the compiler sees it, with {0}, {1}… for values.</summary>
/// <param name="Key">Literals joined by + are one text.</param>
/// <param name="IsTranslated">The argument of <c>Words.Of</c>.</param>
internal sealed record SourceText(string Key, bool IsTranslated);

/// <summary>
/// Reads the string literals of a C# source, those within values of others too. Knows as much of the language as these sources use.
/// </summary>
internal sealed class SourceTexts
{
    private readonly string _source;
    private readonly List<(int From, int To, string Key)> _literals = [];

    private SourceTexts(string source) => _source = source;

    public static IReadOnlyList<SourceText> In(string source)
    {
        var reader = new SourceTexts(source);
        reader.Code(0, isValue: false);
        return [.. reader._literals.OrderBy(literal => literal.From)
            .Select(literal => new SourceText(reader.Joined(literal), reader.IsTranslated(literal.From)))];
    }

    private bool IsTranslated(int from) => _source.AsSpan(0, from).TrimEnd().EndsWith("Words.Of(");

    /// <summary>With the literals that + adds to it.</summary>
    private string Joined((int From, int To, string Key) first)
    {
        string key = first.Key;
        for (int end = first.To; ;)
        {
            int plus = Behind(end);
            if (plus == _source.Length || _source[plus] != '+')
                return key;
            int next = Behind(plus + 1);
            var literal = _literals.Find(one => one.From == next);
            if (literal.To == 0)
                return key;
            int known = Values(key);
            key += Renumbered(literal.Key, known);
            end = literal.To;
        }
    }

    private static int Values(string key) => Enumerable.Range(0, 100).First(i => !key.Contains($"{{{i}}}", StringComparison.Ordinal));

    private static string Renumbered(string key, int by)
    {
        for (int i = Values(key) - 1; i >= 0; i--)
            key = key.Replace($"{{{i}}}", $"{{{i + by}}}", StringComparison.Ordinal);
        return key;
    }

    /// <summary>The next character that is no white space.</summary>
    private int Behind(int at)
    {
        while (at < _source.Length && char.IsWhiteSpace(_source[at]))
            at++;
        return at;
    }

    /// <returns>Where the code ends: at the source's end, or a value's at its brace or format.</returns>
    private int Code(int at, bool isValue)
    {
        int depth = 0;
        while (at < _source.Length)
        {
            ReadOnlySpan<char> rest = _source.AsSpan(at);
            if (rest.StartsWith("//"))
                at = _source.IndexOf('\n', at) is >= 0 and var line ? line : _source.Length;
            else if (rest[0] == '\'')
                at = _source.IndexOf('\'', at + (rest[1] == '\\' ? 3 : 2)) + 1;
            else if (rest.TrimStart('$').StartsWith("\"\"\""))
                at = _source.IndexOf("\"\"\"", _source.IndexOf("\"\"\"", at, StringComparison.Ordinal) + 3, StringComparison.Ordinal) + 3;
            else if (rest[0] == '"' || rest.StartsWith("$\"") || rest.StartsWith("@\"") || rest.StartsWith("$@\""))
                at = Literal(at);
            else if (isValue && depth == 0 && (rest[0] == '}' || (rest[0] == ':' && rest[1] != ':' && _source[at - 1] != ':')))
                return at;
            else
            {
                depth += "([{".Contains(rest[0]) ? 1 : ")]}".Contains(rest[0]) ? -1 : 0;
                at++;
            }
        }

        return at;
    }

    private int Literal(int from)
    {
        int quote = _source.IndexOf('"', from);
        bool isVerbatim = _source[from..quote].Contains('@'), isInterpolated = _source[from..quote].Contains('$');
        var key = new System.Text.StringBuilder();
        int values = 0, at = quote + 1;
        for (; _source[at] != '"' || (isVerbatim && _source[at + 1] == '"'); at++)
        {
            char c = _source[at];
            if (isVerbatim && c == '"')
                at++;
            if (c == '\\' && !isVerbatim)
                key.Append(_source[++at] switch { 'n' => '\n', 't' => '\t', var escaped => escaped });
            else if (isInterpolated && c == '{' && _source[at + 1] != '{')
            {
                key.Append('{').Append(values++).Append('}');
                at = _source.IndexOf('}', Code(at + 1, isValue: true));
            }
            else
            {
                if (isInterpolated && c is '{' or '}')
                    at++;
                key.Append(c is '{' or '}' ? $"{c}{c}" : c);
            }
        }

        _literals.Add((from, at + 1, key.ToString()));
        return at + 1;
    }
}
