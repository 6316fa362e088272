using MongoPerf.Engine.Runs;

namespace MongoPerf.Reporting.Charts;

/// <summary>One second of one line.</summary>
/// <param name="AtMilliseconds">Unix time at its end.</param>
/// <param name="Line">Its place in <see cref="OperationSeconds.Lines"/>.</param>
/// <param name="Seconds">Its length.</param>
/// <param name="Count">Documents of inserts, operations of anything else.</param>
/// <param name="P99">Microseconds; NaN where nothing was recorded.</param>
internal readonly record struct OperationSecond(long AtMilliseconds, int Line, double Seconds, long Count, double P99)
{
    public long StartMilliseconds => AtMilliseconds - (long)(Seconds * 1000);
}

/// <summary>What is followed over time: an operation of a growth, or of all other phases that have one of that name.</summary>
/// <param name="Title">In the legend.</param>
/// <param name="IsInsert">Its rate is that of documents.</param>
/// <param name="IsOfGrowth">Its latencies are in the charts over documents.</param>
/// <param name="IsRepeated">Some phase did it more than once.</param>
internal sealed record OperationLine(string Title, bool IsInsert, bool IsOfGrowth, bool IsRepeated);

/// <summary>The seconds of a run's operations, read once for all charts over time.</summary>
internal sealed class OperationSeconds
{
    private readonly Dictionary<(int Phase, string Operation), int> _places;

    private OperationSeconds(IReadOnlyList<OperationLine> lines, Dictionary<(int, string), int> places, IReadOnlyList<OperationSecond> all)
    {
        _places = places;
        Lines = lines;
        All = all;
        Inserts = [.. Enumerable.Range(0, lines.Count).Where(i => lines[i].IsInsert)];
    }

    /// <summary>In the order in which they first ran.</summary>
    public IReadOnlyList<OperationLine> Lines { get; }

    /// <summary>In time order, those of the warm-up too.</summary>
    public IReadOnlyList<OperationSecond> All { get; }

    /// <summary>Places of the lines of inserts.</summary>
    public IReadOnlyList<int> Inserts { get; }

    /// <summary>The place in <see cref="Lines"/> of an operation; -1 for one that had no sample when this was read.</summary>
    public int PlaceOf(int phase, string operation) => _places.GetValueOrDefault((phase, operation), -1);

    public static OperationSeconds Read(StoredRun run)
    {
        Dictionary<int, PhaseRecord> phases = run.Phases.ToDictionary(phase => phase.Number);
        var keys = new Dictionary<(int, string), int>();
        var places = new Dictionary<(bool, string), int>();
        var lines = new List<OperationLine>();
        var all = new List<OperationSecond>();
        foreach (Sample sample in run.ReadSamples())
        {
            if (!keys.TryGetValue((sample.Phase, sample.Operation), out int place))
            {
                OperationLine line = LineOf(phases.GetValueOrDefault(sample.Phase), sample.Operation);
                if (!places.TryGetValue((line.IsOfGrowth, line.Title), out place))
                {
                    places.Add((line.IsOfGrowth, line.Title), place = lines.Count);
                    lines.Add(line);
                }

                lines[place] = lines[place] with { IsRepeated = lines[place].IsRepeated || line.IsRepeated };
                keys.Add((sample.Phase, sample.Operation), place);
            }

            all.Add(new OperationSecond(
                sample.AtMilliseconds, place, sample.Seconds, lines[place].IsInsert ? sample.Documents : sample.Operations, sample.JudgedMicroseconds.P99 ?? double.NaN));
        }

        return new OperationSeconds(lines, keys, all);
    }

    private static OperationLine LineOf(PhaseRecord? phase, string operation)
    {
        OperationResult? result = phase?.Operations.FirstOrDefault(result => result.Operation == operation);
        // What was interrupted has no result.
        bool isInsert = result?.IsInsert ?? phase?.Kind is PhaseKind.Load or PhaseKind.Write;
        bool isOfGrowth = phase?.Growth is not null;
        return new OperationLine(isOfGrowth ? PhaseLabels.Of(phase!, operation) : operation, isInsert, isOfGrowth, result?.Operations > 1);
    }
}
