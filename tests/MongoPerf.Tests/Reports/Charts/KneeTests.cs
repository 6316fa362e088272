using MongoPerf.Reports.Charts;

namespace MongoPerf.Tests.Reports.Charts;

public sealed class KneeTests
{
    [Fact]
    public void Knee_of_a_rate_that_levels_off_is_where_it_bends() =>
        Assert.Equal(4, Knee.Find(Curve([1, 2, 4, 8, 16, 32, 64, 128], [1, 2, 4, 8, 15, 16, 16, 16])));

    [Fact]
    public void Knee_of_a_rate_that_rises_and_falls_is_its_peak() =>
        Assert.Equal(2, Knee.Find(Curve([1, 5, 20, 100, 900], [10, 45, 100, 80, 20])));

    [Fact]
    public void Straight_line_has_none() => Assert.Null(Knee.Find(Curve([1, 2, 3, 4, 5], [10, 20, 30, 40, 50])));

    [Fact]
    public void Level_line_has_none() => Assert.Null(Knee.Find(Curve([1, 2, 3, 4], [10, 10, 10, 10])));

    [Fact]
    public void Three_points_are_too_few() => Assert.Null(Knee.Find(Curve([1, 2, 3], [1, 9, 9])));

    private static (double X, double Y)[] Curve(double[] xs, double[] ys) => [.. xs.Zip(ys)];
}
