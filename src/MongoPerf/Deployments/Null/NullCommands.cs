using System.Diagnostics;
using System.Text;
using MongoPerf.Engine.Phases;
using MongoPerf.Server.Commands;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>All commands that neither write documents nor find them: their replies are documents that are put together anew each time.</summary>
internal sealed class NullCommands(NullSession session, NullStore store)
{
    private const string Remark = "the null server stores nothing: sizes on disk are 0";

    /// <param name="name">Of the command.</param>
    /// <param name="request">The whole command.</param>
    /// <returns>The reply without <c>ok</c>; null for a command that is not known.</returns>
    /// <exception cref="NullCommandException">The command can't be carried out.</exception>
    public BsonDocument? Answer(string name, ReadOnlySpan<byte> request)
    {
        var command = new BsonDocument(request.ToArray());
        return name switch
        {
            "hello" or "isMaster" or "ismaster" => Hello(request),
            "buildInfo" or "buildinfo" => BuildInfo(),
            "ping" or "endSessions" or "fsync" or "compact" or "collMod" or "reIndex" or "setParameter" => BsonDocument.Empty,
            "getCmdLineOpts" => BsonDocument.Of(("argv", Environment.GetCommandLineArgs()), ("parsed", BsonDocument.Empty)),
            "serverStatus" => Status(),
            "count" => Count(session.Resolve(request, create: false), command),
            "distinct" => Distinct(session.Resolve(request, create: false), command),
            "aggregate" => Aggregate(command.First().Value.Type == BsonType.String ? session.Resolve(request, create: false) : null, command),
            "explain" => Explain(command),
            "collStats" => Statistics(session.Resolve(request, create: false)),
            "create" => Create(session.Resolve(request, create: false), request),
            "createIndexes" => CreateIndexes(session.Resolve(request, create: false), request, command),
            "listIndexes" => Cursor(IndexesOf(Existing(request)), $"{DatabaseOf(request)}.$cmd.listIndexes"),
            "dropIndexes" => DropIndexes(Existing(request), command),
            "validate" => BsonDocument.Of(("nrecords", Existing(request).Count), ("valid", true)),
            "drop" => Drop(Existing(request)),
            "listCollections" => ListCollections(DatabaseOf(request), command.FindString("filter.name")),
            "listDatabases" => ListDatabases(),
            "dbStats" => DatabaseStatistics(DatabaseOf(request)),
            "dropDatabase" => DropDatabase(DatabaseOf(request)),
            _ => null,
        };
    }

    private BsonDocument Hello(ReadOnlySpan<byte> request)
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        HelloCommand.WriteElements(writer, request, session.ConnectionId, "mongoperfNull"u8);
        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    private static BsonDocument BuildInfo()
    {
        var writer = new BsonWriter();
        writer.StartDocument();
        HelloCommand.WriteBuildInfo(writer, "null", "mongoperfNull"u8);
        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    /// <summary>What the null server counts itself, in mongod's places.</summary>
    private BsonDocument Status()
    {
        const double MegaByte = 1 << 20;
        using var self = Process.GetCurrentProcess();
        NullCounters counters = store.Counters;
        return BsonDocument.Of(
            ("host", Environment.MachineName),
            ("version", HelloCommand.Version),
            ("process", "mongoperf null-server"),
            ("pid", (long)Environment.ProcessId),
            ("uptime", Math.Floor((DateTime.UtcNow - store.StartedAt).TotalSeconds)),
            ("connections", BsonDocument.Of(("current", store.Network.Connections), ("totalCreated", store.Network.ConnectionsCreated))),
            ("extra_info", BsonDocument.Of(
                ("user_time_us", (long)self.UserProcessorTime.TotalMicroseconds), ("system_time_us", (long)self.PrivilegedProcessorTime.TotalMicroseconds))),
            ("mem", BsonDocument.Of(
                ("resident", (int)(self.WorkingSet64 / MegaByte)), ("virtual", (int)Math.Min(int.MaxValue, self.VirtualMemorySize64 / MegaByte)))),
            ("metrics", BsonDocument.Of(("document", BsonDocument.Of(("inserted", counters[Counted.Insert]), ("returned", counters[Counted.Returned]))))),
            ("network", BsonDocument.Of(
                ("bytesIn", store.Network.BytesIn), ("bytesOut", store.Network.BytesOut), ("numRequests", store.Network.Requests))),
            ("opcounters", BsonDocument.Of(
                ("insert", counters[Counted.Insert]), ("query", counters[Counted.Query]), ("update", counters[Counted.Update]),
                ("delete", counters[Counted.Delete]), ("getmore", counters[Counted.GetMore]), ("command", counters[Counted.Command]))));
    }

    /// <summary>Of the collection, whatever the filter.</summary>
    private static BsonDocument Count(NullCollection? collection, BsonDocument command)
    {
        long most = command.FindInt64("limit") is > 0 and var limit ? limit : long.MaxValue;
        return BsonDocument.Of(("n", Math.Min(collection?.Count ?? 0, most)));
    }

    /// <summary>The value that one of the documents has.</summary>
    private static BsonDocument Distinct(NullCollection? collection, BsonDocument command)
    {
        var found = new BsonWriter();
        found.StartDocument();
        collection?.FindOne(found, BsonDocument.Empty.Bytes);
        found.End();
        BsonValue? value = new BsonDocument(found.ToArray()).Find($"0.{command.FindString("key")}");
        return BsonDocument.Of(("values", value is null ? Array.Empty<BsonValue>() : [value.Value]));
    }

    /// <summary>One document with the number of documents, whatever the pipeline: right for a count by $group, and for $collStats.</summary>
    private static BsonDocument Aggregate(NullCollection? collection, BsonDocument command)
    {
        long count = collection?.Count ?? 0;
        BsonDocument result = command.Find("pipeline.0.$collStats") is null
            ? BsonDocument.Of(("_id", null), ("n", count))
            : BsonDocument.Of(("storageStats", Statistics(collection)), ("count", count));
        return Cursor([result], collection?.FullName ?? "");
    }

    private BsonDocument Explain(BsonDocument command)
    {
        BsonDocument find = command.FindDocument("explain") ?? throw new NullCommandException(9, "FailedToParse", "explain: the command is missing");
        NullCollection? collection = store.Find(DatabaseOf(command.Bytes), find.First().Value.ToString(), create: false);
        string? index = IndexFor(find, collection);
        // No scan is ever long here, so that nobody is advised to make an index.
        long returned = Math.Min(FindRequest.Read(find.Bytes).OnlyBatch, collection?.Count ?? 0);
        BsonDocument plan = index is null
            ? BsonDocument.Of(("stage", "COLLSCAN"))
            : BsonDocument.Of(("stage", "FETCH"), ("inputStage", BsonDocument.Of(("stage", "IXSCAN"), ("indexName", index))));
        return BsonDocument.Of(
            ("explainVersion", "1"),
            ("queryPlanner", BsonDocument.Of(("winningPlan", plan), ("rejectedPlans", Array.Empty<BsonDocument>()))),
            ("executionStats", BsonDocument.Of(
                ("executionSuccess", true), ("nReturned", returned), ("executionTimeMillis", 0),
                ("totalKeysExamined", index is null ? 0 : returned), ("totalDocsExamined", returned), ("executionStages", plan))));
    }

    /// <summary>One that begins with the first field of the filter, or else of the sort.</summary>
    private static string? IndexFor(BsonDocument find, NullCollection? collection)
    {
        string? field = FirstField(find, "filter") ?? FirstField(find, "query") ?? FirstField(find, "sort");
        return field == "_id" ? "_id_" : collection?.Indexes.FirstOrDefault(index => FirstField(index, "key") == field)?.FindString("name");
    }

    private static string? FirstField(BsonDocument document, string name) => document.FindDocument(name)?.Select(element => element.Key).FirstOrDefault();

    /// <summary>Of a collection that is not there, zeros.</summary>
    private static BsonDocument Statistics(NullCollection? collection)
    {
        IReadOnlyList<BsonDocument> indexes = collection is null ? [] : IndexesOf(collection);
        return BsonDocument.Of(
        [
            ("ns", collection?.FullName ?? ""), ("count", collection?.Count ?? 0), ("size", collection?.Bytes ?? 0), .. SizesOnDisk,
            ("nindexes", indexes.Count), ("totalIndexSize", 0L), ("totalSize", 0L),
            ("indexSizes", BsonDocument.Of([.. indexes.Select(index => (index.FindString("name") ?? "", (object?)0L))])),
        ]);
    }

    private static (string, object?)[] SizesOnDisk => [("storageSize", 0L), ("freeStorageSize", 0L), ("remark", Remark)];

    private BsonDocument Create(NullCollection? known, ReadOnlySpan<byte> request)
    {
        if (known is not null)
            throw new NullCommandException(48, "NamespaceExists", $"Collection {known.FullName} already exists.");
        session.Resolve(request, create: true);
        return BsonDocument.Empty;
    }

    private BsonDocument CreateIndexes(NullCollection? known, ReadOnlySpan<byte> request, BsonDocument command)
    {
        NullCollection collection = known ?? session.Resolve(request, create: true)!;
        int before = collection.Indexes.Count + 1;
        foreach ((_, BsonValue index) in command.FindDocument("indexes") ?? BsonDocument.Empty)
            collection.AddIndex(index.ToDocument());
        return BsonDocument.Of(
            ("numIndexesBefore", before), ("numIndexesAfter", collection.Indexes.Count + 1), ("createdCollectionAutomatically", known is null));
    }

    private static IReadOnlyList<BsonDocument> IndexesOf(NullCollection collection) =>
        [BsonDocument.Of(("v", 2), ("key", BsonDocument.Of(("_id", 1))), ("name", "_id_")), .. collection.Indexes];

    private static BsonDocument DropIndexes(NullCollection collection, BsonDocument command)
    {
        int before = collection.Indexes.Count + 1;
        collection.RemoveIndex(command.FindString("index") ?? "*");
        return BsonDocument.Of(("nIndexesWas", before));
    }

    private BsonDocument Drop(NullCollection collection)
    {
        store.Drop(collection);
        return BsonDocument.Of(("ns", collection.FullName), ("nIndexesWas", collection.Indexes.Count + 1));
    }

    /// <summary>A filter may ask for a name; nothing else is looked at.</summary>
    private BsonDocument ListCollections(string database, string? name) => Cursor(
        [
            .. store.CollectionsOf(database).Where(collection => name is null || name == collection.Name)
                .Select(collection => BsonDocument.Of(("name", collection.Name), ("type", "collection"), ("options", BsonDocument.Empty))),
        ],
        $"{database}.$cmd.listCollections");

    private BsonDocument ListDatabases() => BsonDocument.Of(
        ("databases", store.Databases.Select(name => BsonDocument.Of(("name", name), ("sizeOnDisk", 0L), ("empty", false)))), ("totalSize", 0L));

    private BsonDocument DatabaseStatistics(string database)
    {
        IReadOnlyList<NullCollection> collections = store.CollectionsOf(database);
        return BsonDocument.Of(
        [
            ("db", database), ("collections", collections.Count), ("objects", collections.Sum(c => c.Count)), ("dataSize", collections.Sum(c => c.Bytes)),
            .. SizesOnDisk, ("indexes", collections.Sum(c => c.Indexes.Count + 1)), ("indexSize", 0L),
        ]);
    }

    private BsonDocument DropDatabase(string database)
    {
        foreach (NullCollection collection in store.CollectionsOf(database))
            store.Drop(collection);
        return BsonDocument.Of(("dropped", database));
    }

    private NullCollection Existing(ReadOnlySpan<byte> request) =>
        session.Resolve(request, create: false) ?? throw new NullCommandException(26, "NamespaceNotFound", "ns not found");

    private static BsonDocument Cursor(IReadOnlyList<BsonDocument> documents, string ns) =>
        BsonDocument.Of(("cursor", BsonDocument.Of(("firstBatch", documents), ("id", 0L), ("ns", ns))));

    private static string DatabaseOf(ReadOnlySpan<byte> request) => Encoding.UTF8.GetString(NullSession.DatabaseOf(request));
}

/// <summary>A command is refused, with MongoDB's code and name.</summary>
internal sealed class NullCommandException(int code, string codeName, string message) : Exception(message)
{
    public int Code { get; } = code;

    public string CodeName { get; } = codeName;
}
