using MongoPerf.Storage;

namespace MongoPerf.Reports.Charts;

/// <summary>
/// Unacknowledged writes second by second as the servers counted them. A client's own seconds tell when they were sent: in gushes, as the
/// sockets' buffers take them.
/// </summary>
internal sealed class Arrivals
{
    /// <summary>A server that was silent for longer was too busy, or stood still: what it counted is no second's.</summary>
    private const long LongestMilliseconds = 2000;

    /// <summary>The least share of a second that servers must have counted; the rest is taken for as much.</summary>
    private const double LeastCovered = 0.9;

    private readonly OperationSeconds? _operations;
    private readonly Dictionary<(int Phase, int Line), (Stretches Counts, Stretches Milliseconds)> _known = [];

    public Arrivals(StoredRun run)
    {
        if (!run.Phases.SelectMany(phase => phase.Operations).Any(result => result.IsUnacknowledged || result.Unacknowledged is not null))
            return;
        _operations = OperationSeconds.Of(run);
        foreach (var seconds in _operations.Counted.Where(second => _operations.Lines[second.Line].Counts == LineCount.Arrived)
            .GroupBy(second => (second.Phase, second.Line)))
        {
            Stretch[] stretches = [.. seconds.Select(second => new Stretch(second.StartMilliseconds, second.AtMilliseconds, second.Count))
                .Where(one => one.To - one.From is > 0 and <= LongestMilliseconds)];
            _known[seconds.Key] =
                (new Stretches(stretches), new Stretches([.. stretches.Select(one => one with { Count = one.To - one.From })]));
        }
    }

    /// <summary>
    /// Counts the documents of inserts, or the operations of anything else, that arrived in the sample's time. Of acknowledged writes, and
    /// where no server counted in that time, it is the sample's own count.
    /// </summary>
    /// <param name="sample">A sample that is not earlier than the last one of its operation.</param>
    /// <param name="result">The result of the sample's operation.</param>
    public double CountIn(Sample sample, OperationResult result) =>
        Between(sample.Phase, sample.Operation, sample.StartMilliseconds, sample.AtMilliseconds)
        ?? (result.IsInsert ? sample.Documents : sample.Operations);

    /// <inheritdoc cref="CountIn(Sample, OperationResult)"/>
    /// <param name="second">A second that is not earlier than the last one of its operation.</param>
    /// <param name="result">The result of its operation.</param>
    public double CountIn(OperationSecond second, OperationResult result) =>
        Between(second.Phase, result.Operation, second.StartMilliseconds, second.AtMilliseconds)
        ?? (result.IsInsert ? second.DocumentsDone : second.Operations);

    private double? Between(int phase, string operation, long from, long to)
    {
        if (_operations is null
            || !_known.TryGetValue((phase, _operations.PlaceOf(phase, operation)), out (Stretches Counts, Stretches Milliseconds) known))
            return null;
        double covered = known.Milliseconds.Between(from, to);
        double count = known.Counts.Between(from, to);
        return covered >= LeastCovered * (to - from) ? count * (to - from) / covered : null;
    }
}
