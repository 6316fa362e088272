using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Load.Phases;

/// <summary>Any percentile may be asserted, of one operation or of all together.</summary>
public sealed class AssertionCheckTests
{
    [Theory]
    [InlineData("p75", 75)]
    [InlineData("p9", 9)]
    [InlineData("p99", 99)]
    [InlineData("serviceP75", 75)]
    public void Any_percentile_comes_from_what_was_recorded(string metric, double expected) =>
        Assert.Equal(expected, Value(metric, [Recorded(1, 100)])!.Value, 0.2);

    [Fact]
    public void Of_several_operations_it_is_that_of_all_together() =>
        Assert.Equal(150, Value("p75", [Recorded(1, 100), Recorded(101, 100)])!.Value, 0.5);

    [Fact]
    public void Lateness_is_unknown_without_a_rate() => Assert.Null(Value("latenessP75", [Recorded(1, 100)]));

    [Fact]
    public void Files_may_assert_any_percentile()
    {
        Assertion read = Assert.Single(Phase("read.p9999 < 20ms").Assertions);
        Assert.Equal(("p9999", 20_000), (read.Metric, read.Limit));
        UserException refused = Assert.Throws<UserException>(() => Phase("read.p990 < 20ms"));
        Assert.Contains("assert: no metric 'p990'; allowed: min, mean, p50", refused.Message, StringComparison.Ordinal);
        Assert.Contains("changedNothing and any other percentile", refused.Message, StringComparison.Ordinal);
        Assert.Equal(Percentile.Rule, refused.Hint);
    }

    [Theory]
    [InlineData("read.foundNothing < 1%", false, 0.1)]
    [InlineData("read.foundNothing <= 10%", true, 0.1)]
    [InlineData("read.foundNothing == 20", true, 20.0)]
    [InlineData("total.foundNothing <= 10%", true, 0.1)]
    [InlineData("read.matchedNothing < 1%", false, null)]
    [InlineData("change.matchedNothing < 1", false, 50.0)]
    [InlineData("change.changedNothing < 30%", true, 0.25)]
    [InlineData("change.failed < 50%", false, 0.5)]
    [InlineData("total.failed < 50%", true, 0.375)]
    public void What_came_to_nothing_may_be_asserted_as_a_number_or_as_a_share(string assertion, bool holds, double? value)
    {
        var record = RunParts.Phase(1, "p",
            RunParts.Result("read") with { Operations = 200, Failed = 0, Effect = new EffectResult(FoundNothing: 20) },
            RunParts.Result("change") with
            {
                Operations = 200, Failed = 200, Effect = new EffectResult(MatchedNothing: 50, ChangedNothing: 50),
            },
            RunParts.Result("add") with { Operations = 100, Failed = 100, Effect = null });
        AssertionResult result = AssertionCheck.Check(Assert.Single(Phase(assertion, "change").Assertions), record, () => []);
        Assert.Equal((holds, value), (result.Holds, result.Value));
        Assert.Equal(assertion.EndsWith('%'), result.IsShare);
    }

    [Theory]
    [InlineData("read.foundNothing < 101%", "'101%' is not a share from 0% to 100%")]
    [InlineData("read.operations < 1%", "1%")]
    public void Only_parts_of_the_operations_have_shares(string assertion, string says) =>
        Assert.Contains(says, Assert.Throws<UserException>(() => Phase(assertion)).Message, StringComparison.Ordinal);

    private static double? Value(string metric, OperationLatency[] recorded) => LatencyMetric.Find(metric)!.Of(recorded);

    private static OperationLatency Recorded(int first, int count)
    {
        var histogram = new LatencyHistogram();
        for (int i = first; i < first + count; i++)
            histogram.Record(i);
        return new OperationLatency(false, histogram, null, null);
    }

    private static Phase Phase(string assertion, string other = "find") => ScenarioTexts.Plan(
        "data:\n  users: {count: 5, document: {n: 1}}\nphases: [{name: p, count: 1, operations: [{find: users, name: read, key: uniform}, "
        + $"{{find: users, name: {other}, key: uniform}}], assert: ['{assertion}']}}]\n").Phases.Last();
}
