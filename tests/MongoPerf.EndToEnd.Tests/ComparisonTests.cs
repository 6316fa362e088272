using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Several runs by one command, and what they come to.</summary>
[Collection(WaitingTests.Name)]
public sealed class ComparisonTests
{
    private const int Interrupted = 130;

    [Fact]
    public void A_list_of_topologies_ends_with_the_comparison_of_its_runs()
    {
        using var runs = new RunsFolder();
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { WriteReport = true },
            "series", "--target", "500", "--step", "100", "--window", "600ms", "--warmup", "0", "--rate", "100", "--max-skipped", "100%",
            "--threads", "2", "--tests", "batch,q4", "--topology", "standalone,null", "--format", "json", "--plots",
            runs.AddPlot("mine", "title: Mine\nx: ratio\npanels: [rate]"), "--out", runs.Path).Expect(0);
        Assert.Equal(2, runs.Ids.Count);
        JsonElement comparison = JsonDocument.Parse(result.Output).RootElement;
        Assert.Equal("mongoperf/compare/2", comparison.Text("schema"));
        Assert.Equal(runs.Ids[0], comparison.GetProperty("baseline").Text("id"));
        JsonElement candidate = Assert.Single(comparison.Items("candidates"));
        Assert.Equal(runs.Ids[1], candidate.GetProperty("run").Text("id"));
        Assert.Equal(["series batch batch", "series q4 q4"],
            candidate.Items("operations").Select(o => $"{o.Text("growth")} {o.Text("phase")} {o.Text("operation")}"));
        Assert.All(candidate.Items("operations"), operation => Assert.Equal("5 sizes", operation.Text("basis")));
        string folder = runs.At($"compare-{runs.Ids[0]}-{runs.Ids[1]}");
        Assert.True(File.Exists(Path.Combine(folder, "index.html")));
        Assert.True(File.Exists(Path.Combine(folder, "charts", "mine.csv")));

        // Offline, and in words, it is the same comparison; other tests may keep the machine busy.
        ProgramResult again =
            ProgramRun.Run(new ProgramOptions(), "compare", runs.Ids[0], runs.Ids[1], "--force", "--full", "--out", runs.Path)
                .Expect(0);
        Assert.Contains($"compared   {runs.Ids[1]} against {runs.Ids[0]}: {candidate.Text("verdict")}",
            again.Output, StringComparison.Ordinal);
        Assert.Contains(Path.GetFileName(folder), again.Output, StringComparison.Ordinal);
        using StoredRun first = StoredRun.Open(runs.At(runs.Ids[0]));
        using StoredRun second = StoredRun.Open(runs.At(runs.Ids[1]));
        Assert.Equal(
            (first.Run.Seed, Topology.Embedded, Topology.Null), (second.Run.Seed, first.Deployment!.Topology, second.Deployment!.Topology));
    }

    /// <summary>The same program under another name, which says that it is of another version.</summary>
    [MongodFact]
    public void Programs_of_different_versions_are_run_in_turn_and_compared_by_their_versions()
    {
        using var runs = new RunsFolder();
        string link = Path.Combine(runs.Path, ".mongod-link");
        File.CreateSymbolicLink(link, MongodBinary.Path);
        string newer = Path.Combine(runs.Path, ".mongod-newer");
        File.WriteAllText(newer, $$"""
            #!/bin/sh
            [ "$1" = --version ] || exec '{{MongodBinary.Path}}' "$@"
            '{{MongodBinary.Path}}' --version | sed 's/v\([0-9]*\.[0-9]*\)\.[0-9]*/v\1.98/'

            """);
        File.SetUnixFileMode(newer, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { WriteReport = true },
            "series", "--target", "500", "--step", "100", "--window", "200ms", "--warmup", "0", "--rate", "100", "--max-skipped", "100%",
            "--threads", "2", "--tests", "batch,q4", "--mongod", $"{link},{newer}", "--out", runs.Path).Expect(0);
        string[] names = [.. runs.Ids.Select(id =>
        {
            using StoredRun run = StoredRun.Open(runs.At(id));
            Assert.Equal(DeploymentKind.Mongod, run.Deployment!.Kind);
            return run.DeploymentName!;
        })];
        Assert.Equal(2, names.Length);
        Assert.Matches(@"^mongod \d+\.\d+\.\d+$", names[0]);
        Assert.EndsWith(".98", names[1], StringComparison.Ordinal);
        Assert.Contains($"{names[1]} against {names[0]}", result.Output, StringComparison.Ordinal);
    }

    [Fact]
    public void Ctrl_c_in_the_first_of_two_starts_no_second()
    {
        using var runs = new RunsFolder();
        using ProgramRun run = ProgramRun.Start(
            new ProgramOptions(), "series", "--target", "1k", "--step", "1k", "--window", "100s", "--rate", "100", "--threads", "2",
            "--tests", "batch,q4", "--topology", "standalone,null", "--out", runs.Path);
        Assert.True(run.WaitForLine("batch "), "the series ended too early");
        run.SendInterrupt();
        ProgramResult result = run.WaitForEnd()
            .Expect(Interrupted).Says("1 of 2 runs not started\n");
        Assert.Empty(result.Output);
        // One run has nothing to compare with.
        Assert.DoesNotContain("compare", result.Errors, StringComparison.Ordinal);
        Assert.Contains($"resume {runs.Id}", result.Errors, StringComparison.Ordinal);
    }

    [Fact]
    public void Repeats_show_their_spread_and_leave_no_server_data()
    {
        using var runs = new RunsFolder();
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions { WriteReport = true },
            "series", "--target", "200", "--step", "200", "--window", "200ms", "--threads", "2", "--tests", "batch,q4", "--repeat", "2",
            "--format", "json", "--out", runs.Path).Expect(0);
        JsonElement spread = JsonDocument.Parse(result.Output).RootElement;
        Assert.Equal("mongoperf/repeats/1", spread.Text("schema"));
        Assert.Equal(runs.Ids, spread.GetProperty("run").Items("runs").Select(id => id.GetString()!));
        Assert.Equal(["batch", "q4"], spread.Items("operations").Select(operation => operation.Text("operation")));
        Assert.All(spread.Items("operations"), operation => Assert.Equal(2, operation.Items("perSecond").Count));
        Assert.All(runs.Ids, id => Assert.False(Directory.Exists(runs.At(id, "data"))));
        Assert.All(runs.Ids, id => Assert.True(File.Exists(runs.At(id, "report", "index.html"))));
    }

    [Fact]
    public void A_single_phase_is_repeated_on_the_data_that_are_there()
    {
        using TestServer server = TestServer.Start("embedded");
        using var runs = new RunsFolder();
        ProgramResult result = ProgramRun.Run(
            new ProgramOptions(),
            "run", "q4", "--uri", server.Uri, "--records", "300", "--operations", "200", "--threads", "2", "--repeat", "3",
            "--out", runs.Path).Expect(0);
        Assert.Contains("and 2 repeats", result.Output, StringComparison.Ordinal);
        Assert.Equal(3, runs.Ids.Count);
    }
}
