using MongoPerf.Load.Failures;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Collections;

/// <summary>A collection of one server or replica set, or one that a mongos keeps on a single shard.</summary>
/// <remarks>
/// After a crash a mongod's count and data size are those of its last checkpoint or less, and stay wrong until validate sets them right
/// (tried with 6.0.5). It locks the collection and reads all of it, so it is run once per crash, where counts or sizes are needed.
/// </remarks>
internal sealed class ServerAdministration(
    CollectionAccess access, string collection, LongCommands longCommands) : ICollectionAdministration
{
    private readonly string _database = access.Database;
    private object? _process;
    private bool _mayBeWrong;
    private bool _wasValidated;
    private bool _saidNoSizes;

    public bool Exists(MongoConnection connection)
    {
        NoteProcess(connection);
        return CollectionCommands.IsListed(connection, _database, collection);
    }

    public void Prepare(MongoConnection connection)
    {
    }

    public void Create(MongoConnection connection, CollectionShape shape, Action made)
    {
        NoteProcess(connection);
        // createIndexes makes the collection by the way; without indexes or with options it must be made by itself.
        if (shape.Indexes.Count == 0 || shape.Options is not null)
            CollectionCommands.Create(connection, _database, collection, shape.Options);
        if (shape.Indexes.Count > 0)
            connection.RunLongCommand(_database, CollectionCommands.CreateIndexes(collection, shape.Indexes));
        made();
    }

    public void Drop(MongoConnection connection) => CollectionCommands.Drop(connection, _database, BsonDocument.Of(("drop", collection)));

    public long Count(MongoConnection connection)
    {
        NoteProcess(connection);
        if (_mayBeWrong && !access.ReadsOnly)
            Validate(connection);
        return connection.RunCommand(_database, BsonDocument.Of(("count", collection))).FindInt64("n") ?? 0;
    }

    /// <remarks>A mongod that routes knows no hints.</remarks>
    public long CountIds(MongoConnection connection) => connection.Dialect != CommandDialect.Plain ? Count(connection)
        : longCommands.Run(connection, _database, CollectionCommands.CountIds(collection)).FindInt64("n") ?? 0;

    public void TakeBack(MongoConnection connection)
    {
        if (!CollectionCommands.IsListed(connection, _database, WireCollection.MarkerCollection)
            || !CollectionCommands.IsEmpty(connection, _database, WireCollection.MarkerCollection))
            return;
        CollectionCommands.Drop(connection, _database, BsonDocument.Of(("drop", WireCollection.MarkerCollection)));
        // A time series that is gone leaves this behind, which keeps its database. Who may not drop it leaves it. Never the database
        // itself: it may be somebody else's, who is just filling it.
        if (CollectionCommands.IsListed(connection, _database, CollectionCommands.Views)
            && CollectionCommands.IsBare(connection, _database))
            connection.RunUnchecked(_database, BsonDocument.Of(("drop", CollectionCommands.Views)));
    }

    public SizeResult? ReadSizes(MongoConnection connection, long documents)
    {
        // File sizes are what checkpoints have written; fsync takes one, so that sizes and documents belong together. It takes as long as
        // what is in the cache takes to write.
        bool isFlushed = !access.ReadsOnly && longCommands.TryRun(connection, "admin", CollectionCommands.Flush) is not null;
        if (ReadStatistics(connection, documents) is { } statistics)
            return SizeReader.Read(statistics, documents) with { AreOfCheckpoint = !isFlushed };
        if (!_saidNoSizes)
            access.Notify($"no sizes of {_database}.{collection}: the server does not tell them, or not to this user "
                + $"(collStats needs role read on {_database})");
        _saidNoSizes = true;
        return null;
    }

    public bool IsEmptySharded(MongoConnection connection) => connection.Server.IsMongos
        && connection.RunUnchecked(_database, BsonDocument.Of(("collStats", collection))).IsTrue("sharded")
        && CollectionCommands.IsEmpty(connection, _database, collection);

    /// <returns>Null where they are not told.</returns>
    private BsonDocument? ReadStatistics(MongoConnection connection, long documents)
    {
        NoteProcess(connection);
        if (Ask(connection) is not { } statistics)
            return null;
        // A crash that nobody here has seen shows in the count: one before a run was resumed, or before it began.
        bool isOff = statistics.FindInt64("count") is { } count && count != documents;
        if (access.ReadsOnly || (!_mayBeWrong && (_wasValidated || !isOff)))
            return statistics;
        bool isValid = Validate(connection);
        if (Ask(connection) is not { } corrected)
            return null;
        Notify(statistics, corrected, isValid, documents);
        return corrected;
    }

    public ExaminedCounters? ReadExamined(MongoConnection connection, ReadPreference preference)
    {
        if (preference.IsPrimary)
            return CollectionCommands.ReadExamined(connection);
        var all = new List<ExaminedCounters>();
        foreach (ServerAddress member in access.Members())
        {
            if (CollectionCommands.TryReadExamined(member, access.Connections) is not { } counters)
                return null;
            all.Add(counters);
        }

        return all.Count == 0 ? null : ExaminedCounters.Sum(all);
    }

    /// <summary>
    /// The marker lies on the same server: its j:true write takes the journal with it, and a lost connection tells of a restart.
    /// </summary>
    public Durability MakeDurable(MongoConnection connection)
    {
        NoteProcess(connection);
        return Durability.Journaled;
    }

    public void ForgetProcess() => _process = null;

    private BsonDocument? Ask(MongoConnection connection) =>
        longCommands.TryRun(connection, _database, BsonDocument.Of(("collStats", collection)));

    /// <summary>
    /// Another process than before: it was started again, or another member is primary now, and its counters may be wrong.
    /// </summary>
    private void NoteProcess(MongoConnection connection)
    {
        // Before 4.4 a server does not tell: a new connection may lead to a new process.
        object process = CollectionCommands.ProcessOf(connection) ?? (object)connection;
        _mayBeWrong |= _process is not null && !_process.Equals(process);
        _process = process;
    }

    /// <returns>False when the server does not let this client, or finds the collection damaged.</returns>
    private bool Validate(MongoConnection connection)
    {
        bool isValid = longCommands.TryRun(connection, _database, CollectionCommands.Validate(collection)) is { } reply
            && reply.IsTrue("valid");
        (_mayBeWrong, _wasValidated) = (false, true);
        return isValid;
    }

    private void Notify(BsonDocument before, BsonDocument after, bool isValid, long documents)
    {
        string found = $"collStats of {_database}.{collection} had {before.FindInt64("count") ?? 0:N0} documents and "
            + $"{before.FindInt64("size") ?? 0:N0} bytes";
        if (before.FindInt64("count") != after.FindInt64("count") || before.FindInt64("size") != after.FindInt64("size"))
            access.Notify($"{found} after a crash; validate corrected that to {after.FindInt64("count") ?? 0:N0} and "
                + $"{after.FindInt64("size") ?? 0:N0}");
        else if (!isValid && before.FindInt64("count") != documents)
            access.Notify($"{found}, but {documents:N0} documents are stored: validate, which corrects that after a crash, "
                + "was refused or failed, so the data size may be wrong");
    }
}

/// <summary>Commands that one server and a sharded deployment have in common.</summary>
internal static class CollectionCommands
{
    /// <summary>Where a database keeps its views, and time series among them.</summary>
    public const string Views = "system.views";

    public static BsonDocument Flush { get; } = BsonDocument.Of(("fsync", 1));

    public static BsonDocument CreateIndexes(string collection, IReadOnlyList<BsonDocument> indexes) =>
        BsonDocument.Of(("createIndexes", collection), ("indexes", indexes));

    /// <summary>Counts through any router; reads the whole _id index.</summary>
    public static BsonDocument CountByScan(string collection) => BsonDocument.Of(
        ("aggregate", collection),
        ("pipeline", new[] { BsonDocument.Of(("$group", BsonDocument.Of(("_id", null), ("n", BsonDocument.Of(("$sum", 1)))))) }),
        ("cursor", BsonDocument.Empty));

    /// <summary>A collection that is there already is none the worse.</summary>
    public static void Create(MongoConnection connection, string database, string collection, BsonDocument? options)
    {
        BsonDocument reply = connection.RunUnchecked(
            database, BsonDocument.Of([("create", collection), .. (options ?? BsonDocument.Empty).Select(o => (o.Key, (object?)o.Value))]));
        if (!reply.IsTrue("ok") && ServerError.From(reply) is { Code: not ServerError.NamespaceExists } error)
            throw new ServerCommandException("create", error);
    }

    /// <param name="connection">Knows the collections itself: a server, a mongos, or the database's primary shard.</param>
    /// <param name="database">Its name.</param>
    /// <param name="collection">Its name.</param>
    public static bool IsListed(MongoConnection connection, string database, string collection)
    {
        (string, object?)[] list =
        [
            ("listCollections", 1), ("filter", BsonDocument.Of(("name", collection))), ("nameOnly", true), ("cursor", BsonDocument.Empty),
        ];
        try
        {
            return IsNamed(BsonDocument.Of(list));
        }
        catch (ServerCommandException e) when (e.Error.MeansForbidden)
        {
            // Who has rights on single collections may list those (4.0 and later).
            return IsNamed(BsonDocument.Of([.. list, ("authorizedCollections", true)]));
        }

        bool IsNamed(BsonDocument command) => connection.RunCursor(database, command).Any(c => c.FindString("name") == collection);
    }

    /// <summary>
    /// A database that holds nothing, or only the markers and what time series leave behind: system.views, without a view.
    /// </summary>
    public static bool IsBare(MongoConnection connection, string database) => connection.RunCursor(database, BsonDocument.Of(
        ("listCollections", 1), ("nameOnly", true), ("cursor", BsonDocument.Empty))).All(one => one.FindString("name") switch
        {
            WireCollection.MarkerCollection => true,
            Views => IsEmpty(connection, database, Views),
            _ => false,
        });

    public static bool IsEmpty(MongoConnection connection, string database, string collection) =>
        !connection.RunCursor(database, BsonDocument.Of(("find", collection), ("limit", 1), ("singleBatch", true))).Any();

    /// <summary>Takes every document out; the collection, its shard key and its chunks stay.</summary>
    public static BsonDocument DeleteAll(string collection) => BsonDocument.Of(
        ("delete", collection), ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Empty), ("limit", 0)) }));

    /// <summary>A collection that is not there is none the worse.</summary>
    public static void Drop(MongoConnection connection, string database, BsonDocument command)
    {
        BsonDocument reply = connection.RunUnchecked(database, command);
        if (!reply.IsTrue("ok") && ServerError.From(reply) is { Code: not ServerError.NamespaceNotFound } error)
            throw new ServerCommandException("drop", error);
    }

    /// <summary>Corrects count and data size.</summary>
    public static BsonDocument Validate(string collection) => BsonDocument.Of(("validate", collection), ("full", false));

    /// <summary>Counts in the _id index, of which no crash makes a wrong counter.</summary>
    public static BsonDocument CountIds(string collection) => BsonDocument.Of(
        ("count", collection),
        ("query", BsonDocument.Of(("_id", BsonDocument.Of(("$gte", new BsonValue(BsonType.MinKey, ReadOnlyMemory<byte>.Empty)))))),
        ("hint", BsonDocument.Of(("_id", 1))));

    /// <summary>What no other process of a server has; null before 4.4, where it does not tell.</summary>
    public static string? ProcessOf(MongoConnection connection) => connection.Server.Document.Find("topologyVersion.processId")?.ToString();

    /// <summary>Null also for a server that can't be reached just now.</summary>
    public static ExaminedCounters? TryReadExamined(ServerAddress server, ConnectionSettings settings)
    {
        try
        {
            using MongoConnection open = MongoConnection.Open(server, settings);
            return ReadExamined(open);
        }
        catch (Exception e) when (ErrorTally.IsServerAway(e))
        {
            return null;
        }
    }

    public static ExaminedCounters? ReadExamined(MongoConnection connection)
    {
        BsonDocument status = connection.RunUnchecked(
            "admin", BsonDocument.Of(("serverStatus", 1), ("wiredTiger", 0), ("tcmalloc", 0), ("locks", 0)));
        return status.FindInt64("metrics.queryExecutor.scanned") is { } keys
            && status.FindInt64("metrics.queryExecutor.scannedObjects") is { } documents
            ? new ExaminedCounters(keys, documents, ProcessOf(connection) ?? connection.Address.ToString())
            : null;
    }
}
