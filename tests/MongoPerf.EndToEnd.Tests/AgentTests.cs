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
        using (ProgramRun starter = Start("run", "ycsb/c", "--uri", uri, "--agents", "2", "--agents-within", "3s"))
        using (ProgramRun agent = Agent("anna"))
        {
            starter.WaitForEnd().Expect(3).Says("1 of 2 agents came within 3 s; missing: part ");
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
            agent.WaitForEnd().Expect(3).Says("the 'series' or 'run' that offered the plan is gone, and no agent has taken part ");
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
