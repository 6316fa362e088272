using Microsoft.Data.Sqlite;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Storage;

public sealed class RunFolderTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData("missing", "no such folder")]
    [InlineData("empty folder", "has no run.db; not a run folder")]
    [InlineData("empty file", "run.db is incomplete: it has no tables")]
    [InlineData("text", "run.db is not readable")]
    [InlineData("foreign", "run.db was not written by MongoPerf: it has no table 'meta'")]
    [InlineData("no format", "run.db is incomplete: its format is 'missing'")]
    [InlineData("newer", "was written by a newer MongoPerf (format 99; this one reads format 3)")]
    [InlineData("older", "was written by an older MongoPerf (format 2; this one reads format 3)")]
    [InlineData("no run", "run.db is damaged ('run' is missing)")]
    public void A_folder_that_is_no_run_says_which_it_is_and_what_was_found(string kind, string expected)
    {
        string folder = _runs.At("x");
        MakeWrong(folder, kind);
        foreach (Action open in new Action[] { () => StoredRun.Open(folder).Dispose(), () => RunStore.Open(folder).Dispose() })
        {
            string message = Assert.Throws<RunStoreException>(open).Message;
            Assert.StartsWith($"run folder {folder}: {expected}", message);
            Assert.Equal(2, message.Split('\n').Length);
            Assert.StartsWith("hint:  ", message.Split('\n')[1]);
        }
    }

    [Fact]
    public void A_run_is_not_created_over_another()
    {
        RunStore.Create(_runs.At("a"), RunParts.Run(), RunParts.Settings()).Dispose();
        RunStoreException e = Assert.Throws<RunStoreException>(() => RunStore.Create(_runs.At("a"), RunParts.Run(), RunParts.Settings()));
        Assert.Contains("has a run.db already", e.Message);
    }

    [Fact]
    public void A_run_that_can_not_be_made_names_the_folder()
    {
        File.WriteAllText(_runs.At("file"), "");
        string folder = _runs.At("file/a");
        Assert.StartsWith(
            $"run folder {folder}: can't be made",
            Assert.Throws<RunStoreException>(() => RunStore.Create(folder, RunParts.Run(), RunParts.Settings())).Message);
    }

    [Fact]
    public void Listing_shows_readable_runs_by_age_and_unreadable_folders_last()
    {
        using (RunStore store = RunStore.Create(
            _runs.At("b"), RunParts.Run("b") with { StartedAt = RunParts.Start.AddHours(1) }, RunParts.Settings(500)))
        {
            store.SetDeployment(RunParts.Deployment());
            store.AddSample(RunParts.Sample(0, documents: 123));
            store.SetState(RunState.Finished, null, RunParts.Start);
        }

        RunStore.Create(_runs.At("c"), RunParts.Run("c"), RunParts.Settings()).Dispose();
        foreach (string kind in new[] { "empty folder", "text", "newer" })
            MakeWrong(_runs.At(kind), kind);
        IReadOnlyList<RunListing> list = RunCatalogue.List(_runs.Path);
        Assert.Equal(["c", "b", "text", "newer", "empty folder"], list.Select(l => l.Id));
        Assert.Equal(["aborted", "finished", "unreadable", "unreadable", "unreadable"], list.Select(l => l.State));
        Assert.Equal(new RunListing("b", _runs.At("b"), "finished", RunParts.Start.AddHours(1), RunParts.Start, 500, 123, "series", null,
            Topology.Standalone, "6.0.5", EngineSettings.Wire, null), list[1]);
        Assert.Equal(new RunListing(
            "empty folder", _runs.At("empty folder"), "unreadable", null, null, null, 0, null, null, null, null, null,
            $"run folder {_runs.At("empty folder")}: has no run.db; not a run folder"), list[4]);
    }

    [Fact]
    public void Listing_a_folder_that_is_not_there_is_empty() => Assert.Empty(RunCatalogue.List(_runs.At("none")));

    [Theory]
    [InlineData("", "2026-11-21-a")]
    [InlineData("2026-11-21-a", "2026-11-21-b")]
    [InlineData("2026-11-21-a 2026-11-21-d", "2026-11-21-e")]
    [InlineData("2026-11-21-z", "2026-11-21-aa")]
    [InlineData("2026-11-21-z 2026-11-21-az", "2026-11-21-ba")]
    [InlineData("2026-11-20-c other 2026-11-21-c.old", "2026-11-21-a")]
    public void A_new_id_follows_the_last_of_its_day_and_its_folder_is_made(string there, string expected)
    {
        foreach (string name in there.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            Directory.CreateDirectory(_runs.At("runs/" + name));
        Assert.Equal(expected, RunCatalogue.NewId(_runs.At("runs"), RunParts.Start));
        Assert.True(Directory.Exists(_runs.At("runs/" + expected)));
        RunStore.Create(_runs.At("runs/" + expected), RunParts.Run(expected), RunParts.Settings()).Dispose();
    }

    [Fact]
    public void Ids_taken_at_the_same_time_differ()
    {
        string[] ids = new string[60];
        Parallel.For(0, ids.Length, i => ids[i] = RunCatalogue.NewId(_runs.Path, RunParts.Start));
        Assert.Equal(60, ids.Distinct().Count());
        Assert.Contains("2026-11-21-bh", ids);
    }

    private static void MakeWrong(string folder, string kind)
    {
        if (kind == "missing")
            return;
        Directory.CreateDirectory(folder);
        string file = Path.Combine(folder, "run.db");
        string? sql = kind switch
        {
            "foreign" => "CREATE TABLE t(x)",
            "no format" => "CREATE TABLE meta(key, value)",
            "newer" => "CREATE TABLE meta(key, value); INSERT INTO meta VALUES ('format', '99')",
            "older" => "CREATE TABLE meta(key, value); INSERT INTO meta VALUES ('format', '2')",
            "no run" => "CREATE TABLE meta(key, value); INSERT INTO meta VALUES ('format', '3')",
            _ => null,
        };
        if (kind == "empty file")
            File.WriteAllText(file, "");
        else if (kind == "text")
            File.WriteAllText(file, string.Concat(Enumerable.Repeat("this is no database. ", 50)));
        if (sql == null)
            return;
        using var connection = new SqliteConnection($"Data Source={file};Pooling=False");
        connection.Open();
        using SqliteCommand command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }
}
