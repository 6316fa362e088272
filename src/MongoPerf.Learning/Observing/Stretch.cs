using MongoPerf.Measurement;

namespace MongoPerf.Learning.Observing;

/// <summary>A time in which operations came in one mix: in one piece, or in several that are put one after the other.</summary>
internal sealed class Stretch
{
    /// <summary>Up to so long, what passes between a reply and the next request is the client's own work.</summary>
    private const double ClientMicroseconds = 200;

    private readonly IReadOnlyList<Arrival[]> _parts;
    private readonly bool _isSampled;

    /// <summary>For each arrival, when it began, in seconds since the stretch did.</summary>
    private readonly double[] _starts;

    /// <param name="parts">Each in the order of time, with when it began and how many seconds it was.</param>
    /// <param name="isSampled">Operations are missing.</param>
    public Stretch(IReadOnlyList<(Arrival[] Arrivals, double Start, double Seconds)> parts, bool isSampled)
    {
        _parts = [.. parts.Select(part => part.Arrivals)];
        _isSampled = isSampled;
        var starts = new List<double>();
        foreach ((Arrival[] part, double start, double seconds) in parts)
        {
            starts.AddRange(part.Select(one => Seconds + one.Start - start));
            Seconds += seconds;
        }

        _starts = [.. starts];
        Shapes = Arrivals.GroupBy(one => one.Shape)
            .ToDictionary(of => of.Key, of => (of.Sum(one => (double)one.Count), LatencyOf(of)));
    }

    /// <summary>How long it was.</summary>
    public double Seconds { get; }

    private IEnumerable<Arrival> Arrivals => _parts.SelectMany(part => part);

    /// <summary>How many operations of each shape it has, and how long they took; null if unknown.</summary>
    public IReadOnlyDictionary<int, (double Count, ObservedLatency? Latency)> Shapes { get; }

    /// <summary>Operations per second, in pieces of equal length; empty for too few operations.</summary>
    /// <param name="count">How many operations there were in all.</param>
    public IReadOnlyList<double> Rates(double count)
    {
        const int MostPieces = 60;
        const int OperationsInPiece = 50;
        int pieces = (int)Math.Min(MostPieces, Math.Min(Seconds, _starts.Length / (double)OperationsInPiece));
        return pieces < 2 ? [] : [.. Counted(pieces).Select(one => one * count / _starts.Length * pieces / Seconds)];
    }

    /// <summary>Of random arrivals, counts in short times vary as much as their mean is large; of even ones much less.</summary>
    public bool IsSteady
    {
        get
        {
            const int OperationsInPiece = 10;
            const int LeastPieces = 20;
            int pieces = Math.Min(100_000, _starts.Length / OperationsInPiece);
            if (pieces < LeastPieces || _isSampled)
                return false;
            double[] counts = Counted(pieces);
            double mean = counts.Average();
            return counts.Average(count => (count - mean) * (count - mean)) < 0.5 * mean;
        }
    }

    /// <summary>Those that were in use on average, from their first operation to their last; or the most operations at once.</summary>
    public int Connections
    {
        get
        {
            double[] lengths = [.. _parts.SelectMany(part => part.Where(one => one.Connection >= 0).GroupBy(one => one.Connection)
                .Select(line => line.Max(one => one.End) - line.First().Start))];
            if (lengths.Length > 0)
                return (int)Math.Clamp(Math.Ceiling((lengths.Sum() / Seconds) - 0.1), 1, lengths.Length);
            int atOnce = 0;
            int most = 1;
            // An end before a start at the same time.
            foreach ((_, int change) in Arrivals.SelectMany(one => new[] { (one.Start, 1), (one.End, -1) })
                .OrderBy(one => one.Item1).ThenBy(one => one.Item2))
                most = Math.Max(most, atOnce += change);
            return most;
        }
    }

    /// <summary>How long connections wait before their next operation, as <see cref="ObservedPhase.Think"/> is.</summary>
    public double? Think(IReadOnlyList<double> rates)
    {
        // What an application does in turns, and what comes at times of its own, is no closed loop, however busy the server is.
        const double MostVariation = 0.5;
        const double LeastCorrelation = -0.3;
        // The pause before the first one of a part was spent outside.
        Arrival[] later = [.. _parts.SelectMany(part => part.Where(one => one.Pause <= (one.Start - part[0].Start) * 1e6))];
        if (later.Length < KeyFit.LeastDraws)
            return null;
        double idle = later.Average(one => (double)one.Pause);
        double busy = later.Average(one => float.IsNaN(one.Took) ? 0.0 : one.Took);
        if (rates.Count > 1)
        {
            double rate = rates.Average();
            if (Math.Sqrt(rates.Average(one => (one - rate) * (one - rate))) > MostVariation * rate)
                return null;
        }

        return idle <= ClientMicroseconds ? 0 : idle <= busy && Correlation(later) > LeastCorrelation ? idle : null;
    }

    /// <summary>
    /// Of the pause with how long the operation before took: where operations have times of their own, a long one leaves less of a pause,
    /// so it is below 0. 0 where one hardly varies. Of logarithms, since a few long ones would decide otherwise.
    /// </summary>
    private static double Correlation(Arrival[] arrivals)
    {
        (double X, double Y)[] points = [.. arrivals.Select(one => (Math.Log(Math.Max(one.Before, 1)), Math.Log(Math.Max(one.Pause, 1))))];
        (double x, double y) = (points.Average(one => one.X), points.Average(one => one.Y));
        (double ofX, double ofY) = (points.Average(one => (one.X - x) * (one.X - x)), points.Average(one => (one.Y - y) * (one.Y - y)));
        return Math.Min(ofX, ofY) > 1e-6 ? points.Average(one => (one.X - x) * (one.Y - y)) / Math.Sqrt(ofX * ofY) : 0;
    }

    private static ObservedLatency? LatencyOf(IEnumerable<Arrival> arrivals)
    {
        var latency = new LatencyHistogram();
        foreach (Arrival one in arrivals.Where(one => !float.IsNaN(one.Took)))
            latency.Record(one.Took);
        return ObservedLatency.Of(latency);
    }

    private double[] Counted(int pieces)
    {
        double[] counts = new double[pieces];
        foreach (double start in _starts)
            counts[(int)Math.Clamp(start / Seconds * pieces, 0, pieces - 1)]++;
        return counts;
    }
}
