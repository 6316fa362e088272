using MongoPerf.Storage;

namespace MongoPerf.Reports;

/// <summary>What <c>list</c> prints.</summary>
public static class ListReport
{
    /// <param name="runs">The runs in the order in which they are shown.</param>
    /// <param name="readData">Bytes of server data in a run's folder; null for none.</param>
    public static ListTable Runs(IReadOnlyList<RunListing> runs, Func<string, long?> readData) => new(
        "runs", CommandText.Typed("no runs yet; 'mongoperf series --target 1M' starts one"),
        [
            ("id", "run"), ("scenario", "scenario"), ("state", "state"), ("startedAt", "started"), ("endedAt", null),
            ("documents", "documents"), ("target", "target"), ("serverDataBytes", "server data"),
            ("name", null), ("topology", null), ("serverVersion", null), ("engine", null), ("problem", null), ("folder", null),
            ("deployment", "deployment"), ("notMongoDb", null),
        ],
        [.. runs.Select(run => RowOf(run, readData(run.Folder)))]);

    public static ListTable Metrics() => new(
        "metrics", "", [("metric", "metric"), ("unit", "unit"), ("kind", "kind"), ("description", "description"), ("source", "source")],
        [
            .. new[]
            {
                ("server", MetricCatalogue.Server), ("host", MetricCatalogue.Host), ("shard", MetricCatalogue.Shard),
                ("replica", MetricCatalogue.Replica),
            }
                .SelectMany(scope => scope.Item2.Select(metric => (IReadOnlyList<(object?, string)>)
                [
                    ListTable.Plain($"{scope.Item1}.{metric.Name}"), ListTable.Plain(metric.Unit),
                    ListTable.Plain(metric.Kind.ToString().ToLowerInvariant()), ListTable.Plain(metric.Title), ListTable.Plain(metric.Path),
                ])),
        ]);

    /// <param name="what">"phases" or "scenarios".</param>
    /// <param name="named">What is named, in the order in which it is shown.</param>
    public static ListTable Named(string what, IEnumerable<(string Name, string Description)> named) => new(
        what, $"no {what} found", [("name", "name"), ("description", "description")],
        [.. named.Select(one => (IReadOnlyList<(object?, string)>)[ListTable.Plain(one.Name), ListTable.Plain(one.Description)])]);

    private static IReadOnlyList<(object? Value, string Text)> RowOf(RunListing run, long? data)
    {
        string? engine = run.Engine is { Kind: EngineKind.Driver } driver ? driver.Text : null;
        // Its version is that of the MongoDB that it imitates.
        string?[] server = run.NotMongoDb is { } other
            ? [$"{other}, not MongoDB{(run.Topology == Topology.Sharded ? ", sharded" : "")}"] : [run.Topology?.Text(), run.ServerVersion];
        string deployment = run.Problem ?? string.Join(' ', server.Prepend(run.Name).OfType<string>())
            + (engine is null ? "" : $", {engine}");
        return
        [
            ListTable.Plain(run.Id), ListTable.Plain(run.Plan), ListTable.Plain(run.State),
            (run.StartedAt, run.StartedAt?.ToLocalTime().ToString("yyyy-MM-dd HH:mm") ?? ""), (run.EndedAt, ""),
            (run.DocumentsReached, run.Target is null ? "" : Units.Count(run.DocumentsReached)),
            (run.Target, run.Target switch { null => "", 0 => Units.None, { } target => Units.Count(target) }),
            (data, data is { } bytes ? Units.Bytes(bytes) : ""),
            ListTable.Plain(run.Name), ListTable.Plain(run.Topology?.Text()), ListTable.Plain(run.ServerVersion),
            ListTable.Plain(run.Engine?.Text), ListTable.Plain(run.Problem), ListTable.Plain(run.Folder),
            ListTable.Plain(deployment), ListTable.Plain(run.NotMongoDb),
        ];
    }

    /// <summary>A star marks the one that runs use.</summary>
    public static void WriteServers(IEnumerable<(string Version, bool IsChosen, string Mongod, string? Mongos)> servers, TextWriter output)
    {
        string[][] rows =
        [
            .. servers.Select(server => (string[])[server.IsChosen ? "*" : "", server.Version, server.Mongod, server.Mongos ?? Units.None])
        ];
        if (rows.Length == 0)
            output.WriteLine(CommandText.Typed("no servers installed; 'mongoperf server install 8.0' installs one"));
        else
            TextColumns.Write([["", "version", "mongod", "mongos"], .. rows], output);
    }
}
