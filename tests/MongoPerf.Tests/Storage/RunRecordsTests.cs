using System.Text.Json;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Storage;

/// <summary>What records tell besides what is stored of them: sums, limits, names.</summary>
public sealed class RunRecordsTests
{
    [Fact]
    public void A_group_tells_how_evenly_its_threads_shared_the_work()
    {
        GroupShare share = GroupShare.Of("g", 2.5, [4, 1, 7, 8], Accounting.None);
        Assert.Equal(("g", 4, 2.5, 20L, 1L, 8L), (share.Name, share.Threads, share.Seconds, share.Operations, share.Least, share.Most));
        Assert.Equal(5, share.Mean);
        // Squares of -1, -4, 2 and 3, over 4 - 1.
        Assert.Equal(Math.Sqrt(10), share.Deviation, 12);
        Assert.Equal(0, GroupShare.Of("", 1, [6], Accounting.None).Deviation);
        Assert.Equal(0, (share with { Threads = 0, Operations = 0 }).Mean);
        Assert.Equal(Math.Sqrt(2), GroupShare.Of("", 1, [1, 3], Accounting.None).Deviation, 12);
    }

    [Fact]
    public void Of_each_collection_a_step_has_the_last_sizes()
    {
        PhaseRecord[] phases =
        [
            RunParts.Grown(1, "a", 1, 10) with { Sizes = [Sizes("a", 1), Sizes("b", 2)] },
            RunParts.Grown(2, "b", 1, 10) with { Sizes = [Sizes("a", 3)] },
        ];
        GrowthStep step = Assert.Single(GrowthStep.Of(phases));
        Assert.Equal([("a", 3L), ("b", 2L)], step.Sizes.Select(one => (one.Collection, one.Documents)));
    }

    [Theory]
    [InlineData(false, 400, 400)]
    [InlineData(false, 5000, 1000)]
    [InlineData(false, 0, 1000)]
    [InlineData(true, 400, 1000)]
    public void A_step_is_as_large_as_what_was_written_where_that_was_interrupted(bool isComplete, long written, long documents)
    {
        PhaseRecord write = RunParts.Grown(1, "load", 2, 1000, RunParts.Result("batch")) with
        {
            IsComplete = isComplete, Documents = written,
        };
        GrowthStep step = Assert.Single(GrowthStep.Of([RunParts.Phase(9, "apart"), write, RunParts.Grown(2, "q4", 2, 900)]));
        Assert.Equal(("series", 2, documents, 2), (step.Growth, step.Step, step.Documents, step.Phases.Count));
    }

    [Fact]
    public void A_total_adds_up_what_is_counted_and_takes_the_most_of_what_each_counts_of_the_whole_process()
    {
        OperationResult first = RunParts.Result("read", 2, 100) with
        {
            ClientCpuCores = 0.25, Seconds = 4, WarmupSeconds = 1, ClientAllocatedBytesPerOperation = 10, Batch = 5, ShortReplies = 1,
            Failed = 2, Repaired = 3, Verified = 4, Wrong = 5, Documents = 600,
        };
        OperationResult second = RunParts.Result("unack", 2, 300) with
        {
            ClientCpuCores = 0.75, Seconds = 3, WarmupSeconds = 2, ClientAllocatedBytesPerOperation = 30, Batch = 7, ShortReplies = 10,
            Failed = 20, Repaired = 30, Verified = 40, Wrong = 50, Documents = 300, InFlightAtEnd = new OperationsInFlight(2, 5),
        };
        OperationResult total = Total([first, second]);
        Assert.Equal((false, false, 1), (total.IsInsert, total.IsUnacknowledged, total.Batch));
        Assert.Equal((400L, 900L), (total.Operations, total.Documents));
        Assert.Equal((22L, 11L, 33L, 44L, 55L), (total.Failed, total.ShortReplies, total.Repaired, total.Verified, total.Wrong));
        Assert.Equal((0.75, 4, 2), (total.ClientCpuCores, total.Seconds, total.WarmupSeconds));
        // 0.75 cores for 3 seconds over 400 operations.
        Assert.Equal(0.75 * 3 * 1e6 / 400, total.ClientCpuMicrosecondsPerOperation);
        Assert.Equal(((100 * 10) + (300 * 30)) / 400.0, total.ClientAllocatedBytesPerOperation);
        Assert.Equal(first.OperationsPerSecond + second.OperationsPerSecond, total.OperationsPerSecond);
        Assert.Equal(first.MegabytesPerSecond + second.MegabytesPerSecond, total.MegabytesPerSecond);
        Assert.Equal(new Accounting(400, 400, 0, 0), total.Accounting);
        Assert.Equal((null, new OperationsInFlight(2, 5)), (total.InFlightAtStart, total.InFlightAtEnd));

        OperationResult alike = Total([second, second with { Operation = "other" }]);
        Assert.Equal((true, true, 7), (alike.IsInsert, alike.IsUnacknowledged, alike.Batch));
        Assert.Null(Total([first, second with { ClientAllocatedBytesPerOperation = null }]).ClientAllocatedBytesPerOperation);
        OperationResult none = Total([first with { Operations = 0 }, second with { Operations = 0 }]);
        Assert.Equal((0, 0.0), (none.ClientCpuMicrosecondsPerOperation, none.ClientAllocatedBytesPerOperation));
    }

    [Fact]
    public void A_phase_of_several_groups_has_a_total_of_each_that_chose_and_one_of_all()
    {
        PhaseRecord record = PhaseTotals.AddTo(RunParts.Phase(
            1, "p", RunParts.Result("a", 2, 10), RunParts.Result("b", 2, 30), RunParts.Result("c", 3, 5),
            RunParts.Result("watch", 4, 1) with { Changes = new ChangeResult(1, 0, 0, 0, 0, 0, 0) }) with
        {
            Groups =
            [
                GroupShare.Of("mixed", 1, [20, 20], Accounting.None) with { Mix = ["a", "b"] },
                GroupShare.Of("single", 1, [1, 2, 2], Accounting.None), GroupShare.Of("watchers", 1, [1, 0, 0, 0], Accounting.None),
            ],
        });
        OperationMix mix = Assert.Single(record.Mixes);
        Assert.Equal(("mixed total", 2, 40L), (mix.Total.Operation, mix.Total.Threads, mix.Total.Operations));
        Assert.Equal(("total", 5, 45L), (record.Total!.Operation, record.Total.Threads, record.Total.Operations));
        Assert.Equal(["mixed total", "total"], record.Totals.Select(total => total.Operation));
        Assert.Equal(["c", "watch", "mixed total"], record.Independent.Select(one => one.Operation));
        Assert.Null(PhaseTotals.AddTo(RunParts.Phase(1, "p", RunParts.Result("a"))).Total);
    }

    [Theory]
    [InlineData(null, 100L)]
    [InlineData(1, 100L)]
    [InlineData(3, 300L)]
    public void The_cache_of_a_cluster_is_that_of_all_its_shards(int? shards, long all)
    {
        Assert.Equal(all, (RunParts.Deployment() with { CacheBytes = 100, ShardCount = shards }).AllCacheBytes);
        Assert.Null((RunParts.Deployment() with { CacheBytes = null, ShardCount = shards }).AllCacheBytes);
    }

    [Theory]
    [InlineData("127.0.0.1:27017", true)]
    [InlineData("127.5.0.1:1", true)]
    [InlineData("localhost:27017", true)]
    [InlineData("[::1]:27017", true)]
    [InlineData("/tmp/mongodb-27017.sock", true)]
    [InlineData("10.0.0.1:27017", false)]
    [InlineData("128.0.0.1:27017", false)]
    [InlineData("db.example.com:27017", false)]
    [InlineData("[fe80::1]:27017", false)]
    public void An_address_of_this_machine_may_be_a_server_here_where_its_process_is_not_known(string address, bool mayBe)
    {
        DeploymentInfo deployment = RunParts.Deployment() with { Address = address, ProcessId = null };
        Assert.Equal(mayBe, deployment.MayBeHere);
        Assert.False((deployment with { ProcessId = 1 }).MayBeHere);
    }

    [Theory]
    [InlineData("8.0.4-rc1", "8.0")]
    [InlineData("6.0", "6.0")]
    [InlineData("6", null)]
    [InlineData("unknown", null)]
    [InlineData("a.b.c", null)]
    public void A_release_is_the_first_two_numbers_of_a_version(string version, string? release)
    {
        Assert.Equal(release, DeploymentInfo.ReleaseOf(version)?.ToString());
        Assert.Equal(release, (RunParts.Deployment() with { ServerVersion = version }).Release?.ToString());
        Assert.Null((RunParts.Deployment() with { ServerVersion = version, StandIn = "FerretDB 2.1.0" }).Release);
    }

    [Theory]
    [InlineData(95, 5, false, 0)]
    [InlineData(94, 6, false, null)]
    [InlineData(95, 4, false, null)]
    [InlineData(5, 95, false, 1)]
    [InlineData(100, 0, true, null)]
    public void A_shard_with_95_of_100_documents_has_nearly_all(long first, long second, bool isPlaced, int? expected)
    {
        ShardPart[] parts = [new("a", first, 1), new("b", second, 2)];
        var sharding = new CollectionSharding("c", isPlaced, parts);
        Assert.Equal(expected is { } index ? parts[index] : null, sharding.NearlyOnly);
        Assert.Equal(3, sharding.Chunks);
        Assert.Null((sharding with { Parts = [parts[0]] }).NearlyOnly);
        Assert.Null((sharding with { Parts = [parts[0], parts[1] with { Documents = null, Chunks = null }] }).NearlyOnly);
        Assert.Null((sharding with { Parts = [parts[0], parts[1] with { Chunks = null }] }).Chunks);
        Assert.Null((sharding with { Parts = [] }).Chunks);
    }

    [Fact]
    public void Names_of_what_is_counted_beside_operations_begin_with_the_group_that_has_one()
    {
        Assert.Equal("wait", OperationResult.NameOf(ConnectionKind.Pool, ""));
        Assert.Equal("g wait", OperationResult.NameOf(ConnectionKind.Pool, "g"));
        Assert.Equal("connect", OperationResult.NameOf(ConnectionKind.Churn, ""));
        Assert.Equal("g connect", OperationResult.NameOf(ConnectionKind.Storm, "g"));
        Assert.Equal("g total", OperationResult.TotalOf("g"));
        Assert.Equal(("operation", "step"), StepResult.Parse(StepResult.KeyOf("operation", "step")));
        Assert.True(StepResult.IsKey(ReplayResult.KeyOf("find")));
        Assert.False(StepResult.IsKey("find"));
    }

    [Fact]
    public void What_several_clients_or_results_counted_is_added_up()
    {
        Assert.Equal(new OperationsInFlight(11, 7), OperationsInFlight.Sum([new(1, 7), null, new(10, 3)]));
        Assert.Null(OperationsInFlight.Sum([null]));
        Assert.Equal(
            new ChangeResult(11, 22, 33, 44, 55, 66, 77),
            ChangeResult.Sum([new(1, 2, 3, 4, 5, 6, 7), null, new(10, 20, 30, 40, 50, 60, 70)]));
        Assert.Null(ChangeResult.Sum([]));
        TransactionResult one = new(1, 2, 3, 4, 5, 0.5) { RolledBack = 6, Seconds = 1 };
        TransactionResult other = new(10, 20, 30, 40, 50, 1.5) { RolledBack = 60, Seconds = 2 };
        Assert.Equal(
            new TransactionResult(11, 22, 33, 44, 55, 2) { RolledBack = 66, Seconds = 3 }, TransactionResult.Sum([one, null, other]));
        Assert.Null(TransactionResult.Sum([one, other with { Seconds = null }])!.Seconds);
        Assert.Null(TransactionResult.Sum([null]));
        Assert.Equal(new Accounting(11, 22, 33, 44), new Accounting(1, 2, 3, 4).Plus(new Accounting(10, 20, 30, 40)));

        ReplayResult replay = ReplayResult.Sum(
            [
                null, new ReplayResult(1, 2, 3, 4) { Contents = 5, FirstCount = new ReplayPair(7, 8) },
                new ReplayResult(10, 20, 30, 40) { Contents = 50, FirstCode = new ReplayPair(0, 11), FirstCount = new ReplayPair(1, 2) },
                new ReplayResult(0, 0, 0, 0) { FirstCode = new ReplayPair(3, 4), FirstSize = new ReplayPair(5, 6) },
                new ReplayResult(0, 0, 0, 0) { FirstSize = new ReplayPair(7, 9), Modified = 6, FirstModified = new ReplayPair(2, 1) },
            ],
            LatencySummary.None)!;
        Assert.Equal(
            new ReplayResult(11, 22, 33, 44)
            {
                Contents = 55, FirstCode = new ReplayPair(0, 11), FirstCount = new ReplayPair(7, 8), FirstSize = new ReplayPair(5, 6),
                Modified = 6, FirstModified = new ReplayPair(2, 1),
            },
            replay);
        Assert.Equal(105, replay.Different);
        Assert.Null(ReplayResult.Sum([null], RunParts.Latency(1)));
        Assert.Equal(RunParts.Latency(1), ReplayResult.Sum([replay], RunParts.Latency(1))!.RecordedMicroseconds);
    }

    [Fact]
    public void Connections_of_several_clients_that_opened_at_the_same_time_are_added_up_time_by_time()
    {
        ConnectionResult sum = ConnectionResult.Sum(
        [
            new ConnectionResult(ConnectionKind.Storm, 3)
            {
                Storms = [new(0.5, 3, 2) { Seconds = 4 }, new(9, 3, 3) { Seconds = 1 }],
            },
            null,
            new ConnectionResult(ConnectionKind.Storm, 5) { Storms = [new(0.25, 5, 5) { Seconds = 6 }, new(8, 5, 1), new(20, 1, 1)] },
        ])!;
        Assert.Equal((ConnectionKind.Storm, 8), (sum.Kind, sum.Count));
        Assert.Equal([new(0.25, 8, 7) { Seconds = 6 }, new(8, 8, 4), new(20, 1, 1)], sum.Storms);
        Assert.Null(ConnectionResult.Sum([null]));
    }

    [Theory]
    [InlineData(0, 0, 0, false)]
    [InlineData(1, 0, 0, true)]
    [InlineData(0, 1, 0, true)]
    [InlineData(0, 0, 1, true)]
    [InlineData(1, 1, 1, true)]
    public void A_missing_a_repeated_or_a_late_event_is_a_fault(long missing, long duplicated, long misordered, bool isFault) =>
        Assert.Equal(isFault, new ChangeResult(9, 9, missing, duplicated, misordered, 9, 9).HasFault);

    [Fact]
    public void A_client_that_is_cheaper_adds_nothing()
    {
        OperationCost cost = Calibrations.Of().Costs[0] with { Microseconds = 5, CpuMicroseconds = 6, AllocatedBytes = 7 };
        OperationCost dearer = cost with { Microseconds = 15, CpuMicroseconds = 26, AllocatedBytes = 37 };
        Assert.Equal(new AddedCost(10, 20, 30), AddedCost.Between(cost, dearer));
        Assert.Equal(new AddedCost(0, 0, 0), AddedCost.Between(dearer, cost));
    }

    [Theory]
    [InlineData("min", "min", LatencySpan.Reported, null, true)]
    [InlineData("p50", "p50", LatencySpan.Reported, 50.0, true)]
    [InlineData("p75", "p75", LatencySpan.Reported, 75.0, false)]
    [InlineData("serviceP99", "p99", LatencySpan.Service, 99.0, true)]
    [InlineData("latenessP9999", "p9999", LatencySpan.Lateness, 99.99, false)]
    public void A_latency_has_a_figure_whatever_it_is_of(string name, string figure, LatencySpan span, double? percent, bool isStored)
    {
        LatencyMetric metric = LatencyMetric.Find(name)!;
        Assert.Equal((figure, span, percent, isStored), (metric.Figure, metric.Span, metric.Percent, metric.IsStored));
    }

    [Theory]
    [InlineData("P50")]
    [InlineData("servicep50")]
    [InlineData("serviceMax")]
    [InlineData("service")]
    [InlineData("p")]
    [InlineData("")]
    public void What_is_no_figure_of_latencies_is_not_found(string name) => Assert.Null(LatencyMetric.Find(name));

    [Fact]
    public void Percentiles_of_service_time_may_stand_where_not_only_what_counts_may()
    {
        Assert.Equal(
            [(true, true), (true, false), (true, false), (false, false), (false, false)],
            ((string[])["p75", "serviceP75", "latenessP5", "max", "x"]).Select(name => (
                LatencyMetric.AllowedWith(["max"]).IsOther!(name), LatencyMetric.AllowedWith(["max"], onlyReported: true).IsOther!(name))));
    }

    [Fact]
    public void A_percentile_of_several_operations_is_of_the_times_that_it_names()
    {
        OperationLatency[] paced = [Latency(10, 20, 5), Latency(10, 20, 5)];
        Assert.Equal(20, Of("p75", paced), 0.1);
        Assert.Equal(10, Of("serviceP75", paced), 0.1);
        Assert.Equal(5, Of("latenessP75", paced), 0.1);
        OperationLatency[] closed = [Latency(10, null, null), Latency(30, null, null)];
        Assert.Equal(30, Of("p75", closed), 0.1);
        Assert.Equal(20, Of("mean", closed), 0.1);
        Assert.Null(LatencyMetric.Find("latenessP75")!.Of([paced[0], closed[0]]));

        static double Of(string name, OperationLatency[] all) => LatencyMetric.Find(name)!.Of(all)!.Value;
    }

    [Fact]
    public void A_metric_that_is_not_there_is_named()
    {
        Assert.Equal(2, MetricCatalogue.IndexOf(MetricCatalogue.Host, MetricCatalogue.Host[2].Name));
        ArgumentException e = Assert.Throws<ArgumentException>(() => MetricCatalogue.IndexOf(MetricCatalogue.Host, "none"));
        Assert.StartsWith("no metric is named 'none'", e.Message);
    }

    [Fact]
    public void What_runs_must_be_alike_in_has_a_name_each()
    {
        var overrides = new PlanOverrides
        {
            Threads = [1], Records = 2, Operations = 3, Duration = 4, Warmup = 5, Until = "6", Rates = [7], Step = 8, Existing = "9",
            Filter = "10",
        };
        Assert.Equal(
            """
            {"threads":[1],"records":2,"operations":3,"duration":4,"warm-up":5,"until":"6","rate":[7],"step":8,"existing collection":"9",
            "filter":"10"}
            """.ReplaceLineEndings(""),
            JsonSerializer.Serialize(overrides.Compared.ToDictionary(one => one.Name, one => one.Value)));
    }

    [Fact]
    public void A_replay_is_sound_up_to_its_limits_and_not_beyond()
    {
        var settings = new ReplaySettings();
        Assert.All(
            (ReplaySettings[])
            [
                settings, settings with { Threads = 1 }, settings with { Threads = 100_000 }, settings with { Loops = 1000 },
                settings with { Copies = 1000 }, settings with { Speed = 0.001 }, settings with { Speed = 1000 },
                settings with { Rate = 0.5 },
            ],
            one => Assert.True(one.IsSound, one.ToString()));
        Assert.All(
            (ReplaySettings[])
            [
                settings with { Threads = 0 }, settings with { Threads = 100_001 }, settings with { Loops = 0 },
                settings with { Loops = 1001 }, settings with { Copies = 0 }, settings with { Copies = 1001 },
                settings with { Speed = 0.0009 }, settings with { Speed = 1001 }, settings with { Speed = double.NegativeInfinity },
                settings with { Rate = 0 }, settings with { Rate = double.NaN },
            ],
            one => Assert.False(one.IsSound, one.ToString()));
    }

    [Fact]
    public void Topologies_and_deployments_have_texts_for_people()
    {
        Assert.Equal(["standalone", "replica set", "sharded", "embedded", "null", "Tokyo Tyrant"],
            Enum.GetValues<Topology>().Select(topology => topology.Text()));
        Assert.Equal(
            [
                ("a given server", true), ("a given cluster", true), ("Tokyo Tyrant", true), ("mongod", false), ("a cluster", false),
                ("the embedded server", false), ("the null deployment", false), ("a replica set", false),
            ],
            Enum.GetValues<DeploymentKind>().Select(kind => (kind.Text(), kind.IsGiven())));
        DeploymentInfo set = RunParts.Deployment() with { Topology = Topology.ReplicaSet, Members = 3 };
        Assert.Equal("replica set of 3", set.ShapeText);
        Assert.Equal("sharded over TLS with logins with zstd compression",
            (set with { Topology = Topology.Sharded, Tls = true, Auth = true, Compressor = "zstd" }).ShapeText);
        Assert.Equal("standalone", (set with { Topology = Topology.Standalone, Tls = false, Auth = false }).ShapeText);
    }

    [Fact]
    public void Settings_are_read_from_the_text_that_they_are_written_as()
    {
        string text = RunParts.Settings().ToJson();
        Assert.Equal(text, RunSettings.FromJson(text).ToJson());
        Assert.Contains("\"targetDocuments\":1000000", text, StringComparison.Ordinal);
        Assert.Throws<JsonException>(() => RunSettings.FromJson("{}"));
    }

    private static SizeResult Sizes(string collection, long documents) => RunParts.Sizes(documents) with { Collection = collection };

    private static OperationResult Total(OperationResult[] results) => PhaseTotals.AddTo(RunParts.Phase(1, "p", results)).Total!;

    private static OperationLatency Latency(double service, double? response, double? lateness) =>
        new(IsUnacknowledged: false, Recorded(service)!, Recorded(response), Recorded(lateness));

    private static LatencyHistogram? Recorded(double? microseconds)
    {
        if (microseconds is not { } value)
            return null;
        var histogram = new LatencyHistogram();
        histogram.Record(value);
        return histogram;
    }
}
