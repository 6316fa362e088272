using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports;

/// <summary>Two commands may write one report, comparison or history at once: both succeed, and what is there is whole.</summary>
[Collection(ConsoleTests.Name)]
public sealed class ReportsAtOnceTests : IDisposable
{
    private const int Writers = 3;

    private readonly TemporaryFolder _runs = new();

    public ReportsAtOnceTests()
    {
        foreach (string id in (string[])["2026-11-21-a", "2026-11-21-b"])
            FrozenRun.Build(_runs.Path, new FrozenShape { Id = id, Steps = 2, WindowSeconds = 1 });
    }

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Reports_of_one_run() => Check(static (folder, runs) =>
    {
        using StoredRun run = StoredRun.Open(runs.At("2026-11-21-a"));
        return ReportWriter.WriteAll(run, folder);
    });

    [Fact]
    public void Comparisons_of_the_same_runs() => Check(static (folder, runs) =>
    {
        IReadOnlyList<ComparedSide> sides = MongoPerf.Commands.Results.SideFinder.Find(runs.Path, ["2026-11-21-a", "2026-11-21-b"]);
        try
        {
            return ComparisonWriter.WriteAll(RunComparer.Compare(sides, RunComparer.DefaultNoiseThreshold), folder);
        }
        finally
        {
            foreach (StoredRun run in sides.SelectMany(static side => side.Stored))
                run.Dispose();
        }
    });

    private void Check(Func<string, TemporaryFolder, ReportFiles> write)
    {
        string together = _runs.At("together"), alone = _runs.At("alone");
        ReportFiles expected = write(alone, _runs);
        using var ready = new Barrier(Writers);
        var found = new ReportFiles[Writers];
        var failures = new System.Collections.Concurrent.ConcurrentQueue<Exception>();
        Thread[] threads = [.. Enumerable.Range(0, Writers).Select(i => new Thread(() =>
        {
            ready.SignalAndWait();
            try
            {
                for (int again = 0; again < 2; again++)
                    found[i] = write(together, _runs);
            }
            catch (Exception e)
            {
                failures.Enqueue(e);
            }
        }))];
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Assert.Empty(failures);
        Assert.All(found, files => Assert.Empty(files.Warnings));
        string[] names = [.. expected.Files.Select(file => Path.GetRelativePath(alone, file))];
        Assert.All(found, files => Assert.Equal(names, files.Files.Select(file => Path.GetRelativePath(together, file))));
        Assert.Equal(Contents(alone), Contents(together));
    }

    private static SortedDictionary<string, string> Contents(string folder) => new(
        Directory.GetFiles(folder, "*", SearchOption.AllDirectories)
            .ToDictionary(file => Path.GetRelativePath(folder, file), file => Convert.ToBase64String(File.ReadAllBytes(file))),
        StringComparer.Ordinal);
}
