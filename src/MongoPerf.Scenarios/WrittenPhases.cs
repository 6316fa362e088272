using System.Globalization;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>
/// Checks the phases as they are written: once parameters are put in, a sweep's repetitions and its zeros look like mistakes.
/// </summary>
internal static class WrittenPhases
{
    /// <exception cref="UserException">Two phases of one name, or an operation that would never run.</exception>
    public static void Require(IReadOnlyList<ScenarioNode> phases)
    {
        RequireDifferentNames(phases);
        foreach ((int i, ScenarioNode phase) in phases.Index())
        {
            string name = PhaseReader.NameOf(phase, i + 1);
            RequireWeights(phase, $"phase '{name}'");
            foreach (ScenarioNode group in Items(phase, "groups"))
                RequireWeights(group, $"phase '{name}'");
        }
    }

    /// <summary>A line for each list of shares or weights that mixes fractions with percentages: 0.8 beside 20 is no 80 %.</summary>
    public static IEnumerable<string> Warnings(IReadOnlyList<ScenarioNode> phases)
    {
        foreach ((int i, ScenarioNode phase) in phases.Index())
        {
            string path = $"phase '{PhaseReader.NameOf(phase, i + 1)}'";
            IEnumerable<ScenarioNode> parts = [phase, .. Items(phase, "groups"), .. Items(phase, "beside"), .. Items(phase, "each"),
                .. Items(phase, "each").SelectMany(each => Items(each, "groups"))];
            foreach (string warning in parts.SelectMany(part => Mixed(Items(part, "operations"), "weight", path))
                .Concat(Mixed(Items(phase, "writes"), "share", path)))
                yield return warning;
        }
    }

    private static IEnumerable<string> Mixed(IEnumerable<ScenarioNode> items, string key, string path)
    {
        (ScalarNode Node, double Value)[] numbers =
        [
            .. items.OfType<MappingNode>().Select(item => item.Find(key)).OfType<ScalarNode>()
                .Select(node => (node,
                    double.TryParse(node.Text, NumberStyles.Float, CultureInfo.InvariantCulture, out double value) ? value : double.NaN))
                .Where(number => number.Item2 > 0),
        ];
        double sum = numbers.Sum(number => number.Value);
        // Percentages may well be below 1.
        if (Math.Abs(sum - 100) < 0.01 || numbers.FirstOrDefault(number => number.Value < 1) is not { Node: { } fraction } one
            || numbers.FirstOrDefault(number => number.Value > 1) is not { Node: { } other })
            yield break;
        yield return $"{fraction.Position}: {path}: {key} {fraction.Text} beside {key} {other.Text} makes {100 * one.Value / sum:0.#} % of "
            + "the sum (write all as fractions or all as percentages)";
    }

    private static void RequireDifferentNames(IReadOnlyList<ScenarioNode> phases)
    {
        var earlier = new Dictionary<string, ScenarioNode>();
        foreach ((int i, ScenarioNode phase) in phases.Index())
        {
            string name = PhaseReader.NameOf(phase, i + 1);
            if (earlier.TryGetValue(name, out ScenarioNode? first) && !MayRepeat(first, phase))
                throw MappingReader.Wrong((phase as MappingNode)?.Find("name") ?? phase,
                    $"phase '{name}': the phase at line {first.Position.Line} already has this name", Hint(phase));
            earlier[name] = phase;
            // What is made anew may be loaded again.
            if (Text(phase, "create") is { } created)
                earlier.Remove(PhaseReader.LoadName(created));
        }
    }

    /// <summary>Without names of their own a collection may be made, and the balancer set, several times.</summary>
    private static bool MayRepeat(ScenarioNode first, ScenarioNode second) =>
        Text(first, "name") is null && Text(second, "name") is null && ((MappingNode)second).Find("load") is null;

    private static string Hint(ScenarioNode phase) => Text(phase, "name") is null && Text(phase, "load") is { } loaded
        ? $"a collection is loaded once, unless a phase with create: {loaded} is between the loads"
        : "give it a name of its own: results are told apart by it";

    private static void RequireWeights(ScenarioNode node, string path)
    {
        foreach (MappingNode operation in Items(node, "operations").OfType<MappingNode>())
        {
            if (operation.Find("weight") is ScalarNode weight
                && double.TryParse(weight.Text, CultureInfo.InvariantCulture, out double value) && value == 0)
                throw MappingReader.Wrong(weight, $"{path}: weight is 0, so this operation would never run",
                    "remove the operation; a weight may be 0 only where it is a parameter's value, such as weight: $(reads)");
        }
    }

    private static IReadOnlyList<ScenarioNode> Items(ScenarioNode node, string key) => (node as MappingNode)?.Find(key) switch
    {
        SequenceNode list => list.Items,
        { } one => [one],
        null => [],
    };

    private static string? Text(ScenarioNode node, string key) => ((node as MappingNode)?.Find(key) as ScalarNode)?.Text;
}
