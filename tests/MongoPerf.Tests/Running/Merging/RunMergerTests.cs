using MongoPerf.Measurement;
using MongoPerf.Reports;
using MongoPerf.Running.Merging;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Running.Merging;

public sealed class RunMergerTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Theory]
    [InlineData(1, 1)]
    [InlineData(2, 2)]
    [InlineData(3, 5)]
    [InlineData(4, 16)]
    public void Percentiles_of_clients_are_those_of_one_histogram_of_all_operations(int seed, int clients)
    {
        var random = new Random(seed);
        var whole = new LatencyHistogram();
        var seconds = Enumerable.Range(0, 4).Select(_ => new LatencyHistogram()).ToArray();
        string[] ids = [.. Enumerable.Range(0, clients).Select(i => $"p{i}")];
        var recorded = new LatencyHistogram();
        foreach (string id in ids)
        {
            var ownRecorded = new LatencyHistogram();
            for (int i = random.Next(1, 300); i > 0; i--)
            {
                double microseconds = Math.Exp(random.NextDouble() * 18) / 10;
                recorded.Record(microseconds);
                ownRecorded.Record(microseconds);
            }

            var own = new LatencyHistogram();
            LatencyHistogram[] ownSeconds = [.. seconds.Select(_ => new LatencyHistogram())];
            for (int i = random.Next(1, 3000); i > 0; i--)
            {
                double microseconds = Math.Exp(random.NextDouble() * 18) / 10;
                int second = random.Next(seconds.Length);
                foreach (LatencyHistogram histogram in (LatencyHistogram[])[whole, own, seconds[second], ownSeconds[second]])
                    histogram.Record(microseconds);
            }

            WritePart(id, own, ownSeconds, clockMilliseconds: random.Next(-5000, 5000), recorded: ownRecorded);
        }

        using StoredRun merged = Merge(ids);
        OperationResult result = Assert.Single(merged.Phases).Operations.Single();
        Assert.Equal(LatencySummaries.From(whole), result.LatencyMicroseconds);
        Assert.Equal(whole.TotalCount, result.Operations);
        var histograms = merged.ReadHistograms().ToDictionary(stored => stored.Operation, stored => stored.Encoded.ToArray());
        Assert.Equal(2, histograms.Count);
        Assert.Equal(HistogramEncoding.EncodeCompressed(whole), histograms["q4"]);
        Assert.Equal(HistogramEncoding.EncodeCompressed(recorded), histograms[ReplayResult.KeyOf("q4")]);
        Assert.Equal(LatencySummaries.From(recorded), result.Replay!.RecordedMicroseconds);
        Assert.Equal((recorded.TotalCount, clients, 2L * clients), (result.Replay.Compared, result.Replay.Codes, result.Replay.Sizes));
        Assert.Equal(new ReplayPair(0, 11000), result.Replay.FirstCode);
        Assert.Equal(clients, result.Clients.Count);
        Assert.Equal(result.Operations, result.Clients.Sum(client => client.Operations));
        Sample[] samples = [.. merged.ReadSamples(withHistograms: true)];
        Assert.Equal(seconds.Length, samples.Length);
        Assert.All(samples.Zip(seconds), pair =>
        {
            Assert.Equal(LatencySummaries.From(pair.Second), pair.First.LatencyMicroseconds);
            Assert.Equal(HistogramEncoding.EncodeCompressed(pair.Second), pair.First.Histogram.ToArray());
            // What one client's operations took together is not what all clients' took.
            Assert.Null(pair.First.OfGroup);
        });
    }

    [Fact]
    public void Clocks_are_aligned_by_the_servers_and_what_is_left_is_the_skew()
    {
        WritePart("a", Of(1), [Of(1), Of(2)], clockMilliseconds: 90_000);
        WritePart("b", Of(1), [Of(3), Of(4)], clockMilliseconds: -4_000, beginsAfterMilliseconds: 7);
        using StoredRun merged = Merge("a", "b");
        Sample[] samples = [.. merged.ReadSamples()];
        long first = RunParts.Start.AddSeconds(1).ToUnixTimeMilliseconds();
        Assert.Equal([first + 7, first + 1007], samples.Select(sample => sample.AtMilliseconds));
        Assert.All(samples, sample => Assert.Equal(2, sample.Operations));
        PhaseRecord phase = Assert.Single(merged.Phases);
        Assert.Equal((7, 0.2), (phase.StartSkewMilliseconds, phase.StartSkewUncertaintyMilliseconds));
        Assert.DoesNotContain(merged.Events, happened => happened.Kind == RunMerger.ApartEvent);
    }

    [Theory]
    [InlineData(5000, 0)]
    [InlineData(5000.5, 0.3)]
    public void What_clients_learned_of_their_clocks_just_before_a_phase_counts_and_errs_for_none_of_one_clock(
        double clock, double uncertainty)
    {
        WritePart("a", Of(1), [Of(1)], phaseClock: new ClientClock("c:1", 5000, 0.2));
        WritePart(
            "b", Of(1), [Of(1)], beginsAfterMilliseconds: 3.5, phaseClock: new ClientClock("c:1", clock, uncertainty == 0 ? 0.2 : 0.1));
        using StoredRun merged = Merge("a", "b");
        PhaseRecord phase = Assert.Single(merged.Phases);
        Assert.Equal(clock - 5000 + 3.5, phase.StartSkewMilliseconds!.Value, 6);
        Assert.Equal(uncertainty, phase.StartSkewUncertaintyMilliseconds!.Value, 6);
    }

    [Fact]
    public void Seconds_of_a_client_that_lie_half_a_second_off_stay_apart_from_one_another()
    {
        WritePart("a", Of(5), [Of(1), Of(1), Of(1), Of(1)]);
        WritePart("b", Of(5), [Of(1), Of(1), Of(1), Of(1)], beginsAfterMilliseconds: 499);
        using StoredRun merged = Merge("a", "b");
        Assert.Equal([2, 2, 2, 2], merged.ReadSamples().Select(sample => sample.Operations));
    }

    [Fact]
    public void Clients_that_did_not_measure_together_are_said_to()
    {
        WritePart("a", Of(5), [Of(1), Of(1)]);
        WritePart("b", Of(5), [Of(1), Of(1)], beginsAfterMilliseconds: 3000);
        using StoredRun merged = Merge("a", "b");
        Assert.Contains("began 3.0 s apart",
            Assert.Single(merged.Events, happened => happened.Kind == RunMerger.ApartEvent).Text, StringComparison.Ordinal);
        Assert.Equal(4, merged.ReadSamples().Count());
    }

    [Fact]
    public void Each_machine_is_kept_as_its_clients_saw_it_and_the_busiest_is_judged()
    {
        // Two clients share one machine, on which others use little; on the other machine others use much, and its client all
        // that its thread can.
        WritePart("a", Of(1), [Of(1), Of(1), Of(1)], host: "quiet", own: 0.2, others: 0.1);
        WritePart("b", Of(1), [Of(1), Of(1), Of(1)], host: "quiet", own: 0.3, others: 0.1);
        WritePart("c", Of(1), [Of(1), Of(1), Of(1)], host: "busy", own: 0.95, others: 0.8);
        using StoredRun merged = Merge("a", "b", "c");
        int column = MetricCatalogue.IndexOf(MetricCatalogue.Host, "client_cpu_user");
        Assert.Equal(
            [("busy", 2.85), ("quiet", 1.5)],
            merged.ReadHostSamples().GroupBy(sample => sample.Member).OrderBy(machine => machine.Key)
                .Select(machine => (machine.Key, Math.Round((machine.Last().Values[column] - machine.First().Values[column]) / 1e6, 6))));
        ClientLimit limit = ClientLimit.Of(merged);
        Assert.True(limit.IsLimit);
        Assert.Contains("0.95 of the 1 core that 1 thread can use", Assert.Single(limit.Sentences), StringComparison.Ordinal);
        Assert.Equal("other programs used 0.8 of busy's 2 cores in q4", limit.Other?.Sentence);
        Assert.All(
            HostSecond.Of(merged).Where(second => second.Machine == "quiet"), second => Assert.Equal(0.1, second.OtherCores!.Value, 6));
    }

    [Fact]
    public void Interrupted_and_missing_clients_make_a_partial_run_that_names_them()
    {
        WritePart("a", Of(5), [Of(1)], part: 1);
        WritePart("b", Of(5), [Of(1)], part: 2, state: RunState.Interrupted);
        using StoredRun merged = Merge(["a", "b"], "anna");
        Assert.Equal(RunState.Interrupted, merged.Run.State);
        Assert.Equal("partial: agent 2 is interrupted (lost), anna is missing", merged.Run.StoppedBecause);
        Assert.False(merged.Phases[0].IsComplete);
        Assert.Equal(["finished", "interrupted", "missing"], merged.Run.Clients.Select(client => client.State));
        using StoredRun first = StoredRun.Open(_runs.At("a")), second = StoredRun.Open(_runs.At("b"));
        Assert.NotEqual(first.Token, second.Token);
        // By these clean finds what the clients left.
        Assert.Equal([("a", first.Token), ("b", second.Token)], merged.Makers);
        Assert.Equal([("a", first.Token)], first.Makers);
    }

    [Fact]
    public void Counts_rates_and_errors_are_added()
    {
        WritePart("a", Of(5, 6, 7), [Of(1)]);
        WritePart("b", Of(5), [Of(1)]);
        using StoredRun merged = Merge("a", "b");
        OperationResult result = merged.Phases[0].Operations[0];
        Assert.Equal(4, result.Operations);
        Assert.Equal(4 / 3.75, result.OperationsPerSecond, 9);
        Assert.Equal(2, result.Threads);
        Assert.Equal(new Accounting(6, 4, 2, 0), result.Accounting);
        Assert.Equal(2, Assert.Single(merged.Errors).Count);
        Assert.Equal(6, merged.Accounting.Scheduled);
    }

    /// <summary>Each opens its part at the same moment: all are usable when the last of them are.</summary>
    [Fact]
    public void Storms_of_clients_are_one_of_all_their_connections()
    {
        WritePart("a", Of(1), [Of(1)], connections: Storm(
            1001, new StormResult(0, 1001, 1001) { Seconds = 1.5 }, new StormResult(5, 1001, 1001) { Seconds = 3 }));
        WritePart("b", Of(1), [Of(1)], connections: Storm(
            1000, new StormResult(0.1, 1000, 1000) { Seconds = 2.5 }, new StormResult(4.9, 1000, 990)));
        using StoredRun merged = Merge("a", "b");
        ConnectionResult all = Assert.Single(merged.Phases).Operations.Single().Connections!;
        Assert.Equal((ConnectionKind.Storm, 2001), (all.Kind, all.Count));
        Assert.Equal([new StormResult(0, 2001, 2001) { Seconds = 2.5 }, new StormResult(4.9, 2001, 1991)], all.Storms);

        static ConnectionResult Storm(int count, params StormResult[] storms) => new(ConnectionKind.Storm, count) { Storms = storms };
    }

    [Fact]
    public void Runs_of_different_plans_are_told_apart_in_one_line()
    {
        WritePart("a", Of(5), [Of(1)]);
        WritePart("b", Of(5), [Of(1)], change: run => run with { Seed = 43 });
        WritePart("c", Of(5), [Of(1)], text: "phases: [] # another");
        WritePart("d", Of(5), [Of(1)], part: 1);
        WritePart("e", Of(5), [Of(1)], part: 1);
        Assert.Equal("a and b are not runs of one plan: seed is '42' in one and '43' in the other", Fault("a", "b"));
        Assert.Equal("a and c are not runs of one plan: scenario text is 'phases: []' in one and 'phases: [] # another' in the other",
            Fault("a", "c"));
        Assert.Equal("a and d are not runs of one plan: group of clients is 'none' in one and 'g' in the other", Fault("a", "d"));
        Assert.Equal("d and e are both part 1", Fault("d", "e"));
        Assert.Equal("run a is named twice", Fault("a", "a"));
        Assert.Null(Fault("a"));
    }

    private string? Fault(params string[] ids)
    {
        StoredRun[] parts = [.. ids.Select(id => StoredRun.Open(_runs.At(id)))];
        return MergeCheck.FindFault(parts);
    }

    private StoredRun Merge(params string[] ids) => Merge(ids, []);

    private StoredRun Merge(string[] ids, params string[] missing)
    {
        StoredRun[] parts = [.. ids.Select(id => StoredRun.Open(_runs.At(id)))];
        var merger = new RunMerger(parts, missing, null);
        using (RunStore store = RunStore.Create(_runs.At("merged"), merger.Head("merged", "mongoperf merge"), parts[0].Settings))
            merger.Write(store);
        return StoredRun.Open(_runs.At("merged"));
    }

    private static LatencyHistogram Of(params double[] microseconds)
    {
        var histogram = new LatencyHistogram();
        foreach (double one in microseconds)
            histogram.Record(one);
        return histogram;
    }

    private void WritePart(
        string id, LatencyHistogram whole, LatencyHistogram[] seconds, double clockMilliseconds = 0, double beginsAfterMilliseconds = 0,
        int? part = null,
        RunState state = RunState.Finished, Func<RunInfo, RunInfo>? change = null, string text = "phases: []",
        ClientClock? phaseClock = null, string? host = null, double own = 0, double others = 0, ConnectionResult? connections = null,
        LatencyHistogram? recorded = null)
    {
        RunInfo run = RunParts.Run(id) with { Part = part is { } number ? new ClientPart("g", $"agent {number}", number, 3) : null };
        RunSettings settings = RunParts.Settings();
        using RunStore store = RunStore.Create(_runs.At(id), change is null ? run : change(run),
            settings with { Plan = settings.Plan with { Text = text } });
        store.SetDeployment(RunParts.Deployment() with { Kind = DeploymentKind.Given });
        store.SetEnvironment(
            RunParts.Environment() with { Host = host ?? id, CpuCount = 2, Clock = new ClientClock("s:1", clockMilliseconds, 0.1) });
        OperationResult result = RunParts.Result("q4", operations: whole.TotalCount) with
        {
            Threads = 1, ClientCpuCores = own, LatencyMicroseconds = LatencySummaries.From(whole),
            Accounting = new Accounting(whole.TotalCount + 1, whole.TotalCount, 1, 0), Connections = connections,
            Replay = recorded is null ? null : new ReplayResult(recorded.TotalCount, 1, 0, 2)
            {
                RecordedMicroseconds = LatencySummaries.From(recorded), FirstCode = new ReplayPair(0, 11000),
            },
        };
        store.BeginPhase(RunParts.Phase(1, "q4"), continues: false);
        foreach ((int second, LatencyHistogram histogram) in seconds.Index())
        {
            store.AddSample(RunParts.Sample(second) with
            {
                AtMilliseconds = RunParts.Start.AddSeconds(second + 1)
                    .AddMilliseconds(beginsAfterMilliseconds - clockMilliseconds).ToUnixTimeMilliseconds(),
                IsWarmup = false,
                Operations = histogram.TotalCount,
                LatencyMicroseconds = LatencySummaries.From(histogram),
                OfGroup = new GroupLatency(1, 2, 3), Histogram = HistogramEncoding.EncodeCompressed(histogram),
            });
        }

        // The clients of the machine that two share use half a core together.
        for (int second = 0; second <= seconds.Length && host is not null; second++)
            store.AddHostSample(HostSample(second, host == "quiet" ? 0.5 : own, own, others));
        store.EndPhase(RunParts.Phase(1, "q4", result) with
        {
            StartedAtMilliseconds = RunParts.Start.ToUnixTimeMilliseconds() + beginsAfterMilliseconds - clockMilliseconds,
            Clock = phaseClock,
        });
        store.AddHistogram(new StoredHistogram(1, "q4", false, HistogramEncoding.EncodeCompressed(whole)));
        if (recorded is not null)
            store.AddHistogram(
                new StoredHistogram(1, ReplayResult.KeyOf("q4"), false, HistogramEncoding.EncodeCompressed(recorded)));
        store.AddErrors([new ErrorCount(11000, "DuplicateKey", 1, "it is there", [])]);
        store.SetState(state, state == RunState.Finished ? null : "lost", RunParts.Start.AddMinutes(1));
    }

    private static MetricSample HostSample(int second, double clients, double own, double others)
    {
        double[] values = new double[MetricCatalogue.Host.Count];
        foreach ((string name, double cores) in (ReadOnlySpan<(string, double)>)[("cpu_user", clients + others),
            ("cpu_idle", 2 - clients - others), ("client_cpu_user", own)])
            values[MetricCatalogue.IndexOf(MetricCatalogue.Host, name)] = cores * second * 1e6;
        return new MetricSample(RunParts.Start.AddSeconds(second).ToUnixTimeMilliseconds(), "client", values);
    }
}
