using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Findings;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>Each figure of a comparison's screen is that of what its verdict names, and what was changed is on it.</summary>
public sealed class ComparisonAnswerTests : IDisposable
{
    private readonly List<ScriptedRun> _scripted = [];

    public void Dispose() => _scripted.ForEach(run => run.Dispose());

    [Fact]
    public void A_verdict_by_p99_has_the_ratio_of_p99_beside_it()
    {
        RunComparison comparison = RunComparer.Compare([Latencies("a", 8000), Latencies("b", 4000)], [], 0.05);
        CandidateComparison candidate = comparison.Candidates[0];
        string screen = Screen(comparison with
        {
            Candidates =
            [
                candidate with
                {
                    Operations = [.. candidate.Operations.Select(operation => operation with
                    {
                        Measures = [.. operation.Measures.Select(measure => measure.Measure != Measure.P99 ? measure
                            : measure with { Outcome = Outcome.Faster, Ratio = new Ratio(0.5, new Interval(0.48, 0.52)) })],
                    })],
                },
            ],
        });
        Assert.Matches(@"\nq4 .* p99 0\.50 of 8(\.\d+)? ms +0\.48 to 0\.52 +faster \(p99\)\n", screen);
    }

    [Fact]
    public void An_index_that_only_one_side_has_is_named()
    {
        string screen = Screen(Planned(null), Planned("city_1"));
        Assert.Matches(@"\nchanged +q4 used city_1 in \S+, and no index in \S+\n", screen);
        Assert.Matches(@"\nchanged +index city_1 of users is there in \S+ only\n", screen);
    }

    [Fact]
    public void What_is_undecided_has_its_reason()
    {
        string screen = Screen(Short(), Short());
        Assert.Matches(@"\nundecided +q4: fewer than 20 seconds on a side\n", screen);
    }

    /// <summary>A bulk of 1,000 writes counts as 1,000 beside single writes.</summary>
    [Fact]
    public void Bulks_beside_single_writes_have_units()
    {
        string screen = Screen(Bulk(), Bulk());
        Assert.Matches(@"\nbulk +43,\d+ writes/s +43,\d+ writes/s ", screen);
        Assert.Matches(@"\nsingle +2,\d+ ops/s +2,\d+ ops/s ", screen);
        Assert.DoesNotContain("rate: docs/s", screen, StringComparison.Ordinal);
    }

    private ComparedSide Latencies(string id, double slowest) => Side(run => run.Phase(
        "q4", [.. Enumerable.Repeat(1000.0, 40)], latencies: second => Histogram(second, slowest),
        ofResult: result => result with { LatencyMicroseconds = LatencySummaries.From(Histogram(0, slowest)) }), id);

    private ComparedSide Planned(string? index) => Side(run =>
    {
        run.Phase("q4", [.. Enumerable.Repeat(1000.0, 5)], ofResult: result => result with
        {
            Plan = new PlanSummary { Stages = index is null ? "COLLSCAN" : "FETCH > IXSCAN", Index = index, Returned = 1 },
        });
        run.Store.EndPhase(RunParts.Phase(9, "size") with
        {
            Kind = PhaseKind.Sizes, Collection = "users",
            Sizes = [RunParts.Sizes(1000) with
            {
                Collection = "users",
                Indexes = index is null ? new Dictionary<string, long> { ["_id_"] = 1 }
                    : new Dictionary<string, long> { ["_id_"] = 1, [index] = 1 },
            }],
        });
    });

    private ComparedSide Short() => Side(run => run.Phase("q4", [.. Enumerable.Repeat(1000.0, 5)]));

    private ComparedSide Bulk() => Side(run =>
    {
        run.Phase("bulk", [.. Enumerable.Repeat(43.7, 5)], noise: false, ofResult: result => result with { Batch = 1000 });
        run.Phase("single", [.. Enumerable.Repeat(2234.0, 5)], noise: false);
    });

    private static LatencyHistogram Histogram(int second, double slowest)
    {
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 1000; i++)
            histogram.Record(i < 960 ? 100 + (i % 7) + (second % 3) : slowest + (i % 11));
        return histogram;
    }

    private ComparedSide Side(Action<ScriptedRun> phases, string id = "run")
    {
        var run = new ScriptedRun(run: RunParts.Run(id));
        _scripted.Add(run);
        phases(run);
        return new ComparedSide([run.End()]);
    }

    private static string Screen(ComparedSide baseline, ComparedSide candidate) =>
        Screen(RunComparer.Compare([baseline, candidate], [], RunComparer.DefaultNoiseThreshold));

    private static string Screen(RunComparison comparison)
    {
        Report report = ComparisonReport.Of(comparison, typed: "A B");
        ApprovedReports.Check(report);
        using var output = new StringWriter();
        ConsoleReport.Write(report, output, new ConsoleReportOptions { Width = 120 });
        return output.ToString();
    }
}
