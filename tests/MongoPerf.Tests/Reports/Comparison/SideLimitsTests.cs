using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Findings;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>The screen of a comparison names what held each side back: without it nobody knows what the ratio says.</summary>
public sealed class SideLimitsTests : IDisposable
{
    private readonly List<ScriptedRun> _runs = [];

    public void Dispose() => _runs.ForEach(run => run.Dispose());

    [Theory]
    [InlineData(0.999, "99.9 % of 8 CPUs busy")]
    [InlineData(0.96, "96 % of 8 CPUs busy")]
    [InlineData(0.5, "nothing found; at most 50 % of 8 CPUs busy")]
    public void A_machine_without_idle_CPUs_is_named(double busy, string says) => Assert.Equal(says, SideLimits.Of(Side(busy)));

    [Fact]
    public void What_was_not_looked_at_is_not_guessed()
    {
        var run = new ScriptedRun();
        _runs.Add(run);
        run.Phase("q4", [.. Enumerable.Repeat(1000.0, 20)]);
        Assert.Equal("", SideLimits.Of(new ComparedSide([run.End()])));
    }

    [Fact]
    public void The_screen_has_a_line_for_each_side()
    {
        RunComparison comparison = RunComparer.Compare([Side(0.5), Side(0.999)], [], RunComparer.DefaultNoiseThreshold);
        Report report = ComparisonReport.Of(comparison, typed: "A B");
        ApprovedReports.Check(report);
        using var output = new StringWriter();
        ConsoleReport.Write(report, output);
        Assert.Matches(
            @"\nlimit      \S+: nothing found; at most 50 % of 8 CPUs busy\nlimit      \S+: 99\.9 % of 8 CPUs busy\n", output.ToString());
    }

    [Theory]
    [InlineData("one", "; find asked one shard")]
    [InlineData("all", "; find asked all shards")]
    public void Shards_that_the_router_asked_are_named(string asked, string says)
    {
        ComparedSide side = Side(0.5, RunParts.Deployment() with { Topology = Topology.Sharded, ShardCount = 2, Router = "mongos" },
            (run, seconds) => run.Server(0, seconds, second => [($"asked_find_{asked}", second * 500.0)]));
        Assert.EndsWith(says, SideLimits.Of(side), StringComparison.Ordinal);
    }

    private ComparedSide Side(double busy, DeploymentInfo? deployment = null, Action<ScriptedRun, int>? more = null)
    {
        const int Seconds = 30;
        var run = new ScriptedRun(deployment);
        _runs.Add(run);
        run.Phase("q4", [.. Enumerable.Repeat(1000.0, Seconds)]);
        // All of it the client's and the server's.
        run.Host(0, Seconds + 1, second =>
        [
            ("cpu_user", second * 8e6 * busy), ("cpu_idle", second * 8e6 * (1 - busy)), ("servers_cpu", second * 8e6 * busy),
        ]);
        more?.Invoke(run, Seconds + 1);
        return new ComparedSide([run.End()]);
    }
}
