using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Runs on collections that MongoPerf did not make: they are read, by values that are there, and nothing is written.</summary>
[Collection(LightTests.Name)]
public sealed class ExistingDataTests(TestServers servers) : IDisposable
{
    private const int Products = 400;

    private static readonly string[] Reading =
    [
        "find", "count", "aggregate", "explain", "listCollections", "collStats", "getMore", "dbStats", "listIndexes", "distinct",
    ];

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Sampled_values_hit_what_is_there(string kind)
    {
        using MongoConnection connection = MakeShop(servers[kind], out string shop);
        string file = Write("""
            {name: sku, find: products, filter: {sku: ^existing}},
            {name: tag, count: products, filter: {tags: {^existing: {of: products.tags, draw: frequency, sample: 200}}}},
            {name: id, aggregate: products, pipeline: [{$match: {_id: ^existing}}]}
            """);
        foreach (string engine in (string[])["wire", "driver"])
        {
            ProgramRun.Run("run", file, "--uri", servers[kind].Uri, "--db", shop, "--engine", engine, "--out", _runs.Path).Expect(0);
            using var run = StoredRun.Open(Path.Combine(_runs.Path, _runs.Ids[^1]));
            // Each sku and each _id is one document's; a count has none.
            foreach (string name in (string[])["sku", "id"])
            {
                OperationResult result = Assert.Single(run.Results, result => result.Operation == name);
                Assert.Equal(result.Operations, result.Documents);
            }

            Assert.NotNull(run.Results.First(result => result.Operation == "sku").Plan);
        }

        string comparison = ProgramRun.Run(
            "compare", _runs.Ids[0], _runs.Ids[1], "--out", _runs.Path, "--full", "--force").Expect(0).Output;
        Assert.Contains("Replies on existing data: documents and bytes per reply", comparison, StringComparison.Ordinal);
        Assert.Equal(["products"], Documents.CollectionNames(connection, shop));
    }

    [MongodFact]
    public void Nothing_is_written_to_the_deployment_which_its_profiler_proves()
    {
        TestServer mongod = servers["mongod"];
        using MongoConnection connection = MakeShop(mongod, out string shop);
        string[] before = Databases(connection);
        foreach (string database in (string[])[shop, "admin"])
            connection.RunCommand(database, BsonDocument.Of(("profile", 2)));
        try
        {
            string file = Write("{find: products, filter: {sku: ^existing}}", "- {name: end, sizes: products}");
            ProgramRun.Run("run", file, "--uri", mongod.Uri, "--db", shop, "--out", _runs.Path).Expect(0);
            ProgramRun.Run("run", "q4", "--on", $"{shop}.products", "--filter", "{sku: ^existing}", "--operations", "50",
                "--threads", "1", "--uri", mongod.Uri, "--out", _runs.Path).Expect(0);
        }
        finally
        {
            foreach (string database in (string[])[shop, "admin"])
                connection.RunCommand(database, BsonDocument.Of(("profile", 0)));
        }

        BsonDocument[] profiled = [.. Documents.Find(connection, shop, "system.profile", BsonDocument.Empty)];
        string[] commands = [.. profiled.Select(one => one.FindDocument("command")?.FirstOrDefault().Key ?? one.FindString("op")!)
            .Where(command => command != "profile").Distinct()];
        Assert.Contains("find", commands);
        Assert.All(commands, command => Assert.Contains(command, Reading));
        Assert.DoesNotContain(profiled, one => one.FindString("op") is "insert" or "update" or "remove");
        // fsync and validate would lock or flush a server that is somebody else's.
        Assert.DoesNotContain(Documents.Find(connection, "admin", "system.profile", BsonDocument.Empty),
            one => one.FindDocument("command")?.Find("fsync") is not null);
        connection.RunCommand("admin", BsonDocument.Of(("drop", "system.profile")));
        Assert.Equal(before, Databases(connection));
        Assert.Equal(["products", "system.profile"], Documents.CollectionNames(connection, shop));
    }

    [MongodFact]
    public void A_user_who_may_only_read_is_enough()
    {
        using SecuredMongod mongod = SecuredMongod.Start("--auth");
        mongod.CreateUser("root", "secret", "admin");
        using MongoConnection root = mongod.Open(mongod.Uri("root:secret", "authSource=admin"));
        InsertProducts(root, "shop");
        root.RunCommand("admin", BsonDocument.Of(("createUser", "reader"), ("pwd", "secret"),
            ("roles", new[] { BsonDocument.Of(("role", "read"), ("db", "shop")) })));
        string uri = mongod.Uri("reader:secret", "authSource=admin");
        ProgramRun.Run("run", "q4", "--on", "shop.products", "--filter", "{sku: ^existing}", "--operations", "50", "--threads", "1",
            "--uri", uri, "--out", _runs.Path).Expect(0);
        ProgramRun.Run("run", "size", "--on", "shop.products", "--uri", uri, "--out", _runs.Path).Expect(0);
    }

    [Fact]
    public void What_can_not_be_sampled_is_refused_in_one_line_and_leaves_no_run()
    {
        TestServer server = servers["embedded"];
        using MongoConnection connection = MakeShop(server, out string shop);
        string[] run = ["run", "q4", "--uri", server.Uri, "--out", _runs.Path];
        ProgramRun.Run([.. run, "--on", $"{shop}.products", "--filter", "{skuu: ^existing}"]).Expect(2)
            .Says($"error: no document sampled from {shop}.products has a value to draw in 'skuu'");
        ProgramRun.Run([.. run, "--on", $"{shop}.orders", "--filter", "{sku: ^existing}"]).Expect(2)
            .Says($"error: {shop}.orders does not exist").Says("hint:  check its name, and that of its database");
        ProgramRun.Run([.. run, "--on", "a$b.products", "--filter", "{sku: ^existing}"]).Expect(2).Says("error: --on: 'a$b' contains '$'");
        Assert.Empty(_runs.Ids);
    }

    private string Write(string operations, string more = "")
    {
        string file = Path.Combine(_runs.Path, "existing.yaml");
        Directory.CreateDirectory(_runs.Path);
        File.WriteAllText(file, $$"""
            data:
              products: {existing: true}
            phases:
            - name: reads
              threads: 1
              count: 60
              operations: [{{operations.ReplaceLineEndings(" ")}}]
            {{more}}
            """);
        return file;
    }

    private MongoConnection MakeShop(TestServer server, out string shop)
    {
        shop = servers.NewDatabase();
        MongoConnection connection = server.Connect();
        InsertProducts(connection, shop);
        return connection;
    }

    private static void InsertProducts(MongoConnection connection, string shop) => Documents.Insert(connection, shop, "products",
        [.. Enumerable.Range(0, Products).Select(number => BsonDocument.Of(
            ("_id", number), ("sku", $"S{number}"), ("tags", new[] { $"t{number % 7}", "all" })))]);

    private static string[] Databases(MongoConnection connection) =>
        [.. connection.RunCommand("admin", BsonDocument.Of(("listDatabases", 1), ("nameOnly", true))).FindDocument("databases")!
            .Select(one => one.Value.ToDocument().FindString("name")!).Order(StringComparer.Ordinal)];
}
