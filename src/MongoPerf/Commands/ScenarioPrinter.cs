using MongoPerf.Deployments.Limits;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Growth;
using MongoPerf.Load.Plans;
using MongoPerf.Reports;
using MongoPerf.Running.Progress;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Files;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Commands;

/// <summary>Shows scenarios, their documents and commands to people.</summary>
internal static class ScenarioPrinter
{
    /// <summary>Characters.</summary>
    private const int LongestWarning = 1000;

    /// <param name="scenarios">The scenarios in the order in which they are shown.</param>
    /// <param name="format">text, json or csv.</param>
    /// <param name="output">Gets them.</param>
    public static void WriteList(IReadOnlyList<(string Name, string Path)> scenarios, string format, TextWriter output) =>
        ListReport.Named("scenarios", scenarios.Select(s => (s.Name, DescriptionOf(s.Path)))).Write(format, output);

    /// <summary>Canonical extended JSON, so that types can be told apart, and the size in bytes.</summary>
    public static void WriteDocument(PlanCollection collection, long number, TextWriter output)
    {
        BsonDocument document = collection.Documents.Make(number);
        output.WriteLine(ExtendedJson.Write(document.Bytes, ExtendedJsonMode.Canonical, indented: true));
        output.WriteLine($"{collection.Name}, document {number}: {document.Bytes.Length:N0} bytes of BSON");
    }

    public static void WriteCommand(Operation operation, in ValueContext context, TextWriter output)
    {
        output.WriteLine(ExtendedJson.Write(operation.ToCommand().ToDocument(context).Bytes, ExtendedJsonMode.Relaxed, indented: true));
        if (operation is InsertDocuments insert)
            output.WriteLine($"with {insert.BatchSize} {(insert.BatchSize == 1 ? "document" : "documents")} of "
                + $"{insert.Documents.Make(context.Number).Bytes.Length:N0} bytes (the first)");
    }

    /// <summary>What is probably a mistake in a file that is valid, a line each.</summary>
    public static void WriteWarnings(IEnumerable<string> warnings, TextWriter output)
    {
        foreach (string warning in warnings)
            output.WriteLine($"warning: {ForeignText.OneLine(warning, LongestWarning)}");
    }

    /// <summary>What would run, deployment by deployment and phase by phase, then why it would be refused.</summary>
    public static void WritePlan(IReadOnlyList<RunRequest> requests, ScenarioFile file, TextWriter output)
    {
        ReadPlan first = requests[0].Plan;
        output.WriteLine(
            $"{file.Name} ({file.ShownPath}): {(first.Plan.Description.Length > 0 ? first.Plan.Description : "no description")}");
        WriteWarnings(requests.SelectMany(request => request.Plan.Warnings).Distinct(), output);
        foreach (string line in first.Changes.Select(change => $"changed: {change}"))
            output.WriteLine(line);
        if (requests[0].Note is { } note)
            output.WriteLine($"note: {note}");
        foreach (string name in requests[0].MayWrite)
            output.WriteLine($"may write, as confirmed: {name}");
        ReadPlan? shown = null;
        foreach (RunRequest request in requests)
        {
            if (DescribeDeployment(request) is { } text)
                output.WriteLine(text);
            // Those that set nothing do the same.
            if (shown is null || !shown.Set.SequenceEqual(request.Plan.Set))
                WriteRounds(request.Plan, output);
            shown = request.Plan;
        }

        output.WriteLine($"{ProgressText.EstimatedTime(new TimeEstimator(first.Plan))}"
            + $"{(requests.Count > 1 ? " on each deployment" : "")}");
        output.WriteLine("dry run: nothing started");
        DryRun.Check(requests, output.WriteLine);
    }

    /// <returns>Null for one that is not described by the file or a list.</returns>
    private static string? DescribeDeployment(RunRequest request)
    {
        DeploymentSettings settings = request.Settings.Deployment;
        EngineSettings engine = request.Settings.Engine;
        if (settings.Name is null
            && settings is { ClusterFolder: not null } or { Uri: not null } or { Topology: not (Topology.Sharded or Topology.ReplicaSet) })
            return engine.Kind == EngineKind.Wire ? null : $"engine: {engine.Text}";
        string?[] parts =
        [
            settings.Topology == Topology.ReplicaSet ? $"replica set of {settings.Members ?? ClusterLimits.UsualMembers}"
            : settings.Shards is { } shards ? $"{Units.Counted(shards, "shard")} of {Units.Counted(settings.Members ?? 1, "member")}"
            : settings.Topology == Topology.Sharded ? "shards" : "one server",
            settings.CacheBytes is { } cache ? $"cache {CacheSize.Text(cache)}" : null,
            settings.MemoryLimitBytes is { } memory ? DeploymentText.Memory(memory) : null,
            settings.Cpus is { } cpus ? DeploymentText.Cpus(cpus) : null,
            engine.Kind == EngineKind.Wire ? null : $"engine {engine.Text}",
            settings.Tls is true ? DeploymentText.Tls(true) : null,
            settings.Auth is true ? DeploymentText.Auth(true) : null,
            .. request.Plan.Set,
        ];
        return $"deployment{(settings.Name is { } name ? $" '{name}'" : "")}: {string.Join(", ", parts.OfType<string>())}";
    }

    private static void WriteRounds(ReadPlan read, TextWriter output)
    {
        foreach (PlanRound round in read.Plan.Rounds)
        {
            foreach (PlanCollection collection in round.Collections)
                output.WriteLine(Describe(collection));
            foreach (Phase phase in round.Phases)
                WritePhase(phase, output);
        }
    }

    private static void WritePhase(Phase phase, TextWriter output)
    {
        output.WriteLine($"phase {Heading(phase)}");
        if (phase.Growth is { } growth)
            WriteGrowth(growth, output);
        if (phase.Measures is { } sized)
            output.WriteLine($"  sizes of {sized}");
        if (phase.Checks is { } looked)
            output.WriteLine($"  check that {looked} holds all its documents");
        foreach (string condition in phase.Conditions.Select(condition => condition.Name))
            output.WriteLine($"  check: {condition}");
        foreach (PhaseGroup group in phase.Groups)
            output.WriteLine($"  {Describe(phase, group)}");
        foreach (Assertion assertion in phase.Assertions)
            output.WriteLine($"  assert {assertion.Text}");
    }

    private static void WriteGrowth(GrowthPlan growth, TextWriter output)
    {
        string collections = string.Join(", ", growth.Collections.Select(c => c.Factor == 1 ? c.Name : $"{c.Name} (times {c.Factor:N0})"));
        string sizes = growth.Sizes.Count <= 6
            ? string.Join(", ", growth.Sizes.Select(size => Units.Count(size)))
            : $"{Units.Count(growth.Sizes[0])}, {Units.Count(growth.Sizes[1])}, … {Units.Count(growth.Target)}: "
                + $"{growth.Sizes.Count:N0} sizes";
        output.WriteLine($"  {collections} grows to {sizes}");
        double shares = growth.Writes.Sum(w => w.Share);
        foreach (GrowthWrite write in growth.Writes)
        {
            PhaseGroup group = write.Groups.Values.First();
            output.WriteLine($"    write {write.Name}: {Units.Percent(write.Share / shares)}, {Units.Counted(group.Threads, "thread")}, "
                + $"{group.Operations[0].Operation.DocumentsPerCommand:N0} per command");
        }

        foreach (PhaseGroup group in growth.Beside)
            output.WriteLine($"    beside: {Describe(new Phase { Name = group.Name, Groups = [group] }, group)}");
        foreach (Phase phase in growth.Each)
        {
            output.WriteLine($"    at each size: {Heading(phase)}");
            foreach (PhaseGroup group in phase.Groups)
                output.WriteLine($"      {Describe(phase, group)}");
        }
    }

    /// <summary>"q4 (limit=10) after a pause of 5 s, restarting the server (kill)".</summary>
    private static string Heading(Phase phase)
    {
        string parameters =
            phase.Parameters.Count == 0 ? "" : $" ({string.Join(", ", phase.Parameters.Select(p => $"{p.Key}={p.Value}"))})";
        string pause = phase.PauseSeconds > 0 ? $" after a pause of {Units.Duration(TimeSpan.FromSeconds(phase.PauseSeconds))}" : "";
        string restart =
            phase.Restart == ServerRestart.None ? "" : $", restarting the server ({phase.Restart.ToString().ToLowerInvariant()})";
        return $"{phase.Name}{parameters}{pause}{restart}";
    }

    private static string Describe(PlanCollection collection)
    {
        string where = collection.Shard is { } shard ? $", on shard {shard} if sharded" : "";
        return collection.Files is { } files
            ? $"bucket {collection.Name}: {collection.Count:N0} files of {files.Length:N0} bytes, "
                + $"{Units.Counted(files.ChunkCount, "chunk")} each{where}"
            : $"collection {collection.Name}: {collection.Count:N0} documents, the first of {collection.BytesPerDocument:N0} bytes, "
                + $"{Units.Counted(collection.Indexes.Count + 1, "index", "indexes")}{where}";
    }

    private static string Describe(Phase phase, PhaseGroup group)
    {
        string name = group.Name.Length > 0 ? $"{group.Name}: " : "";
        string threads = Units.Counted(group.Threads, "thread");
        string length = phase.Creates is { } created ? $"{created} created anew"
            : phase.Loads is not null ? (phase.HasRanges ? "all documents, each thread a range" : "all documents")
            : string.Join(" or ", new[]
            {
                group.Seconds is { } s ? Units.Duration(TimeSpan.FromSeconds(s)) : null, group.Count is { } c ? $"{c:N0} operations" : null,
            }.OfType<string>().DefaultIfEmpty("as long as the others"));
        double weights = group.Operations.Sum(o => o.Weight);
        string rate = RateOf(group);
        IEnumerable<string> operations = group.Operations.Count == 1
            ? [group.Operations[0].Operation.Name]
            : group.Operations.Select(o => $"{o.Operation.Name} {Units.Percent(o.Weight / weights)}");
        return $"{name}{threads}{group.ConnectionsText}, {length}{rate}: {string.Join(", ", operations)}";
    }

    private static string RateOf(PhaseGroup group)
    {
        string think = group.Think is { } time
            ? $", {Units.Latency((time.FixedSeconds + time.MeanSeconds) * 1e6)} between operations"
                + (time.MeanSeconds > 0 ? " on average" : "")
            : "";
        string steps = group.ThreadSteps.Count > 0 ? $" (changing, from {group.ThreadSteps[0].Threads:N0})" : "";
        if (group.Rate is not { } rate)
            return steps + think;
        string course = rate.IsSteady ? Units.Rate(rate.Highest) : string.Join(", ", rate.Pieces.Select(Describe));
        return $"{steps}, {course} operations/s{(rate.IsPoisson ? " at random" : "")}{think}";
    }

    private static string Describe(RatePiece piece) =>
        (piece.From == piece.To ? Units.Rate(piece.To) : $"{Units.Rate(piece.From)} to {Units.Rate(piece.To)}")
        + (piece.Seconds > 0 ? $" for {Units.Duration(TimeSpan.FromSeconds(piece.Seconds))}" : "");

    private static string DescriptionOf(string path)
    {
        try
        {
            // Only what it says of itself: a file that is wrong is still listed.
            return (Texts.Yaml.ScenarioYaml.Read(path, NamedFile.ReadText(path)).Find("description") as Texts.Yaml.ScalarNode)?.Text ?? "";
        }
        catch (Exception e) when (e is UserException or TimeoutException)
        {
            return "(unreadable; 'mongoperf validate' shows why)";
        }
    }
}
