using MongoPerf.Measurement;

namespace MongoPerf.Learning.Observing;

/// <summary>An operation by its time.</summary>
/// <param name="Start">When it began, in seconds of the source's clock.</param>
/// <param name="Took">In µs; not a number if unknown.</param>
/// <param name="Pause">
/// The µs for which its connection had waited for nothing when it began; not a number for the first one and where connections are unknown.
/// </param>
/// <param name="Before">How long the operation before it took, in µs; means something only beside a pause.</param>
/// <param name="Count">How many operations it stands for.</param>
/// <param name="Connection">A number for its connection; negative if unknown.</param>
/// <param name="Shape">A number for its shape.</param>
internal readonly record struct Arrival(
    double Start, float Took, float Pause, float Before, float Count, int Connection, int Shape)
{
    public double End => float.IsNaN(Took) ? Start : Start + (Took / 1e6);
}

/// <summary>When operations came, and on which connections.</summary>
/// <remarks>
/// 32 bytes for each of the first million; beyond that, of a random sample of half a million to a million, with one of each shape.
/// </remarks>
internal sealed class Timeline
{
    private const int Most = 1 << 20;
    private const int MostConnections = 100_000;

    private readonly List<Arrival> _arrivals = [];
    private readonly Dictionary<string, Line> _lines = new(StringComparer.Ordinal);
    private readonly HashSet<int> _shapes = [];
    private RandomStream _random = new(1);
    private int _halvings;
    private double _first = double.MaxValue;
    private double _last = double.MinValue;

    /// <summary>From the first operation to the end of the last one.</summary>
    public double Seconds => Math.Max(_last - _first, 0.001);

    public void Add(ObservedOperation operation, int shape)
    {
        var arrival = new Arrival(operation.Seconds, (float?)operation.Microseconds ?? float.NaN, float.NaN, float.NaN,
            (float)operation.Count, -1, shape);
        _first = Math.Min(_first, arrival.Start);
        _last = Math.Max(_last, arrival.End);
        if (operation.Connection is { } connection)
            arrival = On(connection, arrival);
        // The first of each shape stays, so that none is forgotten that came rarely.
        if (!_shapes.Add(shape) && _halvings > 0 && _random.NextLong(1L << _halvings) != 0)
            return;
        if (_arrivals.Count == Most)
        {
            var kept = new HashSet<int>();
            _arrivals.RemoveAll(one => !kept.Add(one.Shape) && _random.NextLong(2) != 0);
            _halvings++;
        }

        _arrivals.Add(arrival);
    }

    /// <summary>Gives operations the numbers of other shapes.</summary>
    public void Rename(IReadOnlyDictionary<int, int> shapes)
    {
        for (int i = 0; i < _arrivals.Count; i++)
        {
            if (shapes.TryGetValue(_arrivals[i].Shape, out int shape))
                _arrivals[i] = _arrivals[i] with { Shape = shape };
        }
    }

    /// <summary>Divides it where other operations come than before; a mix that comes back again and again may be one stretch.</summary>
    /// <param name="shapes">Only these count.</param>
    /// <param name="seconds">
    /// How long was observed, where the times of operations don't tell: then it stays in one piece. Null for from the first operation to
    /// the end of the last one.
    /// </param>
    /// <returns>At least one, in order of their beginnings.</returns>
    public IReadOnlyList<Stretch> Divide(IReadOnlySet<int> shapes, double? seconds)
    {
        Arrival[] arrivals = [.. _arrivals.Where(one => shapes.Contains(one.Shape)).OrderBy(one => one.Start)];
        IReadOnlyList<IReadOnlyList<Range>> divided = seconds is null ? MixChanges.In(arrivals) : [];
        return divided.Count > 1
            ? [.. divided.Select(ranges => new Stretch([.. ranges.Select(PartOf)], _halvings > 0))]
            : [new Stretch([(arrivals, _first, seconds ?? Seconds)], _halvings > 0)];

        // What is still under way when the next mix has begun doesn't make this one longer.
        (Arrival[], double, double) PartOf(Range range)
        {
            Arrival[] part = arrivals[range];
            double end = part.Max(one => one.End);
            if (range.End.Value < arrivals.Length)
                end = Math.Min(end, arrivals[range.End.Value].Start);
            return (part, part[0].Start, Math.Max(end - part[0].Start, 0.001));
        }
    }

    private Arrival On(string connection, Arrival arrival)
    {
        if (!_lines.TryGetValue(connection, out Line? line))
        {
            if (_lines.Count == MostConnections)
                return arrival;
            _lines[connection] = line = new Line(_lines.Count, arrival.End);
        }
        else
        {
            arrival = arrival with { Pause = (float)Math.Max(0, (arrival.Start - line.End) * 1e6), Before = line.Took };
        }

        line.End = Math.Max(line.End, arrival.End);
        line.Took = float.IsNaN(arrival.Took) ? 0 : arrival.Took;
        return arrival with { Connection = line.Number };
    }

    /// <summary>A connection.</summary>
    private sealed class Line(int number, double end)
    {
        public int Number => number;

        public double End { get; set; } = end;

        /// <summary>How long its last operation took, in µs.</summary>
        public float Took { get; set; }
    }
}
