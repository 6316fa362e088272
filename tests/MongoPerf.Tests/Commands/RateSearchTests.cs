using MongoPerf.Commands.Results;
using MongoPerf.Load.Phases;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary><c>run --find-max</c>: which rates are tried, and which hold.</summary>
public sealed class RateSearchTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData(1000, 7300)]
    [InlineData(1000, 1000)]
    [InlineData(50_000, 7300)]
    [InlineData(1, 2_000_000)]
    public void The_highest_rate_that_holds_is_found_to_5_percent_and_tried_twice(double start, double most)
    {
        (RateSteps steps, List<(double Rate, string Stage)> path) = Search(start, (rate, _) => rate <= most);
        Assert.InRange(steps.Found!.Value, most / (1 + RateSteps.Precision), most);
        Assert.Equal("verification", path[^1].Stage);
        Assert.Equal(2, path.Count(step => step.Rate == steps.Found));
        Assert.InRange(path.Count, 3, RateSteps.MostTries);
    }

    [Fact]
    public void The_path_doubles_then_bisects_then_verifies()
    {
        (_, List<(double Rate, string Stage)> path) = Search(1000, (rate, _) => rate <= 3000);
        Assert.Equal([(1000, "start"), (2000, "doubling"), (4000, "doubling"), (2830, "bisection"), (3360, "bisection"),
            (3080, "bisection"), (2950, "bisection")], path.Take(7));
        Assert.Equal((2950, "verification"), path[^1]);
    }

    [Fact]
    public void A_rate_that_fails_when_it_is_verified_is_not_the_answer()
    {
        // 2950 holds by luck once.
        (RateSteps steps, List<(double Rate, string Stage)> path) = Search(
            1000, (rate, stage) => rate <= (stage == "verification" ? 2500 : 3000));
        Assert.InRange(steps.Found!.Value, 2000, 2500);
        Assert.True(path.Count(step => step.Stage == "verification") > 1);
    }

    [Fact]
    public void Where_nothing_holds_the_search_ends_at_one_per_second()
    {
        (RateSteps steps, List<(double Rate, string Stage)> path) = Search(1000, (_, _) => false);
        Assert.Null(steps.Found);
        Assert.Equal((1, "halving"), path[^1]);
    }

    [Theory]
    [InlineData("p99 < 10ms", 9_000.0, 0, 0, null)]
    [InlineData("p99 < 10ms", 10_000.0, 0, 0, "p99 is 10 ms")]
    [InlineData("p99 <= 10ms", 10_000.0, 0, 0, null)]
    [InlineData("read.p99 < 10ms", 9_000.0, 0, 3, "3 operations failed")]
    [InlineData("p99 < 10ms", 9_000.0, 2, 0, "2 of 1,000 arrivals were skipped")]
    public void A_rate_holds_when_its_response_times_do_and_nothing_failed_or_was_skipped(
        string text, double p99, long skipped, long failed, string? problem)
    {
        OperationResult result = RunParts.Result("read", 8) with
        {
            LatencyMicroseconds = new LatencySummary { P99 = 100 }, ResponseMicroseconds = new LatencySummary { P99 = p99 },
            Accounting = new Accounting(1000, 1000 - skipped - failed, failed, skipped),
        };
        string folder = _runs.At("x");
        using (RunStore store = RunStore.Create(folder, RunParts.Run("x"), RunParts.Settings()))
        {
            var phase = new PhaseRecord { Number = 1, Phase = "read", Rate = 1000 };
            store.BeginPhase(phase, continues: false);
            store.EndPhase(phase with { Operations = [result] });
        }

        using StoredRun run = StoredRun.Open(folder);
        RateTry one = RateGoal.Parse(text).Evaluate(run, 1000, "start");
        Assert.Equal((problem, p99), (one.Problem, one.Value));
    }

    [Fact]
    public void A_goal_for_service_time_is_held_against_it()
    {
        OperationResult result = RunParts.Result("read", 8) with
        {
            LatencyMicroseconds = new LatencySummary { P99 = 100 },
            ResponseMicroseconds = new LatencySummary { P99 = 50_000, Max = 90_000 },
        };
        Assert.Equal(100, Value("serviceP99", result));
        Assert.Equal(50_000, Value("p99", result));
        Assert.Null(Value("latenessP99", result));

        static double? Value(string metric, OperationResult result) =>
            LatencyMetric.Find(metric)!.TryRead(result, out double? value) ? value : double.NaN;
    }

    [Fact]
    public void A_rate_that_held_and_was_not_verified_is_not_said_to_have_failed()
    {
        RateTry[] tries = [new(1000, "start", "a", 1000, 5_000, null), new(2000, "doubling", "b", 1900, 20_000, "p99 is 20 ms")];
        Assert.Equal("no rate was verified at which p99 < 10ms: 1,000/s held once, and the search ended after 2 tries",
            RateSearchReport.Summary(new RateSearchResult(RateGoal.Parse("p99 < 10ms"), tries, null)));
    }

    [Theory]
    [InlineData("p99", "'p99' is not an upper limit of a latency, such as 'p99 < 10ms'")]
    [InlineData("p99 > 10ms", "is not an upper limit")]
    [InlineData("rate < 10ms", "'rate' is not a latency; allowed: min, mean, p50")]
    [InlineData("p99 < 10", "10")]
    public void Other_goals_are_refused(string text, string message) =>
        Assert.Contains(message, Assert.Throws<FormatException>(() => RateGoal.Parse(text)).Message, StringComparison.Ordinal);

    private static (RateSteps Steps, List<(double Rate, string Stage)> Path) Search(double start, Func<double, string, bool> holds)
    {
        var steps = new RateSteps(start);
        var path = new List<(double, string)>();
        while (steps.Next is { } rate)
        {
            path.Add((rate, steps.Stage));
            steps.Note(holds(rate, steps.Stage));
        }

        return (steps, path);
    }
}
