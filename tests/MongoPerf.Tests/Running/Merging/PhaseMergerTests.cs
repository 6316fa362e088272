using MongoPerf.Measurement;
using MongoPerf.Running.Merging;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Running.Merging;

/// <summary>Three clients' records of a phase become one: what each figure of it comes to.</summary>
public sealed class PhaseMergerTests
{
    private static readonly string[] Clients = ["anna", "bert", "cleo"];

    /// <summary>No figure of a client is forgotten, added to another, or counted twice, of any kind.</summary>
    [Fact]
    public void Every_figure_of_an_operation_comes_to_its_sum_its_greatest_or_its_mean()
    {
        OperationResult[] parts = [.. Enumerable.Range(0, 3).Select(Part)];
        Filled.Require(parts, [nameof(OperationResult.Clients)],
            [nameof(OperationResult.Operation), nameof(OperationResult.Collection), nameof(OperationResult.Batch),
                nameof(OperationResult.ServerCounter),
                nameof(OperationResult.IsInsert), nameof(OperationResult.IsUnacknowledged), nameof(OperationResult.IsArrivalUnknown),
                nameof(OperationResult.Course)]);
        OperationResult merged = Assert.Single(Merge(parts).Operations);
        LatencySummary none = LatencySummary.None;
        var expected = new OperationResult
        {
            Operation = "q4", Collection = "orders",
            IsInsert = true, IsUnacknowledged = true, IsArrivalUnknown = true, ServerCounter = "query", Batch = 7,
            Course = [new CoursePiece(1, 2, 3)],
            Threads = 1 + 2 + 4, Operations = 600, Documents = 6000, Failed = 60, ShortReplies = 12, Repaired = 18, Verified = 24,
            Wrong = 30,
            Effect = new EffectResult(6, 12, 18),
            InFlightAtStart = new OperationsInFlight(6, 30), InFlightAtEnd = new OperationsInFlight(12, 60),
            WarmupSeconds = 4, Seconds = 8,
            Unacknowledged = new UnacknowledgedResult(60, 54, 6, 0.75),
            // 10/s over 4 s, 40/s over 8 s and 50/s over 6 s are 660 in the 8 s of the longest.
            OperationsPerSecond = 82.5, DocumentsPerSecond = 825, MegabytesPerSecond = 8.25, ClientCpuCores = 0.825,
            // Of 100, 200 and 300 operations.
            ClientCpuMicrosecondsPerOperation = ((100 * 30.0) + (200 * 60) + (300 * 90)) / 600,
            ClientAllocatedBytesPerOperation = ((100 * 5.0) + (200 * 10) + (300 * 15)) / 600,
            LatencyMicroseconds = LatencySummaries.From(Of(10, 20)),
            ResponseMicroseconds = LatencySummaries.From(Of(30)),
            LatenessMicroseconds = LatencySummaries.From(Of(40)),
            ClientLatenessMicroseconds = RunParts.Latency(3),
            Plan = new PlanSummary { Stages = "anna" },
            Accounting = new Accounting(666, 600, 60, 6),
            // The busiest first.
            Members = [new MemberShare("m:2", 740), new MemberShare("m:1", 660)],
            Steps = [new StepResult("read", 6, 60, LatencySummaries.From(Of(50))) { Effect = new EffectResult(6, null, 12) }],
            Transactions = new TransactionResult(6, 12, 18, 24, 30, 3) { RolledBack = 36, Seconds = 1.5 },
            Changes = new ChangeResult(6, 12, 18, 24, 30, 36, 42),
            Replay = new ReplayResult(6, 12, 18, 24)
            {
                Contents = 30, RecordedMicroseconds = LatencySummaries.From(Of(60)), FirstCode = new ReplayPair(1, 2),
                FirstCount = new ReplayPair(3, 4), FirstSize = new ReplayPair(5, 6),
            },
            Connections = new ConnectionResult(ConnectionKind.Storm, 60)
            {
                Storms = [new StormResult(0.5, 6, 12) { Seconds = 3 }],
            },
            Errors = [new ErrorCount(2, "BadValue", 60, "first", []) { SlowestMicroseconds = 3 }],
            Clients =
            [
                new ClientResult("anna", 100, 100, 400, 1, 0.1), new ClientResult("bert", 200, 400, 800, 2, 0.4),
                new ClientResult("cleo", 300, 500, 1200, 4, 0.5),
            ],
        };
        Assert.Equal(RunJson.Write(expected), RunJson.Write(merged));
        Assert.Equal(none, Assert.Single(Merge(parts, withHistograms: false).Operations).LatencyMicroseconds);
    }

    /// <summary>What one of them did not note can't be told of all, and is not taken for 0.</summary>
    [Fact]
    public void What_is_not_known_of_one_is_not_known_of_all_and_nothing_is_divided_by_nothing()
    {
        OperationResult closed = RunParts.Result("q4", operations: 0) with { Seconds = 0, ClientAllocatedBytesPerOperation = 7 };
        OperationResult merged = Assert.Single(Merge(closed, closed with { ClientAllocatedBytesPerOperation = null }).Operations);
        Assert.Equal((0, 0, 0), (merged.OperationsPerSecond, merged.ClientCpuCores, merged.ClientCpuMicrosecondsPerOperation));
        Assert.Null(merged.ClientAllocatedBytesPerOperation);
        Assert.Null(merged.ResponseMicroseconds);
        Assert.Null(merged.LatenessMicroseconds);
        Assert.Null(merged.ClientLatenessMicroseconds);
        Assert.Null(merged.Unacknowledged);
        Assert.Null(merged.Plan);
        var plan = new PlanSummary { Stages = "IXSCAN" };
        Assert.Same(plan, Assert.Single(Merge(closed, closed with { Plan = plan }).Operations).Plan);
        Assert.Equal(0, Assert.Single(Merge(closed, closed).Operations).ClientAllocatedBytesPerOperation);
    }

    [Fact]
    public void Insertions_are_compared_by_documents_and_reads_by_operations()
    {
        OperationResult read = RunParts.Result("q4") with { OperationsPerSecond = 3, DocumentsPerSecond = 30 };
        Assert.Equal([3, 3], Assert.Single(Merge(read, read).Operations).Clients.Select(client => client.OperationsPerSecond));
        OperationResult insert = read with { IsInsert = true };
        Assert.Equal([30, 30], Assert.Single(Merge(insert, insert).Operations).Clients.Select(client => client.OperationsPerSecond));
    }

    [Fact]
    public void Every_figure_of_a_group_comes_to_that_of_all_its_threads()
    {
        // By the definition, from what each thread did.
        long[][] threads = [[10, 14], [30, 20, 25], [5, 9, 8, 8]];
        GroupShare[] parts =
        [
            .. threads.Select((own, i) => GroupShare.Of("g", 3 - i, own, new Accounting(10 + i, 7, 2, 1 + i)) with
            {
                Waiting = new ClientWaiting(i + 1, 10 - i), OversleptSeconds = 0.5 + i,
                Traffic = new GroupTraffic(1 + i, 10 + i, 100 + i, 1000 + i, 10_000 + i) { Compressor = "zstd" },
                Mix = i switch { 0 => ["a", "b"], 1 => ["b", "c"], _ => ["c", "a"] }, Joint = new JointLatency(RunParts.Latency(i + 1)),
            }),
        ];
        Filled.Require(parts, [], [nameof(GroupShare.Name)]);
        PhaseRecord[] records = [.. parts.Select(part => RunParts.Phase(1, "p",
            RunParts.Result("a"), RunParts.Result("b"), RunParts.Result("c"), RunParts.Result("d")) with { Groups = [part] })];
        GroupShare merged = Assert.Single(Merge(records).Groups);
        GroupShare whole = GroupShare.Of("g", 3, [.. threads.SelectMany(own => own)], new Accounting(33, 21, 6, 6));
        Assert.Equal(whole.Deviation, merged.Deviation, 9);
        var expected = whole with
        {
            Deviation = merged.Deviation, Waiting = new ClientWaiting(6, 10), OversleptSeconds = 4.5,
            Traffic = new GroupTraffic(6, 33, 303, 3003, 30_003) { Compressor = "zstd" }, Mix = ["a", "b", "c"],
            // What else ran beside its mix is not in it.
            Joint = new JointLatency(LatencySummaries.From(Of(1, 2, 3))),
        };
        Assert.Equal(RunJson.Write(expected), RunJson.Write(merged));
    }

    /// <summary>One client may have waited, thought or counted where the others did not come to it.</summary>
    [Fact]
    public void What_one_client_of_a_group_notes_counts_for_all_and_what_none_notes_stays_unknown()
    {
        var bare = GroupShare.Of("g", 1, [4], Accounting.None);
        GroupShare noted = bare with
        {
            Waiting = new ClientWaiting(3, 2), OversleptSeconds = 0.25, Traffic = new GroupTraffic(1, 2, 3, 4, 5),
        };
        GroupShare merged = Assert.Single(Merge(Of(bare), Of(noted)).Groups);
        Assert.Equal((noted.Waiting, noted.OversleptSeconds, noted.Traffic), (merged.Waiting, merged.OversleptSeconds, merged.Traffic));
        merged = Assert.Single(Merge(Of(bare), Of(bare)).Groups);
        Assert.Equal((null, null, null), (merged.Waiting, merged.OversleptSeconds, merged.Traffic));
        Assert.Equal((2, 8, 0), (merged.Threads, merged.Operations, merged.Deviation));

        static PhaseRecord Of(GroupShare group) => RunParts.Phase(1, "p") with { Groups = [group] };
    }

    /// <summary>Groups go by their places: two of one name are two, and a client that came late has none.</summary>
    [Fact]
    public void Groups_of_one_name_stay_apart_and_a_client_without_groups_takes_nothing_from_the_others()
    {
        GroupShare[] groups = [.. new[] { 1, 2 }.Select(of => GroupShare.Of("", 1, [of], Accounting.None))];
        PhaseRecord both = RunParts.Phase(1, "p", RunParts.Result("a"), RunParts.Result("b")) with { Groups = groups };
        PhaseRecord late = RunParts.Phase(1, "p") with { Documents = 9 };
        PhaseRecord merged = Merge(late, both, both);
        Assert.Equal([2L, 4], merged.Groups.Select(group => group.Operations));
        Assert.Equal(LatencySummaries.From(Of(1, 2)), merged.Joint?.Service);
        Assert.Null(Merge(RunParts.Phase(1, "p", RunParts.Result("a"), RunParts.Result("b")) with { Groups = [groups[0]] }).Joint);
    }

    /// <summary>Waiting for a connection is part of what operations take, and a watcher sees the writes of others.</summary>
    [Fact]
    public void Latencies_of_all_operations_leave_out_what_is_no_operation()
    {
        GroupShare group = GroupShare.Of("g", 1, [1], Accounting.None);
        PhaseRecord merged = Merge(RunParts.Phase(1, "p", RunParts.Result("a"), RunParts.Result("b"),
            RunParts.Result("c") with { Connections = new ConnectionResult(ConnectionKind.Pool, 1) },
            RunParts.Result("d") with { Changes = new ChangeResult(1, 0, 0, 0, 0, 0, 0) }) with { Groups = [group, group] });
        Assert.Equal(LatencySummaries.From(Of(1, 2)), merged.Joint?.Service);
    }

    [Fact]
    public void Every_figure_of_a_phase_is_that_of_all_or_of_the_one_that_looked_for_all()
    {
        SizeResult sizes = RunParts.Sizes(5);
        PhaseRecord[] parts = [.. Enumerable.Range(0, 3).Select(i => new PhaseRecord
        {
            Number = 4, Phase = "p", Description = "what it does", Kind = PhaseKind.Load, Growth = new GrowthPoint("g", 1, 10),
            Collection = "c", Lap = 5, Rate = 10 * (i + 1), Parameters = [new ParameterValue("n", "1")],
            Groups = [GroupShare.Of("g", 1, [1], Accounting.None)], Documents = 100 + i, Missing = i == 1 ? 7 : 0,
            NextNumbers = new Dictionary<string, long> { ["c"] = i == 1 ? 50 : 10, [$"d{i}"] = i },
            NotVerified = new StoredMessage(MessageCode.Sentence, "they are changed"), StartedAtMilliseconds = i,
            Clock = new ClientClock("s", i, i), StartSkewMilliseconds = i + 1, StartSkewUncertaintyMilliseconds = i + 1,
            Joint = new JointLatency(RunParts.Latency(1)),
            IsComplete = true, Assertions = [new AssertionResult($"{i}", true)], Operations = [RunParts.Result("a")],
            Sizes = i == 0 ? [] : [sizes with { Documents = i }],
        })];
        Filled.Require(parts, [nameof(PhaseRecord.Missing), nameof(PhaseRecord.StartedAtMilliseconds)],
            [nameof(PhaseRecord.Number), nameof(PhaseRecord.Phase),
            nameof(PhaseRecord.Description), nameof(PhaseRecord.Kind), nameof(PhaseRecord.Growth), nameof(PhaseRecord.Collection),
            nameof(PhaseRecord.Lap), nameof(PhaseRecord.Parameters), nameof(PhaseRecord.Groups), nameof(PhaseRecord.NotVerified),
            nameof(PhaseRecord.Joint), nameof(PhaseRecord.IsComplete)]);
        PhaseRecord merged = Merge(parts);
        // Documents that the first client finds missing are there for all that the others know.
        Assert.Equal((101, 7), (merged.Documents, merged.Missing));
        Assert.Equal(60, merged.Rate);
        Assert.Equal(
            new Dictionary<string, long> { ["c"] = 50, ["d0"] = 0, ["d1"] = 1, ["d2"] = 2 },
            merged.NextNumbers.OrderBy(next => next.Key, StringComparer.Ordinal).ToDictionary());
        Assert.Equal([1], merged.Sizes.Select(size => size.Documents));
        Assert.True(merged.IsComplete);
        Assert.Equal((4, "p", "what it does", PhaseKind.Load, "c", 5L, "they are changed"),
            (merged.Number, merged.Phase, merged.Description, merged.Kind, merged.Collection, merged.Lap, merged.NotVerified?.Text));
        Assert.Null(merged.Joint);
        Assert.Null(Merge(parts[0] with { Rate = null }, parts[1] with { Rate = null }).Rate);
        Assert.Equal(102, Merge(parts[0], parts[2]).Documents);
        Assert.Empty(Merge(parts[0], parts[0]).Sizes);
    }

    /// <summary>A client that did not come to the phase, or not to its end, leaves it incomplete.</summary>
    [Theory]
    [InlineData(true, true, true)]
    [InlineData(true, false, false)]
    [InlineData(false, true, false)]
    [InlineData(false, false, false)]
    [InlineData(true, null, false)]
    [InlineData(null, true, false)]
    public void A_phase_is_complete_when_all_clients_completed_it(bool? first, bool? second, bool isComplete)
    {
        PhaseRecord?[] records = [.. new[] { first, second }
            .Select(one => one is { } own ? RunParts.Phase(1, "p", RunParts.Result("a")) with { IsComplete = own } : null)];
        PhaseRecord merged = Merge(records);
        Assert.Equal(isComplete, merged.IsComplete);
        // Each has its own name, also behind one that is not there.
        Assert.Equal(
            Clients.Take(2).Where((_, i) => records[i] is not null), merged.Operations[0].Clients.Select(client => client.Client));
    }

    private static OperationResult Part(int client)
    {
        int i = client + 1;
        return new OperationResult
        {
            Operation = "q4", Collection = "orders",
            IsInsert = true, IsUnacknowledged = true, IsArrivalUnknown = true, ServerCounter = "query", Batch = 7,
            Course = [new CoursePiece(1, 2, 3)],
            Threads = 1 << client, Operations = 100 * i, Documents = 1000 * i, Failed = 10 * i, ShortReplies = 2 * i,
            Effect = new EffectResult(i, 2 * i, 3 * i),
            InFlightAtStart = new OperationsInFlight(i, client == 1 ? 30 : client), InFlightAtEnd = new OperationsInFlight(2 * i, 20 * i),
            WarmupSeconds = client == 1 ? 4 : 1 + client, Seconds = client switch { 0 => 4, 1 => 8, _ => 6 },
            Unacknowledged = new UnacknowledgedResult(10 * i, 9 * i, i, 0.25 * i),
            OperationsPerSecond = Rate(1), DocumentsPerSecond = Rate(10), MegabytesPerSecond = Rate(0.1), ClientCpuCores = Rate(0.01),
            ClientCpuMicrosecondsPerOperation = 30 * i, ClientAllocatedBytesPerOperation = 5 * i,
            LatencyMicroseconds = RunParts.Latency(50 * i), ResponseMicroseconds = RunParts.Latency(100 * i),
            LatenessMicroseconds = RunParts.Latency(i), ClientLatenessMicroseconds = RunParts.Latency(client == 1 ? 3 : 1 + (client / 2.0)),
            Plan = new PlanSummary { Stages = Clients[client] },
            Repaired = 3 * i, Verified = 4 * i, Wrong = 5 * i, Accounting = new Accounting(111 * i, 100 * i, 10 * i, i),
            Members = [new MemberShare("m:1", 110 * i), new MemberShare("m:2", client == 0 ? 40 : 350)],
            Steps = [new StepResult("read", i, 10 * i, RunParts.Latency(i)) { Effect = new EffectResult(i, null, 2 * i) }],
            Transactions = new TransactionResult(i, 2 * i, 3 * i, 4 * i, 5 * i, 0.5 * i)
            {
                RolledBack = 6 * i, Seconds = 0.25 * i,
            },
            Changes = new ChangeResult(i, 2 * i, 3 * i, 4 * i, 5 * i, 6 * i, 7 * i),
            Replay = new ReplayResult(i, 2 * i, 3 * i, 4 * i)
            {
                Contents = 5 * i, RecordedMicroseconds = RunParts.Latency(i),
                FirstCode = client == 0 ? null : new ReplayPair(client, 2 * client),
                FirstCount = client == 0 ? null : new ReplayPair(3 * client, 4 * client),
                FirstSize = client == 0 ? null : new ReplayPair(5 * client, 6 * client),
            },
            Connections = new ConnectionResult(ConnectionKind.Storm, 10 * i)
            {
                Storms = [new StormResult(client == 1 ? 0.5 : 1 + client, i, 2 * i) { Seconds = i }],
            },
            Errors = [new ErrorCount(2, "BadValue", 10 * i, client == 0 ? "first" : "other", []) { SlowestMicroseconds = i }],
        };

        double Rate(double unit) => unit * client switch { 0 => 10, 1 => 40, _ => 50 };
    }

    private static PhaseRecord Merge(params OperationResult[] parts) => Merge(parts, withHistograms: true);

    private static PhaseRecord Merge(OperationResult[] parts, bool withHistograms) =>
        Merge([.. parts.Select(part => RunParts.Phase(1, "p", part))], withHistograms);

    private static PhaseRecord Merge(params PhaseRecord?[] records) => Merge(records, withHistograms: true);

    private static PhaseRecord Merge(PhaseRecord?[] records, bool withHistograms)
    {
        StoredHistogram[] all =
        [
            new StoredHistogram(1, "q4", false, Encoded(10, 20)) { Response = Encoded(30), Lateness = Encoded(40) },
            new(1, StepResult.KeyOf("q4", "read"), false, Encoded(50)),
            new(1, ReplayResult.KeyOf("q4"), false, Encoded(60)),
            new(1, "a", false, Encoded(1)), new(1, "b", false, Encoded(2)), new(1, "c", false, Encoded(3)), new(1, "d", false, Encoded(4)),
        ];
        return new PhaseMerger(Clients).Merge(
            records, withHistograms ? all.ToDictionary(histogram => histogram.Operation) : new Dictionary<string, StoredHistogram>());
    }

    private static byte[] Encoded(params double[] microseconds) => HistogramEncoding.EncodeCompressed(Of(microseconds));

    private static LatencyHistogram Of(params double[] microseconds)
    {
        var histogram = new LatencyHistogram();
        foreach (double one in microseconds)
            histogram.Record(one);
        return histogram;
    }
}
