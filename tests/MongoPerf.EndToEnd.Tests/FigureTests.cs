using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Figures and tables that a scenario asks for, from the run to the page.</summary>
[Collection(LightTests.Name)]
public sealed class FigureTests(TestServers servers) : IDisposable
{
    private static readonly string Example = Path.Combine(RepositoryPaths.Root, "scenarios", "examples", "figures.yaml");

    private readonly RunsFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [MongodFact]
    public void Each_run_has_them_and_the_comparison_has_them_over_both()
    {
        Run("embedded");
        Run("mongod");
        Assert.All(_runs.Ids, id =>
        {
            string report = _runs.At(Path.Combine(id, "report"));
            // What ran, at a tenth of the file's 1k and 10k.
            Assert.Equal(["100", "1000"], Column(Path.Combine(report, "charts", "figure-1.csv"), 0));
            Assert.StartsWith(
                "seconds,rate,p99", File.ReadAllText(Path.Combine(report, "charts", "figure-2-1.csv")), StringComparison.Ordinal);
            Assert.Equal(["100", "1000"], Column(Path.Combine(report, "charts", "figure-3.csv"), 0));
            string text = File.ReadAllText(Path.Combine(report, "report.md"));
            Assert.Contains("| total | 1 thread ops/s | 1 thread p99 | 4 threads ops/s | 4 threads p99 |", text, StringComparison.Ordinal);
            Assert.Contains(
                "Reads by documents and threads", File.ReadAllText(Path.Combine(report, "index.html")), StringComparison.Ordinal);
            Assert.True(File.Exists(Path.Combine(report, "charts", "mine-operations.csv")));
        });

        string comparison =
            ProgramRun.Run("compare", _runs.Ids[0], _runs.Ids[1], "--force", "--out", _runs.Path, "--format", "markdown").Expect(0).Output;
        Assert.All(_runs.Ids, id => Assert.Contains($"| 1k | one server ({id}) |", comparison, StringComparison.Ordinal));
        string compared = _runs.At($"compare-{_runs.Ids[0]}-{_runs.Ids[1]}");
        Assert.StartsWith(
            $"total,\"1 thread, one server ({_runs.Ids[0]}) rate\",\"4 threads, one server ({_runs.Ids[0]}) rate\",\"1 thread, "
            + $"one server ({_runs.Ids[1]}) rate\"",
            File.ReadAllText(Path.Combine(compared, "charts", "figure-1.csv")), StringComparison.Ordinal);
    }

    private void Run(string kind) => ProgramRun.Run(
        new ProgramOptions { WriteReport = true }, "run", Example, "--uri", servers[kind].Uri, "--db", servers.NewDatabase(),
        "--scale", "0.1", "--duration", "200ms", "--quiet",
        "--plots", _runs.AddPlot("mine", "title: Mine\nx: time\npanels: [operations]"), "--out", _runs.Path).Expect(0);

    private static string[] Column(string file, int column) => [.. File.ReadLines(file).Skip(1).Select(line => line.Split(',')[column])];
}
