using MongoPerf.Engine.Runs;
using Spectre.Console;

namespace MongoPerf.Reporting;

/// <summary>What <c>list</c> prints: plain columns, no colour when the output is no terminal.</summary>
internal static class ListReport
{
    /// <param name="runs">In the order in which they are shown.</param>
    /// <param name="readData">Bytes of server data in a run's folder; null for none.</param>
    /// <param name="output">Gets the table.</param>
    public static void WriteRuns(IReadOnlyList<RunListing> runs, Func<string, long?> readData, TextWriter output)
    {
        if (runs.Count == 0)
        {
            output.WriteLine("no runs yet; 'mongoperf series --target 1M' starts one");
            return;
        }

        Table table = NewTable("run", "scenario", "state", "started", "documents", "target", "server data", "deployment");
        foreach (RunListing run in runs)
        {
            table.AddRow(
                Text(run.Id),
                Text(run.Plan ?? ""),
                Text(run.State),
                Text(run.StartedAt?.ToLocalTime().ToString("yyyy-MM-dd HH:mm") ?? ""),
                Text(run.Target is null ? "" : Units.Count(run.DocumentsReached)),
                Text(run.Target is { } target ? Units.Count(target) : ""),
                Text(readData(run.Folder) is { } bytes ? Units.Bytes(bytes) : ""),
                Text(run.Problem ?? string.Join(' ', new[] { run.Name, run.Topology?.Text(), run.ServerVersion }.OfType<string>()) + (run.Engine is { Kind: EngineKind.Driver } engine ? $", {engine.Text}" : "")));
        }

        Write(table, output);
    }

    public static void WriteMetrics(TextWriter output)
    {
        Table table = NewTable("metric", "unit", "kind", "description", "source");
        foreach ((string scope, IReadOnlyList<Metric> metrics) in new[] { ("server", MetricCatalogue.Server), ("host", MetricCatalogue.Host), ("shard", MetricCatalogue.Shard) })
        {
            foreach (Metric metric in metrics)
                table.AddRow(Text($"{scope}.{metric.Name}"), Text(metric.Unit), Text(metric.Kind.ToString().ToLowerInvariant()), Text(metric.Title), Text(metric.Path));
        }

        Write(table, output);
    }

    public static void WriteScenarios(IEnumerable<(string Name, string Description)> scenarios, TextWriter output)
    {
        Table table = NewTable("name", "description");
        foreach ((string name, string description) in scenarios)
            table.AddRow(Text(name), Text(description));
        Write(table, output);
    }

    /// <summary>A star marks the one that runs use.</summary>
    public static void WriteServers(IEnumerable<(string Version, bool IsChosen, string Mongod, string? Mongos)> servers, TextWriter output)
    {
        Table table = NewTable("", "version", "mongod", "mongos");
        foreach ((string version, bool isChosen, string mongod, string? mongos) in servers)
            table.AddRow(Text(isChosen ? "*" : ""), Text(version), Text(mongod), Text(mongos ?? Units.None));
        if (table.Rows.Count == 0)
            output.WriteLine("no servers installed; 'mongoperf server install 8.0' installs one");
        else
            Write(table, output);
    }

    internal static Table NewTable(params string[] columns)
    {
        var table = new Table { Border = TableBorder.None };
        foreach (string column in columns)
            table.AddColumn(new TableColumn(Text(column)).NoWrap());
        return table;
    }

    internal static Text Text(string text) => new(text);

    internal static void Write(Table table, TextWriter output)
    {
        IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Ansi = AnsiSupport.No, Out = new AnsiConsoleOutput(output) });
        console.Profile.Width = 200;
        console.Write(table);
    }
}
