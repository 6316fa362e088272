using MongoPerf.Engine.Documents;
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
    private readonly IReadOnlyList<BsonDocument> _indexes;
    private readonly BsonDocument? _options;
    private MongoConnection? _connection;

    /// <param name="address">Where the server or router is now; asked at each attempt to connect.</param>
    /// <param name="settings">Time-outs and name.</param>
    /// <param name="database">Its name.</param>
    /// <param name="collection">Its name.</param>
    /// <param name="generator">Makes the documents.</param>
    /// <param name="clock">For waiting between tries.</param>
    /// <param name="reconnectFor">How long a broken connection is tried again.</param>
    /// <param name="beforeReconnect">Called before each attempt after a failed one; a <see cref="ConnectionFailedException"/> makes that attempt fail.</param>
    /// <param name="indexes">Beside <c>_id_</c>, as createIndexes takes them; null for the series'.</param>
    /// <param name="options">Of the command create; null for none.</param>
    public WireCollection(
        Func<ServerAddress> address, ConnectionSettings settings, string database, string collection, DocumentGenerator generator, IClock clock, TimeSpan reconnectFor,
        Action? beforeReconnect = null, IReadOnlyList<BsonDocument>? indexes = null, BsonDocument? options = null)
    {
        _address = address;
        _settings = settings;
        _database = database;
        _collection = collection;
        _generator = generator;
        _clock = clock;
        _reconnectFor = reconnectFor;
        _beforeReconnect = beforeReconnect;
        _indexes = indexes ?? SeriesIndexes.Specifications;
        _options = options;
    }

    public long LostConnections { get; private set; }

    public CancellationToken Stop { get; set; }

    public CollectionState Inspect() => Retry(connection =>
    {
        BsonDocument list = BsonDocument.Of(
            ("listCollections", 1), ("filter", BsonDocument.Of(("name", _collection))), ("nameOnly", true), ("cursor", BsonDocument.Empty));
        bool exists = connection.RunCursor(_database, list).Any(c => c.FindString("name") == _collection);
        BsonDocument? marker = connection.RunCursor(_database, BsonDocument.Of(
            ("find", MarkerCollection), ("filter", BsonDocument.Of(("_id", _collection))), ("limit", 1), ("singleBatch", true))).FirstOrDefault();
        return new CollectionState(exists, marker is null ? null : ReadMarker(marker));
    });

    public void Create(CollectionMarker marker) => Retry(connection =>
    {
        // The marker goes first: a collection that a crash left without one would be refused as somebody else's.
        connection.RunCommand(_database, BsonDocument.Of(
            ("update", MarkerCollection),
            ("updates", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", _collection))), ("u", BsonDocument.Of(("$set", WriteMarker(marker)))), ("upsert", true)) }),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));
        if (_indexes.Count == 0 || _options is not null)
            CreateEmpty(connection);
        if (_indexes.Count > 0)
            connection.RunLongCommand(_database, BsonDocument.Of(("createIndexes", _collection), ("indexes", _indexes)));
        return true;
    });

    /// <summary>Documents as the server counts them: after a crash its counter may be wrong.</summary>
    public long Count() => Retry(connection => connection.RunCommand(_database, BsonDocument.Of(("count", _collection))).FindInt64("n") ?? 0);

    /// <summary>Runs a command on the collection's server.</summary>
    public BsonDocument Run(string database, BsonDocument command) => Retry(connection => RunLong(connection, database, command));

    public void Drop() => Retry(connection =>
    {
        BsonDocument reply = connection.RunUnchecked(_database, BsonDocument.Of(("drop", _collection)));
        if (!reply.IsTrue("ok") && ServerError.From(reply) is { Code: not ServerError.NamespaceNotFound } error)
            throw new ServerCommandException("drop", error);
        connection.RunCommand(_database, BsonDocument.Of(
            ("delete", MarkerCollection),
            ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", _collection))), ("limit", 1)) })));
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
        BsonDocument? reply = TryRunLong(connection, _database, BsonDocument.Of(
            ("explain", typical.ToCommand(_collection)), ("verbosity", "executionStats")));
        return reply is null ? null : PlanReader.Read(reply);
    });

    public ExaminedCounters? ReadExamined() => Retry<ExaminedCounters?>(connection =>
    {
        BsonDocument status = connection.RunUnchecked("admin", BsonDocument.Of(("serverStatus", 1), ("wiredTiger", 0), ("tcmalloc", 0), ("locks", 0)));
        return status.FindInt64("metrics.queryExecutor.scanned") is { } keys && status.FindInt64("metrics.queryExecutor.scannedObjects") is { } documents
            ? new ExaminedCounters(keys, documents)
            : null;
    });

    public SizeResult ReadSizes(long documents) => Retry(connection =>
    {
        // File sizes are what checkpoints have written; fsync takes one, so that sizes and documents belong together. It takes as long as
        // what is in the cache takes to write.
        TryRunLong(connection, "admin", BsonDocument.Of(("fsync", 1)));
        return SizeReader.Read(RunLong(connection, _database, BsonDocument.Of(("collStats", _collection))), documents);
    });

    public void Checkpoint(long documents) => Retry(connection => connection.RunCommand(_database, BsonDocument.Of(
        ("update", MarkerCollection),
        ("updates", new[]
        {
            BsonDocument.Of(
                ("q", BsonDocument.Of(("_id", _collection))),
                ("u", BsonDocument.Of(("$set", BsonDocument.Of(("documents", documents)))))),
        }),
        ("writeConcern", BsonDocument.Of(("w", 1), ("j", true))))));

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

    private void CreateEmpty(MongoConnection connection)
    {
        BsonDocument reply = connection.RunUnchecked(_database, BsonDocument.Of([("create", _collection), .. (_options ?? BsonDocument.Empty).Select(o => (o.Key, (object?)o.Value))]));
        if (!reply.IsTrue("ok") && ServerError.From(reply) is { Code: not ServerError.NamespaceExists } error)
            throw new ServerCommandException("create", error);
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

    /// <summary>A command without a time-out; <see cref="Stop"/> ends it.</summary>
    private BsonDocument RunLong(MongoConnection connection, string database, BsonDocument command)
    {
        using (Stop.Register(connection.Abort))
            return connection.RunLongCommand(database, command);
    }

    /// <returns>Null when the server does not do that: not every one has the command, or lets this client run it.</returns>
    private BsonDocument? TryRunLong(MongoConnection connection, string database, BsonDocument command)
    {
        try
        {
            return RunLong(connection, database, command);
        }
        catch (ServerCommandException e) when (!ErrorTally.IsServerAway(e))
        {
            return null;
        }
    }

    private T Retry<T>(Func<MongoConnection, T> action)
    {
        var backoff = new Backoff(_clock, 0.05, 2);
        bool failed = false;
        long? giveUpAt = null;
        while (true)
        {
            try
            {
                if (failed)
                    _beforeReconnect?.Invoke();
                _connection ??= MongoConnection.Open(_address(), _settings);
                return action(_connection);
            }
            catch (Exception e) when (ErrorTally.IsServerAway(e))
            {
                failed = true;
                LostConnections++;
                _connection?.Dispose();
                _connection = null;
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
