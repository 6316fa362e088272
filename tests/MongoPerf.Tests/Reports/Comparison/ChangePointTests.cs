using MongoPerf.Measurement;
using MongoPerf.Reports.Comparison.Statistics;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>E-divisive means: what changed is found where it changed, and nothing where nothing changes.</summary>
public sealed class ChangePointTests
{
    /// <summary>Names a file that gets the table of docs/history.md.</summary>
    private const string TableVariable = "MONGOPERF_HISTORY_TABLE";

    [Fact]
    public void Changes_are_found_where_they_are()
    {
        double[] values = [.. Noise(30, 7).Select((noise, i) => noise + (i < 12 ? 10 : i < 22 ? 8 : 9))];
        IReadOnlyList<ChangePoint> found = ChangePoints.Find(values, 0.05);
        Assert.Equal([12, 22], found.Select(change => change.At));
        Assert.All(found, change => Assert.InRange(change.P, 0.0001, 0.01));
        // The same values give the same changes.
        Assert.Equal(found, ChangePoints.Find(values, 0.05));
    }

    [Fact]
    public void Where_nothing_changes_a_change_is_found_as_rarely_as_the_level_says()
    {
        int alarms = Enumerable.Range(1, 200).Count(seed => ChangePoints.Find(Noise(20, (ulong)seed), 0.05).Count > 0);
        Assert.InRange(alarms, 0, 18);
    }

    [Fact]
    public void An_outlier_is_no_change_and_neither_is_one_new_value()
    {
        double[] outlier = [.. Noise(20, 3)];
        outlier[9] += 50;
        Assert.Empty(ChangePoints.Find(outlier, 0.05));
        double[] last = [.. Noise(20, 4)];
        last[^1] -= 50;
        Assert.Empty(ChangePoints.Find(last, 0.05));
        last[^2] -= 50;
        last[^3] -= 50;
        Assert.Equal([17], ChangePoints.Find(last, 0.05).Select(change => change.At));
    }

    [Fact]
    public void Equal_values_do_not_change_and_a_step_among_them_does()
    {
        Assert.Empty(ChangePoints.Find([.. Enumerable.Repeat(5.0, 30)], 0.05));
        Assert.Equal(
            [10], ChangePoints.Find([.. Enumerable.Repeat(5.0, 10), .. Enumerable.Repeat(6.0, 10)], 0.05).Select(change => change.At));
        Assert.Empty(ChangePoints.Find([], 0.05));
        Assert.Empty(ChangePoints.Find([1, 2, 3], 0.05));
    }

    [Theory]
    [InlineData(0.05, 8)]
    [InlineData(0.01, 10)]
    [InlineData(0.05 / 16, 12)]
    public void The_fewest_values_are_those_that_can_be_significant(double level, int least)
    {
        Assert.Equal(least, ChangePoints.LeastValues(level));
        double[] plain = [.. Enumerable.Range(0, least).Select(i => i < least / 2 ? 1 + (i * 0.001) : 9 + (i * 0.001))];
        Assert.Single(ChangePoints.Find(plain, level));
        Assert.Empty(ChangePoints.Find(plain[1..^1], level));
    }

    [Fact]
    public void The_table_of_the_documentation()
    {
        string? file = Environment.GetEnvironmentVariable(TableVariable);
        Assert.SkipUnless(file is not null, $"needs {TableVariable}: {TableVariable}=FILE, for the table of the documentation");
        using var table = new StreamWriter(file);
        table.WriteLine("| runs before | runs since | change | 1 metric: found | 16 metrics: found |");
        table.WriteLine("| ---: | ---: | ---: | ---: | ---: |");
        foreach ((int before, int since, double change) in new[]
        {
            (20, 0, 0.0), (50, 0, 0.0), (30, 1, 0.2), (30, 2, 0.2), (30, 3, 0.2), (30, 2, 0.1), (30, 3, 0.1), (30, 5, 0.1), (30, 10, 0.1),
            (30, 5, 0.06), (30, 10, 0.06), (30, 20, 0.06),
        })
        {
            string[] found = [.. new[] { 1, 16 }.Select(metrics => Share(before, since, change, 0.05 / metrics))];
            table.WriteLine($"| {before} | {(since == 0 ? "–" : since)} | {(change == 0 ? "none" : $"{change * 100:0} %")} | "
                + $"{string.Join(" | ", found)} |");
        }
    }

    /// <summary>How often a change is found, in histories of normal noise of 3 %.</summary>
    private static string Share(int before, int since, double change, double level)
    {
        const int Histories = 1000;
        int found = Enumerable.Range(0, Histories).Count(seed =>
        {
            var samples = new NoisySamples((ulong)seed + 1, variation: 0.03, correlation: 0);
            double[] values = samples.Window(before + since);
            return ChangePoints.Find([.. values.Select((value, i) => Math.Log(value * (i < before ? 1 : 1 - change)))], level).Count > 0;
        });
        return string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{100.0 * found / Histories:0.0} %");
    }

    private static double[] Noise(int count, ulong seed)
    {
        var random = new RandomStream(seed);
        return [.. Enumerable.Range(0, count).Select(_ => (random.NextDouble() + random.NextDouble() + random.NextDouble() - 1.5) * 0.4)];
    }
}
