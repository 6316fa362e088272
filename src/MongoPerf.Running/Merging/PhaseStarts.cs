using MongoPerf.Storage;

namespace MongoPerf.Running.Merging;

/// <summary>When several clients began a phase, by a common clock.</summary>
/// <param name="First">Unix time, milliseconds.</param>
/// <param name="Last">Unix time, milliseconds.</param>
/// <param name="Uncertainty">What their distance may be off, both ways, milliseconds; null where it is not known.</param>
internal sealed record PhaseStarts(double First, double Last, double? Uncertainty)
{
    public double Skew => Math.Round(Last - First, 3);

    /// <param name="records">Of one phase, by client; null of one that did not come to it.</param>
    /// <param name="parts">The clients' runs.</param>
    /// <returns>Null where nobody measured.</returns>
    public static PhaseStarts? Find(IReadOnlyList<PhaseRecord?> records, IReadOnlyList<StoredRun> parts)
    {
        // Clients that waited for one another compared their clocks just then, with one server's; others did when their runs began.
        (PhaseRecord Record, StoredRun Part)[] began = [.. records.Zip(parts)
            .Where(pair => pair.First?.StartedAtMilliseconds is not null).Select(pair => (pair.First!, pair.Second))];
        if (began.Length == 0)
            return null;
        bool isFresh = began.All(one => one.Record.Clock is { } clock && clock.Server == began[0].Record.Clock?.Server);
        ClientClock?[] clocks = [.. began.Select(one => isFresh ? one.Record.Clock : one.Part.Environment?.Clock)];
        (double At, ClientClock? Clock)[] starts = [.. began.Zip(clocks)
            .Select(pair => (pair.First.Record.StartedAtMilliseconds!.Value + (pair.Second?.OffsetMilliseconds ?? 0), pair.Second))];
        var (first, last) = (starts.MinBy(start => start.At), starts.MaxBy(start => start.At));
        // Clients of one machine agreed on one estimate, which errs for all of them alike.
        double? uncertainty = starts.Any(start => start.Clock is null) ? null
            : isFresh && first.Clock == last.Clock ? 0
            : first.Clock!.UncertaintyMilliseconds + last.Clock!.UncertaintyMilliseconds;
        return new PhaseStarts(first.At, last.At, uncertainty);
    }
}
