using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>What is changed in an operation that found too much or too little when it was tried.</summary>
public sealed class AdjustmentTests
{
    private static readonly IWrittenData Data = new OrdersData();

    [Theory]
    // Half of the documents have the other state: asking for no document as often as nothing was found makes that three quarters.
    [InlineData(0.5, 0.75, 0.0)]
    [InlineData(0.5, 0.6, 0.38)]
    // A bound was to explain them, and explains a tenth.
    [InlineData(0.2, 0.1, 0.11, true)]
    // What is asked for already finds nothing as often.
    [InlineData(0.25, 0.25, null)]
    public void Misses_are_those_that_other_conditions_don_t_cause(double seen, double tried, double? expected, bool hasBound = false) =>
        Assert.Equal(expected, Adjustment.Of(Find(1 - seen, 0.5, seen) with { Filter = hasBound ? Bound : null }, Data, tried)
            ?.Misses);

    [Fact]
    public void What_removes_or_inserts_is_left_as_it_is()
    {
        Assert.Null(Adjustment.Of(Find(0.5, 0.5, 0.5) with { Kind = "delete" }, Data, 0.9));
        Assert.Null(Adjustment.Of(Find(0.5, 0.5, 0.5) with { Kind = "update", IsUpsert = true }, Data, 0.9));
        Assert.Null(Adjustment.Of(Find(0.5, 0.5, 0.5) with { Replies = null }, Data, 0.9));
    }

    private static readonly DocumentShape Bound = new(
        [new("n", new ValueShape("n", ValueRole.Above, new ObservedValues(new Dictionary<BsonType, long>(), 1, default)))], IsArray: false);

    private static LearnedOperation Find(double documents, double deviation, double nothing) => new("shop", "orders", "find", 1000)
    {
        Replies = new ObservedReplies(1000, documents, deviation, nothing, null, new Dictionary<int, double>()),
    };
}
