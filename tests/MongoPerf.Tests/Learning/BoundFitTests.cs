using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Writing;

namespace MongoPerf.Tests.Learning;

/// <summary>Where the only bound of a filter lies follows from how many documents replies had.</summary>
public sealed class BoundFitTests
{
    private static readonly (double, double)[] Rooms = [(0.8, 400), (0.2, 30)];

    [Theory]
    [InlineData(50, double.PositiveInfinity, 0.1534)]
    [InlineData(20, 20, 1)]
    [InlineData(0, 20, 0)]
    public void As_many_documents_are_found_as_replies_had(double found, double limit, double share) =>
        Assert.Equal(share, BoundFit.ShareOf(Replies(found), Rooms, limit, areEven: true), 0.001);

    /// <summary>Any bound finds half of them on average; those of documents that are drawn unevenly need not.</summary>
    [Fact]
    public void Bounds_of_drawn_documents_stay_where_they_find_as_many()
    {
        Assert.True(double.IsNaN(BoundFit.ShareOf(Replies(163), Rooms, double.PositiveInfinity, areEven: true)));
        Assert.Equal(0.5, BoundFit.ShareOf(Replies(163), Rooms, double.PositiveInfinity, areEven: false), 0.001);
    }

    private static ObservedReplies Replies(double documents) => new(100, documents, 0, 0, null, new Dictionary<int, double>());
}
