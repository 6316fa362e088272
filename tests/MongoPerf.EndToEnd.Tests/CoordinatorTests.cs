using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Running.Agents;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What agents make of a coordinator to which anybody may have written anything.</summary>
[Collection(OtherTests.Name)]
public sealed class CoordinatorTests : IDisposable
{
    private static readonly RunSettings Settings = new()
    {
        Deployment = new DeploymentSettings { Uri = "mongodb://127.0.0.1:1" },
        Data = new DataSettings { Database = "d" },
        Plan = new PlanSettings
        {
            Name = "x", Description = "", Path = "x.yaml", Text = "phases: []", Parameters = [], TargetDocuments = 1, VerifyShare = 0,
        },
    };

    private readonly TestServer _server = TestServer.Start("embedded");
    private readonly MongoConnection _connection;

    public CoordinatorTests() => _connection = _server.Connect();

    public void Dispose()
    {
        _connection.Dispose();
        _server.Dispose();
    }

    [Theory]
    [InlineData("program", "0.0.1", "the plan was made by MongoPerf 0.0.1")]
    [InlineData("settings", "{}", "its hash does not match")]
    [InlineData("settings", 7, "its hash does not match")]
    [InlineData("count", "many", "its hash does not match")]
    [InlineData("seed", 1.5, "its hash does not match")]
    public void A_plan_that_is_none_of_this_program_is_refused_once_and_holds_up_no_other(string field, object value, string message)
    {
        using Coordinator starter = Open();
        string bad = starter.Offer(Settings, 42, 1);
        Set(bad, (field, value));
        using Coordinator agent = Open();
        Assert.Contains(message, Assert.Throws<UserException>(() => agent.TryClaim("anna", null, out _)).Message, StringComparison.Ordinal);
        Assert.Equal(Coordinator.Free, Part(bad, 1).FindString("state"));
        Assert.Null(agent.TryClaim("anna", null, out _));
        string good = starter.Offer(Settings, 42, 1);
        Assert.Equal(good, agent.TryClaim("anna", null, out _)?.Plan);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    [InlineData("two")]
    public void A_part_that_the_plan_does_not_have_is_not_taken(object number)
    {
        using Coordinator starter = Open();
        Set($"{starter.Offer(Settings, 42, 1)}/1", ("number", number));
        Assert.Null(starter.TryClaim("anna", null, out _));
    }

    [Fact]
    public void Of_agents_of_one_name_that_come_at_once_one_gets_a_part()
    {
        using Coordinator starter = Open();
        Coordinator[] agents = [.. Enumerable.Range(0, 4).Select(_ => Open())];
        for (int i = 0; i < 20; i++)
        {
            string plan = starter.Offer(Settings, 42, 4);
            AgentClaim?[] claims = new AgentClaim?[agents.Length];
            Parallel.For(0, agents.Length, new ParallelOptions { MaxDegreeOfParallelism = agents.Length },
                n => claims[n] = agents[n].TryClaim("anna", null, out _));
            AgentClaim claim = Assert.Single(claims.OfType<AgentClaim>());
            AgentState taken = Assert.Single(starter.ReadParts(plan, out _), part => part.State == Coordinator.Claimed);
            Assert.Equal((claim.Part.Number, "anna"), (taken.Number, taken.Name));
            Assert.Null(agents[0].TryClaim("anna", null, out _));
            Assert.True(agents[0].IsNameTaken);
            starter.Close(plan, isDone: true);
        }

        foreach (Coordinator agent in agents)
            agent.Dispose();
    }

    [Theory]
    [InlineData(-3600)]
    [InlineData(3600)]
    public void Nobody_is_lost_because_the_coordinators_clock_was_set(int seconds)
    {
        using Coordinator starter = Open();
        string plan = starter.Offer(Settings, 42, 1);
        using Coordinator agent = Open();
        agent.TryClaim("anna", null, out _);
        Set($"{plan}/1", ("seen", DateTime.UtcNow.AddSeconds(seconds)));
        Assert.False(Assert.Single(starter.ReadParts(plan, out _)).IsLost);
        Set(plan, ("seen", DateTime.UtcNow.AddSeconds(seconds)));
        Assert.False(agent.IsStarterGone(plan));
    }

    [Theory]
    [InlineData("agents.files", "", "length", "long")]
    [InlineData("agents.files", "", "length", -1L)]
    [InlineData("agents.files", "", "length", long.MaxValue)]
    [InlineData("agents.files", "", "length", 400_001L)]
    [InlineData("agents.files", "", "length", 300_000L)]
    [InlineData("agents.chunks", "/1", "data", "text")]
    [InlineData("agents.chunks", "/1", "data", null)]
    public void A_file_that_is_not_whole_is_no_run(string collection, string chunk, string field, object? value)
    {
        using var folder = new RunsFolder();
        using Coordinator starter = Open();
        string plan = starter.Offer(Settings, 42, 1);
        AgentClaim claim = starter.TryClaim("anna", null, out _)!;
        File.WriteAllBytes(folder.At("up"), new byte[400_000]);
        starter.Upload(claim, folder.At("up"));
        Assert.True(starter.TryDownload(plan, 1, folder.At("whole")));
        Assert.Equal(400_000, new FileInfo(folder.At("whole")).Length);
        if (value is null)
            _connection.RunCommand("mongoperf", BsonDocument.Of(("delete", collection),
                ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", $"{plan}/1{chunk}"))), ("limit", 1)) })));
        else
            Set($"{plan}/1{chunk}", collection, (field, value));
        Assert.False(starter.TryDownload(plan, 1, folder.At("broken")));
    }

    [Theory]
    [InlineData("tlsCAFile=/etc/ssl/cert.pem&tls=true", "the plan's connection string has tlsCAFile")]
    [InlineData("tlsCertificateKeyFile=/root/key.pem&tls=true", "the plan's connection string has tlsCertificateKeyFile")]
    [InlineData("authMechanism=PLAIN&authSource=$external&tls=true", "the plan's connection string has authMechanism=PLAIN")]
    public void An_agent_names_no_file_and_sends_no_plain_password_at_a_coordinators_word(string options, string message)
    {
        using var runs = new RunsFolder();
        using Coordinator starter = Open();
        string user = options.Contains("PLAIN", StringComparison.Ordinal) ? "user@" : "";
        starter.Offer(Settings with
        {
            Deployment = new DeploymentSettings { Uri = $"mongodb://{user}127.0.0.1:1/?{options}" },
            Plan = Settings.Plan with { Text = "data: {c: {count: 1, document: {n: 1}}}\nphases: [{load: c}]\n" },
        }, 42, 1);
        ProgramRun.Run("agent", "--coordinator", _server.Uri, "--name", "anna", "--out", runs.Path)
            .Expect((int)ExitCode.Refused).Says(message).Says("--uri");
        Assert.Empty(runs.Ids);
    }

    [Theory, EachServer]
    public void A_foreign_collection_of_a_coordinators_name_is_refused_and_left_as_it_is(string kind)
    {
        using TestServer server = TestServer.Start(kind);
        using MongoConnection connection = server.Connect();
        using var runs = new RunsFolder();
        foreach (string name in (string[])["agents", "agents.files", "agents.chunks"])
        {
            connection.RunUnchecked("mongoperf", BsonDocument.Of(("dropDatabase", 1)));
            // A plan that would be old enough to be removed, with a file that would go with it.
            Documents.Insert(connection, "mongoperf", name, BsonDocument.Of(("_id", "p"), ("kind", "plan"), ("plan", "p"),
                ("files_id", "p/1"), ("open", true), ("seen", new DateTime(2020, 1, 1, 0, 0, 0, DateTimeKind.Utc))));
            ProgramRun.Run(
                "run", "q4", "--records", "100", "--uri", server.Uri, "--agents", "1", "--coordinator", server.Uri, "--out", runs.Path)
                .Expect(6).Says(
                    $"mongoperf.{name} at {server.Address} was not created by a coordinator of MongoPerf; nothing was written or deleted");
            Assert.Equal([name], Documents.CollectionNames(connection, "mongoperf"));
            Assert.Equal("p", Assert.Single(Documents.Find(connection, "mongoperf", name, BsonDocument.Empty)).FindString("_id"));
        }
    }

    [Fact]
    public void An_agent_takes_no_part_in_a_collection_that_is_somebody_elses()
    {
        using Coordinator starter = Open();
        string plan = starter.Offer(Settings, 42, 1);
        _connection.RunCommand("mongoperf", BsonDocument.Of(
            ("delete", "mongoperf"), ("deletes", new[] { BsonDocument.Of(("q", BsonDocument.Of(("_id", "agents"))), ("limit", 1)) })));
        using Coordinator agent = Open();
        Assert.Equal(ExitCode.Refused, Assert.Throws<UserException>(() => agent.TryClaim("anna", null, out _)).Code);
        Assert.Equal(Coordinator.Free, Part(plan, 1).FindString("state"));
    }

    /// <summary>Its marker makes it no collection that a run may drop, and no run's collection is a coordinator's.</summary>
    [Fact]
    public void Coordinators_and_runs_do_not_take_one_anothers_collections()
    {
        using var runs = new RunsFolder();
        using Coordinator starter = Open();
        string plan = starter.Offer(Settings, 42, 1);
        File.WriteAllText(runs.At("agents.yaml"), "data: {agents: {count: 1, document: {n: 1}}}\nphases: [{load: agents}]\n");
        ProgramRun.Run("run", runs.At("agents.yaml"), "--uri", _server.Uri, "--out", runs.Path).Expect(6)
            .Says("mongoperf.agents was not created by MongoPerf");
        Assert.Equal(Coordinator.Free, Part(plan, 1).FindString("state"));

        _connection.RunCommand("mongoperf", BsonDocument.Of(("dropDatabase", 1)));
        ProgramRun.Run("run", runs.At("agents.yaml"), "--uri", _server.Uri, "--out", runs.Path).Expect(0);
        using Coordinator other = Open();
        Assert.Equal(ExitCode.Refused, Assert.Throws<UserException>(() => other.Offer(Settings, 42, 1)).Code);
        Assert.Single(Documents.Find(_connection, "mongoperf", "agents", BsonDocument.Empty));
    }

    private Coordinator Open() => new(_server.Uri, CancellationToken.None);

    private BsonDocument Part(string plan, int number) =>
        Assert.Single(Documents.Find(_connection, "mongoperf", "agents", BsonDocument.Of(("_id", $"{plan}/{number}"))));

    private void Set(string id, params (string, object?)[] values) => Set(id, "agents", values);

    private void Set(string id, string collection, params (string, object?)[] values) =>
        _connection.RunCommand("mongoperf", BsonDocument.Of(
            ("update", collection), ("updates", new[]
            {
                BsonDocument.Of(("q", BsonDocument.Of(("_id", id))), ("u", BsonDocument.Of(("$set", BsonDocument.Of(values))))),
            })));
}
