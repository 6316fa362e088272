using MongoPerf.Load.Collections;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Load.Sharding;

/// <summary>A collection that is spread over the shards of a cluster.</summary>
public sealed class ShardedAdministration : ICollectionAdministration
{
    /// <summary>
    /// The _id, in the marker collection, of the note whether the database was made for the first collection of this program.
    /// </summary>
    private const string NoteId = "$cluster";

    private const int CommandNotFound = 59;

    private readonly ShardingPlan _plan;
    private readonly ClusterConnections _connections;
    private readonly ShardedCollection _collection;
    private readonly CollectionSharder _sharder;
    private readonly ShardCounts _counts;
    private readonly LongCommands _longCommands;
    private readonly Dictionary<string, string> _processes = [];

    public ShardedAdministration(ShardingPlan plan, string database, string collection, IClock clock, LongCommands longCommands)
    {
        _plan = plan;
        _longCommands = longCommands;
        _connections = new ClusterConnections(plan.Cluster, plan.Connections);
        _collection = new ShardedCollection(_connections, database, collection, longCommands);
        _counts = new ShardCounts(_collection, longCommands);
        _sharder = new CollectionSharder(_collection, plan, clock, longCommands);
    }

    private string Database => _collection.Database;

    private IShardingCommands Commands => _collection.Commands;

    private ClusterTuning Tuning => new(_connections, Commands);

    public bool Exists(MongoConnection connection) => _collection.FindDatabase() is not null
        && _collection.AskCatalogue(connection, catalogue => CollectionCommands.IsListed(catalogue, Database, _collection.Collection));

    public void Prepare(MongoConnection connection)
    {
        _sharder.Check(connection);
        bool isNew;
        using (MongoConnection config = _connections.OpenConfig())
        {
            isNew = ConfigCatalogue.FindDatabase(config, Database) is null;
            if (isNew)
            {
                if (ConfigCatalogue.ShardNames(config) is not [{ } first, ..])
                    throw new MongoPerfException(
                        Fault.WrongUsage, $"the mongos at {connection.Address} lists no shards, so nothing can be sharded there",
                        "run it without --topology sharded and shard keys");
                EnableSharding(connection, first);
            }
        }

        // Only the first one is kept: later ones find what MongoPerf itself has made.
        BsonDocument note = BsonDocument.Of(("madeDatabase", isNew));
        connection.RunCommand(Database, BsonDocument.Of(
            ("update", WireCollection.MarkerCollection),
            ("updates", new[]
            {
                BsonDocument.Of(("q", BsonDocument.Of(("_id", NoteId))), ("u", BsonDocument.Of(("$setOnInsert", note))), ("upsert", true)),
            }),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true)))));
    }

    private void EnableSharding(MongoConnection connection, string primary)
    {
        try
        {
            _collection.Run(connection, Commands.EnableSharding(Database, primary));
        }
        catch (ServerCommandException e) when (e.Error.MeansForbidden)
        {
            throw new MongoPerfException(
                Fault.RejectedByServer, $"database {Database} can't be made at {connection.Address}: {e.Message}",
                $"{e.Hint}, or have an administrator run sh.enableSharding(\"{Database}\"), or choose another database with --db");
        }
    }

    public void Create(MongoConnection connection, CollectionShape shape, Action made)
    {
        Tuning.Apply(SettingsHolder.ForCollections(Database, _plan.Run) with
        {
            Balancer = _plan.Settings.Balancer, ChunkMegabytes = _plan.Settings.ChunkMegabytes,
        });
        if (_collection.FindSharded() is null)
        {
            // Sharding would create it without its options, and one that is sharded is known to be somebody else's until this is noted.
            _collection.On(connection, Commands.Catalogue,
                catalogue => CollectionCommands.Create(catalogue, Database, _collection.Collection, shape.Options));
            made();
            CreateKeyIndexes(connection, shape);
        }

        _sharder.Shard(connection);
        if (shape.Indexes.Count > 0)
            _collection.Run(connection, Commands.OnCollection(
                _collection.ReadNamespace(), CollectionCommands.CreateIndexes(_collection.Collection, shape.Indexes)));
        NoteProcesses();
    }

    /// <summary>
    /// An index on just the shard key is there before sharding, which would else make one of its own: not unique, and in
    /// the way of this one.
    /// </summary>
    private void CreateKeyIndexes(MongoConnection connection, CollectionShape shape)
    {
        BsonDocument[] own = [.. shape.Indexes.Where(index => index.FindDocument("key") is { } key && _sharder.Key.IsThatOf(key))];
        if (own.Length > 0)
            _collection.Run(connection,
                new ShardingCommand(Commands.Catalogue, Database, CollectionCommands.CreateIndexes(_collection.Collection, own)));
    }

    public void Drop(MongoConnection connection)
    {
        var zones = new CollectionZones(_collection, _sharder.RunPatiently);
        bool hasZones = zones.Untie(connection);
        _collection.Drop(connection, _collection.Collection);
        if (hasZones)
            zones.Leave(connection);
    }

    public void TakeBack(MongoConnection connection)
    {
        // Before the markers: a run that comes after these are read holds more.
        SettingsHolder? held = Tuning.Find(Database);
        if (IsUsed(ReadMarkers(connection)))
            return;
        foreach (string line in Tuning.GiveUp(SettingsHolder.ForCollections(Database, _plan.Run), held) ?? [])
            _plan.Notify(line);
        // Again: a run may have begun meanwhile.
        BsonDocument[] markers = ReadMarkers(connection);
        if (IsUsed(markers) || markers.FirstOrDefault(static one => one.FindString("_id") == NoteId) is not { } note)
            return;
        // Earlier versions noted the settings here, whether they changed any or not.
        if (note.FindDocument("settings") is { } before)
        {
            using MongoConnection config = _connections.OpenConfig();
            foreach (string line in ClusterTuning.Restore(config, before))
                _plan.Notify(line);
        }

        // With the markers, whose note must not be gone before the database is.
        bool coordinates = markers.Any(static one => one.FindString("program") == WireCollection.CoordinatorProgram);
        if (note.IsTrue("madeDatabase") && !coordinates && _collection.AskCatalogue(
            connection, catalogue => CollectionCommands.IsBare(catalogue, Database)))
            _collection.Run(connection, Commands.DropDatabase(_collection.ReadNamespace()));
        else if (!coordinates)
            _collection.Drop(connection, WireCollection.MarkerCollection);
        else
            connection.RunCommand(Database, BsonDocument.Of(("delete", WireCollection.MarkerCollection),
                ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", NoteId))), ("limit", 1)) })));

        // Other runs' collections still live with the settings; a coordinator's don't, nor does a killed run's lease.
        bool IsUsed(BsonDocument[] markers) => markers.Any(one => one.FindString("_id") != NoteId
            && one.FindString("program") != WireCollection.CoordinatorProgram
            && (one.FindString("program") is not null || WriterLeases.IsHeld(connection, one)));
    }

    public long Count(MongoConnection connection) =>
        connection.RunCursor(Database, CollectionCommands.CountByScan(_collection.Collection)).FirstOrDefault()?.FindInt64("n") ?? 0;

    public long CountIds(MongoConnection connection) => Count(connection);

    public bool IsEmptySharded(MongoConnection connection) =>
        _collection.FindSharded() is not null && CollectionCommands.IsEmpty(connection, Database, _collection.Collection);

    public SizeResult? ReadSizes(MongoConnection connection, long documents)
    {
        bool isFlushed = TryFlush(connection);
        BsonDocument[] parts = ReadParts(connection);
        // Shards count the buckets of a time series, not its documents.
        bool areCounted = !parts.Any(ShardedStatistics.IsTimeSeries);
        if (areCounted && _counts.Correct(connection, parts, documents))
            parts = ReadParts(connection);
        SizeResult sizes = ShardedStatistics.Sum(parts, _counts.Read(parts), _collection.CountChunks(), documents) with
        {
            AreOfCheckpoint = !isFlushed,
        };
        return areCounted ? sizes : sizes with { Shards = [] };
    }

    /// <remarks>Which of a shard's secondaries read for a router is not known here.</remarks>
    public ExaminedCounters? ReadExamined(MongoConnection connection, ReadPreference preference)
    {
        if (!preference.IsPrimary)
            return null;
        var all = new List<ExaminedCounters>();
        foreach (ShardAddress shard in _connections.Cluster.Shards)
        {
            using MongoConnection? open = _connections.TryOpenShard(shard.Name);
            if (open is null || CollectionCommands.ReadExamined(open) is not { } counters)
                return null;
            all.Add(counters);
        }

        return ExaminedCounters.Sum(all);
    }

    public Durability MakeDurable(MongoConnection connection)
    {
        bool isJournaled = IsJournaled(connection);
        return NoteProcesses() ? Durability.Restarted : isJournaled ? Durability.Journaled : Durability.Unproved;
    }

    /// <returns>False when this user may not have it done.</returns>
    private bool IsJournaled(MongoConnection connection)
    {
        // A note in each shard's oplog, with j:true, takes everything before it into the journal.
        BsonDocument note = BsonDocument.Of(
            ("appendOplogNote", 1),
            ("data", BsonDocument.Of(("mongoperf", "checkpoint"))),
            ("writeConcern", BsonDocument.Of(("w", 1), ("j", true))));
        try
        {
            _collection.On(connection, Commands.Storage, c => c.RunCommand("admin", note));
            return true;
        }
        catch (ServerCommandException e) when (e.Code == CommandNotFound)
        {
            // A mongos before 6.0 does not pass it on.
            return TryFlush(connection);
        }
        catch (ServerCommandException e) when (e.Error.MeansForbidden)
        {
            return false;
        }
    }

    /// <returns>False when it was refused somewhere.</returns>
    private bool TryFlush(MongoConnection connection)
    {
        bool isFlushed = true;
        _collection.On(connection, Commands.Storage,
            c => isFlushed &= _longCommands.TryRun(c, "admin", CollectionCommands.Flush) is not null);
        return isFlushed;
    }

    public void ForgetProcess() => _processes.Clear();

    private BsonDocument[] ReadParts(MongoConnection connection) =>
        [.. connection.RunCursor(Database, ShardedStatistics.Request(_collection.Collection))];

    /// <returns>True when a shard is another process than it was: started again, or another member is primary now.</returns>
    private bool NoteProcesses()
    {
        bool changed = false;
        foreach (ShardAddress shard in _connections.Cluster.Shards)
        {
            // Before 4.4 a server does not tell.
            if (_connections.TryReadProcess(shard.Name) is not { } process)
                continue;
            changed |= _processes.TryGetValue(shard.Name, out string? known) && known != process;
            _processes[shard.Name] = process;
        }

        return changed;
    }

    private BsonDocument[] ReadMarkers(MongoConnection connection) =>
        [.. connection.RunCursor(Database, BsonDocument.Of(("find", WireCollection.MarkerCollection)))];
}
