using System.Text.RegularExpressions;
using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Phases;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Findings;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports;

/// <summary>The screen in which a run ends admits whatever is wrong with its figures.</summary>
public sealed class RunAnswerTests : IDisposable
{
    private readonly ScriptedRun _run = new();

    public void Dispose() => _run.Dispose();

    [Fact]
    public void An_operation_that_failed_at_every_size_reads_failed_and_not_unmeasured()
    {
        foreach (int step in new[] { 1, 2 })
            Grown(step, result => result with
            {
                Operations = 0, OperationsPerSecond = 0, Failed = 500, LatencyMicroseconds = LatencySummary.None,
                Accounting = new Accounting(500, 0, 500, 0),
            });
        Assert.Matches(@"\nq4 .* 1,000 failed\n", Screen());
    }

    [Fact]
    public void Failures_of_the_warm_up_count_too()
    {
        Single(result => result with { Accounting = new Accounting(101, 100, 1, 0) });
        Assert.Matches(@"\nq4 .* 1 failed\n", Screen());
    }

    public static TheoryData<string, string> Wrongs => new()
    {
        { "wrong", "3 wrong" }, { "lost", "7 lost" }, { "cut", "2 cut off" }, { "skipped", "40 skipped" },
    };

    [Theory]
    [MemberData(nameof(Wrongs))]
    public void What_is_missing_from_the_figures_is_said_in_place_of_ok(string what, string says)
    {
        Single(result => what switch
        {
            "wrong" => result with { Verified = 10, Wrong = 3 },
            "lost" => result with { IsUnacknowledged = true, Unacknowledged = new UnacknowledgedResult(100, 93, 7, 0.1) },
            "cut" => result with
            {
                InFlightAtEnd = new OperationsInFlight(2, 5e6), Accounting = new Accounting(102, 100, 0, 2),
            },
            _ => result with { Accounting = new Accounting(140, 100, 0, 40) },
        });
        Assert.Matches($@"\nq4 .* {says}\n", Screen());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(299)]
    public void Few_operations_are_not_ok_and_neither_are_totals_or_loads_of_few(int operations)
    {
        Single(result => result with { Operations = operations, Accounting = new Accounting(operations, operations, 0, 0) });
        _run.Phase("mix", [.. Enumerable.Repeat(100.0, 10)], noise: false, change: phase => phase with
        {
            Operations = [.. ((string[])["read", "write"]).Select(name => RunParts.Result(name, 8, Math.Max(1, operations / 2)))],
        });
        _run.Phase("load", [.. Enumerable.Repeat(100.0, 10)], noise: false,
            change: phase => phase with { Phase = "load c", Kind = PhaseKind.Load },
            ofResult: result => result with { Failed = 1, Accounting = new Accounting(operations, operations - 1, 1, 0) });
        string screen = Screen();
        Assert.Matches(@"\nq4 .* few operations\n", screen);
        Assert.Matches(@"\nmix total .* few operations\n", screen);
        Assert.DoesNotMatch(@" ok\n", screen);
    }

    [Fact]
    public void What_300_operations_say_is_ok()
    {
        Single(result => result with { Operations = 300 });
        Assert.Matches(@"\nq4 .* ok\n", Screen());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_scan_is_not_ok_with_its_parameter_or_without(bool hasParameter)
    {
        var scan = new PlanSummary { Stages = "COLLSCAN", DocumentsExamined = 5000, KeysExamined = 0, Returned = 140 };
        for (int i = 0; i < 2; i++)
        {
            int limit = i;
            _run.Phase("read", [.. Enumerable.Repeat(100.0, 10)], noise: false,
                change: phase => hasParameter ? phase with { Parameters = [new ParameterValue("limit", $"{limit}")] }
                    : phase with { Phase = $"read{limit}" },
                ofResult: result => limit == 1 ? result with { Plan = scan } : result);
        }

        string screen = Screen();
        Assert.Matches(hasParameter ? @"\nread \(limit=1\) .* scans\n" : @"\nread1 .* scans\n", screen);
        Assert.Matches(hasParameter ? @"\nread \(limit=0\) .* ok\n" : @"\nread0 .* ok\n", screen);
    }

    public static TheoryData<EffectResult, string, string> Nothings => new()
    {
        { new EffectResult(1000, null, null), "100 % found nothing", "q4: 1,000 of 1,000 operations found no document" },
        { new EffectResult(10, null, null), "1 % found nothing", "q4: 10 of 1,000 operations found no document" },
        { new EffectResult(9, null, null), "ok", "" },
        { new EffectResult(null, 250, 100), "25 % matched nothing",
            "q4: 250 of 1,000 operations matched no document, and so changed none" },
        { new EffectResult(null, 0, 500), "50 % changed nothing",
            "q4: 500 of 1,000 operations left the documents that they matched as they were" },
    };

    [Theory]
    [MemberData(nameof(Nothings))]
    public void What_comes_to_nothing_is_not_ok(EffectResult effect, string verdict, string line)
    {
        Single(result => result with { Operations = 1000, Effect = effect });
        using StoredRun run = _run.End();
        Assert.Matches($@"\nq4 .* {verdict}\n", Screen(run));
        Assert.Equal(verdict == "ok", Screen(run).Contains("\nok ", StringComparison.Ordinal));
        string[] lines = [.. RunVerdicts.Of(run).Where(one => one.Finding?.Id is "found-nothing" or "changed-nothing")
            .Select(one => one.Text)];
        Assert.Equal(line.Length > 0, lines.Contains(line));
        using var csv = new StringWriter();
        CsvReport.WriteResults(run, csv);
        Assert.Contains($",0,0,{effect.FoundNothing},{effect.MatchedNothing},{effect.ChangedNothing},", csv.ToString(),
            StringComparison.Ordinal);
        using var ycsb = new StringWriter();
        YcsbReport.Write(run, ycsb);
        long not = effect.FoundNothing ?? effect.MatchedNothing ?? 0;
        Assert.Contains($"[Q4], Return=OK, {1000 - not}\n", ycsb.ToString(), StringComparison.Ordinal);
        Assert.Equal(not > 0, ycsb.ToString().Contains($"[Q4], Return=NOT_FOUND, {not}\n", StringComparison.Ordinal));
    }

    [Fact]
    public void A_total_is_as_good_as_its_parts()
    {
        var scan = new PlanSummary { Stages = "COLLSCAN", DocumentsExamined = 5000, KeysExamined = 0, Returned = 140 };
        _run.Phase("mix", [.. Enumerable.Repeat(100.0, 10)], noise: false, change: phase => phase with
        {
            Operations = [RunParts.Result("read", 8, 500) with { Plan = scan }, RunParts.Result("write", 8, 500)],
        });
        string screen = Screen();
        Assert.Matches(@"\nmix read .* scans\n", screen);
        Assert.Matches(@"\nmix total .* see its parts\n", screen);
    }

    /// <summary>The total of batches and reads counts operations; a batch among its parts counts documents, and says so.</summary>
    [Fact]
    public void Rates_in_different_units_have_them_beside_them()
    {
        _run.Phase("mix", [.. Enumerable.Repeat(100.0, 10)], noise: false, change: phase => phase with
        {
            Operations =
            [
                RunParts.Result("load", 8, 500) with
                {
                    IsInsert = true, Batch = 1000, OperationsPerSecond = 50, DocumentsPerSecond = 50_000,
                },
                RunParts.Result("read", 8, 500) with { OperationsPerSecond = 100 },
                RunParts.Result("bulk", 8, 500) with { Batch = 1000, OperationsPerSecond = 43.7 },
            ],
        });
        string screen = Screen();
        Assert.Matches(@"\nmix load +50,000 docs/s ", screen);
        Assert.Matches(@"\nmix read +100 ops/s ", screen);
        Assert.Matches(@"\nmix bulk +43,700 writes/s ", screen);
        Assert.Matches(@"\nmix total +194 ops/s ", screen);
        Assert.DoesNotContain("rate: docs/s", screen, StringComparison.Ordinal);
    }

    [Fact]
    public void The_most_frequent_error_is_named_with_its_code_and_its_text()
    {
        _run.Store.AddErrors(
        [
            new ErrorCount(20, "IllegalOperation", 20, "Transaction numbers are only allowed on a replica set member or mongos", []),
            new ErrorCount(0, ErrorCount.NothingChanged, 3, "changed nothing", []),
        ]);
        Single(result => result with { Failed = 23, Accounting = new Accounting(1023, 1000, 23, 0) });
        Assert.Contains("more failures than allowed (0); most often (20 of 23) with IllegalOperation (20): Transaction numbers are only "
            + "allowed on a replica set member or mongos", Regex.Replace(Screen(), @"\n +", " "), StringComparison.Ordinal);
    }

    [Fact]
    public void The_only_error_is_named_without_a_number()
    {
        _run.Store.AddErrors([new ErrorCount(0, ErrorCount.NothingChanged, 3, new string('x', 300), [])]);
        Single(result => result with { Failed = 3, Accounting = new Accounting(1003, 1000, 3, 0) });
        string screen = Regex.Replace(Screen(), @"\n +", " ");
        Assert.Contains("; each with NothingChanged: xxx", screen, StringComparison.Ordinal);
        Assert.Contains("xxx…", Regex.Replace(screen, @"\s", ""), StringComparison.Ordinal);
    }

    [Fact]
    public void A_run_that_measured_nothing_in_a_phase_is_not_ok()
    {
        Single(result => result);
        _run.Phase("q5", [.. Enumerable.Repeat(100.0, 10)], noise: false, ofResult: result => result with
        {
            Operations = 0, Failed = 10, LatencyMicroseconds = LatencySummary.None, Accounting = new Accounting(10, 0, 10, 0),
        });
        Assert.Contains("\nBAD        finished: 2 phases; nothing was measured in q5\n", Screen(), StringComparison.Ordinal);
    }

    /// <summary>A server that was away during one of several measurements of a phase spoils that one alone.</summary>
    [Fact]
    public void What_was_measured_another_time_is_only_told()
    {
        Single(result => result);
        _run.Phase("q4", [.. Enumerable.Repeat(100.0, 10)], noise: false, ofResult: result => result with
        {
            Operations = 0, Failed = 10, LatencyMicroseconds = LatencySummary.None, Accounting = new Accounting(10, 0, 10, 0),
        });
        Assert.Contains("\nnote       finished: 2 phases; nothing was measured in q4\n", Screen(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_replay_whose_replies_differ_is_not_ok()
    {
        Single(result => result with { Replay = new ReplayResult(100, 0, 2, 0) { FirstCount = new ReplayPair(1, 0) } });
        string screen = Screen();
        Assert.Matches(@"\nq4 .* 2 replies differ\n", screen);
        Assert.Contains("; the first of q4: 0 documents, recorded with 1", Spaced(screen), StringComparison.Ordinal);
    }

    /// <summary>What other operations insert is not what the growth was to reach.</summary>
    [Fact]
    public void A_growth_reaches_no_more_documents_than_it_was_to()
    {
        _run.Store.EndPhase(RunParts.Grown(1, "batch", 1, 1_000_000, RunParts.Result("batch") with { IsInsert = true }) with
        {
            Kind = PhaseKind.Write, Collection = "series",
        });
        _run.Store.EndPhase(RunParts.Grown(2, "log", 1, 1_000_000, RunParts.Result("log") with { IsInsert = true }) with
        {
            Collection = "log", Documents = 900,
        });
        string screen = Screen();
        Assert.Contains(" finished: 1,000,000 of 1,000,000 documents\n", screen, StringComparison.Ordinal);
    }

    [Fact]
    public void A_write_that_was_interrupted_stands_at_the_size_that_it_reached()
    {
        _run.Store.EndPhase(RunParts.Grown(1, "batch", 1, 500_000, RunParts.Result("batch") with { IsInsert = true }) with
        {
            Kind = PhaseKind.Write, Collection = "series", Documents = 176_000, IsComplete = false,
        });
        string screen = Screen();
        Assert.Contains("\nat 176k documents; ", screen, StringComparison.Ordinal);
        Assert.DoesNotContain("500k", screen, StringComparison.Ordinal);
    }

    /// <summary>Found by the property of drawn runs: "at 200 documents" of a run that failed with 186 others and none of these.</summary>
    [Fact]
    public void A_write_that_wrote_nothing_stands_at_no_size()
    {
        _run.Store.EndPhase(RunParts.Grown(1, "batch", 1, 500_000, RunParts.Result("batch", operations: 0) with
        {
            IsInsert = true, Failed = 48,
        }) with
        {
            Kind = PhaseKind.Write, Collection = "series", Documents = 0, IsComplete = false,
        });
        Assert.Contains("\non the way to 500k documents\n", Screen(), StringComparison.Ordinal);
    }

    /// <summary>What waited in the warm-up is made up for in the measured part.</summary>
    [Theory]
    [InlineData(2231, "above its rate")]
    [InlineData(2050, "ok")]
    public void A_rate_that_was_exceeded_is_not_ok(double rate, string verdict)
    {
        _run.Phase("q4", [.. Enumerable.Repeat(rate, 10)], noise: false, change: phase => phase with
        {
            Rate = 2000, Groups = [GroupShare.Of("", 10, [phase.Operations[0].Operations], Accounting.None) with
            {
                Waiting = new ClientWaiting(0, 0),
            }],
        }, ofResult: result => result with { ResponseMicroseconds = RunParts.Latency(100) });
        Assert.Matches($@"\nq4 .* {verdict}\n", Screen());
    }

    [Fact]
    public void The_slowest_operation_of_a_growth_is_that_of_any_size()
    {
        Grown(1, result => result with { LatencyMicroseconds = RunParts.Latency(100) with { Max = 4.2e6 } });
        Grown(2, result => result);
        string screen = Screen();
        Assert.Contains("at 200k documents; max at any size; change since 100k; inserts in docs/s\n", screen, StringComparison.Ordinal);
        Assert.Matches(@"\nq4 .* 4\.2 s ", screen);
    }

    [Fact]
    public void Figures_of_a_smaller_size_than_the_last_say_so()
    {
        Grown(1, result => result);
        Grown(2, result => result);
        Grown(3, result => result with { Operations = 0, OperationsPerSecond = 0, LatencyMicroseconds = LatencySummary.None });
        Assert.Matches(@"\nq4 .* last at 200k\n", Screen());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Thirty_operations_with_long_names_stay_within_80_columns_and_15_rows(bool isChinese)
    {
        using IDisposable words = Words.In(isChinese ? Language.Chinese : Language.English);
        for (int i = 10; i < 40; i++)
        {
            string name = $"an operation whose name is longer than any table has room for, number {i}";
            _run.Phase(name, [.. Enumerable.Repeat(1_234_567.0, 10)], ofResult: result => result with
            {
                Failed = i < 12 ? 1_234_567 : 0, LatencyMicroseconds = RunParts.Latency(123_456),
                Accounting = new Accounting(result.Operations, result.Operations, i < 12 ? 1_234_567 : 0, 0),
            });
        }

        string[] lines = Screen().Split('\n');
        Assert.All(lines, line => Assert.InRange(Words.Width(line), 0, 80));
        Assert.Equal(15, lines.Count(line => line.StartsWith('…')));
        Assert.Equal(15, lines.Where(line => line.StartsWith('…')).DistinctBy(line => line.Split("  ")[0]).Count());
        Assert.Equal(2, lines.Count(line => line.Contains("1,234,567 ", StringComparison.Ordinal)
            && line.StartsWith('…')
            && (line.EndsWith("failed", StringComparison.Ordinal) || line.EndsWith("失败", StringComparison.Ordinal))));
    }

    [Fact]
    public void A_run_that_only_takes_sizes_shows_them()
    {
        _run.Store.EndPhase(RunParts.Phase(1, "size") with { Kind = PhaseKind.Sizes, Sizes = [RunParts.Sizes(50_000)] });
        string screen = Screen();
        Assert.Contains("Sizes after each phase\n", screen, StringComparison.Ordinal);
        Assert.Matches(@"\nsize +50,000 ", screen);
    }

    [Theory]
    [InlineData(0, "100 replies compared with the recorded ones: none differs")]
    [InlineData(2, "2 of 100 replies differ from the recorded ones")]
    public void A_replay_says_whether_its_replies_are_the_recorded_ones(int counts, string says)
    {
        Single(result => result with { Replay = new ReplayResult(100, 0, counts, 0) { FirstCount = new ReplayPair(1, 0) } });
        string screen = Screen();
        Assert.Contains(says, screen, StringComparison.Ordinal);
        // To repeat it would be refused where it has written.
        Assert.Matches(@"to compare its times with the recorded ones:\s+mongoperf\s+compare ", screen);
    }

    /// <summary>Its times say nothing then, and what must be mended comes before all else.</summary>
    [Theory]
    [InlineData(5, null)]
    [InlineData(6, "the target is empty: copy has none of the 4 collections that the recording uses", 4)]
    [InlineData(6, "the target lacks data: 3 of the 4 collections that the recording uses are not in copy", 3)]
    [InlineData(6, "the target is empty: no document is in any of the 4 collections of copy that the recording uses", 0, 4)]
    [InlineData(6, "the target lacks data: 1 of the 4 collections of copy that the recording uses are empty", 0, 1)]
    [InlineData(6, "the user may not do what the recording does", 0, 0, 13)]
    [InlineData(6, "the target has documents already that the recording inserts, as after a first replay", 0, 0, 11000)]
    [InlineData(6, "the writes were left out (--only), so reads find other documents", 0, 0, 0, ReplayedRequests.Reads)]
    [InlineData(6, "the target has other data than the recording began with; 6 of 100", 0, 0, 0)]
    [InlineData(6, "or requests of different connections came in another order (--dependencies keeps it)", 0, 0, 0,
        ReplayedRequests.All, 2.0)]
    public void A_replay_of_which_too_much_differs_is_bad_and_its_cause_comes_first(int different, string? cause, int missing = 0,
        int empty = 0, int code = 0, ReplayedRequests only = ReplayedRequests.All, double speed = 1)
    {
        var replay = new ReplaySettings { MaxDifferent = 0.05, Only = only, Speed = speed };
        RunSettings settings = RunParts.Settings();
        _run.Store.SetSettings(settings with { Plan = settings.Plan with { Recording = "shop.rec", Replay = replay } });
        _run.Store.SetNote(StoredRun.ReplayTargetNote, RunJson.Write(new ReplayTarget(["copy"], 4, missing, empty)));
        Single(result => result with
        {
            Replay = code == 0 ? new ReplayResult(100, 0, different, 0) { FirstCount = new ReplayPair(1, 0) }
                : new ReplayResult(100, different, 0, 0) { FirstCode = new ReplayPair(0, code) },
        });
        using StoredRun run = _run.End();
        string screen = Screen(run);
        Assert.Equal(cause is not null, run.RepliesDiffer);
        if (cause is null)
        {
            Assert.DoesNotContain("likely cause", screen, StringComparison.Ordinal);
            return;
        }

        string first = screen.Split('\n').First(line => line.StartsWith("BAD", StringComparison.Ordinal));
        Assert.Matches("^BAD +likely cause: the ", first);
        string all = Spaced(screen);
        Assert.Contains(cause, all, StringComparison.Ordinal);
        Assert.Contains("6 of 100 replies differ", all, StringComparison.Ordinal);
        Assert.Contains("(--max-different allows 5 %)", all, StringComparison.Ordinal);
        Assert.Contains("to see which replies differ: mongoperf report", all, StringComparison.Ordinal);
        Assert.Single(screen.Split("likely cause").Skip(1));
    }

    [Fact]
    public void A_replay_of_which_only_the_content_differs_does_not_say_that_nothing_does()
    {
        Single(result => result with { Replay = new ReplayResult(100, 0, 0, 0) { Contents = 7 } });
        string screen = Spaced(Screen());
        Assert.Contains("the documents of 7 differ, though not in number or size", screen, StringComparison.Ordinal);
        Assert.DoesNotContain("none differs", screen, StringComparison.Ordinal);
    }

    [Fact]
    public void Of_many_shapes_the_table_shows_each_whose_replies_differ()
    {
        string[] shapes = [.. Enumerable.Range(10, 90).Select(i => $"find shop.c{i} {{}}")];
        _run.Store.EndPhase(RunParts.Phase(1, "replay", [.. shapes.Select((shape, i) => RunParts.Result(shape) with
        {
            Replay = new ReplayResult(100, 0, i is 1 or 88 ? 1 : 0, 0) { FirstCount = new ReplayPair(1, 0) },
        })]));
        using StoredRun run = _run.End();
        ReportTable table = Assert.Single(ReplayTables.Of(run));
        Assert.Contains("(25 of 90 rows; the CSV files have them all)", table.Title, StringComparison.Ordinal);
        Assert.Equal(shapes.Take(24).Append(shapes[88]), table.Rows.Select(row => row[0]));
    }

    [Fact]
    public void A_column_that_holds_nothing_is_left_out_before_a_name_is_cut()
    {
        var table = new ReportTable(
            "", ["<operation", "rate", "change", "<verdict"], [["terminals new order", "30.9", Units.None, "ok"]]);
        Assert.Equal(["terminals new order", "30.9", "ok"], table.InLines(36, gap: 2)!.Rows[0]);
        Assert.Equal(["terminals new order", "30.9", Units.None, "ok"], table.InLines(80, gap: 2)!.Rows[0]);
    }

    /// <summary>Whatever was loaded and measured, in any order: what was measured comes first, and loads take a line.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    public void Measured_phases_come_before_loads_however_many_there_are(int seed)
    {
        var random = new Random(seed);
        bool[] areLoads = [.. Enumerable.Range(0, random.Next(5, 50)).Select(_ => random.Next(3) > 0), true, false];
        bool[] fail = [.. areLoads.Select(_ => random.Next(6) == 0)];
        for (int i = 0; i < areLoads.Length; i++)
        {
            int number = i;
            _run.Phase(areLoads[i] ? "load" : "read", [.. Enumerable.Repeat(1000.0, 10)], noise: false,
                change: phase => areLoads[number] ? phase with { Phase = $"load c{number}", Kind = PhaseKind.Load }
                    : phase with { Phase = $"phase {number}", Kind = PhaseKind.Measure },
                ofResult: result => result with
                {
                    Accounting = fail[number] ? new Accounting(101, 100, 1, 0) : result.Accounting, Batch = areLoads[number] ? 100 : 1,
                });
        }

        string[] lines = Screen().Split('\n');
        string[] rows = [.. lines.SkipWhile(line => !line.StartsWith("operation ", StringComparison.Ordinal)).Skip(1)
            .TakeWhile(line => line.Length > 0)];
        int measured = areLoads.Count(isLoad => !isLoad);
        Assert.All(rows.Take(Math.Min(15, measured)).Select((row, i) => (row, i)),
            one => Assert.StartsWith("phase ", one.row, StringComparison.Ordinal));
        Assert.All(rows.Where(row => !row.StartsWith("phase ", StringComparison.Ordinal)),
            row => Assert.EndsWith(" 1 batches failed", row, StringComparison.Ordinal));
        int quiet = areLoads.Zip(fail).Count(one => one is { First: true, Second: false });
        Assert.Equal(quiet > 0, lines.Any(line => line.StartsWith("loaded ", StringComparison.Ordinal)));
        Assert.All(lines.Where(line => line.StartsWith("loaded ", StringComparison.Ordinal)), line => Assert.Equal(
            $"loaded     {Units.Exact(quiet * 10_000)} documents in {Words.Counted(quiet, "load")}, 1,000 docs/s", line));
    }

    /// <summary>A run whose loads are what it is about.</summary>
    [Fact]
    public void Loads_alone_are_rows()
    {
        _run.Phase("load", [.. Enumerable.Repeat(1000.0, 10)], noise: false,
            change: phase => phase with { Phase = "load c", Kind = PhaseKind.Load });
        string screen = Screen();
        Assert.Matches(@"\nload c ", screen);
        Assert.DoesNotContain("\nloaded ", screen, StringComparison.Ordinal);
    }

    private void Single(Func<OperationResult, OperationResult> change) =>
        _run.Phase("q4", [.. Enumerable.Repeat(100.0, 10)], ofResult: change, noise: false);

    private void Grown(int step, Func<OperationResult, OperationResult> change) => _run.Store.EndPhase(
        RunParts.Grown(step, "q4", step, step * 100_000, change(RunParts.Result("q4"))));

    private string Screen()
    {
        using StoredRun run = _run.End();
        return Screen(run);
    }

    private static string Spaced(string text) => string.Join(' ', text.Split([' ', '\n'], StringSplitOptions.RemoveEmptyEntries));

    private static string Screen(StoredRun run)
    {
        using var output = new StringWriter();
        ConsoleReport.Write(RunReport.Of(run), output, new ConsoleReportOptions { Width = ConsoleReport.MinimumWidth });
        return output.ToString();
    }
}
