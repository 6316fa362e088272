using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class DocumentStoreTests : IDisposable
{
    private const long CacheBytes = 64 << 20;
    private static readonly IndexSpec Index = new(-1, "n", [new IndexField(new FieldPath("n"), IsDescending: false)], IsUnique: false);
    private readonly TemporaryFolder _folder = new();

    [Fact]
    public async Task Others_are_made_and_dropped_while_an_index_or_a_drop_waits_for_its_collection()
    {
        using DocumentStore store = DocumentStore.Open(_folder.Path, CacheBytes);
        Collection busy = store.GetOrCreate("test", "busy", out _)!;
        busy.Lock.EnterReadLock();
        Task index = Task.Factory.StartNew(() => store.CreateIndex(busy, Index), TaskCreationOptions.LongRunning);
        Task drop = Task.Factory.StartNew(() => store.Drop("test.busy"), TaskCreationOptions.LongRunning);
        // A reader that comes waits where a writer waits: both are there.
        await Task.Factory.StartNew(() =>
        {
            Collection other = store.GetOrCreate("test", "other", out bool isNew)!;
            Assert.True(isNew);
            Assert.Null(store.CreateIndex(other, Index));
            Assert.Equal(2, store.Drop("test.other"));
        }, TaskCreationOptions.LongRunning).WaitAsync(TimeSpan.FromMinutes(1));
        Assert.False(index.IsCompleted || drop.IsCompleted);
        busy.Lock.ExitReadLock();
        try
        {
            await index;
        }
        catch (StorageException error)
        {
            // The drop came first.
            Assert.Contains("dropped meanwhile", error.Message, StringComparison.Ordinal);
        }

        await drop;
        Assert.False(store.TryFind("test.busy", out _));
    }

    [Fact]
    public void Ids_of_collections_are_not_used_again_after_an_index_was_made()
    {
        using (DocumentStore store = DocumentStore.Open(_folder.Path, CacheBytes))
        {
            Collection old = store.GetOrCreate("test", "old", out _)!;
            Assert.Equal(old.Entry.Id + 1, store.GetOrCreate("test", "dropped", out _)!.Entry.Id);
            store.Drop("test.dropped");
            store.CreateIndex(old, Index);
        }

        using (DocumentStore store = DocumentStore.Open(_folder.Path, CacheBytes))
        {
            Assert.True(store.TryFind("test.old", out Collection? old));
            Assert.Equal(["_id_", "n"], old.Indexes.Select(index => index.Spec.Name));
            Assert.Equal(old.Entry.Id + 2, store.GetOrCreate("test", "new", out _)!.Entry.Id);
        }
    }

    [Fact]
    public void A_temporary_collection_is_gone_when_the_store_is_opened_anew_unless_it_was_renamed()
    {
        using (DocumentStore store = DocumentStore.Open(_folder.Path, CacheBytes))
        {
            Collection like = store.GetOrCreate("test", "old", out _)!;
            store.CreateTemporary("test", "lost", like);
            Collection kept = store.CreateTemporary("test", "new", like)!;
            Assert.Equal(RenameOutcome.Done, store.Rename(kept.Namespace, "test", "old", _ => true));
            Assert.True(kept.IsDropped && like.IsDropped);
        }

        using (DocumentStore store = DocumentStore.Open(_folder.Path, CacheBytes))
            Assert.Equal("test.old", Assert.Single(store.Collections).Namespace);
    }

    [Fact]
    public void Database_is_closed_again_when_its_catalog_cannot_be_read()
    {
        DocumentStore.Open(_folder.Path, CacheBytes).Dispose();
        using (RocksDatabase database = RocksDatabase.Open(_folder.Path, CacheBytes))
        using (var batch = new RocksBatch())
        {
            batch.Put(database.Column(RocksDatabase.DefaultColumn), "mtest.c"u8, BsonDocument.Of(("id", 7)).Bytes);
            database.Write(batch);
        }

        Assert.ThrowsAny<Exception>(() => DocumentStore.Open(_folder.Path, CacheBytes));
        // Else another one of this process would have it open.
        RocksDatabase.Open(_folder.Path, CacheBytes).Dispose();
    }

    [Fact]
    public void Many_collections_one_after_the_other_leave_one_log_and_no_other_files()
    {
        using DocumentStore store = DocumentStore.Open(_folder.Path, CacheBytes);
        int before = Directory.GetFiles(_folder.Path).Length;
        // So many that a log of 4 MB would be full of what RocksDB says of each.
        for (int i = 0; i < 250; i++)
        {
            store.GetOrCreate("test", "c", out _);
            store.Drop("test.c");
        }

        Assert.Single(Directory.GetFiles(_folder.Path, "LOG*"));
        Assert.InRange(Directory.GetFiles(_folder.Path).Length, 1, before + 2);
    }

    public void Dispose() => _folder.Dispose();
}
