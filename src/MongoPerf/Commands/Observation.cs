using System.CommandLine;
using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Options;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Commands;

/// <summary>What a deployment was seen doing, as <c>--from</c> says; read, but not yet understood, since that takes its data.</summary>
internal sealed class Observation
{
    private const string Forms = "profiler, queryStats, log FILE, recording FILE or traffic DURATION";

    /// <summary>Beyond these a profile is not read: some 500 MB.</summary>
    private const int MostProfiled = 500_000;

    private readonly ObservationSource _source;
    private readonly MixBuilder _mix;

    private Observation(ObservationSource source)
    {
        _source = source;
        _mix = MixBuilder.Of(source);
    }

    /// <summary>How many operations were seen, and where.</summary>
    public string Describe() => $"saw {_mix.Count:N0} operations: {_source.Name}";

    public static Option<string[]?> Option() => new("--from")
    {
        Description = "Where to see what is done with the data: the profiler's entries, $queryStats (6.0.7, 7.0.12, 7.1 and later), a log "
            + "of mongod or mongos, a recording ('record', or a server's own), or the traffic of the next DURATION. Without it only "
            + "the data are learned",
        HelpName = "profiler|queryStats|log FILE|recording FILE|traffic DURATION",
        Arity = new ArgumentArity(1, 2),
        AllowMultipleArgumentsPerToken = true,
    };

    /// <summary>Checks what was typed, before anything is opened.</summary>
    /// <exception cref="UserException">It is none of the forms (2).</exception>
    public static void Check(string[]? from) => _ = from is null or ["profiler"] or ["queryStats"] or ["log" or "recording", _] ? 0
        : from is ["traffic", var time] ? Seconds(time)
        : throw new UserException(ExitCode.WrongUsage, $"--from: '{Masking.Shown(string.Join(' ', from))}' is not valid; allowed: {Forms}",
            from is ["log" or "recording"] ? "name the file behind it" : from is ["traffic"] ? "such as --from traffic 60s" : null);

    /// <summary>Reads what was seen. Nothing is written to the deployment, and nothing of it changed.</summary>
    /// <param name="from">As <see cref="Check"/> allows.</param>
    /// <param name="database">The database that is learned.</param>
    /// <param name="connect">Connects to the primary or the mongos.</param>
    public static Observation Read(string[] from, string database, Func<MongoConnection> connect)
    {
        if (from is ["log", var log])
            return new Observation(new LogSource(log, database));
        if (from is ["recording", var path])
        {
            using Recording recording = Recording.Open(path);
            return new Observation(new RecordingSource(recording));
        }

        using MongoConnection connection = connect();
        // Only this takes a signal to end early: all else just ends.
        using StopSignals? signals = from is ["traffic", _] ? new StopSignals("ending the observation") : null;
        return new Observation(from switch
        {
            ["profiler"] => new ProfilerSource(connection, database, MostProfiled),
            ["queryStats"] => new QueryStatsSource(connection, database),
            _ => new TrafficSource(connection, database, TimeSpan.FromSeconds(Seconds(from[1])),
                signals!.Token),
        });
    }

    /// <summary>A queue that is empty in the end had documents like those that were inserted.</summary>
    public DatabaseSample Completed(DatabaseSample sample) => sample with
    {
        Collections = [.. sample.Collections.Select(one => one.Documents.Count > 0 ? one
            : one with { Documents = _mix.InsertedDocuments(sample.Name, one.Name), AreInOrder = true })],
    };

    /// <summary>What was seen of the database, understood by its data.</summary>
    /// <param name="sample">As <see cref="Completed"/> has it.</param>
    public Learning.Observing.OperationMix MixOf(DatabaseSample sample)
    {
        Dictionary<string, (double Documents, FieldStatistics Fields)> known = sample.Collections
            .ToDictionary(one => one.Name, one => ((double)Math.Max(one.Count, one.Documents.Count), FieldStatistics.Of(one)),
                StringComparer.Ordinal);
        return _mix.Finish(_source, sample.Name, (collection, field) =>
            known.TryGetValue(collection, out (double Documents, FieldStatistics Fields) there)
            && there.Fields.Find(field)?.Values.Values.MaxBy(values => values.Count) is { } values
                ? new FieldPopulation(there.Documents, values.Cardinality.Distinct) { Shares = values.Shares } : null,
            (collection, path) => known.TryGetValue(collection, out (double Documents, FieldStatistics Fields) there)
                && there.Fields.Find(path)?.Map is not null);
    }

    /// <summary>The phases of a file.</summary>
    /// <param name="mix">Of <see cref="MixOf"/>.</param>
    /// <param name="data">The file's data.</param>
    /// <param name="database">The deployment's.</param>
    /// <exception cref="UserException">Nothing was seen that could be written (2).</exception>
    public PhaseWriter Write(Learning.Observing.OperationMix mix, DataWriter data, string database) =>
        new PhaseWriter(mix, data) is { Phases.Count: > 0 } phases ? phases
            : throw new UserException(ExitCode.WrongUsage,
                $"{_source.Name}: no operation on {Masking.Shown(database)} was seen that can be learned",
                    "--db names another database; without --from only the data are learned");

    /// <summary>How far the operations of a run of the learned scenario are from it.</summary>
    /// <param name="run">The run.</param>
    /// <param name="sample">The deployment's database.</param>
    /// <param name="names">What the file calls collections and fields.</param>
    /// <param name="areTimesJudged">The run had as many documents as the deployment; otherwise times are only told.</param>
    /// <exception cref="UserException">Nothing was seen, or the run has no phase of a learned scenario (2).</exception>
    public IEnumerable<Deviation> Against(StoredRun run, DatabaseSample sample, WrittenNames names, bool areTimesJudged)
    {
        sample = Completed(sample);
        Learning.Observing.OperationMix mix = MixOf(sample);
        IReadOnlyList<WrittenPhase> phases =
            Write(mix, new DataWriter(sample, names, new HashSet<string>(), mix), sample.Name).Phases;
        ILookup<string, PhaseRecord> ran = run.Phases.ToLookup(phase => phase.Phase);
        return phases.Any(phase => ran.Contains(phase.Name))
            ? phases.SelectMany(phase => OperationComparison.Of(
                phase, phases.Count > 1, areTimesJudged && _source.HasPreciseTimes, Measured(ran[phase.Name].LastOrDefault()), names.Path))
                .Concat(ran.Where(phase => phase.Last().Kind == PhaseKind.Measure && phases.All(one => one.Name != phase.Key))
                    .SelectMany(phase => OperationComparison.OnlyInRun(phase.Key, Measured(phase.Last()))))
            : throw new UserException(ExitCode.WrongUsage, $"--run: {run.Run.Id} has no phase '{phases[0].Name}'",
                "name a run of the scenario that 'learn' wrote of this");
    }

    /// <summary>The operations of a run's phase, by name; none of one that it did not come to.</summary>
    public static Dictionary<string, MeasuredOperation> Measured(PhaseRecord? phase) => (phase?.Operations ?? [])
        .Where(result => !result.IsTotal).ToDictionary(result => result.Operation, result =>
            new MeasuredOperation(result.Seconds, result.OperationsPerSecond, result.LatencyMicroseconds.P99, result.Plan?.Stages)
            {
                Replies = result.Operations == 0 || result.IsUnacknowledged ? null
                    : new MeasuredReplies(result.Operations, (double)result.Documents / result.Operations,
                        (double?)(result.Effect?.FoundNothing ?? result.Effect?.MatchedNothing) / result.Operations,
                        (double?)result.Effect?.ChangedNothing / result.Operations)
                    {
                        Modified = (double?)result.Effect?.Modified / result.Operations,
                    },
                Tried = result.Operations + result.Failed,
                Errors = ErrorsOf(result),
                Index = result.Plan?.Index,
                Examined = result.Plan is not { } plan ? null
                    : plan is { KeysExaminedPerOperation: { } keys, DocumentsExaminedPerOperation: { } documents }
                        ? (keys, documents, result.Operations) : (plan.KeysExamined, plan.DocumentsExamined, 1),
            });

    /// <summary>Of the measured part: errors are counted with those of the warm-up.</summary>
    private static Dictionary<int, double>? ErrorsOf(OperationResult result) => result.Failed == 0 ? null
        : result.Errors.GroupBy(error => error.Code).ToDictionary(code => code.Key, code => (double)code.Sum(error => error.Count)
            / Math.Max(1, result.Errors.Sum(error => error.Count)) * result.Failed / (result.Operations + result.Failed));

    private static double Seconds(string text)
    {
        try
        {
            return Quantities.ParseDuration(text) is > 0 and <= 86_400 and var seconds ? seconds
                : throw new FormatException($"'{text}' is not valid; expected more than 0 and at most a day");
        }
        catch (FormatException e)
        {
            throw new UserException(ExitCode.WrongUsage, $"--from traffic: {e.Message}");
        }
    }
}
