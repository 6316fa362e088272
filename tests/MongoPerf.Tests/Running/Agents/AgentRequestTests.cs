using MongoPerf.Commands.Results;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Keys;
using MongoPerf.Running.Agents;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Running.Agents;

/// <summary>What an agent does at a coordinator's word, and what its starter asks for.</summary>
public sealed class AgentRequestTests
{
    private const string Load = "data: {c: {count: 10, document: {n: 1}}}\nphases: [{load: c}]\n";

    private static readonly AgentRequest Agent = new("mongodb://coordinator/", "anna", null, null, null, ["d.*"], 1, false,
        "mongoperf agent", new OutputRequest("runs", "text", true, true, new ResultPrinter()));

    public static TheoryData<string> More => ["no uri", "cluster", "mongod", "auth", "tls", "memory", "cpus", "cache", "driver"];

    [Fact]
    public void A_part_is_done_as_the_plan_says_on_the_deployment_that_it_names()
    {
        RunSettings settings = Settings() with { Data = new DataSettings { Database = "d" } };
        RunRequest part = Agent.ForPart(Claim(settings), new FakeRole());
        Assert.Equal((settings, 42UL, true), (part.Settings, part.Seed, part.SeedWasGiven));
        Assert.Equal("mongodb://deployment/", part.Uri);
        Assert.Equal("mongoperf agent", part.CommandLine);
        Assert.Equal(["d.*"], part.MayWrite);
        Assert.Null(part.Engine);
        Assert.Empty(part.ReplayedWrites);
        Assert.False(part.Output.PrintsResult);
        Assert.IsType<FakeRole>(part.Agent);
        Assert.Equal("c", Assert.Single(Assert.Single(part.Plan.Plan.Rounds).Collections).Name);
        Assert.Equal("c", Assert.Single(Assert.Single(part.ReadPlan(7).Plan.Rounds).Collections).Name);
    }

    [Fact]
    public void An_agents_own_deployment_comes_before_the_plans()
    {
        RunRequest part = (Agent with { Uri = "mongodb://own/?tlsCAFile=ca.pem&tls=true" }).ForPart(Claim(Settings()), new FakeRole());
        Assert.Equal("mongodb://own/?tlsCAFile=ca.pem&tls=true", part.Uri);
    }

    [Theory]
    [MemberData(nameof(More))]
    public void A_plan_that_asks_for_more_than_load_is_refused(string what)
    {
        DeploymentSettings given = new() { Uri = "mongodb://deployment/" };
        RunSettings settings = Settings() with
        {
            Deployment = what switch
            {
                "no uri" => given with { Uri = null },
                "cluster" => given with { ClusterFolder = "cluster" },
                "mongod" => given with { MongodPath = "/bin/sh" },
                "auth" => given with { Auth = true },
                "tls" => given with { Tls = false },
                "memory" => given with { MemoryLimitBytes = 1 },
                "cpus" => given with { Cpus = 1 },
                "cache" => given with { CacheBytes = 1 },
                _ => given,
            },
            Engine = what == "driver" ? new EngineSettings(EngineKind.Driver, null) : EngineSettings.Wire,
        };
        var e = Assert.Throws<UserException>(() => Agent.ForPart(Claim(settings), new FakeRole()));
        Assert.Equal(
            (ExitCode.Refused, "the plan asks for more than putting load on an existing deployment"), (e.Code, e.Message));
    }

    [Theory]
    [InlineData("deployment/?tlsCAFile=/etc/ssl/cert.pem&tls=true", "tlsCAFile")]
    [InlineData("deployment/?tlsCertificateKeyFile=/root/key.pem&tls=true", "tlsCertificateKeyFile")]
    [InlineData("user@deployment/?authMechanism=PLAIN&authSource=$external&tls=true", "authMechanism=PLAIN")]
    public void A_plans_connection_string_opens_no_file_and_sends_no_plain_password(string uri, string option)
    {
        RunSettings settings = Settings() with { Deployment = new DeploymentSettings { Uri = $"mongodb://{uri}" } };
        var e = Assert.Throws<UserException>(() => Agent.ForPart(Claim(settings), new FakeRole()));
        Assert.Equal(ExitCode.Refused, e.Code);
        Assert.StartsWith($"the plan's connection string has {option}: ", e.Message, StringComparison.Ordinal);
        Assert.Contains("--uri", e.Hint, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("admin")]
    [InlineData("a b")]
    public void A_database_that_is_none_of_ours_is_refused(string database) => Assert.Throws<UserException>(() =>
        Agent.ForPart(Claim(Settings() with { Data = new DataSettings { Database = database } }), new FakeRole()));

    [Fact]
    public void A_plan_that_can_not_be_divided_is_refused()
    {
        RunSettings settings = Settings("data: {c: {count: 10, document: {n: 1}}}\nphases: [{load: c}, {name: r, restart: kill, count: 1, "
            + "operations: [{find: c, filter: {n: 1}}]}]\n");
        Assert.StartsWith("phase 'r' restarts the server",
            Assert.Throws<UserException>(() => Agent.ForPart(Claim(settings), new FakeRole())).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("uri", "--agents needs --uri")]
    [InlineData("driver", "--agents runs MongoPerf's own client on MongoDB")]
    [InlineData("live", "--live and --otlp do not apply with --agents")]
    [InlineData("otlp", "--live and --otlp do not apply with --agents")]
    [InlineData("drop", "--force-drop does not apply with --agents")]
    [InlineData("plan", "the plan can't be divided among agents: phase 'r' restarts the server")]
    public void What_agents_can_not_do_is_refused_before_they_are_asked(string what, string message)
    {
        RunRequest request = Request(
            what == "plan" ? "data: {c: {count: 10, document: {n: 1}}}\nphases: [{load: c}, {name: r, restart: kill, count: 1, "
                + "operations: [{find: c, filter: {n: 1}}]}]\n" : Load);
        AgentsSession.Check(request with { Plan = Request(Load).Plan }, 2);
        request = what switch
        {
            "uri" => request with { Uri = null },
            "driver" => request with { Settings = request.Settings with { Engine = new EngineSettings(EngineKind.Driver, null) } },
            "live" => request with { Output = request.Output with { LivePort = 0 } },
            "otlp" => request with { Output = request.Output with { MetricsReceiver = "http://localhost:4318" } },
            "drop" => request with { ForceDrop = "d.c" },
            _ => request,
        };
        var e = Assert.Throws<UserException>(() => AgentsSession.Check(request, 2));
        Assert.StartsWith(message, e.Message, StringComparison.Ordinal);
        Assert.Equal(ExitCode.WrongUsage, e.Code);
    }

    private static AgentClaim Claim(RunSettings settings) => new("plan", new ClientPart("plan", "anna", 1, 2), settings, 42);

    private static RunSettings Settings(string text = Load) => RunParts.Settings() with
    {
        Deployment = new DeploymentSettings { Uri = "mongodb://deployment/" },
        Plan = RunParts.Settings().Plan with { Text = text, Parameters = [] },
    };

    private static RunRequest Request(string text)
    {
        ReadPlan Read(ulong seed) => PlanReader.Read(new ScenarioFile("test.yaml", "test.yaml", text), new PlanOverrides(), seed);
        return new RunRequest
        {
            Settings = Settings(text), Plan = Read(42), ReadPlan = Read, Seed = 42, CommandLine = "mongoperf run test.yaml",
            Uri = "mongodb://deployment/", Output = Agent.Output,
        };
    }

    private sealed class FakeRole : IAgentRole
    {
        public ClientPart Part => new("plan", "anna", 1, 2);

        public PlanShare Share => new(0, 2);

        public string? ReasonToStop() => null;

        public long? Postpone() => null;

        public ClientClock CompareClock() => throw new InvalidOperationException();

        public Meeting Meet(long position, CancellationToken stop) => throw new InvalidOperationException();

        public void Publish(ulong seed, IReadOnlyDictionary<string, long> startDocuments) => throw new InvalidOperationException();

        public (ulong Seed, IReadOnlyDictionary<string, long> StartDocuments) AwaitPrepared(CancellationToken stop) =>
            throw new InvalidOperationException();
    }
}
