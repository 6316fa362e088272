using MongoPerf.Commands;
using MongoPerf.Commands.Results;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Executors;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

/// <summary><c>--engine</c>: what a run's settings say, and what is refused before the first run.</summary>
[Collection(ConsoleTests.Name)]
public sealed class RequestedEngineTests
{
    private static readonly EngineSettings Driver = new(EngineKind.Driver);

    [Fact]
    public void Our_own_client_needs_nothing_loaded()
    {
        RunRequest[] requests = [Request(EngineSettings.Wire)];
        Assert.Same(requests, RequestedEngine.Open(requests, () => throw new InvalidOperationException("loaded for nothing")));
    }

    /// <summary>Found by a review: a file called driver.yaml was enough.</summary>
    [Theory]
    [InlineData("run driver.yaml --out /tmp/driver", false)]
    [InlineData("run ycsb/a --engine wire", false)]
    [InlineData("run ycsb/a --engine driver", true)]
    [InlineData("series --engine wire,driver", true)]
    [InlineData("resume 2026-01-01-a", true)]
    [InlineData("calibrate", true)]
    [InlineData("list runs", false)]
    public void What_may_need_the_driver_is_told_from_the_command_and_its_engine(string call, bool mayNeed) =>
        Assert.Equal(mayNeed, CommandLine.MayUseDriver(CommandTree.Build().Parse(call)));

    [Fact]
    public void The_driver_is_loaded_once_for_all_requests_and_its_version_is_stored()
    {
        int loads = 0;
        IReadOnlyList<RunRequest> ready = RequestedEngine.Open([Request(EngineSettings.Wire), Request(Driver), Request(Driver)], () =>
        {
            loads++;
            return new FakeEngine();
        });
        Assert.Equal(1, loads);
        Assert.Equal(["wire", "driver 9.8.7", "driver 9.8.7"], ready.Select(request => request.Settings.Engine.Text));
        Assert.Equal([false, true, true], ready.Select(request => request.Engine is FakeEngine));
    }

    [Fact]
    public void An_operation_that_the_client_can_not_do_is_refused_by_its_name()
    {
        const string Text = """
            data: {users: {count: 10, document: {n: ^number}}}
            phases: [{name: look, count: 1, operations: [{distinct: users, field: n, name: values}]}]
            """;
        OperationLimitException e =
            Assert.Throws<OperationLimitException>(() => RequestedEngine.Open([Request(Driver, Text)], () => new FakeEngine()));
        Assert.Equal("values is not possible here", e.Message);
    }

    [Fact]
    public void Tokyo_Tyrant_is_refused_before_anything_is_loaded()
    {
        UserException e = Assert.Throws<UserException>(() => RequestedEngine.Open([Request(Driver) with { Uri = "tyrant://host" }], Fail));
        Assert.Equal("--engine driver speaks MongoDB's protocol only; Tokyo Tyrant has one of its own", e.Message);
    }

    [Fact]
    public void A_login_that_the_driver_lacks_is_refused_before_anything_is_loaded()
    {
        UserException e = Assert.Throws<UserException>(() => RequestedEngine.Open(
            [Request(Driver) with { Uri = "mongodb://key:secret@host/?authMechanism=MONGODB-AWS&authSource=$external" }], Fail));
        Assert.StartsWith("--engine driver can't log in by MONGODB-AWS: ", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_run_goes_on_with_the_version_of_the_driver_that_it_began_with()
    {
        Assert.Equal("driver 9.8.7",
            RequestedEngine.Open([Request(Driver with { Version = "9.8.7" })], () => new FakeEngine())[0].Settings.Engine.Text);
        UserException e =
            Assert.Throws<UserException>(() => RequestedEngine.Open([Request(Driver with { Version = "3.11.0" })], () => new FakeEngine()));
        Assert.Contains("began with MongoDB.Driver 3.11.0, and this MongoPerf has 9.8.7", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Settings_that_were_stored_before_there_were_engines_mean_our_own_client()
    {
        string stored = System.Text.Json.JsonSerializer.Serialize(
            RunParts.Settings() with { Engine = new EngineSettings(EngineKind.Driver, "3.11.0") });
        Assert.Equal("driver 3.11.0", System.Text.Json.JsonSerializer.Deserialize<RunSettings>(stored)!.Engine.Text);
        System.Text.Json.Nodes.JsonObject older = System.Text.Json.Nodes.JsonNode.Parse(stored)!.AsObject();
        older.Remove("Engine");
        Assert.Equal(EngineSettings.Wire, System.Text.Json.JsonSerializer.Deserialize<RunSettings>(older.ToJsonString())!.Engine);
    }

    [Theory]
    [InlineData("--engine driver", "engine: driver")]
    [InlineData("--engine wire,driver", "deployment 'wire': one server", "deployment 'driver': one server, engine driver")]
    [InlineData("--engine wire,driver --topology single,null", "deployment 'standalone, wire'", "deployment 'standalone, driver'",
        "deployment 'null, wire'", "deployment 'null, driver'")]
    [InlineData("--engine driver,wire --cpus 1", "deployment 'driver': one server, 1 CPU, engine driver",
        "deployment 'wire': one server, 1 CPU")]
    public void A_dry_run_names_the_engines_and_loads_none(string options, params string[] lines)
    {
        TextWriter before = Console.Out;
        using var output = new StringWriter();
        Console.SetOut(output);
        try
        {
            Assert.Equal(0, CommandLine.Run(["series", "--target", "1k", "--dry-run", .. options.Split(' ')]));
        }
        finally
        {
            Console.SetOut(before);
        }

        Assert.All(lines, line => Assert.Contains(line, output.ToString(), StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(DeploymentKind.Mongod, true)]
    [InlineData(DeploymentKind.ReplicaSet, true)]
    [InlineData(DeploymentKind.Sharded, true)]
    [InlineData(DeploymentKind.Embedded, true)]
    [InlineData(DeploymentKind.Given, false)]
    [InlineData(DeploymentKind.Null, false)]
    public void A_resumed_run_has_data_of_its_own_where_it_started_a_server_that_keeps_some(DeploymentKind kind, bool startsServer) =>
        Assert.Equal(startsServer, (Request(EngineSettings.Wire) with { RequiredKind = kind }).StartsServer);

    private static IClientEngine Fail() => throw new InvalidOperationException("loaded for nothing");

    private static RunRequest Request(
        EngineSettings engine, string text = "data: {users: {count: 10, document: {n: ^number}}}\nphases: [{name: load, load: users}]\n")
    {
        ReadPlan Read(ulong seed) => PlanReader.Read(new ScenarioFile("test.yaml", "test.yaml", text), new PlanOverrides(), seed);
        return new RunRequest
        {
            Settings = RunParts.Settings() with { Engine = engine },
            Plan = Read(42),
            ReadPlan = Read,
            Seed = 42,
            CommandLine = "mongoperf run test.yaml",
            Output = new OutputRequest("runs", "text", true, true, new ResultPrinter()),
        };
    }
}
