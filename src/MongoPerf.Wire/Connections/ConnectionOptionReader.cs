using System.Globalization;
using MongoPerf.Wire.Compression;

namespace MongoPerf.Wire.Connections;

/// <summary>Turns the options' texts into values; what can't be used is left out with a warning, as the URI options specification has it.</summary>
internal sealed class ConnectionOptionReader
{
    /// <summary>Values by the specification's names: string, bool, int, list of strings, dictionary, list of dictionaries.</summary>
    public Dictionary<string, object> Values { get; } = new(StringComparer.OrdinalIgnoreCase);

    public List<string> Warnings { get; } = [];

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
            bool replaced = all.Any(option => option.Name.Equals(current, StringComparison.OrdinalIgnoreCase));
            Warnings.Add($"option '{name}' is called {current} now" + (replaced ? "; it is ignored, as that one is given too" : ""));
            if (replaced)
                return;
            name = current;
        }

        if (!ConnectionOptionRule.ByName.TryGetValue(name, out ConnectionOptionRule? rule))
        {
            Warnings.Add($"unknown option '{name}' is ignored");
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
                throw new ConnectionStringException($"{name} is given twice, once is allowed");
            Warnings.Add($"option '{name}' is repeated; the last one counts");
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
            return Ignore(rule, "it is empty");
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
        _ => Ignore(rule, $"it is '{text}'; allowed: true and false"),
    };

    private object? ConvertInteger(ConnectionOptionRule rule, string text)
    {
        bool isNumber = int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out int number);
        if (isNumber && ((number >= rule.Minimum && number <= rule.Maximum) || number == rule.Special))
            return number;
        string special = rule.Special is { } value ? $"{value} and " : "";
        return Ignore(rule, $"it is '{text}'; allowed: {special}{rule.Minimum} to {rule.Maximum}");
    }

    private static object ConvertNodes(string text)
    {
        if (!int.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out int number))
            return text;
        return number >= 0 ? number : throw new ConnectionStringException($"w is {number}; allowed: 0 and more, or a name");
    }

    private object? ConvertTags(ConnectionOptionRule rule, string text)
    {
        var tags = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string pair in text.Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            int colon = pair.IndexOf(':', StringComparison.Ordinal);
            if (colon < 0)
                return Ignore(rule, $"'{pair}' is not of the form name:value");
            tags[pair[..colon]] = pair[(colon + 1)..];
        }

        return tags;
    }

    private List<string>? ConvertCompressors(string text)
    {
        var known = new List<string>();
        foreach (string name in text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            if (Compressors.Known.Contains(name, StringComparer.Ordinal))
                known.Add(name);
            else
                Warnings.Add($"compressor '{name}' is ignored; allowed: {string.Join(", ", Compressors.Known)}");
        }

        return known.Count == 0 ? null : known;
    }

    private object? ConvertText(ConnectionOptionRule rule, string text)
    {
        if (rule.Allowed is null)
            return text;
        return rule.Allowed.FirstOrDefault(word => word.Equals(text, StringComparison.OrdinalIgnoreCase))
            ?? Ignore(rule, $"it is '{text}'; allowed: {string.Join(", ", rule.Allowed)}");
    }

    /// <remarks>Split before decoding: a value may hold an encoded colon or ampersand. Values are never shown, some are session tokens.</remarks>
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
                Warnings.Add($"option '{Name}' is ignored: NAME:value pairs parted by commas are expected, without a comma in a value");
                return null;
            }

            properties[PercentEncoding.Decode(pair[..colon], Name)] = value;
        }

        return properties;
    }

    private object? Ignore(ConnectionOptionRule rule, string why)
    {
        Warnings.Add(rule.IsSecret ? $"option '{rule.Name}' is ignored: its value is not allowed" : $"option '{rule.Name}' is ignored: {why}");
        return null;
    }
}
