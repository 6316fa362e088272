using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Comparison;

namespace MongoPerf.Tests.Reporting.Comparison;

/// <summary>The shares of confidence that a comparison promises, over scripted samples with the noise of real ones: variation 5 %, correlation from
/// one second to the next 0.5, seven operations, at least 50 samples a side.</summary>
public sealed class ConfidenceTests
{
    private const int Repeats = 100;
    private static readonly string[] Operations = ["unack", "batch", "safe", "q4", "q5", "q6", "q7"];

    [Theory]
    [InlineData(1, 1, 50)]
    [InlineData(2, 1, 50)]
    [InlineData(3, 13, 4)]
    public void A_run_against_a_repeat_of_itself_is_called_different_in_at_most_5_of_100(ulong seed, int sizes, int seconds)
    {
        int different = Count(seed, sizes, seconds, _ => 1, RunComparer.DefaultNoiseThreshold, judged => judged.Any(IsDifferent));
        Assert.InRange(different, 0, 5);
    }

    [Theory]
    [InlineData(1, 1, 50)]
    [InlineData(2, 1, 50)]
    [InlineData(3, 13, 4)]
    public void A_slowdown_of_10_percent_in_one_operation_alone_is_found_there_in_at_least_95_of_100(ulong seed, int sizes, int seconds)
    {
        int found = Count(seed, sizes, seconds, phase => phase == "q5" ? 0.9 : 1, RunComparer.DefaultNoiseThreshold,
            judged => judged.Single(o => o.Operation.Phase == "q5").Outcome == Outcome.Slower);
        Assert.InRange(found, 95, 100);
    }

    [Fact]
    public void Without_a_noise_threshold_false_alarms_keep_to_the_level_of_a_run()
    {
        // 200 runs at 5 % each give 10, and 17 at most in 99 of 100 tries; without Holm's correction it were 60.
        int different = Count(6, 1, 60, _ => 1, 0, judged => judged.Any(IsDifferent), repeats: 200);
        Assert.InRange(different, 1, 17);
    }

    [Fact]
    public void Fewer_than_20_samples_at_a_size_are_not_enough_and_say_nothing_else()
    {
        IReadOnlyList<OperationJudgement> judged = Judge(new NoisySamples(7), 1, 19, _ => 0.5, RunComparer.DefaultNoiseThreshold);
        Assert.All(judged, one =>
        {
            Assert.Equal((Outcome.TooFew, Evidence.None), (one.Outcome, one.Evidence));
            Assert.Null(one.Rate);
            Assert.Equal(new WindowJudgement { At = 1000, Documents = 1000, Outcome = Outcome.TooFew }, Assert.Single(one.Windows));
        });
    }

    [Fact]
    public void Twenty_samples_at_a_size_are_judged()
    {
        // Half the rate of every operation: with this noise 20 samples show that, if not a tenth.
        IReadOnlyList<OperationJudgement> judged = Judge(new NoisySamples(8, correlation: 0), 1, 20, _ => 0.5, RunComparer.DefaultNoiseThreshold);
        Assert.All(judged, one => Assert.Equal((Outcome.Slower, Evidence.Samples), (one.Outcome, one.Evidence)));
        Assert.All(judged, one => Assert.Equal(Outcome.Slower, Assert.Single(one.Windows).Outcome));
    }

    [Fact]
    public void Repeats_are_judged_run_by_run_and_what_differs_between_runs_is_not_called_a_difference()
    {
        // Every run is 10 % up or down as a whole, so each differs from each by its samples.
        var noise = new NoisySamples(9);
        double[] levels = [1.1, 0.9, 1.0, 1.1, 0.9];
        SideWindows a = new([.. levels.Select(level => Run(noise, 1, 60, _ => level))]);
        SideWindows b = new([.. levels.Reverse().Select(level => Run(noise, 1, 60, _ => level))]);
        Assert.Contains(new OperationJudge(new SideWindows([a.Runs[0]]), new SideWindows([a.Runs[1]]), 0.05).Judge(), t => t.Outcome == Outcome.Slower);
        Assert.All(new OperationJudge(a, b, 0.05).Judge(), one => Assert.Equal((Outcome.NoDifference, Evidence.Runs, "5 and 5 runs"), (one.Outcome, one.Evidence, one.Basis)));
        SideWindows slow = new([.. levels.Select(level => Run(noise, 1, 60, _ => level * 0.5))]);
        Assert.All(new OperationJudge(a, slow, 0.05).Judge(), one => Assert.Equal(Outcome.Slower, one.Outcome));
    }

    [Fact]
    public void Two_repeats_are_too_few()
    {
        var noise = new NoisySamples(10);
        SideWindows two = new([Run(noise, 1, 60, _ => 1), Run(noise, 1, 60, _ => 1)]);
        Assert.All(new OperationJudge(two, two, 0.05).Judge(), one => Assert.Equal(Outcome.TooFew, one.Outcome));
    }

    [Fact]
    public void A_real_difference_within_the_noise_threshold_is_no_verdict()
    {
        IReadOnlyList<OperationJudgement> judged = Judge(new NoisySamples(11), 1, 2000, _ => 0.97, RunComparer.DefaultNoiseThreshold);
        Assert.All(judged, one => Assert.Equal(Outcome.BelowThreshold, one.Outcome));
        Assert.All(Judge(new NoisySamples(11), 1, 2000, _ => 0.97, 0.01), one => Assert.Equal(Outcome.Slower, one.Outcome));
    }

    private static bool IsDifferent(OperationJudgement one) => one.Outcome is Outcome.Slower or Outcome.Faster;

    private static int Count(
        ulong seed, int sizes, int seconds, Func<string, double> ratio, double threshold, Func<IReadOnlyList<OperationJudgement>, bool> counts, int repeats = Repeats)
    {
        var noise = new NoisySamples(seed);
        return Enumerable.Range(0, repeats).Count(_ => counts(Judge(noise, sizes, seconds, ratio, threshold)));
    }

    private static IReadOnlyList<OperationJudgement> Judge(NoisySamples noise, int sizes, int seconds, Func<string, double> ratio, double threshold) => new OperationJudge(
        new SideWindows([Run(noise, sizes, seconds, _ => 1)]), new SideWindows([Run(noise, sizes, seconds, ratio)]), threshold).Judge();

    private static RunWindows Run(NoisySamples noise, int sizes, int seconds, Func<string, double> ratio)
    {
        var windows = new Dictionary<WindowKey, RateWindow>();
        for (int step = 1; step <= sizes; step++)
        {
            foreach (string phase in Operations)
            {
                double[] rates = noise.Window(seconds, 10_000.0 / step * ratio(phase));
                windows[new WindowKey(new ComparedOperation("series", phase, "", phase, 8), step * 1000)] = new RateWindow
                {
                    Documents = step * 1000, Rate = rates.Average(), Rates = rates, Samples = [], OutageSamples = 0, Latency = new LatencySummary(),
                };
            }
        }

        return new RunWindows(windows);
    }
}
