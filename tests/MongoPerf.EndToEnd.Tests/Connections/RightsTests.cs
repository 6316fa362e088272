using System.Text.RegularExpressions;
using MongoPerf.Deployments;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>Users with fewer rights than root at a real mongod with --auth: each runs, or is refused in one line.</summary>
[Collection(OtherTests.Name)]
public sealed partial class RightsTests(RightsTests.Server server) : IClassFixture<RightsTests.Server>, IDisposable
{
    private const string Secret = "secret";

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodFact]
    public void ReadWrite_on_one_database_runs_a_series_and_is_told_what_it_does_without()
    {
        ProgramResult result = Series("loader", "shop").Expect(0)
            .Says("access: as 'loader' (readWrite on shop): collection sizes yes, sizes as of the server's last checkpoint "
                + "(fsync needs role hostManager), server state no (needs role clusterMonitor)");
        Assert.Contains("sizes may be up to a minute old: this user may not ask for a checkpoint (fsync needs role", result.Output,
            StringComparison.Ordinal);
        Assert.DoesNotContain("the server is elsewhere", result.All, StringComparison.Ordinal);
        Assert.DoesNotContain("other programs used", result.All, StringComparison.Ordinal);

        // Who may only read does so on what is there.
        Program("reader", "run", "q4", "--operations", "20", "--threads", "1", "--db", "shop").Expect(0);
    }

    [MongodFact]
    public void A_user_who_may_also_see_the_server_sees_it()
    {
        ProgramResult result = Series("watcher", "watched").Expect(0);
        Assert.Contains("as 'watcher' (clusterMonitor, readWrite on watched): collection sizes yes, sizes as of the server's last "
            + "checkpoint (fsync needs role hostManager), server state yes", result.All, StringComparison.Ordinal);
    }

    [MongodFact]
    public void A_custom_role_without_collStats_runs_without_sizes() =>
        Series("blind", "dim").Expect(0).Says("collection sizes no (needs role read on dim)")
            .Says("no sizes of dim.series: the server does not tell them, or not to this user (collStats needs role read on dim)");

    [MongodFact]
    public void Two_collections_and_nothing_else_are_enough_for_a_series() =>
        Series("frugal", "two").Expect(0)
            .Says("access: as 'frugal' (twoCollections): collection sizes no (needs role read on two), server state no (needs role "
                + "clusterMonitor)");

    [MongodTheory]
    [InlineData("reader", "shop", "'reader' may only read shop.series, which this run creates or writes; nothing was started")]
    [InlineData("loader", "elsewhere", "'loader' may not write elsewhere.series; nothing was started")]
    [InlineData("single", "one", "'single' may not write one.mongoperf, where MongoPerf keeps its markers; nothing was started")]
    [InlineData("powerless", "shop", "'powerless' may not write shop.series; nothing was started")]
    public void A_user_who_may_not_write_is_refused_in_one_line_before_anything_is_made(string user, string database, string line)
    {
        ProgramResult result = Series(user, database).Expect(3).Says($"error: {line}");
        // Error, hint, and what the exit code means.
        Assert.Equal(3, result.Errors.Trim().Split('\n').Length);
        Assert.DoesNotContain("signature", result.All, StringComparison.Ordinal);
        BsonDocument names = server.Root.RunCommand("admin", BsonDocument.Of(("listDatabases", 1), ("nameOnly", true)));
        Assert.DoesNotContain("elsewhere", names.FindDocument("databases")!.Select(one => one.Value.ToDocument().FindString("name")));
        if (user == "loader")
            result.Says("--db shop");
    }

    [MongodFact]
    public void Who_does_not_log_in_is_told_that_the_server_requires_it() =>
        ProgramRun.Run("series", "--target", "1k", "--step", "1k", "--tests", "batch", "--uri", server.Mongod.Uri(), "--out", _runs.Path)
            .Expect(3).Says("this server requires a login: --uri mongodb://USER@HOST/?authSource=admin asks for the password");

    [MongodFact]
    public void The_table_of_rights_is_what_the_server_says()
    {
        foreach (AccessNeed need in AccessReader.Needs.Values)
        {
            string name = Assert.Single(need.Actions);
            BsonDocument command = name switch
            {
                "collStats" => BsonDocument.Of(("collStats", "series")),
                "find" => BsonDocument.Of(("find", "shards")),
                "indexStats" => Aggregate("series", "$indexStats"),
                "shardedDataDistribution" => Aggregate(1, "$shardedDataDistribution"),
                "appendOplogNote" => BsonDocument.Of(("appendOplogNote", 1), ("data", BsonDocument.Of(("a", 1)))),
                _ => BsonDocument.Of((name, 1)),
            };
            string database = need.Database ?? (need.IsOfCluster ? "admin" : "table");
            using MongoConnection with = server.Open($"only-{need.Role}");
            // A single server has no oplog to note anything in, which it says to those who may ask.
            Assert.NotEqual(13, ServerError.From(with.RunUnchecked(database, command)).Code);
            using MongoConnection without = server.Open("powerless");
            Assert.Equal(13, ServerError.From(without.RunUnchecked(database, command)).Code);
        }
    }

    [Fact]
    public void The_table_of_rights_names_each_command_with_its_role()
    {
        string text = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "connecting.md"));
        (string Command, string Role)[] rows =
            [.. Row().Matches(text).Select(row => (row.Groups["command"].Value.Trim('`', '$'), row.Groups["role"].Value))];
        Assert.All(AccessReader.Needs.Values, need => Assert.Contains(
            (need.Actions[0] + (need.Database is { } database ? $" in {database}" : ""), need.Role), rows));
    }

    /// <summary>By the privileges that the server says a user has who holds the row's role and no other.</summary>
    [MongodFact]
    public void Each_row_of_the_table_names_a_role_that_gives_what_it_is_about()
    {
        string[] lines = File.ReadAllLines(Path.Combine(RepositoryPaths.Root, "docs", "connecting.md"));
        var rows = lines.SkipWhile(line => !line.StartsWith("| what | command | role |", StringComparison.Ordinal)).Skip(2)
            .TakeWhile(line => line.StartsWith('|')).Select(line => line.Split('|')).ToList();
        Assert.True(rows.Count > 10);
        using MongoConnection nobody = server.Open("powerless");
        var none = UserRights.Read(nobody);
        foreach (string[] row in rows)
        {
            string role = row[3].Split('`')[1];
            using MongoConnection with = server.Open($"only-{role}");
            var rights = UserRights.Read(with);
            foreach (string command in row[2].Split(',').Select(one => one.Trim(' ', '`', '$')))
            {
                Assert.True(May(rights, command), $"{role}: {command}");
                Assert.False(May(none, command), command);
            }
        }

        static bool May(UserRights rights, string command) => command switch
        {
            "fsync" or "serverStatus" or "replSetGetStatus" or "appendOplogNote" or "shardedDataDistribution" =>
                rights.MayOnCluster(command),
            "find in config" => rights.May("find", "config", "shards"),
            // What balancerStart and balancerStop take, by MongoDB's manual.
            "update in config" or "balancerStart" or "balancerStop" => rights.May("update", "config", "settings"),
            "shardCollection" => rights.May("enableSharding", "table", "c"),
            "split" => rights.May("splitChunk", "table", "c"),
            "aggregate" or "count" => rights.May("find", "table", "c"),
            "delete" => rights.May("remove", "table", "c"),
            "createIndexes" => rights.May("createIndex", "table", "c"),
            "drop" => rights.May("dropCollection", "table", "c"),
            _ => rights.May(command, "table", "c"),
        };
    }

    private static BsonDocument Aggregate(object from, string stage) => BsonDocument.Of(
        ("aggregate", from), ("pipeline", new[] { BsonDocument.Of((stage, BsonDocument.Empty)) }), ("cursor", BsonDocument.Empty));

    private ProgramResult Series(string user, string database) => Program(user,
        "series", "--target", "1k", "--step", "500", "--tests", "batch,q4,size", "--window", "0.4s", "--rate", "50",
        "--max-skipped", "100%", "--threads", "1", "--db", database, "--full");

    private ProgramResult Program(string user, params string[] arguments) => ProgramRun.Run(
        [.. arguments, "--uri", server.Mongod.Uri($"{user}:{Secret}", "authSource=admin"), "--out", _runs.Path]);

    [GeneratedRegex(@"^\| [^|]+ \| (?<command>[^|]+) \| `(?<role>\w+)`", RegexOptions.Multiline)]
    private static partial Regex Row();

    public sealed class Server : IDisposable
    {
        private readonly SecuredMongod? _mongod;
        private readonly MongoConnection? _root;

        public Server()
        {
            if (MongodBinary.SkipReason is not null)
                return;
            _mongod = SecuredMongod.Start("--auth");
            _mongod.CreateUser("root", Secret, "admin");
            _root = Open("root");
            Add("loader", Role("readWrite", "shop"));
            Add("watcher", Role("readWrite", "watched"), Role("clusterMonitor", "admin"));
            Add("reader", Role("read", "shop"));
            AddRole("noStats", On("dim", "", "find", "insert", "update", "remove", "createCollection", "dropCollection", "createIndex",
                "dropIndex", "listCollections", "listIndexes"));
            Add("blind", Role("noStats", "admin"));
            AddRole("oneCollection", On(
                "one", "series", "find", "insert", "update", "remove", "createCollection", "createIndex", "collStats"));
            Add("single", Role("oneCollection", "admin"));
            AddRole("twoCollections", On("two", "series", "find", "insert", "update", "remove", "createCollection", "createIndex"),
                On("two", "mongoperf", "find", "insert", "update", "remove"));
            Add("frugal", Role("twoCollections", "admin"));
            Add("powerless");
            foreach (string role in (string[])["readWrite", "read", "dbAdmin"])
                Add($"only-{role}", Role(role, "table"));
            foreach (string role in (string[])["hostManager", "clusterMonitor", "clusterManager"])
                Add($"only-{role}", Role(role, "admin"));
        }

        internal SecuredMongod Mongod => _mongod!;

        internal MongoConnection Root => _root!;

        public void Dispose()
        {
            _root?.Dispose();
            _mongod?.Dispose();
        }

        internal MongoConnection Open(string user) => Mongod.Open(Mongod.Uri($"{user}:{Secret}", "authSource=admin"));

        private void Add(string user, params BsonDocument[] roles) =>
            Root.RunCommand("admin", BsonDocument.Of(("createUser", user), ("pwd", Secret), ("roles", roles)));

        private void AddRole(string name, params BsonDocument[] privileges) => Root.RunCommand(
            "admin", BsonDocument.Of(("createRole", name), ("privileges", privileges), ("roles", Array.Empty<BsonDocument>())));

        private static BsonDocument Role(string name, string database) => BsonDocument.Of(("role", name), ("db", database));

        private static BsonDocument On(string database, string collection, params string[] actions) => BsonDocument.Of(
            ("resource", BsonDocument.Of(("db", database), ("collection", collection))), ("actions", actions));
    }
}
