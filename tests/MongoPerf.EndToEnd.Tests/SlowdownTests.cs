using System.Text.Json;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Storage;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>What a comparison says of a difference that was put in.</summary>
[Collection(MeasuringTests.Name)]
public sealed class SlowdownTests
{
    private const int Regression = 10;

    /// <summary>
    /// Names a folder that gets the comparison through the delaying relay, with charts, of a longer run: what docs/comparison.md shows.
    /// </summary>
    private const string KeepVariable = "MONGOPERF_KEEP_COMPARISON";

    /// <summary>Both sides go through a relay; the second one's delays each command.</summary>
    [MongodFact]
    public void A_slowdown_put_in_by_a_relay_is_found_by_runs_that_take_turns()
    {
        string? keep = Environment.GetEnvironmentVariable(KeepVariable);
        using TestServer server = TestServer.Start("mongod");
        using var direct = new RecordingProxy(server.Address);
        using var delaying = new RecordingProxy(server.Address) { Delay = TimeSpan.FromMilliseconds(keep is null ? 20 : 1) };
        using var runs = new RunsFolder();
        string[] shape = keep is null
            ? ["--target", "400", "--step", "200", "--batch", "10", "--window", "300ms", "--tests", "batch,q4", "--repeat", "4"]
            : ["--target", "10k", "--step", "2k", "--batch", "10", "--window", "1s", "--tests", "batch,safe,q4,q6,q7,size",
                "--repeat", "5"];
        var options = new ProgramOptions
        {
            AsShipped = true, DrawCharts = keep is not null, Limit = TimeSpan.FromMinutes(keep is null ? 5 : 20),
        };
        ProgramResult result = ProgramRun.Run(
            options, ["series", .. shape, "--threads", "2", "--uri", direct.Uri, "--against", delaying.Uri, "--format", "markdown",
                "--out", runs.Path]).Expect(0);

        // A B, B A, A B: drift meets both alike. Each begins with nothing and reaches its target.
        StoredRun[] stored = [.. runs.Ids.Select(id => StoredRun.Open(runs.At(id)))];
        Assert.Equal([direct.Uri, delaying.Uri, delaying.Uri, direct.Uri, direct.Uri, delaying.Uri],
            stored.Take(6).Select(run => run.Settings.Deployment.Uri!.TrimEnd('/')));
        Assert.Equal([1, 1, 2, 2, 3, 3], stored.Take(6).Select(run => run.Run.Repeat!.Number));
        Assert.All(stored, run => Assert.Equal((run.Settings.Plan.TargetDocuments, run.Settings.Plan.TargetDocuments),
            (run.DocumentsReached, run.GrowthSteps[^1].Documents)));
        Assert.Contains("one observation each (t test)", result.Output, StringComparison.Ordinal);

        ProgramResult compared = ProgramRun.Run(options, "compare", runs.Ids[0], runs.Ids[1], "--force", "--fail-on-regression",
            "--format", "json", "--out", runs.Path).Expect(Regression);
        JsonElement judged = Assert.Single(JsonDocument.Parse(compared.Output).RootElement.Items("candidates"));
        Assert.All(judged.Items("operations"), operation => Assert.Equal("runs", operation.Text("judgedBy")));
        JsonElement q4 = judged.Operation("q4");
        Assert.Equal("slower", q4.GetProperty("perSecond").Text("verdict"));
        Assert.True(q4.GetProperty("p50Microseconds").GetProperty("ratio").GetDouble() > 1.5, compared.All);
        if (keep is not null)
            Keep(runs.At($"compare-{runs.Ids[0]}-{runs.Ids[1]}"), keep);
    }

    private static void Keep(string folder, string target)
    {
        foreach (string file in Directory.GetFiles(folder, "*", SearchOption.AllDirectories))
        {
            string copy = Path.Combine(target, Path.GetRelativePath(folder, file));
            Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
            File.Copy(file, copy, overwrite: true);
        }
    }
}
