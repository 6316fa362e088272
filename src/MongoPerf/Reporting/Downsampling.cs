namespace MongoPerf.Reporting;

/// <summary>Neighbouring points drawn as one: the line through the means, the band from least to greatest.</summary>
internal readonly record struct ThinnedPoint(double FirstX, double LastX, double Minimum, double Maximum, double Mean, long Count)
{
    public double X => (FirstX + LastX) / 2;

    internal ThinnedPoint With(ThinnedPoint next) => new(
        FirstX, next.LastX, Math.Min(Minimum, next.Minimum), Math.Max(Maximum, next.Maximum),
        ((Mean * Count) + (next.Mean * next.Count)) / (Count + next.Count), Count + next.Count);
}

/// <summary>Thins a series of unknown length to a bounded number of points in one pass and fixed memory; a week of seconds fits into a chart.</summary>
/// <remarks>Points come in order of x. When all places are taken, neighbours are joined two by two and each place stands for twice as many points.</remarks>
internal sealed class Downsampler
{
    private readonly int _atMost;
    private readonly List<ThinnedPoint> _points = [];
    private long _perPoint = 1;

    /// <param name="atMost">2 or more.</param>
    public Downsampler(int atMost)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(atMost, 2);
        _atMost = atMost;
    }

    /// <summary>What has been added so far.</summary>
    public IReadOnlyList<ThinnedPoint> Points => _points;

    /// <param name="x">Not less than the one before.</param>
    /// <param name="y">NaN, for no value, is left out.</param>
    public void Add(double x, double y)
    {
        if (!double.IsFinite(y))
            return;
        var point = new ThinnedPoint(x, x, y, y, y, 1);
        if (_points.Count > 0 && _points[^1].Count < _perPoint)
        {
            _points[^1] = _points[^1].With(point);
            return;
        }

        if (_points.Count == _atMost)
            JoinNeighbours();
        if (_points.Count > 0 && _points[^1].Count < _perPoint)
            _points[^1] = _points[^1].With(point);
        else
            _points.Add(point);
    }

    public static IReadOnlyList<ThinnedPoint> Thin(IEnumerable<(double X, double Y)> points, int atMost)
    {
        var sampler = new Downsampler(atMost);
        foreach ((double x, double y) in points)
            sampler.Add(x, y);
        return sampler.Points;
    }

    private void JoinNeighbours()
    {
        int joined = 0;
        for (int i = 0; i < _points.Count; i += 2)
            _points[joined++] = i + 1 < _points.Count ? _points[i].With(_points[i + 1]) : _points[i];
        _points.RemoveRange(joined, _points.Count - joined);
        _perPoint *= 2;
    }
}
