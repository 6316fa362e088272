using MongoPerf.Texts.Input;
using YamlDotNet.Core;
using YamlDotNet.Core.Events;

namespace MongoPerf.Texts.Yaml;

/// <summary>Reads YAML 1.2 into nodes that know their place.</summary>
public static class ScenarioYaml
{
    private const string Start = "'mongoperf new my.yaml' writes a file to start from";

    /// <param name="file">The file as errors are to name it.</param>
    /// <param name="text">One document.</param>
    /// <exception cref="UserException">
    /// No YAML, no mapping, several documents, beyond the bounds of <see cref="NodeReader"/>; says where.
    /// </exception>
    public static MappingNode Read(string file, string text) => Read(file, text, "expected a mapping with 'data' and 'phases'", Start);

    /// <param name="file">The file as errors are to name it.</param>
    /// <param name="text">One document.</param>
    /// <param name="expected">Said of what is no mapping.</param>
    /// <param name="start">A hint then; null for none.</param>
    /// <inheritdoc cref="Read(string, string)"/>
    public static MappingNode Read(string file, string text, string expected, string? start)
    {
        var parser = new Parser(new StringReader(text));
        try
        {
            return Document(file, parser) as MappingNode ?? throw Wrong(file, 1, expected, start);
        }
        catch (YamlException e)
        {
            // Its own text begins with the place again.
            string what = e.InnerException?.Message ?? e.Message;
            what = what[(what.LastIndexOf("): ", StringComparison.Ordinal) is var at && at >= 0 ? at + 3 : 0)..];
            int? tab = what.Contains(" tab ", StringComparison.Ordinal) ? FindTab(text, LineOf(parser)) : null;
            throw tab is { } line ? Tab(file, line)
                : FindOpenQuote(parser, e, what) is { } quote ? Wrong(file, quote.Line, quote.Problem, quote.Hint)
                : FindIndentation(text, e) is var (problem, hint) ? Wrong(file, e.Start.Line, problem, hint)
                : Wrong(file, e.Start.Line, $"invalid YAML: {what}");
        }
        catch (Exception e) when (e is InvalidOperationException or ArgumentException or FormatException or OverflowException)
        {
            // YamlDotNet 16.3 ends so where a bracket is not closed, after a directive, and at an empty tag.
            int last = LineOf(parser);
            throw FindTab(text, last) is { } line
                ? Tab(file, line)
                : Wrong(file, last, "invalid YAML here or in the next lines",
                    e is InvalidOperationException ? "is every [ and { closed, with commas between the items?" : null);
        }
    }

    private static ScenarioNode Document(string file, Parser parser)
    {
        parser.MoveNext();
        parser.Consume<StreamStart>();
        if (!parser.TryConsume<DocumentStart>(out _))
            throw new UserException(ExitCode.WrongUsage, $"{file}: the file is empty", Start);
        ScenarioNode root = new NodeReader(file, parser).Read();
        parser.Consume<DocumentEnd>();
        return parser.TryConsume<DocumentStart>(out var second)
            ? throw Wrong(file, second.Start.Line, "a second document starts here; expected one per file")
            : root;
    }

    private static int LineOf(Parser parser) => (int)(parser.Current?.Start.Line ?? 1);

    /// <returns>The first line from <paramref name="from"/> on, 1-based, with a tab in its indentation; null for none.</returns>
    private static int? FindTab(string text, int from) => text.Split('\n').Index().Skip(from - 1)
        .Where(line => line.Item.AsSpan(0, line.Item.Length - line.Item.AsSpan().TrimStart(" \t").Length).Contains('\t'))
        .Select(line => (int?)line.Index + 1).FirstOrDefault();

    /// <summary>Finds the quote that is not closed, where that is why the file can't be read.</summary>
    /// <param name="parser">The parser at the last event that could be read.</param>
    /// <param name="e">The parser's failure.</param>
    /// <param name="what">What it says.</param>
    private static (long Line, string Problem, string Hint)? FindOpenQuote(Parser parser, YamlException e, string what)
    {
        const string Hint = "close it with the quote that it begins with";
        if (what.Contains("canning a", StringComparison.Ordinal) && what.Contains("quoted scalar", StringComparison.Ordinal))
            return (e.Start.Line, "a text begins here with a quote that is not closed", Hint);
        // It was taken to end at a later quote, behind which nothing fits.
        return parser.Current is Scalar { Style: ScalarStyle.SingleQuoted or ScalarStyle.DoubleQuoted } text
            && text.End.Line > text.Start.Line
            ? (text.Start.Line, $"a text begins here with a quote that is not closed before line {text.End.Line}", Hint)
            : null;
    }

    /// <summary>What is wrong with a line's indentation, where that is why it can't be read.</summary>
    /// <param name="text">The file's.</param>
    /// <param name="e">The parser's, at that line.</param>
    private static (string Problem, string Hint)? FindIndentation(string text, YamlException e)
    {
        string[] lines = text.Split('\n');
        int at = (int)e.Start.Line - 1;
        if (at < 1 || at >= lines.Length)
            return null;
        int above = Array.FindLastIndex(lines, at - 1, line => line.Trim() is { Length: > 0 } content && content[0] != '#');
        string before = lines[at][..Math.Clamp((int)e.Start.Column - 1, 0, lines[at].Length)];
        if (e.Message.Contains("invalid mapping", StringComparison.Ordinal) && above >= 0 && Spaces(lines[at]) > Spaces(lines[above])
            && !before.Contains(": ", StringComparison.Ordinal))
            return ($"this line is indented deeper than line {above + 1}, which has a value already",
                "keys of one mapping begin in the same column");
        // What is wrong within a line is found further right.
        return e.Message.Contains("did not find expected", StringComparison.Ordinal) && e.Start.Column - 1 == Spaces(lines[at])
            ? ("the indentation of this line fits none of the lines above",
                "keys of one mapping, and dashes of one list, begin in the same column")
            : null;
    }

    private static int Spaces(string line) => line.Length - line.TrimStart(' ').Length;

    private static UserException Tab(string file, int line) =>
        Wrong(file, line, "this line is indented with a tab; YAML allows only spaces");

    private static UserException Wrong(string file, long line, string message, string? hint = null) =>
        new(ExitCode.WrongUsage, $"{file}:{line}: {message}", hint);
}
