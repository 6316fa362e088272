using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class RecordWalkTests
{
    private const int Records = 120;
    private static readonly int[] Gone = [1, 17, 18, 19, 60, 61, 119];

    /// <summary>Of 5,000 bytes not all of the longest stretch fit, of 70,000 not one.</summary>
    [Theory]
    [InlineData(20)]
    [InlineData(5_000)]
    [InlineData(70_000)]
    public void Each_record_is_found_as_it_is_stored_whichever_way_the_walk_turns(int bytes)
    {
        byte[] text = new byte[bytes];
        byte[] Document(long record) => BsonDocument.Of(("_id", (int)record), ("t", text)).Bytes.ToArray();
        using DocumentStore store = DocumentStore.Open(path: null, 64 << 20);
        Collection collection = store.GetOrCreate("test", "c", out _)!;
        collection.Writer.Begin();
        for (int record = 1; record <= Records; record++)
            Assert.Null(collection.Writer.Insert(Document(record)));
        foreach (int record in Gone)
            collection.Writer.Delete(record, Document(record));
        collection.Writer.Commit();

        using var walk = new RecordWalk();
        var random = new Random(1);
        int at = Records;
        int step = -1;
        for (int i = 0; i < 1000; i++)
        {
            Assert.Equal(!Gone.Contains(at), walk.MoveTo(collection, at));
            if (!Gone.Contains(at))
                Assert.True(walk.Document.SequenceEqual(Document(at)), $"record {at}");
            if (at is 1 or Records || random.Next(40) == 0)
                step = at == 1 ? 1 : at == Records ? -1 : -step;
            at = random.Next(100) == 0 ? random.Next(1, Records + 1) : at + step;
            at = Math.Clamp(at, 1, Records);
        }
    }

    [Fact]
    public void A_walk_that_was_disposed_sees_what_was_written_since()
    {
        using DocumentStore store = DocumentStore.Open(path: null, 64 << 20);
        Collection collection = store.GetOrCreate("test", "c", out _)!;
        byte[] before = BsonDocument.Of(("_id", 1), ("n", 1)).Bytes.ToArray();
        byte[] after = BsonDocument.Of(("_id", 1), ("n", 2)).Bytes.ToArray();
        collection.Writer.Begin();
        collection.Writer.Insert(before);
        collection.Writer.Insert(BsonDocument.Of(("_id", 2)).Bytes);
        collection.Writer.Commit();
        using var walk = new RecordWalk();
        Assert.True(walk.MoveTo(collection, 2) && walk.MoveTo(collection, 1));
        walk.Dispose();
        collection.Writer.Replace(1, before, after);
        collection.Writer.Commit();
        Assert.True(walk.MoveTo(collection, 2) && walk.MoveTo(collection, 1));
        Assert.True(walk.Document.SequenceEqual(after));
    }
}
