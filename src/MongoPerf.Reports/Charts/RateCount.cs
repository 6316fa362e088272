using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// What rates are drawn from beside a client's own seconds: unacknowledged writes as they arrived, and the totals of phases with several
/// operations.
/// </summary>
/// <param name="run">The run whose server samples say what arrived.</param>
/// <param name="lines">The lines: totals are added, and those marked whose arrivals are known.</param>
/// <param name="results">The results by phase and line.</param>
/// <param name="measured">The seconds of these lines.</param>
internal sealed class RateCount(StoredRun run, List<OperationLine> lines, Dictionary<(int Phase, int Line), OperationResult> results,
    MeasuredSeconds measured)
{
    /// <summary>Fewer of the servers' seconds, which are not the client's, say too little of a phase.</summary>
    private const int LeastStretches = 2;
    private const string TotalColor = "o7";

    /// <summary>An operation of a phase.</summary>
    private sealed record Part(int Phase, int Line, OperationSecond[] Seconds)
    {
        public Stretches Stretches(Func<OperationSecond, double> countOf) =>
            new([.. Seconds.Where(second => second.AtMilliseconds > second.StartMilliseconds)
                .Select(second => new Stretch(second.StartMilliseconds, second.AtMilliseconds, countOf(second)))]);
    }

    /// <summary>The lines whose own seconds are not what is drawn.</summary>
    public HashSet<int> Replaced { get; } = [];

    /// <summary>The seconds that are drawn instead of those, and those of totals; of each line in time order.</summary>
    public IReadOnlyList<OperationSecond> Added { get; private set; } = [];

    public JointLatencies Joint { get; private set; } = new();

    public void Read(bool countsArrivals)
    {
        var counts = new Lazy<ServerCounts>(() => new ServerCounts(run));
        var added = new List<OperationSecond>();
        var totals = new List<OperationSecond[]>();
        var timed = new Dictionary<int, OperationSecond[]>();
        foreach (Part[] phase in PhasesOfInterest())
        {
            Part[] parts = countsArrivals
                ? [.. phase.Select(part => lines[part.Line].Counts == LineCount.Answered ? part : Arrived(counts, part, phase) ?? part)]
                : phase;
            foreach (Part part in parts.Except(phase))
            {
                Replaced.Add(part.Line);
                added.AddRange(part.Seconds);
            }

            if (parts.Length < 2)
                continue;
            OperationSecond[] total = [.. Total(parts)];
            totals.Add(total);
            if (AreComparable(phase))
                timed.Add(phase[0].Phase, total);
        }

        Joint = JointLatencies.Read(run, measured, timed);
        added.AddRange(totals.SelectMany(total => total));

        // Where a phase of such a line is not known to have arrived, there is a gap.
        foreach (int line in Replaced)
            lines[line] = lines[line] with { Counts = LineCount.Arrived };
        Added = added;
    }

    /// <summary>All of the phase's operations were answered, and their latencies are of one kind.</summary>
    private bool AreComparable(Part[] phase) =>
        phase.All(part => lines[part.Line].Counts == LineCount.Answered)
        && phase.SelectMany(part => part.Seconds).Select(second => second.IsResponse).Distinct().Count() == 1;

    /// <summary>Finds the phases that did several operations, or one that nobody answers.</summary>
    private IEnumerable<Part[]> PhasesOfInterest()
    {
        IEnumerable<OperationSecond> done = results.Values.All(static result => result.IsDone) ? measured.All
            : measured.All.Where(second => results.GetValueOrDefault((second.Phase, second.Line)) is not { IsDone: false });
        HashSet<int> phases = [.. done.Select(second => (second.Phase, second.Line)).Distinct().GroupBy(part => part.Phase)
            .Where(phase => phase.Count() > 1 || phase.Any(part => lines[part.Line].Counts == LineCount.Sent)).Select(phase => phase.Key)];
        return done.Where(second => phases.Contains(second.Phase)).GroupBy(second => second.Phase)
            .Select(phase => phase.GroupBy(second => second.Line).Select(part => new Part(phase.Key, part.Key, [.. part])).ToArray());
    }

    /// <summary>Takes what the servers counted meanwhile, less what they answered of the same kind; of a short phase the mean.</summary>
    /// <returns>Null where that is not known.</returns>
    private Part? Arrived(Lazy<ServerCounts> counts, Part part, Part[] phase)
    {
        if (!results.TryGetValue((part.Phase, part.Line), out OperationResult? result) || CounterOf(result) is not { } counter)
            return null;
        Part[] alike = [.. phase.Where(other =>
            other != part && results.TryGetValue((other.Phase, other.Line), out OperationResult? its) && CounterOf(its) == counter)];
        // Which of several that nobody answers it was, nobody can tell.
        if (alike.Any(other => lines[other.Line].Counts != LineCount.Answered))
            return null;
        long from = part.Seconds[0].StartMilliseconds;
        // Samples may end with the last that was sent, or when the fence is answered: never a time in which the next phase writes.
        long sent = part.Seconds.LastOrDefault(second => second.Count > 0).StartMilliseconds;
        long to = Math.Max(part.Seconds[^1].AtMilliseconds, sent + (long)((result.Unacknowledged?.DrainSeconds ?? 0) * 1000));
        Stretches[] answered = [.. alike.Select(other => other.Stretches(second => second.Count))];
        OperationSecond[] seconds =
        [
            .. counts.Value.Of(counter, from, to)
                .Select(step => Second(step.To, (step.To - step.From) / 1000.0,
                    Math.Max(0, step.Count - answered.Sum(other => other.Between(step.From, step.To))))),
        ];
        if (seconds.Length < LeastStretches)
            seconds = result.Unacknowledged is { } whole && to > from ? [Second(to, (to - from) / 1000.0, whole.Arrived)] : [];
        return seconds.Length == 0 ? null : part with { Seconds = seconds };

        OperationSecond Second(long at, double length, double count) => new(at, part.Line, length, count, double.NaN)
        {
            Phase = part.Phase, Operations = result.IsInsert ? count / Math.Max(1, result.Batch) : count,
            P50 = double.NaN, Max = double.NaN,
        };
    }

    /// <summary>The server's counter of an operation, which older runs did not store.</summary>
    private static string? CounterOf(OperationResult result) => result.ServerCounter ?? (result.IsInsert ? ServerCounts.Inserts : null);

    /// <summary>Adds up all operations of a phase, or documents where all of them insert.</summary>
    private IEnumerable<OperationSecond> Total(Part[] parts)
    {
        bool isInsert = parts.All(part => lines[part.Line].IsInsert);
        int line = TotalLine(parts[0], isInsert);
        // The one that lasted longest sets the seconds.
        Part lead = parts.MaxBy(part => part.Seconds.Length)!;
        Stretches[] all = [.. parts.Select(part => part.Stretches(second => isInsert ? second.Count : second.Operations))];
        long before = 0;
        foreach (OperationSecond second in lead.Seconds)
        {
            long from = Math.Max(before, second.StartMilliseconds);
            before = second.AtMilliseconds;
            if (before > from)
                yield return second with { Line = line, Count =
                    all.Sum(part => part.Between(from, second.AtMilliseconds)), P50 = double.NaN, P99 = double.NaN, Max = double.NaN };
        }
    }

    private int TotalLine(Part part, bool isInsert)
    {
        bool isOfGrowth = lines[part.Line].IsOfGrowth;
        string name = isOfGrowth
            ? PhaseLabels.Of(run.Phases.First(record => record.Number == part.Phase), OperationResult.TotalName)
            : OperationResult.TotalName;
        int place = lines.FindIndex(line => line.IsTotal && line.IsInsert == isInsert && line.Name == name);
        if (place >= 0)
            return place;
        lines.Add(new OperationLine(name, isInsert, isOfGrowth, IsRepeated: true) { Counts = LineCount.Total, Color = TotalColor });
        return lines.Count - 1;
    }
}
