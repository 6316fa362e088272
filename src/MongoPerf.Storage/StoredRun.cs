using System.Text.Json;
using Microsoft.Data.Sqlite;
using MongoPerf.Measurement;

namespace MongoPerf.Storage;

/// <summary>A run as it stands on disk: finished, interrupted, or still running. Reads only; a writer may be at work meanwhile.</summary>
/// <remarks>
/// Everything but the samples is read at once when the run is opened and then stays as it was; samples are streamed anew at each call.
/// </remarks>
public sealed class StoredRun : IDisposable
{
    internal const string TokenNote = "token";

    /// <summary>
    /// A note that is there once the data of the server that the run started have been deleted; there is nothing to continue with then.
    /// </summary>
    public const string DeletedNote = "data deleted";

    /// <summary>Why it would end the same way again: a server's reason; empty once it was resumed all the same.</summary>
    public const string RejectedNote = "rejected";

    /// <summary>A <see cref="Storage.ReplayTarget"/>.</summary>
    public const string ReplayTargetNote = "replay target";

    /// <summary>The coordinator's id of the plan whose parts a run was merged from, by which it is resumed.</summary>
    public const string AgentsPlanNote = "agents plan";

    /// <summary>The tokens of the runs that a run was merged from, in the order of its clients, with blanks between.</summary>
    public const string PartTokensNote = "part tokens";

    private readonly Dictionary<string, string> _notes;
    private readonly WriterProcess? _writer;
    private readonly RunPosition? _from;
    private readonly Lazy<List<(long From, long To)>> _outages;
    private readonly Lazy<Dictionary<OperationResult, (int Phase, IReadOnlyList<OperationResult> Operations)>> _partsOf;

    private StoredRun(string folder, SqliteConnection connection, RunPosition? from)
    {
        Folder = folder;
        _from = from;
        // One read transaction: a writer that commits meanwhile can't make the parts disagree.
        using SqliteTransaction transaction = connection.BeginTransaction(deferred: true);
        var reader = new RunReader(connection);
        Dictionary<string, string> meta = reader.ReadMeta();
        Run = RunJson.Read<RunInfo>(Required(meta, RunSchema.RunKey));
        Settings = RunJson.Read<RunSettings>(Required(meta, RunSchema.SettingsKey));
        Deployment = meta.TryGetValue(RunSchema.DeploymentKey, out string? deployment) ? RunJson.Read<DeploymentInfo>(deployment) : null;
        Environment =
            meta.TryGetValue(RunSchema.EnvironmentKey, out string? environment) ? RunJson.Read<EnvironmentInfo>(environment) : null;
        _notes = meta.Where(pair => pair.Key.StartsWith(RunSchema.NotePrefix, StringComparison.Ordinal))
            .ToDictionary(pair => pair.Key[RunSchema.NotePrefix.Length..], pair => pair.Value);
        _writer = WriterProcess.FromNotes(FindNote);
        ReplayTarget = FindNote(ReplayTargetNote) is { } found ? RunJson.Read<ReplayTarget>(found) : null;
        Laps = reader.ReadLaps();
        Checkpoints = reader.ReadCheckpoints();
        Phases = reader.ReadPhases();
        _partsOf = new(() => PartsOf(Phases));
        GrowthSteps = GrowthStep.Of(Phases);
        ILookup<(int, string), double?> slowest = Results.SelectMany(result => result.Errors)
            .ToLookup(error => (error.Code, error.Name), error => error.SlowestMicroseconds);
        Errors = [.. reader.ReadErrors().Select(error => error with { SlowestMicroseconds = slowest[(error.Code, error.Name)].Max() })];
        Events = reader.ReadEvents();
        _outages = new(() => OutagesOf(Events));
        End = reader.ReadEnd();
        Accounting = Results.Where(result => result.Connections is null)
            .Aggregate(Accounting.None, (sum, result) => sum.Plus(result.Accounting));
        long inCollections = Phases.Where(p => p.Collection is not null)
            .GroupBy(p => p.Collection).Sum(collection => collection.Last().Documents);
        DocumentsReached = Checkpoints.Select(c => c.Documents)
            .Concat(Phases.Select(p => p.Documents)).Append(inCollections).Append(reader.ReadLastCollectionDocuments()).Max();
        long filled = Phases.Where(phase => phase is { Kind: PhaseKind.Load or PhaseKind.Write, Collection: not null })
            .GroupBy(phase => phase.Collection).Sum(collection => collection.Max(phase => phase.Documents));
        long target = Settings.Plan.TargetDocuments;
        // While a phase lasts, and where its process was killed, only samples tell how far it is.
        DocumentsOfTarget = filled > 0 && Run.State != RunState.Running ? Math.Min(filled, target) : Math.Min(DocumentsReached, target);
    }

    /// <exception cref="RunStoreException">No run.db, not a run's, half-written, or of a newer format.</exception>
    public static StoredRun Open(string runFolder) => Open(runFolder, null);

    /// <summary>
    /// Opens a run with only those of its samples that came after a position and before this call; everything else as it is now.
    /// </summary>
    /// <inheritdoc cref="Open(string)"/>
    public static StoredRun OpenFrom(string runFolder, RunPosition from) => Open(runFolder, from);

    private static StoredRun Open(string runFolder, RunPosition? from)
    {
        string folder = Path.GetFullPath(runFolder);
        using SqliteConnection connection = RunSchema.Open(folder, readOnly: true);
        try
        {
            return new StoredRun(folder, connection, from);
        }
        catch (Exception e)
            when (e is JsonException or SqliteException or InvalidCastException or InvalidOperationException or FormatException)
        {
            throw RunSchema.Damaged(folder, e.Message);
        }
    }

    /// <summary>Full path of the run's folder.</summary>
    public string Folder { get; }

    public RunInfo Run { get; }

    public RunSettings Settings { get; }

    /// <summary>What the command line changed of the scenario; who can read the scenario leaves out what it only repeated.</summary>
    public PlanOverrides Overrides
    {
        get => field ?? Settings.Plan.Overrides;
        set;
    }

    /// <summary>Null when the run ended before it reached a server.</summary>
    public DeploymentInfo? Deployment { get; }

    public EnvironmentInfo? Environment { get; }

    /// <summary>What a scenario, or a list on the command line, calls the deployment that it ran on; null when it has no name.</summary>
    public string? DeploymentName => Settings.Deployment.Name;

    /// <summary>The phases in the order of the plan; the last may be incomplete.</summary>
    public IReadOnlyList<PhaseRecord> Phases { get; }

    /// <summary>The phases of growths, by size; empty when nothing grew.</summary>
    public IReadOnlyList<GrowthStep> GrowthSteps { get; }

    /// <summary>The results of all phases.</summary>
    public IEnumerable<OperationResult> Results => Phases.SelectMany(phase => phase.Operations);

    /// <summary>What a replay's target had before it; null for any other run, and for one of a version that did not look.</summary>
    public ReplayTarget? ReplayTarget { get; }

    /// <summary>Replies that were compared with recorded ones, and those that differ in more than the content of documents.</summary>
    public (long Compared, long Different) Replies =>
        (Results.Sum(result => result.Replay?.Compared ?? 0), Results.Sum(result => result.Replay?.Different ?? 0));

    /// <summary>More replies differ from the recorded ones than may.</summary>
    public bool RepliesDiffer => Settings.Plan.Replay?.MaxDifferent is { } most && Replies is var (compared, different)
        && different > most * compared;

    /// <summary>The laps of phases that noted them: by phase, thread and lap.</summary>
    public IReadOnlyList<StoredLap> Laps { get; }

    /// <summary>The most frequent first.</summary>
    public IReadOnlyList<ErrorCount> Errors { get; }

    public IReadOnlyList<RunEvent> Events { get; }

    public IReadOnlyList<Checkpoint> Checkpoints { get; }

    /// <summary>The sum over all phases.</summary>
    public Accounting Accounting { get; }

    /// <summary>What was to be measured and never was: not with any parameter, nor at any size of a growth.</summary>
    public bool HasUnmeasuredPhase => Phases.GroupBy(phase => (phase.Phase, phase.Growth?.Growth))
        .Any(same => same.All(phase => phase.HasMeasuredNothing));

    /// <summary>The sum over all groups with a rate.</summary>
    public Accounting Arrivals => Phases.SelectMany(phase => phase.Groups)
        .Where(group => group.Waiting is not null).Aggregate(Accounting.None, (sum, group) => sum.Plus(group.Accounting));

    /// <summary>
    /// Operations that failed, over all executions of the run, those of phases that left no result included: what
    /// <c>--max-errors</c> allows.
    /// </summary>
    public long Failures => Errors.Sum(e => e.Count);

    /// <summary>Documents of all its collections together, as far as phases, checkpoints and samples tell.</summary>
    public long DocumentsReached { get; }

    /// <summary>How many of the plan's target documents there are; what other operations insert is not among them.</summary>
    public long DocumentsOfTarget { get; }

    /// <summary>Where its samples ended when it was opened.</summary>
    public RunPosition End { get; }

    /// <summary>True while the process that writes the run lives. Looked up at each call.</summary>
    public bool IsWriterAlive => _writer is { IsAlive: true };

    /// <summary>Running by its own account, but its writer is gone: killed, or the machine went down.</summary>
    public bool IsAborted => Run.State == RunState.Running && !IsWriterAlive;

    /// <summary>The state for people and JSON: "running", "aborted", "interrupted", "finished" or "failed".</summary>
    public string StateText => IsAborted ? "aborted" : Run.State.ToString().ToLowerInvariant();

    /// <summary>Reads samples in time order, streamed; without the histogram bytes unless requested.</summary>
    /// <remarks>
    /// Whoever waits for a server that is away learns of it late, and stores a second before that: what events tell of outages marks their
    /// seconds too.
    /// </remarks>
    /// <param name="withHistograms">Whether to read them too.</param>
    /// <param name="withSteps">Whether to read those of operations' steps too, whose names are <see cref="StepResult.KeyOf"/>.</param>
    public IEnumerable<Sample> ReadSamples(bool withHistograms = false, bool withSteps = false)
    {
        using SqliteConnection connection = RunSchema.Open(Folder, readOnly: true);
        foreach (Sample sample in new RunReader(connection).ReadSamples(withHistograms, Rows(RunSchema.SampleTable)))
        {
            if (withSteps || !StepResult.IsKey(sample.Operation))
                yield return sample.HasOutage || !IsInOutage(sample) ? sample : sample with { HasOutage = true };
        }
    }

    private bool IsInOutage(Sample sample)
    {
        long start = sample.AtMilliseconds - (long)(sample.Seconds * 1000);
        // They are joined, so few are left of what many workers told.
        foreach ((long from, long to) in _outages.Value)
        {
            if (start < to && from < sample.AtMilliseconds)
                return true;
        }

        return false;
    }

    private static List<(long From, long To)> OutagesOf(IEnumerable<RunEvent> events)
    {
        List<(long From, long To)> joined = [];
        foreach (RunEvent outage in events.Where(e => e is { Kind: RunEvent.Outage, Seconds: > 0 }).OrderBy(e => e.StartMilliseconds))
        {
            if (joined.Count > 0 && outage.StartMilliseconds <= joined[^1].To)
                joined[^1] = (joined[^1].From, Math.Max(joined[^1].To, outage.AtMilliseconds));
            else
                joined.Add((outage.StartMilliseconds, outage.AtMilliseconds));
        }

        return joined;
    }

    public IEnumerable<MetricSample> ReadServerSamples() => ReadServerSamples(MetricCatalogue.Server);

    /// <summary>Reads samples with the values of some metrics, in their order: a few take much less time than all.</summary>
    /// <param name="metrics">Metrics of <see cref="MetricCatalogue.Server"/>.</param>
    public IEnumerable<MetricSample> ReadServerSamples(IReadOnlyList<Metric> metrics) => ReadMetrics(RunSchema.ServerTable, metrics);

    public IEnumerable<MetricSample> ReadHostSamples() => ReadHostSamples(MetricCatalogue.Host);

    /// <inheritdoc cref="ReadServerSamples(IReadOnlyList{Metric})"/>
    /// <param name="metrics">Metrics of <see cref="MetricCatalogue.Host"/>.</param>
    public IEnumerable<MetricSample> ReadHostSamples(IReadOnlyList<Metric> metrics) => ReadMetrics(RunSchema.HostTable, metrics);

    /// <summary>Reads the samples of the shards, whose names are the members; empty unless the deployment was sharded.</summary>
    public IEnumerable<MetricSample> ReadShardSamples() => ReadShardSamples(MetricCatalogue.Shard);

    /// <inheritdoc cref="ReadServerSamples(IReadOnlyList{Metric})"/>
    /// <param name="metrics">Metrics of <see cref="MetricCatalogue.Shard"/>.</param>
    public IEnumerable<MetricSample> ReadShardSamples(IReadOnlyList<Metric> metrics) => ReadMetrics(RunSchema.ShardTable, metrics);

    /// <summary>Reads the samples of the members of replica sets; empty for any other deployment.</summary>
    public IEnumerable<MetricSample> ReadReplicaSamples() => ReadReplicaSamples(MetricCatalogue.Replica);

    /// <inheritdoc cref="ReadServerSamples(IReadOnlyList{Metric})"/>
    /// <param name="metrics">Metrics of <see cref="MetricCatalogue.Replica"/>.</param>
    public IEnumerable<MetricSample> ReadReplicaSamples(IReadOnlyList<Metric> metrics) => ReadMetrics(RunSchema.ReplicaTable, metrics);

    /// <summary>Reads chunk events by the time that they began, streamed.</summary>
    public IEnumerable<ChunkEvent> ReadChunkEvents()
    {
        using SqliteConnection connection = RunSchema.Open(Folder, readOnly: true);
        foreach (ChunkEvent happened in new RunReader(connection).ReadChunkEvents())
            yield return happened;
    }

    /// <summary>Whole-window histograms by phase and operation; the warm-up's before the measured part's.</summary>
    public IEnumerable<StoredHistogram> ReadHistograms()
    {
        using SqliteConnection connection = RunSchema.Open(Folder, readOnly: true);
        foreach (StoredHistogram histogram in new RunReader(connection).ReadHistograms(phase: null))
            yield return histogram;
    }

    /// <summary>A figure of a result's latencies, from its summary where that has it, otherwise from its histogram.</summary>
    /// <param name="metric">What is wanted.</param>
    /// <param name="result">One of this run's, or a total of its phases and mixes.</param>
    /// <returns>Microseconds; null where nothing was recorded, or the histogram is damaged. May be called from several threads.</returns>
    public double? ValueOf(LatencyMetric metric, OperationResult result)
    {
        if (metric.TryRead(result, out double? stored))
            return stored;
        if (!_partsOf.Value.TryGetValue(result, out (int Phase, IReadOnlyList<OperationResult> Operations) parts)
            || (result.IsTotal && result.ReportedMicroseconds.Max is null))
            return null;
        HashSet<string> names = [.. parts.Operations.Select(one => one.Operation)];
        using SqliteConnection connection = RunSchema.Open(Folder, readOnly: true);
        StoredHistogram[] histograms = [.. new RunReader(connection).ReadHistograms(parts.Phase)
            .Where(one => !one.IsWarmup && names.Contains(one.Operation))];
        try
        {
            return histograms.Length < names.Count ? null : metric.Of(histograms.Select(one => one.ToLatency()));
        }
        catch (HistogramFormatException)
        {
            return null;
        }
    }

    public string? FindNote(string name) => _notes.GetValueOrDefault(name);

    /// <summary>
    /// Random, drawn when the run was made: it tells this run from another one with the same id. Null for a run of a
    /// version that drew none.
    /// </summary>
    public string? Token => FindNote(TokenNote);

    /// <summary>
    /// By which the run's collections are known as its own: its id and its token, or those of each run that it was merged from, since
    /// they made them.
    /// </summary>
    public IReadOnlyList<(string Id, string? Token)> Makers => Run.Clients.Count == 0
        ? [(Run.Id, Token)]
        : [.. Run.Clients.Zip(FindNote(PartTokensNote)?.Split(' ') ?? [], static (client, token) => (client.Run, (string?)token))];

    /// <summary>Nothing is held open between calls; the interface leaves room to change that.</summary>
    public void Dispose()
    {
    }

    /// <summary>The phase of each result, and the operations that it is of.</summary>
    private static Dictionary<OperationResult, (int Phase, IReadOnlyList<OperationResult> Operations)> PartsOf(
        IReadOnlyList<PhaseRecord> phases)
    {
        var parts = new Dictionary<OperationResult, (int, IReadOnlyList<OperationResult>)>(ReferenceEqualityComparer.Instance);
        foreach (PhaseRecord phase in phases)
        {
            foreach (OperationResult result in phase.Operations)
                parts[result] = (phase.Number, [result]);
            foreach (OperationMix mix in phase.Mixes)
                parts[mix.Total] = (phase.Number, mix.Operations);
            if (phase.Total is { } total)
                parts[total] = (phase.Number, [.. phase.Done]);
        }

        return parts;
    }

    private IEnumerable<MetricSample> ReadMetrics(string table, IReadOnlyList<Metric> metrics)
    {
        using SqliteConnection connection = RunSchema.Open(Folder, readOnly: true);
        foreach (MetricSample sample in new RunReader(connection).ReadMetrics(table, metrics, Rows(table)))
            yield return sample;
    }

    /// <summary>Null for all of them.</summary>
    private RowRange? Rows(string table) => _from is { } from ? RowRange.Of(table, from, End) : null;

    private static string Required(Dictionary<string, string> meta, string key) =>
        meta.TryGetValue(key, out string? value) ? value : throw new FormatException($"'{key}' is missing");
}

/// <summary>An operation's whole histograms in one phase: HdrHistogram V2 compressed encoding, nanoseconds.</summary>
/// <param name="Phase">Number of the phase record.</param>
/// <param name="Operation">Its name.</param>
/// <param name="IsWarmup">It is the histogram of the warm-up; otherwise of the measured part.</param>
/// <param name="Encoded">Service times.</param>
public sealed record StoredHistogram(int Phase, string Operation, bool IsWarmup, ReadOnlyMemory<byte> Encoded)
{
    /// <summary>Response times; empty in a closed loop.</summary>
    public ReadOnlyMemory<byte> Response { get; init; }

    /// <summary>The lateness, from due to started; empty in a closed loop.</summary>
    public ReadOnlyMemory<byte> Lateness { get; init; }

    /// <summary>Those of <see cref="OperationResult.ReportedMicroseconds"/>.</summary>
    public ReadOnlyMemory<byte> Reported => Response.IsEmpty ? Encoded : Response;

    /// <summary>What was recorded of an operation that was acknowledged.</summary>
    /// <exception cref="FormatException">A histogram is damaged.</exception>
    public OperationLatency ToLatency() =>
        new(IsUnacknowledged: false, Decoded(Encoded) ?? new LatencyHistogram(), Decoded(Response), Decoded(Lateness));

    private static LatencyHistogram? Decoded(ReadOnlyMemory<byte> encoded) =>
        encoded.IsEmpty ? null : HistogramEncoding.Decode(encoded.Span);
}
