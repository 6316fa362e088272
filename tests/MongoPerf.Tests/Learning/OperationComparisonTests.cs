using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;

namespace MongoPerf.Tests.Learning;

/// <summary>What differs by chance alone is no deviation; what is missing always is.</summary>
public sealed class OperationComparisonTests
{
    [Theory]
    [InlineData(40, 0.7, true)]
    [InlineData(40, 0, false)]
    [InlineData(10_000, 0.9, true)]
    [InlineData(10_000, 0.8, false)]
    public void Rates_may_differ_by_what_chance_has_it(int count, double share, bool isWithin) =>
        Assert.Equal(isWithin, Compare(count, share * count / 10, 100).Single(one => one.What == "per second").IsWithin);

    [Theory]
    [InlineData(999, true)]
    [InlineData(1000, false)]
    public void The_p99_of_few_operations_is_only_told(int count, bool isWithin) =>
        Assert.Equal(isWithin, Compare(count, count / 10.0, 300).Single(one => one.What == "p99 (µs)").IsWithin);

    /// <summary>Of 2,000 operations 20 are beyond p99: a few more or less of them, and it is another one.</summary>
    [Theory]
    [InlineData(2_000, 1.16, true)]
    [InlineData(2_000, 2, false)]
    [InlineData(200_000, 1.16, false)]
    public void The_p99_may_differ_by_what_chance_has_it(int count, double times, bool isWithin)
    {
        PhaseOperation operation = ListSource.Mix(ListSource.Of(count, _ => "{\"find\": \"orders\"}").Select((one, i) =>
            one with { Microseconds = 100 - (50 * Math.Log(((i * 7919L % count) + 0.5) / count)) })).Phases[0].Operations[0];
        Assert.Equal(isWithin, Compare(operation, null, new MeasuredOperation(10, count / 10.0, operation.Latency!.P99 * times, null))
            .Single(one => one.What == "p99 (µs)").IsWithin);
    }

    /// <summary>A client sends them as fast as it can, and its server may be much slower.</summary>
    [Theory]
    [InlineData(0.0, true)]
    [InlineData(null, false)]
    public void The_rate_of_unacknowledged_writes_in_a_closed_loop_is_only_told(double? think, bool isWithin)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "insert", 5000), 5000, null);
        Assert.Equal(isWithin, Compare(operation, think, new MeasuredOperation(10, 100, null, null)).Single().IsWithin);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(10_000)]
    public void An_operation_that_a_run_does_not_have_deviates_however_rare_it_is(int count)
    {
        Deviation only = Compare(count, new Dictionary<string, MeasuredOperation>()).Single();
        Assert.Equal((null, false), (only.Scenario, only.IsWithin));
    }

    /// <summary>However long the deployment was watched, a short run has a rate by chance.</summary>
    [Theory]
    [InlineData(0.05, 700, true)]
    [InlineData(0.05, 0, false)]
    [InlineData(10, 700, false)]
    public void The_rate_of_a_short_run_may_differ_by_what_chance_has_it(double seconds, double rate, bool isWithin) => Assert.Equal(
        isWithin,
        Compare(10_000, new Dictionary<string, MeasuredOperation> { ["find orders"] = new(seconds, rate, null, null) }).Single().IsWithin);

    [Fact]
    public void A_phase_that_only_the_run_has_deviates()
    {
        var run = new Dictionary<string, MeasuredOperation> { ["fill"] = new(10, 1, null, null), ["find orders"] = new(10, 3, null, null) };
        Deviation[] all = [.. OperationComparison.OnlyInRun("fill", run)];
        Assert.Equal(["fill", "fill: find orders"], all.Select(one => one.Subject));
        Assert.All(all, one => Assert.Equal((null, false), (one.Deployment, one.IsWithin)));
    }

    private static List<Deviation> Compare(int count, double rate, double p99) =>
        Compare(count, new Dictionary<string, MeasuredOperation> { ["find orders"] = new(10, rate, p99, null) });

    private static Deviation[] Compare(PhaseOperation operation, double? think, MeasuredOperation run) =>
    [
        .. OperationComparison.Of(new WrittenPhase("learned", new ObservedPhase(10, [operation]) { Think = think }, [(operation, "it")]),
            isNamed: false, areTimesJudged: true, new Dictionary<string, MeasuredOperation> { ["it"] = run }),
    ];

    private static List<Deviation> Compare(int count, Dictionary<string, MeasuredOperation> run)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "find", count), count, new ObservedLatency(50, 90, 100));
        var phase = new WrittenPhase("learned", new ObservedPhase(10, [operation]), [(operation, "find orders")]);
        return [.. OperationComparison.Of(phase, isNamed: false, areTimesJudged: true, run)];
    }
}
