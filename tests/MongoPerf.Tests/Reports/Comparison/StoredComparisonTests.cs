using System.Text.Json;
using System.Text.RegularExpressions;
using MongoPerf.Reports;
using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>Comparisons of runs that lie on disk.</summary>
public sealed class StoredComparisonTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Rates_are_those_of_the_reports_and_the_warm_up_is_in_none_of_them()
    {
        RunComparison comparison = Compare(new NoisyRun { Sizes = 1, Seconds = 40 },
            new NoisyRun { Sizes = 1, Seconds = 40, NoiseSeed = 2, Speed = phase => phase == "q6" ? 0.8 : 1 });
        CandidateComparison candidate = Assert.Single(comparison.Candidates);
        Assert.Equal(["unack", "batch", "safe", "q4", "q5", "q6", "q7"], candidate.Operations.Select(o => o.Operation.Phase));
        using StoredRun baseline = StoredRun.Open(_runs.At("2026-11-21-a"));
        Assert.All(candidate.Operations, one => Assert.Equal(
            baseline.Results.Single(r => r.Operation == one.Operation.Operation).OperationsPerSecond,
            one.Rate.Baseline, one.Rate.Baseline * 1e-9));
        OperationComparison q6 = candidate.Operations.Single(o => o.Operation.Phase == "q6");
        Assert.Equal((Outcome.Slower, Evidence.Samples, "40 and 40 seconds"), (q6.Rate.Outcome, q6.Evidence, q6.Basis));
        Assert.Equal([Measure.Rate, Measure.P50, Measure.P99], q6.Measures.Select(j => j.Measure));
        Assert.All(q6.Measures, judgement => Assert.Equal(Outcome.Slower, judgement.Outcome));
        Assert.InRange(q6.Rate.Ratio.Value, 0.76, 0.84);
        Assert.InRange(q6.P50!.Ratio.Value, 1.19, 1.31);
        Assert.InRange(0.8, q6.Rate.Ratio.Interval!.Value.Low, q6.Rate.Ratio.Interval.Value.High);
        Assert.InRange(1.25, q6.P99!.Ratio.Interval!.Value.Low, q6.P99.Ratio.Interval.Value.High);
        Assert.True(candidate.IsRegression);
        Assert.All(
            candidate.Operations.Where(o => o != q6).SelectMany(o => o.Measures), one => Assert.NotEqual(Outcome.Slower, one.Outcome));
    }

    [Fact]
    public void Ten_short_windows_are_pooled_over_the_sizes_and_each_shows_its_values_without_a_verdict()
    {
        CandidateComparison candidate =
            Compare(new NoisyRun(), new NoisyRun { NoiseSeed = 2, Speed = phase => phase == "batch" ? 0.7 : 1 }).Candidates[0];
        Assert.All(candidate.Operations, one => Assert.Equal((Evidence.Windows, "10 sizes"), (one.Evidence, one.Basis)));
        Assert.All(candidate.Operations.SelectMany(o => o.Windows), window =>
        {
            Assert.Equal((window.Documents, Outcome.Undecided, null), (window.At, window.Rate.Outcome, window.Rate.Ratio.Interval));
            Assert.InRange(window.Rate.Ratio.Value, 0.5, 1.5);
        });
        Assert.Equal(["batch"], candidate.Operations.Where(o => o.Rate.Outcome == Outcome.Slower).Select(o => o.Operation.Phase));
        Assert.NotNull(candidate.Operations[0].P99!.Ratio.Interval);
        Assert.Equal([1.0, 1.0, 1.0], candidate.Sizes.Select(s => s.Value));
    }

    [Fact]
    public void Seconds_with_an_outage_are_left_out_and_said()
    {
        RunComparison comparison = Compare(
            new NoisyRun { Sizes = 1, Seconds = 40 }, new NoisyRun { Sizes = 1, Seconds = 40, OutageSecond = 12 });
        Assert.All(comparison.Candidates[0].Operations, one =>
        {
            // The same noise otherwise: with the outage counted in, the rate were 2 % lower.
            Assert.Equal("40 and 38 seconds", one.Basis);
            Assert.Equal(1, one.Rate.Ratio.Value, 0.01);
        });
        // The second after it holds the outage's end.
        Assert.Contains("2026-11-21-b: 14 seconds with an outage are left out", comparison.Notes);
    }

    [Fact]
    public void Each_number_of_threads_is_judged_by_itself()
    {
        var run = new NoisyRun { Sizes = 1, Seconds = 30, Phases = ["q4"], Threads = [1, 8] };
        CandidateComparison candidate = Compare(run, run with { NoiseSeed = 2 }).Candidates[0];
        Assert.Equal([("q4", 1), ("q4", 8)], candidate.Operations.Select(o => (o.Operation.Operation, o.Operation.Threads)));
        Assert.Equal("q4 ×8", candidate.TitleOf(candidate.Operations[1]));
    }

    [Fact]
    public void Another_engine_may_differ_and_is_named_wherever_the_deployment_is()
    {
        RunComparison comparison = Compare(
            new NoisyRun { Sizes = 1 },
            new NoisyRun
            {
                Sizes = 1, NoiseSeed = 2, Change = settings => settings with { Engine = new EngineSettings(EngineKind.Driver, "3.11.0") },
            });
        Assert.Equal("engine: wire → driver 3.11.0", Assert.Single(comparison.Differences).ToString());
        Assert.EndsWith("standalone, WiredTiger cache 256 MiB, through MongoDB.Driver 3.11.0",
            comparison.Candidates[0].Candidate.Title, StringComparison.Ordinal);
        Assert.DoesNotContain("through", comparison.Baseline.Title, StringComparison.Ordinal);

        using StoredRun stored = StoredRun.Open(_runs.At("2026-11-21-b"));
        Assert.Contains("256 MiB, through MongoDB.Driver 3.11.0 · ", ChartText.Subtitle(stored), StringComparison.Ordinal);
        Assert.EndsWith(", through MongoDB.Driver 3.11.0",
            ReportLines.Setup(stored).Single(line => line.Name == "server").Text, StringComparison.Ordinal);
        Assert.Equal("one server, driver 3.11.0", Assert.Single(FigureRun.Of(stored)).Deployment);
        using var list = new StringWriter();
        ListReport.Runs(RunCatalogue.List(_runs.Path), _ => null).Write("text", list);
        Assert.Contains("standalone 6.0.5, driver 3.11.0", list.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public void What_one_side_lacks_is_not_compared()
    {
        CandidateComparison candidate = Compare(new NoisyRun { Sizes = 10 }, new NoisyRun { Sizes = 7, NoiseSeed = 2 }).Candidates[0];
        Assert.All(candidate.Operations, one => Assert.Equal("7 sizes", one.Basis));
        Assert.Equal(7000, candidate.SizesAtDocuments);
    }

    [Fact]
    public void Several_candidates_are_each_held_against_the_baseline()
    {
        RunComparison comparison = Compare(
            Single(1), Single(2) with { Speed = _ => 0.6 }, Single(3) with { Speed = _ => 1.5 });
        Assert.Equal(["slower", "faster"], comparison.Candidates.Select(ComparisonText.Overall));
    }

    [Fact]
    public void Sizes_are_matched_by_their_documents_however_many_steps_led_there()
    {
        CandidateComparison candidate = Compare(new NoisyRun { Step = 1000 }, new NoisyRun { Step = 2000, NoiseSeed = 2 }).Candidates[0];
        Assert.All(
            candidate.Operations, one => Assert.Equal([2000L, 4000, 6000, 8000, 10_000], one.Windows.Select(window => window.Documents)));
    }

    [Fact]
    public void Phases_are_matched_by_their_parameters_and_named_by_them_where_they_differ()
    {
        var run = new NoisyRun { Sizes = 0, Seconds = 30, Phases = ["read", "scan"], Limits = ["1", "10"] };
        CandidateComparison candidate =
            Compare(run, run with { Limits = ["10", "100"], NoiseSeed = 2, Speed = phase => phase == "scan" ? 0.5 : 1 }).Candidates[0];
        Assert.Equal(
            [("read", "limit=10"), ("scan", "limit=10")], candidate.Operations.Select(o => (o.Operation.Phase, o.Operation.Parameters)));
        Assert.Equal([false, true], candidate.Operations.Select(o => o.Rate.Outcome == Outcome.Slower));
        ComparedOperation[] both =
        [
            .. candidate.Operations.Select(o => o.Operation), candidate.Operations[0].Operation with { Parameters = "limit=1" },
        ];
        Assert.Equal(["read (limit=10)", "scan", "read (limit=1)"], both.Select(one => one.TitleAmong(both)));
    }

    /// <summary>
    /// Deployments of a scenario may do different things, which its figures lay beside each other (i7 of the report on 2.4.8).
    /// </summary>
    [Fact]
    public void Runs_that_have_no_operation_in_common_are_called_so_and_have_charts_all_the_same()
    {
        var run = new NoisyRun { Sizes = 0, Phases = ["read"], Limits = ["1"] };
        RunComparison comparison = Compare(run, run with { Limits = ["10"], NoiseSeed = 2 });
        Assert.Empty(comparison.Candidates[0].Operations);
        Assert.Equal("no operation in common", ComparisonText.Overall(comparison.Candidates[0]));
        Assert.DoesNotContain(ComparisonCharts.Build(comparison).Charts, chart => chart.Name == "ratios");
        using var text = new StringWriter();
        MarkdownReport.Write(ComparisonReport.Of(comparison), text);
        Assert.Contains(": no operation in common", text.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("ratios are candidate to baseline", text.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("## Tables", text.ToString(), StringComparison.Ordinal);
    }

    /// <summary>Four sizes of seven mixes made a page of names.</summary>
    [Fact]
    public void Many_operations_are_counted_instead_of_listed()
    {
        var run = new NoisyRun { Sizes = 0, Seconds = 3, Phases = ["read"], Limits = [.. Enumerable.Range(1, 13).Select(i => $"{i}")] };
        RunComparison comparison = Compare(run, run with { NoiseSeed = 2 });
        Assert.Equal("13 of 13 operations; comparison.csv says what a verdict on each would take",
            Assert.Single(ComparisonText.Verdicts(comparison, comparison.Candidates[0])).Text);
        Assert.StartsWith(
            "13 of 13 operations: not judged, ", Assert.Single(ComparisonText.Bases(comparison.Candidates[0])), StringComparison.Ordinal);
    }

    [Fact]
    public void Repeats_of_a_phase_are_windows_of_one_operation()
    {
        var run = new NoisyRun { Sizes = 0, Phases = ["read"], PhaseRepeats = 6 };
        OperationComparison judged = Assert.Single(Compare(run, run with { NoiseSeed = 2, Speed = _ => 0.5 }).Candidates[0].Operations);
        Assert.Equal((Outcome.Slower, Evidence.Windows, "6 repeats"), (judged.Rate.Outcome, judged.Evidence, judged.Basis));
        Assert.Equal([1L, 2, 3, 4, 5, 6], judged.Windows.Select(window => window.At));
    }

    /// <summary>
    /// Found with scenarios of several operations: each operation's second was taken for the end of the other's window, and one
    /// second was left of each.
    /// </summary>
    [Fact]
    public void Operations_that_ran_side_by_side_keep_all_their_seconds()
    {
        string folder = _runs.At("mixed");
        using (RunStore store = RunStore.Create(folder, RunParts.Run("mixed"), RunParts.Settings()))
        {
            var phase = new PhaseRecord { Number = 1, Phase = "mix" };
            store.BeginPhase(phase, continues: false);
            for (int second = 1; second <= 25; second++)
            {
                store.AddSample(RunParts.Sample(second, "read"));
                store.AddSample(RunParts.Sample(second, "update"));
            }

            store.EndPhase(phase with { Operations = [RunParts.Result("read", 8), RunParts.Result("update", 8)] });
        }

        using StoredRun run = StoredRun.Open(folder);
        var windows = RunWindows.Of(run, withHistograms: false);
        Assert.Equal(["mix read", "mix update", "mix total"],
            windows.Keys.Select(key => key.Operation.TitleAmong([.. windows.Keys.Select(k => k.Operation)])));
        Assert.All(windows.Keys, key => Assert.Equal(25, windows.Find(key)!.Samples.Count));
    }

    [Theory]
    [InlineData("seed")]
    [InlineData("scenario text")]
    [InlineData("phases")]
    [InlineData("threads")]
    [InlineData("records")]
    [InlineData("operations")]
    [InlineData("duration")]
    [InlineData("warm-up")]
    [InlineData("rate")]
    [InlineData("step")]
    [InlineData("scale")]
    [InlineData("batch")]
    [InlineData("journal")]
    [InlineData("client build")]
    public void Unlike_work_is_told_as_such(string what)
    {
        var other = new NoisyRun
        {
            Id = "2026-11-21-b",
            Sizes = 1,
            ChangeRun = run =>
                what switch { "seed" => run with { Seed = 7 }, "client build" => run with { BuildKind = "Debug" }, _ => run },
            Change = settings => settings with { Plan = Changed(settings.Plan) },
        };
        SetupDifference unlike = Assert.Single(Differences(new NoisyRun { Sizes = 1, Change = WithBatch }, other), d => d.IsUnlike);
        Assert.Equal(what, unlike.Name);
        Assert.Equal(2, unlike.Values.Distinct().Count());

        PlanSettings Changed(PlanSettings plan)
        {
            plan = plan with { Parameters = [new("batch", what == "batch" ? "50" : "1000")] };
            return what switch
            {
                "scenario text" => plan with { Text = "another" },
                "journal" =>
                    plan with { Overrides = new PlanOverrides { Parameters = new Dictionary<string, string> { ["journal"] = "true" } } },
                _ => plan with
                {
                    Overrides = what switch
                    {
                        "phases" => new PlanOverrides { Phases = ["q4"] },
                        "threads" => new PlanOverrides { Threads = [1, 8] },
                        "records" => new PlanOverrides { Records = 5 },
                        "operations" => new PlanOverrides { Operations = 5 },
                        "duration" => new PlanOverrides { Duration = 9 },
                        "warm-up" => new PlanOverrides { Warmup = 9 },
                        "rate" => new PlanOverrides { Rates = [100] },
                        "step" => new PlanOverrides { Step = 17 },
                        "scale" => new PlanOverrides { Scale = 0.1 },
                        _ => new PlanOverrides(),
                    },
                },
            };
        }

        static RunSettings WithBatch(RunSettings settings) =>
            settings with { Plan = settings.Plan with { Parameters = [new("batch", "1000")] } };
    }

    [Fact]
    public void Existing_collections_of_other_sizes_say_nothing_about_each_other()
    {
        NoisyRun run = new()
        {
            Sizes = 0, Phases = ["q4"], Change = settings => settings with { Data = settings.Data with { IsExisting = true } },
        };
        SetupDifference documents = Assert.Single(Differences(run, run with { Id = "2026-11-21-b", Step = 2000 }), d => d.IsUnlike);
        Assert.Equal("documents in the collection: 1,000 → 2,000", documents.ToString());
        // Inserts end where their speed takes them.
        NoisyRun insert = run with { Id = "2026-11-21-c", Phases = ["safe"] };
        Assert.DoesNotContain(Differences(insert, insert with { Id = "2026-11-21-d", Step = 2000 }), d => d.IsUnlike);
    }

    [Fact]
    public void Deployments_may_differ_and_are_listed()
    {
        IReadOnlyList<SetupDifference> differences = Differences(new NoisyRun { Sizes = 1 }, new NoisyRun
        {
            Id = "2026-11-21-b",
            Sizes = 1,
            Change = settings => settings with
            {
                Plan = settings.Plan with { VerifyShare = 1, TargetDocuments = 5 },
                Data = settings.Data with { Sharding = new ShardingSettings { ShardKey = "hashed" } },
            },
            ChangeRun = run => run with { Version = "0.2.0" },
            Deployment = RunParts.Deployment() with
            {
                Kind = DeploymentKind.Given, Topology = Topology.Sharded, ShardCount = 2, Router = "mongos",
                ServerVersion = "7.0.0", Address = "10.0.0.1:27017",
            },
        });
        Assert.All(differences, difference => Assert.False(difference.IsUnlike, difference.ToString()));
        Assert.Equal(
            [
                "target", "documents verified", "MongoPerf", "deployment", "started as", "address", "shards",
                "router", "shard key", "documents",
            ], differences.Select(d => d.Name));
        Assert.Equal("shards: none → 2", differences.Single(d => d.Name == "shards").ToString());
    }

    [Fact]
    public void What_the_servers_said_of_themselves_is_what_is_compared()
    {
        DeploymentInfo sharded = RunParts.Deployment() with
        {
            Kind = DeploymentKind.Sharded,
            Topology = Topology.Sharded,
            ShardCount = 2,
            Members = 3,
            Tls = true,
            Auth = true,
            Collections =
            [
                new("orders", false, [new("s0", 1000, 1), new("s1", 0, 0)], "{customer: 1}"),
                new("users", false, [new("s0", 480, 2), new("s1", 520, 2)], "{_id: hashed}"),
            ],
        };
        // Asked for was the usual key; the collections have keys of their own.
        IReadOnlyList<SetupDifference> differences = Differences(
            new NoisyRun { Sizes = 1, Deployment = RunParts.Deployment() with { Tls = false, Auth = false } },
            new NoisyRun
            {
                Id = "2026-11-21-b",
                Sizes = 1,
                Change = settings =>
                    settings with { Data = settings.Data with { Sharding = new ShardingSettings { ShardKey = "hashed" } } },
                Deployment = sharded,
            });
        Assert.Equal(
            [
                "shards: none → 2", "members: none → 3", "TLS: off → on", "logins: off → on",
                "shard key: none → orders {customer: 1}, users {_id: hashed}",
                "documents: on one server → orders nearly all on s0",
            ],
            differences.Where(d => d.Name is not ("deployment" or "started as")).Select(d => d.ToString()));
    }

    [Fact]
    public void Repeats_must_be_alike_in_their_deployment_too()
    {
        NoisyRun first = new() { Id = "a", Sizes = 1 };
        StoredRun[] runs =
        [
            .. new[] { first, first with
            {
                Id = "b", Deployment = RunParts.Deployment() with { ServerVersion = "7.0.0", StorageEngine = "other" },
            } }.Select(run => StoredRun.Open(run.Write(_runs.Path))),
        ];
        SetupDifference difference = Assert.Single(SetupCheck.FindAmongRepeats(runs));
        Assert.Equal(("deployment", true), (difference.Name, difference.IsUnlike));
    }

    [Fact]
    public void A_phase_that_went_on_after_a_crash_counts_with_its_last_window()
    {
        string folder = new NoisyRun { Sizes = 1, Seconds = 30, Phases = ["q4"] }.Write(_runs.Path);
        using (RunStore store = RunStore.Open(folder))
        {
            for (int second = 0; second < 25; second++)
                store.AddSample(RunParts.Sample(5000 + second, "q4") with { IsWarmup = false, Operations = 77 });
        }

        using StoredRun run = StoredRun.Open(folder);
        var windows = RunWindows.Of(run, withHistograms: false);
        RateWindow window = windows.Find(Assert.Single(windows.Keys))!;
        Assert.Equal(25, window.Samples.Count);
        Assert.All(window.Samples, sample => Assert.Equal(77, sample.Operations));
        Assert.Equal(window.Rate, window.Rates.Average(), 1e-6);
    }

    [Theory]
    [InlineData(0.212, "79 % slower")]
    [InlineData(0.947, "5.3 % slower")]
    [InlineData(0.0199, "98 % slower")]
    [InlineData(0.004, "over 99 % slower")]
    [InlineData(1.3, "30 % faster")]
    [InlineData(1.062, "6.2 % faster")]
    [InlineData(2.56, "2.6 times as fast")]
    [InlineData(12.7, "13 times as fast")]
    public void Changes_are_told_as_people_say_them(double ratio, string text) => Assert.Equal(text, ComparisonText.Change(ratio));

    [Fact]
    public void Csv_json_and_markdown_hold_what_was_found()
    {
        RunComparison comparison = Compare(new NoisyRun(), new NoisyRun { NoiseSeed = 2, Speed = phase => phase == "batch" ? 0.7 : 1 });
        string[] csv = Written(comparison, ComparisonCsv.Write).Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        Assert.Equal(1 + (7 * (3 + 10)), csv.Length);
        Assert.All(csv, line => Assert.Equal(csv[0].Count(c => c == ','), line.Count(c => c == ',')));
        string window = Assert.Single(
            csv, line => line.StartsWith("2026-11-21-a,2026-11-21-b,series,q4,,q4,8,1,1000,,rate,", StringComparison.Ordinal));
        Assert.EndsWith(",,,,,undecided,20 s per side; these had 4 s: --window 30s,", window.Replace("\"", ""), StringComparison.Ordinal);

        JsonElement json = JsonDocument.Parse(Written(comparison, ComparisonJson.Write)).RootElement;
        Assert.Equal("mongoperf/compare/2", json.GetProperty("schema").GetString());
        JsonElement candidate = Assert.Single(json.GetProperty("candidates").EnumerateArray());
        Assert.True(candidate.GetProperty("isRegression").GetBoolean());
        JsonElement batch = candidate.GetProperty("operations")[1];
        JsonElement rate = batch.GetProperty("perSecond");
        Assert.Equal(("series", "batch", "slower"),
            (batch.GetProperty("growth").GetString(), batch.GetProperty("phase").GetString(), rate.GetProperty("verdict").GetString()));
        Assert.InRange(rate.GetProperty("ratio").GetDouble(), 0.65, 0.75);
        Assert.Equal("slower", batch.GetProperty("p50Microseconds").GetProperty("verdict").GetString());
        // Too little to judge: the values are there all the same.
        JsonElement first = batch.GetProperty("windows")[0].GetProperty("perSecond");
        Assert.Equal(["verdict", "baseline", "candidate", "ratio", "enough"],
            first.EnumerateObject().Where(field => field.Value.ValueKind != JsonValueKind.Null).Select(field => field.Name));

        string markdown = Written(comparison, (c, output) => MarkdownReport.Write(ComparisonReport.Of(c), output));
        Assert.Contains("# MongoPerf: 2026-11-21-b against 2026-11-21-a\n", markdown, StringComparison.Ordinal);
        Assert.Contains("- **slower**: batch: rate 3", markdown, StringComparison.Ordinal);
        Assert.Contains(" % slower (ratio 0.", markdown, StringComparison.Ordinal);
        Assert.Contains("each side ran once, so run-to-run variation is unknown", markdown, StringComparison.Ordinal);
    }

    [Fact]
    public void Scenarios_are_alike_by_their_text_and_what_was_changed_not_by_their_names_or_servers()
    {
        NoisyRun run = new() { Sizes = 0, Phases = ["read"] };
        NoisyRun other = run with { Id = "2026-11-21-b" };
        DeploymentInfo tyrant = RunParts.Deployment() with
        {
            Kind = DeploymentKind.Tyrant, Topology = Topology.TokyoTyrant, Address = "10.0.0.1:1978",
        };
        IReadOnlyList<SetupDifference> allowed = Differences(
            run, other with { Deployment = tyrant, Change = s => s with { Plan = s.Plan with { Name = "copy", Path = "copy.yaml" } } });
        Assert.DoesNotContain(allowed, d => d.IsUnlike);
        Assert.Contains(allowed, d => d.ToString() == "address: its own → 10.0.0.1:1978");

        Assert.Equal("scenario text", Differences(
            run with { Id = "c" }, other with { Id = "d", Change = s => s with { Plan = s.Plan with { Text = "phases: [a]" } } })[0].Name);
        SetupDifference changed = Differences(run with { Id = "e" }, other with { Id = "f", Change = WithThreads })[0];
        Assert.Equal("threads: as in the file → 8", changed.ToString());
        Assert.True(changed.IsUnlike);
    }

    [Fact]
    public void Deployments_of_one_scenario_are_compared_and_told_apart_by_their_names()
    {
        NoisyRun run = new()
        {
            Sizes = 0, Phases = ["read"],
            Change = s => s with
            {
                Deployment = s.Deployment with { Name = "one server", MemoryLimitBytes = 1L << 30, Cpus = 1 },
                Plan = s.Plan with { Parameters = [new("total", "50M")] },
            },
        };
        NoisyRun other = run with
        {
            Change = s => s with
            {
                Deployment = s.Deployment with { Name = "two shards", MemoryLimitBytes = 0 },
                // What a deployment sets may differ; it is a part of what is compared.
                Plan = s.Plan with { Set = ["total: 100M"], Parameters = [new("total", "100M")], TargetDocuments = 5 },
            },
        };
        RunComparison comparison = Compare(run, other);
        Assert.Equal(
            ["target: 1,000 → 5", "deployment name: one server → two shards", "set by the deployment: nothing → total: 100M",
                "memory limit: 1 GiB → none", "CPUs: 1 → all"],
            comparison.Differences.Select(d => d.ToString()));
        Assert.False(comparison.WasForced);
        string markdown = Written(comparison, (c, output) => MarkdownReport.Write(ComparisonReport.Of(c), output));
        Assert.Contains("# MongoPerf: two shards against one server\n", markdown, StringComparison.Ordinal);
        using StoredRun stored = StoredRun.Open(_runs.At("2026-11-21-b"));
        Assert.StartsWith("two shards · ", ChartText.Subtitle(stored), StringComparison.Ordinal);

        // What the command line changed is another workload still.
        Assert.True(Differences(run with { Id = "c" }, other with { Id = "d", Change = s => WithThreads(other.Change(s)) })[0].IsUnlike);
    }

    [Fact]
    public void Page_says_what_is_compared_then_the_result_in_a_sentence_then_every_caution_of_the_runs()
    {
        DeploymentInfo sharded = RunParts.Deployment() with
        {
            Kind = DeploymentKind.Sharded,
            Topology = Topology.Sharded,
            ShardCount = 3,
            Remarks = ["cluster of 3 shards on one machine: every write goes into the oplog of its shard"],
        };
        RunComparison comparison = Compare(
            new NoisyRun { Sizes = 1, Seconds = 40, Phases = ["q4", "q5"] },
            new NoisyRun { Sizes = 1, Seconds = 40, Phases = ["q4", "q5"], NoiseSeed = 2, Deployment = sharded, Speed = phase =>
                phase == "q5" ? 0.5 : 2 });

        Assert.Equal("3 shards against one mongod", ComparisonTitle.Of(comparison));
        Assert.Contains("2026-11-21-b: cluster of 3 shards on one machine: every write goes into the oplog of its shard", comparison.Notes);
        string conclusion = ComparisonTitle.Conclusion("3 shards", "one mongod", comparison.Candidates[0]);
        Assert.Matches(
            @"^3 shards against one mongod: slower in q5 \((49|5[01])(\.\d)? % slower\); "
                + @"faster in q4 \((9\d % faster|(1\.9|2|2\.1) times as fast)\)\.$",
            conclusion);
        string page = Regex.Replace(File.ReadAllText(ComparisonWriter.WriteAll(comparison, _runs.At("compare-x")).Page),
            "<span class=\"whole\">([^<]*)</span>", "$1");
        int[] places = [.. new[] { "<h1>MongoPerf: 3 shards against one mongod</h1>", conclusion, "<nav", "every write goes into the oplog",
            "<h2 id=\"section-3-shards-mixed\">" }.Select(text => page.IndexOf(text, StringComparison.Ordinal))];
        Assert.DoesNotContain(-1, places);
        Assert.Equal(places.Order(), places);
    }

    /// <summary>Found where only p99 was three times as high: the sentence on top said "undecided", the verdict below "slower".</summary>
    [Theory]
    [InlineData("Undecided", "Slower", "slower in q4 (p99 50 % higher)")]
    [InlineData("Faster", "Slower", "slower in q4 (p99 50 % higher); faster in q4 (20 % faster)")]
    [InlineData("Faster", "Equivalent", "faster in q4 (20 % faster)")]
    [InlineData("Equivalent", "Undecided", "equivalent in q4")]
    public void Result_in_a_sentence_has_latencies_where_they_show_more_than_the_rate(string ofRate, string ofP99, string sentence)
    {
        NoisyRun run = new() { Sizes = 1, Seconds = 40, Phases = ["q4"] };
        CandidateComparison candidate = Compare(run, run with { NoiseSeed = 2 }).Candidates[0];
        OperationComparison q4 = candidate.Operations.Single();
        CandidateComparison judged = candidate with
        {
            Operations =
            [
                q4 with
                {
                    Measures =
                    [
                        q4.Rate with { Outcome = Enum.Parse<Outcome>(ofRate), Ratio = new Ratio(1.2, null) },
                        q4.P50! with { Outcome = Outcome.Equivalent, Ratio = new Ratio(1, null) },
                        q4.P99! with { Outcome = Enum.Parse<Outcome>(ofP99), Ratio = new Ratio(1.5, null) },
                    ],
                },
            ],
        };
        Assert.Equal($"new against old: {sentence}.", ComparisonTitle.Conclusion("new", "old", judged));
    }

    [Fact]
    public void Operations_in_a_sentence_end_with_and()
    {
        NoisyRun run = new() { Sizes = 1, Seconds = 40, Phases = ["q4", "q5", "q6"] };
        CandidateComparison candidate = Compare(run, run with { NoiseSeed = 2 }).Candidates[0];
        CandidateComparison judged = candidate with
        {
            Operations = [.. candidate.Operations.Select((operation, i) => operation with
            {
                Measures = [operation.Rate with { Outcome = i < 2 ? Outcome.Slower : Outcome.Equivalent, Ratio = new Ratio(0.8, null) }],
            })],
        };
        Assert.Equal("new against old: slower in q4 and q5 (most in q4: 20 % slower); equivalent in q6.",
            ComparisonTitle.Conclusion("new", "old", judged));
    }

    /// <summary>Found where a verdict would have taken "about 6103 sizes".</summary>
    [Theory]
    [InlineData(Evidence.Windows, 1.01, "more than 100 sizes or repeats of the phase; these had 10")]
    [InlineData(Evidence.Windows, 1.2, "about 14 sizes or repeats of the phase; these had 10")]
    [InlineData(Evidence.Runs, 1.01, "more than 100 runs per side; these had 10")]
    public void What_would_take_more_than_anybody_measures_is_not_counted(Evidence evidence, double ratio, string text) =>
        Assert.Equal(text, Sufficiency.ToDecide(
            new Ratio(ratio, new Interval(ratio * 0.87, ratio * 1.15), new Interval(ratio * 0.9, ratio * 1.11)), 0.005, evidence, 10, null)!
            .ToString());

    [Fact]
    public void Sides_are_called_by_what_tells_them_apart()
    {
        NoisyRun run = new() { Sizes = 0, Phases = ["read"] };
        Assert.Equal("mongod 7.0.5 against mongod 6.0.5",
            ComparisonTitle.Of(Compare(run, run with { Deployment = RunParts.Deployment() with { ServerVersion = "7.0.5" } })));
        Assert.Equal("1 GiB of memory against no limits", ComparisonTitle.Of(CompareAs("limits", run,
            run with { Change = s => s with { Deployment = s.Deployment with { MemoryLimitBytes = 1L << 30 } } })));
        Assert.Equal("same-1 against same-0", ComparisonTitle.Of(CompareAs("same", run, run)));
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
            new NoisyRun { Id = $"r{i}", Sizes = 1, Seconds = 30, Phases = ["batch", "q4"], NoiseSeed = (ulong)i, Speed = phase =>
                phase == "q4" ? speed : 1 }.Write(_runs.Path)))]);
        RepeatSpread spread = RepeatSpread.Of(side, 0.05);
        string warning = Assert.Single(spread.SlowStarts);
        Assert.StartsWith("q4 was ", warning, StringComparison.Ordinal);
        OperationSpread q4 = spread.Operations.Single(o => o.Operation.Phase == "q4");
        Assert.Equal(5, q4.Rates.Count);
        Assert.InRange(q4.Median / q4.Lowest, 1.15, 1.35);
        Assert.InRange(q4.Variation!.Value, 0.05, 0.15);
    }

    /// <summary>MONGOPERF_KEEP_CHARTS names a folder that keeps the pictures, to look at.</summary>
    [Fact]
    public void Each_operation_gets_a_chart_and_all_of_them_one()
    {
        string[] names = ["ratios", .. new[] { "unack", "batch", "safe", "q4", "q5", "q6", "q7" }.Select(static one => $"operation-{one}"),
            "size-compared"];
        AssertDrawn(
            "ten-sizes", names, Compare(new NoisyRun(), new NoisyRun { NoiseSeed = 2, Speed = phase => phase == "batch" ? 0.7 : 1.1 }));
    }

    [Fact]
    public void A_single_window_is_drawn_over_time_and_three_runs_lie_over_each_other() => AssertDrawn(
        "one-size", ["sweep-1", "ratios", "operation-q4-1", "operation-q4-8"],
        Compare(Single(1), Single(2) with { Speed = _ => 0.9 }, Single(3) with { Speed = _ => 3 }));

    private static NoisyRun Single(ulong seed) => new() { Sizes = 0, Seconds = 50, Phases = ["q4"], Threads = [1, 8], NoiseSeed = seed };

    private void AssertDrawn(string name, string[] charts, RunComparison comparison)
    {
        string keep = Environment.GetEnvironmentVariable("MONGOPERF_KEEP_CHARTS") is { } kept
            ? Path.Combine(kept, "compare-" + name)
            : _runs.At("compare-x");
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

    [Fact]
    public void Shards_that_overtake_the_single_server_cross_it_between_two_sizes_whichever_of_both_is_the_baseline()
    {
        var single = new NoisyRun { Phases = ["q4"] };
        NoisyRun shards = single with
        {
            NoiseSeed = 2, Deployment = RunParts.Deployment() with { Topology = Topology.Sharded }, SpeedAt = step => step <= 6 ? 0.6 : 1.6,
        };
        foreach (RunComparison comparison in new[] { Compare(single, shards), Compared("2026-11-21-b", "2026-11-21-a") })
        {
            Finding crossover = Assert.Single(ShardingFindings.Of(comparison, comparison.Candidates[0]));
            Assert.Equal((FindingIds.Crossover, 6000, 7000), (crossover.Id, crossover.Range!.FromDocuments, crossover.Range.ToDocuments));
            Assert.StartsWith("q4: the shards are slower than the single server up to 6k documents (rate × 0.",
                crossover.Text, StringComparison.Ordinal);
            Assert.InRange(crossover.Rate!.Ratio, 1.4, 1.8);
            Assert.Equal(crossover.Text, Assert.Single(ComparisonAnswer.FindingsOf(comparison)).Text);
        }
    }

    [Theory]
    [InlineData(1000, "compare A B --full")]
    [InlineData(2000, "compare A B --force --full")]
    public void Runs_of_different_work_are_shown_in_full_with_force_again(int step, string command)
    {
        NoisyRun run = new()
        {
            Sizes = 0, Phases = ["q4"], Change = settings => settings with { Data = settings.Data with { IsExisting = true } },
        };
        RunComparison comparison = Compare(run, run with { NoiseSeed = 2, Step = step });
        Fact[] facts = [.. ComparisonAnswer.Of(comparison, ["A", "B"], [], "A B").OfType<Block.Facts>().SelectMany(block => block.Lines)];
        Assert.Contains(facts, fact => fact.Text.EndsWith($": {CommandText.Program} {command}", StringComparison.Ordinal));
    }

    [Fact]
    public void Commands_of_the_files_find_runs_in_another_folder_than_the_default_one()
    {
        // All is decided; otherwise the next command would run them again, for longer.
        StoredRun[] runs = [.. Enumerable.Range(0, 10).Select(i => StoredRun.Open(
            new NoisyRun { Phases = ["q4"], Id = $"r-{i}", NoiseSeed = (ulong)i + 1, Speed = _ => i < 5 ? 1 : 0.3 }.Write(_runs.Path)))];
        RunComparison comparison = RunComparer.Compare(
            [new ComparedSide(runs[..5]), new ComparedSide(runs[5..])], [], RunComparer.DefaultNoiseThreshold);
        string page = ComparisonWriter.WriteAll(comparison, _runs.At("compare-x"), plots: [], typed: "A B --out /big/runs").Page;
        string next = File.ReadLines(_runs.At(Path.Combine("compare-x", "comparison.md")))
            .Single(line => line.StartsWith("- next:", StringComparison.Ordinal));
        Assert.Matches("(compare|forecast) A B --out /big/runs", next);
        Assert.Matches("(compare|forecast) A B --out /big/runs", Regex.Replace(File.ReadAllText(page), "</?span[^>]*>", ""));
    }

    [Fact]
    public void Lines_of_runs_with_other_steps_connect_each_run_s_own_sizes()
    {
        RunComparison comparison = Compare(
            new NoisyRun { Phases = ["q4"], Step = 1000 }, new NoisyRun { Phases = ["q4"], Step = 1500, NoiseSeed = 2 });
        Chart chart = ComparisonCharts.Build(comparison).Charts.Single(chart => chart.Name == "operation-q4");
        Assert.All(chart.Panels.SelectMany(panel => panel.Series), line =>
        {
            Assert.DoesNotContain(double.NaN, line.Values);
            Assert.Contains(ChartTable.None, line.Values);
        });
    }

    [Fact]
    public void Two_single_servers_have_no_findings_about_shards()
    {
        var single = new NoisyRun { Phases = ["q4"] };
        RunComparison comparison = Compare(single, single with { NoiseSeed = 2, SpeedAt = step => step <= 6 ? 0.6 : 1.6 });
        Assert.Empty(ShardingFindings.Of(comparison, comparison.Candidates[0]));
    }

    [Fact]
    public void Shards_that_are_slower_at_every_size_have_no_crossover_and_the_verdict_is_not_repeated()
    {
        var single = new NoisyRun { Phases = ["q4"] };
        RunComparison comparison = Compare(single,
            single with { NoiseSeed = 2, Deployment = RunParts.Deployment() with { Topology = Topology.Sharded }, Speed = _ => 0.6 });
        Assert.Equal(FindingIds.ShardedSlower, Assert.Single(ShardingFindings.Of(comparison, comparison.Candidates[0])).Id);
        Assert.DoesNotContain(ComparisonText.Verdicts(comparison, comparison.Candidates[0]), verdict => verdict.Mark == "finding");
    }

    private RunComparison Compare(params NoisyRun[] runs)
    {
        string[] ids = [.. runs.Select((_, i) => $"2026-11-21-{(char)('a' + i)}")];
        for (int i = 0; i < runs.Length; i++)
            (runs[i] with { Id = ids[i] }).Write(_runs.Path);
        return Compared(ids);
    }

    private RunComparison CompareAs(string name, params NoisyRun[] runs)
    {
        foreach ((int i, NoisyRun run) in runs.Index())
            (run with { Id = $"{name}-{i}" }).Write(_runs.Path);
        return Compared([.. runs.Select((_, i) => $"{name}-{i}")]);
    }

    private RunComparison Compared(params string[] ids)
    {
        ComparedSide[] sides = [.. ids.Select(id => new ComparedSide([StoredRun.Open(_runs.At(id))]))];
        RunComparison comparison =
            RunComparer.Compare(sides, SetupCheck.Find([.. sides.Select(side => side.First)]), RunComparer.DefaultNoiseThreshold);
        ApprovedReports.Check(ComparisonReport.Of(comparison));
        return comparison;
    }

    private static RunSettings WithThreads(RunSettings settings) =>
        settings with { Plan = settings.Plan with { Overrides = new PlanOverrides { Threads = [8] } } };

    private IReadOnlyList<SetupDifference> Differences(params NoisyRun[] runs) =>
        SetupCheck.Find([.. runs.Select(run => StoredRun.Open(run.Write(_runs.Path)))]);

    private static string Written(RunComparison comparison, Action<RunComparison, TextWriter> write)
    {
        using var text = new StringWriter();
        write(comparison, text);
        return text.ToString();
    }
}
