using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>A scenario learned from a deployment: it resembles it, holds none of its values, and only reads were sent for it.</summary>
[Collection(OtherTests.Name)]
public sealed class LearnTests(TestServers servers) : IDisposable
{
    private static readonly string[] Reading =
        ["find", "aggregate", "listCollections", "collStats", "getMore", "listIndexes", "count", "killCursors", "dbStats"];

    private readonly RunsFolder _runs = new();

    private string File => Path.Combine(_runs.Path, "my.yaml");

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void Learned_scenario_runs_and_its_data_are_like_those_it_was_learned_from(string kind)
    {
        TestServer server = servers[kind];
        string shop = servers.NewDatabase();
        string orders = Path.Combine(_runs.Path, "orders.yaml");
        Directory.CreateDirectory(_runs.Path);
        System.IO.File.WriteAllText(orders, """
            data:
              orders:
                count: 3000
                document:
                  customer: {^distinct: {values: 200, of: {^number: {step: 3}}, key: {zipfian: {theta: 0.7, scrambled: false}}}}
                  state: {^choice: {of: [new, paid, sent], weights: [1, 2, 7]}}
                  placed: {^date: {start: 2024-01-01, step: 90s}}
                  total: {^double: [1, 500]}
                  note: {^optional: {share: 0.4, of: {^string: [10, 30]}}}
                  items: {^array: {length: [1, 4], of: {product: {^int: [1, 900]}, price: {^double: [1, 90]}}}}
                indexes: [customer, {state: 1, placed: -1}, {items.product: 1}]
            phases: [{load: orders, threads: 2}]
            """);
        ProgramRun.Run("run", orders, "--uri", server.Uri, "--db", shop, "--out", _runs.Path).Expect(0);
        Assert.Contains("1 collection, 3 indexes",
            ProgramRun.Run("learn", "--uri", server.Uri, "--db", shop, "-o", File).Expect(0).Output, StringComparison.Ordinal);
        ProgramRun.Run("validate", File).Expect(0);
        Assert.Contains("figures are close enough",
            ProgramRun.Run("learn", "--check", File, "--against", server.Uri, "--db", shop).Expect(0).Output, StringComparison.Ordinal);
        string copy = servers.NewDatabase();
        ProgramRun.Run("run", File, "--uri", server.Uri, "--db", copy, "--scale", "0.1", "--out", _runs.Path).Expect(0);
        using MongoConnection connection = server.Connect();
        Assert.Equal(300, Documents.Count(connection, copy, "orders"));
        // Other data are told from them.
        System.IO.File.WriteAllText(File, System.IO.File.ReadAllText(File).Replace("count: 3000", "count: 4000", StringComparison.Ordinal));
        Assert.Contains("+33.3 %",
            ProgramRun.Run("learn", "--check", File, "--against", server.Uri, "--db", shop).Expect(99).Output, StringComparison.Ordinal);
    }

    [MongodFact]
    public void Only_reads_arrive_and_no_value_leaves()
    {
        TestServer mongod = servers["mongod"];
        string shop = servers.NewDatabase();
        using MongoConnection connection = mongod.Connect();
        Insert(connection, shop);
        foreach (string database in (string[])[shop, "admin"])
            connection.RunCommand(database, BsonDocument.Of(("profile", 2)));
        try
        {
            ProgramRun.Run("learn", "--uri", mongod.Uri, "--db", shop, "-o", File).Expect(0);
        }
        finally
        {
            foreach (string database in (string[])[shop, "admin"])
                connection.RunCommand(database, BsonDocument.Of(("profile", 0)));
        }

        string[] commands = [.. Documents.Find(connection, shop, "system.profile", BsonDocument.Empty)
            .Select(one => one.FindDocument("command")?.FirstOrDefault().Key ?? one.FindString("op")!).Where(one => one != "profile")
                .Distinct()];
        connection.RunCommand("admin", BsonDocument.Of(("drop", "system.profile")));
        Assert.Contains("find", commands);
        Assert.All(commands, command => Assert.Contains(command, Reading));
        Assert.Equal(["people", "system.profile"], Documents.CollectionNames(connection, shop));
        string text = System.IO.File.ReadAllText(File);
        foreach (string value in People.SelectMany(Texts))
            Assert.DoesNotContain(value, text, StringComparison.Ordinal);
        Assert.Contains("email", text, StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_validator_is_learned_without_its_values_and_the_servers_own_lets_all_documents_pass()
    {
        TestServer mongod = servers["mongod"];
        string shop = servers.NewDatabase();
        string copy = servers.NewDatabase();
        using MongoConnection connection = mongod.Connect();
        connection.RunCommand(shop, BsonDocument.Of(("create", "orders"), ("validationLevel", "moderate"), ("validator",
            ExtendedJson.Parse("""
                {"$jsonSchema": {"required": ["state", "total"], "properties": {"state": {"enum": ["neu1", "bezahlt", "versandt"]},
                    "total": {"bsonType": "double", "minimum": 17.25}, "tags": {"bsonType": "array", "items": {"bsonType": "string"}}}}}
                """))));
        Documents.Insert(connection, shop, "orders", [.. Enumerable.Range(0, 300).Select(i => BsonDocument.Of(
            ("state", i % 3 == 0 ? "bezahlt" : "neu1"), ("total", 17.25 + i), ("tags", new object[] { $"t{i}" })))]);
        ProgramRun.Run("learn", "--uri", mongod.Uri, "--db", shop, "-o", File).Expect(0);
        Assert.DoesNotMatch("neu1|bezahlt|versandt|17[.]25", System.IO.File.ReadAllText(File));
        ProgramRun.Run("run", File, "--uri", mongod.Uri, "--db", copy, "--out", _runs.Path, "--max-errors", "0").Expect(0);
        Assert.Equal(300, Documents.Count(connection, copy, "orders"));
        BsonDocument options = connection.RunCursor(copy, BsonDocument.Of(("listCollections", 1),
            ("filter", BsonDocument.Of(("name", "orders"))))).Single().FindDocument("options")!;
        Assert.Equal("moderate", options.FindString("validationLevel"));
        Assert.Equal(("double", "string"), (options.FindString("validator.$jsonSchema.properties.total.bsonType"),
            options.FindString("validator.$jsonSchema.properties.tags.items.bsonType")));
        Assert.Equal(2, options.FindDocument("validator.$jsonSchema.properties.state.enum")!.Count());
    }

    [MongodFact]
    public void A_user_who_may_only_read_is_enough()
    {
        using SecuredMongod mongod = SecuredMongod.Start("--auth");
        mongod.CreateUser("root", "secret", "admin");
        using MongoConnection root = mongod.Open(mongod.Uri("root:secret", "authSource=admin"));
        Insert(root, "shop");
        root.RunCommand("admin", BsonDocument.Of(("createUser", "reader"), ("pwd", "secret"),
            ("roles", new[] { BsonDocument.Of(("role", "read"), ("db", "shop")) })));
        string uri = mongod.Uri("reader:secret", "authSource=admin");
        Assert.Contains("1 collection",
            ProgramRun.Run("learn", "--uri", uri, "--hash-names", "-o", File).Expect(0).Output, StringComparison.Ordinal);
        Assert.DoesNotContain("email", System.IO.File.ReadAllText(File), StringComparison.Ordinal);
        ProgramRun.Run("learn", "--uri", uri, "-o", File).Expect(2).Says("is already there");
        ProgramRun.Run("learn", "--check", File).Expect(2).Says("--against is missing: the deployment to compare with");
    }

    private static BsonDocument[] People { get; } = [.. Enumerable.Range(0, 300).Select(i => BsonDocument.Of(
        ("email", $"person{i * 7919}@example.org"), ("country", $"Land{i % 4}"), ("address", BsonDocument.Of(("street",
            $"Gasse {i * 31}"))),
        ("tags", new object[] { $"tag-{i % 9}-red", "gemeinsam" }), ("age", i % 80)))];

    private static void Insert(MongoConnection connection, string database)
    {
        Documents.Insert(connection, database, "people", People);
        connection.RunCommand(database, BsonDocument.Of(("createIndexes", "people"), ("indexes", new[]
        {
            BsonDocument.Of(("key", BsonDocument.Of(("email", 1))), ("name", "email_1"), ("unique", true)),
            BsonDocument.Of(("key", BsonDocument.Of(("age", 1))), ("name", "age_1"),
                ("partialFilterExpression", BsonDocument.Of(("country", "Land2")))),
        })));
    }

    private static IEnumerable<string> Texts(BsonDocument document) => document.SelectMany(field =>
        field.Value.Type == BsonType.String ? [field.Value.ToString()]
        : field.Value.Type is BsonType.Document or BsonType.Array ? Texts(field.Value.ToDocument()) : []);
}
