using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>A run's folder that somebody else prepared: its links lead to files of the reader's, which no report touches.</summary>
[Collection(ConsoleTests.Name)]
public sealed class PlantedLinkTests : IDisposable
{
    private const string Precious = "precious\n";

    private readonly TemporaryFolder _runs = new();
    private readonly string _folder;

    public PlantedLinkTests()
    {
        _folder = FrozenRun.Build(_runs.Path, new FrozenShape { Steps = 2, WindowSeconds = 1 });
        Directory.CreateDirectory(_runs.At("elsewhere"));
        File.WriteAllText(_runs.At("elsewhere/precious"), Precious);
    }

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData("report")]
    [InlineData("report/charts")]
    public void A_folder_of_the_report_that_is_a_link_is_refused(string name)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(Path.Combine(_folder, name))!);
        Directory.CreateSymbolicLink(Path.Combine(_folder, name), _runs.At("elsewhere"));
        (int code, _, string errors) = Report();
        Assert.Equal(2, code);
        Assert.Contains($"{Path.Combine(_folder, name)} is a link to {_runs.At("elsewhere")}", errors, StringComparison.Ordinal);
        Assert.Equal([_runs.At("elsewhere/precious")], Directory.GetFileSystemEntries(_runs.At("elsewhere")));
        Assert.Equal(Precious, File.ReadAllText(_runs.At("elsewhere/precious")));
    }

    [Fact]
    public void Files_of_the_report_that_are_links_are_replaced_and_not_followed()
    {
        Assert.Equal(0, Report().Code);
        string[] files = [.. Directory.GetFiles(Path.Combine(_folder, "report"), "*", SearchOption.AllDirectories)];
        Assert.True(files.Length > 20, $"{files.Length} files");
        foreach (string file in files)
        {
            File.Delete(file);
            File.CreateSymbolicLink(file, _runs.At("elsewhere/precious"));
        }

        (int code, _, string errors) = Report();
        Assert.True(code == 0, errors);
        Assert.Equal(Precious, File.ReadAllText(_runs.At("elsewhere/precious")));
        Assert.All(files, file => Assert.False(OwnFiles.IsLink(file), file));
    }

    [Theory]
    [InlineData("run.db")]
    [InlineData("run.db-wal")]
    [InlineData("run.db-shm")]
    [InlineData("run.db-journal")]
    public void A_run_whose_file_is_a_link_is_not_read(string name)
    {
        string path = Path.Combine(_folder, name);
        if (File.Exists(path))
            File.Move(path, _runs.At("elsewhere/" + name));
        File.CreateSymbolicLink(path, _runs.At("elsewhere/" + name));
        foreach (string command in (string[])["report", "resume", "clean"])
        {
            (int code, _, string errors) = InProcess.Run(command, "2026-11-21-a", "--out", _runs.Path);
            Assert.Equal(2, code);
            Assert.Contains($"{name} is a link", errors, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void A_journal_that_could_make_SQLite_delete_a_file_is_not_rolled_back()
    {
        // An empty one, which SQLite itself would ignore.
        File.WriteAllText(Path.Combine(_folder, "run.db-journal"), "");
        (int code, _, string errors) = InProcess.Run("resume", "2026-11-21-a", "--out", _runs.Path);
        Assert.Equal(2, code);
        Assert.DoesNotContain("   at ", errors, StringComparison.Ordinal);
        RunStoreException e = Assert.Throws<RunStoreException>(() => RunStore.Open(_folder));
        Assert.Contains("has a run.db-journal, which MongoPerf never leaves behind", e.Message, StringComparison.Ordinal);
        Assert.True(File.Exists(Path.Combine(_folder, "run.db-journal")));
    }

    [Fact]
    public void A_comparison_replaces_links_too()
    {
        FrozenRun.Build(_runs.Path, new FrozenShape { Id = "2026-11-21-b", Steps = 2, WindowSeconds = 1 });
        string[] compare = ["compare", "2026-11-21-a", "2026-11-21-b", "--out", _runs.Path];
        Assert.Equal(0, InProcess.Run(compare).Code);
        string folder = _runs.At("compare-2026-11-21-a-2026-11-21-b");
        string[] files = Directory.GetFiles(folder, "*", SearchOption.AllDirectories);
        foreach (string file in files)
        {
            File.Delete(file);
            File.CreateSymbolicLink(file, _runs.At("elsewhere/precious"));
        }

        Assert.Equal(0, InProcess.Run(compare).Code);
        Assert.All(files, file => Assert.False(OwnFiles.IsLink(file), file));
        Assert.Equal(Precious, File.ReadAllText(_runs.At("elsewhere/precious")));
    }

    private (int Code, string Output, string Errors) Report() => InProcess.Run("report", "2026-11-21-a", "--out", _runs.Path);
}
