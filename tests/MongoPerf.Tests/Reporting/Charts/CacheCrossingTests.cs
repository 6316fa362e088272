using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting.Charts;

public sealed class CacheCrossingTests
{
    [Fact]
    public void Crossing_is_interpolated_between_the_two_steps_around_it()
    {
        var steps = new[] { Step(1000, data: 400, index: 100), Step(2000, data: 800, index: 200) };

        var crossing = Assert.Single(CacheCrossing.Find(steps, 500));

        Assert.Equal(new CacheCrossing("data", 1250), crossing);
    }

    [Fact]
    public void First_step_is_reached_from_the_empty_collection() =>
        Assert.Equal([new CacheCrossing("data", 250), new CacheCrossing("indexes", 500)], CacheCrossing.Find([Step(1000, data: 400, index: 200)], 100));

    [Fact]
    public void What_just_fits_has_not_outgrown_the_cache() => Assert.Empty(CacheCrossing.Find([Step(1000, data: 400, index: 400)], 400));

    [Theory]
    [InlineData(null)]
    [InlineData(0L)]
    public void Without_a_known_cache_there_is_no_crossing(long? cacheBytes) =>
        Assert.Empty(CacheCrossing.Find([Step(1000, data: 400, index: 400)], cacheBytes));

    [Fact]
    public void Steps_without_sizes_are_passed_over()
    {
        var steps = new[] { Step(1000, data: 400, index: 1), Step(1500, data: 0, index: 0) with { Sizes = null }, Step(2000, data: 800, index: 2) };

        Assert.Equal(1500, Assert.Single(CacheCrossing.Find(steps, 600)).Documents);
    }

    [Fact]
    public void A_run_without_sizes_has_no_crossing() => Assert.Empty(CacheCrossing.Find([Step(1000, 1, 1) with { Sizes = null }], 600));

    private static StepResult Step(long documents, long data, long index) => new()
    {
        Step = 1,
        Documents = documents,
        Tests = [],
        Sizes = RunParts.Sizes(documents) with { DataBytes = data, IndexBytes = index },
    };
}
