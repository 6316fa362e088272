namespace MongoPerf.Texts.Yaml;

/// <summary>Where something stands in a file; 1-based.</summary>
public readonly record struct Position(string File, int Line, int Column)
{
    /// <summary>The place of a value that no file holds.</summary>
    public static Position CommandLine { get; } = new("command line", 0, 0);

    public override string ToString() => Line == 0 ? File : $"{File}:{Line}";
}

/// <summary>A piece of a scenario file, with the place where it stands.</summary>
public abstract record ScenarioNode(Position Position)
{
    /// <summary>Describes the node for messages.</summary>
    public abstract string Describe();

    /// <summary>Short text for tables and charts: what a parameter's value is called.</summary>
    public abstract string Label { get; }

    /// <summary>All single values in it.</summary>
    public IEnumerable<ScalarNode> Scalars => this switch
    {
        ScalarNode scalar => [scalar],
        SequenceNode list => list.Items.SelectMany(item => item.Scalars),
        MappingNode mapping => mapping.Entries.SelectMany(entry => entry.Value.Scalars),
        _ => [],
    };

    /// <summary>Lists and mappings inside one another, this one included; 0 for a single value.</summary>
    public virtual int Levels => 0;
}

/// <param name="Position">Where.</param>
/// <param name="Text">The text without quotes.</param>
/// <param name="IsQuoted">The text is quoted, so it is a text whatever it looks like.</param>
public sealed record ScalarNode(Position Position, string Text, bool IsQuoted) : ScenarioNode(Position)
{
    /// <summary>Typed on the command line: <c>--scale</c> leaves it as it is.</summary>
    public bool IsExact { get; init; }

    /// <summary>Where a parameter's value that was put in stands itself. Null for anything else.</summary>
    public Position? DefinedAt { get; init; }

    /// <summary>
    /// What stands here in values of documents and operations, where <c>--scale</c> multiplies it; null where it does not.
    /// </summary>
    public string? Scaled { get; init; }

    /// <summary>The text in values of documents and operations.</summary>
    public string InValues => Scaled ?? Text;

    public bool IsNull => !IsQuoted && Text is "" or "~" or "null" or "Null" or "NULL";

    public override string Describe() => IsNull ? "nothing" : $"'{Text}'";

    public override string Label => Text;
}

public sealed record SequenceNode(Position Position, IReadOnlyList<ScenarioNode> Items) : ScenarioNode(Position)
{
    public override string Describe() => "a list";

    public override int Levels => 1 + Items.Select(item => item.Levels).DefaultIfEmpty().Max();

    public override string Label => $"[{string.Join(", ", Items.Select(item => item.Label))}]";
}

public sealed record MappingNode(Position Position, IReadOnlyList<MappingEntry> Entries) : ScenarioNode(Position)
{
    public override string Describe() => "a mapping";

    public override int Levels => 1 + Entries.Select(e => e.Value.Levels).DefaultIfEmpty().Max();

    public override string Label => $"{{{string.Join(", ", Entries.Select(e => $"{e.Name}: {e.Value.Label}"))}}}";

    public ScenarioNode? Find(string name) => Entries.FirstOrDefault(e => e.Name == name)?.Value;

    /// <summary>The same with one entry set, or taken out when the value is null.</summary>
    public MappingNode With(string name, ScenarioNode? value)
    {
        var entries = Entries.Where(e => e.Name != name || value is not null)
            .Select(e => e.Name == name ? e with { Value = value! } : e).ToList();
        if (value is not null && Find(name) is null)
            entries.Add(new MappingEntry(new ScalarNode(value.Position, name, false), value));
        return this with { Entries = entries };
    }
}

public sealed record MappingEntry(ScalarNode Key, ScenarioNode Value)
{
    public string Name => Key.Text;
}
