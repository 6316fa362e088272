using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Execution;

/// <summary>The series' collection through the wire client.</summary>
public sealed class WireCollection : ISeriesCollection
{
    /// <summary>Holds a marker document for each collection that MongoPerf made in the database.</summary>
    public const string MarkerCollection = "mongoperf";

    private const int RepairBatch = 1000;

    private readonly Func<ServerAddress> _address;
    private readonly ConnectionSettings _settings;
    private readonly string _database;
    private readonly string _collection;
    private readonly DocumentGenerator _generator;
    private readonly IClock _clock;
    private readonly TimeSpan _reconnectFor;
    private readonly Action? _beforeReconnect;
    private readonly LongCommands _longCommands = new();
    private readonly ICollectionAdministration _administration;
    private readonly CollectionShape _shape;
    private readonly bool _isSharded;
    private MongoConnection? _connection;

    /// <param name="address">Where the server or router is now; asked at each attempt to connect.</param>
    /// <param name="settings">Time-outs and name.</param>
    /// <param name="database">Its name.</param>
    /// <param name="collection">Its name.</param>
    /// <param name="generator">Makes the documents.</param>
    /// <param name="clock">For waiting between tries.</param>
    /// <param name="reconnectFor">How long a broken connection is tried again.</param>
    /// <param name="beforeReconnect">Called before each attempt after a failed one; a <see cref="ConnectionFailedException"/> makes that attempt fail.</param>
    /// <param name="sharding">How the collection is spread over the shards of a sharded deployment; null for any other, or to leave it on one shard.</param>
    /// <param name="shape">Its indexes and options; null for the series'.</param>
    public WireCollection(
        Func<ServerAddress> address, ConnectionSettings settings, string database, string collection, DocumentGenerator generator, IClock clock, TimeSpan reconnectFor,
        Action? beforeReconnect = null, ShardingPlan? sharding = null, CollectionShape? shape = null)
    {
        _address = address;
        _settings = settings;
        _database = database;
        _collection = collection;
        _generator = generator;
        _clock = clock;
        _reconnectFor = reconnectFor;
        _beforeReconnect = beforeReconnect;
        _administration = sharding is null
            ? new ServerAdministration(database, collection, _longCommands)
            : new ShardedAdministration(sharding, database, collection, generator.Numbers, clock, _longCommands);
        _shape = shape ?? CollectionShape.Series;
        _isSharded = sharding is not null;
    }

    public long LostConnections { get; private set; }

    public CancellationToken Stop
    {
        get => _longCommands.Stop;
        set => _longCommands.Stop = value;
    }

    public CollectionState Inspect() => Retry(connection =>
    {
        bool exists = _administration.Exists(connection);
        BsonDocument? marker = connection.RunCursor(_database, BsonDocument.Of(
            ("find", MarkerCollection), ("filter", BsonDocument.Of(("_id", _collection))), ("limit", 1), ("singleBatch", true))).FirstOrDefault();
        return new CollectionState(exists, marker is null ? null : ReadMarker(marker));
    });

    /// <summary>The database's collections that a run made.</summary>
    /// <param name="runId">As in their markers.</param>
    public IReadOnlyList<string> FindMarked(string runId) => Retry(connection => connection.RunCursor(_database, BsonDocument.Of(
        ("find", MarkerCollection), ("filter", BsonDocument.Of(("program", "mongoperf"), ("run", runId))))).Select(marker => marker.FindString("_id")!).ToArray());

    public void Create(CollectionMarker marker) => Retry(connection =>
    {
        _administration.Prepare(connection);
        // The marker goes before the collection: one that a crash left without it would be refused as somebody else's.
        connection.RunCommand(_database, BsonDocument.Of(
            ("update", MarkerCollection),
            ("updates", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", _collection))), ("u", BsonDocument.Of(("$set", WriteMarker(marker)))), ("upsert", true)) }),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));
        _administration.Create(connection, _shape);
        return true;
    });

    /// <summary>Documents as the server counts them: after a crash its counter may be wrong.</summary>
    public long Count() => Retry(connection => _isSharded
        ? connection.RunCursor(_database, CollectionCommands.CountByScan(_collection)).FirstOrDefault()?.FindInt64("n") ?? 0
        : connection.RunCommand(_database, BsonDocument.Of(("count", _collection))).FindInt64("n") ?? 0);

    /// <summary>Runs a command on the collection's server.</summary>
    public BsonDocument Run(string database, BsonDocument command) => Retry(connection => _longCommands.Run(connection, database, command));

    public void Drop() => Retry(connection =>
    {
        _administration.Drop(connection);
        connection.RunCommand(_database, BsonDocument.Of(
            ("delete", MarkerCollection),
            ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", _collection))), ("limit", 1)) })));
        _administration.TakeBack(connection);
        return true;
    });

    public long FindEnd() => Retry(connection =>
    {
        BsonDocument? last = connection.RunCursor(_database, BsonDocument.Of(
            ("find", _collection),
            ("filter", IdFilter(new NumberRange(0, DocumentNumbers.Limit - 1))),
            ("sort", BsonDocument.Of(("_id", -1))),
            ("projection", BsonDocument.Of(("_id", 1))),
            ("limit", 1),
            ("singleBatch", true))).FirstOrDefault();
        return last?.Find("_id") is { Type: BsonType.ObjectId } id ? _generator.Numbers.NumberOf(id.ToObjectId()) + 1 : 0;
    });

    public IReadOnlyList<NumberRange> FindMissing(NumberRange range) =>
        range.Count == 0 ? [] : Retry(connection => IdScan.FindMissing(connection, _database, _collection, IdFilter(range), _generator.Numbers, range));

    public void Write(NumberRange range)
    {
        for (long first = range.First; first < range.End; first += RepairBatch)
        {
            var block = new NumberRange(first, Math.Min(first + RepairBatch, range.End));
            Retry(connection => WriteBlock(connection, block));
        }
    }

    public PlanSummary? Explain(FindSpecification query) => Retry(connection =>
    {
        FindSpecification typical = query.WithMiddleValues();
        BsonDocument? reply = _longCommands.TryRun(connection, _database, BsonDocument.Of(
            ("explain", typical.ToCommand(_collection)), ("verbosity", "executionStats")));
        return reply is null ? null : PlanReader.Read(reply, query.Limit);
    });

    public ExaminedCounters? ReadExamined() => Retry(_administration.ReadExamined);

    public SizeResult ReadSizes(long documents) => Retry(connection => SizeReader.Read(_administration.ReadStatistics(connection, documents), documents));

    public void Checkpoint(long documents) => Retry(connection =>
    {
        if (_administration.MakeDurable(connection))
        {
            LostConnections++;
            return false;
        }

        connection.RunCommand(_database, BsonDocument.Of(
            ("update", MarkerCollection),
            ("updates", new[]
            {
                BsonDocument.Of(
                    ("q", BsonDocument.Of(("_id", _collection))),
                    ("u", BsonDocument.Of(("$set", BsonDocument.Of(("documents", documents)))))),
            }),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));
        return true;
    });

    public void Dispose() => _connection?.Dispose();

    private BsonDocument IdFilter(NumberRange range) => BsonDocument.Of(
        ("_id", BsonDocument.Of(("$gte", _generator.Numbers.IdOf(range.First)), ("$lt", _generator.Numbers.IdOf(range.End)))));

    private bool WriteBlock(MongoConnection connection, NumberRange block)
    {
        var documents = new List<BsonDocument>();
        for (long number = block.First; number < block.End; number++)
        {
            byte[] bytes = new byte[DocumentGenerator.DocumentLength];
            _generator.Fill(number, bytes);
            documents.Add(new BsonDocument(bytes));
        }

        BsonDocument reply = connection.RunUnchecked(_database, BsonDocument.Of(
            ("insert", _collection), ("documents", documents), ("ordered", false), ("writeConcern", BsonDocument.Of(("w", 1)))));
        if (!reply.IsTrue("ok"))
            throw new ServerCommandException("insert", ServerError.From(reply));
        foreach ((_, BsonValue item) in reply.FindDocument("writeErrors") ?? BsonDocument.Empty)
        {
            // A duplicate key is a document that had arrived after all.
            if (ServerError.From(item.ToDocument()) is { Code: not ServerError.DuplicateKey } error)
                throw new ServerCommandException("insert", error);
        }

        return true;
    }

    private static BsonDocument WriteMarker(CollectionMarker marker) => BsonDocument.Of(
        ("program", "mongoperf"),
        ("schema", marker.SchemaVersion),
        ("seed", unchecked((long)marker.Seed)),
        ("compressibility", marker.Compressibility),
        ("run", marker.RunId),
        ("documents", marker.Documents));

    private static CollectionMarker? ReadMarker(BsonDocument marker) => marker.FindString("program") != "mongoperf" ? null : new(
        unchecked((ulong)(marker.FindInt64("seed") ?? 0)),
        (int)(marker.FindInt64("schema") ?? 0),
        (int)(marker.FindInt64("compressibility") ?? 0),
        marker.FindString("run") ?? "",
        marker.FindInt64("documents") ?? 0);

    /// <summary>A mongod that routes looks up what migrations changed when it is asked to find, on all shards; for explain and aggregate it never does. A mongos does it by itself.</summary>
    private void RefreshRoute(MongoConnection connection) => connection.RunCommand(_database, BsonDocument.Of(
        ("find", _collection), ("filter", BsonDocument.Empty), ("limit", 1), ("singleBatch", true)));

    private T Retry<T>(Func<MongoConnection, T> action)
    {
        var backoff = new Backoff(_clock, 0.05, 2);
        bool failed = false;
        bool isStale = false;
        long? giveUpAt = null;
        while (true)
        {
            try
            {
                if (failed)
                    _beforeReconnect?.Invoke();
                _connection ??= MongoConnection.Open(_address(), _settings);
                if (isStale && _connection.Dialect != CommandDialect.Plain)
                    RefreshRoute(_connection);
                return action(_connection);
            }
            catch (Exception e) when (ErrorTally.IsServerAway(e) || ErrorTally.MayPass(e))
            {
                isStale = ErrorTally.IsStaleRoute(e);
                if (ErrorTally.IsServerAway(e))
                {
                    failed = true;
                    LostConnections++;
                    _connection?.Dispose();
                    _connection = null;
                }

                // Counted from the first failure: what failed may have been at work for long.
                giveUpAt ??= _clock.Now + _clock.TicksOf(_reconnectFor.TotalSeconds);
                if (_clock.Now < giveUpAt)
                    backoff.Wait(() => Stop.IsCancellationRequested);
                else
                    throw;
                if (Stop.IsCancellationRequested)
                    throw;
            }
        }
    }
}

/// <summary>The three indexes beside _id_; they are there before the first insert, as in the original test.</summary>
internal static class SeriesIndexes
{
    public static BsonDocument[] Specifications { get; } = [Of("Number", 1), Of("Number1", 1), Of("Date", -1)];

    private static BsonDocument Of(string field, int direction) =>
        BsonDocument.Of(("key", BsonDocument.Of((field, direction))), ("name", $"{field}_{direction}"));
}
