using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Connections;

/// <summary>What a server says of itself when a connection opens. Source: specifications, mongodb-handshake and server-discovery.</summary>
public sealed class HelloReply(BsonDocument document)
{
    public BsonDocument Document { get; } = document;

    /// <summary>6 is MongoDB 3.6, the first with OP_MSG; 17 is 6.0, 21 is 7.0, 25 is 8.0.</summary>
    public int MaxWireVersion => (int)(Document.FindInt64("maxWireVersion") ?? 0);

    public int MaxBsonObjectSize => (int)(Document.FindInt64("maxBsonObjectSize") ?? 16 * 1024 * 1024);

    public int MaxMessageSizeBytes => (int)(Document.FindInt64("maxMessageSizeBytes") ?? 48_000_000);

    /// <summary>Documents in one insert command.</summary>
    public int MaxWriteBatchSize => (int)(Document.FindInt64("maxWriteBatchSize") ?? 1000);

    public string? ReplicaSetName => Document.FindString("setName");

    /// <summary>The only sure mark of a mongos.</summary>
    public bool IsMongos => Document.FindString("msg") == "isdbgrid";

    public bool IsWritablePrimary => Document.IsTrue("isWritablePrimary") || Document.IsTrue("ismaster");

    /// <summary>host:port of the primary, when this is a secondary that knows it.</summary>
    public string? Primary => Document.FindString("primary");
}
