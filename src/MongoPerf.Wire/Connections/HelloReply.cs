using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>What a server says of itself when a connection opens. Source: specifications, mongodb-handshake and server-discovery.</summary>
public sealed class HelloReply(BsonDocument document)
{
    /// <summary>No server has less: a marker, or a document of the smallest scenario, would not fit.</summary>
    private const int LeastDocumentBytes = 1024;

    public BsonDocument Document { get; } = document;

    /// <summary>6 is MongoDB 3.6, the first with OP_MSG; 17 is 6.0, 21 is 7.0, 25 is 8.0.</summary>
    public int MaxWireVersion => (int)Math.Clamp(Document.FindInt64("maxWireVersion") ?? 0, int.MinValue, int.MaxValue);

    /// <summary>It has the command bulkWrite.</summary>
    public bool HasBulkWrite => MaxWireVersion >= 25;

    public int MaxMessageSizeBytes => (int)(Document.FindInt64("maxMessageSizeBytes") ?? 48_000_000);

    /// <summary>Documents in one insert command.</summary>
    public int MaxWriteBatchSize => (int)(Document.FindInt64("maxWriteBatchSize") ?? 1000);

    public string? ReplicaSetName => Document.FindString("setName");

    /// <summary>The only sure mark of a mongos.</summary>
    public bool IsMongos => Document.FindString("msg") == "isdbgrid";

    /// <summary>Transactions, causal sessions and change streams are possible; the embedded server is a mongos without them.</summary>
    public bool HasSessions => ReplicaSetName is not null || (IsMongos && Document.FindInt64("logicalSessionTimeoutMinutes") is not null);

    public bool IsWritablePrimary => Document.IsTrue("isWritablePrimary") || Document.IsTrue("ismaster");

    /// <summary>host:port of the primary, when this is a secondary that knows it.</summary>
    public string? Primary => Document.FindString("primary");

    /// <summary>host:port of the members that hold data and are not hidden, as they name each other.</summary>
    public IEnumerable<string> Members => Texts("hosts").Concat(Texts("passives"));

    /// <summary>The tags of a member; of two tags of one name the last counts.</summary>
    public IReadOnlyDictionary<string, string> Tags
    {
        get
        {
            var tags = new Dictionary<string, string>(StringComparer.Ordinal);
            foreach ((string name, BsonValue value) in Document.FindDocument("tags") ?? BsonDocument.Empty)
                tags[name] = value.ToString();
            return tags;
        }
    }

    /// <summary>
    /// When the last write that this member has was done, unix time in milliseconds by the primary's clock; null where it does not say.
    /// </summary>
    public long? LastWriteMilliseconds => Document.FindInt64("lastWrite.lastWriteDate");

    /// <summary>Which of several mongos behind a load balancer answers on this connection; null without one.</summary>
    public string? ServiceId => Document.Find("serviceId") is { Type: BsonType.ObjectId } id ? id.ToString() : null;

    private IEnumerable<string> Texts(string name) =>
        (Document.FindDocument(name) ?? BsonDocument.Empty).Select(item => item.Value.ToString());

    /// <exception cref="WireProtocolException">A limit within which nothing could be done.</exception>
    internal void RequireSensibleLimits(ServerAddress server)
    {
        Require("maxBsonObjectSize", LeastDocumentBytes);
        Require("maxMessageSizeBytes", LeastDocumentBytes);
        Require("maxWriteBatchSize", 1);

        void Require(string name, int least)
        {
            if (Document.FindInt64(name) is { } limit && (limit < least || limit > int.MaxValue))
                throw new WireProtocolException(
                    $"{server}: the server says {name} {limit}; allowed: {least} to {int.MaxValue}. Is it a MongoDB server?");
        }
    }
}
