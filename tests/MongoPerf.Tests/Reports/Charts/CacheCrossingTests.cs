using MongoPerf.Reports.Charts;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Charts;

public sealed class CacheCrossingTests
{
    [Fact]
    public void Crossing_is_interpolated_between_the_two_steps_around_it()
    {
        var steps = new[] { Sizes(1000, data: 400, index: 100), Sizes(2000, data: 800, index: 200) };

        var crossing = Assert.Single(CacheCrossing.Find(steps, 500));

        Assert.Equal(new CacheCrossing("data", 1250), crossing);
    }

    [Fact]
    public void First_size_is_reached_from_the_empty_collection() =>
        Assert.Equal([new CacheCrossing("data", 250), new CacheCrossing("indexes", 500)],
            CacheCrossing.Find([Sizes(1000, data: 400, index: 200)], 100));

    [Fact]
    public void What_just_fits_has_not_outgrown_the_cache() => Assert.Empty(CacheCrossing.Find([Sizes(1000, data: 400, index: 400)], 400));

    [Theory]
    [InlineData(null)]
    [InlineData(0L)]
    public void Without_a_known_cache_there_is_no_crossing(long? cacheBytes) =>
        Assert.Empty(CacheCrossing.Find([Sizes(1000, data: 400, index: 400)], cacheBytes));

    [Fact]
    public void A_run_without_sizes_has_no_crossing() => Assert.Empty(CacheCrossing.Find([], 600));

    private static (long, SizeResult) Sizes(long documents, long data, long index) =>
        (documents, RunParts.Sizes(documents) with { DataBytes = data, IndexBytes = index });
}
