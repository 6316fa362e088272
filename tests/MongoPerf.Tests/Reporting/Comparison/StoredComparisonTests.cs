using System.Text.Json;
using MongoPerf.Engine.Runs;
using MongoPerf.Reporting;
using MongoPerf.Reporting.Charts;
using MongoPerf.Reporting.Comparison;
using MongoPerf.Tests.Reporting.Charts;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reporting.Comparison;

/// <summary>Comparisons of runs that lie on disk.</summary>
public sealed class StoredComparisonTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Rates_are_those_of_the_reports_and_the_warm_up_is_in_none_of_them()
    {
        RunComparison comparison = Compare(new NoisyRun { Steps = 1, Seconds = 40 }, new NoisyRun { Steps = 1, Seconds = 40, NoiseSeed = 2, Speed = t => t == "q6" ? 0.8 : 1 });
        CandidateJudgement candidate = Assert.Single(comparison.Candidates);
        Assert.Equal(["unack", "batch", "safe", "q4", "q5", "q6", "q7"], candidate.Tests.Select(t => t.Test));
        using StoredRun baseline = StoredRun.Open(_runs.At("2026-11-21-a"));
        Assert.All(candidate.Tests, test => Assert.Equal(
            baseline.Steps[0].Tests.Single(t => t.Test == test.Test).OperationsPerSecond, test.BaselineRate, test.BaselineRate * 1e-9));
        TestJudgement q6 = candidate.Tests.Single(t => t.Test == "q6");
        Assert.Equal((Outcome.Slower, Evidence.Samples, "40 and 40 seconds"), (q6.Outcome, q6.Evidence, q6.Basis));
        Assert.InRange(q6.Rate!.Value, 0.76, 0.84);
        Assert.InRange(q6.P50!.Value, 1.19, 1.31);
        Assert.InRange(0.8, q6.Rate.Interval!.Value.Low, q6.Rate.Interval.Value.High);
        Assert.InRange(1.25, q6.P99!.Interval!.Value.Low, q6.P99.Interval.Value.High);
        Assert.True(candidate.IsRegression);
        Assert.All(candidate.Tests.Where(t => t != q6), test => Assert.NotEqual(Outcome.Slower, test.Outcome));
    }

    [Fact]
    public void Ten_short_windows_are_pooled_over_the_sizes_and_say_too_few_at_each()
    {
        CandidateJudgement candidate = Compare(new NoisyRun(), new NoisyRun { NoiseSeed = 2, Speed = t => t == "batch" ? 0.7 : 1 }).Candidates[0];
        Assert.All(candidate.Tests, test => Assert.Equal((Evidence.Sizes, "10 sizes"), (test.Evidence, test.Basis)));
        Assert.All(candidate.Tests.SelectMany(t => t.Sizes), size => Assert.Equal(new SizeJudgement { Documents = size.Documents, Outcome = Outcome.TooFew }, size));
        Assert.Equal(["batch"], candidate.Tests.Where(t => t.Outcome == Outcome.Slower).Select(t => t.Test));
        Assert.NotNull(candidate.Tests[0].P99!.Interval);
        Assert.Equal([1.0, 1.0, 1.0], candidate.Sizes.Select(s => s.Value));
    }

    [Fact]
    public void Seconds_with_an_outage_are_left_out_and_said()
    {
        RunComparison comparison = Compare(new NoisyRun { Steps = 1, Seconds = 40 }, new NoisyRun { Steps = 1, Seconds = 40, OutageSecond = 12 });
        Assert.All(comparison.Candidates[0].Tests, test =>
        {
            // The same noise otherwise: with the outage counted in, the rate were 2 % lower.
            Assert.Equal("40 and 38 seconds", test.Basis);
            Assert.Equal(1, test.Rate!.Value, 0.01);
        });
        // The second after it holds the outage's end.
        Assert.Contains("2026-11-21-b: 14 seconds with an outage are left out", comparison.Notes);
    }

    [Fact]
    public void Each_number_of_threads_is_a_test_of_its_own()
    {
        var run = new NoisyRun { Steps = 1, Seconds = 30, Tests = ["q4"], Threads = [1, 8] };
        CandidateJudgement candidate = Compare(run, run with { NoiseSeed = 2 }).Candidates[0];
        Assert.Equal([("q4", 1), ("q4", 8)], candidate.Tests.Select(t => (t.Test, t.Threads)));
        Assert.Equal("q4 ×8", ComparisonText.NameOf(candidate.Tests[1], candidate.Tests));
    }

    [Fact]
    public void What_one_side_lacks_is_not_compared()
    {
        CandidateJudgement candidate = Compare(new NoisyRun { Steps = 10 }, new NoisyRun { Steps = 7, NoiseSeed = 2 }).Candidates[0];
        Assert.All(candidate.Tests, test => Assert.Equal("7 sizes", test.Basis));
        Assert.Equal(7000, candidate.SizesAtDocuments);
    }

    [Fact]
    public void Several_candidates_are_each_held_against_the_baseline()
    {
        RunComparison comparison = Compare(
            Single(1), Single(2) with { Speed = _ => 0.6 }, Single(3) with { Speed = _ => 1.5 });
        Assert.Equal(["slower", "faster"], comparison.Candidates.Select(ComparisonText.Overall));
    }

    [Theory]
    [InlineData("seed")]
    [InlineData("batch size")]
    [InlineData("window")]
    [InlineData("threads")]
    [InlineData("documents per step")]
    [InlineData("journal")]
    [InlineData("document schema")]
    [InlineData("kind of run")]
    [InlineData("client build")]
    [InlineData("batches")]
    public void Unlike_work_is_told_as_such(string what)
    {
        var other = new NoisyRun
        {
            Id = "2026-11-21-b",
            Steps = 1,
            Kind = what == "kind of run" ? "run" : "series",
            ChangeRun = run => what == "seed" ? run with { Seed = 7 } : what == "client build" ? run with { BuildKind = "Debug" } : run,
            Change = settings => what switch
            {
                "batch size" => settings with { BatchSize = 50 },
                "window" => settings with { WindowSeconds = 9 },
                "threads" => settings with { Threads = [2] },
                "documents per step" => settings with { StepDocumentCount = 17 },
                "journal" => settings with { Journal = true },
                "document schema" => settings with { DocumentSchema = 2 },
                "batches" => settings with { OrderedBatches = false },
                _ => settings,
            },
        };
        SetupDifference unlike = Assert.Single(Differences(new NoisyRun { Steps = 1 }, other), d => d.IsUnlike);
        Assert.Equal(what, unlike.Name);
        Assert.Equal(2, unlike.Values.Distinct().Count());
    }

    [Fact]
    public void Deployments_may_differ_and_are_listed()
    {
        IReadOnlyList<SetupDifference> differences = Differences(new NoisyRun { Steps = 1 }, new NoisyRun
        {
            Id = "2026-11-21-b",
            Steps = 1,
            Change = settings => settings with { OrderedBatches = false, VerifyShare = 1, TargetDocumentCount = 5 },
            ChangeRun = run => run with { Version = "0.2.0" },
            Deployment = RunParts.Deployment() with { Topology = "sharded", ServerVersion = "7.0.0", CacheBytes = 1 << 30 },
        });
        Assert.All(differences, difference => Assert.False(difference.IsUnlike, difference.ToString()));
        Assert.Equal(["batches", "deployment", "target", "documents verified", "MongoPerf"], differences.Select(d => d.Name));
    }

    [Fact]
    public void A_step_that_was_taken_again_counts_with_its_last_window()
    {
        string folder = new NoisyRun { Steps = 1, Seconds = 30, Tests = ["q4"] }.Write(_runs.Path);
        using (RunStore store = RunStore.Open(folder))
        {
            for (int second = 0; second < 25; second++)
                store.AddSample(RunParts.Sample(5000 + second, "q4") with { IsWarmup = false, Operations = 77 });
        }

        using StoredRun run = StoredRun.Open(folder);
        RateWindow window = RunWindows.Of(run).Find(new WindowKey("q4", 8, 1))!;
        Assert.Equal(25, window.Samples.Count);
        Assert.All(window.Samples, sample => Assert.Equal(77, sample.Operations));
        Assert.Equal(window.Rate, window.Rates.Average(), 1e-6);
    }

    [Fact]
    public void Csv_json_and_markdown_hold_what_was_found()
    {
        RunComparison comparison = Compare(new NoisyRun(), new NoisyRun { NoiseSeed = 2, Speed = t => t == "batch" ? 0.7 : 1 });
        string[] csv = Written(comparison, ComparisonCsv.Write).Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(1 + (7 * 11), csv.Length);
        Assert.All(csv, line => Assert.Equal(csv[0].Count(c => c == ','), line.Count(c => c == ',')));
        Assert.Contains("2026-11-21-a,2026-11-21-b,q4,8,1000,,,,,,,,,,,,,,,too few", csv);

        JsonElement json = JsonDocument.Parse(Written(comparison, ComparisonJson.Write)).RootElement;
        Assert.Equal("mongoperf/compare/1", json.GetProperty("schema").GetString());
        JsonElement candidate = Assert.Single(json.GetProperty("candidates").EnumerateArray());
        Assert.True(candidate.GetProperty("isRegression").GetBoolean());
        JsonElement batch = candidate.GetProperty("tests")[1];
        Assert.Equal("slower", batch.GetProperty("verdict").GetString());
        Assert.InRange(batch.GetProperty("rate").GetProperty("ratio").GetDouble(), 0.65, 0.75);
        // Too few, and nothing else.
        Assert.Equal(["documents", "verdict"], batch.GetProperty("sizes")[0].EnumerateObject().Select(field => field.Name));

        string markdown = Written(comparison, ComparisonMarkdown.Write);
        Assert.Contains("# MongoPerf: 2026-11-21-b against 2026-11-21-a\n", markdown, StringComparison.Ordinal);
        Assert.Contains("- **BAD**: batch: 0.", markdown, StringComparison.Ordinal);
    }

    [Fact]
    public void Scenarios_are_alike_by_their_text_and_what_was_changed_not_by_their_names_or_servers()
    {
        var news = new ScenarioInfo { Name = "news", Path = "news.yaml", Text = "phases: []" };
        NoisyRun run = new() { Kind = "scenario", Steps = 1, Tests = ["read"], Scenario = news };
        NoisyRun other = run with { Id = "2026-11-21-b" };
        DeploymentInfo tyrant = RunParts.Deployment() with { Kind = "tyrant", Topology = "Tokyo Tyrant", Address = "10.0.0.1:1978" };
        IReadOnlyList<SetupDifference> allowed = Differences(run, other with { Deployment = tyrant, Scenario = news with { Name = "copy", Path = "copy.yaml" } });
        Assert.DoesNotContain(allowed, d => d.IsUnlike);
        Assert.Contains(allowed, d => d.Name == "address" && d.Values[1] == "10.0.0.1:1978");

        Assert.Equal("scenario's text", Differences(run with { Id = "c" }, other with { Id = "d", Scenario = news with { Text = "phases: [a]" } })[0].Name);
        SetupDifference changed = Differences(run with { Id = "e" }, other with { Id = "f", Scenario = news with { Overrides = ["threads: 8 (--threads, the file says 4)"] } })[0];
        Assert.Equal("changed in the scenario: nothing | threads: 8 (--threads, the file says 4)", changed.ToString());
        Assert.True(changed.IsUnlike);
    }

    [Fact]
    public void Deployments_of_one_scenario_are_compared_and_told_apart_by_their_names()
    {
        var info = new ScenarioInfo { Name = "q14", Path = "q14.yaml", Text = "phases: []" };
        NoisyRun run = new() { Kind = "scenario", Steps = 1, Tests = ["read"], Scenario = info, DeploymentName = "one server", Change = s => s with { MemoryLimitBytes = 1L << 30, Cpus = 1 } };
        NoisyRun other = run with
        {
            DeploymentName = "two shards",
            Scenario = info with { Set = ["total: 100M", "threads: 40"] },
            Change = s => s with { Threads = [40], TargetDocumentCount = 5 },
        };
        RunComparison comparison = Compare(run, other);
        Assert.DoesNotContain(comparison.Differences, d => d.IsUnlike);
        Assert.Equal(
            ["deployment's name: one server | two shards", "set by the deployment: nothing | total: 100M; threads: 40", "memory limit of a server: 1 GiB | not asked for", "CPUs of a server: 1 | all", "target: 1,000 | 5"],
            comparison.Differences.Select(d => d.ToString()));
        string markdown = Written(comparison, ComparisonMarkdown.Write);
        Assert.Contains("# MongoPerf: 2026-11-21-b (two shards) against 2026-11-21-a (one server)", markdown, StringComparison.Ordinal);
        using StoredRun stored = StoredRun.Open(_runs.At("2026-11-21-b"));
        Assert.StartsWith("two shards · ", ChartText.Subtitle(stored), StringComparison.Ordinal);
        Assert.Contains(Verdict.Of(stored), v => v.Text == "deployment: two shards, which sets total: 100M, threads: 40");

        // What the command line changed is another workload still.
        Assert.True(Differences(run with { Id = "c" }, other with { Id = "d", Scenario = info with { Overrides = ["threads: 8 (--threads, the file says 4)"] } })[0].IsUnlike);
    }

    [Fact]
    public void The_same_runs_give_the_same_words_each_time()
    {
        RunComparison first = Compare(Single(1), Single(2));
        RunComparison again = Compared("2026-11-21-a", "2026-11-21-b");
        Assert.Equal(Written(first, ComparisonJson.Write), Written(again, ComparisonJson.Write));
    }

    [Fact]
    public void A_first_run_that_is_slower_than_all_others_is_pointed_at()
    {
        ComparedSide side = new([.. new[] { 0.8, 1, 1.01, 0.99, 1 }.Select((speed, i) => StoredRun.Open(
            new NoisyRun { Id = $"r{i}", Steps = 1, Seconds = 30, Tests = ["batch", "q4"], NoiseSeed = (ulong)i, Speed = t => t == "q4" ? speed : 1 }.Write(_runs.Path)))]);
        RepeatSpread spread = RepeatSpread.Of(side, 0.05);
        string warning = Assert.Single(spread.SlowStarts);
        Assert.StartsWith("the first run of q4 was ", warning, StringComparison.Ordinal);
        TestSpread q4 = spread.Tests.Single(t => t.Test == "q4");
        Assert.Equal(5, q4.Rates.Count);
        Assert.InRange(q4.Median / q4.Lowest, 1.15, 1.35);
        Assert.InRange(q4.Variation!.Value, 0.05, 0.15);
    }

    /// <summary>MONGOPERF_KEEP_CHARTS names a folder that keeps the pictures, to look at.</summary>
    [GnuplotFact]
    public void Each_test_gets_a_chart_and_all_of_them_one()
    {
        string[] names = ["compare-ratios", "compare-unack", "compare-batch", "compare-safe", "compare-q4", "compare-q5", "compare-q6", "compare-q7", "compare-size"];
        AssertDrawn("ten-sizes", names, Compare(new NoisyRun(), new NoisyRun { NoiseSeed = 2, Speed = t => t == "batch" ? 0.7 : 1.1 }));
    }

    [GnuplotFact]
    public void A_single_size_is_drawn_over_time_and_three_runs_lie_over_each_other() => AssertDrawn(
        "one-size", ["compare-ratios", "compare-q4-1", "compare-q4-8"],
        Compare(Single(1), Single(2) with { Speed = _ => 0.9 }, Single(3) with { Speed = _ => 3 }));

    private static NoisyRun Single(ulong seed) => new() { Kind = "run", Steps = 1, Seconds = 50, Tests = ["q4"], Threads = [1, 8], NoiseSeed = seed };

    private void AssertDrawn(string name, string[] charts, RunComparison comparison)
    {
        string keep = Environment.GetEnvironmentVariable("MONGOPERF_KEEP_CHARTS") is { } kept ? Path.Combine(kept, "compare-" + name) : _runs.At("compare-x");
        var files = ComparisonWriter.WriteAll(comparison, keep);
        Assert.Empty(files.Warnings);
        foreach (string chart in charts)
        {
            Assert.True(new FileInfo(Path.Combine(keep, "charts", chart + ".png")).Length > 15_000, chart);
            Assert.Contains("</svg>", File.ReadAllText(Path.Combine(keep, "charts", chart + ".svg")), StringComparison.Ordinal);
        }

        Assert.Equal(charts.Length, Directory.GetFiles(Path.Combine(keep, "charts"), "*.png").Length);
        string page = File.ReadAllText(files.Page);
        Assert.Equal(charts.Length, page.Split("<figure").Length - 1);
        Assert.DoesNotContain("src=\"http", page, StringComparison.Ordinal);
    }

    private RunComparison Compare(params NoisyRun[] runs)
    {
        string[] ids = [.. runs.Select((_, i) => $"2026-11-21-{(char)('a' + i)}")];
        for (int i = 0; i < runs.Length; i++)
            (runs[i] with { Id = ids[i] }).Write(_runs.Path);
        return Compared(ids);
    }

    private RunComparison Compared(params string[] ids)
    {
        ComparedSide[] sides = [.. ids.Select(id => new ComparedSide([StoredRun.Open(_runs.At(id))]))];
        return RunComparer.Compare(sides[0], sides[1..], RunComparer.DefaultNoiseThreshold);
    }

    private IReadOnlyList<SetupDifference> Differences(params NoisyRun[] runs) =>
        SetupCheck.Find([.. runs.Select(run => StoredRun.Open(run.Write(_runs.Path)))]);

    private static string Written(RunComparison comparison, Action<RunComparison, TextWriter> write)
    {
        using var text = new StringWriter();
        write(comparison, text);
        return text.ToString();
    }
}
