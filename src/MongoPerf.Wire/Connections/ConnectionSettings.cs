using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Compression;

namespace MongoPerf.Wire.Connections;

/// <summary>
/// How a connection is opened, how long it waits, and what its operations ask for when they don't say so themselves. Prints no secret.
/// </summary>
public sealed record ConnectionSettings
{
    /// <summary>The time for DNS, TCP connect, TLS and handshake together; zero waits for ever.</summary>
    public TimeSpan ConnectTimeout { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The time for a reply to begin; the rest of it has as long once more. Drivers wait for ever by default; a load tester that does would
    /// mistake a dead peer for a slow one. Zero waits for ever.
    /// </summary>
    public TimeSpan ReplyTimeout { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Breaks every connection that was opened with it, and ends the opening of one.</summary>
    public CancellationToken Stop { get; init; }

    /// <summary>Shows in the server's log and in currentOp.</summary>
    public string ApplicationName { get; init; } = "mongoperf";

    /// <summary>First size of the receive buffer, bytes; it grows with the replies and stays grown.</summary>
    public int ReceiveBufferBytes { get; init; } = 4 * 1024;

    /// <summary>How commands are named there. Messages that are prepared once are translated by who prepares them.</summary>
    public CommandDialect Dialect { get; init; } = CommandDialect.Plain;

    /// <summary>Who to log in as; null does not log in.</summary>
    public MongoCredential? Credential { get; init; }

    /// <summary>Who to log in as at the shards of a cluster, which have users of their own; null for <see cref="Credential"/>.</summary>
    public MongoCredential? ShardCredential { get; init; }

    /// <summary>Null for plain connections.</summary>
    public TlsSettings? Tls { get; init; }

    /// <summary>Offered to the server in this order; only those that work on this machine.</summary>
    public IReadOnlyList<string> CompressorNames { get; init; } = [];

    /// <summary>-1 (zlib's own default) to 9.</summary>
    public int ZlibLevel { get; init; } = -1;

    /// <summary>A server of another replica set, or of none, is refused; null takes any.</summary>
    public string? RequiredSetName { get; init; }

    /// <summary>
    /// Exactly the server that was named is meant: its primary is never looked for, and it may be read from when it is a secondary.
    /// </summary>
    public bool IsDirect { get; init; }

    /// <summary>
    /// The write concern for writes that name no concern of their own: <c>w</c>, <c>j</c>, <c>wtimeout</c>; null leaves them as they are.
    /// </summary>
    public BsonDocument? WriteConcern { get; init; }

    /// <summary>
    /// The read concern level for reads that name no level of their own, such as <c>majority</c>; null leaves them as they are.
    /// </summary>
    public string? ReadConcernLevel { get; init; }

    /// <summary>The version of the API that every command names; null for none.</summary>
    public ServerApi? ServerApi { get; init; }

    /// <summary>The read preference for reads that name none of their own.</summary>
    public ReadPreference ReadPreference { get; init; } = ReadPreference.Primary;

    /// <summary>A load balancer stands before several mongos: each connection leads to one of them, and stays with it.</summary>
    public bool IsLoadBalanced { get; init; }

    /// <summary>How much longer than to the nearest server a round trip may take to another one that is used as well.</summary>
    public TimeSpan LocalThreshold { get; init; } = TimeSpan.FromMilliseconds(15);

    /// <summary>What is known of the servers is looked up again, when connections are opened, once it is older than this.</summary>
    public TimeSpan HeartbeatFrequency { get; init; } = TimeSpan.FromSeconds(10);

    public static ConnectionSettings Default { get; } = new();

    /// <summary>What a connection string asks for. Reads the certificates' files; asks no server.</summary>
    /// <exception cref="ConnectionStringException">What it asks for can't be done, or a file can't be used. One line.</exception>
    public static ConnectionSettings From(ConnectionString uri)
    {
        uri.RequireSupport();
        return new ConnectionSettings
        {
            ConnectTimeout = uri.ConnectTimeout,
            ReplyTimeout = uri.SocketTimeout > TimeSpan.Zero ? uri.SocketTimeout : Default.ReplyTimeout,
            ApplicationName = uri.AppName ?? Default.ApplicationName,
            Credential = uri.Credential,
            Tls = uri.Tls ? TlsSettings.Load(uri) : null,
            CompressorNames = uri.Compressors,
            ZlibLevel = uri.ZlibCompressionLevel,
            RequiredSetName = uri.ReplicaSet,
            IsDirect = uri.DirectConnection ?? false,
            WriteConcern = uri.WriteConcern,
            ReadConcernLevel = uri.ReadConcernLevel,
            ServerApi = uri.ServerApi,
            ReadPreference = PreferenceOf(uri),
            IsLoadBalanced = uri.LoadBalanced,
            LocalThreshold = uri.LocalThreshold,
            HeartbeatFrequency = uri.HeartbeatFrequency,
        };
    }

    /// <summary>The same for a shard that is asked past its router.</summary>
    public ConnectionSettings ForShard() =>
        this with { Dialect = CommandDialect.Plain, IsLoadBalanced = false, Credential = ShardCredential ?? Credential };

    /// <summary>The same for a member that is asked for no more than what it is, which takes no login.</summary>
    public ConnectionSettings ForHello() => this with { Dialect = CommandDialect.Plain, IsLoadBalanced = false, Credential = null };

    /// <summary>
    /// The same for a peer that need not be reachable: opening a connection takes at most <paramref name="limit"/>, also where it may
    /// otherwise wait for ever.
    /// </summary>
    public ConnectionSettings ConnectingWithin(TimeSpan limit) =>
        ConnectTimeout > TimeSpan.Zero && ConnectTimeout < limit ? this : this with { ConnectTimeout = limit };

    private static ReadPreference PreferenceOf(ConnectionString uri) => ReadPreference.Of(uri.ReadPreference ?? "primary") with
    {
        TagSets = uri.ReadPreferenceTags,
        MaxStalenessSeconds = uri.MaxStalenessSeconds,
    };
}
