using System.Runtime.Versioning;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>
/// A scenario that would write what its run does not create is refused before anything starts, unless the file lists it and the
/// command line confirms it.
/// </summary>
[Collection(LightTests.Name)]
[SupportedOSPlatform("linux")]
public sealed class ForeignWritesTests(TestServers servers) : IDisposable
{
    private const int Audits = 50;

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void What_the_run_did_not_create_is_left_as_it_is(string kind)
    {
        (string shop, MongoConnection connection) = MakeShop(kind);
        using (connection)
        {
            string[] operations =
            [
                "{aggregate: users, pipeline: [{$limit: 10}, {$out: {db: SHOP, coll: audit}}]}",
                "{aggregate: users, pipeline: [{$limit: 10}, {$merge: {into: {db: SHOP, coll: audit}, whenMatched: replace}}]}",
                "{runCommand: {drop: audit}, database: SHOP}",
                "{runCommand: {dropDatabase: 1}, database: SHOP}",
                "{runCommand: {update: audit, updates: [{q: {}, u: {$set: {x: 1}}, multi: true}]}, database: SHOP}",
                "{runCommand: {delete: audit, deletes: [{q: {}, limit: 0}]}, database: SHOP}",
                "{runCommand: {renameCollection: SHOP.audit, to: mongoperf.users}, database: admin}",
                "{runCommand: {findAndModify: audit, remove: true}, database: SHOP}",
                "{runCommand: {createIndexes: audit, indexes: [{key: {x: 1}, name: x}]}, database: SHOP}",
                "{runCommand: {fsync: 1, lock: true}, database: admin}",
                "{aggregate: users, pipeline: [{$out: ^word}]}",
            ];
            foreach (string operation in operations)
            {
                string file = Write(operation.Replace("SHOP", shop, StringComparison.Ordinal));
                foreach (string[] command in (string[][])[["run", file, "--uri", servers[kind].Uri],
                    ["run", file, "--dry-run"], ["validate", file]])
                    ProgramRun.Run([.. command, .. command[0] == "run" ? (string[])["--out", _runs.Path] : []]).Expect(6)
                        .Says("nothing was started");
            }

            AssertUntouched(connection, shop);
            Assert.DoesNotContain("users", Documents.CollectionNames(connection, "mongoperf"));
            Assert.Empty(_runs.Ids);
        }
    }

    [Theory, EachServer]
    public void What_the_file_lists_is_written_only_when_the_command_line_confirms_it(string kind)
    {
        (string shop, MongoConnection connection) = MakeShop(kind);
        using (connection)
        {
            string database = servers.NewDatabase();
            string file = Write($"{{runCommand: {{delete: audit, deletes: [{{q: {{}}, limit: 1}}]}}, database: {shop}}}",
                $"mayWrite: [{shop}.audit]");
            string[] run = ["run", file, "--uri", servers[kind].Uri, "--db", database, "--out", _runs.Path];
            Assert.Contains($"a run must confirm what it may write: --may-write {shop}.audit",
                ProgramRun.Run("validate", file).Expect(0).Output, StringComparison.Ordinal);
            ProgramRun.Run(run).Expect(6).Says($"add --may-write {shop}.audit");
            ProgramRun.Run([.. run, "--may-write", $"{shop}.other"]).Expect(6);
            AssertUntouched(connection, shop);
            Assert.Contains($"may write, as confirmed: {shop}.audit",
                ProgramRun.Run([.. run, "--may-write", $"{shop}.audit", "--dry-run"]).Expect(0).Output, StringComparison.Ordinal);
            AssertUntouched(connection, shop);
            ProgramRun.Run([.. run, "--may-write", $"{shop}.audit"]).Expect(0);
            Assert.Equal(Audits - 5, Documents.Count(connection, shop, "audit"));
        }
    }

    /// <summary>A run's folder may be anybody's: what was confirmed when it began is confirmed again, or not at all.</summary>
    [Fact]
    public void No_confirmation_is_taken_from_a_stored_run()
    {
        const string kind = "embedded";
        (string shop, MongoConnection connection) = MakeShop(kind);
        using (connection)
        {
            string file = Write($"{{runCommand: {{delete: audit, deletes: [{{q: {{_id: -1}}, limit: 1}}]}}, database: {shop}}}",
                $"mayWrite: [{shop}.audit]", count: "100M", more: ", rate: 20");
            using (var run = ProgramRun.Start(new ProgramOptions(), "run", file, "--uri", servers[kind].Uri, "--db", servers.NewDatabase(),
                "--may-write", $"{shop}.audit", "--out", _runs.Path))
            {
                run.WaitForLine("work");
                run.SendInterrupt();
                run.WaitForEnd();
            }

            ProgramRun.Run("resume", Assert.Single(_runs.Ids), "--out", _runs.Path).Expect(6)
                .Says($"writes what the run does not create: {shop}.audit; nothing was started").Says($"add --may-write {shop}.audit");
            AssertUntouched(connection, shop);
        }
    }

    [Theory, EachServer]
    public void What_the_data_describe_is_the_runs_to_write(string kind)
    {
        string database = servers.NewDatabase();
        string file = Write("{aggregate: users, pipeline: [{$limit: 10}, {$out: summary}]}");
        File.WriteAllText(file, File.ReadAllText(file).Replace("data:", "data:\n  summary: {}", StringComparison.Ordinal));
        string[] run = ["run", file, "--uri", servers[kind].Uri, "--db", database, "--out", _runs.Path];
        if (kind == "mongod")
        {
            ProgramRun.Run(run).Expect(0);
            // Again: the summary is still the run's own.
            ProgramRun.Run(run).Expect(0);
            using MongoConnection connection = servers[kind].Connect();
            Assert.Equal(10, Documents.Count(connection, database, "summary"));
        }
        else
        {
            ProgramRun.Run([.. run, "--dry-run"]).Expect(0);
        }
    }

    private (string Shop, MongoConnection Connection) MakeShop(string kind)
    {
        string shop = servers.NewDatabase();
        MongoConnection connection = servers[kind].Connect();
        Documents.Insert(connection, shop, "audit",
            [.. Enumerable.Range(0, Audits).Select(number => BsonDocument.Of(("_id", number), ("name", "precious")))]);
        return (shop, connection);
    }

    private static void AssertUntouched(MongoConnection connection, string shop)
    {
        Assert.Equal(["audit"], Documents.CollectionNames(connection, shop));
        Assert.Equal(["_id_"], Documents.IndexNames(connection, shop, "audit"));
        BsonDocument[] audits = [.. Documents.Find(connection, shop, "audit", BsonDocument.Empty)];
        Assert.Equal(Audits, audits.Length);
        Assert.All(audits, audit => Assert.Equal("precious", audit.FindString("name")));
        Assert.All(audits, audit => Assert.Equal(2, audit.Count()));
    }

    private string Write(string operation, string top = "", string count = "5", string more = "")
    {
        string file = _runs.At($"{Guid.NewGuid():N}.yaml");
        File.WriteAllText(file, $"{top}\ndata:\n  users: {{count: 100, document: {{n: ^number, name: ^word}}}}\nphases:\n"
            + $"  - {{name: work, count: {count}{more}, operations: [{operation}]}}\n");
        return file;
    }
}
