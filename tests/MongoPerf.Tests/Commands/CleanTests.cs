using System.Diagnostics;
using MongoPerf.Deployments;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary><c>clean</c> deletes what a run's own record vouches for, and nothing else however it is called.</summary>
[Collection(ConsoleTests.Name)]
public sealed class CleanTests : IDisposable
{
    private const string Id = "2026-11-21-a";

    private readonly TemporaryFolder _runs = new();

    private string DataPath => _runs.At($"{Id}/data");

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void It_deletes_the_marked_data_says_how_much_and_has_nothing_to_do_after_that()
    {
        MakeRun(Id);
        (int code, string output, _) = Clean(Id);
        Assert.Equal((0, $"1.5 kB of server data deleted from {DataPath} (3 files)\n"), (code, output));
        Assert.Equal(["run.db"], Names(_runs.At(Id)));
        Assert.Equal((0, $"run {Id} has no server data to delete\n", ""), Clean(Id));
    }

    [Theory]
    [InlineData("{runs}/{id}")]
    [InlineData("{runs}/{id}/")]
    [InlineData("{runs}/{id}//")]
    [InlineData("{runs}/other/../{id}/.")]
    [InlineData("{runs}/link")]
    [InlineData("{runs}/link/")]
    [InlineData("link")]
    public void A_run_may_be_named_by_any_path_that_leads_to_it(string named)
    {
        MakeRun(Id);
        MakeRun("other");
        Directory.CreateSymbolicLink(_runs.At("link"), _runs.At(Id));
        (int code, string output, string errors) =
            Clean(named.Replace("{runs}", _runs.Path, StringComparison.Ordinal).Replace("{id}", Id, StringComparison.Ordinal));
        Assert.True(code == 0, errors);
        Assert.Contains(DataPath, output, StringComparison.Ordinal);
        Assert.False(Directory.Exists(DataPath));
        Assert.True(Directory.Exists(_runs.At("other/data/journal")));
    }

    [Theory]
    [InlineData("{runs}/database", "has no run.db; not a run folder")]
    [InlineData("{runs}/database/", "has no run.db; not a run folder")]
    [InlineData("database", "has no run.db; not a run folder")]
    [InlineData("{runs}/database/data/..", "has no run.db; not a run folder")]
    [InlineData("{runs}", "has no run.db; not a run folder")]
    [InlineData("/", "has no run.db; not a run folder")]
    [InlineData("..", "has no run.db; not a run folder")]
    [InlineData(".", "has no run.db; not a run folder")]
    [InlineData("../{name}/database", "no run '../")]
    [InlineData("", "no run ''")]
    public void A_folder_without_a_run_keeps_its_data(string named, string text)
    {
        Directory.CreateDirectory(_runs.At("database/data"));
        File.WriteAllText(_runs.At("database/data/precious"), "1");
        string call = named.Replace("{runs}", _runs.Path, StringComparison.Ordinal)
            .Replace("{name}", Path.GetFileName(_runs.Path), StringComparison.Ordinal);
        (int code, _, string errors) = Clean(call);
        Assert.Equal(2, code);
        Assert.Contains(text, errors, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", errors, StringComparison.Ordinal);
        Assert.Equal("1", File.ReadAllText(_runs.At("database/data/precious")));
    }

    [Fact]
    public void Data_that_do_not_carry_the_mark_of_the_run_stay_though_its_file_lies_beside_them()
    {
        MakeRun(Id);
        MakeRun("other");
        // As if somebody had moved another folder there, or the run's file beside it.
        Directory.Delete(DataPath, recursive: true);
        Directory.Move(_runs.At("other/data"), DataPath);
        (int code, _, string errors) = Clean(Id);
        Assert.Equal(2, code);
        Assert.Contains($"{DataPath} does not carry this run's mark", errors, StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(DataPath, "journal/WiredTigerLog.0000000001")));

        File.Delete(Path.Combine(DataPath, RunDataFolder.MarkFile));
        Assert.Equal(2, Clean(Id).Code);
        Assert.True(File.Exists(Path.Combine(DataPath, "journal/WiredTigerLog.0000000001")));
    }

    [Fact]
    public void A_data_folder_that_is_a_link_is_refused_and_what_it_leads_to_stays()
    {
        MakeRun(Id);
        MakeRun("other");
        Directory.Delete(DataPath, recursive: true);
        Directory.CreateSymbolicLink(DataPath, _runs.At("other/data"));
        (int code, _, string errors) = Clean(Id);
        Assert.Equal(2, code);
        Assert.Contains("is a link to", errors, StringComparison.Ordinal);
        Assert.Equal(["WiredTiger.wt", "journal", "mongoperf-run.json"], Names(_runs.At("other/data")));
    }

    [Fact]
    public void Links_in_place_of_a_servers_files_go_and_what_they_lead_to_stays_and_is_not_counted()
    {
        MakeRun(Id);
        Directory.CreateDirectory(_runs.At("elsewhere"));
        File.WriteAllText(_runs.At("elsewhere/precious"), "precious");
        File.CreateSymbolicLink(Path.Combine(DataPath, "collection-1.wt"), _runs.At("elsewhere/precious"));
        Directory.CreateSymbolicLink(Path.Combine(DataPath, "diagnostic.data"), _runs.At("elsewhere"));
        Directory.CreateSymbolicLink(Path.Combine(DataPath, "mongod.lock"), "/nonexistent");
        Assert.Equal((0, $"1.5 kB of server data deleted from {DataPath} (3 files)\n", ""), Clean(Id));
        Assert.Equal("precious", File.ReadAllText(_runs.At("elsewhere/precious")));
    }

    [Fact]
    public void What_somebody_put_among_the_data_is_kept_and_named_until_it_is_moved_away()
    {
        MakeRun(Id);
        Directory.CreateDirectory(Path.Combine(DataPath, "backup/journal"));
        Directory.CreateDirectory(Path.Combine(DataPath, "s0-0/journal"));
        string[] own = ["notes.txt", "backup/WiredTiger.wt", "backup/journal/WiredTigerLog.0000000001", "journal/mine", "s0-0/mine.json"];
        foreach (string name in own)
            File.WriteAllText(Path.Combine(DataPath, name), "precious");
        Directory.CreateSymbolicLink(Path.Combine(DataPath, "link"), "/nonexistent");
        File.WriteAllText(Path.Combine(DataPath, "s0-0/mongod.log"), "");

        string kept =
            $"kept in {DataPath}, as neither the run nor its server made it: backup/, journal/mine, link, notes.txt, s0-0/mine.json\n";
        // The mark stays with what is kept.
        Assert.Equal((0, $"1.43 kB of server data deleted from {DataPath} (3 files)\n", kept), Clean(Id));
        Assert.All(own, name => Assert.Equal("precious", File.ReadAllText(Path.Combine(DataPath, name))));
        Assert.Equal(["backup", "journal", "link", "mongoperf-run.json", "notes.txt", "s0-0"], Names(DataPath));
        Assert.Equal((0, $"run {Id} has no server data to delete\n", kept), Clean(Id));

        foreach (string name in own.Append("link"))
            File.Delete(Path.Combine(DataPath, name));
        Directory.Delete(Path.Combine(DataPath, "backup"), recursive: true);
        Assert.Equal(0, Clean(Id).Code);
        Assert.Equal(["run.db"], Names(_runs.At(Id)));
    }

    /// <summary>As mongod 6.0 to 8.0, mongos, the embedded server and MongoPerf name theirs.</summary>
    [Theory]
    [InlineData("WiredTiger", "WiredTiger.wt", "WiredTiger.turtle", "WiredTiger.turtle.set", "WiredTiger.lock", "WiredTigerHS.wt",
        "_mdb_catalog.wt", "sizeStorer.wt", "collection-0--1774587987649613346.wt", "index-1-8f7c.wt")]
    [InlineData("storage.bson", "mongod.lock", "mongod.log", "mongod.log.2026-11-26T19-10-07", "output.log", "journal",
        "journal/WiredTigerPreplog.0000000002", "_tmp", "_tmp/extsort-index.1", "rollback/a.b/removed.bson")]
    // What one that was killed had begun, and the next one has moved out of its way.
    [InlineData("sizeStorer.wt.1", "s0-0/_mdb_catalog.wt.2", "storage.bson.tmp", "security.new", "mongoperf-security.new/keyfile")]
    [InlineData("diagnostic.data", "diagnostic.data/metrics.2026-11-26T19-10-07Z-00000", "diagnostic.data/metrics.interim", "router",
        "router/mongos.log", "router/mongos.diagnostic.data/metrics.interim", "config/WiredTiger", "s12-3/journal", "rs0-1/mongod.lock")]
    [InlineData("000004.log", "000123.sst", "CURRENT", "IDENTITY", "LOCK", "LOG", "LOG.old.1774587987", "MANIFEST-000005", "OPTIONS-000015",
        "mongoperf-store", "mongoperf-run.json", "mongoperf-server.json")]
    [InlineData("mongoperf-users", "mongoperf-users/nobody", "mongoperf-security/ca.pem", "security", "security/keyfile",
        "security/password", "security/server.pem", "cluster.json", "cluster.lock")]
    public void What_servers_make_is_known_by_name(params string[] names) =>
        Assert.All(names, name => Assert.True(ServerFiles.IsOne(name), name));

    [Theory]
    [InlineData("notes.txt", "backup", "backup/WiredTiger.wt", "dump/shop/audit.bson", "journal/notes.txt", "my.log", "config.json",
        "s0-0.tar", "routers", "security/mine.txt", "CURRENT.txt", "x/000004.log", "s0-0/x/WiredTiger")]
    public void What_somebody_else_put_there_is_not(params string[] names) =>
        Assert.All(names, name => Assert.False(ServerFiles.IsOne(name), name));

    [Fact]
    public void Data_whose_lock_file_somebody_holds_are_refused()
    {
        MakeRun(Id);
        Directory.CreateDirectory(Path.Combine(DataPath, "s0-0"));
        foreach (string name in (string[])["mongod.lock", "LOCK", "s0-0/WiredTiger.lock"])
        {
            string file = Path.Combine(DataPath, name);
            using (new FileStream(file, FileMode.Create, FileAccess.ReadWrite, FileShare.None))
                RefusesHeld($"the process that holds the lock on {file}");
        }

        Assert.Equal(0, Clean(Id).Code);
    }

    [Fact]
    public void Data_that_a_process_was_started_on_are_refused()
    {
        MakeRun(Id);
        foreach (string[] arguments in (string[][])[["--dbpath", DataPath], [$"--data={DataPath}"],
            ["--dbpath", Path.Combine(DataPath, "s0-0")]])
        {
            // The shell waits at its input, as a server that is still going.
            var start = new ProcessStartInfo("/bin/sh", ["-c", "read line", "server", .. arguments]) { RedirectStandardInput = true };
            using Process server = Process.Start(start)!;
            RefusesHeld($"process {server.Id} (sh)");
            server.StandardInput.Close();
            server.WaitForExit();
        }

        Assert.Equal(0, Clean(Id).Code);
    }

    [Fact]
    public void A_run_that_is_going_is_refused()
    {
        using RunStore store = RunStore.Create(_runs.At(Id), RunParts.Run(Id), RunParts.Settings());
        new RunDataFolder(_runs.At(Id), store.Token).Claim();
        (int code, _, string errors) = Clean(Id);
        Assert.Equal(6, code);
        Assert.Contains("is still running", errors, StringComparison.Ordinal);
        Assert.True(Directory.Exists(DataPath));
    }

    [Fact]
    public void All_takes_every_run_keeps_what_is_held_and_names_it()
    {
        MakeRun("a");
        MakeRun("b");
        MakeRun("c");
        Directory.CreateDirectory(_runs.At("database/data"));
        using (new FileStream(_runs.At("b/data/mongod.lock"), FileMode.Create, FileAccess.ReadWrite, FileShare.None))
        {
            (int code, string output, string errors) = Clean("--all");
            Assert.Equal(6, code);
            Assert.Equal(2, output.Split("deleted from").Length - 1);
            Assert.Contains($"kept: {_runs.At("b/data")} is in use", errors, StringComparison.Ordinal);
        }

        Assert.Equal(
            [false, true, false, true], ((string[])["a", "b", "c", "database"]).Select(id => Directory.Exists(_runs.At(id + "/data"))));
        Assert.Equal(0, Clean("--all").Code);
        Assert.Equal((0, $"no server data to delete in {_runs.Path}\n", ""), Clean("--all"));
    }

    [Fact]
    public void Older_than_takes_the_runs_that_ended_before()
    {
        MakeRun("old", endedAgo: TimeSpan.FromDays(8));
        MakeRun("new", endedAgo: TimeSpan.FromDays(6));
        // One that was killed has no end: it wrote last a moment ago.
        MakeRun("killed");
        (int code, string output, string errors) = Clean("--older-than", "7d");
        Assert.True(code == 0, errors);
        Assert.Contains(_runs.At("old/data"), output, StringComparison.Ordinal);
        Assert.Equal([false, true, true], ((string[])["old", "new", "killed"]).Select(id => Directory.Exists(_runs.At(id + "/data"))));
    }

    [Theory]
    [InlineData("no run is named")]
    [InlineData("only one of a run", Id, "--all")]
    [InlineData("only one of a run", Id, "--older-than", "7d")]
    [InlineData("--older-than: '7 weeks' is not a duration", "--older-than", "7 weeks")]
    [InlineData("--uri and --password-file apply to one run", "--all", "--uri", "mongodb://h")]
    [InlineData("--uri and --password-file apply to one run", "--older-than", "7d", "--password-file", "f")]
    public void What_is_to_be_cleaned_is_said_once(string text, params string[] arguments)
    {
        MakeRun(Id);
        (int code, _, string errors) = Clean(arguments);
        Assert.Equal(2, code);
        Assert.Contains(text, errors, StringComparison.Ordinal);
        Assert.True(Directory.Exists(DataPath));
    }

    [Fact]
    public void A_run_without_its_data_is_not_resumed()
    {
        MakeRun(Id);
        Clean(Id);
        (int code, _, string errors) = InProcess.Run("resume", Id, "--out", _runs.Path);
        Assert.Equal(2, code);
        Assert.Contains("its server data have been deleted", errors, StringComparison.Ordinal);
    }

    private void RefusesHeld(string who)
    {
        (int code, string output, string errors) = Clean(Id);
        Assert.Equal((6, ""), (code, output));
        Assert.Contains($"{DataPath} is in use by {who}; nothing was deleted", errors, StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(DataPath, "journal/WiredTigerLog.0000000001")));
    }

    /// <summary>With 1,500 bytes of data in two files, beside the mark.</summary>
    private void MakeRun(string id, TimeSpan? endedAgo = null)
    {
        using RunStore store = RunStore.Create(_runs.At(id), RunParts.Run(id), RunParts.Settings());
        var data = new RunDataFolder(_runs.At(id), store.Token);
        data.Claim();
        Directory.CreateDirectory(Path.Combine(data.Path, "journal"));
        File.WriteAllBytes(Path.Combine(data.Path, "WiredTiger.wt"), new byte[500]);
        File.WriteAllBytes(Path.Combine(data.Path, "journal/WiredTigerLog.0000000001"),
            new byte[1000 - (int)new FileInfo(Path.Combine(data.Path, RunDataFolder.MarkFile)).Length]);
        if (endedAgo is { } ago)
            store.SetState(RunState.Finished, null, DateTimeOffset.UtcNow - ago);
    }

    private (int Code, string Output, string Errors) Clean(params string[] arguments) =>
        InProcess.Run(["clean", .. arguments, "--out", _runs.Path]);

    private static string[] Names(string folder) =>
        [.. Directory.GetFileSystemEntries(folder).Select(path => Path.GetFileName(path)!).Order(StringComparer.Ordinal)];
}
