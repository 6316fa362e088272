using MongoPerf.Engine.Workloads.Operations;
using MongoPerf.Engine.Workloads.Scenarios;
using MongoPerf.Engine.Workloads.Templates;
using MongoPerf.Reporting;
using MongoPerf.Scenarios;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Cli;

/// <summary>Shows scenarios, their documents and commands to people.</summary>
internal static class ScenarioPrinter
{
    public static void WriteList(IReadOnlyList<(string Name, string Path)> scenarios, TextWriter output)
    {
        int width = scenarios.Select(s => s.Name.Length).DefaultIfEmpty(0).Max();
        foreach ((string name, string path) in scenarios)
            output.WriteLine($"{name.PadRight(width)}  {DescriptionOf(path)}".TrimEnd());
        if (scenarios.Count == 0)
            output.WriteLine("no scenarios found");
    }

    /// <summary>Canonical extended JSON, so that types can be told apart, and the size in bytes.</summary>
    public static void WriteDocument(ScenarioCollection collection, long number, TextWriter output)
    {
        BsonDocument document = collection.Documents.Make(number);
        output.WriteLine(ExtendedJson.Write(document.Bytes, ExtendedJsonMode.Canonical, indented: true));
        output.WriteLine($"{collection.Name}, document {number}: {document.Bytes.Length:N0} bytes of BSON");
    }

    public static void WriteCommand(CollectionOperation operation, in ValueContext context, TextWriter output)
    {
        output.WriteLine(ExtendedJson.Write(operation.ToCommand().ToDocument(context).Bytes, ExtendedJsonMode.Relaxed, indented: true));
        if (operation is InsertDocuments insert)
            output.WriteLine($"with {insert.BatchSize} {(insert.BatchSize == 1 ? "document" : "documents")} of {insert.Documents.Make(context.Number).Bytes.Length:N0} bytes (the first)");
    }

    /// <summary>What would run, phase by phase.</summary>
    public static void WritePlan(ReadScenario read, ScenarioFile file, TextWriter output)
    {
        output.WriteLine($"{file.Name} ({file.ShownPath}): {(read.Scenario.Description.Length > 0 ? read.Scenario.Description : "no description")}");
        foreach (string line in read.Told)
            output.WriteLine($"changed: {line}");
        if (read.Cluster is { } cluster)
            output.WriteLine($"cluster of {cluster.Shards} {(cluster.Shards == 1 ? "shard" : "shards")} with {cluster.Members} {(cluster.Members == 1 ? "member" : "members")} each, unless --uri, --cluster or --topology names a deployment");
        foreach (ScenarioRound round in read.Scenario.Rounds)
        {
            foreach (ScenarioCollection collection in round.Collections)
                output.WriteLine(Describe(collection));
            foreach (ScenarioPhase phase in round.Phases)
                WritePhase(phase, output);
        }

        output.WriteLine("dry run: nothing was started");
    }

    private static void WritePhase(ScenarioPhase phase, TextWriter output)
    {
        string parameters = phase.Parameters.Count == 0 ? "" : $" ({string.Join(", ", phase.Parameters.Select(p => $"{p.Key}={p.Value}"))})";
        string pause = phase.PauseSeconds > 0 ? $" after a pause of {Units.Duration(TimeSpan.FromSeconds(phase.PauseSeconds))}" : "";
        output.WriteLine($"phase {phase.Name}{parameters}{pause}");
        foreach (PhaseGroup group in phase.Groups)
            output.WriteLine($"  {Describe(phase, group)}");
        foreach (Assertion assertion in phase.Assertions)
            output.WriteLine($"  assert {assertion.Text}");
    }

    private static string Describe(ScenarioCollection collection)
    {
        string where = collection.Shard is { } shard ? $", on shard {shard} where there are shards" : "";
        return collection.Files is { } files
            ? $"bucket {collection.Name}: {collection.Count:N0} files of {files.Length:N0} bytes, {files.ChunkCount:N0} {(files.ChunkCount == 1 ? "chunk" : "chunks")} each{where}"
            : $"collection {collection.Name}: {collection.Count:N0} documents, the first of {collection.BytesPerDocument:N0} bytes, {collection.Indexes.Count + 1} {(collection.Indexes.Count == 0 ? "index" : "indexes")}{where}";
    }

    private static string Describe(ScenarioPhase phase, PhaseGroup group)
    {
        string name = group.Name.Length > 0 ? $"{group.Name}: " : "";
        string threads = group.Threads == 1 ? "1 thread" : $"{group.Threads:N0} threads";
        string length = phase.Loads is not null ? "all documents"
            : string.Join(" or ", new[] { group.Seconds is { } s ? Units.Duration(TimeSpan.FromSeconds(s)) : null, group.Count is { } c ? $"{c:N0} operations" : null }.OfType<string>().DefaultIfEmpty("as long as the others"));
        double weights = group.Operations.Sum(o => o.Weight);
        string rate = group.Rate is { } r ? $", {Units.Rate(r)} operations/s" : "";
        return $"{name}{threads}, {length}{rate}: {string.Join(", ", group.Operations.Select(o => group.Operations.Count == 1 ? o.Operation.Test : $"{o.Operation.Test} {Units.Percent(o.Weight / weights)}"))}";
    }

    private static string DescriptionOf(string path)
    {
        try
        {
            // Only what it says of itself: a file that is wrong is still listed.
            return (Scenarios.Yaml.ScenarioYaml.Read(path, File.ReadAllText(path)).Find("description") as Scenarios.Yaml.ScalarNode)?.Text ?? "";
        }
        catch (UserException)
        {
            return "(can't be read: 'mongoperf validate' says why)";
        }
    }
}
