using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Installing;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments.Installing;

[SupportedOSPlatform("linux")]
public sealed class ServerInstallerTests : IDisposable
{
    private const string Version = "8.0.4";
    private static readonly SystemPlatform Debian12 = SystemPlatform.Read(
        "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian 12\"\n", Architecture.X64);

    private readonly TemporaryFolder _folder = new();
    private readonly FileServer _server = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly List<string> _told = [];
    private readonly List<TimeSpan> _pauses = [];
    private readonly InstalledServers _servers;
    private long _free = long.MaxValue;

    /// <summary>Everything is stopped when this is told.</summary>
    private string? _stopsAt;

    public ServerInstallerTests() => _servers = new InstalledServers(_folder.At("servers"));

    public void Dispose()
    {
        _server.Dispose();
        _stop.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public void The_newest_of_a_series_is_fetched_checked_unpacked_and_chosen()
    {
        byte[] archive = Publish(Version, others: ["8.0.3", "7.0.16", "8.1.0-rc0"]);
        InstalledServer server = Install("8.0");
        Assert.Equal(new InstalledServer(Version, _folder.At("servers/8.0.4"), _folder.At("servers/8.0.4/bin/mongod"),
            _folder.At("servers/8.0.4/bin/mongos"), true), server);
        Assert.Equal([server], _servers.List());
        Assert.True(File.GetUnixFileMode(server.Mongod).HasFlag(UnixFileMode.UserExecute));
        Assert.Equal(new MongodProgram(server.Mongod, new Version(8, 0, 4)),
            MongodProgram.Find(null, name => name == InstalledServers.Variable ? _servers.Folder : null));
        Assert.Contains($"GET {TestArchive.PathOf(Version)}", _server.Requests);
        AssertNothingLeft();
        Assert.True(archive.Length > 0);
    }

    [Fact]
    public void What_is_there_already_is_only_chosen()
    {
        Publish("7.0.16");
        Publish(Version, others: ["7.0.16"]);
        Install(Version);
        Install("7.0");
        Assert.Equal("7.0.16", _servers.Chosen!.Version);
        int fetched = _server.Requests.Count(r => r.EndsWith(".tgz", StringComparison.Ordinal));
        Install(Version);
        Assert.Equal(Version, _servers.Chosen!.Version);
        Assert.Equal(fetched, _server.Requests.Count(r => r.EndsWith(".tgz", StringComparison.Ordinal)));
        Assert.Contains("is already installed", string.Join('\n', _told), StringComparison.Ordinal);
    }

    [Fact]
    public void A_cut_transfer_goes_on_where_it_broke_off()
    {
        byte[] archive = Publish(Version, padding: 300_000);
        _server.Cut(TestArchive.PathOf(Version), 100_000);
        _server.Cut(TestArchive.PathOf(Version), 50_000);
        Install(Version);
        string[] transfers = [.. _server.Requests.Where(r => r.Contains(".tgz", StringComparison.Ordinal))];
        Assert.Equal([$"GET {TestArchive.PathOf(Version)}", $"GET {TestArchive.PathOf(Version)} bytes=100000-",
            $"GET {TestArchive.PathOf(Version)} bytes=150000-"], transfers);
        Assert.True(archive.Length > 300_000);
        Assert.Equal(2, _pauses.Count);
    }

    [Fact]
    public void A_transfer_goes_on_in_the_next_call_too()
    {
        byte[] archive = Publish(Version, padding: 300_000);
        for (int i = 0; i < HttpFiles.MostFailures; i++)
            _server.Cut(TestArchive.PathOf(Version), i == 0 ? 100_000 : 0);
        AssertFails(3, "tried 6 times", () => Install(Version));
        Assert.Equal(
            100_000, new FileInfo(Path.Combine(_servers.Folder, ".downloads", Path.GetFileName(TestArchive.PathOf(Version)))).Length);
        Assert.Empty(_servers.List());
        Install(Version);
        Assert.Equal($"GET {TestArchive.PathOf(Version)} bytes=100000-", _server.Requests[^1]);
        Assert.True(archive.Length > 300_000);
    }

    [Fact]
    public void A_server_that_knows_no_ranges_sends_all_of_it_again()
    {
        Publish(Version, padding: 300_000);
        _server.KnowsRanges = false;
        _server.Cut(TestArchive.PathOf(Version), 100_000);
        Assert.Equal(Version, Install(Version).Version);
    }

    [Fact]
    public void The_beginning_of_another_file_is_thrown_away()
    {
        Publish(Version, padding: 300_000);
        string left = Path.Combine(_servers.Folder, ".downloads", Path.GetFileName(TestArchive.PathOf(Version)));
        Directory.CreateDirectory(Path.GetDirectoryName(left)!);
        File.WriteAllBytes(left, new byte[1000]);
        Assert.Equal(Version, Install(Version).Version);
        File.WriteAllBytes(left, new byte[1_000_000]);
        _servers.List().ToList().ForEach(server => Directory.Delete(server.Folder, recursive: true));
        Assert.Equal(Version, Install(Version).Version);
    }

    [Fact]
    public void A_wrong_checksum_is_refused_and_nothing_is_kept()
    {
        byte[] archive = Publish(Version, sha256: new string('a', 64));
        AssertFails(5, $"has SHA-256 {TestArchive.Sha256(archive)}, expected {new string('a', 64)}", () => Install(Version));
        AssertNothingLeft();
        Assert.Empty(_servers.List());
        Assert.Equal(Version, Install(Version, TestArchive.Sha256(archive)).Version);
    }

    [Fact]
    public void A_checksum_beside_the_archive_does_where_the_feed_has_none()
    {
        byte[] archive = Publish(Version, sha256: "");
        AssertFails(6, "has no .sha256 beside it", () => Install(Version));
        _server.Add(TestArchive.PathOf(Version) + ".sha256", "<html>not found</html>");
        AssertFails(3, "starts with '<html>not", () => Install(Version));
        _server.Add(TestArchive.PathOf(Version) + ".sha256", $"{TestArchive.Sha256(archive)}  mongodb.tgz\n");
        Assert.Equal(Version, Install(Version).Version);
    }

    [Fact]
    public void A_mirror_without_a_feed_gives_whole_versions_by_name()
    {
        byte[] archive = Publish(Version, withFeed: false);
        AssertFails(2, "neither current.json nor full.json", () => Install("8.0"));
        AssertFails(2, "not found", () => Install("8.0.5", TestArchive.Sha256(archive)));
        Assert.Equal(Version, Install(Version, TestArchive.Sha256(archive)).Version);
    }

    [Fact]
    public void A_version_that_is_not_there_names_near_ones()
    {
        Publish(Version, others: ["8.0.3", "7.0.16", "6.0.19"]);
        AssertFails(2, "available: 8.0.4, 8.0.3", () => Install("8.0.9"));
        AssertFails(2, "available: 8.0.4, 7.0.16, 6.0.19", () => Install("9.0"));
        AssertFails(2, "is not built for Debian 12 on aarch64", () => Install("8.0", platform: Debian12 with { Architecture = "aarch64" }));
    }

    [Fact]
    public void An_archive_that_the_feed_names_and_nobody_has_is_not_tried_again()
    {
        _server.Add("/full.json", TestArchive.Feed((Version, new string('a', 64))));
        AssertFails(2, "not found (HTTP 404)", () => Install(Version));
        Assert.Empty(_pauses);
    }

    [Fact]
    public void A_server_that_is_busy_is_asked_again_after_growing_pauses()
    {
        Publish(Version);
        _server.Unavailable = 3;
        Install(Version);
        Assert.Equal([0.5, 1, 2], _pauses.Select(p => p.TotalSeconds));
        Assert.Contains("503", _told[0], StringComparison.Ordinal);
    }

    [Fact]
    public void A_feed_that_is_none_is_told()
    {
        _server.Add("/current.json", "<html>please log in</html>");
        AssertFails(3, "is not a list of releases", () => Install("8.0"));
    }

    [Theory]
    [InlineData("../evil", "would be written outside")]
    [InlineData("mongodb/../../evil", "would be written outside")]
    [InlineData("/evil", "would be written outside")]
    public void Nothing_is_written_outside_of_its_folder(string name, string text)
    {
        string archive = Write(TestArchive.Pack([TestArchive.File("mongodb/bin/mongod", []), TestArchive.File(name, [1])]));
        AssertFails(2, text, () => Installer().InstallArchive(archive, null));
        Assert.Empty(Directory.EnumerateFiles(_folder.Path, "evil", SearchOption.AllDirectories));
        Assert.Empty(_servers.List());
        AssertNothingLeft();
    }

    [Fact]
    public void Archives_with_links_without_a_mongod_and_broken_ones_are_refused()
    {
        AssertFails(2, "a SymbolicLink", () => Installer()
            .InstallArchive(Write(TestArchive.Pack([TestArchive.Link("m/bin", "/tmp"), TestArchive.File("m/bin/mongod", [])])), null));
        AssertFails(2, "contains no bin/mongod",
            () => Installer().InstallArchive(Write(TestArchive.Pack([TestArchive.File("m/bin/mongosh", [])])), null));
        byte[] whole = TestArchive.Of(Version, padding: 300_000);
        AssertFails(2, "is not a complete .tgz", () => Installer().InstallArchive(Write(whole[..200_000]), null));
        AssertFails(2, "is not a complete .tgz", () => Installer().InstallArchive(Write([1, 2, 3]), null));
        AssertFails(2, "exited with code", () => Installer()
            .InstallArchive(Write(TestArchive.Pack([TestArchive.File("m/bin/mongod", "#!/bin/sh\nexit 1\n"u8.ToArray())])), null));
        AssertFails(5, "expected 0000", () => Installer().InstallArchive(Write(whole), new string('0', 64)));
        AssertNothingLeft();
        Assert.Equal(Version, Installer().InstallArchive(Write(whole), TestArchive.Sha256(whole).ToUpperInvariant()).Version);
    }

    [Fact]
    public void A_router_need_not_be_there() =>
        Assert.Null(Installer().InstallArchive(Write(TestArchive.Of(Version, withMongos: false)), null).Mongos);

    [Fact]
    public void A_disk_that_is_too_small_is_refused_before_the_transfer_and_while_unpacking()
    {
        byte[] archive = Publish(Version, padding: 300_000);
        _free = 4 * archive.Length;
        AssertFails(6, "are free", () => Install(Version));
        _free = 299_000;
        AssertFails(6, "are free", () => Installer().InstallArchive(Write(archive), null));
        AssertNothingLeft();
    }

    [Fact]
    public async Task Installs_at_once_wait_for_one_another()
    {
        Publish(Version, padding: 300_000);
        InstalledServer[] servers = await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(() => Install(Version))));
        Assert.All(servers, server => Assert.Equal(Version, server.Version));
        Assert.Single(_server.Requests, r => r.EndsWith(".tgz", StringComparison.Ordinal));
    }

    [Fact]
    public void Whoever_waits_for_another_install_says_so_and_can_be_stopped()
    {
        Publish(Version);
        using IDisposable held = FolderLock.Take(_servers.Folder, () => { }, default);
        _stopsAt = "another mongoperf";
        Assert.ThrowsAny<OperationCanceledException>(() => Install(Version));
        Assert.Contains(_told, line => line.Contains("another mongoperf", StringComparison.Ordinal));
    }

    [Fact]
    public void What_a_killed_install_left_is_cleared_away()
    {
        Directory.CreateDirectory(Path.Combine(_servers.Folder, ".unpacked-1", "bin"));
        Installer().InstallArchive(Write(TestArchive.Of(Version)), null);
        AssertNothingLeft();
    }

    [Fact]
    public void A_removed_server_is_gone_and_the_newest_left_is_taken()
    {
        foreach (string version in (string[])["6.0.19", "8.0.4", "7.0.16"])
            Installer().InstallArchive(Write(TestArchive.Of(version)), null);
        Assert.Equal("7.0.16", _servers.Chosen!.Version);
        Assert.Equal("8.0.4", Installer().Remove(_servers.Chosen)!.Version);
        Assert.Equal(["8.0.4", "6.0.19"], _servers.List().Select(s => s.Version));
    }

    [Fact]
    public void What_is_given_and_the_variable_come_before_an_installed_server_and_that_before_the_path()
    {
        Installer().InstallArchive(Write(TestArchive.Of(Version)), null);
        Installer().InstallArchive(Write(TestArchive.Of("7.0.16")), null);
        string other = Path.Combine(_servers.Folder, Version, "bin", "mongod");
        string? Variable(string name) =>
            name switch { InstalledServers.Variable => _servers.Folder, "PATH" => Path.GetDirectoryName(other), _ => null };
        Assert.Equal(new Version(7, 0, 16), MongodProgram.Find(null, Variable)!.Version);
        Assert.Equal(new Version(8, 0, 4), MongodProgram.Find("8.0", Variable)!.Version);
        Assert.Equal(
            new Version(8, 0, 4), MongodProgram.Find(null, name => name == MongodProgram.Variable ? other : Variable(name))!.Version);
        Assert.Contains("does not exist",
            Assert.Throws<DeploymentException>(() => MongodProgram.Find("6.0", Variable)).Message, StringComparison.Ordinal);
    }

    private byte[] Publish(string version, string[]? others = null, string? sha256 = null, int padding = 0, bool withFeed = true)
    {
        byte[] archive = TestArchive.Of(version, padding: padding);
        _server.Add(TestArchive.PathOf(version), archive);
        string? published = sha256 is "" ? null : sha256 ?? TestArchive.Sha256(archive);
        if (withFeed)
            _server.Add("/full.json", TestArchive.Feed(
                [(version, published), .. (others ?? []).Select(o => (o, (string?)TestArchive.Sha256(TestArchive.Of(o))))]));
        return archive;
    }

    private InstalledServer Install(string asked, string? sha256 = null, SystemPlatform? platform = null)
    {
        using HttpFiles http = Http();
        return Installer(http).Install(asked, new ReleaseSource(http, new Uri(_server.Url)), sha256, platform ?? Debian12);
    }

    private ServerInstaller Installer(HttpFiles? http = null) => new(_servers, http!, Tell, _ => { }, _stop.Token, _ => _free);

    private HttpFiles Http() => new(Tell, _stop.Token, _pauses.Add);

    private void Tell(string line)
    {
        lock (_told)
            _told.Add(line);
        if (_stopsAt is not null && line.Contains(_stopsAt, StringComparison.Ordinal))
            _stop.Cancel();
    }

    private string Write(byte[] archive)
    {
        string path = _folder.At("mongodb.tgz");
        File.WriteAllBytes(path, archive);
        return path;
    }

    private void AssertNothingLeft()
    {
        Assert.Empty(Directory.EnumerateDirectories(_servers.Folder, ".unpacked-*"));
        Assert.Empty(Directory.EnumerateFiles(Path.Combine(_servers.Folder, ".downloads")));
    }

    private static void AssertFails(int exitCode, string text, Action action)
    {
        var e = Assert.Throws<DeploymentException>(action);
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
        Assert.Contains("hint:", e.Message, StringComparison.Ordinal);
        Assert.Equal(exitCode, (int)e.Fault);
    }
}
