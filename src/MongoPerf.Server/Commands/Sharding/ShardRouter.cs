using System.Collections.Concurrent;
using System.Net;
using MongoPerf.Platforms;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>
/// What makes the embedded server look like a mongos: which collections are sharded by what, and which shard has which range of keys. The
/// documents of all shards lie in the one store; a shard is a name and a part of each table of chunks.
/// </summary>
/// <remarks>
/// What is known lies in the database config, and survives a kill. Any thread; changes one at a time, each under the write lock of the
/// collection that it is about.
/// </remarks>
internal sealed class ShardRouter
{
    /// <summary>What mongod makes of each shard where nobody says how many.</summary>
    private const int HashedChunksPerShard = 2;

    private readonly DocumentStore _store;
    private readonly ConfigCollections _config;
    private readonly Lock _changes = new();
    private readonly ConcurrentDictionary<string, int> _primaries = new(StringComparer.Ordinal);
    private readonly ConcurrentDictionary<string, ShardTable> _tables = new(StringComparer.Ordinal);
    private int _version;

    /// <param name="store">Open.</param>
    /// <param name="shards">How many; more than 0.</param>
    /// <exception cref="StorageException">The store was sharded before, into another number.</exception>
    public ShardRouter(DocumentStore store, int shards)
    {
        _store = store;
        _config = new ConfigCollections(store);
        Shards = [.. Enumerable.Range(0, shards).Select(number => $"shard{number}")];
        int before = _config.Read("shards").Count;
        if (before > 0 && before != shards)
            throw new StorageException($"the data lies on {before} shards, not {shards}", $"start it with --shards {before}");
        Load();
    }

    /// <summary>Their names, in order.</summary>
    public IReadOnlyList<string> Shards { get; }

    /// <summary>Host and port of each shard; set once they listen.</summary>
    public IReadOnlyList<string> Hosts { get; private set; } = [];

    public RoutedOperations Operations { get; } = new();

    public ConfigCollections Config => _config;

    /// <summary>Such as "shard0/127.0.0.1:27018".</summary>
    public string ConnectionOf(int shard) => $"{Shards[shard]}/{Hosts[shard]}";

    /// <summary>Tells config.shards where they are from now on.</summary>
    public void SetHosts(IReadOnlyList<IPEndPoint> hosts)
    {
        Hosts = [.. hosts.Select(host => host.ToString())];
        IReadOnlyList<BsonDocument> before = _config.Read("shards");
        _config.Replace("shards", _ => true, [.. Shards.Select((name, number) => BsonDocument.Of(
        [
            ("_id", name), ("host", ConnectionOf(number)), ("state", 1), ("topologyTime", Time(number + 1)),
            .. before.FirstOrDefault(one => one.FindString("_id") == name)?.Find("tags") is { } tags
                ? ((string, object?)[])[("tags", tags)] : [],
        ]))]);
        if (_config.Read("version").Count == 0)
            _config.Replace("version", _ => false, BsonDocument.Of(("_id", 1), ("clusterId", ObjectIds.Next())));
    }

    /// <summary>Gives a shard other zones.</summary>
    /// <param name="name">The shard's.</param>
    /// <param name="change">From the zones that it has.</param>
    public void ChangeTags(string name, Func<IEnumerable<string>, string[]> change)
    {
        lock (_changes)
        {
            BsonDocument shard = _config.Read("shards").First(one => one.FindString("_id") == name);
            string[] tags = change((shard.FindDocument("tags") ?? BsonDocument.Empty).Select(tag => tag.Value.ToString()));
            _config.Replace("shards", _ => false, BsonDocument.Of(
                [.. shard.Where(field => field.Key != "tags").Select(field => (field.Key, (object?)field.Value)), ("tags", tags)]));
        }
    }

    /// <summary>The shard on which a database's unsharded collections are.</summary>
    public int PrimaryOf(string database) => _primaries.GetValueOrDefault(database);

    public bool HasDatabase(string database) => _primaries.ContainsKey(database);

    /// <returns>Null also for one that was dropped a moment ago, whose name another may have by now.</returns>
    public ShardTable? FindTable(string nameSpace) =>
        _tables.TryGetValue(nameSpace, out ShardTable? table) && IsThere(table) ? table : null;

    /// <exception cref="CommandException">It is not sharded.</exception>
    public ShardTable RequireTable(string nameSpace) => FindTable(nameSpace)
        ?? throw new CommandException(118, "NamespaceNotSharded", $"Namespace {nameSpace} is not sharded");

    /// <summary>Notes a database that has come into being.</summary>
    /// <param name="database">Its name.</param>
    /// <param name="primary">Its primary shard; null for the next in turn.</param>
    public void AddDatabase(string database, int? primary = null)
    {
        if (_primaries.ContainsKey(database))
            return;
        lock (_changes)
        {
            int shard = primary ?? _primaries.Count % Shards.Count;
            if (!_primaries.TryAdd(database, shard))
                return;
            _config.Replace("databases", _ => false, BsonDocument.Of(("_id", database), ("primary", Shards[shard]), ("version",
                BsonDocument.Of(("uuid", Uuid(SystemRandom.GetBytes(16))), ("timestamp", Time(1)), ("lastMod", 1)))));
        }
    }

    /// <summary>Forgets what is not there any more: a collection, or a database with all of its own.</summary>
    public void Forget(string? nameSpace, string? database = null)
    {
        lock (_changes)
        {
            ShardTable[] gone = [.. _tables.Values.Where(table => !IsThere(table)
                && (table.Namespace == nameSpace || table.Namespace.StartsWith($"{database}.", StringComparison.Ordinal)))];
            if (gone.Length > 0)
            {
                _config.Replace("collections", one => gone.Any(table => table.Namespace == one.FindString("_id")));
                _config.Replace("chunks", one => gone.Any(table => table.Owns(one)));
                _config.Replace("tags", one => gone.Any(table => table.Namespace == one.FindString("ns")));
            }

            foreach (ShardTable table in gone)
                _tables.TryRemove(table.Namespace, out _);
            if (database is null || !_primaries.TryRemove(database, out _))
                return;
            _config.Replace("databases", one => one.FindString("_id") == database);
        }
    }

    /// <summary>Shards a collection, which is made where it is not there.</summary>
    /// <param name="collection">Present, with an index that begins with the key where it has documents.</param>
    /// <param name="key">Checked.</param>
    /// <param name="isUnique">Whether the key's index is.</param>
    /// <param name="chunks">For a key that begins hashed, on an empty collection; null for the usual number.</param>
    /// <returns>How it is sharded now; where another client was faster, as that one had it.</returns>
    /// <exception cref="IndexKeyException">A document has an array in the key.</exception>
    public ShardTable Shard(Collection collection, ShardKey key, bool isUnique, int? chunks)
    {
        lock (_changes)
        {
            if (FindTable(collection.Namespace) is { } present)
                return present;
            int primary = PrimaryOf(collection.Entry.Database);
            var table = new ShardTable(collection.Namespace, key, isUnique, collection.Entry.Uuid, Cut(collection, key, chunks, primary));
            Apply(collection, table);
            _config.Replace("collections", one => one.FindString("_id") == table.Namespace, table.Describe());
            return table;
        }
    }

    /// <summary>Cuts the chunk that holds a key there.</summary>
    /// <exception cref="CommandException">There is a bound already.</exception>
    public void Split(Collection collection, BsonDocument at)
    {
        lock (_changes)
        {
            ShardTable table = RequireTable(collection.Namespace);
            Apply(collection, table.Split(at));
            Log("split", collection.Namespace, Shards[0], BsonDocument.Of(("middle", at)));
        }
    }

    /// <summary>Gives a range of one chunk to a shard; what is left of the chunk stays where it is.</summary>
    /// <param name="collection">Sharded.</param>
    /// <param name="from">The range's lower bound.</param>
    /// <param name="to">The first key behind it; null for the end of the chunk.</param>
    /// <param name="shard">Who gets it.</param>
    public void Move(Collection collection, BsonDocument from, BsonDocument? to, int shard)
    {
        lock (_changes)
        {
            ShardTable table = RequireTable(collection.Namespace);
            (ShardTable moved, ShardRange range) = table.Move(from, to, shard);
            if (range.Shard == shard)
                return;
            string donor = Shards[range.Shard];
            (string, object?)[] facts = [("min", range.From), ("max", range.To), ("from", donor), ("to", Shards[shard])];
            Log("moveChunk.start", collection.Namespace, donor, BsonDocument.Of(facts));
            long before = collection.Shards!.Counts.Documents(shard);
            long bytes = collection.Shards.Counts.Bytes(shard);
            Apply(collection, moved);
            ShardCounts after = collection.Shards.Counts;
            BsonDocument counts = BsonDocument.Of(
                ("cloned", after.Documents(shard) - before), ("clonedBytes", after.Bytes(shard) - bytes), ("catchup", 0L), ("steady", 0L));
            Log("moveChunk.commit", collection.Namespace, donor, BsonDocument.Of([.. facts, ("counts", counts)]));
            Log("moveChunk.from", collection.Namespace, donor, BsonDocument.Of([.. facts, ("note", "success")]));
        }
    }

    public static BsonValue Time(int increment)
    {
        var writer = new BsonWriter(32);
        writer.StartDocument();
        writer.WriteTimestamp("t"u8, ((ulong)DateTimeOffset.UtcNow.ToUnixTimeSeconds() << 32) | (uint)increment);
        writer.End();
        return new BsonDocument(writer.ToArray()).First().Value;
    }

    public static BsonValue Uuid(ReadOnlySpan<byte> bytes)
    {
        var writer = new BsonWriter(64);
        writer.StartDocument();
        writer.WriteBinary("u"u8, bytes, subtype: 4);
        writer.End();
        return new BsonDocument(writer.ToArray()).First().Value;
    }

    private bool IsThere(ShardTable table) =>
        _store.TryFind(table.Namespace, out Collection? collection) && table.Uuid.AsSpan().SequenceEqual(collection.Entry.Uuid);

    private void Load()
    {
        foreach (BsonDocument database in _config.Read("databases"))
            _primaries[database.FindString("_id") ?? ""] = IndexOf(database.FindString("primary"));
        IReadOnlyList<BsonDocument> chunks = _config.Read("chunks");
        foreach (BsonDocument one in _config.Read("collections"))
        {
            string nameSpace = one.FindString("_id") ?? "";
            // A kill in the middle of a drop has left it; one of the same name that was made anew has another number.
            if (!_store.TryFind(nameSpace, out Collection? collection)
                || one.Find("uuid") is not { Type: BsonType.Binary } uuid || !uuid.ToBinary().Span.SequenceEqual(collection.Entry.Uuid))
            {
                _config.Replace("collections", other => other.FindString("_id") == nameSpace);
                continue;
            }

            var table = ShardTable.Read(one, chunks, IndexOf);
            _tables[nameSpace] = table;
            try
            {
                _store.SetShards(collection, table.ToMap(Shards.Count), mayTrust: true);
            }
            catch (IndexKeyException)
            {
                throw new StorageException($"{nameSpace} has a document with an array in the shard key, written without --shards",
                    "start it without --shards once more and change that document");
            }
        }

        if (chunks.Any(chunk => !_tables.Values.Any(table => table.Owns(chunk))))
            _config.Replace("chunks", chunk => !_tables.Values.Any(table => table.Owns(chunk)));
    }

    private int IndexOf(string? shard) => Math.Max(0, Shards.ToList().IndexOf(shard ?? ""));

    /// <summary>In the order in which a kill in between is seen at the next start: counts that may be wrong are gone first.</summary>
    private void Apply(Collection collection, ShardTable table)
    {
        _store.ForgetShardCounts(collection);
        ShardTable? former = _tables.GetValueOrDefault(table.Namespace);
        WriteChunks(former, table);
        try
        {
            _store.SetShards(collection, table.ToMap(Shards.Count), mayTrust: false);
        }
        catch
        {
            // Killed by a client, or an array in the key: it stays as it was.
            ActiveOperation.Finish(() => WriteChunks(table, former));
            throw;
        }

        _tables[table.Namespace] = table;
    }

    /// <summary>Puts the chunks of one table in the place of another's; those that are in both are not written.</summary>
    private void WriteChunks(ShardTable? former, ShardTable? table)
    {
        _version++;
        HashSet<ShardRange> before = [.. former?.Ranges ?? []];
        ShardRange[] ranges = table?.Ranges ?? [];
        HashSet<ObjectId> kept = [.. ranges.Select(range => range.Id)];
        _config.Replace("chunks",
            chunk => (former?.Owns(chunk) == true || table?.Owns(chunk) == true)
                && !(chunk.Find("_id") is { Type: BsonType.ObjectId } id && kept.Contains(id.ToObjectId())),
            [.. table?.DescribeChunks(ranges.Where(range => !before.Contains(range)), Shards, _version) ?? []]);
    }

    private ShardRange[] Cut(Collection collection, ShardKey key, int? wanted, int primary)
    {
        BsonDocument least = key.Everywhere(BsonType.MinKey);
        BsonDocument greatest = key.Everywhere(BsonType.MaxKey);
        if (collection.DocumentCount > 0 || !key.Fields[0].IsHashed)
            return [new ShardRange(least, greatest, primary)];
        // As MongoDB cuts the hashes: equal parts, in the middle of which is 0.
        int count = wanted ?? HashedChunksPerShard * Shards.Count;
        long part = long.MaxValue / count * 2;
        var points = new List<long>();
        long at = count % 2 == 0 ? part : part / 2;
        if (count % 2 == 0)
            points.Add(0);
        for (; points.Count < count - 1; at += part)
            points.AddRange([at, -at]);
        points.Sort();
        BsonDocument[] bounds = [least, .. points.Select(point => BsonDocument.Of([.. key.Pattern.Select((field, number) =>
            (field.Key, number == 0 ? (object?)point : new BsonValue(BsonType.MinKey, default)))])), greatest];
        int together = Math.Max(1, count / Shards.Count);
        return [.. Enumerable.Range(0, count)
            .Select(i => new ShardRange(bounds[i], bounds[i + 1], i / together % Shards.Count))];
    }

    private void Log(string what, string nameSpace, string shard, BsonDocument details) => _config.Add("changelog", BsonDocument.Of(
            ("_id", $"mongoperf-{ObjectIds.Next()}"), ("server", "mongoperf"), ("shard", shard), ("clientAddr", ""),
            ("time", DateTime.UtcNow), ("what", what), ("ns", nameSpace), ("details", details)));
}
