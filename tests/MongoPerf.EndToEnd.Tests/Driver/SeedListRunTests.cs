using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests.Driver;

/// <summary>
/// mongodb+srv as the program meets it: in a mount namespace whose /etc/resolv.conf names the tests' own name server. Making one takes
/// root.
/// </summary>
[Collection(LightTests.Name)]
public sealed class SeedListRunTests(TestServers servers) : IDisposable
{
    private readonly RunsFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Both_engines_find_a_deployment_by_its_name()
    {
        Need.Root.SkipUnless(Environment.IsPrivilegedProcess);
        int port = servers.Embedded.Address.Port;
        DnsZone zone = new DnsZone().Service("cluster.mongoperf.test", "a.mongoperf.test", port);
        using DnsServer names = Listen(zone);
        File.WriteAllText(_folder.At("resolv.conf"), $"nameserver {names.Address.Address}\n");
        File.WriteAllText(_folder.At("hosts"), "127.0.0.1 localhost a.mongoperf.test\n");

        (int code, string errors) = RunWithNames(
            "run", "ycsb/c", "--uri", "mongodb+srv://cluster.mongoperf.test/?tls=false", "--db", servers.NewDatabase(),
            "--engine", "wire,driver", "--records", "100", "--operations", "50", "--no-report", "--out", _folder.At("runs"));

        Assert.True(code == 0, errors);
        Assert.True(names.Queries > 1);
        List<EngineKind> engines = [];
        foreach (RunListing listing in RunCatalogue.List(_folder.At("runs")))
        {
            using StoredRun run = StoredRun.Open(listing.Folder);
            Assert.Equal(50, run.Phases[^1].Operations.Sum(result => result.Operations));
            engines.Add(run.Settings.Engine.Kind);
        }

        Assert.Equal([EngineKind.Wire, EngineKind.Driver], engines.Order());
    }

    private static DnsServer Listen(DnsZone zone)
    {
        try
        {
            return new DnsServer(query => zone.Answer(query), new IPEndPoint(IPAddress.Parse("127.77.0.53"), 53));
        }
        catch (SocketException e)
        {
            new Need("port 53 of 127.77.0.53", e.Message).SkipUnless(false);
            throw;
        }
    }

    private (int Code, string Errors) RunWithNames(params string[] arguments)
    {
        const string Script = """
            mount --bind "$1" /etc/resolv.conf && mount --bind "$2" /etc/hosts || exit 90
            shift 2
            exec "$@"
            """;
        ProgramHere.Prepare();
        var start = new ProcessStartInfo("unshare", ["--mount", "sh", "-c", Script, "sh", _folder.At("resolv.conf"), _folder.At("hosts"),
            .. ThisProgram.Command, .. arguments]) { RedirectStandardError = true, RedirectStandardOutput = true };
        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        string errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        Need.OwnMounts.SkipUnless(process.ExitCode is not (1 or 90) || !errors.Contains("unshare: ", StringComparison.Ordinal));
        return (process.ExitCode, errors + output.Result);
    }
}
