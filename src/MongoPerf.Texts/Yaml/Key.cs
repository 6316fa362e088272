namespace MongoPerf.Texts.Yaml;

/// <summary>What a key's value may be; the JSON Schema and the reader's messages come from it.</summary>
public enum KeyKind
{
    Text,
    Flag,

    /// <summary>A whole number such as 500M.</summary>
    Count,

    /// <summary>A count, or a list of counts that gives a result for each.</summary>
    Counts,
    Number,

    /// <summary>
    /// A value, a list of values that gives a result for each, or its course over time: a list of mappings of <see cref="Key.Of"/>.
    /// </summary>
    Course,

    /// <summary>The duration, such as 90s.</summary>
    Duration,

    /// <summary>The size, such as 1MB.</summary>
    Size,

    /// <summary>A size, or the word none.</summary>
    SizeOrNone,

    /// <summary>Any value, generators among them.</summary>
    Value,

    /// <summary>A mapping with any keys, generators among them.</summary>
    Document,
    Values,
    Documents,
    Texts,
    KeyChoice,

    /// <summary>A mapping with keys of its own: <see cref="Key.Of"/>.</summary>
    Mapping,

    /// <summary>A list of these.</summary>
    Mappings,

    /// <summary>Names of the user's own, each with a mapping.</summary>
    NamedMappings,
}

/// <summary>One key of the language.</summary>
/// <param name="Name">The name as it is written.</param>
/// <param name="Kind">What its value may be.</param>
/// <param name="Description">A sentence for editors and docs.</param>
/// <param name="Of">The keys of its mappings.</param>
public sealed record Key(string Name, KeyKind Kind, string Description, KeySet? Of = null)
{
    /// <summary>The only values that are allowed, of a mapping beside the mapping itself; null when there is no such list.</summary>
    public IReadOnlyList<string>? Allowed { get; init; }

    /// <summary>What the items of a list of mappings without keys of their own are, such as operation; the schema defines it.</summary>
    public string Items { get; init; } = "operation";
}

/// <summary>The keys that a mapping may have.</summary>
/// <param name="Name">The name of the kind of mapping, such as phase.</param>
/// <param name="Description">A sentence.</param>
/// <param name="Keys">All of them.</param>
public sealed record KeySet(string Name, string Description, IReadOnlyList<Key> Keys)
{
    public IEnumerable<string> Names => Keys.Select(k => k.Name);
}
