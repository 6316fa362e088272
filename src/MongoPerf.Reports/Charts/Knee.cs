namespace MongoPerf.Reports.Charts;

/// <summary>Finds where a curve bends most.</summary>
internal static class Knee
{
    private const int LeastPoints = 4;

    /// <summary>A curve that stays nearer to the straight line than this share of its height has no knee.</summary>
    private const double LeastDistance = 0.1;

    /// <param name="points">The points, ordered by x; without 4 at least, or with a value that is not finite, there is no knee.</param>
    /// <returns>The index of the point farthest from the line between the ends; null when the curve is nearly straight.</returns>
    public static int? Find(IReadOnlyList<(double X, double Y)> points)
    {
        if (points.Count < LeastPoints || points.Any(p => !double.IsFinite(p.Y)))
            return null;
        double low = points.Min(p => p.Y);
        double height = points.Max(p => p.Y) - low;
        if (height <= 0 || points[0].X <= 0 || points[^1].X <= points[0].X)
            return null;
        // In shares of the axis as it is drawn: doublings count alike where values spread over decades.
        bool isLogarithmic = points[^1].X / points[0].X >= 20;
        double Scale(double x) => isLogarithmic
            ? Math.Log(x / points[0].X) / Math.Log(points[^1].X / points[0].X)
            : (x - points[0].X) / (points[^1].X - points[0].X);
        double Distance(int i) => Math.Abs(
            ((points[i].Y - low) / height) - ((points[0].Y - low) / height) - (Scale(points[i].X) * (points[^1].Y - points[0].Y) / height));
        int best = Enumerable.Range(1, points.Count - 2).MaxBy(Distance);
        return Distance(best) >= LeastDistance ? best : null;
    }
}
