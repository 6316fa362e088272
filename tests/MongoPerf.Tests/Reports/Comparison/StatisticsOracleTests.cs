using System.Text.Json;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>
/// The figures of another program, statistics.py, which computes the same statistics by their definitions with numpy and scipy: sums of all
/// covariances, whole matrices, all splits. ./statistics.py > statistics.json makes them anew.
/// </summary>
public sealed class StatisticsOracleTests
{
    private const double Level = 0.01;

    internal static JsonDocument Oracle { get; } = JsonDocument.Parse(File.ReadAllText(
        Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests", "Reports", "Comparison", "statistics.json")));

    public static TheoryData<string> Rows { get; } =
        [.. Oracle.RootElement.GetProperty("rows").EnumerateArray().Select(row => row.GetProperty("name").GetString()!)];

    [Theory]
    [MemberData(nameof(Rows))]
    public void Rows_of_values_come_to_the_other_programs_figures(string name)
    {
        JsonElement row = Oracle.RootElement.GetProperty("rows").EnumerateArray()
            .Single(one => one.GetProperty("name").GetString() == name);
        double[] values = Doubles(row.GetProperty("values"));
        RequireNear(row, "correlation", [Autocorrelation.OfFirstOrder([values])]);
        RequireNear(row, "signs", [DifferenceSigns.P(values)]);
        RequireNear(row, "trend", Trend.Of(values) is { } trend
            ? [trend.Ratio, trend.Interval.Low, trend.Interval.High, trend.P, trend.IsStraight ? 1 : 0] : null);
        RequireNear(row, "bend", Bend.Of(values) is { } bend ? [bend.From, bend.Ratio, bend.P] : null);
        RequireNear(row, "step", SizeStep.Find(values, 0.05, 0.1) is { } step
            ? [step.From, step.To, step.Before, step.After, step.IsCliff ? 1 : 0] : null);
        RequireNear(row, "period", Period.Find(values, Level) is { } period ? [period.Length, period.Amplitude, period.Explained] : null);
        LevelShift[] shifts = [.. LevelScan.FindAll(values, Level, 0.05, 3)];
        JsonElement[] expected = [.. row.GetProperty("shifts").EnumerateArray()];
        Assert.Equal(expected.Length, shifts.Length);
        foreach ((JsonElement figures, LevelShift shift) in expected.Zip(shifts))
            RequireNear("shift", Doubles(figures), [shift.From, shift.To, shift.Ratio, shift.Interval.Low, shift.Interval.High, shift.P]);
        // Permutations are drawn: only what none of them comes near is certain.
        if (row.GetProperty("changes") is { ValueKind: JsonValueKind.Array } changes)
            Assert.Equal(Doubles(changes), ChangePoints.Find(values, Level).Select(change => (double)change.At));
    }

    [Fact]
    public void Known_stretches_come_to_the_other_programs_probability()
    {
        foreach (JsonElement one in Oracle.RootElement.GetProperty("stretches").EnumerateArray())
        {
            double[] values = Doubles(one.GetProperty("values"));
            bool?[] inside = [.. one.GetProperty("inside").EnumerateArray()
                .Select(value => value.ValueKind == JsonValueKind.Null ? (bool?)null : value.GetBoolean())];
            RequireNear(one, "p", [KnownStretches.P(values, inside)]);
            RequireNear(one, "pBeside", [KnownStretches.P(values, inside, Doubles(one.GetProperty("beside")))]);
            // What never varies explains nothing.
            RequireNear(one, "p", [KnownStretches.P(values, inside, [.. values.Select(_ => 7.0)])]);
        }
    }

    [Fact]
    public void Rank_tests_come_to_the_other_programs_probability()
    {
        foreach (JsonElement one in Oracle.RootElement.GetProperty("pairs").EnumerateArray())
        {
            SamplePair[] pairs =
                [.. one.GetProperty("pairs").EnumerateArray().Select(pair => new SamplePair(Doubles(pair[0]), Doubles(pair[1])))];
            RequireNear(one, "p", [MannWhitney.PValue(pairs)]);
        }
    }

    internal static double[] Doubles(JsonElement array) => [.. array.EnumerateArray().Select(value => value.GetDouble())];

    private static void RequireNear(JsonElement of, string name, double[]? actual)
    {
        JsonElement expected = of.GetProperty(name);
        RequireNear(name, expected.ValueKind switch
        {
            JsonValueKind.Null => null,
            JsonValueKind.Number => [expected.GetDouble()],
            _ => Doubles(expected),
        }, actual);
    }

    /// <summary>To six digits; probabilities below 10^-9 are alike.</summary>
    private static void RequireNear(string name, double[]? expected, double[]? actual)
    {
        Assert.Equal(expected?.Length, actual?.Length);
        foreach ((double wanted, double found) in (expected ?? []).Zip(actual ?? []))
            Assert.True(Math.Abs(wanted - found) <= Math.Max(1e-9, 1e-6 * Math.Abs(wanted)), $"{name}: {found:R} in place of {wanted:R}");
    }
}
