using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Running.Agents;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What agents and their starter refuse at a coordinator's word.</summary>
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
}
