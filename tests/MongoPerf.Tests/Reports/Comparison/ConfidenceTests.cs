using System.Globalization;
using MongoPerf.Reports.Comparison;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>
/// The shares of confidence that a comparison promises, over scripted samples with the noise of real ones: variation 5 %, correlation from
/// one second to the next 0.5, seven operations.
/// </summary>
public sealed class ConfidenceTests
{
    private const int Repeats = 100;

    /// <summary>Names a file that gets the table of docs/comparison.md, from ten times as many repeats.</summary>
    private const string TableVariable = "MONGOPERF_VERDICT_TABLE";

    [Theory]
    [InlineData(1, 1, 50)]
    [InlineData(3, 13, 4)]
    public void A_run_against_a_repeat_of_itself_is_called_different_in_at_most_5_of_100(ulong seed, int sizes, int seconds)
    {
        var runs = new SimulatedRuns(seed, sizes, seconds);
        int different = Enumerable.Range(0, Repeats).Count(_ => runs.Compare(_ => 1).Any(o => o.Tested.Any(IsDifferent)));
        Assert.InRange(different, 0, 5);
    }

    [Theory]
    [InlineData(1, 1, 50)]
    [InlineData(3, 13, 4)]
    public void A_slowdown_of_10_percent_in_one_operation_alone_is_found_there_in_at_least_95_of_100(ulong seed, int sizes, int seconds)
    {
        var runs = new SimulatedRuns(seed, sizes, seconds);
        int found = Enumerable.Range(0, Repeats)
            .Count(_ => runs.Compare(phase => phase == "q5" ? 0.9 : 1)
                .Single(o => o.Operation.Phase == "q5").Rate.Outcome == Outcome.Slower);
        Assert.InRange(found, 95, 100);
    }

    [Fact]
    public void Without_a_noise_threshold_false_alarms_keep_to_the_level_of_a_run()
    {
        // 200 runs at 5 % each give 10, and 17 at most in 99 of 100 tries; without Holm's correction it were 60.
        var runs = new SimulatedRuns(6, 1, 60);
        Assert.InRange(Enumerable.Range(0, 200).Count(_ => runs.Compare(_ => 1, threshold: 0).Any(o => IsDifferent(o.Rate))), 1, 17);
    }

    /// <summary>700 at 5 % each give 35, and 50 at most in 99 of 100 tries.</summary>
    [Theory]
    [InlineData(0.95)]
    [InlineData(1.05)]
    public void What_differs_by_as_much_as_the_threshold_is_called_equivalent_in_about_5_of_100(double speed)
    {
        var runs = new SimulatedRuns(4, 1, 100);
        int equivalent = Enumerable.Range(0, Repeats).Sum(_ => runs.Compare(_ => speed).Count(o => o.Rate.Outcome == Outcome.Equivalent));
        Assert.InRange(equivalent, 1, 50);
    }

    [Fact]
    public void A_run_and_a_repeat_of_itself_are_called_equivalent_in_nearly_all_operations_when_they_are_long_enough()
    {
        var runs = new SimulatedRuns(5, 1, 150);
        int equivalent = Enumerable.Range(0, 50).Sum(_ => runs.Compare(_ => 1).Count(o => o.Rate.Outcome == Outcome.Equivalent));
        Assert.InRange(equivalent, 0.9 * 350, 350);
    }

    [Fact]
    public void Latencies_are_judged_as_well_as_rates()
    {
        var runs = new SimulatedRuns(12, 1, 45) { HasLatencies = true, Operations = ["q4"] };
        OperationComparison[] alike = [.. Enumerable.Range(0, 30).Select(_ => runs.Compare(_ => 1)[0])];
        Assert.InRange(alike.Count(o => o.Tested.Any(IsDifferent)), 0, 3);
        Assert.All(alike, one => Assert.Equal([Measure.Rate, Measure.P50, Measure.P99], one.Measures.Select(j => j.Measure)));
        OperationComparison[] slow = [.. Enumerable.Range(0, 20).Select(_ => runs.Compare(_ => 0.8)[0])];
        Assert.InRange(slow.Count(o => o.P50!.Outcome == Outcome.Slower), 19, 20);
        Assert.InRange(slow.Count(o => o.P99!.Outcome == Outcome.Slower), 18, 20);
    }

    [Fact]
    public void Fewer_than_20_samples_at_a_size_are_not_judged_but_shown_with_what_would_be_enough()
    {
        IReadOnlyList<OperationComparison> judged = new SimulatedRuns(7, 1, 19).Compare(_ => 0.5);
        Assert.All(judged, one =>
        {
            Assert.Equal((Outcome.Undecided, Evidence.None), (one.Rate.Outcome, one.Evidence));
            Assert.InRange(one.Rate.Baseline / one.Rate.Candidate, 1.8, 2.2);
            Assert.Null(one.Rate.Ratio.Interval);
            Assert.Equal("20 s or 3 runs per side; these had 19 s: --repeat 3", one.Rate.Enough!.ToString());
            Assert.Equal(one.Rate, Assert.Single(one.Windows).Rate);
        });
    }

    [Fact]
    public void Twenty_samples_at_a_size_are_judged()
    {
        // Half the rate of every operation: with this noise 20 samples show that, if not a tenth.
        IReadOnlyList<OperationComparison> judged = new SimulatedRuns(8, 1, 20, correlation: 0).Compare(_ => 0.5);
        Assert.All(judged, one => Assert.Equal((Outcome.Slower, Evidence.Samples), (one.Rate.Outcome, one.Evidence)));
        Assert.All(judged, one => Assert.Equal(Outcome.Slower, Assert.Single(one.Windows).Rate.Outcome));
    }

    [Fact]
    public void What_is_undecided_is_decided_by_as_much_as_was_said_to_be_enough()
    {
        OperationComparison shorter = new SimulatedRuns(13, 1, 25) { Operations = ["q4"] }.Compare(_ => 1)[0];
        Assert.Equal(Outcome.Undecided, shorter.Rate.Outcome);
        string[] words = shorter.Rate.Enough!.ToString().Split(' ');
        Assert.Equal(["about", "s", "per", "side;", "these", "had", "25", "s"], words.Where((_, i) => i != 1));
        int needed = int.Parse(words[1], CultureInfo.InvariantCulture);
        Assert.InRange(needed, 30, 400);
        OperationComparison longer = new SimulatedRuns(14, 1, 2 * needed) { Operations = ["q4"] }.Compare(_ => 1)[0];
        Assert.Equal((Outcome.Equivalent, null), (longer.Rate.Outcome, longer.Rate.Enough));
    }

    [Fact]
    public void Repeats_are_judged_run_by_run_and_what_differs_between_runs_is_not_called_a_difference()
    {
        // Every run is 10 % up or down as a whole, so each differs from each by its samples.
        var runs = new SimulatedRuns(9, 1, 60);
        double[] levels = [1.1, 0.9, 1.0, 1.1, 0.9];
        SideWindows a = new([.. levels.Select(level => runs.Run(_ => level))]);
        SideWindows b = new([.. levels.Reverse().Select(level => runs.Run(_ => level))]);
        Assert.Contains(new OperationComparer(new SideWindows([a.Runs[0]]), new SideWindows([a.Runs[1]]), 0.05).Compare(),
            t => t.Rate.Outcome == Outcome.Slower);
        Assert.All(new OperationComparer(a, b, 0.05).Compare(),
            one => Assert.Equal((Outcome.Undecided, Evidence.Runs, "5 and 5 runs"), (one.Rate.Outcome, one.Evidence, one.Basis)));
        SideWindows slow = new([.. levels.Select(level => runs.Run(_ => level * 0.5))]);
        Assert.All(new OperationComparer(a, slow, 0.05).Compare(), one => Assert.Equal(Outcome.Slower, one.Rate.Outcome));
    }

    [Fact]
    public void Two_repeats_are_too_few()
    {
        var runs = new SimulatedRuns(10, 1, 60);
        SideWindows two = new([runs.Run(_ => 1), runs.Run(_ => 1)]);
        Assert.All(new OperationComparer(two, two, 0.05).Compare(),
            one => Assert.Equal("3 runs per side; these had 2 and 2: --repeat 3", one.Rate.Enough!.ToString()));
    }

    [Fact]
    public void A_real_difference_within_the_noise_threshold_is_equivalent()
    {
        Assert.All(new SimulatedRuns(11, 1, 2000).Compare(_ => 0.97), one => Assert.Equal(Outcome.Equivalent, one.Rate.Outcome));
        Assert.All(new SimulatedRuns(11, 1, 2000).Compare(_ => 0.97, 0.01), one => Assert.Equal(Outcome.Slower, one.Rate.Outcome));
    }

    /// <summary>Skipped unless the variable names a file: thousands of comparisons take minutes.</summary>
    [Fact]
    public void The_table_of_the_documentation_is_made_from_a_thousand_repeats()
    {
        string? path = Environment.GetEnvironmentVariable(TableVariable);
        Assert.SkipUnless(path is not null, $"needs {TableVariable}: {TableVariable}=FILE, for a table of docs, which takes minutes");
        (int Sizes, int Seconds, double Correlation)[] rows =
        [
            (1, 20, 0.5), (1, 30, 0.5), (1, 50, 0), (1, 50, 0.5), (1, 50, 0.7), (1, 100, 0.5), (1, 100, 0.7), (3, 20, 0.5), (13, 4, 0.5),
        ];
        string[] rates = new string[rows.Length];
        Parallel.For(0, rows.Length, i => rates[i] = RatesRow(rows[i].Sizes, rows[i].Seconds, rows[i].Correlation));
        int[] lengths = [30, 60, 120];
        string[] latencies = new string[lengths.Length];
        Parallel.For(0, lengths.Length, i => latencies[i] = LatencyRow(lengths[i]));
        File.WriteAllLines(path, [.. rates, "", .. latencies]);
    }

    private static string RatesRow(int sizes, int seconds, double correlation)
    {
        const int times = 1000;
        var runs = new SimulatedRuns(31, sizes, seconds, correlation);
        IReadOnlyList<OperationComparison>[] alike = Many(times, () => runs.Compare(_ => 1));
        IReadOnlyList<OperationComparison>[] slow = Many(times, () => runs.Compare(phase => phase == "q5" ? 0.9 : 1));
        IReadOnlyList<OperationComparison>[] edge = Many(times, () => runs.Compare(_ => 0.95));
        MeasureComparison[] q5 = [.. slow.Select(one => one.Single(o => o.Operation.Phase == "q5").Rate)];
        string[] cells =
        [
            Share(alike, one => one.Any(o => IsDifferent(o.Rate))),
            Share(q5, one => one.Outcome == Outcome.Slower), Share(q5, one => one.Outcome == Outcome.Equivalent),
            Share(q5, one => one.Outcome == Outcome.Undecided),
            Share(edge.SelectMany(one => one), o => o.Rate.Outcome == Outcome.Equivalent),
            Share(alike.SelectMany(one => one), o => o.Rate.Outcome == Outcome.Equivalent),
            Share(q5, one => one.Ratio.Interval is { } i && i.Low <= 0.9 && i.High >= 0.9),
        ];
        return $"| {(sizes == 1 ? $"{seconds} at one size" : $"{seconds} at each of {sizes} sizes")} | "
            + $"{correlation.ToString(CultureInfo.InvariantCulture)} | {string.Join(" | ", cells)} |";
    }

    private static string LatencyRow(int seconds)
    {
        const int times = 300;
        var runs = new SimulatedRuns(32, 1, seconds) { HasLatencies = true, Operations = ["q4"] };
        IReadOnlyList<OperationComparison>[] alike = Many(times, () => runs.Compare(_ => 1));
        IReadOnlyList<OperationComparison>[] slow = Many(times, () => runs.Compare(_ => 1 / 1.1));
        IReadOnlyList<OperationComparison>[] edge = Many(times, () => runs.Compare(_ => 1 / 1.05));
        IEnumerable<string> cells = new[] { 50, 99 }.SelectMany(percent =>
        {
            MeasureComparison Of(IReadOnlyList<OperationComparison> one) => percent == 50 ? one[0].P50! : one[0].P99!;
            return (string[])
            [
                Share(alike, one => IsDifferent(Of(one))),
                Share(slow, one => Of(one).Outcome == Outcome.Slower),
                Share(edge, one => Of(one).Outcome == Outcome.Equivalent),
                Share(alike, one => Of(one).Outcome == Outcome.Equivalent),
                Share(slow, one => Of(one).Ratio.Interval is { Low: <= 1.1, High: >= 1.1 }),
            ];
        });
        return $"| {seconds} | {string.Join(" | ", cells)} |";
    }

    private static IReadOnlyList<OperationComparison>[] Many(int times, Func<IReadOnlyList<OperationComparison>> judge) =>
        [.. Enumerable.Range(0, times).Select(_ => judge())];

    private static string Share<T>(IEnumerable<T> all, Func<T, bool> counts)
    {
        T[] each = [.. all];
        return (100.0 * each.Count(counts) / each.Length).ToString("0.0", CultureInfo.InvariantCulture) + " %";
    }

    private static bool IsDifferent(MeasureComparison one) => one.Outcome is Outcome.Slower or Outcome.Faster;
}
