using System.Text;

namespace MongoPerf.Reports.Html;

/// <summary>Writes HTML that is also well-formed XML. All text is escaped here; nothing else writes markup.</summary>
internal sealed class HtmlWriter
{
    /// <summary>Of a word that no line breaks; a longer one might not fit a phone.</summary>
    private const int LongestWhole = 24;

    private readonly StringBuilder _text = new("<!DOCTYPE html>\n");
    private readonly Stack<string> _open = new();
    private readonly List<(string Title, string Id)> _sections = [];
    private int? _contentsAt;

    /// <summary>The table of contents lists every section that was written, also those behind it.</summary>
    public override string ToString()
    {
        if (_contentsAt is not { } at)
            return _text.ToString();
        var contents = new HtmlWriter();
        contents._text.Clear();
        contents.Open("nav", "class", "contents", "aria-label", Words.Of("Contents")).Open("ul");
        foreach ((string title, string id) in _sections)
            contents.Open("li").Element("a", title, "href", "#" + id).Close();
        return _text.ToString().Insert(at, contents.Close().Close()._text.ToString());
    }

    /// <summary>Where the table of contents stands.</summary>
    public HtmlWriter Contents()
    {
        _contentsAt = _text.Length;
        return this;
    }

    /// <summary>A heading of the second level, which the table of contents leads to.</summary>
    public HtmlWriter Section(string title)
    {
        string slug = string.Join('-', new string([.. title.ToLowerInvariant().Select(static c => char.IsAsciiLetterOrDigit(c) ? c : ' ')])
            .Split(' ', StringSplitOptions.RemoveEmptyEntries));
        string id = $"section-{slug}{(_sections.Exists(section => section.Id == "section-" + slug) ? $"-{_sections.Count}" : "")}";
        title = Words.Of(title);
        _sections.Add((title, id));
        return Element("h2", title, "id", id);
    }

    /// <param name="name">The name of the element.</param>
    /// <param name="attributes">Names and values in turn.</param>
    public HtmlWriter Open(string name, params ReadOnlySpan<string> attributes)
    {
        Tag(name, attributes).Append('>');
        _open.Push(name);
        return this;
    }

    public HtmlWriter Close()
    {
        string name = _open.Pop();
        _text.Append("</").Append(name).Append('>');
        if (name is not ("code" or "strong" or "a" or "button" or "td" or "th" or "span"))
            _text.Append('\n');
        return this;
    }

    /// <summary>An element without content, such as img or meta.</summary>
    public HtmlWriter Void(string name, params ReadOnlySpan<string> attributes)
    {
        Tag(name, attributes).Append("/>\n");
        return this;
    }

    public HtmlWriter Text(string text)
    {
        Escape(text, isAttribute: false);
        return this;
    }

    /// <summary>Text of which no line breaks between a number and its unit, nor within an option, a date or a run's id.</summary>
    public HtmlWriter Prose(string text)
    {
        foreach ((int place, string tied) in Words.Tied(text).Split(' ').Index())
        {
            string word = Words.Untied(tied);
            Text(place == 0 ? "" : " ");
            _ = word.Length <= LongestWhole && (word != tied || word.Contains('-')) ? Element("span", word, "class", "whole") : Text(word);
        }

        return this;
    }

    /// <summary>An element with nothing but text.</summary>
    public HtmlWriter Element(string name, string text, params ReadOnlySpan<string> attributes) =>
        Open(name, attributes).Text(text).Close();

    public HtmlWriter Paragraph(string text) => Element("p", text);

    /// <summary>A table that scrolls by itself on a narrow screen, also with the arrow keys.</summary>
    /// <param name="label">What it shows, for who hears it.</param>
    /// <param name="heads">The heads of its columns.</param>
    /// <param name="rows">The rows, each with as many cells.</param>
    /// <param name="links">Where the first cell of each row leads; null or none for nowhere.</param>
    public HtmlWriter Table(
        string label, IReadOnlyList<(string Name, bool IsText)> heads, IReadOnlyList<IReadOnlyList<string>> rows,
        IReadOnlyList<string?>? links = null)
    {
        Open("div", "class", "wide", "tabindex", "0", "role", "region", "aria-label", label)
            .Open("table", "aria-label", label).Open("thead").Open("tr");
        foreach ((string name, bool isText) in heads)
            Element("th", name, "scope", "col", "class", isText ? "text" : "figure");
        Close().Close().Open("tbody");
        foreach ((int place, IReadOnlyList<string> row) in rows.Index())
        {
            Open("tr");
            for (int i = 0; i < row.Count; i++)
            {
                Open("td", "class", heads[i].IsText ? "text" : "figure");
                _ = i == 0 && links?.ElementAtOrDefault(place) is { } link ? Element("a", row[i], "href", link) : Text(row[i]);
                Close();
            }

            Close();
        }

        return Close().Close().Close();
    }

    /// <summary>The program's own style sheet; it must hold no character that needs escaping.</summary>
    public HtmlWriter Style(string css)
    {
        _text.Append("<style>\n").Append(css).Append("</style>\n");
        return this;
    }

    /// <summary>Data for a script of the page.</summary>
    /// <param name="id">The id of the element.</param>
    /// <param name="json">Written by an encoder that escapes what means something in HTML.</param>
    public HtmlWriter Json(string id, string json)
    {
        if (json.AsSpan().ContainsAny('<', '&'))
            throw new ArgumentException("the JSON holds a character that means something in HTML", nameof(json));
        Tag("script", ["type", "application/json", "id", id]).Append('>').Append(json).Append("</script>\n");
        return this;
    }

    /// <summary>
    /// A script of the program's own or of a library; it must hold neither the end of a script nor that of a CDATA section.
    /// </summary>
    public HtmlWriter Script(string script)
    {
        _text.Append("<script>").Append(ScriptText(script)).Append("</script>\n");
        return this;
    }

    /// <summary>
    /// What a browser takes for the script's text: it is a CDATA section in XML, and in HTML the marks of one are comments.
    /// </summary>
    public static string ScriptText(string script) => $"//<![CDATA[\n{script}\n//]]>";

    private StringBuilder Tag(string name, ReadOnlySpan<string> attributes)
    {
        _text.Append('<').Append(name);
        for (int i = 0; i < attributes.Length; i += 2)
        {
            _text.Append(' ').Append(attributes[i]).Append("=\"");
            Escape(attributes[i + 1], isAttribute: true);
            _text.Append('"');
        }

        return _text;
    }

    private void Escape(string text, bool isAttribute)
    {
        foreach (var rune in text.EnumerateRunes())
        {
            string? escaped = rune.Value switch
            {
                '<' => "&lt;",
                '>' => "&gt;",
                '&' => "&amp;",
                '"' when isAttribute => "&quot;",
                // XML knows no other control characters, and U+FFFE and U+FFFF are none of its.
                < 32 when rune.Value is not ('\n' or '\t') => "\uFFFD",
                0xFFFE or 0xFFFF => "\uFFFD",
                _ => null,
            };
            _text.Append(escaped ?? rune.ToString());
        }
    }
}
