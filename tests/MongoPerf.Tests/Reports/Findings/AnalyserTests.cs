using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Reports.Findings;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Findings;

/// <summary>Each analyser finds what was put into a run, where it was put.</summary>
public sealed class AnalyserTests : IDisposable
{
    private readonly ScriptedRun _run = new();

    public void Dispose() => _run.Dispose();

    /// <summary>Found as "range 0 documents, 52.6 to 54.1 s".</summary>
    [Fact]
    public void A_phase_that_works_on_no_collection_has_no_sizes_in_its_ranges()
    {
        _run.Phase("q4", [1000, 1000, 1000]);
        using StoredRun run = _run.End();
        var series = RunSeries.Of(run);
        var window = new TimeWindow(ScriptedRun.At(1), ScriptedRun.At(2));
        Assert.Equal(new FindingRange(1, 2, null, null), series.Range(window, 0));
        Assert.Equal(new FindingRange(1, 2, null, null), series.Range(window, 0, 0));
        Assert.Equal(new FindingRange(1, 2, 0, 500), series.Range(window, 0, 500));
        Assert.Equal(new FindingRange(1, 2, 500, null), series.Range(window, 500));
    }

    [Fact]
    public void A_rate_that_halves_whenever_the_collection_doubles_is_linear_growth_and_no_decline()
    {
        for (int step = 1; step <= 12; step++)
            _run.Size(step, "q7", Flat(5, 24_000.0 / step));
        Finding found = Single(FindingIds.LinearGrowth);
        Assert.StartsWith("q7's time per operation grows in proportion to the collection: × 1", found.Text, StringComparison.Ordinal);
        Assert.Equal((100_000, 1_200_000), (found.Range!.FromDocuments, found.Range.ToDocuments));
        Assert.InRange(found.Rate!.Ratio, 0.05, 0.3);
    }

    /// <summary>To the test of a line such a bend looks like correlated noise.</summary>
    [Fact]
    public void A_rate_that_bends_down_gently_declines()
    {
        for (int step = 1; step <= 10; step++)
            _run.Size(step, "q5", Flat(5, 2400 / Math.Sqrt(step)));
        Finding found = Single(FindingIds.SizeDecline);
        Assert.Equal("q5's rate falls steadily as the collection grows: at 1M documents it is 67 % lower than at 100k", found.Text);
        Assert.InRange(found.Rate!.Ratio, 0.3, 0.6);
    }

    /// <summary>As where a virtual machine loses its share of the hardware in the middle of a growth.</summary>
    [Theory]
    [InlineData(0.6, "^the client's processors were slower \\(an operation took 6[3-9](\\.[0-9])? % more of their time\\)$")]
    [InlineData(1.0, null)]
    public void A_rate_that_falls_as_the_clients_work_per_operation_takes_longer_does_not_fall_with_the_size(double speed, string? cause)
    {
        double[] rates = [.. Enumerable.Range(1, 12).Select(step => step <= 6 ? 1000.0 : 600)];
        double used = 0;
        for (int step = 1; step <= 12; step++)
        {
            int before = _run.Now;
            _run.Size(step, "q4", Flat(5, rates[step - 1]));
            double second = rates[step - 1] * (step <= 6 ? 30 : 30 / speed);
            // A phase of five seconds, and three between it and the next one.
            _run.Host(before + 1, _run.Now,
                at => [("client_cpu_user", used += at <= before + 6 ? second : 0), ("cpu_user", used), ("cpu_idle", 4e6 * at)]);
        }

        Finding found = Single(FindingIds.SizeCliff);
        if (cause is null)
            Assert.Null(found.Cause);
        else
            Assert.Matches(cause, found.Cause);
        Assert.True(found.IsCoincidence);
        Assert.StartsWith("grow the collection again with smaller steps", found.Refute, StringComparison.Ordinal);
    }

    /// <summary>Found by a review: the fall was put down to the size.</summary>
    [Theory]
    [InlineData(6, true)]
    [InlineData(3, false)]
    public void A_rate_that_falls_where_the_run_was_resumed_is_seen_together_with_that(int after, bool isTold)
    {
        for (int step = 1; step <= 12; step++)
        {
            _run.Size(step, "q4", Flat(5, step <= 6 ? 1000.0 : 600));
            if (step == after)
                _run.Store.AddEvent(new RunEvent(ScriptedRun.At(_run.Now - 1), RunEvent.Resumed, "after step 6"));
        }

        Finding found = Single(FindingIds.SizeCliff);
        Assert.Equal(isTold ? "the run was resumed between these sizes" : null, found.Cause);
        Assert.True(found.IsCoincidence);
        Assert.StartsWith(isTold ? "grow the collection again without an interruption" : "grow the collection again with smaller steps",
            found.Refute, StringComparison.Ordinal);
    }

    [Fact]
    public void A_rate_that_rises_with_the_collection_is_found()
    {
        for (int step = 1; step <= 10; step++)
            _run.Size(step, "q4", Flat(5, 1000 * Math.Pow(1.06, step)));
        Finding found = Single(FindingIds.SizeRise);
        Assert.InRange(found.Rate!.Ratio, 1.5, 1.9);
        Assert.InRange(1.69, found.Rate.Low!.Value, found.Rate.High!.Value);
    }

    [Fact]
    public void A_rate_that_swings_with_the_documents_has_a_period_in_documents()
    {
        for (int step = 1; step <= 60; step++)
            _run.Size(step, "q4", Flat(3, 1000 * (1 + (0.2 * Math.Sin(2 * Math.PI * step / 10)))));
        Finding found = Assert.Single(Find(FindingIds.Period));
        Assert.Matches("^q4's rate swings by ±(1[6-9]|2[0-4])(\\.[0-9])? % every (990k|1M|1\\.0[0-9]M) documents$", found.Text);
    }

    [Fact]
    public void Inserts_that_swing_with_their_documents_while_they_slow_down_have_a_period_in_documents()
    {
        double documents = 0;
        double[] rates = new double[240];
        for (int i = 0; i < rates.Length; i++)
        {
            rates[i] = 4000 * Math.Exp(-i / 160.0) * (1 + (0.25 * Math.Sin(2 * Math.PI * documents / 30_000)));
            documents += rates[i];
        }

        _run.Phase("load", rates);
        Assert.Contains(Find(FindingIds.Period), found => found.Text.EndsWith("documents", StringComparison.Ordinal));
    }

    [Fact]
    public void A_phase_whose_seconds_vary_far_more_than_those_of_the_other_sizes_is_found()
    {
        for (int step = 1; step <= 8; step++)
            _run.Size(step, "q5", step == 6 ? [.. Enumerable.Range(0, 15).Select(i => i * 7 % 5 < 2 ? 600.0 : 1400)] : Flat(15, 1000));
        Finding found = Single(FindingIds.Variation);
        Assert.StartsWith("q5's rate varies from second to second by ", found.Text, StringComparison.Ordinal);
        Assert.Equal("q5", Assert.Single(found.Operations));
        Assert.Contains("at 600k documents, that of the other 7 by ", found.Text);
    }

    [Fact]
    public void Windows_that_speed_up_at_every_size_are_a_slow_start_though_each_is_too_short_to_be_judged()
    {
        for (int step = 1; step <= 10; step++)
            _run.Size(step, "q4", [700, 800, 1000, 1000]);
        Finding found = Single(FindingIds.SlowStart);
        Assert.Contains("at 10 of 10 sizes", found.Text);
        Assert.InRange(1.33, found.Rate!.Low!.Value, found.Rate.High!.Value);
    }

    [Fact]
    public void A_start_that_takes_longer_from_size_to_size_is_found()
    {
        for (int step = 1; step <= 20; step++)
            _run.Size(step, "q4", [.. Enumerable.Range(0, 12).Select(i => i < 6 ? 1000.0 - (40 * step) : 1000)], warmup: 6);

        Finding found = Assert.Single(Find(FindingIds.SlowStartGrows));
        Assert.StartsWith("q4 starts more slowly as the collection grows: its windows lose ", found.Text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_phase_that_begins_cold_says_how_long_it_warms_up()
    {
        _run.Store.AddEvent(new RunEvent(ScriptedRun.At(0), RunEvent.ColdStart, "restarted"));
        _run.Phase("q4", [.. Enumerable.Range(0, 60).Select(i => i < 8 ? 100.0 + (80 * i) : 1000)], warmup: 5);
        Finding found = Assert.Single(Find(FindingIds.WarmUp));
        Assert.Matches("^q4 takes [78] s to reach 90 % of its [0-9,]+ operations/s after a cold start: it begins at [0-9.]+$", found.Text);
        Assert.InRange(found.Rate!.Ratio, 0.2, 0.6);
    }

    [Fact]
    public void Migrations_are_held_against_the_seconds_outside_them()
    {
        double[] rates = [.. Enumerable.Range(0, 90).Select(i => i % 30 is >= 10 and < 18 ? 700.0 : 1000)];
        _run.Store.AddChunkEvents([.. new[] { 10, 40, 70 }.Select(from => Migration(from, from + 8))]);
        _run.Phase("q4", rates);
        Finding found = Assert.Single(Find(FindingIds.MigrationCost));
        Assert.StartsWith("q4's rate is ", found.Text, StringComparison.Ordinal);
        Assert.InRange(0.7, found.Rate!.Low!.Value, found.Rate.High!.Value);
    }

    [Fact]
    public void Migrations_that_cost_nothing_are_no_finding()
    {
        _run.Store.AddChunkEvents([.. new[] { 10, 40, 70 }.Select(from => Migration(from, from + 8))]);
        _run.Phase("q4", Flat(90, 1000));
        Assert.Empty(_run.Findings());
    }

    /// <summary>As on a real server: it costs most while the collection is read, and then ever less.</summary>
    [Theory]
    [InlineData(0.4, true)]
    [InlineData(0, false)]
    [InlineData(-0.6, false)]
    public void Index_builds_are_held_against_the_seconds_outside_them(double cost, bool isFound)
    {
        _run.Phase(
            "read", [.. Enumerable.Range(0, 26).Select(i => 1000 * (1 - (i is >= 8 and < 18 ? cost / Math.Max(1, (i - 7) / 3.0) : 0)))]);
        _run.Server(0, 27, second =>
        [
            ("index_builds", second is > 8 and <= 18 ? 1 : 0),
            ("tickets_read_available", 128),
            ("tickets_write_available", 128),
            ("cache_max", 1e9),
            ("connections_available", 1000),
        ]);
        if (!isFound)
        {
            // One that is faster meanwhile has another reason.
            Assert.DoesNotContain(_run.Findings(), finding => finding.Id == FindingIds.IndexBuildCost || cost == 0);
            return;
        }

        Finding found = Assert.Single(Find(FindingIds.IndexBuildCost));
        Assert.Matches(
            "^read's rate is [0-9.]+ % lower while the server builds indexes: [0-9,]+ operations/s inside, [0-9,]+ outside$", found.Text);
        Assert.InRange(found.Range!.FromSeconds!.Value, 8, 9);
        Assert.InRange(found.Range.ToSeconds!.Value, 18, 19);
        Assert.Equal((true, "the server was building indexes"), (found.IsCoincidence, found.Cause));
    }

    [Fact]
    public void A_shard_that_does_more_than_its_documents_ask_for_is_hot()
    {
        _run.Phase("batch", Flat(30, 1000));
        foreach ((string shard, double speed) in new[] { ("a", 900.0), ("b", 60), ("c", 40) })
            _run.Shard(shard, 1, 30, second => [("opcounters_insert", speed * second), ("documents", 100_000)]);
        Finding found = Single(FindingIds.HotShard);
        Assert.StartsWith("shard a did 90 % of the operations with 33.3 % of the documents", found.Text, StringComparison.Ordinal);
        Assert.Contains("the shard key", found.Cause);
    }

    [Fact]
    public void Shards_that_can_not_be_asked_are_judged_by_what_the_router_tells_of_the_collection()
    {
        _run.Phase("batch", Flat(30, 1000));
        foreach ((string shard, double speed) in new[] { ("a", 900.0), ("b", 60), ("c", 40) })
            _run.Shard(shard, 1, 30, second =>
                [("opcounters_insert", double.NaN), ("collection_writes", speed * second), ("documents", 100_000)]);
        Assert.StartsWith("shard a did 90 % of the operations with 33.3 % of the documents", Single(FindingIds.HotShard).Text,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Documents_that_lay_unevenly_until_the_balancer_was_done_are_found()
    {
        _run.Phase("batch", Flat(60, 1000));
        foreach ((string shard, int sign) in new[] { ("a", 1), ("b", -1) })
            _run.Shard(shard, 1, 60,
                second => [("opcounters_insert", 500.0 * second), ("documents", 50_000 + (sign * Math.Max(0, 40_000 - (1000 * second))))]);
        Finding found = Single(FindingIds.ImbalanceOverTime);
        Assert.Matches("^documents were unevenly distributed for 2[0-9] s: shard a held up to 8[0-9](\\.[0-9])? % of them", found.Text);
    }

    [Theory]
    [InlineData(new long[] { 54_000, 36_000, 10_000 }, "shards: s0 has 62 % more than an even share, s2 has 70 % less; no chunks migrated")]
    [InlineData(new long[] { 36_000, 33_000, 31_000 }, null)]
    public void Documents_that_end_up_unevenly_on_the_shards_are_found(long[] documents, string? text)
    {
        _run.Phase("batch", Flat(20, 1000));
        _run.Sizes(1, sizes => sizes with { Shards = [.. documents.Select((count, i) => new ShardSize($"s{i}", count, 0, 0, 0, 0))] });
        IReadOnlyList<Finding> found = RunFindings.Of(_run.End());
        Assert.Equal(text is null ? [] : [(FindingIds.ShardImbalance, text)], found.Select(finding => (finding.Id, finding.Text)));
    }

    /// <summary>
    /// Found for q6 on three shards, each of which reads what is skipped and returned: "the index does not cover the whole filter".
    /// </summary>
    [Theory]
    [InlineData(600, false)]
    [InlineData(1685, false)]
    [InlineData(3400, true)]
    public void Shards_that_each_go_through_what_is_skipped_waste_nothing(long examined, bool isFound)
    {
        _run.Phase("q6", Flat(20, 1000), ofResult: result => result with
        {
            Plan = new PlanSummary
            {
                Index = "Date_-1", Stages = "SHARD_MERGE_SORT > FETCH > IXSCAN", Returned = 10, KeysExamined = examined,
                DocumentsExamined = examined, Shards = 3, Necessary = 330,
            },
        });
        Assert.Equal(isFound, RunFindings.Of(_run.End()).Any(finding => finding.Id == FindingIds.PlanExamines));
    }

    [Fact]
    public void An_index_that_still_examines_a_thousand_documents_for_ten_is_found()
    {
        _run.Phase("q6", Flat(20, 1000), ofResult: result => result with
        {
            Plan = new PlanSummary
            {
                Index = "Number_1", Stages = "SORT > FETCH > IXSCAN", Returned = 10, KeysExamined = 1000, DocumentsExamined = 1000,
            },
        });
        Finding found = Single(FindingIds.PlanExamines);
        Assert.Equal("q6 examines 1,000 documents to return 10 though it uses index Number_1, and sorts in memory", found.Text);
    }

    /// <summary>It was said that _id_ does not cover the filter, of the 12,000 documents that a $lookup examined.</summary>
    [Fact]
    public void An_index_by_which_another_stage_examines_too_much_is_named_with_that_stage()
    {
        _run.Phase("orders", Flat(20, 1000), ofResult: result => result with
        {
            Plan = new PlanSummary
            {
                Index = "_id_", Stages = "$lookup > IDHACK", Returned = 1, KeysExamined = 12_001, DocumentsExamined = 12_001,
                DocumentsExaminedPerOperation = 12_001, KeysExaminedPerOperation = 12_001,
                Sources =
                [
                    new PlanSource("orders", 1) { Index = "_id_", KeysExamined = 1, DocumentsExamined = 1 },
                    new PlanSource("customers", 1, "$lookup") { Index = "city_1", KeysExamined = 12_000, DocumentsExamined = 12_000 },
                ],
            },
        });
        Finding found = Single(FindingIds.PlanExamines);
        Assert.Equal(
            "orders's $lookup examines 12,000 documents of customers for 1 that came in though it uses index city_1", found.Text);
        Assert.Equal("the index does not cover all that it matches", found.Cause);
    }

    [Theory]
    [InlineData(new double[] { 1000, 4000, 5000, 3500 }, true)]
    [InlineData(new double[] { 1000, 3000, 4900, 5000 }, false)]
    [InlineData(new double[] { 1000, 4000, 5000, 4900 }, false)]
    public void A_rate_that_falls_beyond_some_number_of_threads_has_a_peak(double[] rates, bool isPeak)
    {
        for (int i = 0; i < rates.Length; i++)
        {
            int threads = 1 << (2 * i);
            _run.Phase("read", Flat(15, rates[i]), phase => phase with { Parameters = [new ParameterValue("threads", $"{threads}")] },
                result => result with { Threads = threads });
        }

        IReadOnlyList<Finding> found = _run.Findings();
        Assert.Equal(isPeak ? [FindingIds.ThreadPeak] : [], found.Select(finding => finding.Id));
        if (isPeak)
            Assert.Matches("^read's rate peaks at 16 threads \\([0-9,]+/s\\) and falls to [0-9,]+/s at 64$", found[0].Text);
    }

    [Fact]
    public void A_rate_that_follows_cache_misses_is_found()
    {
        double read = 0;
        double[] misses = [.. Enumerable.Range(0, 90).Select(i => 4000 * Math.Exp(Math.Sin(i / 7.0) + (0.3 * Math.Sin(i * 1.7))))];
        double[] rates = [.. misses.Select(bytes => 1e6 / (300 + (bytes / 10)))];
        double[] sums = [.. misses.Zip(rates, (bytes, rate) => read += bytes * rate)];
        _run.Phase("q4", rates, noise: false);
        _run.Server(0, 90, second =>
        [
            ("cache_read", second == 0 ? 0 : sums[second - 1]),
            ("cache_max", 1e9),
            ("tickets_read_available", 128),
            ("tickets_write_available", 128),
            ("connections_available", 1000),
            ("uptime", second),
        ]);
        Finding found = Assert.Single(Find(FindingIds.RateFollowsCache));
        Assert.True(found.Rate!.Ratio < 0.8);
    }

    [Fact]
    public void Reads_at_a_steady_pace_do_not_make_a_rate_follow_them()
    {
        double[] rates = [.. Enumerable.Range(0, 90).Select(i => 1000 * Math.Exp(0.3 * Math.Sin(i / 7.0)))];
        _run.Phase("q4", rates, noise: false);
        _run.Server(0, 90, second =>
        [
            ("cache_read", 5e6 * second), ("cache_max", 1e9), ("tickets_read_available", 128), ("tickets_write_available", 128),
            ("connections_available", 1000), ("uptime", second),
        ]);
        Assert.Empty(Find(FindingIds.RateFollowsCache));
    }

    [Fact]
    public void A_disk_that_the_server_keeps_busy_is_the_limit()
    {
        _run.Phase("q4", Flat(30, 1000));
        _run.Server(0, 31, second =>
        [
            ("block_read", 50e6 * second), ("tickets_read_available", 128), ("tickets_write_available", 128), ("cache_max", 1e9),
            ("connections_available", 1000), ("uptime", second),
        ]);
        _run.Host(0, 31, second => [("disk_busy", 980.0 * second), ("disk_read", 51e6 * second), ("cpu_idle", 8e6 * second)]);
        Finding found = Assert.Single(Find(FindingIds.DiskLimit));
        Assert.Equal("the disk was 98 % busy throughout q4: it read 51 MB/s and wrote 0 B/s", found.Text);
    }

    [Fact]
    public void Connections_that_run_out_are_found()
    {
        _run.Phase("q4", Flat(30, 1000));
        _run.Server(0, 31, second =>
        [
            ("connections_current", 812), ("connections_available", 7), ("tickets_read_available", 128), ("tickets_write_available", 128),
            ("cache_max", 1e9), ("uptime", second),
        ]);
        Assert.Equal("fewer than 5 % of the server's connections were free in q4", Single(FindingIds.ConnectionsRunOut).Text);
    }

    [Fact]
    public void A_p99_of_85_operations_is_called_too_little()
    {
        _run.Phase("q6", Flat(17, 5), ofResult: result => result with { Operations = 85 });
        Assert.Equal("q6: too few operations for a reliable p99 (only 85)", Single(FindingIds.FewSamples).Text);
    }

    [Fact]
    public void More_than_three_operations_with_too_few_are_counted_and_named_below()
    {
        foreach ((string name, int operations) in new[] { ("new order", 16), ("payment", 85), ("delivery", 40), ("stock level", 17) })
            _run.Phase(name, Flat(17, 5), ofResult: result => result with { Operations = operations });
        Finding found = Single(FindingIds.FewSamples);
        Assert.Equal(
            "4 different operations: too few operations for a reliable p99 in all 4 measurements (as few as 16)", found.Text);
        Assert.Equal(["new order", "payment", "delivery", "stock level"], found.Operations);
        Assert.Equal("fewest operations: new order 16, payment 85, delivery 40, stock level 17", found.Evidence[0].Text);
    }

    [Fact]
    public void Operations_that_found_no_server_are_an_outage_and_workers_that_report_it_are_counted_once()
    {
        _run.Phase("q4", Flat(40, 1000));
        _run.Store.AddEvent(new RunEvent(
            ScriptedRun.At(23.2), "outage", "not primary (code 10107); answered again after 3.20 s, 4 failed", 3.2));
        _run.Store.AddEvent(new RunEvent(
            ScriptedRun.At(23.4), "outage", "not primary (code 10107); answered again after 3.30 s, 2 failed", 3.3));
        Finding found = Single(FindingIds.Outage);
        Assert.StartsWith("operations found no server for 3.3 s at 20.1 s: not primary", found.Text, StringComparison.Ordinal);
        Assert.Equal("q4", Assert.Single(found.Operations));
    }

    /// <summary>Found on three shards: "for up to 21.9 s (shard s0: … no primary for 1.6 s)", which were another shard's.</summary>
    [Fact]
    public void The_length_of_an_outage_is_that_of_the_shard_that_is_named()
    {
        _run.Phase("q4", Flat(40, 1000));
        _run.Store.AddEvent(new RunEvent(ScriptedRun.At(29), "outage", "shard s2 did not answer and was back after 9.0 s", 9));
        _run.Store.AddEvent(new RunEvent(ScriptedRun.At(30.5), "outage", "shard s0: primary a → b, no primary for 1.6 s", 1.6));
        Finding found = Single(FindingIds.Outage);
        Assert.Equal("operations found no server for 9 s at 20 s: shard s2 did not answer and was back after 9.0 s", found.Text);
    }

    [Theory]
    [InlineData(200, 4000, 0.3, true)]
    [InlineData(200, 4000, 0.02, false)]
    [InlineData(200, 320, 0.3, false)]
    public void Latencies_with_two_peaks_are_told_from_a_tail(double fast, double slow, double share, bool isFound)
    {
        var random = new RandomStream(5);
        var histogram = new LatencyHistogram();
        for (int i = 0; i < 20_000; i++)
        {
            double normal = Math.Sqrt(-2 * Math.Log(1 - random.NextDouble())) * Math.Cos(2 * Math.PI * random.NextDouble());
            histogram.Record((random.NextDouble() < share ? slow : fast) * Math.Exp(0.25 * normal));
        }

        TwoPeaks? peaks = TwoPeaks.Find(histogram);
        Assert.Equal(isFound, peaks is not null);
        if (peaks is null)
            return;
        Assert.InRange(peaks.Fast, 150, 260);
        Assert.InRange(peaks.Slow, 3000, 5200);
        Assert.Equal(share, peaks.SlowShare, 0.02);
        Assert.True(peaks.IsIn(histogram));
    }

    [Fact]
    public void A_long_tail_has_one_peak()
    {
        var random = new RandomStream(6);
        for (int run = 0; run < 100; run++)
        {
            var histogram = new LatencyHistogram();
            for (int i = 0; i < 2000; i++)
                histogram.Record(100 / Math.Pow(1 - random.NextDouble(), 0.7));
            Assert.Null(TwoPeaks.Find(histogram));
        }
    }

    [Fact]
    public void A_client_that_stood_still_is_no_new_attempt_and_its_seconds_are_kept()
    {
        Sample before = RunParts.Sample(10);
        Assert.True((RunParts.Sample(15) with { Seconds = 5 }).Continues(before));
        Assert.False(RunParts.Sample(15).Continues(before));
        Assert.False((RunParts.Sample(11) with { IsWarmup = true }).Continues(before));
    }

    private static ChunkEvent Migration(int from, int to) => new()
    {
        Id = $"{from}", Kind = ChunkEventKind.Migration, AtMilliseconds = ScriptedRun.At(from), EndMilliseconds = ScriptedRun.At(to),
        From = "a", To = "b", Outcome = ChunkEventOutcome.Done,
    };

    private static double[] Flat(int seconds, double rate) => [.. Enumerable.Repeat(rate, seconds)];

    private IEnumerable<Finding> Find(string id) => _run.Findings().Where(finding => finding.Id == id);

    private Finding Single(string id)
    {
        Finding found = Assert.Single(_run.Findings());
        Assert.Equal(id, found.Id);
        return found;
    }
}
