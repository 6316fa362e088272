using MongoPerf.Server;
using MongoPerf.Server.Listening;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Server;

/// <summary>A fresh embedded server and a connection to it, for each test.</summary>
public abstract class ServerTest : IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private EmbeddedServer _server;
    private TestClient _client;

    protected ServerTest()
    {
        _server = EmbeddedServer.Start(Options);
        _client = new TestClient(_server.Port);
    }

    internal TestClient Client => _client;

    protected int Port => _server.Port;

    protected EmbeddedServer Server => _server;

    /// <summary>0: no mongos.</summary>
    protected virtual int Shards => 0;

    protected string DataPath => _folder.At("data");

    private EmbeddedServerOptions Options => new()
    {
        DataPath = _folder.At("data"), CacheBytes = 64 << 20, Shards = Shards,
        Listen = new ListenOptions { StopPatience = TimeSpan.FromSeconds(1) },
    };

    internal BsonDocument Run(string json, string database = "test") => _client.Run(json, database);

    internal BsonDocument Succeed(string json, string database = "test")
    {
        BsonDocument reply = Run(json, database);
        Assert.True(reply.FindDouble("ok") == 1, ExtendedJson.Write(reply.Bytes));
        return reply;
    }

    internal void Fails(string json, int code, string text, string database = "test")
    {
        BsonDocument reply = Run(json, database);
        Assert.Equal(0, reply.FindDouble("ok"));
        Assert.Equal(code, reply.FindInt64("code"));
        Assert.Contains(text, reply.FindString("errmsg"), StringComparison.Ordinal);
    }

    /// <summary>Inserts {_id: i, n: i mod 10, t: "text i"} for 0 ≤ i &lt; count into <c>c</c>.</summary>
    internal void InsertNumbers(int count) => Client.RunWithSequence("{'insert': 'c'}", "documents",
        Enumerable.Range(0, count).Select(i => BsonDocument.Of(("_id", i), ("n", i % 10), ("t", $"text {i}"))));

    internal static int[] Ids(IEnumerable<BsonDocument> documents) => [.. documents.Select(document => (int)document.FindInt64("_id")!)];

    internal void Restart()
    {
        _client.Dispose();
        _server.Stop();
        _server = EmbeddedServer.Start(Options);
        _client = new TestClient(_server.Port);
    }

    public void Dispose()
    {
        _client.Dispose();
        _server.Dispose();
        _folder.Dispose();
        GC.SuppressFinalize(this);
    }
}
