using System.Net;
using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Server;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The embedded server by itself, and what is said when it can't be had.</summary>
[Collection(OtherTests.Name)]
public sealed class ServeTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-serve-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void The_shutdown_command_ends_it()
    {
        int port = FreePort.Find();
        using ProgramRun serve = ProgramRun.Start(new ProgramOptions(), "serve", "--port", $"{port}", "--data", _folder);
        MongoConnection? connection = null;
        Assert.True(serve.WaitUntil(() => (connection = TryOpen(port)) is not null, "the server"), serve.Errors);
        using (connection)
            connection!.RunUnchecked("admin", BsonDocument.Of(("shutdown", 1)));
        serve.WaitForEnd().Expect(0);
    }

    [Fact]
    public void What_it_can_not_use_is_named_in_a_line_with_a_hint()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        int port = ((IPEndPoint)taken.LocalEndpoint).Port;
        Serve("--port", $"{port}").Expect(3).Says($"can't listen on 127.0.0.1:{port}").Says("hint:  choose another --port");
        Serve("--cache", "1MB").Expect(2).Says("at least 33554432 are needed").Says("hint:  --cache 256MB");
        File.WriteAllText(Path.Combine(_folder, "WiredTiger"), "");
        Serve().Expect(6).Says("holds a mongod's data");
        ProgramRun.Run("serve", "--data", "/proc/nowhere").Expect(2).Says("/proc/nowhere");
    }

    [Fact]
    public void A_folder_that_is_neither_empty_nor_its_own_is_left_as_it_is()
    {
        Serve("--data", "/etc").Expect(6).Says("/etc contains '")
            .Says("is not the embedded server's data folder; nothing was written").Says("hint:  name an empty or new folder");
        // Another program's RocksDB has no column families of ours.
        File.WriteAllText(Path.Combine(_folder, "CURRENT"), "MANIFEST-000004\n");
        Serve().Expect(2);
        Assert.Equal([Path.Combine(_folder, "CURRENT")], Directory.GetFileSystemEntries(_folder));
    }

    [Fact]
    public void What_a_child_says_first_comes_through_with_its_hint_and_its_exit_code()
    {
        using EmbeddedServer holder = EmbeddedServer.Start(new EmbeddedServerOptions { DataPath = _folder, CacheBytes = 64L << 20 });
        using ChildDeployment child = ChildDeployment.Embedded(_folder, new DeploymentSettings());
        var e = Assert.Throws<DeploymentException>(() => child.EnsureRunning());
        Assert.Equal(2, (int)e.Fault);
        Assert.Contains("the child process exited at once; its output:\n  error: ", e.Message, StringComparison.Ordinal);
        Assert.Contains("another process has it open", e.Message, StringComparison.Ordinal);
        Assert.Contains("\n  hint:  end that process", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("exit code", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("   at MongoPerf", e.Message, StringComparison.Ordinal);
    }

    private ProgramResult Serve(params string[] more) =>
        ProgramRun.Run(["serve", .. more.Contains("--data") ? [] : (string[])["--data", _folder], .. more]);

    private static MongoConnection? TryOpen(int port)
    {
        try
        {
            return MongoConnection.Open(new ServerAddress("127.0.0.1", port), ConnectionSettings.Default);
        }
        catch (IOException)
        {
            return null;
        }
    }
}
