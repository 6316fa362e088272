using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>One writer for each collection, and what a killed client leaves behind.</summary>
[Collection(OtherTests.Name)]
public sealed class WriterTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory, EachServer]
    public void A_second_run_that_writes_is_refused_with_the_first_ones_name_and_one_that_reads_is_not(string kind)
    {
        string database = servers.NewDatabase();
        using MongoConnection watch = servers[kind].Connect();
        long before = Documents.CountConnections(watch);
        using (ProgramRun first = Start("series", "--uri", servers[kind].Uri, "--db", database, "--target", "10M", "--step", "10M"))
        {
            Assert.True(first.WaitUntil(() => Documents.FindEnd(watch, database) > 2000, "document 2,000"));
            string id = _runs.Id;
            foreach (string[] command in (string[][])[["series", "--target", "20M"], ["run", "safe", "--operations", "10"],
                ["series", "--target", "1k", "--force-drop", $"{database}.series"]])
            {
                Run(kind, [.. command, "--db", database]).Expect(6)
                    .Says($"{database}.series is being written by run {id} (host {Environment.MachineName}, process {first.Id})")
                    .Says("hint:  wait for that run");
            }

            Assert.Equal(id, _runs.Id);
            Run(kind, "run", "q7", "--operations", "10", "--db", database).Expect(0);
            first.Kill();
        }

        // The run itself continues at once, though its lease has not expired.
        string killed = _runs.Ids[0];
        using (ProgramRun resumed = Start("resume", killed, "--uri", servers[kind].Uri))
        {
            Assert.True(resumed.WaitForLine("resumed"), resumed.Errors);
            resumed.Kill();
        }

        Run(kind, "run", "safe", "--operations", "10", "--db", database).Expect(6).Says($"is being written by run {killed}");
        Documents.ExpireLease(watch, database, before);
        Run(kind, "run", "safe", "--operations", "10", "--db", database).Expect(0);
        Assert.Null(Assert.Single(Documents.Find(watch, database, "mongoperf", BsonDocument.Empty)).Find("writer"));
    }

    [Fact]
    public void A_run_that_was_interrupted_gives_its_leases_back_and_an_insert_phase_keeps_its_result()
    {
        string database = servers.NewDatabase();
        using MongoConnection watch = servers.Embedded.Connect();
        Run("embedded", "series", "--target", "1k", "--step", "1k", "--tests", "batch", "--db", database).Expect(0);
        using (ProgramRun first = Start("run", "unack", "--uri", servers.Embedded.Uri, "--db", database, "--duration", "100s",
            "--warmup", "0s", "--format", "json"))
        {
            Assert.True(first.WaitUntil(() => Documents.FindEnd(watch, database) > 2000, "document 2,000"));
            first.SendInterrupt();
            Assert.True(first.WaitForEnd().Expect(130).Report().Phase("unack").Operation("unack").Number("operations") > 0);
        }

        Run("embedded", "run", "safe", "--operations", "10", "--db", database).Expect(0);
    }

    [Fact]
    public void A_run_whose_collection_is_taken_over_ends_and_says_by_whom()
    {
        string database = servers.NewDatabase();
        using MongoConnection watch = servers.Embedded.Connect();
        using ProgramRun first = ProgramRun.Start(
            new ProgramOptions { Environment = new Dictionary<string, string?> { ["MONGOPERF_LEASE"] = "1s" } },
            "series", "--uri", servers.Embedded.Uri, "--db", database, "--target", "10M", "--step", "10M", "--out", _runs.Path);
        Assert.True(first.WaitUntil(() => Documents.FindEnd(watch, database) > 500, "document 500"));
        watch.RunCommand(database, BsonDocument.Of(("update", "mongoperf"), ("updates", new[]
        {
            BsonDocument.Of(("q", BsonDocument.Of(("_id", "series"))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(
                ("writer", BsonDocument.Of(("run", "other"), ("host", "elsewhere"), ("process", 7), ("session", "s"),
                    ("until", DateTime.UtcNow.AddMinutes(5)))))))) ),
        })));
        first.WaitForEnd().Expect(6)
            .Says($"{database}.series was taken over by run other (host elsewhere, process 7): this run's lease had expired");
    }

    [MongodFact]
    public void A_mongod_whose_client_was_killed_ends_by_itself_and_its_data_can_be_cleaned()
    {
        var options = new ProgramOptions
        {
            Server = "mongod", Environment = new Dictionary<string, string?> { ["MONGOPERF_LINGER"] = "1s" },
        };
        using (ProgramRun run = ProgramRun.Start(options, "series", "--target", "1M", "--step", "1M", "--out", _runs.Path))
        {
            Assert.True(run.WaitForLine("on mongod"), run.Errors);
            run.Kill();
        }

        ProcessIdentity mongod = ProcessState.Read(_runs.DataPath)!.Identity;
        Assert.True(ProcessTable.System.WaitForEnd(mongod, TimeSpan.FromMinutes(1)), "the mongod still runs");
        Assert.Contains("MB", ProgramRun.Run("list", "runs", "--out", _runs.Path).Expect(0).Output, StringComparison.Ordinal);
        ProgramRun.Run("clean", "--older-than", "7d", "--out", _runs.Path).Expect(0);
        Assert.True(Directory.Exists(_runs.DataPath));
        ProgramRun.Run("clean", "--all", "--out", _runs.Path).Expect(0);
        Assert.False(Directory.Exists(_runs.DataPath));
    }

    /// <summary>With a lease that does not expire, however slow the machine.</summary>
    private ProgramRun Start(params string[] arguments) => ProgramRun.Start(
        new ProgramOptions { Environment = new Dictionary<string, string?> { ["MONGOPERF_LEASE"] = "10m" } },
        [.. arguments, "--out", _runs.Path]);

    private ProgramResult Run(string kind, params string[] arguments) =>
        ProgramRun.Run([.. arguments, "--uri", servers[kind].Uri, "--out", _runs.Path]);
}
