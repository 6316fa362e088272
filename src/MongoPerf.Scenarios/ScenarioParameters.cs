using System.Globalization;
using System.Text.RegularExpressions;
using MongoPerf.Load.Documents;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>The parameters of a scenario: their values, and where they are put in.</summary>
/// <remarks>
/// A list, or a mapping of named values, is a sweep: what uses it is run once for each value. Where values are mappings, $(name.part) is a
/// part of the current one.
/// </remarks>
internal sealed partial class ScenarioParameters
{
    /// <summary>The file and the list of phases.</summary>
    private const int LevelsAbovePieces = 2;

    private readonly Dictionary<string, IReadOnlyList<NamedValue>> _values = [];
    private readonly List<ScalarNode> _names = [];

    /// <summary>Where single values were put in, by where they stand themselves.</summary>
    private readonly Dictionary<Position, HashSet<Position>> _uses = [];
    private CountScale? _scale;
    private HashSet<Position> _counts = [];

    /// <param name="node">The node, under "parameters"; null for none.</param>
    /// <param name="set">
    /// The values that the deployment sets, by names that are there; they win over the file's other values. Null for none.
    /// </param>
    /// <param name="overrides">The values of the command line, by name; whole values or lists with commas. They win over both.</param>
    /// <param name="changes">Gets each override.</param>
    /// <exception cref="UserException">An empty sweep, or an override of what is not there.</exception>
    public ScenarioParameters(
        ScenarioNode? node, MappingNode? set, IReadOnlyDictionary<string, string> overrides, List<StoredMessage> changes)
    {
        if (node is not null and not MappingNode)
            throw MappingReader.Wrong(node, $"parameters is {node.Describe()}; expected names with values");
        foreach (MappingEntry entry in (node as MappingNode)?.Entries ?? [])
        {
            _names.Add(entry.Key);
            _values[entry.Name] = Listed(entry.Name, entry.Value);
        }

        foreach (MappingEntry entry in set?.Entries ?? [])
            Set(entry.Name, entry.Value);
        foreach ((string name, string text) in overrides)
            Override(name, text, changes);
    }

    /// <summary>The names in the file's order.</summary>
    public IEnumerable<string> Names => _names.Select(n => n.Text);

    /// <summary>The values of one, in the file's order.</summary>
    public IReadOnlyList<NamedValue> ValuesOf(string name) => _values[name];

    /// <summary>The values of one by the file's own names.</summary>
    public IEnumerable<string> LabelsOf(string name) => _values[name].Select(v => v.Name);

    /// <summary>
    /// From now on, values that are read as counts are multiplied in values of documents and operations too: a key that is drawn among so
    /// many documents is to be among those that there are.
    /// </summary>
    /// <param name="scale">By which they are multiplied.</param>
    /// <param name="counts">Where single values stand that are read as counts.</param>
    public void Multiply(CountScale scale, IEnumerable<Position> counts) => (_scale, _counts) = (scale, [.. counts]);

    /// <summary>Where a single value of a parameter was put in.</summary>
    /// <param name="definedAt">Where it stands itself.</param>
    public IEnumerable<Position> UsesOf(Position definedAt) => _uses.GetValueOrDefault(definedAt) ?? [];

    /// <summary>Those that a tree refers to.</summary>
    public IReadOnlySet<string> UsedIn(MappingNode root)
    {
        var used = new HashSet<string>();
        Collect(root.With("parameters", null), used);
        return used;
    }

    /// <summary>Names of those that have several values, in the file's order.</summary>
    public IEnumerable<string> Sweeps => _names.Select(n => n.Text).Where(n => _values[n].Count > 1);

    /// <summary>The sweeps that a piece of the file uses.</summary>
    public IReadOnlyList<string> SweepsIn(ScenarioNode node)
    {
        var found = new HashSet<string>();
        Collect(node, found);
        return [.. Sweeps.Where(found.Contains)];
    }

    /// <summary>
    /// Every combination of the values of these sweeps; the last one changes fastest. One empty combination when there are none.
    /// </summary>
    public IEnumerable<IReadOnlyDictionary<string, NamedValue>> Combine(IReadOnlyList<string> sweeps)
    {
        IEnumerable<Dictionary<string, NamedValue>> combinations = [[]];
        foreach (string sweep in sweeps)
            combinations = combinations.SelectMany(c => _values[sweep].Select(v => new Dictionary<string, NamedValue>(c) { [sweep] = v }));
        return combinations;
    }

    /// <summary>The piece with its parameters put in and its ^if decided.</summary>
    /// <param name="node">The node of the file.</param>
    /// <param name="chosen">The value of each sweep in it.</param>
    /// <exception cref="UserException">A parameter that is not there, or that nests the piece too deep.</exception>
    public ScenarioNode Resolve(ScenarioNode node, IReadOnlyDictionary<string, NamedValue> chosen) =>
        Resolve(node, chosen, LevelsAbovePieces);

    private ScenarioNode Resolve(ScenarioNode node, IReadOnlyDictionary<string, NamedValue> chosen, int level) => node switch
    {
        ScalarNode scalar when NameIn(scalar) is { } name => PutIn(scalar, name, chosen, level),
        ScalarNode scalar => ResolveText(scalar, chosen),
        SequenceNode list => list with { Items = [.. list.Items.Select(item => Resolve(item, chosen, level + 1))] },
        MappingNode { Entries: [{ Name: Generator.If } only] } => Decide(only, chosen, level + 1),
        MappingNode mapping => Folded(mapping with
        {
            Entries = [.. mapping.Entries.Select(e => new MappingEntry(ResolveText(e.Key, chosen), Resolve(e.Value, chosen, level + 1)))],
        }),
        _ => node,
    };

    /// <summary>What is computed from plain whole numbers alone is one itself, wherever it stands: a count, a number of threads.</summary>
    private ScenarioNode Folded(MappingNode node)
    {
        if (node.Entries is not [{ Value: SequenceNode { Items: [_, _, ..] items } } only] || !ComputedValue.Names.Contains(only.Name)
            || !items.All(item => item is ScalarNode { IsQuoted: false } scalar && Whole(scalar.Text) is not null))
            return node;
        try
        {
            ScalarNode[] parts = [.. items.Cast<ScalarNode>()];
            foreach (ScalarNode part in parts.Where(part => part.DefinedAt is not null))
            {
                _uses[part.DefinedAt!.Value].Remove(part.Position);
                _uses[part.DefinedAt.Value].Add(node.Position);
            }

            return new ScalarNode(node.Position, Fold(part => part.Text), false)
            {
                Scaled = parts.Any(part => part.Scaled is not null) ? Fold(part => part.InValues) : null,
            };

            string Fold(Func<ScalarNode, string> text) => ComputedValue.Fold(only.Name, parts.Select(part => Whole(text(part))!.Value))
                .ToString(CultureInfo.InvariantCulture);
        }
        catch (OverflowException)
        {
            throw MappingReader.Wrong(node, $"{only.Name}: the result is beyond 64 bits");
        }
    }

    /// <summary>5, -5 or 10k.</summary>
    private static long? Whole(string text)
    {
        if (long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long plain))
            return plain;
        try
        {
            return Quantities.ParseCount(text, 0);
        }
        catch (FormatException)
        {
            return null;
        }
    }

    /// <summary>A value that is nothing but a parameter becomes what that is, a mapping maybe; its place stays this one.</summary>
    private ScenarioNode PutIn(ScalarNode scalar, string name, IReadOnlyDictionary<string, NamedValue> chosen, int level)
    {
        ScenarioNode value = Find(scalar, name, chosen).Node;
        if (value is ScalarNode single)
        {
            if (!_uses.TryGetValue(value.Position, out HashSet<Position>? uses))
                _uses.Add(value.Position, uses = []);
            uses.Add(scalar.Position);
            value = single with
            {
                DefinedAt = value.Position,
                Scaled = _counts.Contains(value.Position) && Whole(single.Text) is { } full
                    ? _scale!.InValues(full).ToString(CultureInfo.InvariantCulture) : null,
            };
        }

        return level + value.Levels <= NodeReader.MostLevels
            ? value with { Position = scalar.Position }
            : throw MappingReader.Wrong(
                scalar, $"parameter '{name}' makes this nested too deeply; at most {NodeReader.MostLevels} levels are allowed");
    }

    /// <param name="file">The file as it is written: what the command line replaced counts as used.</param>
    /// <exception cref="UserException">A parameter that nothing uses.</exception>
    public void RequireAllUsed(MappingNode file)
    {
        IReadOnlySet<string> used = UsedIn(file);
        foreach (ScalarNode name in _names.Where(n => !used.Contains(n.Text)))
            throw MappingReader.Wrong(name, $"parameter '{name.Text}' is never used", $"use it as $({name.Text}), or remove it");
    }

    private static IReadOnlyList<NamedValue> Listed(string name, ScenarioNode node)
    {
        IReadOnlyList<NamedValue> values = node switch
        {
            SequenceNode list => [.. list.Items.Select(item => new NamedValue(item.Label, item))],
            MappingNode mapping => [.. mapping.Entries.Select(e => new NamedValue(e.Name, e.Value))],
            _ => [new NamedValue(node.Label, node)],
        };
        return values.Count > 0 ? values : throw MappingReader.Wrong(node, $"parameter '{name}' has no value");
    }

    /// <summary>A value that the file has a name for is meant by that name.</summary>
    private void Set(string name, ScenarioNode node)
    {
        IReadOnlyList<NamedValue> old = _values[name];
        _values[name] = [.. Listed(name, node)
            .Select(value => old.FirstOrDefault(o => value.Node is ScalarNode && o.Name == value.Name) ?? value)];
    }

    private void Override(string name, string text, List<StoredMessage> changes)
    {
        if (!_values.TryGetValue(name, out IReadOnlyList<NamedValue>? old))
        {
            string[] known = [.. _values.Keys];
            string allowed = known.Length == 0 ? "the file has no parameters" : $"the file has {string.Join(", ", known)}";
            throw new UserException(ExitCode.WrongUsage, $"--set: no parameter '{name}'; {allowed}", NearestName.Hint(name, known));
        }

        // A place of its own for each, as for values in the file.
        _values[name] =
        [
            .. text.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries)
                .Select((value, i) => old.FirstOrDefault(o => o.Name == value)
                    ?? new NamedValue(value, new ScalarNode(new Position($"--set {name}", 1, i + 1), value, false))),
        ];
        if (_values[name].Count == 0)
            throw new UserException(ExitCode.WrongUsage, $"--set: {name} has no value");
        string said = string.Join(", ", old.Select(o => o.Name));
        if (said != string.Join(", ", _values[name].Select(value => value.Name)))
            changes.Add(new StoredMessage(MessageCode.ValueReplaced, name, "", text, "--set", said));
    }

    private static string? NameIn(ScalarNode scalar) =>
        Reference().Match(scalar.Text) is { Success: true } match && match.Length == scalar.Text.Length ? match.Groups[1].Value : null;

    private ScalarNode ResolveText(ScalarNode scalar, IReadOnlyDictionary<string, NamedValue> chosen) =>
        scalar.Text.Contains("$(", StringComparison.Ordinal) ? scalar with { Text = Replace(scalar, chosen) } : scalar;

    private string Replace(ScalarNode scalar, IReadOnlyDictionary<string, NamedValue> chosen) =>
        Reference().Replace(scalar.Text, match => Find(scalar, match.Groups[1].Value, chosen).Node is ScalarNode value
            ? value.Text
            : throw MappingReader.Wrong(
                scalar, $"parameter '{match.Groups[1].Value}' is not a single value, so it cannot be used inside a text"));

    private NamedValue Find(ScalarNode place, string reference, IReadOnlyDictionary<string, NamedValue> chosen)
    {
        string name = ParameterIn(reference);
        if (!chosen.TryGetValue(name, out NamedValue? value))
            value = _values.TryGetValue(name, out IReadOnlyList<NamedValue>? values) ? values[0] : throw Unknown(place, name);
        return name == reference ? value : Part(place, name, reference[(name.Length + 1)..], value);
    }

    /// <summary>The name before the dot of <c>run.threads</c>, unless a parameter is called so as a whole.</summary>
    private string ParameterIn(string reference) =>
        _values.ContainsKey(reference) || reference.IndexOf('.', StringComparison.Ordinal) is not (> 0 and var dot) ? reference
            : reference[..dot];

    private static NamedValue Part(ScalarNode place, string name, string part, NamedValue value)
    {
        if (value.Node is not MappingNode parts)
            throw MappingReader.Wrong(place, $"parameter '{name}' is {value.Node.Describe()}, which has no part '{part}'");
        return parts.Find(part) is { } node
            ? new NamedValue(value.Name, node)
            : throw MappingReader.Wrong(
                place,
                $"parameter '{name}': its value '{value.Name}' has no part '{part}'; allowed: "
                + $"{string.Join(", ", parts.Entries.Select(e => e.Name))}",
                NearestName.Hint(part, parts.Entries.Select(e => e.Name)));
    }

    private UserException Unknown(ScalarNode place, string name) => MappingReader.Wrong(
        place,
        $"no parameter '{name}'; {(_values.Count == 0 ? "the file has no parameters" : $"allowed: {string.Join(", ", _values.Keys)}")}",
        NearestName.Hint(name, _values.Keys));

    private ScenarioNode Decide(MappingEntry entry, IReadOnlyDictionary<string, NamedValue> chosen, int level)
    {
        if (entry.Value is not MappingNode parts || parts.Entries.Any(e => e.Name is not ("is" or "then" or "else"))
            || parts.Find("is") is not { } condition)
            throw MappingReader.Wrong(entry.Value, "^if takes the keys 'is', 'then' and 'else'; 'is' is required",
                "such as {^if: {is: $(all), then: 1, else: 2}}");
        bool holds = Resolve(condition, chosen, level) switch
        {
            ScalarNode { Text: "true" } => true,
            ScalarNode { Text: "false" } => false,
            { } other => throw MappingReader.Wrong(condition, $"^if: 'is' is {other.Describe()}; allowed: true, false"),
        };
        return parts.Find(holds ? "then" : "else") is { } branch
            ? Resolve(branch, chosen, level)
            : new ScalarNode(entry.Value.Position, "", false);
    }

    private void Collect(ScenarioNode node, HashSet<string> found)
    {
        switch (node)
        {
            case ScalarNode scalar:
                foreach (Match match in Reference().Matches(scalar.Text))
                    found.Add(ParameterIn(match.Groups[1].Value));
                break;
            case SequenceNode list:
                foreach (ScenarioNode item in list.Items)
                    Collect(item, found);
                break;
            case MappingNode mapping:
                foreach (MappingEntry entry in mapping.Entries)
                {
                    Collect(entry.Key, found);
                    Collect(entry.Value, found);
                }

                break;
        }
    }

    [GeneratedRegex(@"\$\(([A-Za-z_][\w.-]*)\)")]
    private static partial Regex Reference();
}

/// <param name="Name">What results call it.</param>
/// <param name="Node">The value.</param>
internal sealed record NamedValue(string Name, ScenarioNode Node);
