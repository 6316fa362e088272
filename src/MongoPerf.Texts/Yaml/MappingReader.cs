using System.Text.RegularExpressions;
using MongoPerf.Texts.Input;

namespace MongoPerf.Texts.Yaml;

/// <summary>Reads the keys of one mapping; what is not allowed is named with its line, what was found and what is allowed.</summary>
public sealed partial class MappingReader
{
    private readonly string _what;
    private readonly KeySet _keys;

    /// <param name="node">Must be a mapping.</param>
    /// <param name="what">What it is called in messages, such as phase 'read'.</param>
    /// <param name="keys">What it may have.</param>
    /// <exception cref="UserException">No mapping, or a key that is not known.</exception>
    public MappingReader(ScenarioNode node, string what, KeySet keys)
    {
        _what = what;
        _keys = keys;
        Node = node as MappingNode ?? throw Wrong(node, $"{what} is {node.Describe()}; expected a mapping");
        foreach (MappingEntry entry in Node.Entries)
        {
            if (!keys.Names.Contains(entry.Name))
                throw IsRestOfList(entry)
                    ? Wrong(entry.Key, $"{what}: unknown key '{entry.Name}'", "a list needs brackets, such as threads: [1, 8, 32]")
                    : Unknown(entry.Key, what, keys.Names);
        }
    }

    public MappingNode Node { get; }

    public static UserException Wrong(ScenarioNode node, string message, string? hint = null) =>
        new(ExitCode.WrongUsage, $"{node.Position}: {message}", hint);

    /// <param name="key">The key that is not allowed.</param>
    /// <param name="what">Where it is, for messages.</param>
    /// <param name="allowed">All that are.</param>
    /// <param name="kind">What they are.</param>
    public static UserException Unknown(ScalarNode key, string what, IEnumerable<string> allowed, string kind = "key")
    {
        string[] names = [.. allowed];
        return Wrong(key, $"{what}: unknown {kind} '{key.Text}'; allowed: {string.Join(", ", names)}", NearestName.Hint(key.Text, names));
    }

    /// <summary>The key is allowed here.</summary>
    public bool Takes(string key) => _keys.Names.Contains(key);

    /// <returns>Null when the key is missing or has nothing.</returns>
    public ScenarioNode? Find(string key) => Node.Find(key) is { } node && node is not ScalarNode { IsNull: true } ? node : null;

    public ScenarioNode Require(string key, string hint) => Find(key) ?? throw Wrong(Node, $"{_what}: '{key}' is missing", hint);

    public string? Text(string key) => Find(key) is { } node ? ScalarOf(key, node).Text : null;

    /// <returns>One of the allowed texts.</returns>
    public string? OneOf(string key, params IReadOnlyList<string> allowed) => OneOf(key, new AllowedNames(allowed));

    public string? OneOf(string key, AllowedNames allowed) =>
        Find(key) is { } node ? OneOf(key, ScalarOf(key, node), allowed) : null;

    /// <summary>The texts of a list; a single text is a list of one.</summary>
    /// <param name="key">Whose value it is.</param>
    /// <param name="allowed">What they may be; null for anything.</param>
    public IReadOnlyList<string> Texts(string key, AllowedNames? allowed) =>
        [.. List(key).Select(item => allowed is null ? ScalarOf(key, item).Text : OneOf(key, ScalarOf(key, item), allowed))];

    /// <inheritdoc cref="Texts(string, AllowedNames?)"/>
    public IReadOnlyList<string> Texts(string key, IReadOnlyList<string>? allowed = null) =>
        Texts(key, allowed is null ? null : new AllowedNames(allowed));

    public bool Flag(string key, bool usual = false) => Text(key) switch
    {
        null => usual,
        "true" => true,
        "false" => false,
        { } other => throw Wrong(Find(key)!, $"{Prefix(key)} is '{other}'; allowed: true, false"),
    };

    public long? Count(string key, long least = 1, long most = long.MaxValue) =>
        Find(key) is { } node ? CountOf(key, node, least, most) : null;

    /// <returns>Bytes.</returns>
    public long? Size(string key) => Parse(key, Quantities.ParseSize);

    /// <inheritdoc cref="Size(string)"/>
    public long? Size(string key, long least, long most) =>
        Parse(key, text => Quantities.ParseSize(text) is var size && size >= least && size <= most
            ? size
            : throw new FormatException($"'{text}' is {size:N0} bytes; allowed: {least:N0} to {most:N0}"));

    public double? Duration(string key) => Parse(key, Quantities.ParseDuration);

    public double? Number(string key, double least, double most) => Parse(key, text =>
        double.TryParse(text, out double value) && value >= least && value <= most
            ? value
            : throw new FormatException($"'{text}' is not a number from {least} to {most}"));

    /// <summary>The items of a list; a single value is a list of one.</summary>
    public IReadOnlyList<ScenarioNode> List(string key) => Find(key) switch
    {
        null => [],
        SequenceNode list => list.Items,
        { } one => [one],
    };

    public long CountOf(string key, ScenarioNode node, long least, long most)
    {
        long value = ParseScalar(key, node, text => Quantities.ParseCount(text, most == long.MaxValue ? least : 0));
        return value >= least && value <= most ? value
            : throw Wrong(node, $"{Prefix(key)} is {value:N0}; allowed: {least:N0} to {most:N0}");
    }

    /// <summary>A value that stands deeper than <paramref name="key"/>.</summary>
    public string OneOf(string key, ScalarNode node, IReadOnlyList<string> allowed) => OneOf(key, node, new AllowedNames(allowed));

    public string OneOf(string key, ScalarNode node, AllowedNames allowed) => allowed.Contain(node.Text) ? node.Text
        : throw Wrong(node, $"{Prefix(key)} is '{node.Text}'; allowed: {allowed}", allowed.Hint(node.Text));

    private T? Parse<T>(string key, Func<string, T> parse)
        where T : struct => Find(key) is { } node ? ParseScalar(key, node, parse) : null;

    private T ParseScalar<T>(string key, ScenarioNode node, Func<string, T> parse)
    {
        try
        {
            return parse(ScalarOf(key, node).Text);
        }
        catch (FormatException e)
        {
            throw Wrong(node, $"{Prefix(key)}: {e.Message}", SeveralValues().IsMatch(((ScalarNode)node).Text) ? HintOfSeveral(key) : null);
        }
    }

    private string Prefix(string key) => _what == key ? key : $"{_what}: {key}";

    private string? HintOfSeveral(string key) => _keys.Keys.FirstOrDefault(k => k.Name == key)?.Kind switch
    {
        KeyKind.Counts or KeyKind.Course => $"a list gives a result for each value: {key}: [1, 8, 32]",
        KeyKind.Count => $"to run it with several values, declare parameters: {{{key}: [1, 8, 32]}} and write {key}: $({key})",
        KeyKind.Duration => $"to run it with several values, declare parameters: {{{key}: [1s, 8s, 32s]}} and write {key}: $({key})",
        _ => null,
    };

    /// <summary>In braces, threads: 1,8 is a key 8 with nothing.</summary>
    private static bool IsRestOfList(MappingEntry entry) => entry.Value is ScalarNode { IsNull: true } && entry.Name.All(char.IsAsciiDigit);

    /// <summary>The node, if it is a single value that can be shown: it comes back in messages, tables and charts.</summary>
    public ScalarNode ScalarOf(string key, ScenarioNode node)
    {
        ScalarNode scalar =
            node as ScalarNode ?? throw Wrong(node, $"{Prefix(key)} is {node.Describe()}; expected a single value", HintOfSeveral(key));
        return CanBeShown(scalar.Text) ? scalar : throw Wrong(node, $"{Prefix(key)} contains a control character");
    }

    /// <summary>Tells whether a text is without control characters, but for line breaks and tabs.</summary>
    public static bool CanBeShown(string text) => !text.Any(c => char.IsControl(c) && c is not ('\n' or '\t'));

    /// <summary>How other tools write several values where this program takes a list, such as 1..32, 1-32, 1,8 and ramp.</summary>
    [GeneratedRegex(@"^\s*([0-9][0-9_.]*[a-z]*\s*(\.\.+|…|-|–|,|;|\s|to)\s*[0-9].*|ramp.*)$", RegexOptions.IgnoreCase)]
    private static partial Regex SeveralValues();
}
