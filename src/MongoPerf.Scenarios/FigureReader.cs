using MongoPerf.Load.Plans;
using MongoPerf.Reports.Figures;
using MongoPerf.Storage;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads what figures and tables a scenario's report shows, and checks the names in them.</summary>
/// <param name="parameters">The file's own, without those of the command line.</param>
/// <param name="rounds">The rounds with these parameters: their phases and operations may be named.</param>
/// <param name="text">What titles and parameters' values become with <c>--scale</c>.</param>
internal sealed class FigureReader(ScenarioParameters parameters, IReadOnlyList<PlanRound> rounds, ScaledText text)
{
    private readonly string[] _phases = [.. rounds.SelectMany(r => r.Phases).SelectMany(NamesOf).Distinct()];

    private readonly string[] _operations =
        [.. rounds.SelectMany(r => r.Phases).SelectMany(GroupsOf).SelectMany(g => g.Operations).Select(o => o.Operation.Name).Distinct()];

    /// <summary>What lines, rows and columns may be.</summary>
    private IReadOnlyList<string> Dimensions =>
    [
        Dimension.Phase, Dimension.Operation, Dimension.Deployment, Dimension.Threads, Dimension.Clients,
        Dimension.Repeat, .. parameters.Names,
    ];

    /// <summary>The file has any.</summary>
    public static bool IsAsked(MappingReader top) => top.Find("figures") is not null || top.Find("tables") is not null;

    public IReadOnlyList<FigureInfo> Figures(MappingReader top) => [.. Listed(top, "figures").Select((node, i) => Figure(node, i + 1))];

    public IReadOnlyList<TableInfo> Tables(MappingReader top) => [.. Listed(top, "tables").Select((node, i) => Table(node, i + 1))];

    /// <summary>What results call it: of a growth its ways of writing, and what runs at each size.</summary>
    private static IEnumerable<string> NamesOf(Phase phase) =>
        phase.Growth is { } growth ? [.. growth.Writes.Select(w => w.Name), .. growth.Each.Select(p => p.Name)] : [phase.Name];

    private static IEnumerable<PhaseGroup> GroupsOf(Phase phase) =>
        phase.Growth is { } growth
            ? [.. growth.Writes.SelectMany(w => w.Groups.Values), .. growth.Beside, .. growth.Each.SelectMany(p => p.Groups)]
            : phase.Groups;

    private static IReadOnlyList<ScenarioNode> Listed(MappingReader top, string key) => top.Find(key) switch
    {
        null => [],
        SequenceNode list => list.Items,
        { } other => throw MappingReader.Wrong(other, $"{key} is {other.Describe()}; expected a list"),
    };

    private FigureInfo Figure(ScenarioNode node, int number)
    {
        string what = $"figure {number}";
        var reader = new MappingReader(node, what, FigureLanguage.Figure);
        string[] usual = [Dimension.Threads, Dimension.Clients, Dimension.Documents, Dimension.Time];
        reader.Require("x", $"one of {string.Join(", ", parameters.Names.Concat(usual))}");
        string x = reader.OneOf("x", [.. Dimensions, Dimension.Documents, Dimension.Time])!;
        return new FigureInfo
        {
            X = x,
            Y = FigureKeys.Metrics(reader, what, x),
            Title = text.Of(FigureKeys.Title(reader, what)),
            Lines = reader.OneOf("lines", Dimensions),
            To = text.EndOf(x, FigureKeys.To(reader, what, x)),
            IsLogarithmic = reader.Flag("logarithmic"),
            Of = Choice(reader),
        };
    }

    private TableInfo Table(ScenarioNode node, int number)
    {
        string what = $"table {number}";
        var reader = new MappingReader(node, what, FigureLanguage.Table);
        reader.Require("rows", $"such as {parameters.Names.FirstOrDefault() ?? Dimension.Phase}");
        reader.Require("values", "such as rate");
        return new TableInfo
        {
            Title = text.Of(FigureKeys.Title(reader, what)),
            Rows = reader.Texts("rows", Dimensions),
            Columns = reader.OneOf("columns", Dimensions),
            Values = reader.Texts("values", FigureMetric.Names),
            Of = Choice(reader),
        };
    }

    private ResultChoice Choice(MappingReader reader) => new()
    {
        Phases = reader.Texts("phases", _phases), Operations = reader.Texts("operation", _operations), Where = [.. Where(reader)],
    };

    private IEnumerable<ParameterValue> Where(MappingReader reader) => FigureKeys
        .Where(reader, [Dimension.Deployment, Dimension.Threads, .. parameters.Names],
            name => IsParameter(name) ? [.. parameters.LabelsOf(name)] : null)
        .Select(one => IsParameter(one.Name) ? one with { Value = text.Of(one.Name, one.Value) } : one);

    private bool IsParameter(string name) => parameters.Names.Contains(name);
}
