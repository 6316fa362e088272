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

    [Theory]
    [InlineData(1)]
    [InlineData(10_000)]
    public void An_operation_that_a_run_does_not_have_deviates_however_rare_it_is(int count)
    {
        Deviation only = Compare(count, new Dictionary<string, MeasuredOperation>()).Single();
        Assert.Equal((null, false), (only.Scenario, only.IsWithin));
    }

    private static List<Deviation> Compare(int count, double rate, double p99) =>
        Compare(count, new Dictionary<string, MeasuredOperation> { ["find orders"] = new(rate, p99, null) });

    private static List<Deviation> Compare(int count, Dictionary<string, MeasuredOperation> run)
    {
        var operation = new PhaseOperation(new LearnedOperation("shop", "orders", "find", count), count, new ObservedLatency(50, 90, 100));
        var phase = new WrittenPhase("learned", new ObservedPhase(10, [operation]), [(operation, "find orders")]);
        return [.. OperationComparison.Of(phase, isNamed: false, areTimesJudged: true, run)];
    }
}
