using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Recorded traffic is replayed: the same requests, replies compared, and nothing written that nobody allowed.</summary>
[Collection(LightTests.Name)]
public sealed class ReplayTests(TestServers servers) : IDisposable
{
    private const int Orders = 10;
    private static readonly BsonDocument Ok = BsonDocument.Of(("ok", 1.0));

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Reads_are_replayed_with_cursors_of_the_target_and_replies_are_compared(string kind)
    {
        using MongoConnection connection = MakeShop(servers[kind], out string shop);
        string file = Write(new TrafficFile()
            .Exchange(1, 1, BsonDocument.Of(("hello", 1), ("$db", "admin")), Ok)
            .Exchange(1, 2, BsonDocument.Of(("saslStart", 1), ("payload", "secret"), ("$db", "admin")), Ok)
            .Exchange(1, 3, Find(4), Cursor("firstBatch", 77, 4))
            .Exchange(2, 1, BsonDocument.Of(("getMore", 77L), ("collection", "orders"), ("batchSize", 4), ("$db", "shop")),
                Cursor("nextBatch", 77, 4))
            .Exchange(1, 4, BsonDocument.Of(("getMore", 77L), ("collection", "orders"), ("$db", "shop")), Cursor("nextBatch", 0, 2))
            .Exchange(1, 5, Find(3), Cursor("firstBatch", 88, 3))
            .Exchange(1, 6, BsonDocument.Of(("killCursors", "orders"), ("cursors", new object[] { 88L }), ("$db", "shop")), Ok)
            .Exchange(2, 2, BsonDocument.Of(("count", "orders"), ("query", BsonDocument.Empty), ("$db", "shop")),
                BsonDocument.Of(("n", Orders + 1), ("ok", 1.0)))
            .Exchange(2, 3, BsonDocument.Of(("find", 5), ("$db", "shop")),
                BsonDocument.Of(("ok", 0.0), ("errmsg", "no"), ("code", 4711))));
        string output = ProgramRun.Run("replay", file, "--uri", servers[kind].Uri, "--database", $"shop={shop}", "--out", _runs.Path,
            "--speed", "max", "--full").Expect(9).Output;
        using var run = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1]));
        Assert.Equal(new Accounting(7, 6, 1, 0), run.Accounting);
        OperationResult found = Assert.Single(run.Results, result => result.Operation == "find shop.orders {}");
        Assert.Equal((2, 7), (found.Operations, found.Documents));
        Assert.Equal((2, 0), (found.Replay!.Compared, found.Replay.Different));
        OperationResult more = Assert.Single(run.Results, result => result.Operation == "getMore shop.orders");
        Assert.Equal((2, 6, 0), (more.Operations, more.Documents, more.Replay!.Different));
        OperationResult counted = Assert.Single(run.Results, result => result.Operation == "count shop.orders {}");
        Assert.Equal(new ReplayPair(Orders + 1, Orders), counted.Replay!.FirstCount);
        OperationResult refused = Assert.Single(run.Results, result => result.Failed > 0);
        Assert.Equal(4711, refused.Replay!.FirstCode!.Recorded);
        Assert.Contains("2 of 7 replies differ from the recorded ones", output, StringComparison.Ordinal);
        Assert.Contains("likely cause: the target has other data than the recording began with", output, StringComparison.Ordinal);
        Assert.Equal(["orders"], Documents.CollectionNames(connection, shop));
        string beside = ProgramRun.Run("compare", _runs.Ids[^1], "--out", _runs.Path).Expect(0).Output;
        Assert.Contains(
            "Service times, recorded (in steps of 1 ms) and replayed", beside.ReplaceLineEndings(" "), StringComparison.Ordinal);
        Assert.Contains("find shop.orders {}", beside, StringComparison.Ordinal);
    }

    /// <summary>As fast as an empty target answers says nothing of the one that the recording is about.</summary>
    [Theory, EachServer]
    public void A_target_without_the_data_is_told_and_the_exit_code_says_so(string kind)
    {
        using MongoConnection connection = servers[kind].Connect();
        string copy = servers.NewDatabase();
        var file = new TrafficFile();
        for (int i = 0; i < 10; i++)
        {
            file.Exchange(1, 3 * i, Find(1), Cursor("firstBatch", 0, 1))
                .Exchange(1, (3 * i) + 1, BsonDocument.Of(("update", "stock"), ("updates", new object[]
                {
                    BsonDocument.Of(("q", BsonDocument.Of(("_id", i))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("v", 1)))))),
                }), ("$db", "shop")), BsonDocument.Of(("n", 1), ("nModified", 1), ("ok", 1.0)))
                .Exchange(1, (3 * i) + 2, BsonDocument.Of(("insert", "log"), ("documents", new object[] { Order(i) }), ("$db", "shop")),
                    BsonDocument.Of(("n", 1), ("ok", 1.0)));
        }

        string[] replay = ["replay", Write(file), "--uri", servers[kind].Uri, "--out", _runs.Path, "--speed", "max"];
        string output = Spaced(ProgramRun.Run([.. replay, "--database", $"shop={copy}"]).Expect(9).Output);
        Assert.Contains($"BAD likely cause: the target is empty: {copy} has none of the 2 collections that the recording uses; 20 of 30 "
            + "replies differ from the recorded ones: 0 in the error, 20 in the number of documents", output, StringComparison.Ordinal);
        Assert.DoesNotContain("likely cause", Spaced(ProgramRun.Run([.. replay, "--database", $"shop={servers.NewDatabase()}",
            "--max-different", "67"]).Expect(0).Output), StringComparison.Ordinal);

        // With the documents there, but for what an update changes.
        string full = servers.NewDatabase();
        connection.RunCommand(full, BsonDocument.Of(("insert", "orders"), ("documents", new object[] { Order(0) })));
        connection.RunCommand(full, BsonDocument.Of(("insert", "stock"), ("documents", Enumerable.Range(0, 10)
            .Select(i => (object)BsonDocument.Of(("_id", i), ("v", 1))).ToArray())));
        output = Spaced(ProgramRun.Run([.. replay, "--database", $"shop={full}", "--yes-write-to", $"{full}.*"]).Expect(9).Output);
        Assert.Contains("10 of 30 replies differ from the recorded ones: 0 in the error, 0 in the number of documents, 10 in how many were "
            + "changed, 0 in their size; the first of ", output, StringComparison.Ordinal);
        Assert.Contains(": 0 documents changed, recorded with 1", output, StringComparison.Ordinal);

        static string Spaced(string text) => string.Join(' ', text.Split([' ', '\n'], StringSplitOptions.RemoveEmptyEntries));
    }

    /// <summary>What the second connection does saw, when it was recorded, what the first one had done.</summary>
    [Theory, EachServer]
    public void Ids_that_the_server_makes_are_the_target_s_own_and_dependencies_are_kept(string kind)
    {
        using MongoConnection connection = servers[kind].Connect();
        string copy = servers.NewDatabase();
        var file = new TrafficFile();
        for (int i = 0; i < 20; i++)
        {
            var made = new ObjectId(0x66000000, (ulong)i);
            BsonDocument byId = BsonDocument.Of(("_id", made));
            file.Exchange(1, i, BsonDocument.Of(("update", "orders"), ("updates", new object[]
                {
                    BsonDocument.Of(("q", BsonDocument.Of(("name", i))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("v", 1))))),
                        ("upsert", true)),
                }), ("$db", "shop")),
                BsonDocument.Of(("n", 1), ("upserted", new object[] { BsonDocument.Of(("index", 0), ("_id", made)) }), ("ok", 1.0)))
                .Exchange(2, 3 * i, BsonDocument.Of(("count", "orders"), ("query", byId), ("$db", "shop")), Counted(1))
                .Exchange(2, (3 * i) + 1, BsonDocument.Of(("count", "orders"), ("query", BsonDocument.Of(("v", 1))), ("$db", "shop")),
                    Counted(1))
                .Exchange(2, (3 * i) + 2, BsonDocument.Of(("delete", "orders"), ("deletes", new object[]
                {
                    BsonDocument.Of(("q", byId), ("limit", 1)),
                }), ("$db", "shop")), Counted(1));
        }

        ProgramRun.Run("replay", Write(file), "--uri", servers[kind].Uri, "--database", $"shop={copy}", "--out", _runs.Path,
            "--speed", "max", "--dependencies", "--threads", "2").Expect(0);
        using var run = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1]));
        Assert.Equal(new Accounting(80, 80, 0, 0), run.Accounting);
        Assert.All(run.Results, result => Assert.Equal((result.Operations, 0), (result.Replay!.Compared, result.Replay.Different)));
        Assert.Equal(0, Count(connection, copy));

        static BsonDocument Counted(int documents) => BsonDocument.Of(("n", documents), ("ok", 1.0));
    }

    [Theory, EachServer]
    public void Writes_need_an_empty_database_or_a_confirmation_and_drop_nothing_that_was_there(string kind)
    {
        using MongoConnection connection = MakeShop(servers[kind], out string shop);
        TrafficFile inserts = new TrafficFile()
            .Exchange(1, 1, Insert(1000), BsonDocument.Of(("n", 1), ("ok", 1.0)))
            .Request(1, 2, Insert(1001), OpMsgFlags.MoreToCome)
            .Exchange(1, 3, Insert(1000), Duplicate());
        string file = Write(inserts);
        string[] replay = ["replay", file, "--uri", servers[kind].Uri, "--out", _runs.Path, "--speed", "max"];
        string[] into = [.. replay, "--database", $"shop={shop}"];
        string refusal = ProgramRun.Run(into).Expect(6).Errors;
        Assert.Contains($"writes what the run does not create: {shop}.orders; nothing was sent", refusal, StringComparison.Ordinal);
        Assert.Contains($"--yes-write-to {shop}.*", refusal.Replace("'", "", StringComparison.Ordinal), StringComparison.Ordinal);
        Assert.Equal(Orders, Count(connection, shop));
        Assert.Empty(_runs.Ids);

        ProgramRun.Run([.. into, "--yes-write-to", $"{shop}.orders"]).Expect(0);
        Assert.Equal(Orders + 2, Count(connection, shop));

        // A database of its own needs no confirmation, the first time.
        string copy = shop + "_copy";
        ProgramRun.Run([.. replay, "--database", $"shop={copy}"]).Expect(0);
        Assert.Equal(2, Count(connection, copy));
        ProgramRun.Run([.. replay, "--database", $"shop={copy}"]).Expect(6);

        file = Write(inserts.Exchange(1, 4, BsonDocument.Of(("drop", "orders"), ("$db", "shop")), Ok));
        Assert.Contains($"has drop of {shop}.orders, which this run did not create",
            ProgramRun.Run([.. into, "--yes-write-to", $"{shop}.*"]).Expect(6).Errors, StringComparison.Ordinal);
        Assert.Equal(Orders + 2, Count(connection, shop));
        connection.RunCommand(copy, BsonDocument.Of(("dropDatabase", 1)));
    }

    [Fact]
    public void What_may_replace_data_is_refused_whatever_was_named()
    {
        using MongoConnection connection = MakeShop(servers["embedded"], out string shop);
        foreach ((BsonDocument command, string[] confirmed, string expected) in ((BsonDocument, string[], string)[])
        [
            (BsonDocument.Of(("mapReduce", "orders"), ("map", ""), ("reduce", ""), ("out", "orders"), ("$db", "shop")),
                ["--database", $"shop={shop}", "--yes-write-to", $"{shop}.*"], $"has mapReduce of {shop}.orders"),
            (BsonDocument.Of(("applyOps", Array.Empty<object>()), ("$db", "admin")), ["--yes-write-to", "server"],
                "has applyOps, which may remove what this run did not create; nothing was sent"),
            (BsonDocument.Of(("insert", "system.users"), ("$db", "admin")), [], "allow them with --yes-write-to admin.system.users"),
        ])
        {
            string file = Write(new TrafficFile().Exchange(1, 1, command, Ok));
            Assert.Contains(expected, ProgramRun.Run(["replay", file, "--uri", servers["embedded"].Uri, "--out", _runs.Path, .. confirmed])
                .Expect(6).Errors, StringComparison.Ordinal);
        }

        Assert.Equal(Orders, Count(connection, shop));
    }

    [Fact]
    public void What_is_recorded_over_time_is_replayed_over_time()
    {
        var file = new TrafficFile();
        for (int i = 0; i < 5; i++)
        {
            file.Exchange(1, i, BsonDocument.Of(("ping", 1), ("$db", "admin")), Ok);
            file.At += 400;
        }

        ProgramRun.Run("replay", Write(file), "--uri", servers["embedded"].Uri, "--out", _runs.Path, "--speed", "2", "--loop", "2")
            .Expect(0);
        using var run = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1]));
        Assert.Equal([5, 5], run.Results.Select(result => result.Operations));
        // 1.6 seconds at twice the speed: each request was due at its own time, and none came before it.
        Assert.All(run.Results, result => Assert.True(result.Seconds >= 0.75, $"{result.Seconds} s"));
        Assert.All(run.Results, result => Assert.NotNull(result.LatenessMicroseconds));
        // Two clients send 10 requests in 1.6 s; for 12 in a second they need 0.83 s, and the second one begins half a second later.
        string[] twice = ["replay", Path.Combine(_runs.Path, "recorded.bin"), "--uri", servers["embedded"].Uri, "--out", _runs.Path,
            "--copies", "2"];
        Assert.Contains("--rate: 2 copies of the recording have 6.234 requests per second; allowed: 0.001 to 1000 times as many",
            ProgramRun.Run([.. twice, "--rate", "7k"]).Expect(2).Errors, StringComparison.Ordinal);
        ProgramRun.Run([.. twice, "--rate", "12"]).Expect(0);
        using var copied = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1]));
        OperationResult pings = Assert.Single(copied.Results);
        Assert.Equal((10, 2), (pings.Operations, pings.Threads));
        Assert.True(pings.Seconds >= 1.2, $"{pings.Seconds} s");
    }

    [Fact]
    public void What_the_documentation_shows_runs()
    {
        string[] lines = [.. File.ReadAllLines(Path.Combine(RepositoryPaths.Root, "docs", "workload.md"))
            .Where(line => line.StartsWith("./mongoperf replay", StringComparison.Ordinal))];
        Assert.NotEmpty(lines);
        using MongoConnection connection = MakeShop(servers["embedded"], out _);
        string file = Write(new TrafficFile()
            .Exchange(1, 1, Find(1), Cursor("firstBatch", 0, 0))
            .Exchange(1, 2, Insert(1), BsonDocument.Of(("n", 1), ("ok", 1.0))));
        foreach (string line in lines)
        {
            string[] typed = [.. line.Split(' ', StringSplitOptions.RemoveEmptyEntries).Skip(1)
                .Select(word => word == "shop.bin" ? file : word == "mongodb://host" ? servers["embedded"].Uri : word)];
            ProgramRun.Run([.. typed, "--out", _runs.Path]).Expect(0);
        }

        connection.RunCommand("shop_copy", BsonDocument.Of(("dropDatabase", 1)));
    }

    [Fact]
    public void Wrong_calls_are_told_before_anything_starts()
    {
        string file = Write(new TrafficFile().Exchange(1, 1, Find(1), Cursor("firstBatch", 0, 1)));
        foreach ((string[] typed, string expected) in ((string[], string)[])
        [
            (["--database", "shp=a"], "the recording has no request to 'shp'; it has some to shop"),
            (["--database", "shop"], "expected RECORDED=NAME"),
            (["--database", "shop="], "--database: '' has 0 bytes"),
            (["--speed", "0"], "allowed: a factor from 0.001 to 1000, or max"),
            (["--threads", "0"], "'0'"),
            (["--agents", "1"], "--agents needs --coordinator"),
            (["--speed", "2", "--rate", "5"], "--rate sets the speed"),
            (["--rate", "5"], "--rate: all requests of the recording came at once; allowed: no rate"),
            (["--copies", "0"], "'0'"),
            (["--max-different", "101%"], "'101%' is not valid; allowed: 0% to 100%"),
            (["--yes-write-to", "everything"], "names nothing that can be written"),
            (["--uri", "tyrant://localhost"], "another system"),
        ])
            Assert.Contains(expected, ProgramRun.Run([.. typed.Prepend(file).Prepend("replay"), "--out", _runs.Path]).Expect(2).Errors,
                StringComparison.Ordinal);
        string text = Path.Combine(_runs.Path, "text.bin");
        File.WriteAllText(text, "no recording, whatever its name says: of that it is no judge");
        Assert.Contains("is not a recording of traffic", ProgramRun.Run("replay", text).Expect(2).Errors, StringComparison.Ordinal);
        Assert.Contains("text.bin.gone", ProgramRun.Run("replay", text + ".gone").Expect(2).Errors, StringComparison.Ordinal);
    }

    private static BsonDocument Find(int batch) =>
        BsonDocument.Of(("find", "orders"), ("filter", BsonDocument.Empty), ("batchSize", batch), ("$db", "shop"));

    private static BsonDocument Insert(int id) =>
        BsonDocument.Of(("insert", "orders"), ("documents", new object[] { Order(id) }), ("$db", "shop"));

    private static BsonDocument Order(int id) => BsonDocument.Of(("_id", id), ("sku", "s-1"));

    private static BsonDocument Duplicate() => BsonDocument.Of(("n", 0),
        ("writeErrors", new object[] { BsonDocument.Of(("index", 0), ("code", 11000), ("errmsg", "E11000 duplicate key error")) }),
        ("ok", 1.0));

    private static BsonDocument Cursor(string batch, long id, int documents) => BsonDocument.Of(
        ("cursor", BsonDocument.Of((batch, Enumerable.Range(0, documents).Select(i => (object)Order(i)).ToArray()), ("id", id),
            ("ns", "shop.orders"))), ("ok", 1.0));

    private static long Count(MongoConnection connection, string database) =>
        connection.RunCommand(database, BsonDocument.Of(("count", "orders"))).FindInt64("n")!.Value;

    private string Write(TrafficFile file) => file.Write(Path.Combine(Directory.CreateDirectory(_runs.Path).FullName, "recorded.bin"));

    private MongoConnection MakeShop(TestServer server, out string shop)
    {
        MongoConnection connection = server.Connect();
        shop = servers.NewDatabase();
        connection.RunCommand(shop, BsonDocument.Of(("insert", "orders"),
            ("documents", Enumerable.Range(0, Orders).Select(i => (object)Order(i)).ToArray())));
        return connection;
    }
}
