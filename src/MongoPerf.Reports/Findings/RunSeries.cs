using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Sharding;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>A second of an operation.</summary>
/// <param name="FromMilliseconds">Unix time.</param>
/// <param name="ToMilliseconds">Unix time.</param>
/// <param name="Count">
/// Documents of inserts, operations of anything else; of unacknowledged ones those that arrived, where that is known.
/// </param>
/// <param name="Operations">Succeeded.</param>
/// <param name="P99">Microseconds; NaN where nothing was recorded.</param>
/// <param name="Max">Microseconds; NaN where nothing was recorded.</param>
/// <param name="IsDown">The connection was down in part of it.</param>
/// <param name="Documents">How many documents the collection has at its end.</param>
internal readonly record struct SeriesSecond(
    long FromMilliseconds, long ToMilliseconds, double Count, long Operations, double P99, double Max, bool IsDown, long Documents)
{
    public double Rate => Count / ((ToMilliseconds - FromMilliseconds) / 1000.0);

    public TimeWindow Window => new(FromMilliseconds, ToMilliseconds);

    /// <summary>The client itself stood still in it: it took longer to be sampled than it may.</summary>
    public bool IsStill { get; init; }
}

/// <summary>Unix milliseconds.</summary>
internal readonly record struct TimeWindow(long From, long To)
{
    public double Seconds => (To - From) / 1000.0;

    public bool Overlaps(TimeWindow other) => From < other.To && other.From < To;

    /// <summary>Joins windows by time, without overlaps.</summary>
    public static List<TimeWindow> Joined(IEnumerable<TimeWindow> windows)
    {
        List<TimeWindow> joined = [];
        foreach (TimeWindow window in windows.OrderBy(window => window.From))
        {
            if (joined.Count > 0 && window.From <= joined[^1].To)
                joined[^1] = joined[^1] with { To = Math.Max(joined[^1].To, window.To) };
            else
                joined.Add(window);
        }

        return joined;
    }
}

/// <summary>An operation of a phase as it was measured, second by second; its warm-up is left out.</summary>
internal sealed record OperationSeries(PhaseRecord Phase, OperationResult Result, IReadOnlyList<SeriesSecond> Seconds)
{
    /// <inheritdoc cref="PhaseLabels.WithParameters"/>
    public string Label => PhaseLabels.WithParameters(Phase, Result.Operation);

    /// <summary>The seconds before; empty where there was no warm-up.</summary>
    public IReadOnlyList<SeriesSecond> Warmup { get; init; } = [];

    /// <summary>"threads=8" is told by the threads themselves.</summary>
    public string ParametersButThreads =>
        PhaseLabels.Parameters(Phase.Parameters.Where(p => !p.Name.StartsWith("thread", StringComparison.OrdinalIgnoreCase)));

    /// <summary>The plan itself changes its rate or its threads: that its rate changes, or falls, says nothing.</summary>
    public bool IsSteered => Course is not null;

    /// <inheritdoc cref="OperationResult.Course"/>
    public IReadOnlyList<CoursePiece>? Course { get; init; } = Result.Course;

    /// <summary>
    /// What the plan asked for in a second, as a share of the most that it asks for in any; 1 where it does not change. Of a second beside
    /// a change it is the less: samples and plan do not begin at the same moment.
    /// </summary>
    /// <param name="place">The place of a second.</param>
    public double LevelAt(int place) => Course is not { Count: > 0 } course ? 1
        : Math.Min(LevelOf(course, place),
            Math.Min(LevelOf(course, Math.Max(0, place - 1)), LevelOf(course, Math.Min(Seconds.Count - 1, place + 1))));

    private double LevelOf(IReadOnlyList<CoursePiece> course, int place)
    {
        double start = (Seconds[0].FromMilliseconds / 1000.0) - Result.WarmupSeconds;
        double from = (Seconds[place].FromMilliseconds / 1000.0) - start;
        double to = (Seconds[place].ToMilliseconds / 1000.0) - start;
        return (Until(to) - Until(from)) / Math.Max(1e-9, to - from) / Math.Max(1e-9, course.Max(piece => Math.Max(piece.From, piece.To)));

        double Until(double seconds)
        {
            double sum = 0;
            foreach (CoursePiece piece in course)
            {
                double within = Math.Clamp(seconds, 0, piece.Seconds);
                sum += piece.Seconds > 0 ? (piece.From + ((piece.To - piece.From) / piece.Seconds * within / 2)) * within : 0;
                seconds -= within;
            }

            return sum + (Math.Max(0, seconds) * course[^1].To);
        }
    }

    public string RateUnit => Result.IsInsert ? Words.Of("documents/s") : Words.Of("operations/s");

    public TimeWindow Window => new(Seconds[0].FromMilliseconds, Seconds[^1].ToMilliseconds);

    /// <summary>A mix as a whole.</summary>
    /// <param name="mix">A mix of the phase.</param>
    /// <param name="parts">Its operations' seconds.</param>
    /// <param name="latencies">The run's.</param>
    /// <returns>Null where one of them has none.</returns>
    public static OperationSeries? Total(OperationMix mix, IReadOnlyList<OperationSeries> parts, JointLatencies latencies)
    {
        if (parts.Count < mix.Operations.Count)
            return null;
        PhaseRecord phase = parts[0].Phase;
        SeriesSecond[] measured = [.. Sum([.. parts.Select(part => (part.Result, part.Seconds))])];
        return measured.Length == 0 ? null : new OperationSeries(phase, mix.Total, measured)
        {
            Warmup = [.. Sum([.. parts.Select(part => (part.Result, part.Warmup))])], Course = parts[0].Course,
        };

        // A group's operations are sampled together.
        IEnumerable<SeriesSecond> Sum((OperationResult Result, IReadOnlyList<SeriesSecond> Seconds)[] parts) => parts
            .SelectMany(part => part.Seconds.Select(second => (part.Result, Second: second)))
            .GroupBy(one => one.Second.ToMilliseconds).OrderBy(same => same.Key)
            .Select(same => same.First().Second with
            {
                Count = same.Sum(one => JointSecond.CountOf(mix, one.Result, one.Second.Count)),
                Operations = same.Sum(one => one.Second.Operations),
                P99 = latencies.P99Of(phase, mix, same.Key),
                Max = same.Max(one => one.Second.Max),
                IsDown = same.Any(one => one.Second.IsDown),
                Documents = same.Max(one => one.Second.Documents),
            });
    }
}

/// <summary>What the analysers work on: a run's samples, read once.</summary>
internal sealed class RunSeries
{
    /// <summary>
    /// What analysers ask for; memory and CPU are there because some servers say no more, and that they say anything
    /// tells that they answer.
    /// </summary>
    private static readonly string[] OfServer =
    [
        "uptime", "mem_resident", "server_user_time", "connections_current", "connections_available", "tickets_read_available",
        "tickets_write_available", "cache_max", "cache_dirty",
        "cache_read", "cache_evicted_by_clients", "block_read", "block_written", "log_written", "checkpoint_running",
        "checkpoints", "index_builds", "flow_control_lagged", "write_conflicts", "latency_writes_operations",
        .. MetricCatalogue.RoutedCommands.SelectMany(ShardsAsked.MetricsOf),
    ];
    private static readonly string[] OfHost = ["disk_read", "disk_written", "disk_busy", "network_received", "network_sent"];

    // Findings in each language, the slowest seconds and the answer of a report look at the same seconds.
    private static readonly OncePerRun<RunSeries> Known = new(Read);

    /// <summary>The CPU time of the clients on each machine, in core-microseconds.</summary>
    private readonly Lazy<RunningTotal[]> _clientCpu;
    private readonly Lazy<RunningTotal[]> _operations;
    private readonly Lazy<(TimeWindow, double)[]> _rangeDeletions;

    private RunSeries(StoredRun run, IReadOnlyList<OperationSeries> operations, OperationSeconds seconds)
    {
        Run = run;
        Operations = operations;
        Independent = [.. operations.GroupBy(one => one.Phase.Number).SelectMany(phase => IndependentIn([.. phase], seconds.Joint))
            .Where(one => !one.IsSteered)];
        Axis = seconds.Axis;
        Interruptions = Interruptions.Of(this);
        Server = MetricSeries.Read(MetricCatalogue.Only(MetricCatalogue.Server, OfServer), run.ReadServerSamples);
        Host = MetricSeries.Read(MetricCatalogue.Only(MetricCatalogue.Host, OfHost), run.ReadHostSamples);
        HostSeconds = HostSecond.Of(run);
        _clientCpu = new(() => [.. HostSeconds.Where(second => second.ClientMicroseconds is not null).GroupBy(second => second.Machine)
            .Select(machine => new RunningTotal(machine.Select(second =>
                (new TimeWindow(second.FromMilliseconds, second.ToMilliseconds), second.ClientMicroseconds!.Value))))]);
        _operations = new(() =>
            [.. Operations.Select(one => new RunningTotal(one.Seconds.Select(second => (second.Window, (double)second.Operations))))]);
        _rangeDeletions = new(() => [.. ShardGrowth("range_deleted")]);
    }

    public StoredRun Run { get; }

    /// <summary>The operations in the order of the plan; those without a whole second are left out.</summary>
    public IReadOnlyList<OperationSeries> Operations { get; }

    /// <summary>
    /// Those whose rates are free of one another and of the plan: a mix's operations, which its weights tie together, are one, as its
    /// total; those whose rate or threads the plan changes are left out.
    /// </summary>
    public IReadOnlyList<OperationSeries> Independent { get; }

    public TimeAxis Axis { get; }

    public Interruptions Interruptions { get; }

    public MetricSeries Server { get; }

    public MetricSeries Host { get; }

    public IReadOnlyList<HostSecond> HostSeconds { get; }

    /// <summary>When shards deleted documents that had moved away, and how many each time.</summary>
    public IReadOnlyList<(TimeWindow Window, double By)> RangeDeletions => _rangeDeletions.Value;

    /// <summary>Reads the run's samples at the first call. May be called from several threads.</summary>
    public static RunSeries Of(StoredRun run) => Known.Of(run);

    private static RunSeries Read(StoredRun run)
    {
        var arrivals = new Arrivals(run);
        OperationSeconds seconds = OperationSeconds.Of(run);
        long[] resumed = [.. run.Events.Where(e => e.Kind == RunEvent.Resumed).Select(e => e.AtMilliseconds)];
        Dictionary<(int, string), Attempt> attempts = run.Phases
            .SelectMany(phase => phase.Operations.Where(result => result.Connections is null)
                .Select(result => new Attempt(phase, result, arrivals, resumed, seconds.SecondsEach)))
            .ToDictionary(one => (one.Phase.Number, one.Result.Operation));
        foreach (OperationSecond second in seconds.All)
        {
            if (attempts.TryGetValue((second.Phase, seconds.NameOf(second)), out Attempt? attempt))
                attempt.Add(second);
        }

        OperationSeries[] operations = [.. attempts.Values.Where(one => one.Measured.Count > 0)
            .Select(one => new OperationSeries(one.Phase, one.Result, one.Measured) { Warmup = one.Warmup })];
        return new RunSeries(run, operations, seconds);
    }

    /// <summary>When a counter of a shard grew between two looks at it, and by how much.</summary>
    public IEnumerable<(TimeWindow Window, double By)> ShardGrowth(string metric)
    {
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric);
        var last = new Dictionary<string, MetricSample>(StringComparer.Ordinal);
        foreach (MetricSample sample in Run.ReadShardSamples())
        {
            if (last.TryGetValue(sample.Member, out MetricSample? before) && sample.Values[column] > before.Values[column])
                yield return (
                    new TimeWindow(before.AtMilliseconds, sample.AtMilliseconds), sample.Values[column] - before.Values[column]);
            last[sample.Member] = sample;
        }
    }

    /// <summary>
    /// CPU time that the clients took for an operation of any kind, microseconds; null where it is not known. The same work takes more
    /// where processors are slower.
    /// </summary>
    /// <param name="windows">The windows without overlaps.</param>
    public double? ClientCpuOf(IReadOnlyList<TimeWindow> windows)
    {
        double cpu = _clientCpu.Value.Sum(machine => machine.RateIn(windows));
        double operations = _operations.Value.Sum(one => one.RateIn(windows));
        return cpu > 0 && operations > 0 ? cpu / operations : null;
    }

    /// <summary>
    /// Seconds on the charts over time, and sizes of the collection where it had one: 0 documents at the end are those of a phase
    /// that works on none.
    /// </summary>
    public FindingRange Range(TimeWindow window, long? fromDocuments = null, long? toDocuments = null)
    {
        bool isKnown = (toDocuments ?? fromDocuments) > 0;
        return new FindingRange(Math.Round(Axis.At(window.From), 1), Math.Round(Axis.At(window.To), 1), isKnown ? fromDocuments : null,
            isKnown ? toDocuments : null);
    }

    private static IEnumerable<OperationSeries> IndependentIn(OperationSeries[] phase, JointLatencies latencies) =>
    [
        .. phase.Where(one => !one.Phase.IsMixed(one.Result)),
        .. phase[0].Phase.Mixes
            .Select(mix => OperationSeries.Total(mix, [.. phase.Where(one => mix.Operations.Contains(one.Result))], latencies))
            .OfType<OperationSeries>(),
    ];

    /// <summary>Seconds of an operation's last attempt.</summary>
    private sealed class Attempt(PhaseRecord phase, OperationResult result, Arrivals arrivals, long[] resumed, int secondsEach)
    {
        private OperationSecond? _last;

        public PhaseRecord Phase => phase;

        public OperationResult Result => result;

        public List<SeriesSecond> Warmup { get; } = [];

        public List<SeriesSecond> Measured { get; } = [];

        public void Add(OperationSecond second)
        {
            // A clock that jumps, as that of a machine that was suspended, begins no attempt.
            if (_last is { } last && !second.Continues(last) && ((second.IsWarmup && !last.IsWarmup)
                || resumed.Any(at => at >= last.AtMilliseconds && at <= second.AtMilliseconds)))
            {
                Warmup.Clear();
                Measured.Clear();
            }

            _last = second;
            if (second.Seconds >= SampleAttempts.LeastSeconds)
                (second.IsWarmup ? Warmup : Measured).Add(SeriesSecondOf(second));
        }

        private SeriesSecond SeriesSecondOf(OperationSecond second) => new(
            second.StartMilliseconds, second.AtMilliseconds, arrivals.CountIn(second, result), (long)second.Operations,
            second.P99, second.Max, second.HasOutage, second.Documents)
        {
            IsStill = second.Seconds >= secondsEach - 1 + Interruptions.LeastSeconds,
        };
    }
}
