using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Several agents, each a process with a folder of its own, do one plan.</summary>
[Collection(KillingTests.Name)]
public sealed class AgentTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodFact]
    public void A_series_by_agents_is_one_run_and_leaves_the_documents_of_a_series_by_one()
    {
        string database = servers.NewDatabase();
        ProgramResult result;
        using (ProgramRun starter = Start("series", "--target", "3k", "--step", "1500", "--tests", "unack,batch,safe,q4,size",
            "--window", "1s", "--rate", "100", "--max-skipped", "100%", "--uri", servers["mongod"].Uri, "--db", database, "--agents", "3",
            "--full"))
        using (ProgramRun first = Agent("anna"), second = Agent("ben"), third = Agent("cleo"))
        {
            result = starter.WaitForEnd().Expect(0);
            Assert.All((ProgramRun[])[first, second, third], agent => agent.WaitForEnd().Expect(0));
        }

        Assert.Contains("Operations by client", result.Output, StringComparison.Ordinal);
        using MongoConnection connection = servers["mongod"].Connect();
        Documents.AssertWhole(connection, 3000, database);
        using StoredRun run = _runs.FindStored()!;
        Assert.Equal(RunState.Finished, run.Run.State);
        Assert.Equal(["anna", "ben", "cleo"], run.Run.Clients.Select(client => client.Name).Order());
        Assert.All(run.Phases, phase => Assert.True(phase.IsComplete));
        Assert.Equal(3000, run.Results.Where(one => one.IsInsert).Sum(one => one.Documents));
        Assert.Equal([1500, 3000], run.GrowthSteps.Select(step => step.Sizes.Single().Documents));
        using MongoConnection coordinator = servers.Embedded.Connect();
        string plan = run.FindNote("agents plan")!;
        Assert.Empty(Documents.Find(coordinator, "mongoperf", "agents", BsonDocument.Of(("plan", plan))));
        Assert.Empty(Documents.Find(coordinator, "mongoperf", "agents", BsonDocument.Of(("_id", plan))));
        Assert.Contains($"to drop them: mongoperf clean {run.Run.Id}", result.Output, StringComparison.Ordinal);
        Assert.Equal($"{database}.series dropped\n", ProgramRun.Run("clean", run.Run.Id, "--out", _runs.Path).Expect(0).Output);
        Assert.Empty(Documents.CollectionNames(connection, database));
    }

    [Fact]
    public void A_killed_agent_leaves_a_partial_run_and_comes_back()
    {
        string database = servers.NewDatabase();
        using MongoConnection connection = servers.Embedded.Connect();
        using (ProgramRun starter = Start("series", "--target", "10k", "--step", "5k", "--tests", "safe,q4", "--window", "1s",
            "--rate", "100", "--max-skipped", "100%", "--threads", "1", "--uri", servers.Embedded.Uri, "--db", database, "--agents", "2"))
        using (ProgramRun first = Agent("anna"), second = Agent("ben"))
        {
            Assert.True(first.WaitUntil(() => Documents.Count(connection, database) > 500, "document 500"));
            second.Kill();
            starter.WaitForEnd().Expect(130).Says("ben is lost");
            first.WaitForEnd();
        }

        string partial = _runs.Id;
        using (ProgramRun starter = Start("resume", partial))
        using (ProgramRun first = Agent("anna"), second = Agent("ben"))
        {
            starter.WaitForEnd().Expect(0);
            Assert.All((ProgramRun[])[first, second], agent => agent.WaitForEnd().Expect(0));
        }

        Documents.AssertWhole(connection, 10_000, database);
        using StoredRun whole = StoredRun.Open(_runs.At(_runs.Ids.Single(id => id != partial)));
        Assert.Equal(RunState.Finished, whole.Run.State);
    }

    [Fact]
    public void An_agent_that_never_comes_is_named_and_what_agents_can_not_do_is_refused()
    {
        string uri = servers.Embedded.Uri;
        using (ProgramRun agent = Agent("anna"))
        {
            // It asks for a plan twice a second from here on.
            Assert.True(agent.WaitForLine("waits for a plan"), agent.Errors);
            using ProgramRun starter = Start("run", "ycsb/c", "--uri", uri, "--agents", "2", "--agents-within", "5s");
            starter.WaitForEnd().Expect(3).Says("1 of 2 agents came within 5 s; missing: part ");
            agent.WaitForEnd().Expect(3);
        }

        using (MongoConnection coordinator = servers.Embedded.Connect())
            Assert.DoesNotContain(Documents.Find(coordinator, "mongoperf", "agents", BsonDocument.Empty),
                part => part.FindString("stop")?.Contains("came within", StringComparison.Ordinal) == true);
        Start("run", "report-2.4.8/i9", "--uri", uri, "--agents", "2").WaitForEnd().Expect(2)
            .Says("can't be divided among agents").Says("adds files to 'fs' while it measures");
        Start("run", "ycsb/c", "--agents", "2").WaitForEnd().Expect(2).Says("--agents needs --uri");
        Start("run", "ycsb/c", "--uri", uri, "--agents", "2", "--otlp", "http://127.0.0.1:1").WaitForEnd().Expect(2)
            .Says("each 'mongoperf agent' takes --otlp");
        ProgramRun.Run("run", "ycsb/c", "--uri", uri, "--agents", "2").Expect(2).Says("--agents needs --coordinator");
        Assert.Empty(_runs.Ids);
    }

    [Fact]
    public void An_agent_whose_starter_was_killed_before_all_had_come_ends_and_says_so()
    {
        using (ProgramRun starter = Start("run", "ycsb/c", "--uri", servers.Embedded.Uri, "--db", servers.NewDatabase(), "--agents", "2"))
        using (ProgramRun agent = Agent("anna"))
        {
            Assert.True(starter.WaitForLine("agent anna has part"));
            starter.Kill();
            agent.WaitForEnd().Expect(3).Says("the command that offered the plan is gone, and no agent has taken part ");
        }

        Assert.Empty(_runs.Ids);
    }

    [Fact]
    public void An_interrupt_of_the_starter_stops_all_agents_and_keeps_what_they_measured()
    {
        using var receiver = new OtlpReceiver();
        string database = servers.NewDatabase();
        using (ProgramRun starter = Start("run", "ycsb/c", "--set", "operationcount=100000000", "--uri", servers.Embedded.Uri,
            "--db", database, "--agents", "2"))
        using (ProgramRun first = Agent("anna", "--otlp", receiver.Url), second = Agent("ben"))
        {
            using MongoConnection connection = servers.Embedded.Connect();
            Assert.True(starter.WaitUntil(() => Documents.Count(connection, database, "usertable") == 1000, "the last document"));
            Assert.True(first.WaitUntil(() => receiver.Resource.Contains("mongoperf.agent=anna"), "its metrics"), first.Errors);
            Assert.Contains(receiver.Resource, one => one.StartsWith("service.instance.id=", StringComparison.Ordinal)
                && one.EndsWith("/anna", StringComparison.Ordinal));
            starter.SendInterrupt();
            starter.WaitForEnd().Expect(130).Says("stopping all agents");
            Assert.All((ProgramRun[])[first, second], agent => agent.WaitForEnd().Expect(130));
        }

        using StoredRun run = _runs.FindStored()!;
        Assert.Equal((RunState.Interrupted, 2), (run.Run.State, run.Run.Clients.Count));
    }

    [Fact]
    public void Of_connections_that_are_opened_at_once_each_agent_opens_its_part()
    {
        string file = Path.Combine(Directory.CreateDirectory(_runs.Path).FullName, ".storm.yaml");
        File.WriteAllText(file, """
            data:
              users: {count: 100, document: {_id: ^number, visits: 0}}
            phases:
            - {load: users}
            - {name: storm, connections: {storm: 5}, count: 40, operations: [{find: users, key: uniform}]}
            """);
        using (ProgramRun starter = Start("run", file, "--uri", servers.Embedded.Uri, "--db", servers.NewDatabase(), "--agents", "2"))
        using (ProgramRun first = Agent("anna"), second = Agent("ben"))
        {
            starter.WaitForEnd().Expect(0);
            Assert.All((ProgramRun[])[first, second], agent => agent.WaitForEnd().Expect(0));
        }

        using StoredRun run = _runs.FindStored()!;
        OperationResult opened = run.Results.Single(result => result.Connections is not null);
        Assert.Equal((5, 5), (opened.Operations, opened.Connections!.Count));
        Assert.Equal([2, 3], opened.Clients.Select(client => client.Operations).Order());
        StormResult storm = Assert.Single(opened.Connections.Storms);
        Assert.Equal((5, 5), (storm.Connections, storm.Usable));
        Assert.NotNull(storm.Seconds);
    }

    [Fact]
    public void Documents_that_agents_insert_beside_reads_are_each_their_own()
    {
        string database = servers.NewDatabase();
        using (ProgramRun starter = Start("run", "ycsb/d", "--set", "operationcount=2000", "--verify", "100%",
            "--uri", servers.Embedded.Uri, "--db", database, "--agents", "2"))
        using (ProgramRun first = Agent("anna"), second = Agent("ben"))
        {
            starter.WaitForEnd().Expect(0);
            Assert.All((ProgramRun[])[first, second], agent => agent.WaitForEnd().Expect(0));
        }

        using StoredRun run = _runs.FindStored()!;
        OperationResult inserts = run.Results.Last(result => result.IsInsert);
        Assert.InRange(inserts.Documents, 50, 150);
        Assert.Equal((2000, 0), (run.Phases[^1].Operations.Sum(result => result.Operations),
            run.Phases[^1].Operations.Sum(result => result.Wrong + result.Failed)));
        using MongoConnection connection = servers.Embedded.Connect();
        Assert.InRange(Documents.Count(connection, database, "usertable") - 1000 - inserts.Documents, 0, 60);
    }

    /// <summary>
    /// Connections 1 and 2 share a cursor, 3 and 4 an id that the server makes: only with the other of the two they find what they need.
    /// </summary>
    [MongodFact]
    public void A_recording_s_connections_are_divided_and_each_request_is_replayed_once()
    {
        string copy = servers.NewDatabase();
        var made = new ObjectId(0x66000000, 1);
        var file = new TrafficFile();
        for (int client = 1; client <= 6; client++)
            file.Request(client, 1, Ping());
        for (int number = 1; number <= 60; number++)
            file.Exchange((number % 6) + 1, number + 10, Shop(("insert", "orders"), ("documents", new object[] { Id(number) })), Changed());
        file.Exchange(1, 100, Shop(("find", "orders"), ("filter", BsonDocument.Empty), ("batchSize", 2)), Cursor("firstBatch", 77, 2))
            .Exchange(2, 100, Shop(("getMore", 77L), ("collection", "orders"), ("batchSize", 2)), Cursor("nextBatch", 77, 2))
            .Exchange(1, 101, Shop(("killCursors", "orders"), ("cursors", new object[] { 77L })), BsonDocument.Of(("ok", 1.0)))
            .Exchange(3, 100, Shop(("update", "carts"), ("updates", new object[]
            {
                BsonDocument.Of(("q", BsonDocument.Of(("user", 1))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(("v", 1))))),
                    ("upsert", true)),
            })), BsonDocument.Of(("n", 1), ("upserted", new object[] { BsonDocument.Of(("index", 0), ("_id", made)) }), ("ok", 1.0)))
            .Exchange(4, 100, Shop(("delete", "carts"), ("deletes", new object[] { BsonDocument.Of(("q", Id(made)), ("limit", 1)) })),
                Changed());
        string[] replay = ["replay", Write(file, "anna", "ben"), "--uri", servers["mongod"].Uri, "--database", $"shop={copy}"];
        using (ProgramRun starter = Start([.. replay, "--agents", "2"]))
        using (ProgramRun first = Agent("anna", "--files", FilesOf("anna")), second = Agent("ben", "--files", FilesOf("ben")))
        {
            starter.WaitForEnd().Expect(0).Says("--name NAME --files DIR (with recorded.bin in it)");
            Assert.All((ProgramRun[])[first, second], agent => agent.WaitForEnd().Expect(0));
        }

        using StoredRun run = _runs.FindStored()!;
        Assert.Equal((RunState.Finished, new Accounting(71, 71, 0, 0)), (run.Run.State, run.Accounting));
        Assert.All(run.Results.Where(result => result.Operation != "ping admin"), result => Assert.Equal(
            (result.Operations, 0), (result.Replay!.Compared, result.Replay.Codes + result.Replay.Counts)));
        Assert.NotNull(run.Results.Single(result => result.Operation == "insert shop.orders").Replay!.RecordedMicroseconds!.P50);
        Assert.All(run.Run.Clients, client => Assert.True(run.Results.Single(result => result.Operation == "insert shop.orders").Clients
            .Single(own => own.Client == client.Name).Operations >= 20));
        using MongoConnection connection = servers["mongod"].Connect();
        Assert.Equal((60, 0), (Documents.Count(connection, copy, "orders"), Documents.Count(connection, copy, "carts")));
        Start("resume", run.Run.Id).WaitForEnd().Expect(2).Says("is a replay, which can't be continued in its middle");
        // What is there now was not made by this plan.
        using (ProgramRun starter = Start([.. replay, "--agents", "1"]))
        using (ProgramRun agent = Agent("anna", "--files", FilesOf("anna")))
        {
            agent.WaitForEnd().Expect(6).Says($"--may-write '{copy}.*'");
            starter.WaitForEnd().Expect(3);
        }
    }

    [Fact]
    public void An_agent_replays_no_other_recording_and_none_again_that_it_began()
    {
        string copy = servers.NewDatabase();
        TrafficFile file = new TrafficFile().Request(1, 100, Shop(("insert", "a"), ("documents", new object[] { Id(1) })))
            .Request(2, 100, Shop(("insert", "a"), ("documents", new object[] { Id(2) })));
        // Anna is not done before ben, who is killed, may come back.
        for (int i = 1; i <= 30; i++)
        {
            file.At = i * 700;
            file.Request(1, i, Ping()).Request(2, i, Ping());
        }

        string recorded = Write(file, "anna", "ben");
        string[] replay = ["replay", recorded, "--uri", servers.Embedded.Uri, "--database", $"shop={copy}", "--agents", "2"];
        using (MongoConnection connection = servers.Embedded.Connect())
        using (ProgramRun starter = Start(replay))
        using (ProgramRun first = Agent("anna", "--files", FilesOf("anna")), second = Agent("ben", "--files", FilesOf("ben")))
        {
            Assert.True(second.WaitUntil(() => Documents.Count(connection, copy, "a") == 2, "both first requests"), second.Errors);
            second.Kill();
            using (ProgramRun again = Agent("ben", "--files", FilesOf("ben")))
                again.WaitForEnd().Expect(2).Says("this part was begun before, and a replay can't be continued in its middle");
            starter.WaitForEnd().Expect(130).Says("agent ben ended: this part was begun before");
            first.WaitForEnd().Expect(0);
        }

        using (StoredRun partial = _runs.FindStored()!)
        {
            Assert.Equal((RunState.Interrupted, 31), (partial.Run.State, partial.Accounting.Succeeded));
            Assert.StartsWith("partial: ben is missing", partial.Run.StoppedBecause, StringComparison.Ordinal);
        }

        Write(file.Request(1, 100, Ping()), "carl");
        Refuses(Agent("anna"), "recorded.bin: files are opened", "--files DIR");
        Refuses(Agent("carl", "--files", FilesOf("carl")), "is not the recording of the plan: it has another SHA-256");

        Start([.. replay, "--dependencies"]).WaitForEnd().Expect(2).Says("--dependencies does not apply with --agents");
        Start([.. replay, "--yes-write-to", "shop.*"]).WaitForEnd().Expect(2).Says("each agent confirms what it may write: --may-write");
        Start([.. replay[..^1], "3"]).WaitForEnd().Expect(2).Says("can't be divided among 3 agents");

        void Refuses(ProgramRun agent, params string[] because)
        {
            using ProgramRun starter = Start([.. replay[..^1], "1"]);
            using (agent)
            {
                ProgramResult refused = agent.WaitForEnd().Expect(2);
                Assert.All(because, part => refused.Says(part));
            }

            starter.WaitForEnd().Expect(3);
        }
    }

    private static BsonDocument Ping() => BsonDocument.Of(("ping", 1), ("$db", "admin"));

    private static BsonDocument Shop(params (string, object?)[] command) => BsonDocument.Of([.. command, ("$db", "shop")]);

    private static BsonDocument Id(object id) => BsonDocument.Of(("_id", id));

    private static BsonDocument Changed() => BsonDocument.Of(("n", 1), ("ok", 1.0));

    private static BsonDocument Cursor(string batch, long id, int documents) => BsonDocument.Of(("cursor", BsonDocument.Of(
        ("id", id), ("ns", "shop.orders"), (batch, Enumerable.Range(0, documents).Select(i => (object)Id(i)).ToArray()))), ("ok", 1.0));

    private string FilesOf(string name) => Path.Combine(_runs.Path, $".files-{name}");

    /// <summary>Writes a recording to each agent.</summary>
    /// <returns>The last one's.</returns>
    private string Write(TrafficFile file, params string[] agents)
    {
        string[] paths = [.. agents.Select(name => Path.Combine(Directory.CreateDirectory(FilesOf(name)).FullName, "recorded.bin"))];
        return paths.Select(file.Write).ToArray()[^1];
    }

    /// <summary>Agents that are silent for ten seconds are lost.</summary>
    private static readonly ProgramOptions Options = new()
    {
        Environment = new Dictionary<string, string?> { ["MONGOPERF_LEASE"] = "15s" },
    };

    private ProgramRun Start(params string[] arguments) =>
        ProgramRun.Start(Options, [.. arguments, "--coordinator", servers.Embedded.Uri, "--out", _runs.Path]);

    private ProgramRun Agent(string name, params string[] more) => ProgramRun.Start(
        Options, ["agent", "--coordinator", servers.Embedded.Uri, "--name", name, "--wait", "60s",
            "--out", Path.Combine(_runs.Path, $".{name}"), .. more]);
}
