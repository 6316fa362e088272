using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Files of the published test's size in GridFS, on a server that holds them to their indexes.</summary>
public sealed class GridFsTests
{
    private const string Database = "files";
    private const int FileCount = 20;

    [Theory]
    [EachServer]
    public void Files_are_stored_as_the_specification_says_and_read_back_byte_for_byte(string kind)
    {
        var files = new GridFsFileSet(7, new GridFsBucket(), 1_040_000);
        using TestServer server = TestServer.Start(kind);
        using MongoConnection connection = server.Connect();
        foreach ((string collection, BsonDocument index) in ((string, BsonDocument)[])[(files.Bucket.Chunks, GridFsBucket.ChunksIndex),
            (files.Bucket.Files, GridFsBucket.FilesIndex)])
            connection.RunCommand(Database, BsonDocument.Of(("createIndexes", collection), ("indexes", new[] { index })));
        using var executor = new WireExecutor(_ => server.Address, ConnectionSettings.Default, Database);
        executor.Connect();

        IPreparedOperation write = executor.Prepare(
            new UploadFile("write", "fs", files), new OperationContext(7, 0, new NumberSource(0, FileCount)));
        while (write.Draw())
            Assert.Equal(new OperationOutcome(true, 1, files.Length), write.Execute());
        Assert.Equal((FileCount, FileCount * 4), (Count(connection, files.Bucket.Files), Count(connection, files.Bucket.Chunks)));

        IPreparedOperation read = executor.Prepare(
            new DownloadFile("read", "fs", files) { Chooser = new UniformKeys(new KeySpace(FileCount)) }, new OperationContext(7, 0, null));
        for (int i = 0; i < 2 * FileCount; i++)
        {
            Assert.True(read.Draw());
            Assert.Equal(new OperationOutcome(true, 1, files.Length), read.Execute());
            Assert.Equal(new VerificationOutcome(1, 0), read.Verify());
        }

        // The same file once more: its chunks are there already, and the unique index says so.
        IPreparedOperation again = executor.Prepare(
            new UploadFile("write", "fs", files), new OperationContext(7, 0, new NumberSource(0, 1)));
        Assert.True(again.Draw());
        Assert.False(again.Execute().Succeeded);
        Assert.Equal(ServerError.DuplicateKey, again.LastError!.Code);
    }

    private static int Count(MongoConnection connection, string collection) =>
        connection.RunCursor(Database, BsonDocument.Of(("find", collection), ("projection", BsonDocument.Of(("_id", 1))))).Count();
}
