using System.Globalization;
using MongoPerf.Load.Documents;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads what stands behind a generator's name: nothing, one value, a list of two, or a mapping with keys.</summary>
internal sealed class GeneratorReader
{
    private readonly string _name;
    private readonly ScalarNode _place;
    private readonly MappingNode? _keys;
    private readonly ScenarioNode? _single;

    /// <param name="name">The name with its ^.</param>
    /// <param name="argument">What stands behind it; null for nothing.</param>
    /// <param name="place">The place of the name.</param>
    /// <exception cref="UserException">A key that this generator has not.</exception>
    public GeneratorReader(string name, ScenarioNode? argument, ScalarNode place)
    {
        _name = name;
        _place = place;
        Generator generator = Generator.All.First(g => g.Name == name);
        if (argument is MappingNode keys && !IsGenerated(keys))
        {
            _keys = keys;
            if (keys.Entries.FirstOrDefault(e => !generator.Keys.Contains(e.Name)) is { } unknown)
                throw MappingReader.Unknown(unknown.Key, name, generator.Keys.Count > 0 ? generator.Keys : ["none"]);
        }
        else if (argument is not ScalarNode { IsNull: true })
        {
            _single = argument;
        }
    }

    public UserException Wrong(string message, string? hint = null) =>
        MappingReader.Wrong(_single ?? _keys ?? (ScenarioNode)_place, $"{_name}: {message}",
            hint ?? $"write {Generator.All.First(g => g.Name == _name).Form}");

    /// <returns>What stands under a key of the long form; null for nothing.</returns>
    public ScenarioNode? Node(string key) => _keys?.Find(key);

    /// <summary>A mapping of single values; empty for none.</summary>
    public IReadOnlyList<KeyValuePair<string, string>> Texts(string key) => Node(key) switch
    {
        null => [],
        MappingNode { Entries: var entries } =>
            [.. entries.Select(entry => KeyValuePair.Create(entry.Name, ScalarOf(entry.Name, entry.Value).Text))],
        { } other => throw MappingReader.Wrong(other, $"{_name}: {key} is {other.Describe()}; expected a mapping"),
    };

    public string? Text(string key) => Find(key) is { } node ? ScalarOf(key, node).Text : null;

    public bool Flag(string key) => OneOf(key, "false", "true") == "true";

    /// <returns>The first when there is none.</returns>
    public string OneOf(string key, params string[] allowed)
    {
        string text = Text(key) ?? allowed[0];
        return allowed.Contains(text) ? text : throw Wrong($"{key} is '{text}'; allowed: {string.Join(", ", allowed)}");
    }

    /// <returns>Null when the key is missing.</returns>
    public double[]? Numbers(string key, int count) => Node(key) switch
    {
        null => null,
        SequenceNode list when list.Items.Count == count => [.. list.Items.Select(Double)],
        _ => throw Wrong($"{key} must be a list of {count} numbers"),
    };

    /// <summary>The ends of a range as they are written.</summary>
    /// <returns>Null when there is none.</returns>
    public (string Low, string High)? TextRange() =>
        Ends() is var (low, high) ? (ScalarOf(_name, low).Text, ScalarOf(_name, high).Text) : null;

    public long? Count(string key, long least, long most) =>
        Find(key) is { } node ? Parsed(node, text => Quantities.ParseCount(text, least, most)) : null;

    /// <summary>One count, or a list of the least and the greatest.</summary>
    /// <returns>Null when the key is missing.</returns>
    public (long Low, long High)? CountRange(string key, long least, long most)
    {
        if (Find(key) is not { } node)
            return null;
        (ScenarioNode first, ScenarioNode last) = node is SequenceNode { Items: [var low, var high] } ? (low, high) : (node, node);
        (long Low, long High) range = (Parsed(first, Count), Parsed(last, Count));
        return range.Low <= range.High ? range : throw Wrong($"{key}: {range.Low} to {range.High} is not a valid range");

        long Count(string text) => Quantities.ParseCount(text, least, most);
    }

    public long? Long(string key) => Find(key) is { } node ? Integer(node) : null;

    public double? Duration(string key) => Find(key) is { } node ? Parsed(node, Quantities.ParseDuration) : null;

    /// <param name="key">Null for the single value.</param>
    /// <param name="least">Allowed.</param>
    /// <param name="most">Allowed.</param>
    public double? Number(string? key, double least, double most)
    {
        if ((key is null ? _single : Find(key)) is not { } node)
            return null;
        double value = Double(node);
        return value >= least && value <= most ? value : throw Wrong($"'{value}' is not between {least} and {most}");
    }

    /// <returns>Milliseconds since 1970.</returns>
    public long? Date(string key)
    {
        if (Find(key) is not { } node)
            return null;
        string text = ScalarOf(key, node).Text;
        // Other orders of day, month and year are read differently by different people.
        return DateTimeOffset.TryParseExact(
            text, DateForms, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out DateTimeOffset date)
            ? date.ToUnixTimeMilliseconds()
            : throw MappingReader.Wrong(
                node, $"{_name}: {key} is '{text}'; expected a date such as 2011-03-13 or 2011-03-13T07:06:40Z", HintOfDate(text));
    }

    private static readonly string[] DateForms =
        [.. ((string[])["yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss.FFFFFFF", "yyyy-MM-dd HH:mm:ss"])
            .SelectMany(form => (string[])[form, form + "K"]), "yyyy-MM-dd"];

    private static string HintOfDate(string text) =>
        text.Split('/', '.', '-') is [{ Length: <= 2 } first, { Length: <= 2 } second, { Length: 4 } year]
            ? "write year, month, day: "
                + $"{year}-{second.PadLeft(2, '0')}-{first.PadLeft(2, '0')} or {year}-{first.PadLeft(2, '0')}-{second.PadLeft(2, '0')}"
            : "write year, month, day, such as 2011-03-13";

    /// <summary>How long: one number, a list of two, or the same under a key.</summary>
    public LengthRange Length(string key, long most)
    {
        ScenarioNode node = Find(key) ?? throw Wrong($"'{key}' is missing");
        (ScenarioNode first, ScenarioNode last) = node is SequenceNode { Items: [var low, var high] } ? (low, high) : (node, node);
        var range = new LengthRange((int)Parse(first, ParseLength, 0, most), (int)Parse(last, ParseLength, 0, most));
        return range.Min <= range.Max ? range : throw Wrong($"{range.Min} to {range.Max} is not a valid range");
    }

    /// <returns>Null when there is none.</returns>
    public (double Low, double High)? NumberRange() => Ends() is var (low, high) ? (Double(low), Double(high)) : null;

    /// <inheritdoc cref="NumberRange"/>
    public (long Low, long High)? IntegerRange() => Ends() is var (low, high) ? (Integer(low), Integer(high)) : null;

    /// <summary>The ends of a range of 32-bit numbers, which must be there.</summary>
    /// <param name="least">Allowed.</param>
    /// <param name="example">For whoever left them out.</param>
    public (int Low, int High) Int32Range(int least, string example)
    {
        (long low, long high) = IntegerRange() ?? throw Wrong("min and max are missing", example);
        return low >= least && high <= int.MaxValue && low <= high
            ? ((int)low, (int)high)
            : throw Wrong($"{low} to {high} is not a range within {least} to {int.MaxValue}");
    }

    public ScenarioNode Require(string key) =>
        _keys?.Find(key) ?? (Keys is [var only] && only == key ? _single : null) ?? throw Wrong($"'{key}' is missing");

    public IReadOnlyList<ScenarioNode> Items(string key) => (_single ?? _keys?.Find(key)) is SequenceNode { Items: { Count: > 0 } items }
        ? items
        : throw Wrong("expected a list of values");

    /// <returns>Null when there are none.</returns>
    public double[]? Weights(int count)
    {
        if (_keys?.Find("weights") is not { } node)
            return null;
        double[] weights = node is SequenceNode list ? [.. list.Items.Select(Double)] : throw Wrong("weights must be a list");
        if (weights.Length != count)
            throw Wrong($"{weights.Length} {(weights.Length == 1 ? "weight" : "weights")} for {count} values");
        return weights.All(w => w >= 0) && weights.Sum() is > 0 and < double.PositiveInfinity ? weights
            : throw Wrong("weights must be 0 or more, at least one above 0, and their sum a finite number");
    }

    /// <returns>For how many documents each of the values stands; null when they don't take turns.</returns>
    public long[]? Turns(int count)
    {
        if (_keys?.Find("turns") is not { } node)
            return null;
        long[] turns = node is SequenceNode list ? [.. list.Items.Select(item => Parsed(item, text => Quantities.ParseCount(text, 0)))]
            : throw Wrong("turns must be a list");
        return turns.Length != count ? throw Wrong($"{turns.Length} {(turns.Length == 1 ? "turn" : "turns")} for {count} values")
            : turns.Sum() > 0 ? turns : throw Wrong("turns must be 0 or more, and at least one above 0");
    }

    private IReadOnlyList<string> Keys => Generator.All.First(g => g.Name == _name).Keys;

    /// <summary>The first key is what a single value, without keys, means.</summary>
    private ScenarioNode? Find(string key) => _keys?.Find(key) ?? (Keys is [] || Keys[0] == key ? _single : null);

    private static bool IsGenerated(MappingNode node) => node.Entries is [{ Name: ['^', ..] }];

    private (ScenarioNode Low, ScenarioNode High)? Ends() => _single switch
    {
        SequenceNode { Items: [var low, var high] } => (low, high),
        _ => _keys?.Find("min") is { } min && _keys.Find("max") is { } max ? (min, max) : null,
    };

    private static long ParseLength(string text) =>
        text.EndsWith('B') || text.EndsWith('b') ? Quantities.ParseSize(text) : Quantities.ParseCount(text, 0);

    private long Integer(ScenarioNode node) => Parsed(node, text =>
        long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long plain) ? plain
            : Quantities.ParseCount(text, 0));

    private double Double(ScenarioNode node) => Parsed(node, text =>
        !double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out double value)
            ? throw new FormatException($"'{text}' is not a number")
        : double.IsFinite(value) ? value
            : throw new FormatException($"'{text}' is not a finite number; the greatest is 1.7976931348623157e308"));

    private long Parse(ScenarioNode node, Func<string, long> parse, long least, long most)
    {
        long value = Parsed(node, parse);
        return value >= least && value <= most ? value : throw Wrong($"'{value}' is not between {least} and {most}");
    }

    private T Parsed<T>(ScenarioNode node, Func<string, T> parse)
    {
        try
        {
            return parse(ScalarOf(_name, node).Text);
        }
        catch (FormatException e)
        {
            throw MappingReader.Wrong(node, $"{_name}: {e.Message}");
        }
    }

    private ScalarNode ScalarOf(string key, ScenarioNode node) =>
        node is ScalarNode scalar ? scalar with { Text = scalar.InValues }
            : throw MappingReader.Wrong(node, $"{_name}: {key} is {node.Describe()}; expected a single value");
}
