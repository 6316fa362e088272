using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests;

/// <summary><c>server install</c> with the built program, from a mirror on loopback.</summary>
[Collection(LightTests.Name)]
public sealed class ServerInstallTests : IDisposable
{
    private const string Version = "6.0.5";

    private readonly RunsFolder _runs = new();
    private readonly FileServer _mirror = new();

    public void Dispose()
    {
        _mirror.Dispose();
        _runs.Dispose();
    }

    [MongodFact]
    public void A_server_that_was_installed_is_what_runs_start_from_then_on()
    {
        byte[] archive = TestArchive.Around(MongodBinary.Path, Version);
        _mirror.Add("/full.json", TestArchive.Feed((Version, TestArchive.Sha256(archive))));
        _mirror.Add(TestArchive.PathOf(Version), archive);
        _mirror.Cut(TestArchive.PathOf(Version), archive.Length / 2);
        Run("server", "list").Expect(0);
        ProgramResult installed = Run("server", "install", "6.0", "--mirror", _mirror.Url, "--platform", "debian12").Expect(0);
        Assert.Contains($"MongoDB {Version} in {Path.Combine(Servers, Version)}: runs that start their own server now use it",
            installed.Output, StringComparison.Ordinal);
        Assert.Contains("its archive has no mongos", installed.Output, StringComparison.Ordinal);
        Assert.Contains("retrying", installed.Errors, StringComparison.Ordinal);
        Assert.Equal($"GET {TestArchive.PathOf(Version)} bytes={archive.Length / 2}-", _mirror.Requests[^1]);
        Assert.Matches(@"\*\s+6\.0\.5\s+\S+/bin/mongod", Run("server", "list").Expect(0).Output);

        Run("run", "size", "--records", "100", "--out", _runs.Path).Expect(0);
        using (Storage.StoredRun run = _runs.FindStored()!)
        {
            Assert.Equal((DeploymentKind.Mongod, Version), (run.Deployment!.Kind, run.Deployment.ServerVersion));
            Assert.Equal(Path.Combine(Servers, Version, "bin", "mongod"), run.FindNote("server program"));
        }

        Assert.Contains("deleted", Run("server", "remove", Version).Expect(0).Output, StringComparison.Ordinal);
        Assert.Contains("no servers installed", Run("server", "list").Expect(0).Output, StringComparison.Ordinal);
    }

    [Fact]
    public void What_can_not_be_installed_is_named_with_what_is_allowed()
    {
        _mirror.Add("/full.json", TestArchive.Feed(("8.0.4", null), ("7.0.16", null)));
        Run("server", "install", "8.0.9", "--mirror", _mirror.Url, "--platform", "debian12").Expect(2)
            .Says("no MongoDB 8.0.9").Says("available: 8.0.4");
        Run("server", "install", "newest").Expect(2).Says("'newest' is not a version");
        Run("server", "install", "8.0", "--mirror", "ftp://example.org").Expect(2)
            .Says("--mirror: 'ftp://example.org' is not an http or https URL");
        Run("server", "install", "8.0", "--platform", "windows").Expect(2).Says("'windows'");
        Run("server", "install", "8.0", "--sha256", "abc").Expect(2).Says("'abc' is not a SHA-256");
        Run("server", "install", "./none.tgz").Expect(2).Says("none.tgz");
        Run("server", "remove", "8.0").Expect(2).Says("MongoDB 8.0 is not installed");
    }

    private string Servers => _runs.At(".servers");

    private ProgramResult Run(params string[] arguments) => ProgramRun.Run(
        new ProgramOptions { Folder = _runs.Path, Environment = new Dictionary<string, string?> { ["MONGOPERF_SERVERS"] = Servers } },
        arguments);
}
