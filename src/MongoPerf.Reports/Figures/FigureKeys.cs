using MongoPerf.Storage;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Reports.Figures;

/// <summary>Reads the keys that figures of scenarios and plots have in common.</summary>
public static class FigureKeys
{
    /// <summary>More characters than a picture has room for.</summary>
    private const int LongestTitle = 150;

    /// <summary>More panels than a picture has room for.</summary>
    private const int MostMetrics = 8;

    /// <param name="reader">The mapping with the key title.</param>
    /// <param name="what">What has the title, for messages.</param>
    /// <exception cref="Texts.Input.UserException">It is missing or too long.</exception>
    public static string Title(MappingReader reader, string what)
    {
        ScenarioNode node = reader.Require("title", "such as title: Reads per second");
        string title = reader.ScalarOf("title", node).Text;
        return title.Length <= LongestTitle ? title
            : throw MappingReader.Wrong(node, $"{what}: title has {title.Length} characters; at most {LongestTitle} are allowed");
    }

    /// <summary>The metrics of the key y.</summary>
    /// <param name="reader">The mapping with the key y.</param>
    /// <param name="what">What has the metrics, for messages.</param>
    /// <param name="x">The dimension on the x-axis.</param>
    /// <exception cref="Texts.Input.UserException">One is unknown, or there are none or too many.</exception>
    public static IReadOnlyList<string> Metrics(MappingReader reader, string what, string x)
    {
        ScenarioNode y = reader.Require("y", "a metric such as rate or p99");
        IReadOnlyList<string> metrics = reader.Texts("y", x == Dimension.Time ? TimeMetric.Names : FigureMetric.Names);
        return metrics.Count is > 0 and <= MostMetrics ? metrics
            : throw MappingReader.Wrong(y, $"{what}: y has {metrics.Count} metrics; allowed: 1 to {MostMetrics}");
    }

    /// <summary>Where the x-axis ends: seconds of time; null where everything is shown.</summary>
    /// <inheritdoc cref="Metrics"/>
    public static double? To(MappingReader reader, string what, string x)
    {
        if (x == Dimension.Time)
            return reader.Duration("to");
        return reader.Text("to") is not { } end ? null
            : FigureAxis.NumberOf(end)
            ?? throw MappingReader.Wrong(reader.Find("to")!, $"{what}: to is '{end}'; expected a number such as 30 or 10M");
    }

    /// <summary>The values that results must have.</summary>
    /// <param name="reader">The mapping with the key where.</param>
    /// <param name="names">The names that are allowed; null for any.</param>
    /// <param name="valuesOf">The values that are allowed by name; null for any.</param>
    public static IEnumerable<ParameterValue> Where(
        MappingReader reader, IReadOnlyList<string>? names = null, Func<string, IReadOnlyList<string>?>? valuesOf = null)
    {
        if (reader.Find("where") is not { } node)
            yield break;
        if (node is not MappingNode mapping)
            throw MappingReader.Wrong(node, $"where is {node.Describe()}; expected names with values");
        foreach (MappingEntry entry in mapping.Entries)
        {
            string name = names is null ? entry.Name : reader.OneOf("where", entry.Key, names);
            foreach (ScenarioNode item in entry.Value is SequenceNode list ? list.Items : [entry.Value])
            {
                ScalarNode value = reader.ScalarOf($"where.{name}", item);
                yield return new ParameterValue(
                    name, valuesOf?.Invoke(name) is { } values ? reader.OneOf($"where.{name}", value, values) : value.Text);
            }
        }
    }
}
