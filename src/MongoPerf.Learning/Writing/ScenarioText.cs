using System.Globalization;
using System.Text;
using MongoPerf.Learning.Sampling;

namespace MongoPerf.Learning.Writing;

/// <summary>The whole file.</summary>
public static class ScenarioText
{
    internal const string NothingSeen = "not learned: what is done with the data (--from tells where it can be seen)";

    /// <param name="sample">The database.</param>
    /// <param name="data">Its section.</param>
    /// <param name="phases">Its phases; null where nothing was observed, so that collections are only loaded.</param>
    public static string Of(DatabaseSample sample, DataWriter data, PhaseWriter? phases)
    {
        var text = new StringBuilder();
        text.Append("# Learned from a deployment by 'mongoperf learn'. Values are made up, with the statistics of those there.\n");
        text.Append(CultureInfo.InvariantCulture, $"# Read for it: {Describe(sample.Cost)}.\n");
        if (phases is { Accounting.Length: > 0 })
            text.Append(CultureInfo.InvariantCulture, $"# {phases.Accounting}\n");
        foreach (string note in sample.NotLearned)
            text.Append(CultureInfo.InvariantCulture, $"# not learned: {YamlText.Comment(note)}\n");
        text.Append("description: Learned from a deployment\n\n");
        text.Append(data.Text((collection, documents) =>
            phases is null ? documents : phases.Grows(collection) ? null : phases.LoadedOf(collection, documents))).Append('\n');
        if (phases is not null)
            return text.Append(phases.Text).ToString();
        text.Append("# ").Append(NothingSeen).Append("\nphases:\n");
        // What a time series takes depends on the order in which it is written.
        string[] inOrder = [.. data.TimeSeries.Select(data.CollectionOf).OfType<string>()];
        foreach (string collection in data.Loaded)
        {
            text.Append(CultureInfo.InvariantCulture, $"  - {{load: {YamlText.Name(collection)}, batch: 500, ")
                .Append(inOrder.Contains(collection) ? "threads: 1, sizes: true}\n" : "threads: 4}\n");
        }

        return text.ToString();
    }

    /// <summary>What reading cost, in words.</summary>
    public static string Describe(SamplingCost cost) => string.Create(CultureInfo.InvariantCulture,
        $"{cost.Documents:N0} documents ({cost.Bytes / 1e6:0.0} MB), {cost.Commands:N0} commands, {cost.Seconds:0.0} s");
}
