using MongoPerf.Load.Documents;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Collections;

/// <summary>One collection through the wire client, with its marker.</summary>
/// <remarks>One thread. While the server is away each call is tried again.</remarks>
public sealed class WireCollection : IDisposable
{
    /// <summary>Holds a marker document for each collection that MongoPerf made in the database.</summary>
    public const string MarkerCollection = "mongoperf";

    /// <summary>The program of the markers of a coordinator's collections: to a run they are somebody else's.</summary>
    public const string CoordinatorProgram = "mongoperf coordinator";

    /// <summary>In a marker: the collection was there before, so it is emptied and never dropped.</summary>
    public const string Adopted = "adopted";

    /// <summary>
    /// In a marker: the collection was not there yet. What is there nevertheless, sharded or with documents, somebody else has made: ours
    /// is noted as made before it is sharded or filled.
    /// </summary>
    public const string Pending = "pending";

    private const int WriteConcernFailed = 64;
    private const int MajorityMilliseconds = 30_000;

    /// <summary>An operation that takes longer is slow enough to be seen without its plan.</summary>
    private const int LongestExplainMilliseconds = 60_000;
    private const int RepairBatch = 1000;

    /// <summary>Characters of a document that is shown.</summary>
    private const int MostShown = 500;

    /// <summary>The most ranges in a marker; all of them take 3.5 MB.</summary>
    private const int MostRefused = 100_000;
    private const int RepairBytes = 8 * 1024 * 1024;

    private readonly CollectionAccess _access;
    private readonly string _collection;
    private readonly DocumentTemplate? _documents;
    private readonly LongCommands _longCommands = new();
    private readonly ICollectionAdministration _administration;
    private readonly CollectionShape _shape;
    private MongoConnection? _connection;

    private bool _isAdopted;
    private volatile bool _explainsNothing;

    /// <summary>All below were read back at a checkpoint; null before the first that needed it.</summary>
    private long? _readBack;

    /// <param name="access">The way to the server or router.</param>
    /// <param name="collection">Its name.</param>
    /// <param name="documents">Makes the documents; null for those of GridFS.</param>
    /// <param name="shape">Its indexes and options.</param>
    /// <param name="administer">How it is made, measured and dropped; null for what one server does by itself.</param>
    public WireCollection(
        CollectionAccess access, string collection, DocumentTemplate? documents, CollectionShape shape,
        Func<LongCommands, ICollectionAdministration>? administer = null)
    {
        _access = access;
        _collection = collection;
        _documents = documents;
        _shape = shape;
        _administration = administer?.Invoke(_longCommands) ?? new ServerAdministration(access, collection, _longCommands);
    }

    public long LostConnections { get; private set; }

    /// <summary>How long an answer to explain is waited for; a server that gives none is asked no more.</summary>
    internal TimeSpan ExplainPatience { get; init; } = TimeSpan.FromMilliseconds(2 * LongestExplainMilliseconds);

    public CancellationToken Stop
    {
        get => _longCommands.Stop;
        set => _longCommands.Stop = value;
    }

    public CollectionState Inspect() => Retry(connection =>
    {
        bool exists = _administration.Exists(connection);
        BsonDocument? marker = FindVisibleMarker(connection);
        CollectionMarker? read = marker is null ? null : ReadMarker(marker);
        bool isOpen = exists && (read is null || marker!.IsTrue(Pending));
        bool isEmptySharded = isOpen && _administration.IsEmptySharded(connection);
        _isAdopted = isEmptySharded || (exists && marker?.IsTrue(Adopted) is true);
        if (isOpen && !isEmptySharded && !CollectionCommands.IsEmpty(connection, _access.Database, _collection))
            read = null;
        return new CollectionState(exists, read) { IsEmptySharded = isEmptySharded };
    });

    /// <inheritdoc cref="IDataStore.Claim"/>
    /// <remarks>Where there is no marker yet, <see cref="Create"/> does it.</remarks>
    public void Claim() => Retry(connection =>
    {
        if (_access.Leases is { } leases && FindMarker(connection) is { } marker
            && (marker.Find("writer") is not null || ReadMarker(marker) is not null))
            leases.Take(connection, _collection);
        return true;
    });

    /// <summary>The database's collections that a run made.</summary>
    /// <param name="runId">The id of the run, as in their markers.</param>
    /// <param name="token">The run's: ids begin anew with each folder of runs, and another user's run may have the same.</param>
    public IReadOnlyList<string> FindMarked(string runId, string? token) =>
        Retry(connection => connection.RunCursor(_access.Database, BsonDocument.Of(
            ("find", MarkerCollection), ("filter", BsonDocument.Of(("program", "mongoperf"), ("run", runId)))))
            .Where(marker => marker.FindString("token") is not { } other || other == token)
            .Select(marker => marker.FindString("_id")!).ToArray());

    /// <summary>Whether markers are left in the database, or the note of a cluster's settings.</summary>
    public bool HasMarkers() =>
        Retry(connection => connection.RunCursor(_access.Database, BsonDocument.Of(("find", MarkerCollection), ("limit", 1))).Any());

    /// <remarks>What is refused leaves nothing behind, neither the collection nor its marker, unless it was there before.</remarks>
    public void Create(CollectionMarker marker)
    {
        // As the first attempt finds it: a second one may find what that has made.
        bool? wasThere = null, wasMarked = null;
        Retry(connection =>
        {
            wasThere ??= _administration.Exists(connection);
            wasMarked ??= FindMarker(connection) is { } before && ReadMarker(before) is not null;
            Make(connection, marker, wasThere.Value, wasMarked.Value);
            return true;
        });
    }

    private void Make(MongoConnection connection, CollectionMarker marker, bool wasThere, bool wasMarked)
    {
        _administration.Prepare(connection);
        _access.Leases?.Take(connection, _collection);
        // The marker goes before the collection: one that a crash left without it would be refused as somebody else's.
        UpdateMarker(connection, ("$set", WriteMarker(marker, _isAdopted, isPending: !wasThere)),
            wasThere ? [("$unset", BsonDocument.Of((Pending, "")))] : []);
        try
        {
            _administration.Create(connection, _shape, () =>
            {
                if (!wasThere)
                    UpdateMarker(connection, ("$unset", BsonDocument.Of((Pending, ""))));
            });
        }
        catch (Exception e) when (!wasMarked && e is not (IOException or OperationCanceledException)
            && !ErrorTally.IsServerAway(e) && !ErrorTally.MayPass(e))
        {
            // Ours is empty yet. What holds documents, another program has made and filled meanwhile.
            if (!wasThere && CollectionCommands.IsEmpty(connection, _access.Database, _collection))
                _administration.Drop(connection);
            Forget(connection);
            throw;
        }
    }

    /// <summary>Takes the marker of a collection away that is not ours.</summary>
    public void Forget() => Retry(connection =>
    {
        Forget(connection);
        return true;
    });

    /// <summary>Takes back what was prepared in the database for collections, if no run's marker is left in it.</summary>
    public void TakeBack() => Retry(connection =>
    {
        _administration.TakeBack(connection);
        return true;
    });

    /// <summary>Documents as the server counts them: after a crash its counter may be wrong.</summary>
    public long Count() => Retry(_administration.Count);

    /// <inheritdoc cref="IDataStore.CountAtLeast"/>
    public long CountAtLeast(long expected) => Retry(connection =>
    {
        long counted = _administration.Count(connection);
        return counted >= expected || _shape.IsTimeSeries ? counted : _administration.CountIds(connection);
    });

    /// <summary>Runs a command on the collection's server.</summary>
    public BsonDocument Run(string database, BsonDocument command) => Retry(connection => _longCommands.Run(connection, database, command));

    /// <returns>False for one that was there before its first run, which is emptied instead.</returns>
    public bool Drop() => Retry(connection =>
    {
        BsonDocument? marker = FindMarker(connection);
        // Kept for the next attempt, which finds no marker where this one deletes it and fails behind that.
        _isAdopted = _isAdopted || marker?.IsTrue(Adopted) is true;
        if (_isAdopted)
            _longCommands.Run(connection, _access.Database, CollectionCommands.DeleteAll(_collection));
        else
            _administration.Drop(connection);
        // A router makes the database of whatever it is to delete from, and then nobody knows whose it is.
        if (marker is not null)
            connection.RunCommand(_access.Database, _access.Leases?.ForgetCollection(_collection) ?? WithoutMarker);
        _administration.TakeBack(connection);
        return !_isAdopted;
    });

    /// <inheritdoc cref="IDataStore.FindEnd"/>
    public long FindEnd(long from, long before = DocumentNumbers.Limit - 1) =>
        Retry(connection => ScanOn(connection).FindEnd(from, before));

    /// <inheritdoc cref="IDataStore.FindMissing"/>
    public IReadOnlyList<NumberRange> FindMissing(NumberRange range) =>
        range.Count == 0 ? [] : Retry(connection => ScanOn(connection).FindMissing(range));

    /// <inheritdoc cref="IDataStore.Write"/>
    public string? Write(params IReadOnlyList<NumberRange> ranges)
    {
        string? refused = null;
        var block = new List<BsonDocument>();
        long bytes = 0;
        foreach (NumberRange range in ranges)
        {
            for (long number = range.First; number < range.End; number++)
            {
                block.Add(Documents.Make(number));
                bytes += block[^1].Bytes.Length;
                if (block.Count == RepairBatch || bytes >= RepairBytes)
                    Send();
            }
        }

        if (block.Count > 0)
            Send();
        return refused;

        void Send()
        {
            // Whatever was refused before, the rest is written.
            string? told = Retry(connection => WriteBlock(connection, block));
            refused ??= told;
            block.Clear();
            bytes = 0;
        }
    }

    /// <inheritdoc cref="IDataStore.NoteRefused"/>
    public void NoteRefused(IReadOnlyList<NumberRange> numbers) => Retry(connection =>
    {
        long[] ends = [.. numbers.Take(MostRefused).SelectMany(range => (long[])[range.First, range.End])];
        UpdateMarker(connection, ("$push", BsonDocument.Of(
            ("refused", BsonDocument.Of(("$each", ends), ("$slice", 2 * MostRefused))))));
        return true;
    });

    /// <inheritdoc cref="IDataStore.Sample"/>
    public IReadOnlyList<IReadOnlyList<(BsonType Type, byte[] Bytes)>> Sample(IReadOnlyList<string> paths, int documents) =>
        Retry(connection =>
        {
            // Tried again after a lost connection, it begins anew.
            var sample = new FieldSample(paths);
            BsonDocument command = sample.CommandOn(_collection, documents);
            foreach (BsonDocument document in connection.RunCursor(_access.Database, command).Take(documents))
            {
                if (!sample.Add(document))
                    break;
            }

            return sample.Values;
        });

    /// <inheritdoc cref="IDataStore.Explain"/>
    public PlanSummary? Explain(Operation operation, bool isCarriedOut = true) => Retry(connection =>
    {
        BsonDocument command = operation.ToCommand().ToDocument(TypicalContext);
        var explained = ExplainedCommand.Of(command);
        bool isRead = explained.Search is null;
        PlanSummary? plan = ReadPlan(
            connection, explained.Command, isRead && isCarriedOut, operation.FullReply, command.FindInt64("skip") ?? 0);
        if (plan is not null && explained.Left is { } left)
            plan = plan with { Stages = $"{left} > {plan.Stages}" };
        return plan is null || isRead || !isCarriedOut ? plan
            : ReadPlan(connection, explained.Search!, true, (int)(explained.Search!.FindInt64("limit") ?? 0)) is { } search
                ? search with { Stages = plan.Stages, Index = plan.Index }
                : null;
    });

    /// <returns>Null where it is not told.</returns>
    private PlanSummary? ReadPlan(MongoConnection connection, BsonDocument command, bool isCarriedOut, int limit, long skip = 0)
    {
        if (_explainsNothing)
            return null;
        using var patience = new CancellationTokenSource(ExplainPatience);
        using CancellationTokenRegistration end = patience.Token.Register(() =>
        {
            _explainsNothing = true;
            connection.Abort();
        });
        try
        {
            return _longCommands.TryRun(connection, _access.Database,
                BsonDocument.Of(("explain", command), ("verbosity", isCarriedOut ? "executionStats" : "queryPlanner"),
                    ("maxTimeMS", LongestExplainMilliseconds))) is { } reply
                ? QueryPlanReader.Read(reply, limit, skip)
                : null;
        }
        catch (NotSupportedException)
        {
            // A mongod that routes has it not for a cluster.
            return null;
        }
    }

    /// <inheritdoc cref="IDataStore.Aggregate"/>
    public (long Count, string? First) Aggregate(AggregateDocuments query)
    {
        // One document for all of them, however many they are.
        BsonDocument counted = BsonDocument.Of(("$group", BsonDocument.Of(
            ("_id", null), ("count", BsonDocument.Of(("$sum", 1))), ("first", BsonDocument.Of(("$first", "$$ROOT"))))));
        IEnumerable<object?> stages = query.Pipeline.ToDocument(TypicalContext).Select(stage => (object?)stage.Value);
        BsonDocument pipeline = (query with { Pipeline = DocumentValue.Empty }).ToCommand().ToDocument(TypicalContext);
        BsonDocument command = BsonDocument.Of(
            [.. pipeline.Select(e => (e.Key, e.Key == "pipeline" ? stages.Append(counted).ToArray() : (object?)e.Value))]);
        BsonDocument reply = Run(_access.Database, command);
        return reply.FindDocument("cursor.firstBatch.0") is not { } found ? (0, null)
            : (found.FindInt64("count") ?? 0,
                found.FindDocument("first") is { } first ? ForeignText.OneLine(ExtendedJson.Write(first.Bytes), MostShown) : null);
    }

    /// <inheritdoc cref="IDataStore.ReadExamined"/>
    public ExaminedCounters? ReadExamined(Operation operation) =>
        Retry(connection => _administration.ReadExamined(connection, operation.PreferenceOr(_access.Connections.ReadPreference)));

    /// <inheritdoc cref="IDataStore.NoteCleanRestart"/>
    public void NoteCleanRestart() => _administration.ForgetProcess();

    public SizeResult? ReadSizes(long documents) => Retry(connection => _administration.ReadSizes(connection, documents));

    public void Checkpoint(long documents) => Retry(connection =>
    {
        Durability durability = _administration.MakeDurable(connection);
        if (durability == Durability.Restarted || (durability == Durability.Unproved && !IsReadBack(connection, documents)))
        {
            LostConnections++;
            return false;
        }

        try
        {
            // What a majority has is there after an election too, and everything before it.
            connection.RunCommand(_access.Database, BsonDocument.Of(
                ("update", MarkerCollection),
                ("updates", new[]
                {
                    BsonDocument.Of(
                        ("q", BsonDocument.Of(("_id", _collection))),
                        ("u", BsonDocument.Of(("$set", BsonDocument.Of(("documents", documents)))))),
                }),
                ("writeConcern", BsonDocument.Of(("w", "majority"), ("j", true), ("wtimeout", MajorityMilliseconds)))));
        }
        catch (ServerCommandException e) when (e.Code == WriteConcernFailed)
        {
            // Too few members are there: more than the primary's journal can't be had.
        }

        return true;
    });

    public void Dispose() => _connection?.Dispose();

    /// <summary>What explain is asked about has values as an operation may draw them, the same each time.</summary>
    private static ValueContext TypicalContext => new(0, Mixing.Mix(1));

    private DocumentTemplate Documents =>
        _documents ?? throw new InvalidOperationException($"the documents of {_collection} are not made from a template");

    private IdScan ScanOn(MongoConnection connection, string? readConcern = null) =>
        new(connection, _access.Database, _collection, Documents.Ids, hasIdIndex: !_shape.IsTimeSeries) { ReadConcern = readConcern };

    /// <summary>
    /// Waits until a majority of each shard's members has all that was written since the last checkpoint: then it outlives an election, and
    /// is in their journals.
    /// </summary>
    /// <returns>False when it still has not after <see cref="MajorityMilliseconds"/>.</returns>
    private bool IsReadBack(MongoConnection connection, long documents)
    {
        if (_documents is null)
            return true;
        var range = new NumberRange(
            Math.Min(documents, _readBack ??= FindMarker(connection)?.FindInt64("documents") ?? 0), documents);
        long giveUpAt = _access.Clock.Now + _access.Clock.TicksOf(MajorityMilliseconds / 1000.0);
        var backoff = new Backoff(_access.Clock, 0.05, 1);
        // What is not there at all was deleted, or is looked for by others.
        while (range.Count > 0 && ScanOn(connection, "majority").FindMissing(range).Sum(missing => missing.Count)
            > ScanOn(connection).FindMissing(range).Sum(missing => missing.Count))
        {
            if (_access.Clock.Now >= giveUpAt || Stop.IsCancellationRequested)
                return false;
            backoff.Wait(() => Stop.IsCancellationRequested);
        }

        _readBack = documents;
        return true;
    }

    /// <returns>What the server says of the first document that it refuses: mostly one that had arrived after all.</returns>
    private string? WriteBlock(MongoConnection connection, IReadOnlyList<BsonDocument> documents)
    {
        BsonDocument reply = connection.RunUnchecked(_access.Database, BsonDocument.Of(
            ("insert", _collection), ("documents", documents), ("ordered", false), ("writeConcern", BsonDocument.Of(("w", 1)))));
        if (!reply.IsTrue("ok"))
            throw new ServerCommandException("insert", ServerError.From(reply));
        string? refused = null;
        foreach ((_, BsonValue item) in reply.FindDocument("writeErrors") ?? BsonDocument.Empty)
        {
            ServerError error = ServerError.From(item.ToDocument());
            if (!ServerError.IsOfDocument(error.Code))
                throw new ServerCommandException("insert", error);
            refused ??= error.Message;
        }

        return refused;
    }

    /// <summary>Whether a database holds the collection.</summary>
    public static bool Exists(MongoConnection connection, string database, string collection) =>
        CollectionCommands.IsListed(connection, database, collection);

    /// <summary>The marker of one collection; null when there is none.</summary>
    internal static BsonDocument? FindMarker(MongoConnection connection, string database, string collection) =>
        connection.RunCursor(database, BsonDocument.Of(
            ("find", MarkerCollection), ("filter", BsonDocument.Of(("_id", collection))), ("limit", 1),
            ("singleBatch", true))).FirstOrDefault();

    private BsonDocument WithoutMarker => BsonDocument.Of(
        ("delete", MarkerCollection),
        ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", _collection))), ("limit", 1)) }));

    private void Forget(MongoConnection connection)
    {
        if (_access.Leases is { } leases)
            leases.Forget(connection, _collection);
        else
            connection.RunCommand(_access.Database, WithoutMarker);
        _administration.TakeBack(connection);
    }

    /// <summary>Makes the marker where a first part sets its fields and there is none.</summary>
    private void UpdateMarker(MongoConnection connection, (string Operator, BsonDocument Fields) first,
        params (string Operator, BsonDocument Fields)[] more) => connection.RunCommand(_access.Database, BsonDocument.Of(
            ("update", MarkerCollection),
            ("updates", new[]
            {
                BsonDocument.Of(
                [
                    ("q", BsonDocument.Of(("_id", _collection))),
                    ("u", BsonDocument.Of([(first.Operator, first.Fields), .. more.Select(one => (one.Operator, (object?)one.Fields))])),
                    .. first.Operator == "$set" ? [("upsert", true)] : Array.Empty<(string, object?)>(),
                ]),
            }),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));

    private BsonDocument? FindMarker(MongoConnection connection) => FindMarker(connection, _access.Database, _collection);

    /// <summary>Who may not read the markers sees none.</summary>
    private BsonDocument? FindVisibleMarker(MongoConnection connection)
    {
        try
        {
            return FindMarker(connection);
        }
        catch (ServerCommandException e) when (e.Error.MeansForbidden)
        {
            return null;
        }
    }

    private static BsonDocument WriteMarker(CollectionMarker marker, bool isAdopted, bool isPending) => BsonDocument.Of(
    [
        ("program", "mongoperf"),
        ("template", marker.Template),
        ("seed", unchecked((long)marker.Seed)),
        ("run", marker.RunId),
        ("documents", marker.Documents),
        ("grown", marker.IsGrown),
        ("token", marker.Token),
        .. isAdopted ? [(Adopted, true)] : Array.Empty<(string, object?)>(),
        .. isPending ? [(Pending, true)] : Array.Empty<(string, object?)>(),
    ]);

    private static CollectionMarker? ReadMarker(BsonDocument marker) => marker.FindString("program") != "mongoperf" ? null : new(
        unchecked((ulong)(marker.FindInt64("seed") ?? 0)),
        marker.FindString("template") ?? "",
        marker.FindString("run") ?? "",
        marker.FindInt64("documents") ?? 0,
        marker.IsTrue("grown")) { Token = marker.FindString("token"), Refused = ReadRefused(marker) };

    /// <remarks>Anybody may write to the marker: what is no range is left out.</remarks>
    private static NumberRange[] ReadRefused(BsonDocument marker) =>
    [
        .. (marker.FindDocument("refused") ?? BsonDocument.Empty)
            .Select(end => end.Value is { IsNumber: true } number ? number.ToInt64() : -1).Chunk(2)
            .Where(ends => ends is [>= 0 and var first, var end] && end > first).Select(ends => new NumberRange(ends[0], ends[1])),
    ];

    /// <summary>
    /// A mongod that routes looks up what migrations changed when it is asked to find, on all shards; for explain and aggregate it never
    /// does. A mongos does it by itself.
    /// </summary>
    private void RefreshRoute(MongoConnection connection) => connection.RunCommand(_access.Database, BsonDocument.Of(
        ("find", _collection), ("filter", BsonDocument.Empty), ("limit", 1), ("singleBatch", true)));

    private T Retry<T>(Func<MongoConnection, T> action)
    {
        var backoff = new Backoff(_access.Clock, 0.05, 2);
        bool failed = false;
        bool isStale = false;
        long? giveUpAt = null;
        while (true)
        {
            try
            {
                if (failed)
                    _access.BeforeReconnect?.Invoke();
                _connection ??= MongoConnection.Open(_access.Address(), _access.Connections);
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
                giveUpAt ??= _access.Clock.Now + _access.Clock.TicksOf(_access.ReconnectFor.TotalSeconds);
                if (_access.Clock.Now < giveUpAt)
                    backoff.Wait(() => Stop.IsCancellationRequested);
                else
                    throw;
                if (Stop.IsCancellationRequested)
                    throw;
            }
        }
    }
}

/// <summary>The way to the server or router of a database's collections.</summary>
/// <param name="Address">Where it is now; asked at each attempt to connect.</param>
/// <param name="Connections">Timeouts and name.</param>
/// <param name="Database">Its name.</param>
/// <param name="Clock">The clock for waiting between tries.</param>
/// <param name="ReconnectFor">How long a broken connection is tried again.</param>
/// <param name="BeforeReconnect">
/// Called before each attempt after a failed one; a <see cref="ConnectionFailedException"/> makes that attempt fail. Null for nothing.
/// </param>
public sealed record CollectionAccess(
    Func<ServerAddress> Address, ConnectionSettings Connections, string Database, IClock Clock, TimeSpan ReconnectFor,
    Action? BeforeReconnect = null)
{
    /// <summary>The leases of the run that writes; null for one that only reads, or takes collections away.</summary>
    public WriterLeases? Leases { get; init; }

    /// <summary>The servers that reads may go to when their preference is not the primary; empty when they are not known.</summary>
    public Func<IReadOnlyList<ServerAddress>> Members { get; init; } = () => [];

    /// <summary>The collections are somebody else's: no command that locks, flushes or corrects anything is sent about them.</summary>
    public bool ReadsOnly { get; init; }

    /// <summary>Hears what was found wrong with a server's counters, and corrected.</summary>
    public Action<string> Notify { get; init; } = _ => { };
}
