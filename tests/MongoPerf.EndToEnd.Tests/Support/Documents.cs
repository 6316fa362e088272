using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>Looks at a collection on its own account: whole documents, never counters.</summary>
internal static class Documents
{
    public const ulong DefaultSeed = 42;

    /// <summary>Connections to the server. Those of MongoDB.Driver's monitors may outlive the run that opened them.</summary>
    public static long CountConnections(MongoConnection connection) =>
        connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1))).FindInt64("connections.current")!.Value;

    /// <summary>
    /// As if the time had passed that the writers of a database's collections have: the last inserts of one that was killed have arrived.
    /// </summary>
    /// <param name="connection">To the server.</param>
    /// <param name="database">Of the collections.</param>
    /// <param name="before">The server's connections before the killed writer started.</param>
    public static void ExpireLease(MongoConnection connection, string database, long before)
    {
        // A server closes a dead client's connection when it has read all that was sent through it.
        Eventually.Is(() => CountConnections(connection) <= before);
        connection.RunCommand(database, BsonDocument.Of(("update", "mongoperf"), ("updates", new[]
        {
            BsonDocument.Of(("q", BsonDocument.Empty),
                ("u", BsonDocument.Of(("$set", BsonDocument.Of(("writer.until", DateTime.UnixEpoch))))), ("multi", true)),
        })));
    }

    /// <summary>
    /// Fails unless the collection holds documents 0 to count - 1 of the seed, byte by byte, no others, each once in every index.
    /// </summary>
    public static void AssertWhole(
        MongoConnection connection, long count, string database = "mongoperf", string collection = "series",
        ulong seed = DefaultSeed, int compressibility = 0)
    {
        AssertRight(connection, count, database, collection, TemplateOf(collection, seed, compressibility));
        Assert.Equal(
            ["Date_-1", "Number1_1", "Number_1", "_id_"], IndexNames(connection, database, collection).Order(StringComparer.Ordinal));
        foreach (string field in (string[])["Number", "Number1"])
        {
            BsonDocument all = BsonDocument.Of((field, BsonDocument.Of(("$gte", 0))));
            BsonDocument only = BsonDocument.Of(("_id", 0), (field, 1));
            Assert.Equal(
                count, Find(connection, database, collection, all, ("sort", BsonDocument.Of((field, 1))), ("projection", only)).Count());
        }

        long last = long.MaxValue;
        long dates = 0;
        foreach (BsonDocument document in Find(
            connection, database, collection, BsonDocument.Empty, ("sort", BsonDocument.Of(("Date", -1))),
            ("projection", BsonDocument.Of(("_id", 0), ("Date", 1)))))
        {
            long date = document.FindInt64("Date")!.Value;
            Assert.True(date < last, "Date does not decrease along its index");
            last = date;
            dates++;
        }

        Assert.Equal(count, dates);
    }

    /// <summary>Fails unless the collection holds documents 0 to count - 1, byte by byte, and no others.</summary>
    public static void AssertRight(MongoConnection connection, long count, string database, string collection, DocumentTemplate template)
    {
        long number = 0;
        foreach (BsonDocument document in Find(connection, database, collection, BsonDocument.Empty, ("sort", BsonDocument.Of(("_id", 1)))))
        {
            Assert.True(number < count, $"more than {count} documents");
            Assert.True(template.Make(number).Bytes.SequenceEqual(document.Bytes), $"document {number} is not the template's");
            number++;
        }

        Assert.Equal(count, number);
    }

    /// <summary>What makes the documents of a series.</summary>
    public static DocumentTemplate TemplateOf(string collection = "series", ulong seed = DefaultSeed, int compressibility = 0)
    {
        var overrides = new PlanOverrides
        {
            Parameters = new Dictionary<string, string> { ["collection"] = collection, ["compressibility"] = $"{compressibility}" },
        };
        return CollectionOf("series", overrides, seed).Documents;
    }

    /// <summary>The only collection of a scenario.</summary>
    public static PlanCollection CollectionOf(string scenario, PlanOverrides? overrides = null, ulong seed = DefaultSeed) =>
        Assert.Single(PlanReader.Read(ScenarioFile.Find(scenario), overrides ?? new PlanOverrides(), seed).Plan.Rounds[0].Collections);

    public static IEnumerable<BsonDocument> Find(
        MongoConnection connection, string database, string collection, BsonDocument filter, params (string Name, object? Value)[] more) =>
        connection.RunCursor(database, BsonDocument.Of([("find", collection), ("filter", filter), .. more]));

    /// <summary>Takes documents first to end - 1 of the default seed away.</summary>
    public static void DeleteNumbers(MongoConnection connection, string database, long first, long end, string collection = "series")
    {
        var numbers = new DocumentNumbers(DefaultSeed);
        BsonDocument range = BsonDocument.Of(("_id", BsonDocument.Of(("$gte", numbers.IdOf(first)), ("$lt", numbers.IdOf(end)))));
        BsonDocument reply = connection.RunCommand(database, BsonDocument.Of(
            ("delete", collection), ("deletes", new[] { BsonDocument.Of(("q", range), ("limit", 0)) })));
        Assert.Equal(end - first, reply.FindInt64("n"));
    }

    public static long Count(MongoConnection connection, string database, string collection = "series") =>
        Find(connection, database, collection, BsonDocument.Empty, ("projection", BsonDocument.Of(("_id", 1)))).LongCount();

    public static IReadOnlyList<string> IndexNames(MongoConnection connection, string database, string collection) =>
        [.. connection.RunCursor(database, BsonDocument.Of(("listIndexes", collection))).Select(index => index.FindString("name")!)];

    public static IReadOnlyList<string> CollectionNames(MongoConnection connection, string database) =>
        [.. connection.RunCursor(database, BsonDocument.Of(("listCollections", 1), ("nameOnly", true)))
            .Select(entry => entry.FindString("name")!).Order(StringComparer.Ordinal)];

    public static void Insert(MongoConnection connection, string database, string collection, params BsonDocument[] documents) =>
        connection.RunCommand(database, BsonDocument.Of(("insert", collection), ("documents", documents)));

    /// <summary>One behind the highest number that is there; 0 when there is none.</summary>
    public static long FindEnd(
        MongoConnection connection, string database = "mongoperf", string collection = "series", ulong seed = DefaultSeed)
    {
        BsonDocument? last = Find(
            connection, database, collection, BsonDocument.Empty,
            ("sort", BsonDocument.Of(("_id", -1))), ("projection", BsonDocument.Of(("_id", 1))), ("limit", 1),
            ("singleBatch", true)).FirstOrDefault();
        return last?.Find("_id") is { } id ? new DocumentNumbers(seed).NumberOf(id.ToObjectId()) + 1 : 0;
    }
}

/// <summary>Watches how far a resumed run has come.</summary>
/// <param name="connect">Null while there is nobody to ask.</param>
/// <param name="database">Of the collection.</param>
/// <param name="collection">That is filled.</param>
internal sealed class GrowthWatch(Func<MongoConnection?> connect, string database = "mongoperf", string collection = "series") : IDisposable
{
    private MongoConnection? _connection;

    /// <summary>A server that the test started.</summary>
    public static GrowthWatch Of(TestServer server) => new(server.Connect);

    /// <summary>A server that the run starts; it is on another port after a resume.</summary>
    public static GrowthWatch Of(RunsFolder runs, string collection = "series") =>
        new(() => runs.Find(run => run.Deployment) is { } server
            ? MongoConnection.Open(ServerAddress.TryParse(server.Address)!, ConnectionSettings.Default)
            : null, collection: collection);

    /// <summary>0 while nobody answers.</summary>
    public long Read() => Ask(connection => Documents.FindEnd(connection, database, collection));

    /// <summary>Those that the server has counted since it was started, whoever sent them; 0 while it does not answer.</summary>
    public long CountFinds() =>
        Ask(connection => connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1))).FindInt64("opcounters.query")!.Value);

    public bool WaitFor(ProgramRun run, long documents) => run.WaitUntil(() => Read() >= documents, $"document {documents}");

    public void Dispose() => _connection?.Dispose();

    private long Ask(Func<MongoConnection, long> question)
    {
        try
        {
            _connection ??= connect();
            return _connection is null ? 0 : question(_connection);
        }
        catch (Exception e) when (e is IOException or ServerCommandException)
        {
            _connection?.Dispose();
            _connection = null;
            return 0;
        }
    }
}
