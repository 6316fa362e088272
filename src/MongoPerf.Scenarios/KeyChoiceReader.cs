using MongoPerf.Load.Keys;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads which documents operations are about: a name such as zipfian, or a name with its numbers.</summary>
internal static class KeyChoiceReader
{
    /// <summary>Name, form and meaning of each.</summary>
    public static IReadOnlyList<KeySet> Choices { get; } =
    [
        new("uniform", "Each is as likely as any other.", []),
        new("zipfian", "Few are very popular; they lie all over the collection, unless scrambled is false.",
            [
                new("theta", KeyKind.Number, "Skew, above 0 and below 1 [default: 0.99]."),
                new("scrambled", KeyKind.Flag, "[default: true]"),
            ]),
        new("latest", "The newest are the most popular.", [new("theta", KeyKind.Number, "Skew, above 0 and below 1 [default: 0.99].")]),
        new("hotspot", "A share of the operations goes to a share of the data.",
            [
                new("data", KeyKind.Number, "The share of the data, 0 to 1 [default: 0.2]."),
                new("operations", KeyKind.Number, "The share of the operations, 0 to 1 [default: 0.8]."),
            ]),
        new("exponential", "The newer, the more popular.",
            [
                new("percentile", KeyKind.Number,
                    "Percentage of the operations that go to the share of the data given by fraction [default: 95]."),
                new("fraction", KeyKind.Number, "Share of the data that those operations go to [default: 0.8571428571]."),
            ]),
        new("sequential", "One after the other, then from the start again.", []),
        new("first", "Only the first ones, a hot set: how many; --scale multiplies it.", []),
    ];

    private static IEnumerable<string> Names => Choices.Select(c => c.Name);

    public static KeyChoice Read(ScenarioNode node, CountScale scale) => node switch
    {
        ScalarNode scalar => Make(scalar, scalar.Text, null, scale),
        MappingNode { Entries: [var only] } => Make(only.Key, only.Name, only.Value, scale),
        _ => throw MappingReader.Wrong(node, $"key is {node.Describe()}; expected one of {string.Join(", ", Names)}",
            "such as 'zipfian', or {first: 10k}"),
    };

    private static KeyChoice Make(ScalarNode place, string name, ScenarioNode? argument, CountScale scale)
    {
        if (Choices.FirstOrDefault(c => c.Name == name) is not { } keys)
        {
            throw MappingReader.Wrong(place, $"key is '{name}'; allowed: {string.Join(", ", Names)}", NearestName.Hint(name, Names));
        }

        if (name == "first")
            return new FirstChoice(
                scale.Read(argument ?? throw MappingReader.Wrong(place, "key: 'first' needs a number", "such as {first: 10k}"), "first"));
        var reader = new MappingReader(argument ?? new MappingNode(place.Position, []), $"key: {name}", keys);
        return name switch
        {
            "uniform" => KeyChoice.Uniform,
            "zipfian" => new ZipfianChoice(Theta(reader), reader.Flag("scrambled", usual: true)),
            "latest" => new LatestChoice(Theta(reader)),
            "hotspot" => new HotspotChoice(reader.Number("data", 0, 1) ?? 0.2, reader.Number("operations", 0, 1) ?? 0.8),
            "exponential" => new ExponentialChoice(reader.Number("percentile", 0.001, 99.999) ?? 95,
                reader.Number("fraction", 1e-9, 1e9) ?? 0.8571428571),
            _ => new SequentialChoice(),
        };
    }

    private static double Theta(MappingReader reader) => reader.Number("theta", 0.001, 0.9999) ?? ZipfianKeys.UsualTheta;
}
