using System.Globalization;
using MongoPerf.Commands.Results;
using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Server;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Commands;

/// <summary>A run of a learned scenario on an embedded server in memory, of so much as takes a few seconds; nothing of it stays.</summary>
internal sealed class TrialRun
{
    /// <summary>In all collections together, with those that phases insert.</summary>
    private const double MostDocuments = 50_000, MostBytes = 64e6;

    /// <summary>Of a phase.</summary>
    private const long MostOperations = 3000;

    /// <summary>Of all phases together, loads apart.</summary>
    private const double MostSeconds = 6;

    private const double LeastSecondsOfPhase = 0.5;

    private readonly Dictionary<(string Phase, string Operation), OperationResult> _results;
    private readonly Dictionary<(string Phase, string Operation), MeasuredOperation> _tried;

    /// <param name="run">The run.</param>
    /// <param name="scale">The share of the documents that it had.</param>
    private TrialRun(StoredRun run, double scale)
    {
        OfHowMany = scale < 1 ? string.Create(CultureInfo.InvariantCulture, $" with {100 * scale:0.##} % of the documents") : "";
        _results = run.Phases.SelectMany(phase => phase.Operations.Where(one => !one.IsTotal).Select(one => (phase.Phase, Result: one)))
            .ToDictionary(one => (one.Phase, one.Result.Operation), one => one.Result);
        _tried = run.Phases.SelectMany(phase => Observation.Measured(phase).Select(one => (Key: (phase.Phase, one.Key), one.Value)))
            .ToDictionary(one => one.Key, one => one.Value.Replies is { } replies
                ? one.Value with { Replies = replies with { Share = scale } } : one.Value);
    }

    /// <summary>For people, if they were not all; otherwise empty.</summary>
    public string OfHowMany { get; }

    /// <summary>A run of the scenario as fast as it goes, of so much as takes a few seconds.</summary>
    /// <param name="text">The file's.</param>
    /// <param name="phases">Its phases, which are not to do more than was seen.</param>
    /// <exception cref="MongoPerfException">It can't be run there.</exception>
    public static TrialRun Of(string text, IReadOnlyList<WrittenPhase> phases)
    {
        var file = new ScenarioFile("learned", "learned", text);
        ReadPlan whole = PlanReader.Read(file, new PlanOverrides(), PlanRequests.DefaultSeed);
        double scale = Math.Min(1, Math.Min(MostDocuments / Math.Max(1, Sum(whole.Plan, _ => 1)),
            MostBytes / Math.Max(1, Sum(whole.Plan, one => one.BytesPerDocument))));
        var overrides = new PlanOverrides { Scale = scale };
        ReadPlan read = scale == 1 ? whole : PlanReader.Read(file, overrides, PlanRequests.DefaultSeed);
        read = read with { Plan = Shortened(read.Plan, phases, scale), Warnings = [] };
        string folder = Directory.CreateTempSubdirectory("mongoperf-trial-").FullName;
        try
        {
            using EmbeddedServer server = EmbeddedServer.Start(new EmbeddedServerOptions());
            using var signals = new StopSignals("ending the trial");
            RunEnd end = PlanSession.Start(Request(file, read, overrides, folder, server.Port), signals);
            if (signals.WasStopped)
                throw new OperationCanceledException("interrupted; nothing was written");
            using StoredRun run = StoredRun.Open(end.Folder.Path);
            return run.Run.StoppedBecause is { } why ? throw new UserException(ExitCode.WrongUsage, why) : new TrialRun(run, scale);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    /// <summary>An operation whose replies tell something; null for none.</summary>
    public MeasuredOperation? Of(string phase, string operation) =>
        _tried.TryGetValue((phase, operation), out MeasuredOperation tried) && tried.Replies is not null ? tried : null;

    /// <summary>Why an operation never succeeded; null where it did, or never came.</summary>
    public string? ErrorOf(string phase, string operation) =>
        _results.GetValueOrDefault((phase, operation)) is { Operations: 0, Errors: [var error, ..] } ? error.FirstMessage : null;

    private static double Sum(Plan plan, Func<PlanCollection, double> of) => plan.Collections.Sum(collection => of(collection)
        * (collection.Count + plan.Phases.SelectMany(phase => phase.Groups).Sum(group => group.ExpectedInserts(collection.Name))));

    private static RunRequest Request(ScenarioFile file, ReadPlan read, PlanOverrides overrides, string folder, int port)
    {
        string uri = string.Create(CultureInfo.InvariantCulture, $"mongodb://127.0.0.1:{port}");
        return new RunRequest
        {
            Settings = new RunSettings
            {
                Deployment = new DeploymentSettings { Topology = Topology.Standalone, Uri = uri },
                Data = new DataSettings { Database = PlanRequests.DefaultDatabase },
                Plan = new PlanSettings
                {
                    Name = file.Name, Path = file.ShownPath, Text = file.Text, Overrides = overrides, MaxErrors = int.MaxValue,
                    MaxSkipped = new SkipLimit(0, 1),
                },
            },
            Plan = read,
            ReadPlan = _ => read,
            Seed = PlanRequests.DefaultSeed,
            DatabaseWasGiven = true,
            CommandLine = "learn",
            Uri = uri,
            Output = new OutputRequest(folder, "text", Quiet: true, NoTui: true, new ResultPrinter())
            {
                PrintsResult = false, WritesReport = false, IsSilent = true,
            },
        };
    }

    /// <summary>One thread that waits for nothing but replies, and none of what changes no reply but the embedded server lacks.</summary>
    private static Plan Shortened(Plan plan, IReadOnlyList<WrittenPhase> phases, double scale)
    {
        Dictionary<string, double> seen = phases.ToDictionary(phase => phase.Name,
            phase => phase.Operations.Sum(one => one.Operation.Count), StringComparer.Ordinal);
        double seconds = Math.Max(LeastSecondsOfPhase, MostSeconds / Math.Max(1, plan.Phases.Count(phase => phase.Groups.Count > 0)));
        return plan with
        {
            Rounds = [.. plan.Rounds.Select(round => new PlanRound(
                [.. round.Collections.Select(one => one with
                {
                    Options = one.Options?.FindDocument("collation") is { } collation ? BsonDocument.Of(("collation", collation)) : null,
                    Indexes = [.. one.Indexes.Where(IsKnown)],
                    ShardKey = null,
                    Zones = [],
                })],
                [.. round.Phases.Where(phase => phase.Measures is null).Select(phase => phase with
                {
                    ExplainsQueries = false,
                    Groups = phase.Loads is not null ? phase.Groups
                        : [.. phase.Groups.Select(group => Shortened(group, seen.GetValueOrDefault(phase.Name, 1), scale, seconds))],
                })]))],
        };
    }

    private static PhaseGroup Shortened(PhaseGroup group, double count, double scale, double seconds)
    {
        // Of fewer documents as large a share comes and goes.
        bool changes = group.Operations.Any(one => one.Operation.Leaves.Any(leaf => leaf.Inserts || leaf.Removes));
        bool inserts = group.Operations.Any(one => one.Operation.Leaves.Any(leaf => leaf.Inserts));
        return group with
        {
            Threads = 1, Rate = null, Think = null, WarmupSeconds = 0, Seconds = seconds,
            Count = (long)Math.Min(Math.Ceiling(changes ? scale * count : count), inserts ? MostDocuments : MostOperations),
            Operations = [.. group.Operations.Select(one => one with { Operation = Plain(one.Operation) })],
        };
    }

    private static Operation Plain(Operation operation) => operation switch
    {
        StepSequence steps => steps.Each(Plain) is StepSequence plain ? plain with { Transaction = null, IsCausal = false } : steps,
        BulkWrite bulk => bulk with { Concerns = OperationConcerns.Default },
        _ => operation with { Concerns = OperationConcerns.Default },
    };

    private static bool IsKnown(BsonDocument index) => (index.FindDocument("key") ?? BsonDocument.Empty)
        .All(one => one.Value.IsNumber && !one.Key.EndsWith("$**", StringComparison.Ordinal));
}
