using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Reads the conditions that the data must meet, and which of them a phase looks at.</summary>
internal static class CheckReader
{
    private const string All = "all";

    /// <param name="node">The list; null for none.</param>
    /// <param name="data">The collections that the file describes.</param>
    /// <param name="fields">Gets the fields that they name.</param>
    /// <exception cref="UserException">One that is incomplete, writes or draws values, or two of a name.</exception>
    public static IReadOnlyList<AggregateDocuments> Read(ScenarioNode? node, IReadOnlyList<PlanCollection> data, FieldCheck fields)
    {
        if (node is null or ScalarNode { IsNull: true })
            return [];
        if (node is not SequenceNode list)
            throw MappingReader.Wrong(node, $"checks is {node.Describe()}; expected a list of checks",
                "such as checks: [{name: every order has a customer, aggregate: orders, pipeline: [{$match: {customer: null}}]}]");
        var checks = new List<AggregateDocuments>();
        foreach (ScenarioNode item in list.Items)
        {
            var reader = new MappingReader(item, "check", ScenarioLanguage.Check);
            AggregateDocuments check = Read(reader, data);
            if (checks.Any(other => other.Name == check.Name))
                throw MappingReader.Wrong(reader.Find("name")!, $"check: two checks are called '{check.Name}'", "give it another name");
            fields.Add(check, reader, $"check '{check.Name}'");
            checks.Add(check);
        }

        return checks;
    }

    /// <summary>Those that a phase looks at: all, or some by name.</summary>
    /// <param name="node">What stands under the phase's key.</param>
    /// <param name="phase">Its name.</param>
    /// <param name="checks">The file's.</param>
    public static IReadOnlyList<AggregateDocuments> Choose(ScenarioNode node, string phase, IReadOnlyList<AggregateDocuments> checks)
    {
        string what = $"phase '{phase}': checks";
        if (checks.Count == 0)
            throw MappingReader.Wrong(node, $"{what}: the file has none", "add checks: [{name: …, aggregate: …, pipeline: […]}]");
        return node switch
        {
            ScalarNode { Text: All } => checks,
            SequenceNode { Items: [_, ..] items } => [.. items.Select(item => Named(item, what, checks))],
            ScalarNode { IsNull: false } => [Named(node, what, checks)],
            _ => throw MappingReader.Wrong(node, $"{what} is {node.Describe()}; allowed: {All}, a name, or a list of names"),
        };
    }

    private static AggregateDocuments Named(ScenarioNode node, string what, IReadOnlyList<AggregateDocuments> checks)
    {
        string name = (node as ScalarNode)?.Text ?? throw MappingReader.Wrong(node, $"{what}: expected the name of a check");
        string[] names = [.. checks.Select(check => check.Name)];
        return checks.FirstOrDefault(check => check.Name == name) ?? throw MappingReader.Wrong(
            node, $"{what}: no check '{name}'; allowed: {string.Join(", ", names)}", NearestName.Hint(name, names));
    }

    private static AggregateDocuments Read(MappingReader reader, IReadOnlyList<PlanCollection> data)
    {
        const string Example = "such as name: every order has its lines";
        reader.Require("name", Example);
        string name = reader.Text("name")!;
        if (name.Length == 0 || name.Any(char.IsControl))
            throw MappingReader.Wrong(reader.Find("name")!, "check: its name is empty, or contains a control character", Example);
        ScenarioNode about = reader.Require("aggregate", "the collection's name");
        string collection = reader.Text("aggregate")!;
        string[] known = [.. data.Where(c => c.Files is null).Select(c => c.Name)];
        if (!known.Contains(collection))
            throw MappingReader.Wrong(about, $"check '{name}': no collection '{collection}' in data; allowed: {string.Join(", ", known)}",
                NearestName.Hint(collection, known));
        ScenarioNode stages = reader.Require("pipeline", "such as pipeline: [{$match: {total: {$lt: 0}}}]");
        Operators.RequirePipeline(stages, $"check '{name}': pipeline");
        var templates = new TemplateReader(null, new ValueSources(0, FilesFolder.None));
        var check = new AggregateDocuments(name, collection, templates.Array(stages, $"check '{name}': pipeline"))
        {
            AllowDiskUse = reader.Flag("allowDiskUse"),
        };
        if (check.IsWrite)
            throw MappingReader.Wrong(stages, $"check '{name}': a check only reads, so $out and $merge are not allowed");
        return check.Pipeline.IsConstant ? check
            : throw MappingReader.Wrong(stages, $"check '{name}': generated values are not allowed: it must mean the same each time");
    }
}
