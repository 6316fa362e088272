using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Rocks;

namespace MongoPerf.Tests.Server;

public sealed class RocksOptionsTests
{
    [Fact]
    public void Records_stay_in_the_cache_when_their_memtable_becomes_a_file()
    {
        const int Records = 1000, Bytes = 1000;
        using RocksDatabase database = RocksDatabase.Open(path: null, 64 << 20);
        nint column = database.CreateColumn(ColumnNames.Records(1));
        using var batch = new RocksBatch();
        byte[] key = new byte[RecordId.Size];
        byte[] value = new byte[Bytes];
        new Random(1).NextBytes(value);
        for (int record = 1; record <= Records; record++)
        {
            RecordId.Write(key, record);
            batch.Put(column, key, value);
        }

        database.Write(batch);
        long before = database.CacheUsed;
        database.Flush(column);
        Assert.InRange(database.CacheUsed - before, Records * Bytes, 2 * Records * Bytes);
    }
}
