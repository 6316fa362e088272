using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What <c>doctor</c> says of deployments that are there, and of users with fewer rights.</summary>
[Collection(LightTests.Name)]
public sealed class DoctorTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void A_deployment_is_told_with_its_machine()
    {
        ProgramResult result = Doctor("--uri", servers.Embedded.Uri).Expect(0);
        foreach (string text in (string[])["this machine\n", "embedded server, not MongoDB", "the server asks for no login", "its clock",
            "ready for runs, with "])
            Assert.Contains(text, result.Output, StringComparison.Ordinal);
        Assert.Empty(_runs.Ids);
    }

    [Fact]
    public void A_server_that_does_not_answer_is_a_problem()
    {
        ProgramResult result = Doctor("--uri", "mongodb://u:secret@127.0.0.1:1/?connectTimeoutMS=300").Expect(8);
        Assert.Contains("\nmongodb://u:***@127.0.0.1:1/?connectTimeoutMS=300\n  problem  server", result.Output, StringComparison.Ordinal);
        Assert.Contains("1 problem", result.Output, StringComparison.Ordinal);
        Assert.Contains("exit code 8: doctor found a problem that prevents runs", result.Errors, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", result.Output + result.Errors, StringComparison.Ordinal);
    }

    [MongodFact]
    public void Users_with_fewer_rights_are_told_what_they_lose()
    {
        using var mongod = SecuredMongod.Start("--auth");
        mongod.CreateUser("root", "pw", "admin");
        using MongoConnection admin = mongod.Open(mongod.Uri("root:pw", "authSource=admin"));
        (string Name, (string Role, string Database)[] Roles, int Code, string[] Lost)[] users =
        [
            ("writer", [("readWrite", "mongoperf")], 0,
                ["counters after a crash", "sizes of now", "the server's state", "the server's settings"]),
            ("watcher", [("readWrite", "mongoperf"), ("clusterMonitor", "admin")], 0, ["counters after a crash", "sizes of now"]),
            ("owner", [("dbOwner", "mongoperf"), ("clusterMonitor", "admin"), ("hostManager", "admin")], 0, []),
            ("reader", [("read", "mongoperf")], 0,
                ["loading documents", "cleaning up", "counters after a crash", "sizes of now", "the server's state",
                    "the server's settings"]),
            ("stranger", [("readWrite", "shop")], 8,
                ["reading documents", "loading documents", "cleaning up", "sizes", "counters after a crash", "sizes of now",
                    "the server's state", "the server's settings"]),
        ];
        foreach ((string name, (string Role, string Database)[] roles, _, _) in users)
        {
            admin.RunCommand("admin", BsonDocument.Of(("createUser", name), ("pwd", "pw"),
                ("roles", roles.Select(role => BsonDocument.Of(("role", role.Role), ("db", role.Database))).ToArray())));
        }

        Assert.All(users, user =>
        {
            ProgramResult result = Doctor("--uri", mongod.Uri($"{user.Name}:pw", "authSource=admin"), "--format", "json").Expect(user.Code);
            using JsonDocument json = JsonDocument.Parse(result.Output);
            IEnumerable<JsonElement> rights = json.RootElement.GetProperty("groups")[1].GetProperty("checks").EnumerateArray()
                .Where(check => check.Text("subject") == "rights");
            Assert.Equal(user.Lost, rights.Where(check => check.Text("state") != "ok")
                .Select(check => check.Text("found").Split(" needs ")[0]));
        });
        Assert.Contains("nobody is logged in, and the server asks for a login", Doctor("--uri", mongod.Uri()).Expect(8).Output,
            StringComparison.Ordinal);
    }

    private ProgramResult Doctor(params string[] arguments) =>
        ProgramRun.Run(["doctor", "--duration", "0s", "--out", _runs.Path, .. arguments]);
}
