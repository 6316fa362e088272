using MongoPerf.Learning.Comparing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Collections;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Learning;

/// <summary>What indexes take on disk: the same keys in files of the same length or of twice the length.</summary>
public sealed class SizeComparisonTests
{
    private const long Megabyte = 1_100_000;

    [Fact]
    public void Free_blocks_that_random_writes_left_are_not_held_against_the_copy()
    {
        Deviation[] all = Compare(Sizes(2 * Megabyte, Megabyte), Sizes(Megabyte, Megabyte));
        Assert.Equal([("index n_1: used per document (B)", 0.0, true), ("index n_1: file per document (B)", -0.5, true)],
            all.Select(one => (one.What, one.Share!.Value, one.IsWithin)));
        Assert.False(Compare(Sizes(2 * Megabyte, Megabyte), Sizes(2 * Megabyte, 2 * Megabyte))[0].IsWithin);
    }

    [Theory]
    [InlineData(Megabyte, null)]
    [InlineData(null, Megabyte)]
    [InlineData(0L, Megabyte)]
    public void Whole_files_are_compared_where_one_side_does_not_tell_what_is_used(long? there, long? here)
    {
        Deviation only = Assert.Single(Compare(Sizes(2 * Megabyte, there), Sizes(Megabyte, here)));
        Assert.Equal(("index n_1: file per document (B)", false), (only.What, only.IsWithin));
    }

    [Fact]
    public void A_missing_index_is_told_and_one_of_few_pages_is_not_compared()
    {
        Assert.False(Compare(Sizes(2 * Megabyte, Megabyte), new SizeResult
        {
            Documents = 1, DataBytes = 0, StorageBytes = 0, IndexBytes = 0, Indexes = new Dictionary<string, long>(),
        })[0].IsWithin);
        Assert.Empty(Compare(Sizes(2 * Megabyte, 100_000), Sizes(Megabyte, Megabyte)));
    }

    /// <summary>A copy loads what was there in the end, and inserts what was inserted meanwhile once more.</summary>
    [Fact]
    public void Sizes_are_compared_by_the_document()
    {
        SizeResult twice = Sizes(4 * Megabyte, 2 * Megabyte) with { Documents = 2 };
        Assert.Equal([0.0, 0.0], Compare(Sizes(2 * Megabyte, Megabyte), twice).Select(one => one.Share!.Value));
        Assert.Empty(Compare(Sizes(2 * Megabyte, Megabyte), twice with { Documents = 0 }));
        Assert.Empty(Compare(twice with { Documents = 0 }, Sizes(2 * Megabyte, Megabyte)));
    }

    /// <summary>62,569 measurements in 3,000 buckets of 3.2 MB, and in 36,968 of 12.1 MB: those whose times were drawn.</summary>
    [Fact]
    public void Time_series_are_compared_by_buckets_and_what_measurements_take()
    {
        SizeResult there = Series(62_569, 3000, 3_200_000, 0);
        Assert.All(Compare(there, Series(62_569, 3100, 4_000_000, 700_000)), one => Assert.True(one.IsWithin));
        Assert.Equal([("measurements in a bucket", false), ("on disk per measurement (B)", false)],
            Compare(there, Series(62_569, 36_968, 12_100_000, 0)).Select(one => (one.What, one.IsWithin)));
        Assert.Equal(["measurements in a bucket"], Compare(Series(900, 3, 50_000, 0), Series(900, 3, 90_000, 0)).Select(one => one.What));
    }

    private static SizeResult Series(long measurements, long buckets, long bytes, long free) => SizeReader.Read(BsonDocument.Of(
        ("storageSize", bytes), ("freeStorageSize", free), ("timeseries", BsonDocument.Of(("bucketCount", buckets)))), measurements);

    private static Deviation[] Compare(SizeResult there, SizeResult here) =>
        [.. SizeComparison.Of([new CollectionSample("c", 1, [], true) { Sizes = there }],
            new Dictionary<string, SizeResult> { ["c"] = here }, new WrittenNames(null))];

    /// <summary>As a mongod replies, which says how much of the index's file is used, or as another server does.</summary>
    private static SizeResult Sizes(long bytes, long? used) => SizeReader.Read(
        BsonDocument.Of(
            ("indexSizes", BsonDocument.Of(("n_1", bytes))),
            ("indexDetails", BsonDocument.Of(("n_1", used is null ? BsonDocument.Empty
                : BsonDocument.Of(("block-manager", BsonDocument.Of(("checkpoint size", used)))))))), 1);
}
