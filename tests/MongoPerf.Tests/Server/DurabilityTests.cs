using MongoPerf.Server.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Server;

/// <summary>
/// What a killed process leaves is what the operating system has: the files as they are at that moment, copied here
/// while the store is open.
/// </summary>
public sealed class DurabilityTests : ServerTest
{
    [Fact]
    public void Acknowledged_writes_and_counters_are_in_the_files_at_once()
    {
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}");
        InsertNumbers(1000);
        Succeed("{'delete': 'c', 'deletes': [{'q': {'n': 3}, 'limit': 0}]}");
        Succeed("{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'t': 'changed'}}}]}");
        long bytes = Succeed("{'collStats': 'c'}").FindInt64("size")!.Value;
        using var copy = new TemporaryFolder();
        foreach (string file in Directory.GetFiles(DataPath).Where(file => Path.GetFileName(file) != "LOCK"))
            File.Copy(file, copy.At(Path.GetFileName(file)));
        using DocumentStore store = DocumentStore.Open(copy.Path, 64 << 20);
        Assert.True(store.TryFind("test.c", out Collection? collection));
        Assert.Equal(900, collection.DocumentCount);
        Assert.Equal(bytes, collection.DataBytes);
        Assert.Equal(900, Count(collection.IterateRecords()));
        foreach (CollectionIndex index in collection.Indexes)
            Assert.Equal(900, Count(collection.Iterate(index)));
    }

    [Fact]
    public void Log_that_was_cut_off_in_its_last_record_loses_that_record_only()
    {
        for (int i = 0; i < 50; i++)
            Succeed("{'insert': 'c', 'documents': [{'_id': " + i + "}]}");
        using var copy = new TemporaryFolder();
        foreach (string file in Directory.GetFiles(DataPath).Where(file => Path.GetFileName(file) != "LOCK"))
            File.Copy(file, copy.At(Path.GetFileName(file)));
        string log = Directory.GetFiles(copy.Path, "*.log").Order(StringComparer.Ordinal).Last();
        using (FileStream stream = File.OpenWrite(log))
            stream.SetLength(stream.Length - 3);
        using DocumentStore store = DocumentStore.Open(copy.Path, 64 << 20);
        Assert.True(store.TryFind("test.c", out Collection? collection));
        Assert.Equal(49, collection.DocumentCount);
        Assert.Equal(49, Count(collection.IterateRecords()));
    }

    [Fact]
    public void Data_that_another_process_has_open_are_refused_with_a_sentence()
    {
        StorageException error = Assert.Throws<StorageException>(() => DocumentStore.Open(DataPath, 64 << 20));
        Assert.Contains("another process has it open", error.Message, StringComparison.Ordinal);
    }

    /// <summary>
    /// RocksDB 7.8, with which earlier versions wrote, reads formats up to 5; the version of a file's format stands before the
    /// magic number at its end.
    /// </summary>
    [Fact]
    public void Files_have_the_format_that_earlier_versions_read_and_those_of_a_later_one_are_refused_with_a_sentence()
    {
        InsertNumbers(1000);
        Succeed("{'createIndexes': 'c', 'indexes': [{'key': {'n': 1}, 'name': 'n_1'}]}");
        using var copy = new TemporaryFolder();
        foreach (string file in Directory.GetFiles(DataPath).Where(file => Path.GetFileName(file) != "LOCK"))
            File.Copy(file, copy.At(Path.GetFileName(file)));
        // What the log holds becomes files when it is replayed.
        DocumentStore.Open(copy.Path, 64 << 20).Dispose();
        string[] tables = Directory.GetFiles(copy.Path, "*.sst");
        Assert.NotEmpty(tables);
        Assert.All(tables, table => Assert.Equal(5, FormatOf(File.ReadAllBytes(table))));
        foreach (string table in tables)
        {
            byte[] bytes = File.ReadAllBytes(table);
            bytes[^FormatFromEnd] = 99;
            File.WriteAllBytes(table, bytes);
        }

        StorageException error = Assert.Throws<StorageException>(() => DocumentStore.Open(copy.Path, 64 << 20));
        Assert.Contains("cannot open the embedded server's data (a newer version wrote it): ", error.Message, StringComparison.Ordinal);
        Assert.Equal("use the MongoPerf that wrote it, or name another folder", error.Hint);
    }

    private const int FormatFromEnd = 12;

    private static int FormatOf(byte[] table) => BitConverter.ToInt32(table, table.Length - FormatFromEnd);

    private static int Count(MongoPerf.Server.Storage.Rocks.RocksIterator iterator)
    {
        using (iterator)
        {
            int count = 0;
            for (iterator.SeekToFirst(); iterator.Valid; iterator.Next())
                count++;
            return count;
        }
    }
}
