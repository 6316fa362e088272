using System.Text.Json;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Security;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Clusters;

/// <summary>
/// A cluster with logins and TLS: used from its folder alone, closed to everybody else, and its secrets are nowhere but there.
/// </summary>
[Collection(WaitingTests.Name)]
public sealed class SecuredClusterTests : IDisposable
{
    private static readonly ProgramOptions WithMongod = new() { Server = "mongod" };
    private readonly RunsFolder _runs = new();
    private readonly string _parent = Directory.CreateTempSubdirectory("mongoperf-cluster-").FullName;

    private string Folder => Path.Combine(_parent, "cluster");

    public void Dispose()
    {
        LeftOver.End(Folder);
        Directory.Delete(_parent, recursive: true);
        _runs.Dispose();
    }

    [MongodFact(From = "6.0")]
    public void A_cluster_with_logins_and_TLS_is_used_from_its_folder_and_keeps_its_secrets()
    {
        string said = ProgramRun.Run(WithMongod, "cluster", "start", "--auth", "--tls", "--shards", "1", "--cache", "256MB",
            "--folder", Folder).Expect(0).Output;
        var security = new SecurityFiles(Folder, auth: true, tls: true);
        Assert.Contains($"password in {security.PasswordFile}", said, StringComparison.Ordinal);
        ClusterStatus status = ClusterStatus.Read(Folder);
        Assert.Equal(["routes", "primary", "primary"], status.Members.Select(member => member.State));
        AssertClosed(status, security);

        ProgramResult run = ProgramRun.Run("run", "safe", "--records", "500", "--operations", "100", "--cluster", Folder,
            "--format", "json", "--out", _runs.Path).Expect(0);
        JsonElement deployment = JsonDocument.Parse(run.Output).RootElement.GetProperty("deployment");
        Assert.True(deployment.GetProperty("tls").GetBoolean() && deployment.GetProperty("auth").GetBoolean(), run.All);
        JsonElement collection = Assert.Single(deployment.Items("collections"));
        Assert.Equal(("series", "{_id: hashed}"), (collection.Text("collection"), collection.Text("key")));
        Assert.Equal(["s0"], collection.Items("parts").Select(part => part.Text("shard")));

        AssertNowhere(security,
            [said, run.Output, run.Errors, .. Directory.GetFiles(_runs.Path, "*", SearchOption.AllDirectories).Select(ReadShared)]);
        AssertNowhere(security, status.Members.Select(member => File.ReadAllText($"/proc/{member.ProcessId}/cmdline")));
        ProgramRun.Run("clean", _runs.Id, "--out", _runs.Path).Expect(0);
        ProgramRun.Run("cluster", "start", "--tls", "off", "--folder", Folder).Expect(2).Says("--tls is off, but the cluster in");
        ProgramRun.Run("cluster", "stop", "--folder", Folder, "--remove").Expect(0);
        Assert.False(Directory.Exists(Folder));
    }

    private static void AssertClosed(ClusterStatus status, SecurityFiles security)
    {
        ServerAddress shard = ClusterProcesses.AddressOf(status.Members[^1].Member);
        Assert.ThrowsAny<ConnectionFailedException>(() => MongoConnection.Open(shard, ConnectionSettings.Default));
        using MongoConnection anonymous = MongoConnection.Open(shard, security.Anonymous);
        var e = Assert.Throws<ServerCommandException>(() => anonymous.RunCommand("admin", BsonDocument.Of(("serverStatus", 1))));
        Assert.Equal("Unauthorized", e.Error.Name);
    }

    private static void AssertNowhere(SecurityFiles security, IEnumerable<string> texts)
    {
        string[] secrets = [security.ReadPassword(), File.ReadAllText(Path.Combine(security.Folder, "keyfile"))];
        Assert.All(texts, text => Assert.All(secrets, secret => Assert.DoesNotContain(secret, text, StringComparison.Ordinal)));
    }

    /// <summary>A database is read as the bytes that it is.</summary>
    private static string ReadShared(string file) => System.Text.Encoding.Latin1.GetString(File.ReadAllBytes(file));
}
