using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Server;

public sealed class RocksLibraryTests
{
    [Fact]
    public void The_tested_version_comes_first_then_known_names_then_the_newest_that_is_installed()
    {
        using var folder = new TemporaryFolder();
        foreach (string file in (string[])["x86_64-linux-gnu/librocksdb.so.7.8.3", "x86_64-linux-gnu/librocksdb.so.10.2", "librocksdb.so.9.10", "librocksdb.so.11", "librocksdb.so.odd", "other/librocks.so.12"])
        {
            Directory.CreateDirectory(Path.GetDirectoryName(folder.At(file))!);
            File.WriteAllText(folder.At(file), "");
        }

        Assert.Equal(
            [
                "librocksdb.so.7.8", "librocksdb.so.8.9", "librocksdb.so.9",
                folder.At("librocksdb.so.11"), folder.At("x86_64-linux-gnu/librocksdb.so.10.2"), folder.At("librocksdb.so.9.10"),
                folder.At("x86_64-linux-gnu/librocksdb.so.7.8.3"), folder.At("librocksdb.so.odd"),
            ],
            RocksLibrary.Files([folder.At("missing"), folder.Path]));
    }
}
