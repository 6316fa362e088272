using MongoPerf.Measurement;
using MongoPerf.Running.Merging;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Running.Merging;

/// <summary>What a merged run says beside its phases' figures, and how the command that makes it ends.</summary>
[Collection(ConsoleTests.Name)]
public sealed class MergedRunTests : IDisposable
{
    private const string Text = """
        data: {c: {count: 100, document: {_id: ^number, n: 1}}}
        phases:
          - {name: load, load: c}
          - {name: reads, count: 40, operations: [{name: q4, find: c, filter: {n: 1}}], assert: [q4.operations == 7, q4.p99 < 1ms]}
        """;

    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData("merged from the run of one client", true)]
    [InlineData("merged from the run of one client", false)]
    [InlineData("merged from the runs of 2 clients", true, true)]
    [InlineData("merged from the runs of 2 clients; the clocks of 1 were not compared", true, false)]
    [InlineData("merged from the runs of 3 clients; the clocks of 2 were not compared", false, true, false)]
    [InlineData("merged from the runs of 2 clients; their clocks were not compared", false, false)]
    public void It_says_whose_runs_it_was_merged_from_and_whose_clocks_were_compared(string remark, params bool[] hasClock)
    {
        foreach ((int i, bool has) in hasClock.Index())
            Write($"{i}", clock: has ? new ClientClock("s", 0, 1) : null);
        using StoredRun merged = Merge([.. hasClock.Select((_, i) => $"{i}")]);
        Assert.Equal([remark], merged.Deployment!.Remarks);
        Assert.Null(merged.Environment!.Clock);
    }

    [Fact]
    public void It_names_clients_that_left_no_run_and_lasts_from_the_first_start_to_the_last_end()
    {
        Write("a", clock: new ClientClock("s", 5000, 1), startedAfter: 3);
        Write("b", clock: new ClientClock("s", -2000, 1), startedAfter: 6);
        using StoredRun merged = Merge(["a", "b"], "anna");
        Assert.Equal(
            [new MergedClient("client 1", "a", "finished"), new MergedClient("client 2", "b", "finished"), new("anna", "none", "missing")],
            merged.Run.Clients.Select(client => client with { Host = null, CpuCount = null, Clock = null }));
        Assert.Equal(["merged from the runs of 3 clients, of which some did not finish"], merged.Deployment!.Remarks);
        Assert.Equal(RunParts.Start.AddSeconds(6 - 2), merged.Run.StartedAt);
        Assert.Equal(RunParts.Start.AddSeconds(60 + 5), merged.Run.EndedAt);
        Assert.Equal((null, null, "mongoperf merge"), (merged.Run.Part, merged.Run.Repeat, merged.Run.CommandLine));
    }

    /// <summary>Two clients share a machine with 8 processors, as one of them sees only 4 of; a third has another one.</summary>
    [Fact]
    public void Processors_of_all_machines_are_counted_each_once()
    {
        Write("a", host: "x", cpus: 4);
        Write("b", host: "x", cpus: 8);
        Write("c", host: "y", cpus: 16);
        using StoredRun merged = Merge("a", "b", "c");
        Assert.Equal((24, null), (merged.Environment!.CpuCount, merged.Environment.Host));
        Assert.Equal(
            [("x", 4), ("x", 8), ("y", 16)], merged.Run.Clients.Select(client => (client.Host!, client.CpuCount!.Value)));
    }

    /// <summary>All begin the same phases, so the first client's events say when; whatever else happened is told with who saw it.</summary>
    [Fact]
    public void Events_are_told_with_their_clients_at_the_servers_time_and_phases_begin_once()
    {
        long start = RunParts.Start.ToUnixTimeMilliseconds();
        Write("a", fill: store => AddEvents(store, 0), clock: new ClientClock("s", 100, 1));
        Write("b", fill: store => AddEvents(store, 10), clock: new ClientClock("s", -100, 1));
        using StoredRun merged = Merge("a", "b");
        Assert.Equal(
            [
                new RunEvent(start - 90, "reconnect", "client 2: it went on", 1.5),
                new RunEvent(start + 100, "reconnect", "client 1: it went on", 1.5),
                new RunEvent(start + 101, RunEvent.Phase, "reads"),
            ],
            merged.Events);

        void AddEvents(RunStore store, long after)
        {
            store.AddEvent(new RunEvent(start + after, "reconnect", "it went on", 1.5));
            store.AddEvent(new RunEvent(start + after + 1, RunEvent.Phase, "reads"));
        }
    }

    [Fact]
    public void Threads_of_all_clients_are_numbered_through_in_the_laps_of_each_phase()
    {
        Write("a", fill: store => AddLaps(store, 10, 20));
        Write("b", fill: store => AddLaps(store, 30));
        using StoredRun merged = Merge("a", "b");
        Assert.Equal(
            [
                new StoredLap(1, 0, 1, 10, 1), new(1, 0, 2, 20, 2), new(1, 1, 1, 20, 1), new(1, 1, 2, 40, 2),
                new(1, 2, 1, 30, 1), new(1, 2, 2, 60, 2), new(2, 0, 1, 11, 1), new(2, 0, 2, 22, 2), new(2, 1, 1, 21, 1),
                new(2, 1, 2, 42, 2), new(2, 2, 1, 31, 1), new(2, 2, 2, 62, 2),
            ],
            merged.Laps);

        static void AddLaps(RunStore store, params long[] lengths)
        {
            foreach (int phase in (ReadOnlySpan<int>)[1, 2])
                store.AddLaps(phase, [.. lengths.Select(length => length + phase - 1)
                    .Select(length => (IReadOnlyList<LapMark>)[new LapMark(length, 1), new LapMark(2 * length, 2)])]);
            store.BeginPhase(RunParts.Phase(2, "more"), continues: true);
            store.EndPhase(RunParts.Phase(2, "more"));
        }
    }

    /// <summary>Servers, shards and members are those of the client that looked most often, at the servers' time.</summary>
    [Fact]
    public void What_all_of_them_saw_of_servers_is_taken_from_one_of_them()
    {
        Action<RunStore, MetricSample>[] tables =
            [(s, one) => s.AddServerSample(one), (s, one) => s.AddShardSample(one), (s, one) => s.AddReplicaSample(one)];
        Write("a", fill: store => AddSamples(store, ("x", 1, 100), ("y", 3, 200)), clock: new ClientClock("s", 7, 1));
        Write("b", fill: store =>
        {
            AddSamples(store, ("x", 2, 300), ("y", 2, 400));
            store.AddChunkEvents([Chunk("1")]);
        });
        Write("c", fill: store => store.AddChunkEvents([Chunk("2"), Chunk("3")]));
        using StoredRun merged = Merge("a", "b", "c");
        foreach (IEnumerable<MetricSample> samples in (IEnumerable<MetricSample>[])
            [merged.ReadServerSamples(), merged.ReadShardSamples(), merged.ReadReplicaSamples()])
            Assert.Equal(
                [("x", 300L), ("x", 301), ("y", 207), ("y", 208), ("y", 209)],
                samples.Select(sample => (sample.Member, sample.AtMilliseconds)).Order());
        Assert.Equal("1", Assert.Single(merged.ReadChunkEvents()).Id);

        void AddSamples(RunStore store, params (string Member, int Count, long At)[] members)
        {
            foreach ((string member, int count, long at) in members)
                foreach ((int table, Action<RunStore, MetricSample> add) in tables.Index())
                    for (int i = 0; i < count; i++)
                        add(store, new MetricSample(at + i, member, new double[table switch
                        {
                            0 => MetricCatalogue.Server.Count, 1 => MetricCatalogue.Shard.Count, _ => MetricCatalogue.Replica.Count,
                        }]));
        }

        static ChunkEvent Chunk(string id) => new()
        {
            Id = id, Kind = ChunkEventKind.Migration, AtMilliseconds = 5, From = "s", Outcome = ChunkEventOutcome.Done,
        };
    }

    /// <summary>
    /// They measured together where at least nine tenths of the longest window are common to all, warm-up included; less than a second is
    /// no distance.
    /// </summary>
    [Theory]
    [InlineData(5, 999, false)]
    [InlineData(5, 1000, true)]
    [InlineData(10, 1000, false)]
    [InlineData(10, 1001, true)]
    [InlineData(40, 3999, false)]
    [InlineData(40, 4000, false)]
    [InlineData(40, 4001, true)]
    public void Clients_that_began_too_far_apart_are_said_to(double window, double apart, bool isApart)
    {
        Write("a", result: RunParts.Result("q4") with { WarmupSeconds = 1, Seconds = 1 });
        Write("b", result: RunParts.Result("q4") with { WarmupSeconds = window / 4, Seconds = window * 3 / 4 }, beginsAfter: apart);
        using StoredRun merged = Merge("a", "b");
        var expected = new RunEvent(
            RunParts.Start.ToUnixTimeMilliseconds() + (long)apart, "apart",
            $"reads: the clients began {apart / 1000:0.0} s apart, so the sum of their rates was never the actual load", apart / 1000);
        Assert.Equal(isApart ? [expected] : [], merged.Events);
    }

    /// <summary>Clocks of two servers say nothing of each other, so what was compared when the runs began counts, if all were.</summary>
    [Theory]
    [InlineData("s", "s", 4, 0.5)]
    [InlineData("s", "t", 40.123, 6)]
    [InlineData(null, "t", 40.123, 6)]
    [InlineData(null, null, 40.123, 6)]
    public void Distances_are_by_the_clocks_that_were_compared_last_with_one_server(string? first, string? second, double skew, double off)
    {
        Write("a", clock: new ClientClock("r", 100, 2), phaseClock: first is null ? null : new ClientClock(first, 200, 0.25));
        Write("b", clock: new ClientClock("r", 140.1234, 4), phaseClock: second is null ? null : new ClientClock(second, 204, 0.25));
        using StoredRun merged = Merge("a", "b");
        PhaseRecord phase = Assert.Single(merged.Phases);
        Assert.Equal((skew, off), (phase.StartSkewMilliseconds!.Value, Math.Round(phase.StartSkewUncertaintyMilliseconds!.Value, 6)));
        Assert.Equal(RunParts.Start.ToUnixTimeMilliseconds() + (first == "s" && second == "s" ? 200 : 100), phase.StartedAtMilliseconds);
        Assert.Null(phase.Clock);
    }

    [Fact]
    public void Without_starts_or_clocks_no_distance_is_made_up()
    {
        Write("a", clock: new ClientClock("s", 1, 1), beginsAfter: null);
        Write("b", clock: new ClientClock("s", 1, 1), beginsAfter: null);
        using (StoredRun merged = Merge("a", "b"))
            Assert.Equal((null, null, null), DistanceOf(merged));
        Write("c", beginsAfter: 3);
        using (StoredRun merged = Merge("a", "c"))
            Assert.Equal((RunParts.Start.ToUnixTimeMilliseconds() + 3, 0, null), DistanceOf(merged));
        Write("d", clock: new ClientClock("s", 1, 1));
        using (StoredRun merged = Merge("c", "d"))
            Assert.Equal((RunParts.Start.ToUnixTimeMilliseconds() + 1, 2, null), DistanceOf(merged));
        using (StoredRun merged = Merge("d"))
            Assert.Equal((RunParts.Start.ToUnixTimeMilliseconds() + 1, null, null), DistanceOf(merged));

        static (double?, double?, double?) DistanceOf(StoredRun merged) => merged.Phases[0] is var phase
            ? (phase.StartedAtMilliseconds, phase.StartSkewMilliseconds, phase.StartSkewUncertaintyMilliseconds) : default;
    }

    /// <summary>
    /// The plan's assertions are checked against the figures of all clients together; what one client's own came to says nothing. Checks
    /// are kept as the client found them.
    /// </summary>
    [Fact]
    public void Assertions_are_of_all_clients_together_and_what_fails_is_named()
    {
        AssertionResult found = new("no n is 2", true) { IsCheck = true }, own = new("q4.operations == 7", true, 7);
        Write("a", operations: 3, assertions: [own, found]);
        Write("b", operations: 4, assertions: [own]);
        (ExitCode code, StoredRun merged) = Run("a", "b");
        using (merged)
            Assert.Equal(
                [found, new("q4.operations == 7", true, 7), new("q4.p99 < 1ms", true, 100) { IsLatency = true }],
                merged.Phases[0].Assertions.Select(one => one with { Value = one.IsLatency ? Math.Round(one.Value!.Value) : one.Value }));
        Assert.Equal(ExitCode.Done, code);
        Write("c", operations: 5);
        (code, merged) = Run("b", "c");
        merged.Dispose();
        Assert.Equal(ExitCode.AssertionFailed, code);
        StoredRun[] parts = [StoredRun.Open(_runs.At("b")), StoredRun.Open(_runs.At("c"))];
        var merger = new RunMerger(parts, [], StoredPlan.Read(parts[0].Settings, 42, FilesFolder.None).Plan);
        using (RunStore store = RunStore.Create(_runs.At("again"), merger.Head("again", ""), parts[0].Settings))
            merger.Write(store);
        Assert.Equal(["assertion failed: reads: q4.operations == 7"], merger.FailedAssertions);
    }

    /// <summary>One judge for the runs of one client and of several.</summary>
    [Theory]
    [InlineData("nothing", ExitCode.Done)]
    [InlineData("wrong", ExitCode.VerificationFailed)]
    [InlineData("missing", ExitCode.VerificationFailed)]
    [InlineData("violated", ExitCode.VerificationFailed)]
    [InlineData("lost event", ExitCode.VerificationFailed)]
    [InlineData("errors", ExitCode.TooManyErrors)]
    [InlineData("skipped", ExitCode.TooManyErrors)]
    public void What_any_client_finds_decides_how_the_merge_ends(string found, ExitCode expected)
    {
        // As the first of several clients stores it, which looks for all: the others take all documents to be there.
        Write("a", operations: 3,
            result: RunParts.Result("q4", operations: 3) with
            {
                Wrong = found == "wrong" ? 1 : 0, Changes = found == "lost event" ? new ChangeResult(1, 0, 1, 0, 0, 0, 0) : null,
            },
            change: phase => phase with
            {
                Documents = 99, Missing = found == "missing" ? 1 : 0,
                Groups = [GroupShare.Of("", 1, [3], new Accounting(3, 3, 0, 0)), GroupShare.Of(
                    "paced", 1, [1], new Accounting(2, 1, 0, 1)) with { Waiting = found == "skipped" ? new ClientWaiting(0, 0) : null }],
            },
            assertions: [new AssertionResult("no n is 2", found != "violated", 1) { IsCheck = true }],
            fill: store => store.AddErrors(found == "errors" ? [new ErrorCount(1, "E", 3, "no", [])] : []));
        Write("b", operations: 4, change: phase => phase with { Documents = 100 },
            fill: store => store.AddErrors(found == "errors" ? [new ErrorCount(1, "E", 3, "no", [])] : []));
        (ExitCode code, StoredRun merged) = Run("a", "b");
        using (merged)
            Assert.Equal(expected, code);
    }

    [Fact]
    public void A_histogram_that_is_damaged_leaves_no_run()
    {
        Write("a", fill: store => store.AddHistogram(new StoredHistogram(1, "q4", true, new byte[] { 1, 2, 3 })));
        UserException refused = Assert.Throws<UserException>(() => Run("a"));
        Assert.Equal(ExitCode.WrongUsage, refused.Code);
        Assert.Contains("one of them is damaged", refused.Hint, StringComparison.Ordinal);
        Assert.Empty(Directory.EnumerateFileSystemEntries(_runs.At("merged")));
    }

    private (ExitCode Code, StoredRun Merged) Run(params string[] ids)
    {
        StoredRun[] parts = [.. ids.Select(id => StoredRun.Open(_runs.At(id)))];
        var shown = new Shown();
        ExitCode code = MergeSession.Merge(
            parts, [], "mongoperf merge", new OutputRequest(_runs.At("merged"), "text", true, true, shown), FilesFolder.None);
        return (code, StoredRun.Open(shown.Folder!.Path));
    }

    private StoredRun Merge(params string[] ids) => Merge(ids, []);

    private StoredRun Merge(string[] ids, params string[] missing)
    {
        StoredRun[] parts = [.. ids.Select(id => StoredRun.Open(_runs.At(id)))];
        var merger = new RunMerger(parts, missing, null);
        string folder = _runs.At($"merged {string.Join(' ', ids)}");
        using (RunStore store = RunStore.Create(folder, merger.Head("merged", "mongoperf merge"), parts[0].Settings))
            merger.Write(store);
        return StoredRun.Open(folder);
    }

    private void Write(
        string id, ClientClock? clock = null, ClientClock? phaseClock = null, double startedAfter = 0, double? beginsAfter = 0,
        string host = "x", int cpus = 8, long operations = 100, OperationResult? result = null,
        Func<PhaseRecord, PhaseRecord>? change = null, AssertionResult[]? assertions = null, Action<RunStore>? fill = null)
    {
        RunSettings settings = RunParts.Settings();
        using RunStore store = RunStore.Create(
            _runs.At(id), RunParts.Run(id) with { StartedAt = RunParts.Start.AddSeconds(startedAfter) },
            settings with { Plan = settings.Plan with { Text = Text, Parameters = [] } });
        store.SetDeployment(RunParts.Deployment() with { Kind = DeploymentKind.Given });
        store.SetEnvironment(RunParts.Environment() with { Host = host, CpuCount = cpus, Clock = clock });
        PhaseRecord phase = RunParts.Phase(1, "reads", result ?? RunParts.Result("q4", operations: operations)) with
        {
            StartedAtMilliseconds = beginsAfter is { } after ? RunParts.Start.ToUnixTimeMilliseconds() + after : null,
            Clock = phaseClock, Assertions = assertions ?? [],
        };
        store.BeginPhase(phase, continues: false);
        store.EndPhase(change?.Invoke(phase) ?? phase);
        var latencies = new LatencyHistogram();
        latencies.Record(100);
        store.AddHistogram(new StoredHistogram(1, "q4", false, HistogramEncoding.EncodeCompressed(latencies)));
        fill?.Invoke(store);
        store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(1));
    }

    private sealed class Shown : IRunResults
    {
        public RunFolder? Folder { get; private set; }

        public void Show(RunFolder folder, OutputRequest output) => Folder = folder;

        public void Show(RateSearchResult found, OutputRequest output) => throw new InvalidOperationException();

        public string Next(StoredRun run, RunFolder folder) => "";

        public IReadOnlyList<string> FailedAssertions(StoredRun run) => [];

        public ExitCode Compare(IReadOnlyList<string> runs, OutputRequest output) => throw new InvalidOperationException();
    }
}
