using MongoPerf.Reports.Forecasts;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Forecasts;

/// <summary>The figures that a forecast begins with: what servers have, and what documents take up.</summary>
public sealed class ForecastFigureTests
{
    private const long Gibibyte = 1L << 30;
    private const long Megabyte = 1_000_000;

    /// <summary>What is asked for is of each server; mongod's own choice is half of what lies beyond a gigabyte, 256 MB at least.</summary>
    [Theory]
    [InlineData(null, null, 10, 20)]
    [InlineData(4.0, null, 12, 20)]
    [InlineData(null, 4.0, 4.5, 12)]
    [InlineData(null, 1.0, 0.75, 3)]
    [InlineData(1.5, 2.0, 4.5, 6)]
    public void What_each_server_is_given_counts_for_all_of_them(double? cache, double? memory, double allCache, double allMemory)
    {
        var request = new ForecastRequest { CacheBytes = (long?)(cache * Gibibyte), MemoryBytes = (long?)(memory * Gibibyte) };
        var has = new ServerMemory(10.0 * Gibibyte, 20.0 * Gibibyte);
        Assert.Equal(new ServerMemory(allCache * Gibibyte, allMemory * Gibibyte), has.With(request, 3));
        // A cache that nobody knows stays unknown.
        Assert.Equal(request.CacheBytes * 3, (has with { CacheBytes = null }).With(request, 3).CacheBytes);
    }

    [Fact]
    public void A_journal_is_as_large_as_it_was_at_most_and_at_least()
    {
        long[] journals = [300, 100, 200, 250, 100, 150];
        (long Documents, SizeResult Sizes)[] sizes =
        [
            // What was taken of nothing, or of no folder, tells nothing.
            (0, Sizes(0, 100 * Megabyte, 100 * Megabyte)), (500, Sizes(500, 0, 0)),
            .. journals.Select((journal, i) => ((i + 1) * 1000L, Sizes(
                (i + 1) * 1000L, (journal * Megabyte) + ((i + 1) * 400_000L), journal * Megabyte))),
        ];
        SizeForecast disk = SizeForecast.OfDisk(sizes)!;
        Assert.Equal(
            (175e6, 100e6, 300e6, (150 * Megabyte) + 2_400_000.0),
            (disk.Constant.Value, disk.Constant.Low, disk.Constant.High, disk.Measured));
        Assert.Equal(400, disk.Fit.At(1e6).Value, 1.0);
        Assert.Equal(175e6 + 400e6, disk.At(1e6).Value, 2e6);
        Assert.Equal(1e6, disk.Crossing(175e6 + 400e6).Value, 1e4);
        // Where one size does not tell its journal, all is data.
        (long, SizeResult)[] untold = [.. sizes.Select(one => (one.Documents, one.Sizes with
        {
            JournalBytes = one.Documents == 3000 ? null : one.Sizes.JournalBytes,
            DiskBytes = one.Sizes.DiskBytes is 0 ? 0 : one.Documents * 400,
        }))];
        Assert.Equal(new Prediction(0, 0, 0), SizeForecast.OfDisk(untold)!.Constant);
    }

    /// <summary>An index that came later has no bytes before: those sizes say nothing of it.</summary>
    [Fact]
    public void Sizes_at_which_there_was_no_index_are_left_out_of_its_forecast()
    {
        (long Documents, SizeResult Sizes)[] sizes =
        [
            .. Enumerable.Range(1, 9).Select(step => (step * 1_000_000L, RunParts.Sizes(step * 1_000_000L) with
            {
                Indexes = step < 5 ? new Dictionary<string, long>() : new Dictionary<string, long> { ["late"] = step * 30_000_000L },
            })),
        ];
        SizeForecast late = SizeForecast.Of(sizes).Single(size => size.What == "index late");
        Assert.Equal(30, late.Fit.At(1e8).Value, 0.3);
        Assert.Equal(270e6, late.Measured);
        Assert.Equal(SizeForecast.Disk, SizeForecast.Of(sizes)[^1].What);
        // Three sizes are too few.
        Assert.DoesNotContain(SizeForecast.Of(sizes[..7]), size => size.What == "index late");
    }

    private static SizeResult Sizes(long documents, long disk, long journal) =>
        RunParts.Sizes(documents) with { DiskBytes = disk, JournalBytes = journal };
}
