using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>One second of one line.</summary>
/// <param name="AtMilliseconds">The Unix time at its end.</param>
/// <param name="Line">Its place in <see cref="OperationSeconds.Lines"/>.</param>
/// <param name="Seconds">Its length in seconds.</param>
/// <param name="Count">The documents of inserts, or the operations of anything else.</param>
/// <param name="P99">The 99th percentile in microseconds; NaN where nothing was recorded.</param>
internal readonly record struct OperationSecond(long AtMilliseconds, int Line, double Seconds, double Count, double P99)
{
    public long StartMilliseconds => AtMilliseconds - (long)(Seconds * 1000);

    public int Phase { get; init; }

    /// <summary>
    /// The place of its operation in <see cref="MeasuredSeconds.Names"/>: a reference in each would keep the garbage collector busy.
    /// </summary>
    public int Name { get; init; }

    public double Operations { get; init; }

    /// <summary>Those that the operations inserted, changed or returned.</summary>
    public double DocumentsDone { get; init; }

    /// <summary>Microseconds; NaN where nothing was recorded.</summary>
    public double P50 { get; init; }

    /// <summary>Microseconds; NaN where nothing was recorded.</summary>
    public double Max { get; init; }

    /// <summary>The documents in the collection at its end, as far as the client knows.</summary>
    public long Documents { get; init; }

    public bool IsWarmup { get; init; }

    /// <summary>The connection was down in part of it.</summary>
    public bool HasOutage { get; init; }

    /// <summary>Its latencies are response times.</summary>
    public bool IsResponse { get; init; }
}

/// <summary>A run's seconds as they were stored.</summary>
/// <param name="All">The seconds of its operations, in time order; those of the warm-up too.</param>
/// <param name="Names">What the operations are called.</param>
/// <param name="OfGroups">What is stored of a group's operations together, by the place of one of its seconds.</param>
internal sealed record MeasuredSeconds(
    IReadOnlyList<OperationSecond> All, IReadOnlyList<string> Names, IReadOnlyDictionary<int, GroupLatency> OfGroups)
{
    public string NameOf(OperationSecond second) => Names[second.Name];
}

/// <summary>What a line's rate counts.</summary>
internal enum LineCount
{
    Answered,

    /// <summary>Writes to the socket, which nobody answers.</summary>
    Sent,

    /// <summary>Writes that the servers counted as arrived.</summary>
    Arrived,

    /// <summary>All operations of phases that have several, together.</summary>
    Total,
}

/// <summary>What is followed over time: an operation of a growth, or of all other phases that have one of that name.</summary>
/// <param name="Name">The operation's name.</param>
/// <param name="IsInsert">Its rate is that of documents.</param>
/// <param name="IsOfGrowth">Its latencies are in the charts over documents.</param>
/// <param name="IsRepeated">Some phase did it more than once.</param>
internal sealed record OperationLine(string Name, bool IsInsert, bool IsOfGrowth, bool IsRepeated)
{
    public LineCount Counts { get; init; }

    /// <summary>The name of a color of <see cref="Palette"/>.</summary>
    public string Color { get; init; } = "";

    public bool IsTotal => Counts == LineCount.Total;

    /// <summary>The title of its rate in a legend.</summary>
    public string Title =>
        Counts switch { LineCount.Sent => Words.Of($"{Name} (sent)"), LineCount.Arrived => Words.Of($"{Name} (arrived)"), _ => Name };

    /// <summary>The title of its latencies.</summary>
    public string TimedTitle => Counts is LineCount.Sent or LineCount.Arrived ? Words.Of($"{Name} (to send)") : Name;
}

/// <summary>
/// The seconds of a run's operations, read once for everything that is over time; where they would take too much memory, longer pieces.
/// </summary>
internal sealed class OperationSeconds
{
    private static readonly OncePerRun<OperationSeconds> Known = new(static run => Read(run, countsArrivals: true));

    private readonly Dictionary<(int Phase, string Operation), int> _places;

    private readonly RateCount _rates;

    private readonly MeasuredSeconds _measured;

    private OperationSeconds(StoredRun run, Dictionary<(int, string), int> places, IReadOnlyList<OperationLine> lines,
        MeasuredSeconds measured, RateCount rates, int secondsEach)
    {
        SecondsEach = secondsEach;
        _places = places;
        _rates = rates;
        _measured = measured;
        Lines = lines;
        Inserts = [.. Enumerable.Range(0, lines.Count).Where(i => lines[i] is { IsInsert: true, IsTotal: false })];
        Axis = new TimeAxis(All.Select(static second => second.AtMilliseconds)
            .Concat(run.ReadHostSamples([]).Select(static sample => sample.AtMilliseconds)));
    }

    /// <summary>How many seconds are one; more than 1 in runs of more than a day with very many samples.</summary>
    public int SecondsEach { get; }

    /// <summary>The lines in the order in which they first ran; totals last.</summary>
    public IReadOnlyList<OperationLine> Lines { get; }

    /// <summary>The seconds as the client measured them, in time order; those of the warm-up too.</summary>
    public IReadOnlyList<OperationSecond> All => _measured.All;

    /// <summary>
    /// The seconds of rates: unacknowledged writes as they arrived where the servers counted them, and totals; of each line in time order.
    /// </summary>
    public IEnumerable<OperationSecond> Counted => All.Where(second => !_rates.Replaced.Contains(second.Line)).Concat(_rates.Added);

    /// <summary>The seconds of latencies: <see cref="All"/>, and totals; of each line in time order.</summary>
    public IEnumerable<OperationSecond> Timed => All.Concat(_rates.Added.Where(second => Lines[second.Line].IsTotal));

    /// <summary>The latencies of operations together, of which <see cref="Timed"/> has those of whole phases.</summary>
    public JointLatencies Joint => _rates.Joint;

    /// <summary>The places of the lines of inserts.</summary>
    public IReadOnlyList<int> Inserts { get; }

    /// <summary>The axis of the whole run.</summary>
    public TimeAxis Axis { get; }

    /// <summary>The name of a second's operation.</summary>
    public string NameOf(OperationSecond second) => _measured.NameOf(second);

    /// <summary>Finds an operation's place in <see cref="Lines"/>; -1 for one that had no sample when this was read.</summary>
    public int PlaceOf(int phase, string operation) => _places.GetValueOrDefault((phase, operation), -1);

    /// <summary>Reads the run's samples at the first call. May be called from several threads.</summary>
    public static OperationSeconds Of(StoredRun run) => Known.Of(run);

    /// <summary>Reads what a run that goes on has got since the last look, which is too little to tell arrivals.</summary>
    public static OperationSeconds Live(StoredRun run) => Read(run, countsArrivals: false);

    private static OperationSeconds Read(StoredRun run, bool countsArrivals)
    {
        Dictionary<int, PhaseRecord> phases = run.Phases.ToDictionary(phase => phase.Number);
        var keys = new Dictionary<(int, string), int>();
        var places = new Dictionary<(bool, string), int>();
        var lines = new List<OperationLine>();
        var all = new List<OperationSecond>();
        var ofGroups = new Dictionary<int, GroupLatency>();
        var names = new OrderedDictionary<string, int>(StringComparer.Ordinal);
        int secondsEach = SampleThinning.SecondsEach(run);
        foreach (Sample sample in secondsEach == 1 ? run.ReadSamples() : SampleThinning.InPieces(run.ReadSamples(), secondsEach))
        {
            if (!keys.TryGetValue((sample.Phase, sample.Operation), out int place))
            {
                OperationLine line = LineOf(phases.GetValueOrDefault(sample.Phase), sample.Operation);
                if (!places.TryGetValue((line.IsOfGrowth, line.Name), out place))
                {
                    places.Add((line.IsOfGrowth, line.Name), place = lines.Count);
                    lines.Add(line with { Color = Palette.OfOperation(place) });
                }

                lines[place] = lines[place] with
                {
                    IsRepeated = lines[place].IsRepeated || line.IsRepeated,
                    Counts = (LineCount)Math.Max((int)lines[place].Counts, (int)line.Counts),
                };
                keys.Add((sample.Phase, sample.Operation), place);
            }

            if (sample.OfGroup is { } ofGroup)
                ofGroups.Add(all.Count, ofGroup);
            if (!names.TryGetValue(sample.Operation, out int name))
                names.Add(sample.Operation, name = names.Count);
            all.Add(SecondOf(sample, place, lines[place].IsInsert) with { Name = name });
        }

        var results = new Dictionary<(int, int), OperationResult>();
        foreach (PhaseRecord phase in run.Phases)
        {
            foreach (OperationResult result in phase.Operations.Where(result => keys.ContainsKey((phase.Number, result.Operation))))
                results[(phase.Number, keys[(phase.Number, result.Operation)])] = result;
        }

        var measured = new MeasuredSeconds(all, [.. names.Keys], ofGroups);
        var rates = new RateCount(run, lines, results, measured);
        rates.Read(countsArrivals);
        return new OperationSeconds(run, keys, lines, measured, rates, secondsEach);
    }

    private static OperationSecond SecondOf(Sample sample, int line, bool isInsert)
    {
        LatencySummary latency = sample.ReportedMicroseconds;
        return new OperationSecond(
            sample.AtMilliseconds, line, sample.Seconds, isInsert ? sample.Documents : sample.Operations, latency.P99 ?? double.NaN)
        {
            Phase = sample.Phase, Operations = sample.Operations, DocumentsDone = sample.Documents,
            P50 = latency.P50 ?? double.NaN, Max = latency.Max ?? double.NaN, Documents = sample.CollectionDocuments,
            IsWarmup = sample.IsWarmup, HasOutage = sample.HasOutage, IsResponse = sample.ResponseMicroseconds is not null,
        };
    }

    private static OperationLine LineOf(PhaseRecord? phase, string operation)
    {
        OperationResult? result = phase?.Operations.FirstOrDefault(result => result.Operation == operation);
        // What was interrupted has no result.
        bool isInsert = result?.IsInsert ?? phase?.Kind is PhaseKind.Load or PhaseKind.Write;
        bool isOfGrowth = phase?.Growth is not null;
        return new OperationLine(isOfGrowth ? PhaseLabels.Of(phase!, operation) : operation, isInsert, isOfGrowth, result?.Operations > 1)
        {
            Counts = result is { IsUnacknowledged: true } or { Unacknowledged: not null } ? LineCount.Sent : LineCount.Answered,
        };
    }
}
