using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Figures;
using MongoPerf.Scenarios.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads what figures and tables a scenario's report shows, and checks the names in them.</summary>
/// <param name="parameters">The file's own, without those of the command line.</param>
/// <param name="rounds">With these parameters: their phases and operations may be named.</param>
/// <param name="text">What titles and parameters' values become with <c>--scale</c>.</param>
internal sealed class FigureReader(ScenarioParameters parameters, IReadOnlyList<PlanRound> rounds, ScaledText text)
{
    /// <summary>A picture has room for so much.</summary>
    private const int LongestTitle = 150;
    private const int MostPanels = 8;

    private readonly string[] _phases = [.. rounds.SelectMany(r => r.Phases).SelectMany(NamesOf).Distinct()];

    private readonly string[] _operations =
        [.. rounds.SelectMany(r => r.Phases).SelectMany(GroupsOf).SelectMany(g => g.Operations).Select(o => o.Operation.Name).Distinct()];

    /// <summary>What lines, rows and columns may be.</summary>
    private IReadOnlyList<string> Dimensions => [Dimension.Phase, Dimension.Operation, Dimension.Deployment, Dimension.Threads, Dimension.Clients, Dimension.Repeat, .. parameters.Names];

    /// <summary>The file has any.</summary>
    public static bool IsAsked(MappingReader top) => top.Find("figures") is not null || top.Find("tables") is not null;

    public IReadOnlyList<FigureInfo> Figures(MappingReader top) => [.. Listed(top, "figures").Select((node, i) => Figure(node, i + 1))];

    public IReadOnlyList<TableInfo> Tables(MappingReader top) => [.. Listed(top, "tables").Select((node, i) => Table(node, i + 1))];

    /// <summary>What results call it: of a growth its ways of writing, and what runs at each size.</summary>
    private static IEnumerable<string> NamesOf(Phase phase) => phase.Growth is { } growth ? [.. growth.Writes.Select(w => w.Name), .. growth.Each.Select(p => p.Name)] : [phase.Name];

    private static IEnumerable<PhaseGroup> GroupsOf(Phase phase) =>
        phase.Growth is { } growth ? [.. growth.Writes.SelectMany(w => w.Groups.Values), .. growth.Beside, .. growth.Each.SelectMany(p => p.Groups)] : phase.Groups;

    private static IReadOnlyList<ScenarioNode> Listed(MappingReader top, string key) => top.Find(key) switch
    {
        null => [],
        SequenceNode list => list.Items,
        { } other => throw MappingReader.Wrong(other, $"{key} is {other.Describe()}; expected a list"),
    };

    private FigureInfo Figure(ScenarioNode node, int number)
    {
        var reader = new MappingReader(node, $"figure {number}", ScenarioLanguage.Figure);
        reader.Require("x", $"one of {string.Join(", ", parameters.Names.Append(Dimension.Threads).Append(Dimension.Clients).Append(Dimension.Documents).Append(Dimension.Time))}");
        string x = reader.OneOf("x", [.. Dimensions, Dimension.Documents, Dimension.Time])!;
        ScenarioNode y = reader.Require("y", "a metric such as rate or p99");
        IReadOnlyList<string> metrics = reader.Texts("y", x == Dimension.Time ? TimeMetric.Names : FigureMetric.Names);
        if (metrics.Count is 0 or > MostPanels)
            throw MappingReader.Wrong(y, $"figure {number}: y has {metrics.Count} metrics; allowed: 1 to {MostPanels}");
        return new FigureInfo { Title = Title(reader, $"figure {number}"), X = x, Y = metrics, Lines = reader.OneOf("lines", Dimensions), To = text.EndOf(x, To(reader, x, $"figure {number}")), IsLogarithmic = reader.Flag("logarithmic"), Of = Choice(reader) };
    }

    private static double? To(MappingReader reader, string x, string what)
    {
        if (x == Dimension.Time)
            return reader.Duration("to");
        return reader.Text("to") is not { } end ? null : FigureAxis.NumberOf(end) ?? throw MappingReader.Wrong(reader.Find("to")!, $"{what}: to is '{end}'; expected a number such as 30 or 10M");
    }

    private TableInfo Table(ScenarioNode node, int number)
    {
        var reader = new MappingReader(node, $"table {number}", ScenarioLanguage.Table);
        reader.Require("rows", $"such as {parameters.Names.FirstOrDefault() ?? Dimension.Phase}");
        reader.Require("values", "such as rate");
        return new TableInfo
        {
            Title = Title(reader, $"table {number}"),
            Rows = reader.Texts("rows", Dimensions),
            Columns = reader.OneOf("columns", Dimensions),
            Values = reader.Texts("values", FigureMetric.Names),
            Of = Choice(reader),
        };
    }

    private string Title(MappingReader reader, string what)
    {
        ScenarioNode node = reader.Require("title", "such as title: Reads per second");
        string title = reader.ScalarOf("title", node).Text;
        return title.Length <= LongestTitle ? text.Of(title) : throw MappingReader.Wrong(node, $"{what}: title has {title.Length} characters; at most {LongestTitle} are allowed");
    }

    private ResultChoice Choice(MappingReader reader) =>
        new() { Phases = reader.Texts("phases", _phases), Operations = reader.Texts("operation", _operations), Where = [.. Where(reader)] };

    private IEnumerable<ParameterValue> Where(MappingReader reader)
    {
        if (reader.Find("where") is not { } node)
            yield break;
        if (node is not MappingNode mapping)
            throw MappingReader.Wrong(node, $"where is {node.Describe()}; expected names with values");
        foreach (MappingEntry entry in mapping.Entries)
        {
            string name = reader.OneOf("where", entry.Key, [Dimension.Deployment, Dimension.Threads, .. parameters.Names]);
            foreach (ScenarioNode item in entry.Value is SequenceNode list ? list.Items : [entry.Value])
            {
                ScalarNode value = reader.ScalarOf($"where.{name}", item);
                yield return new ParameterValue(
                    name, parameters.Names.Contains(name) ? text.Of(name, reader.OneOf($"where.{name}", value, [.. parameters.LabelsOf(name)])) : value.Text);
            }
        }
    }
}
