using System.Globalization;
using System.Net.Sockets;
using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Server;
using MongoPerf.Server.Storage;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;
using OperationMix = MongoPerf.Learning.Observing.OperationMix;

namespace MongoPerf.Commands;

/// <summary>
/// Tries what <c>learn</c> is about to write: a run on an embedded server in memory, whose replies are held against those that were seen.
/// </summary>
internal static class LearnedTrial
{
    /// <summary>In all collections together, with those that phases insert.</summary>
    private const double MostDocuments = 50_000, MostBytes = 64e6;

    /// <summary>Of a phase.</summary>
    private const long MostOperations = 3000;

    /// <summary>Of all phases together, loads apart.</summary>
    private const double MostSeconds = 6;

    private const double LeastSecondsOfPhase = 0.5;

    /// <summary>Changes what is simple to change, and says of each operation how close it came.</summary>
    /// <param name="sample">The deployment's database.</param>
    /// <param name="data">The file's data.</param>
    /// <param name="mix">What was seen.</param>
    /// <param name="phases">The file's phases as they would be written.</param>
    /// <returns>The phases with a comment at each operation that was tried, and a line or more for the screen.</returns>
    public static (PhaseWriter Phases, string Report) Calibrate(
        DatabaseSample sample, DataWriter data, OperationMix mix, PhaseWriter phases)
    {
        try
        {
            Trial first = Run(ScenarioText.Of(sample, data, phases), phases);
            Dictionary<LearnedOperation, LearnedOperation> changed = Adjust(phases, data, first);
            if (changed.Count == 0)
                return Tell(phases, mix, data, first);
            var other = new PhaseWriter(mix.With(changed), data);
            Trial second = Run(ScenarioText.Of(sample, data, other), phases);
            // What did not help stays as it was.
            foreach ((LearnedOperation from, _) in changed.Where(one => !IsBetter(phases, one.Key, first, second)).ToArray())
                changed.Remove(from);
            return Tell(phases, mix.With(changed), data, changed.Count == 0 ? first : second);
        }
        catch (Exception e) when (e is MongoPerfException or StorageException or SocketException or IOException
            or UnauthorizedAccessException)
        {
            return (phases, $"not tried: {e.Message}");
        }
    }

    /// <summary>Operations that found more or less than those that were seen, with what they become.</summary>
    private static Dictionary<LearnedOperation, LearnedOperation> Adjust(PhaseWriter phases, IWrittenData data, Trial trial)
    {
        var changed = new Dictionary<LearnedOperation, LearnedOperation>(ReferenceEqualityComparer.Instance);
        foreach ((WrittenPhase phase, PhaseOperation seen, string name) in All(phases))
        {
            if (trial.Of(phase, name) is { } replies && Deviations(name, seen, replies).Any(one => !one.IsWithin)
                && Adjustment.Of(seen.Operation, data, replies.Documents, replies.Share < 1 ? null : replies.Nothing) is { } other)
                changed[seen.Operation] = other;
        }

        return changed;
    }

    private static bool IsBetter(PhaseWriter phases, LearnedOperation operation, Trial first, Trial second) =>
        All(phases).Where(one => ReferenceEquals(one.Seen.Operation, operation)).Sum(one => Worst(one.Phase, one.Seen, one.Name, second))
            < All(phases).Where(one => ReferenceEquals(one.Seen.Operation, operation)).Sum(one =>
                Worst(one.Phase, one.Seen, one.Name, first));

    private static double Worst(WrittenPhase phase, PhaseOperation seen, string name, Trial trial) => trial.Of(phase, name) is not { } replies
        ? double.MaxValue : Deviations(name, seen, replies).Select(one => Math.Abs(one.Share ?? 1)).DefaultIfEmpty().Max();

    private static IEnumerable<(WrittenPhase Phase, PhaseOperation Seen, string Name)> All(PhaseWriter phases) =>
        phases.Phases.SelectMany(phase => phase.Operations.Select(one => (phase, one.Operation, one.Name)));

    private static Deviation[] Deviations(string name, PhaseOperation seen, MeasuredReplies replies) =>
        [.. OperationComparison.OfReplies(name, seen, replies)];

    /// <param name="phases">As they were without changes: what was seen is in these.</param>
    /// <param name="mix">What is written.</param>
    /// <param name="data">The file's data.</param>
    /// <param name="trial">Of what is written.</param>
    private static (PhaseWriter Phases, string Report) Tell(PhaseWriter phases, OperationMix mix, DataWriter data, Trial trial)
    {
        var remarks = new Dictionary<(string Phase, string Operation), string>();
        var lines = new List<string>();
        int close = 0, untold = 0;
        foreach ((WrittenPhase phase, PhaseOperation seen, string name) in All(phases))
        {
            Deviation[] deviations = trial.Of(phase, name) is { } replies ? Deviations(name, seen, replies) : [];
            if (deviations.Length == 0)
            {
                untold++;
                if (trial.ErrorOf(phase, name) is { } error)
                    remarks[(phase.Name, name)] = $"not tried: {error}";
                continue;
            }

            // As it was measured, whatever it would be with more documents.
            Deviation[] measured = Deviations(name, seen, trial.Of(phase, name)!.Value with { Share = 1 });
            bool isClose = deviations.All(one => one.IsWithin);
            close += isClose ? 1 : 0;
            remarks[(phase.Name, name)] = string.Create(CultureInfo.InvariantCulture,
                $"tried {trial.Of(phase, name)!.Value.Count:N0} times{trial.OfHowMany}, {(isClose ? "close" : "not close")}: ")
                + string.Join(", ", measured.Where(one => one is not { Deployment: 0, Scenario: 0 }).Select(Text));
            if (!isClose)
                lines.Add($"  {name}: {string.Join(", ", measured.Where((_, i) => !deviations[i].IsWithin).Select(Text))}");
        }

        string report = string.Create(CultureInfo.InvariantCulture,
            $"tried on the embedded server{trial.OfHowMany}: {close:N0} of {close + lines.Count:N0} operations find and change as much as "
            + $"was seen{(untold > 0 ? $"; of {untold:N0} more no replies can be compared" : "")}");
        return (new PhaseWriter(mix, data, remarks), string.Join('\n', [report, .. lines]));
    }

    /// <summary>Such as <c>finds nothing 2 % (seen: 1.8 %)</c>.</summary>
    private static string Text(Deviation one)
    {
        const string Percent = " (%)";
        bool isShare = one.What.EndsWith(Percent, StringComparison.Ordinal);
        string unit = isShare ? " %" : "";
        return string.Create(CultureInfo.InvariantCulture,
            $"{(isShare ? one.What[..^Percent.Length] : one.What)} {one.Scenario:0.##}{unit} (seen: {one.Deployment:0.##}{unit})");
    }

    /// <summary>A run of the scenario as fast as it goes, of so much as takes a few seconds.</summary>
    /// <param name="text">The file's.</param>
    /// <param name="phases">Its phases, which are not to do more than was seen.</param>
    /// <exception cref="MongoPerfException">It can't be run there.</exception>
    private static Trial Run(string text, PhaseWriter phases)
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
            return run.Run.StoppedBecause is { } why ? throw new UserException(ExitCode.WrongUsage, why) : new Trial(run, scale);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

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
            Output = new OutputRequest(folder, "text", Quiet: true, NoTui: true, new Results.ResultPrinter())
            {
                PrintsResult = false, WritesReport = false, IsSilent = true,
            },
        };
    }

    /// <summary>One thread that waits for nothing but replies, and none of what changes no reply but the embedded server lacks.</summary>
    private static Plan Shortened(Plan plan, PhaseWriter phases, double scale)
    {
        Dictionary<string, double> seen = phases.Phases.ToDictionary(phase => phase.Name,
            phase => Math.Ceiling(scale * phase.Operations.Sum(one => one.Operation.Count)), StringComparer.Ordinal);
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
                        : [.. phase.Groups.Select(group => Shortened(group, seen.GetValueOrDefault(phase.Name, 1), seconds))],
                })]))],
        };
    }

    private static PhaseGroup Shortened(PhaseGroup group, double count, double seconds)
    {
        bool inserts = group.Operations.Any(one => one.Operation.Leaves.Any(leaf => leaf.Inserts));
        return group with
        {
            Threads = 1, Rate = null, Think = null, WarmupSeconds = 0, Seconds = seconds,
            Count = (long)Math.Min(count, inserts ? MostDocuments : MostOperations),
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

    /// <summary>What came of a trial.</summary>
    private sealed class Trial
    {
        private readonly Dictionary<(string Phase, string Operation), OperationResult> _results;
        private readonly Dictionary<(string Phase, string Operation), MeasuredReplies> _replies;

        /// <param name="run">The run.</param>
        /// <param name="scale">The share of the documents that it had.</param>
        public Trial(StoredRun run, double scale)
        {
            OfHowMany = scale < 1 ? string.Create(CultureInfo.InvariantCulture, $" with {100 * scale:0.##} % of the documents") : "";
            _results = run.Phases.SelectMany(phase => phase.Operations.Where(one => !one.IsTotal).Select(one => (phase.Phase, one)))
                .ToDictionary(one => (one.Phase, one.one.Operation), one => one.one);
            _replies = run.Phases.SelectMany(phase => Observation.Measured(phase).Where(one => one.Value.Replies is not null)
                    .Select(one => (Key: (phase.Phase, one.Key), Replies: one.Value.Replies!.Value with { Share = scale })))
                .ToDictionary(one => one.Key, one => one.Replies);
        }

        /// <summary>For people, if they were not all; otherwise empty.</summary>
        public string OfHowMany { get; }

        /// <summary>What replies to an operation said; null where none came.</summary>
        public MeasuredReplies? Of(WrittenPhase phase, string operation) =>
            _replies.TryGetValue((phase.Name, operation), out MeasuredReplies replies) ? replies : null;

        /// <summary>Why an operation never succeeded; null where it did, or never came.</summary>
        public string? ErrorOf(WrittenPhase phase, string operation) =>
            _results.GetValueOrDefault((phase.Name, operation)) is { Operations: 0, Errors: [var error, ..] } ? error.FirstMessage : null;
    }
}
