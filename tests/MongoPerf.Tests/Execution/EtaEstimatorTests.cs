using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Runs;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Execution;

public sealed class EtaEstimatorTests
{
    private static readonly SeriesSettings InsertsOnly = RunParts.Settings(1000) with { StepDocumentCount = 100, Tests = ["unack", "batch", "safe"] };

    [Fact]
    public void Nothing_is_said_while_no_rate_is_known()
    {
        var eta = new EtaEstimator(InsertsOnly);
        Assert.Null(eta.Estimate(0));
        eta.Add(Second("q4", 50));
        Assert.Null(eta.Estimate(0));
    }

    [Fact]
    public void A_constant_rate_gives_the_exact_time()
    {
        EtaEstimator eta = Fed(InsertsOnly, Enumerable.Repeat(20L, 30));
        Assert.Equal(30, eta.Estimate(400)!.Value.LikelySeconds, 9);
        Assert.Equal(0.5, eta.Estimate(990)!.Value.LikelySeconds, 9);
    }

    [Fact]
    public void At_the_target_nothing_is_left() => Assert.Equal(new Eta(0, 0, 0), Fed(InsertsOnly, [20]).Estimate(1000));

    [Fact]
    public void A_rate_that_falls_moves_the_estimate_up()
    {
        double constant = Fed(InsertsOnly, Enumerable.Repeat(100L, 40)).Estimate(500)!.Value.LikelySeconds;
        double falling = Fed(InsertsOnly, Enumerable.Range(0, 40).Select(i => 100L - (2 * i))).Estimate(500)!.Value.LikelySeconds;
        // The last ten seconds' mean is 31.
        Assert.Equal(5, constant, 9);
        Assert.Equal(500.0 / 31, falling, 9);
    }

    [Fact]
    public void The_range_holds_the_likely_time_and_both_ends_of_the_last_minute()
    {
        Eta eta = Fed(InsertsOnly, [.. Enumerable.Repeat(100L, 10), .. Enumerable.Repeat(10L, 10), .. Enumerable.Repeat(50L, 10)]).Estimate(500)!.Value;
        Assert.Equal(new Eta(5, 10, 50), eta);
    }

    [Fact]
    public void What_is_over_a_minute_old_is_forgotten()
    {
        Eta eta = Fed(InsertsOnly, [.. Enumerable.Repeat(1L, 10), .. Enumerable.Repeat(50L, 60)]).Estimate(500)!.Value;
        Assert.Equal(10, eta.LikelySeconds, 9);
        Assert.Equal(12.5, eta.HighSeconds, 9);
    }

    [Fact]
    public void Each_insert_test_has_a_rate_of_its_own()
    {
        var eta = new EtaEstimator(InsertsOnly);
        for (int i = 0; i < 10; i++)
        {
            eta.Add(Second("unack", 10));
            eta.Add(Second("batch", 60));
            eta.Add(Second("safe", 5));
        }

        // One step of 100: 20 / 10 + 60 / 60 + 20 / 5.
        Assert.Equal(7, eta.Estimate(900)!.Value.LikelySeconds, 9);
    }

    [Fact]
    public void Query_windows_count_until_a_step_has_shown_what_they_take()
    {
        SeriesSettings settings = InsertsOnly with { Tests = ["batch", "q4", "q7"], Threads = [1, 8], WindowSeconds = 5 };
        var eta = new EtaEstimator(settings);
        eta.Add(Second("batch", 100, atMilliseconds: 1_000));
        // Five steps: 5 s of inserts, and 2 tests x 2 thread counts x 5 s each.
        Assert.Equal(5 + 100, eta.Estimate(500)!.Value.LikelySeconds, 9);
        eta.EndStep(atMilliseconds: 4_000);
        // The step took 4 s, one of them for inserts.
        Assert.Equal(5 + 15, eta.Estimate(500)!.Value.LikelySeconds, 9);
    }

    /// <summary>It counts whole steps at once; this goes through them all.</summary>
    [Fact]
    public void The_time_is_that_of_all_steps_that_are_left()
    {
        var random = new Random(5);
        string[][] tests = [["unack", "batch", "safe"], ["batch"], ["safe", "q4"], ["unack", "q7"]];
        var rates = new Dictionary<string, long> { ["unack"] = 7, ["batch"] = 90, ["safe"] = 3 };
        for (int i = 0; i < 300; i++)
        {
            SeriesSettings settings = InsertsOnly with
            {
                TargetDocumentCount = random.Next(1, 3000), StepDocumentCount = random.Next(1, 700), Tests = tests[i % tests.Length], Threads = [1], WindowSeconds = 5,
            };
            var eta = new EtaEstimator(settings);
            foreach ((string test, long rate) in rates)
                eta.Add(Second(test, rate));
            long documents = random.NextInt64(settings.TargetDocumentCount);
            double expected = 0;
            foreach (SeriesStep step in SeriesSchedule.Steps(settings.TargetDocumentCount, settings.StepDocumentCount, settings.Shares, settings.Tests, documents))
            {
                expected += settings.Tests.Any(t => t[0] == 'q') ? 5 : 0;
                expected += step.Inserts.Sum(insert => (double)Math.Max(0, insert.Range.End - Math.Max(insert.Range.First, documents)) / rates[insert.Test]);
            }

            Assert.Equal(expected, eta.Estimate(documents)!.Value.LikelySeconds, 6);
        }
    }

    private static EtaEstimator Fed(SeriesSettings settings, IEnumerable<long> documentsPerSecond)
    {
        var eta = new EtaEstimator(settings);
        foreach (long documents in documentsPerSecond)
            eta.Add(Second("batch", documents));
        return eta;
    }

    private static PhaseSample Second(string test, long documents, long atMilliseconds = 0) => new()
    {
        AtMilliseconds = atMilliseconds,
        Step = 1,
        Test = test,
        Threads = 1,
        IsWarmup = false,
        Seconds = 1,
        Operations = documents,
        Documents = documents,
        Bytes = documents * 1024,
        Failed = 0,
        CollectionDocuments = 0,
        LatencyMicroseconds = new LatencySummary(),
    };
}
