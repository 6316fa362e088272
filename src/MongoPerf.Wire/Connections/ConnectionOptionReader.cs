using System.Globalization;
using MongoPerf.Wire.Compression;

namespace MongoPerf.Wire.Connections;

/// <summary>
/// Turns the options' texts into values. What can't be used is left out and noted: the URI options specification has drivers warn of it,
/// MongoPerf refuses it.
/// </summary>
internal sealed class ConnectionOptionReader
{
    /// <summary>Values by the specification's names: string, bool, int, list of strings, dictionary, list of dictionaries.</summary>
    public Dictionary<string, object> Values { get; } = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Old names of options that are applied all the same.</summary>
    public List<string> Warnings { get; } = [];

    /// <summary>One for each option that is left out.</summary>
    public List<ConnectionStringException> Faults { get; } = [];

    /// <summary>authMechanismProperties was there and could not be used, so rules about what it must hold say nothing.</summary>
    public bool PropertiesWereIgnored { get; private set; }

    public static ConnectionOptionReader Read(IReadOnlyList<(string Name, string RawValue)> options)
    {
        var reader = new ConnectionOptionReader();
        foreach ((string name, string raw) in options)
            reader.ReadOption(name, raw, options);
        return reader;
    }

    private void ReadOption(string name, string raw, IReadOnlyList<(string Name, string RawValue)> all)
    {
        if (ConnectionOptionRule.Deprecated.TryGetValue(name, out string? current))
        {
            if (all.Any(option => option.Name.Equals(current, StringComparison.OrdinalIgnoreCase)))
            {
                Faults.Add(new($"{name} and {current} are two names for the same option; give only one"));
                return;
            }

            Warnings.Add($"option '{name}' is called {current} now");
            name = current;
        }

        if (!ConnectionOptionRule.ByName.TryGetValue(name, out ConnectionOptionRule? rule))
        {
            Faults.Add(new($"unknown option '{name}'") { Typed = name, Allowed = [.. ConnectionOptionRule.ByName.Keys] });
            return;
        }

        object? value = Convert(rule, raw);
        if (value is null)
            return;
        if (rule.Kind == ConnectionOptionKind.Tags)
            AddTags(rule.Name, (IReadOnlyDictionary<string, string>)value);
        else
            Add(rule, value);
    }

    private void AddTags(string name, IReadOnlyDictionary<string, string> tags)
    {
        if (!Values.TryGetValue(name, out object? sets))
            Values[name] = sets = new List<IReadOnlyDictionary<string, string>>();
        ((List<IReadOnlyDictionary<string, string>>)sets).Add(tags);
    }

    private void Add(ConnectionOptionRule rule, object value)
    {
        string name = rule.Name.Equals("ssl", StringComparison.Ordinal) ? "tls" : rule.Name;
        if (Values.TryGetValue(name, out object? earlier))
        {
            if (name == "tls")
            {
                if (!earlier.Equals(value))
                    throw new ConnectionStringException("tls and ssl are two names of one option and must agree");
                return;
            }

            if (name.StartsWith("proxy", StringComparison.Ordinal))
                throw new ConnectionStringException($"{name} is given twice; give it once");
            Faults.Add(new($"{name} is given twice; give it once"));
        }

        Values[name] = value;
    }

    private object? Convert(ConnectionOptionRule rule, string raw)
    {
        if (rule.Kind == ConnectionOptionKind.Properties)
            return ConvertProperties(raw);
        string text = PercentEncoding.Decode(raw, $"the value of {rule.Name}");
        if (rule.Name == "authSource" && text.Length == 0)
            throw new ConnectionStringException("authSource is empty, a database's name is expected");
        if (text.Length == 0 && rule.Kind != ConnectionOptionKind.Tags)
            return LeaveOut($"{rule.Name} is empty{(AllowedFor(rule) is { } allowed ? $"; allowed: {allowed}" : "")}");
        return rule.Kind switch
        {
            ConnectionOptionKind.Boolean => ConvertBoolean(rule, text),
            ConnectionOptionKind.Integer => ConvertInteger(rule, text),
            ConnectionOptionKind.Nodes => ConvertNodes(text),
            ConnectionOptionKind.Tags => ConvertTags(rule, text),
            ConnectionOptionKind.Compressors => ConvertCompressors(text),
            _ => ConvertText(rule, text),
        };
    }

    private object? ConvertBoolean(ConnectionOptionRule rule, string text) => text switch
    {
        "true" => true,
        "false" => false,
        _ => LeaveOut(rule, text, ["true", "false"]),
    };

    private object? ConvertInteger(ConnectionOptionRule rule, string text)
    {
        bool isNumber = int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out int number);
        if (isNumber && ((number >= rule.Minimum && number <= rule.Maximum) || number == rule.Special))
            return number;
        return LeaveOut($"{rule.Name} is {Show(text)}; allowed: {AllowedFor(rule)}");
    }

    private static object ConvertNodes(string text)
    {
        if (!int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out int number))
            return text;
        return number >= 0 ? number : throw new ConnectionStringException($"w is {number}; allowed: 0 or more, or a name");
    }

    private object? ConvertTags(ConnectionOptionRule rule, string text)
    {
        var tags = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string pair in text.Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            int colon = pair.IndexOf(':', StringComparison.Ordinal);
            if (colon < 0)
                return LeaveOut($"{rule.Name} has {Show(pair)}; name:value pairs separated by commas are expected");
            tags[pair[..colon]] = pair[(colon + 1)..];
        }

        return tags;
    }

    private List<string>? ConvertCompressors(string text)
    {
        string[] names = text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        foreach (string name in names.Except(Compressors.Known, StringComparer.Ordinal))
            LeaveOut($"compressors has {Show(name)}; allowed: {string.Join(", ", Compressors.Known)}", name, [.. Compressors.Known]);
        string[] known = [.. names.Intersect(Compressors.Known, StringComparer.Ordinal)];
        return known.Length == 0 ? null : [.. known];
    }

    private object? ConvertText(ConnectionOptionRule rule, string text)
    {
        if (rule.Allowed is null)
            return text;
        return rule.Allowed.FirstOrDefault(word => word.Equals(text, StringComparison.OrdinalIgnoreCase))
            ?? LeaveOut(rule, text, rule.Allowed);
    }

    /// <remarks>
    /// Split before decoding: a value may hold an encoded colon or ampersand. Values are never shown, some are session tokens.
    /// </remarks>
    private Dictionary<string, string>? ConvertProperties(string raw)
    {
        const string Name = "authMechanismProperties";
        if (!raw.Contains(':', StringComparison.Ordinal))
            raw = PercentEncoding.Decode(raw, Name);
        var properties = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string pair in raw.Split(','))
        {
            int colon = pair.IndexOf(':', StringComparison.Ordinal);
            string value = colon < 0 ? "" : PercentEncoding.Decode(pair[(colon + 1)..], Name);
            if (colon <= 0 || value.Contains(',', StringComparison.Ordinal))
            {
                PropertiesWereIgnored = true;
                if (raw != ConnectionString.Mask)
                    LeaveOut($"{Name}: NAME:value pairs separated by commas are expected, without a comma in a value");
                return null;
            }

            properties[PercentEncoding.Decode(pair[..colon], Name)] = value;
        }

        return properties;
    }

    private static string? AllowedFor(ConnectionOptionRule rule) => rule switch
    {
        { Kind: ConnectionOptionKind.Boolean } => "true, false",
        { Kind: ConnectionOptionKind.Integer } => $"{(rule.Special is { } value ? $"{value} and " : "")}{rule.Minimum} to {rule.Maximum}",
        { Kind: ConnectionOptionKind.Compressors } => string.Join(", ", Compressors.Known),
        { Allowed: { } words } => string.Join(", ", words),
        _ => null,
    };

    /// <summary>What holds an at sign may be the end of a password that was not percent-encoded.</summary>
    private static string Show(string text) => text.Contains('@', StringComparison.Ordinal) ? $"'{ConnectionString.Mask}'" : $"'{text}'";

    private object? LeaveOut(ConnectionOptionRule rule, string text, string[] allowed) =>
        LeaveOut($"{rule.Name} is {Show(text)}; allowed: {AllowedFor(rule)}", text, allowed);

    /// <returns>Always null: the option has no value.</returns>
    private object? LeaveOut(string why, string? typed = null, string[]? allowed = null)
    {
        Faults.Add(new(why) { Typed = typed, Allowed = allowed ?? [] });
        return null;
    }
}
