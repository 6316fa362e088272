using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Reads <see cref="MetricCatalogue.Server"/> from one server's serverStatus, over a connection of its own.</summary>
/// <remarks>
/// One thread, which waits while the server answers (at most 10 s): give it one of its own. Never throws: while the server is away all
/// columns are NaN, and it is tried again after 0.25 s, then twice as long each time up to 5 s.
/// </remarks>
/// <param name="address">Asked before each attempt to connect: a server that was started again may listen elsewhere.</param>
/// <param name="settings">As the run's connections have them; its time limits are replaced.</param>
internal sealed class ServerSampler(Func<ServerAddress> address, ConnectionSettings settings) : IServerSampler
{
    private const int FirstPauseMilliseconds = 250;
    private const int LongestPauseMilliseconds = 5000;

    // Sections that no column needs (0 switches one off; names a server does not know are ignored). metrics and wiredTiger are needed.
    private static readonly string[] Unwanted =
    [
        "tcmalloc", "locks", "flowControl", "transactions", "security", "transportSecurity", "twoPhaseCommitCoordinator", "electionMetrics",
        "featureCompatibilityVersion", "readConcernCounters", "readPreferenceCounters", "scramCache", "shardSplits", "tenantMigrations",
        "trafficRecording", "logicalSessionRecordCache", "indexBulkBuilder", "indexStats", "catalogStats", "Instance Information",
        "opcountersRepl", "queryAnalyzers", "changeStreamPreImages", "batchedDeletes", "storageEngine", "mirroredReads",
        "defaultRWConcern", "activeIndexBuilds", "asserts", "repl", "sharding", "shardingStatistics", "freeMonitoring", "oplog",
    ];

    private static readonly byte[] Request = WriteRequest();

    private readonly ConnectionSettings _settings = settings with
    {
        ConnectTimeout = TimeSpan.FromSeconds(3),
        ReplyTimeout = TimeSpan.FromSeconds(10),
        ApplicationName = settings.ApplicationName + " sampler",
    };

    private MongoConnection? _connection;
    private string _member = "";
    private int _pause;
    private long _nextAttempt;

    /// <summary>True when the last sample came from the server.</summary>
    public bool IsConnected => _connection is not null;

    public MetricSample Sample()
    {
        var values = new double[MetricCatalogue.Server.Count];
        Array.Fill(values, double.NaN);
        try
        {
            if (Connect() is { } connection)
                StatusTree.Catalogue.Fill(OpMsg.Parse(connection.RoundTrip(Request)).Body, values);
        }
        catch (Exception e) when (e is IOException or BsonFormatException or ServerCommandException or ServerTooOldException)
        {
            Disconnect();
        }

        return new MetricSample(DateTimeOffset.UtcNow.ToUnixTimeMilliseconds(), _member, values);
    }

    public void Dispose() => _connection?.Dispose();

    private MongoConnection? Connect()
    {
        if (_connection is not null || Environment.TickCount64 < _nextAttempt)
            return _connection;
        ServerAddress server = address();
        _member = server.ToString();
        _connection = MongoConnection.Open(server, _settings);
        _pause = 0;
        return _connection;
    }

    private void Disconnect()
    {
        _connection?.Dispose();
        _connection = null;
        _pause = _pause == 0 ? FirstPauseMilliseconds : Math.Min(2 * _pause, LongestPauseMilliseconds);
        _nextAttempt = Environment.TickCount64 + _pause;
    }

    private static byte[] WriteRequest()
    {
        var elements = new (string Name, object? Value)[Unwanted.Length + 1];
        elements[0] = ("serverStatus", 1);
        for (int i = 0; i < Unwanted.Length; i++)
            elements[i + 1] = (Unwanted[i], 0);
        return new OpMsgWriter().WriteCommand("admin", BsonDocument.Of(elements), requestId: 1).ToArray();
    }
}
