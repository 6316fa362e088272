using MongoPerf.Load.Collections;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Learning.Sampling;

/// <summary>Reads what a database holds, within a budget; it sends nothing but commands that read.</summary>
/// <param name="connection">To a member that may be read from.</param>
/// <param name="budget">How much may be read.</param>
/// <param name="preference">Sent with each command, so that a secondary answers.</param>
/// <param name="clock">What the time is that reading takes.</param>
public sealed class DatabaseReader(MongoConnection connection, SamplingBudget budget, ReadPreference preference, IClock clock)
{
    /// <summary>From 5 % of a collection on, a server that is to draw documents reads all of it.</summary>
    private const double MostDrawn = 0.049;

    /// <summary>Documents for which a server may read a whole collection.</summary>
    private const long SmallCollection = 50_000;

    private const int BatchSize = 1000;

    /// <summary>Documents that show in which order values come, where not all are read.</summary>
    private const int MostConsecutive = 2000;

    /// <summary>Milliseconds for them: a server may have to sort a whole time series.</summary>
    private const int MostSorting = 5000;

    /// <summary>Collections, indexes and zones at most.</summary>
    private const long MostListed = 1_000_000;

    private readonly List<string> _notLearned = [];
    private long _begun;
    private long _documents;
    private long _bytes;
    private long _commands;

    private double Seconds => clock.SecondsBetween(_begun, clock.Now);

    /// <summary>The databases that are not the server's own.</summary>
    /// <exception cref="ServerCommandException">The user may not list them.</exception>
    public IReadOnlyList<string> Databases() =>
        [.. Names(Run("admin", BsonDocument.Of(("listDatabases", 1), ("nameOnly", true), ("authorizedDatabases", true))), "databases")
            .Where(name => name is not ("admin" or "config" or "local"))];

    /// <param name="database">Its name.</param>
    /// <exception cref="ServerCommandException">The user may not list its collections.</exception>
    public DatabaseSample Read(string database)
    {
        _begun = clock.Now;
        var collections = new List<CollectionSample>();
        (int views, int unwritable) = (0, 0);
        BsonDocument[] all = [.. Cursor(database, BsonDocument.Of(("listCollections", 1)))
            .OrderBy(one => one.FindString("name"), StringComparer.Ordinal)];
        foreach (BsonDocument one in all)
        {
            string name = one.FindString("name") ?? "";
            if (name.StartsWith("system.", StringComparison.Ordinal) || name == "mongoperf")
                continue;
            if (one.FindString("type") == "view")
                views++;
            else if (name.StartsWith('^') || name.Contains("$(", StringComparison.Ordinal) || name.Any(char.IsControl))
                unwritable++;
            else
                collections.Add(Collection(database, name, one));
        }

        // Names may have to be hashed.
        if (views > 0)
            _notLearned.Add($"views, which hold no documents of their own: {views:N0}");
        if (unwritable > 0)
            _notLearned.Add($"collections with names that a scenario can't have: {unwritable:N0}");
        if (!all.Any(one => one.FindString("type") != "view"))
            _notLearned.Add($"the database {database} has no collections");
        return new DatabaseSample(database, collections,
            new SamplingCost(_documents, _bytes, _commands, Seconds), connection.Member, Version(), _notLearned);
    }

    private string Version() => Try(() => Run("admin", BsonDocument.Of(("buildInfo", 1))))?.FindString("version") ?? "";

    private CollectionSample Collection(string database, string name, BsonDocument listed)
    {
        var notLearned = new List<string>();
        bool isTimeSeries = listed.FindString("type") == "timeseries";
        BsonDocument? stats = Try(() => Cursor(database, BsonDocument.Of(("aggregate", name),
            ("pipeline", new[] { BsonDocument.Of(("$collStats", BsonDocument.Of(("storageStats", BsonDocument.Empty)))) }),
            ("cursor", BsonDocument.Empty))).ToArray() is [var only] ? only.FindDocument("storageStats") : null);
        if (stats is null)
            notLearned.Add("its sizes: the user may not see them (collStats), or it lies on several shards");
        long count = isTimeSeries || stats?.FindInt64("count") is null ? Count(database, name) : stats.FindInt64("count")!.Value;
        BsonDocument[] indexes = [.. Try(() => Cursor(database, BsonDocument.Of(("listIndexes", name))).ToArray()) ?? []];
        if (indexes.Length == 0 && !isTimeSeries && listed.Find("options.clusteredIndex") is null)
            notLearned.Add("its indexes: the user may not list them");
        (List<BsonDocument> documents, bool isOrdered) = Sample(database, name, count, isTimeSeries, notLearned);
        BsonDocument[] consecutive = documents.Count < count && documents.Count > 0 ? Consecutive(database, name, listed) : [];
        if (isTimeSeries && listed.FindString("options.timeseries.timeField") is { } time)
        {
            // Its buckets are read one after the other; what has the same time is put into one order everywhere.
            string? meta = listed.FindString("options.timeseries.metaField");
            documents = [.. InOrder(documents)];
            consecutive = [.. InOrder(consecutive)];
            isOrdered = true;

            IEnumerable<BsonDocument> InOrder(IEnumerable<BsonDocument> measurements) =>
                measurements.OrderBy(one => one.Find(time) is { Type: BsonType.DateTime } at ? at.ToInt64() : 0)
                    .ThenBy(one => meta is not null && one.Find(meta) is { } of ? Convert.ToHexString(of.Bytes.Span) : "",
                        StringComparer.Ordinal);
        }

        else if (!isOrdered && consecutive.Length > 1 && consecutive.Concat(documents).All(one => one.Find("_id") is { IsNumber: true })
            && consecutive.Zip(consecutive.Skip(1)).All(pair => IdOf(pair.First) < IdOf(pair.Second)))
        {
            documents = [.. documents.OrderBy(IdOf)];
            isOrdered = true;
        }

        (BsonDocument? key, SampledZone[] zones) = Sharding($"{database}.{name}", notLearned);
        return new CollectionSample(name, Math.Max(count, documents.Count), documents, isOrdered)
        {
            Options = listed.FindDocument("options") ?? BsonDocument.Empty,
            Indexes = [.. indexes.Where(index => index.FindString("name") != "_id_" && !index.IsTrue("clustered"))],
            Sizes = stats is null ? null : SizeReader.Read(stats, count),
            ShardKey = key,
            Zones = zones,
            Consecutive = consecutive,
            NotLearned = notLearned,
        };
    }

    private static double IdOf(BsonDocument document) => document.Find("_id")!.Value.ToDouble();

    private long Count(string database, string name) =>
        Try(() => Run(database, BsonDocument.Of(("count", name), ("maxTimeMS", Left()))))?.FindInt64("n") ?? 0;

    private (BsonDocument? Key, SampledZone[] Zones) Sharding(string ns, List<string> notLearned)
    {
        if (!connection.Server.IsMongos)
            return (null, []);
        if (FindConfig("collections", ("_id", ns)) is not { } sharded)
        {
            notLearned.Add("its shard key and zones: the user may not read the database config (role clusterMonitor)");
            return (null, []);
        }

        if (sharded is not [var one] || one.IsTrue("dropped") || one.IsTrue("unsplittable"))
            return (null, []);
        BsonDocument[] ranges = FindConfig("tags", ("ns", ns)) ?? [];
        if (ranges.Length == 0)
            return (one.FindDocument("key"), []);
        ILookup<string, int> places = (FindConfig("shards") ?? []).OrderBy(shard => shard.FindString("_id"), StringComparer.Ordinal).Index()
            .SelectMany(shard => (shard.Item.FindDocument("tags") ?? BsonDocument.Empty).Select(tag => tag.Value.ToString()).Distinct()
                .Select(tag => (Tag: tag, Place: shard.Index + 1)))
            .ToLookup(one => one.Tag, one => one.Place, StringComparer.Ordinal);
        return (one.FindDocument("key"), [.. ranges.Select(range => new SampledZone(
            range.FindDocument("min") ?? BsonDocument.Empty, range.FindDocument("max") ?? BsonDocument.Empty,
            [.. places[range.FindString("tag") ?? ""]]))]);
    }

    /// <returns>Null where it can't be read.</returns>
    private BsonDocument[]? FindConfig(string collection, params (string, object?)[] filter) => Try(() =>
        Cursor("config", BsonDocument.Of(("find", collection), ("filter", BsonDocument.Of(filter)))).ToArray());

    private (List<BsonDocument> Documents, bool AreInOrder) Sample(
        string database, string name, long count, bool isTimeSeries, List<string> notLearned)
    {
        if (_bytes >= budget.Bytes || Seconds >= budget.Seconds)
        {
            notLearned.Add("its documents: the budget was used up");
            return ([], false);
        }

        bool isWhole = count <= budget.Documents;
        long wanted = isWhole || count <= SmallCollection ? Math.Min(budget.Documents, Math.Max(count, 1))
            : Math.Max(100, Math.Min(budget.Documents, (long)(count * MostDrawn)));
        BsonDocument command = isWhole
            ? BsonDocument.Of(("find", name), ("batchSize", BatchSize), ("maxTimeMS", Left()))
            : BsonDocument.Of(("aggregate", name),
                ("pipeline", new[] { BsonDocument.Of(("$sample", BsonDocument.Of(("size", wanted)))) }),
                ("cursor", BsonDocument.Of(("batchSize", BatchSize))), ("maxTimeMS", Left()));
        var documents = new List<BsonDocument>();
        try
        {
            foreach (BsonDocument document in Cursor(database, command, isSample: true))
            {
                documents.Add(document);
                _documents++;
                _bytes += document.Bytes.Length;
                if (documents.Count >= wanted)
                    break;
                if (_bytes >= budget.Bytes || Seconds >= budget.Seconds)
                {
                    notLearned.Add($"more than {documents.Count:N0} of its documents: the budget was used up");
                    isWhole = false;
                    break;
                }
            }
        }
        catch (ServerCommandException e)
        {
            // Its message has names, and may have values.
            notLearned.Add($"its documents: the server's error {e.Code} {e.Error.Name}");
            isWhole = false;
        }

        if (isWhole && !isTimeSeries)
            return (documents, true);
        // Drawn documents come in any order; _ids that grow tell in which they were inserted.
        return documents.Count > 0 && documents.All(one => one.Find("_id") is { Type: BsonType.ObjectId })
            ? ([.. documents.OrderBy(one => one.Find("_id")!.Value.ToObjectId().ToString(), StringComparer.Ordinal)], true)
            : (documents, false);
    }

    /// <summary>The first documents as they were inserted; of a time series the first measurements by time.</summary>
    private BsonDocument[] Consecutive(string database, string name, BsonDocument listed)
    {
        if (_bytes >= budget.Bytes || Seconds >= budget.Seconds)
            return [];
        BsonDocument sort = listed.FindString("options.timeseries.timeField") is { } time ? BsonDocument.Of((time, 1)) : BsonDocument.Empty;
        BsonDocument[] first = Try(() => Cursor(database, BsonDocument.Of(("find", name), ("sort", sort), ("limit", MostConsecutive),
            ("batchSize", BatchSize), ("maxTimeMS", Math.Min(Left(), MostSorting))), isSample: true).ToArray()) ?? [];
        _documents += first.Length;
        _bytes += first.Sum(one => (long)one.Bytes.Length);
        return first;
    }

    private int Left() => (int)Math.Max(1, (budget.Seconds - Seconds) * 1000);

    private static IEnumerable<string> Names(BsonDocument reply, string list) =>
        (reply.FindDocument(list) ?? BsonDocument.Empty).Select(one => one.Value.ToDocument().FindString("name") ?? "");

    private static T? Try<T>(Func<T?> read)
        where T : class
    {
        try
        {
            return read();
        }
        catch (ServerCommandException)
        {
            return null;
        }
    }

    private BsonDocument Run(string database, BsonDocument command)
    {
        _commands++;
        return connection.RunCommand(database, Preferring(command));
    }

    /// <param name="database">Where the command runs.</param>
    /// <param name="command">It.</param>
    /// <param name="isSample">Who reads it keeps to the budget; other cursors must end by themselves.</param>
    private IEnumerable<BsonDocument> Cursor(string database, BsonDocument command, bool isSample = false)
    {
        var guard = new CursorGuard(connection, isSample ? long.MaxValue : MostListed, hasTime: !isSample);
        BsonDocument reply = Run(database, command);
        string batch = "firstBatch";
        while (true)
        {
            BsonDocument cursor = reply.FindDocument("cursor") ?? throw new WireProtocolException("the reply has no cursor");
            long id = cursor.FindInt64("id") ?? 0;
            string ns = cursor.FindString("ns") ?? "";
            string collection = ns[(ns.IndexOf('.', StringComparison.Ordinal) + 1)..];
            bool isDone = false;
            int documents = 0;
            try
            {
                foreach ((_, BsonValue item) in cursor.FindDocument(batch) ?? BsonDocument.Empty)
                {
                    documents++;
                    yield return item.ToDocument();
                }

                isDone = true;
            }
            finally
            {
                // Who has enough leaves no cursor behind.
                if (!isDone && id != 0)
                    Try(() => Run(database, BsonDocument.Of(("killCursors", collection), ("cursors", new object[] { id }))));
            }

            if (id == 0)
                yield break;
            guard.AskForMore(documents);
            reply = Run(database, BsonDocument.Of(("getMore", id), ("collection", collection), ("batchSize", BatchSize)));
            batch = "nextBatch";
        }
    }

    /// <summary>Only replica sets and clusters know preferences.</summary>
    private BsonDocument Preferring(BsonDocument command) =>
        (connection.Server.Document.FindString("setName") is null && !connection.Server.IsMongos)
            || command.First().Key is "getMore" or "killCursors"
            ? command
            : BsonDocument.Of([.. command.Select(one => (one.Key, (object?)one.Value)), ("$readPreference", preference.Document)]);
}
