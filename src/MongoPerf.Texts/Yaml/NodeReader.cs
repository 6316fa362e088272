using MongoPerf.Texts.Input;
using YamlDotNet.Core;
using YamlDotNet.Core.Events;

namespace MongoPerf.Texts.Yaml;

/// <summary>
/// Builds nodes from a parser's events: bounds and aliases are checked as they come, before anything is nested or copied.
/// </summary>
/// <param name="file">The file as errors are to name it.</param>
/// <param name="parser">Stands on the first event of a node.</param>
public sealed class NodeReader(string file, IParser parser)
{
    /// <summary>The hint for a mapping that has an operation's changes twice: beside its name, and once more.</summary>
    public const string HintOfChanges = "what an operation changes stands under 'with', such as with: {$set: {name: ^word}}";

    /// <summary>
    /// Lists and mappings inside one another. A template is nested less deep than its file, so BSON's bound of 100 holds for it too.
    /// </summary>
    public const int MostLevels = 100;

    /// <summary>The most values of the whole file, what aliases stand for included.</summary>
    private const int MostValues = 200_000;

    private readonly Dictionary<AnchorName, Anchored> _anchors = [];
    private int _values;

    /// <param name="level">Lists and mappings around the node.</param>
    /// <exception cref="UserException">
    /// Too deep, too many values, a tag, an alias of what is not there yet, a key that is no text or comes twice.
    /// </exception>
    /// <exception cref="YamlException">The parser's.</exception>
    public ScenarioNode Read(int level = 0)
    {
        ParsingEvent current = Take();
        Position position = At(current);
        if (current is AnchorAlias alias)
            return Find(alias.Value, position, level);
        var start = (NodeEvent)current;
        RequireNoTag(position, start.Tag);
        int before = _values;
        Add(1, position);
        // What stands inside a value can't name it.
        if (!start.Anchor.IsEmpty)
            _anchors[start.Anchor] = new Anchored(null, 0);
        ScenarioNode node = start switch
        {
            Scalar scalar => new ScalarNode(position, scalar.Value, scalar.Style is not (ScalarStyle.Plain or ScalarStyle.Any)),
            SequenceStart => Sequence(position, Deeper(level, 1, position)),
            _ => Mapping(position, Deeper(level, 1, position)),
        };
        if (!start.Anchor.IsEmpty)
            _anchors[start.Anchor] = new Anchored(node, _values - before);
        return node;
    }

    private SequenceNode Sequence(Position position, int level)
    {
        var items = new List<ScenarioNode>();
        while (parser.Current is not SequenceEnd)
            items.Add(Read(level));
        Take();
        return new SequenceNode(position, items);
    }

    private MappingNode Mapping(Position position, int level)
    {
        var entries = new List<MappingEntry>();
        var names = new HashSet<string>();
        while (parser.Current is not MappingEnd)
        {
            Position place = At(parser.Current!);
            if (Read(level) is not ScalarNode key)
                throw Wrong(place, "a key must be a single text");
            if (key.Text.Any(char.IsControl))
                throw Wrong(place, "a key contains a control character");
            if (!names.Add(key.Text))
                throw Wrong(place, $"the key '{key.Text}' appears twice", key.Text is "update" or "replace" ? HintOfChanges : null);
            entries.Add(new MappingEntry(key, Read(level)));
        }

        Take();
        return new MappingNode(position, entries);
    }

    private ScenarioNode Find(AnchorName name, Position position, int level)
    {
        if (!_anchors.TryGetValue(name, out Anchored found))
            throw Wrong(position, $"the alias *{name} has no anchor &{name} before it");
        if (found.Node is not { } node)
            throw Wrong(position, $"the alias *{name} is inside the value that it stands for, which would never end");
        Deeper(level, node.Levels, position);
        Add(found.Values, position);
        return node;
    }

    private static int Deeper(int level, int by, Position position) =>
        level + by <= MostLevels ? level + by : throw Wrong(position, $"nested too deeply; at most {MostLevels} levels are allowed");

    /// <summary>Aliases may name a value many times over: a small file must not become a huge tree.</summary>
    private void Add(int values, Position position)
    {
        _values += values;
        if (_values > MostValues)
            throw Wrong(position, $"too many values; at most {MostValues:N0} are allowed, counting those that aliases stand for");
    }

    private static void RequireNoTag(Position position, TagName tag)
    {
        if (!tag.IsEmpty && !tag.IsNonSpecific)
            throw Wrong(position, $"the tag {tag.Value} is not supported",
                "write types as values, such as {$numberLong: 5}, or as generators, such as {^long: [0, 9]}");
    }

    private ParsingEvent Take()
    {
        ParsingEvent current = parser.Current!;
        parser.MoveNext();
        return current;
    }

    private Position At(ParsingEvent place) => new(file, (int)place.Start.Line, (int)place.Start.Column);

    private static UserException Wrong(Position position, string message, string? hint = null) =>
        new(ExitCode.WrongUsage, $"{position}: {message}", hint);

    /// <param name="Node">Null until its end has been read.</param>
    /// <param name="Values">How many values are in it.</param>
    private readonly record struct Anchored(ScenarioNode? Node, int Values);
}
