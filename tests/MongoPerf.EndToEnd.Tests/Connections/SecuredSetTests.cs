using System.Security.Cryptography;
using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Connections;

/// <summary>
/// A replica set whose members know each other by a key file: what replicaSet, directConnection, readPreference and w do.
/// </summary>
[Collection(WaitingTests.Name)]
public sealed class SecuredSetTests(SecuredSetTests.Set set) : IClassFixture<SecuredSetTests.Set>
{
    private static int _databases;

    /// <summary>A series in a database of its own.</summary>
    private static string[] Insert =>
    [
        "series", "--target", "1k", "--step", "1k", "--tests", "batch,safe,q4,size", "--window", "1s", "--rate", "100",
        "--max-skipped", "100%", "--threads", "1", "--db", $"test{Interlocked.Increment(ref _databases)}",
    ];

    [MongodFact]
    public void The_primary_is_found_from_any_member_and_logged_in_to()
    {
        using var runs = new RunsFolder();
        ProgramRun.Run([.. Insert, "--uri", set.Uri(set.Secondary, "replicaSet=rs0"), "--out", runs.Path]).Expect(0);
    }

    [MongodFact]
    public void A_set_of_another_name_is_refused_with_its_real_one()
    {
        using var runs = new RunsFolder();
        ProgramRun.Run([.. Insert, "--uri", set.Uri(set.Primary, "replicaSet=other"), "--out", runs.Path])
            .Expect(3).Says("this server's replica set is 'rs0', not 'other' (replicaSet=)");
    }

    [MongodFact]
    public void A_secondary_that_is_named_directly_is_read_from_and_refuses_writes()
    {
        string uri = set.Uri(set.Secondary, "directConnection=true");
        using MongoConnection connection = set.Secondary.Open(uri);
        Assert.Equal(1, connection.RunCommand("shop", BsonDocument.Of(("count", "things"))).FindInt64("n"));
        var e = Assert.Throws<ServerCommandException>(() =>
            connection.RunCommand("shop", BsonDocument.Of(("insert", "things"), ("documents", new[] { BsonDocument.Of(("x", 2)) }))));
        Assert.Equal("NotWritablePrimary", e.Error.Name);

        using var runs = new RunsFolder();
        // It would wait for a minute for the member to become one that takes writes.
        var impatient = new ProgramOptions { Environment = new Dictionary<string, string?> { ["MONGOPERF_RECONNECT"] = "1s" } };
        ProgramRun.Run(impatient, [.. Insert, "--uri", uri, "--out", runs.Path]).Expect(3)
            .Says("is not a primary").Says("does not accept the writes");
        ProgramRun.Run([.. Insert, "--uri", set.Uri(set.Primary, "directConnection=true"), "--out", runs.Path]).Expect(0);
    }

    [MongodFact]
    public void Readers_use_the_secondary_and_the_report_shows_each_members_share()
    {
        using var runs = new RunsFolder();
        ProgramResult result = ProgramRun.Run([.. Insert,
            "--uri", set.Uri(set.Primary, "readPreference=secondary&readPreferenceTags=use:reading&maxStalenessSeconds=3600"),
            "--format", "json", "--out", runs.Path]);
        result.Expect(0);
        JsonElement report = result.Report();
        Assert.Equal([$"{set.Secondary.Address}"], MembersOf(report, "q4"));
        Assert.Equal([$"{set.Primary.Address}"], MembersOf(report, "batch"));
        Assert.Contains(
            "Operations by server", ProgramRun.Run("report", runs.Id, "--full", "--out", runs.Path).Expect(0).Output,
            StringComparison.Ordinal);
        ProgramRun.Run(
            [.. Insert, "--uri", set.Uri(set.Primary, "readPreference=secondary&readPreferenceTags=use:writing"), "--out", runs.Path])
            .Expect(3).Says("no member of the replica set fits readPreference=secondary with tags use:writing: "
                + $"{set.Primary.Address} (primary); {set.Secondary.Address} (secondary, use:reading)");

        static IEnumerable<string> MembersOf(JsonElement report, string operation) =>
            report.GetProperty("phases").EnumerateArray().SelectMany(phase => phase.GetProperty("operations").EnumerateArray())
                .Where(o => o.Text("operation") == operation)
                .SelectMany(o => o.GetProperty("members").EnumerateArray()).Select(member => member.Text("member")!).Distinct();
    }

    [MongodFact]
    public void The_official_driver_reads_from_the_secondary_too()
    {
        using var runs = new RunsFolder();
        long before = Queries();
        string uri = set.Uri(set.Primary, "replicaSet=rs0&readPreference=secondary&readPreferenceTags=use:reading");
        JsonElement report = ProgramRun.Run(new ProgramOptions { NeedsOwnProcess = true },
            [.. Insert, "--engine", "driver", "--uri", uri, "--format", "json", "--out", runs.Path]).Expect(0).Report();
        long found = report.GrowthSteps()[^1].Operation("q4").Number("operations");
        Assert.True(found > 0);
        Assert.True(Queries() - before >= found, $"the secondary answered {Queries() - before} of {found} queries");

        long Queries()
        {
            using MongoConnection connection = set.Secondary.Open(set.Uri(set.Secondary, "directConnection=true"));
            return connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1))).FindInt64("opcounters.query")!.Value;
        }
    }

    [MongodFact]
    public void A_member_that_no_set_was_initiated_on_has_a_line_of_its_own()
    {
        using var mongod = SecuredMongod.Start("--replSet", "rs9");
        using var runs = new RunsFolder();
        foreach (string options in (string[])["", "directConnection=true"])
            ProgramRun.Run([.. Insert, "--uri", mongod.Uri(options: options), "--out", runs.Path]).Expect(3)
                .Says("no set has been initiated on it").Says("rs.initiate()");
    }

    [MongodFact]
    public void W_of_the_connection_string_is_what_inserts_wait_for()
    {
        using var runs = new RunsFolder();
        long before = set.WritesWith("wmajority");
        ProgramRun.Run([.. Insert, "--uri", set.Uri(set.Primary, "w=majority&retryWrites=true"), "--out", runs.Path]).Expect(0)
            .Says("retryWrites has no effect");
        Assert.True(
            set.WritesWith("wmajority") - before >= 1000, $"{set.WritesWith("wmajority") - before} documents were written with w:majority");
        ProgramRun.Run([.. Insert, "--uri", set.Uri(set.Primary, "w=5"), "--out", runs.Path]).Expect(4);
        ProgramRun.Run([.. Insert, "--uri", set.Uri(set.Primary, "w=0"), "--out", runs.Path]).Expect(2)
            .Says("w=0: whether writes are acknowledged is set by the test");
    }

    /// <summary>Two members with a key file, and a user.</summary>
    public sealed class Set : IDisposable
    {
        private readonly string _keyFile = Path.GetTempFileName();

        public Set()
        {
            if (new MongodFactAttribute().Skip is not null)
                return;
            File.WriteAllText(_keyFile, Convert.ToBase64String(RandomNumberGenerator.GetBytes(96)));
            File.SetUnixFileMode(_keyFile, UnixFileMode.UserRead | UnixFileMode.UserWrite);
            Primary = SecuredMongod.Start(
                "--replSet", "rs0", "--keyFile", _keyFile, "--setParameter", "reportOpWriteConcernCountersInServerStatus=true");
            Secondary = SecuredMongod.Start(
                "--replSet", "rs0", "--keyFile", _keyFile, "--setParameter", "reportOpWriteConcernCountersInServerStatus=true");
            using (MongoConnection connection = MongoConnection.Open(Primary.Address, ConnectionSettings.Default))
            {
                connection.RunCommand("admin", BsonDocument.Of(("replSetInitiate", BsonDocument.Of(("_id", "rs0"), ("members", new[]
                {
                    BsonDocument.Of(("_id", 0), ("host", $"{Primary.Address}"), ("priority", 2)), BsonDocument.Of(("_id", 1),
                        ("host", $"{Secondary.Address}"), ("priority", 0), ("tags", BsonDocument.Of(("use", "reading")))),
                })))));
                Await(() => connection.RunUnchecked("admin", BsonDocument.Of(("hello", 1))).IsTrue("isWritablePrimary"));
                SecuredMongod.AddUser(connection, "root", "root", "admin");
            }

            using MongoConnection primary = Primary.Open(Uri(Primary, "replicaSet=rs0"));
            // As soon as both hold this, the set is ready.
            primary.RunLongCommand("shop", BsonDocument.Of(("insert", "things"), ("documents", new[] { BsonDocument.Of(("x", 1)) }),
                ("writeConcern", BsonDocument.Of(("w", 2)))));
        }

        internal SecuredMongod Primary { get; } = null!;

        internal SecuredMongod Secondary { get; } = null!;

        internal string Uri(SecuredMongod member, string options) => member.Uri("root:root", options);

        internal long WritesWith(string concern)
        {
            using MongoConnection connection = Primary.Open(Uri(Primary, ""));
            return connection.RunCommand("admin", BsonDocument.Of(("serverStatus", 1)))
                .FindInt64($"opWriteConcernCounters.insert.{concern}") ?? throw new InvalidOperationException("no such counter");
        }

        public void Dispose()
        {
            Primary?.Dispose();
            Secondary?.Dispose();
            File.Delete(_keyFile);
        }

        private static void Await(Func<bool> condition)
        {
            for (int attempt = 0; attempt < 600 && !condition(); attempt++)
                Thread.Sleep(100);
        }
    }
}
