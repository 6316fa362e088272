using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Rocks;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

public sealed class DiskReserveTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private long _free = long.MaxValue;
    private int _looks;
    private long _now;

    [Fact]
    public void On_a_full_disk_what_adds_is_refused_and_what_makes_room_is_not()
    {
        Serve(run =>
        {
            run("{'insert': 'c', 'documents': [{'_id': 1, 'a': 1}, {'_id': 2, 'a': 2}]}");
            run("{'createIndexes': 'c', 'indexes': [{'key': {'a': 1}, 'name': 'a'}]}");
        });
        _free = DiskReserve.LeastBytes - 1;
        Serve(run => Assert.Equal(14031, run("{'drop': 'c'}").FindInt64("code")));
        _free = DiskReserve.Bytes - 1_000_000;
        Serve(run =>
        {
            foreach (string adding in (string[])
            [
                "{'insert': 'c', 'documents': [{'_id': 3}]}",
                "{'insert': 'new', 'documents': [{'_id': 3}]}",
                "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$set': {'a': 3}}}]}",
                "{'findAndModify': 'c', 'query': {'_id': 1}, 'update': {'$set': {'a': 3}}}",
                "{'create': 'new'}",
                "{'createIndexes': 'c', 'indexes': [{'key': {'b': 1}, 'name': 'b'}]}",
            ])
            {
                BsonDocument reply = run(adding);
                Assert.Equal((14031, "OutOfDiskSpace"), (reply.FindInt64("code"), reply.FindString("codeName")));
                Assert.Equal($"the disk that holds this server's data is full: {_folder.Path}: 127 MB free, 128 MB needed",
                    reply.FindString("errmsg"));
            }

            Assert.Equal(2, run("{'count': 'c', 'query': {'a': {'$lt': 3}}}").FindInt64("n"));
            Assert.Equal(1, run("{'delete': 'c', 'deletes': [{'q': {'_id': 1}, 'limit': 1}]}").FindInt64("n"));
            Assert.Equal(1, run("{'dropIndexes': 'c', 'index': 'a'}").FindInt64("ok"));
            Assert.Equal(1, run("{'drop': 'c'}").FindInt64("ok"));
            Assert.Empty(run("{'listCollections': 1}").FindDocument("cursor.firstBatch")!);
            _free = 2 * DiskReserve.Bytes;
            Assert.Equal(1, run("{'create': 'new'}").FindInt64("ok"));
        });
    }

    [Fact]
    public void Writes_never_use_the_reserve()
    {
        _free = DiskReserve.Bytes + 200_000_000;
        DiskReserve disk = Disk();
        var random = new Random(1);
        Assert.Throws<DiskFullException>(Fill);
        Assert.InRange(_free, DiskReserve.Bytes, DiskReserve.Bytes + 2_000_000);
        Assert.InRange(_looks, 2, 1000);

        void Fill()
        {
            while (true)
            {
                int bytes = random.Next(1_000_000);
                disk.Require(bytes, makesRoom: false);
                // To the log now, and later to a table's file.
                _free -= 2 * bytes;
                Assert.InRange(_free, DiskReserve.Bytes, long.MaxValue);
            }
        }
    }

    [Fact]
    public void What_others_write_is_noticed()
    {
        DiskReserve disk = Disk();
        disk.Require(1, makesRoom: false);
        _free = 0;
        disk.Require(1, makesRoom: false);
        _now += 50;
        Assert.Throws<DiskFullException>(() => disk.Require(1, makesRoom: false));
        Assert.Throws<DiskFullException>(() => disk.Require(1, makesRoom: true));
    }

    [Fact]
    public void A_folder_that_is_gone_is_named()
    {
        using var gone = new TemporaryFolder();
        var disk = new DiskReserve(gone.At("data"));
        StorageException error = Assert.Throws<StorageException>(() => disk.Require(1, makesRoom: false));
        Assert.StartsWith($"{gone.At("data")}: cannot find out how much of its disk is free: ", error.Message, StringComparison.Ordinal);
    }

    public void Dispose() => _folder.Dispose();

    private DiskReserve Disk() => new(_folder.Path, () =>
    {
        _looks++;
        return _free;
    }, () => _now);

    private void Serve(Action<Func<string, BsonDocument>> talk)
    {
        using var context = new ServerContext(DocumentStore.Open(_folder.Path, 64 << 20, Disk()),
            new EmbeddedServerOptions { DataPath = _folder.Path });
        using var session = new CommandDispatcher(context, 1);
        var reply = new ReplyWriter();
        talk(json =>
        {
            reply.BeginMessage(1, 1);
            byte[] body = TestClient.Json($"{json[..^1]}, '$db': 'test'}}").Bytes.ToArray();
            session.Handle(new CommandRequest(body, default, wantsReply: true, isLegacyQuery: false), reply);
            return new BsonDocument(reply.Body.Written[reply.BodyStart..].ToArray());
        });
    }
}
