using System.Runtime.Versioning;
using System.Text;
using System.Text.Json;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What the program must not do, and what it says then.</summary>
[Collection(LightTests.Name)]
[SupportedOSPlatform("linux")]
public sealed class RefusalTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void A_foreign_collection_is_refused_and_left_as_it_is_until_dropping_it_is_forced(string kind)
    {
        string database = servers.NewDatabase();
        using MongoConnection connection = servers[kind].Connect();
        Documents.Insert(connection, database, "series", BsonDocument.Of(("_id", 1), ("name", "precious")));
        foreach (string[] command in (string[][])[["series", "--target", "1k"], ["run", "batch", "--operations", "1"],
            ["run", "q4", "--records", "100"]])
            Run(kind, [.. command, "--db", database]).Expect(6).Says($"{database}.series was not created by MongoPerf")
                .Says("reads it as it is with 'existing: true'");
        Assert.Empty(_runs.Ids);
        Assert.Equal("precious", Assert.Single(Documents.Find(connection, database, "series", BsonDocument.Empty)).FindString("name"));
        Assert.Equal(["series"], Documents.CollectionNames(connection, database));
        Assert.Equal(["_id_"], Documents.IndexNames(connection, database, "series"));

        Series(kind, database, "1k", "--force-drop", "another.series").Expect(2)
            .Says($"'another.series' is not a collection of this run; allowed: {database}.series");
        // Named rightly, and refused for another reason: dropping comes last.
        Series(kind, database, "1k", "--force-drop", $"{database}.series", "--batch", "99k").Expect(2).Says("batch is 99,000 documents");
        Series(kind, database, "999M", "--force-drop", $"{database}.series").Expect(6).Says("free");
        Assert.Equal("precious", Assert.Single(Documents.Find(connection, database, "series", BsonDocument.Empty)).FindString("name"));
        Series(kind, database, "1k", "--force-drop", $"{database}.series").Expect(0);
        Documents.AssertWhole(connection, 1000, database);
    }

    [Theory, EachServer]
    public void A_server_that_is_no_mongos_is_not_sharded(string kind)
    {
        string database = servers.NewDatabase();
        foreach (string[] command in (string[][])[["series", "--target", "1k", "--topology", "sharded"],
            ["run", "q4", "--records", "100", "--shard-key", "_id"]])
            Run(kind, [.. command, "--db", database]).Expect(2).Says("is not a mongos, which --topology sharded needs");
        Assert.Empty(_runs.Ids);
        using MongoConnection connection = servers[kind].Connect();
        Assert.Empty(Documents.CollectionNames(connection, database));
    }

    [Fact]
    public void A_series_on_its_own_data_goes_on_to_a_larger_target_and_refuses_all_else()
    {
        const string kind = "embedded";
        string database = servers.NewDatabase();
        Series(kind, database, "2k").Expect(0);
        Series(kind, database, "3k", "--seed", "43").Expect(2).Says("was created with seed 42, but this run has seed 43");
        Series(kind, database, "3k", "--compressibility", "50").Expect(2)
            .Says("holds different documents: their template or compressibility differs");
        Series(kind, database, "1k").Expect(2).Says("2,000 documents");
        Series(kind, database, "2k").Expect(2).Says("2,000 documents");
        using MongoConnection connection = servers[kind].Connect();
        Documents.AssertWhole(connection, 2000, database);
        Assert.Single(_runs.Ids);

        JsonElement report = JsonShape.Check(JsonShape.Run, Series(kind, database, "3k", "--format", "json").Expect(0).Output);
        GrownStep step = Assert.Single(report.GrowthSteps());
        Assert.Equal(3000, step.Documents);
        Assert.Equal(1000, step.Operation("batch").Number("documents"));
        Documents.AssertWhole(connection, 3000, database);
    }

    [Fact]
    public void Loading_more_than_the_disk_holds_is_refused_before_anything_is_made()
    {
        string database = servers.NewDatabase();
        ProgramRun.Run("run", "q4", "--records", "999M", "--out", _runs.Path).Expect(6).Says("free").Says("hint:");
        Run("embedded", "run", "q4", "--records", "999M", "--db", database).Expect(6).Says("free");
        Assert.Empty(_runs.Ids);
        using MongoConnection connection = servers.Embedded.Connect();
        Assert.Empty(Documents.CollectionNames(connection, database));
    }

    [Theory, EachServer]
    public void Holes_that_a_killed_run_left_are_filled_before_more_is_loaded(string kind)
    {
        string database = servers.NewDatabase();
        Run(kind, "run", "size", "--records", "1000", "--db", database).Expect(0);
        using MongoConnection connection = servers[kind].Connect();
        // As a run leaves it that was killed behind its checkpoint at 1,000: some of what came later is there, some is not.
        Run(kind, "run", "safe", "--operations", "500", "--db", database).Expect(0);
        connection.RunCommand(database, BsonDocument.Of(
            ("update", "mongoperf"),
            ("updates", new[] { BsonDocument.Of(
                ("q", BsonDocument.Of(("_id", "series"))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("documents", 1000L)))))) })));
        Documents.DeleteNumbers(connection, database, 1100, 1150);
        Run(kind, "run", "size", "--records", "2000", "--db", database).Expect(0);
        Documents.AssertWhole(connection, 2000, database);
    }

    [Fact]
    public void Documents_behind_the_last_checkpoint_count_too_when_a_target_is_refused()
    {
        string database = servers.NewDatabase();
        using MongoConnection connection = servers.Embedded.Connect();
        long before = Documents.CountConnections(connection);
        using (ProgramRun killed = ProgramRun.Start(
            new ProgramOptions(), "series", "--uri", servers.Embedded.Uri, "--db", database, "--target", "1M",
            "--step", "1M", "--out", _runs.Path))
        {
            Assert.True(killed.WaitUntil(() => Documents.FindEnd(connection, database) > 2000, "document 2,000"));
            killed.Kill();
        }

        Documents.ExpireLease(connection, database, before);
        long there = Documents.FindEnd(connection, database);
        Series("embedded", database, "1k").Expect(2).Says("the target is 1,000");
        long target = there + 500;
        Series("embedded", database, $"{target}").Expect(0);
        Documents.AssertWhole(connection, target, database);
    }

    [Fact]
    public void An_unreachable_host_ends_with_code_3_quickly_and_leaves_no_run()
    {
        int port = FreePort.Find();
        ProgramResult result = SeriesAt($"mongodb://127.0.0.1:{port}").Expect(3).Says($"127.0.0.1:{port}");
        Assert.True(result.Elapsed < TimeSpan.FromSeconds(40), $"took {result.Elapsed}");
        Assert.Empty(_runs.Ids);
        SeriesAt("mongodb://no-such-host.invalid").Expect(3).Says("no-such-host.invalid");
        ProgramRun.Run("run", "q4", "--uri", $"mongodb://127.0.0.1:{port}", "--out", _runs.Path).Expect(3);
    }

    [Fact]
    public void What_answers_http_or_nonsense_is_no_server_to_use()
    {
        using (var http = new FakeServer(_ => Encoding.ASCII.GetBytes("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")))
            SeriesAt(http.Uri).Expect(3).Says($"error: {http.Uri["mongodb://".Length..]}: an HTTP server answers there");
        using (var nonsense = new FakeServer(_ => [.. Enumerable.Repeat((byte)0xAB, 40)]))
            SeriesAt(nonsense.Uri).Expect(3).Says("reply declares");
        using (var silent = new FakeServer(_ => []))
            SeriesAt(silent.Uri).Expect(3).Says("connection closed by the server");
        using (FakeServer garbled = FakeServer.Replying(new BsonDocument(new byte[] { 9, 0, 0, 0, 0x7E, 0x61, 0, 1, 0 })))
            SeriesAt(garbled.Uri).Expect(3);
        Assert.Empty(_runs.Ids);
    }

    [Fact]
    public void A_server_that_is_too_old_is_refused_with_what_is_needed()
    {
        using FakeServer old =
            FakeServer.Replying(BsonDocument.Of(("ismaster", true), ("maxWireVersion", 5), ("minWireVersion", 0), ("ok", 1.0)));
        SeriesAt(old.Uri).Expect(3).Says("the server's wire version is 5, at least 6 (MongoDB 3.6) is needed");
        Assert.Empty(_runs.Ids);
    }

    [Fact]
    public void A_member_that_takes_no_writes_is_refused()
    {
        using FakeServer secondary = FakeServer.Replying(BsonDocument.Of(
            ("ismaster", false), ("secondary", true), ("setName", "rs0"), ("maxWireVersion", 17), ("minWireVersion", 0), ("ok", 1.0)));
        SeriesAt(secondary.Uri).Expect(3).Says("no primary");
    }

    [Fact]
    public void A_mongod_that_is_none_or_does_not_start_is_named_with_its_last_words()
    {
        WithMongod("/nonexistent/mongod").Expect(2).Says("/nonexistent/mongod does not exist");
        WithMongod(Script("echo hello")).Expect(2).Says("hello");
        WithMongod(Script("exit 7")).Expect(2).Says("exited with code 7");
        string text = Path.Combine(_runs.Path, "text");
        File.WriteAllText(text, "no program");
        WithMongod(text).Expect(2).Says("can't be run");
        WithMongod(Script("[ \"$1\" = --version ] && echo 'db version v6.0.5' && exit 0; echo one; echo the disk is on fire; exit 1"))
            .Expect(3).Says("exited before it answered").Says("the disk is on fire");
        WithMongod(Script("echo 'db version v3.4.24'")).Expect(3).Says("is version 3.4.24; allowed: 3.6 or later");
        Assert.Empty(Directory.GetDirectories(_runs.Path));
    }

    [Fact]
    public void A_run_folder_that_is_none_half_written_or_damaged_is_refused()
    {
        ProgramRun.Run("resume", "2026-01-01-a", "--out", _runs.Path).Expect(2).Says("no run '2026-01-01-a'");
        Directory.CreateDirectory(_runs.At("empty"));
        Directory.CreateDirectory(_runs.At("half"));
        File.WriteAllBytes(_runs.At("half", "run.db"), []);
        Directory.CreateDirectory(_runs.At("damaged"));
        File.WriteAllText(_runs.At("damaged", "run.db"), string.Concat(Enumerable.Repeat("this is no database ", 500)));
        foreach (string id in (string[])["empty", "half", "damaged"])
        {
            foreach (string command in (string[])["resume", "report", "clean"])
                ProgramRun.Run(command, id, "--out", _runs.Path).Expect(2).Says(id);
        }

        ProgramResult list = ProgramRun.Run("list", "runs", "--out", _runs.Path).Expect(0);
        Assert.Equal(3, list.Output.Split('\n').Count(line => line.Contains("unreadable", StringComparison.Ordinal)));
    }

    [Theory]
    [InlineData("unknown option '--targt'", "did you mean '--target'?", "series", "--targt", "1M")]
    [InlineData("unknown command 'serie'", "did you mean 'series'?", "serie", "--target", "1M")]
    [InlineData("--target is missing", "", "series")]
    [InlineData("--target: '12x' is not a count", "", "series", "--target", "12x")]
    [InlineData("--target: '0' is ", "", "series", "--target", "0")]
    [InlineData("--cache: '7XB' is not a size", "", "series", "--target", "1k", "--cache", "7XB")]
    [InlineData("; allowed: 64 MiB or more", "", "series", "--target", "1k", "--cache", "1MB")]
    [InlineData("'a.b'", "", "series", "--target", "1k", "--db", "a.b")]
    [InlineData("--db: 'admin' is reserved for the server", "", "series", "--target", "1k", "--db", "admin")]
    [InlineData("'a$b' is not allowed", "", "series", "--target", "1k", "--collection", "a$b")]
    [InlineData("'q8'", "did you mean 'q", "run", "q8")]
    [InlineData("--tests: 'q9' is not valid; allowed: ", "", "series", "--target", "1k", "--tests", "q4,q9")]
    [InlineData("which leaves nothing to measure", "", "series", "--target", "1k", "--window", "1s", "--warmup", "1s")]
    [InlineData("--topology: 'ring' is not valid; allowed: ", "", "series", "--target", "1k", "--topology", "ring")]
    [InlineData("http://", "", "series", "--target", "1k", "--uri", "http://localhost")]
    [InlineData("--cache only applies to one that MongoPerf starts", "", "series", "--target", "1k",
        "--uri", "mongodb://h", "--cache", "1GB")]
    public void Bad_input_is_named_with_what_is_allowed_and_ends_with_code_2(string says, string hint, params string[] arguments) =>
        ProgramRun.Run(new ProgramOptions { Folder = _runs.Path }, arguments).Expect(2).Says(says).Says(hint);

    private ProgramResult Run(string kind, params string[] arguments) =>
        ProgramRun.Run([.. arguments, "--uri", servers[kind].Uri, "--out", _runs.Path]);

    private ProgramResult Series(string kind, string database, string target, params string[] more) =>
        Run(kind, ["series", "--target", target, "--step", target, "--tests", "batch,size", "--db", database, .. more]);

    private ProgramResult SeriesAt(string uri) => ProgramRun.Run("series", "--target", "1k", "--uri", uri, "--out", _runs.Path);

    private ProgramResult WithMongod(string program) =>
        ProgramRun.Run("series", "--target", "1k", "--mongod", program, "--out", _runs.Path);

    private string Script(string body)
    {
        string path = Path.Combine(_runs.Path, Path.GetRandomFileName());
        File.WriteAllText(path, $"#!/bin/sh\n{body}\n");
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }
}
