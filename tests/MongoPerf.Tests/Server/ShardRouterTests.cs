using System.Net;
using MongoPerf.Server;
using MongoPerf.Server.Commands;
using MongoPerf.Server.Commands.Sharding;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>What other clients do between the steps of a command about a sharded collection, which no client can time.</summary>
public sealed class ShardRouterTests : IDisposable
{
    private static readonly ShardKey ById = new(BsonDocument.Of(("_id", 1)));
    private readonly ServerContext _server =
        new(DocumentStore.Open(path: null, cacheBytes: 64 << 20), new EmbeddedServerOptions { Shards = 2 });

    private ShardRouter Router => _server.Router!;

    public void Dispose() => _server.Dispose();

    [Fact]
    public void A_collection_that_took_a_dropped_one_s_name_is_sharded_anew_and_not_forgotten()
    {
        Router.Shard(Make(), ById, isUnique: false, chunks: null);
        _server.Store.Drop("test.c");
        Collection other = Make();
        Assert.Null(Router.FindTable("test.c"));
        Router.Shard(other, ById, isUnique: false, chunks: null);
        Router.Forget("test.c");
        Assert.Equal(other.Entry.Uuid, Router.FindTable("test.c")!.Uuid);
        Assert.Single(Router.Config.Read("chunks"));
        Assert.Single(Router.Config.Read("collections"));
    }

    [Fact]
    public void Of_two_that_shard_a_collection_the_first_has_its_way()
    {
        Collection collection = Make();
        ShardTable first = Router.Shard(collection, ById, isUnique: false, chunks: null);
        var another = new ShardKey(BsonDocument.Of(("n", 1)));
        Assert.Same(first, Router.Shard(collection, another, isUnique: false, chunks: null));
    }

    [Fact]
    public void A_sharded_collection_is_neither_renamed_nor_replaced()
    {
        Collection collection = Make();
        _server.Store.GetOrCreate("test", "d", out _);
        Router.Shard(collection, ById, isUnique: false, chunks: null);
        Assert.Equal(RenameOutcome.Sharded, _server.Store.Rename("test.c", "test", "e", _ => true));
        Assert.Equal(RenameOutcome.Sharded, _server.Store.Rename("test.d", "test", "c", _ => true));
    }

    [Fact]
    public void No_zone_is_lost_where_several_clients_add_some()
    {
        Router.SetHosts([new IPEndPoint(IPAddress.Loopback, 1), new IPEndPoint(IPAddress.Loopback, 2)]);
        Parallel.For(0, 200, i => Router.ChangeTags("shard1", tags => [.. tags, $"z{i}"]));
        BsonDocument shard = Router.Config.Read("shards").Single(one => one.FindString("_id") == "shard1");
        Assert.Equal(200, shard.FindDocument("tags")!.Count());
    }

    private Collection Make() => _server.Store.GetOrCreate("test", "c", out _)!;
}
