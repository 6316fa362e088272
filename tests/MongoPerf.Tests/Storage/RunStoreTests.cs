using System.Diagnostics;
using System.Text.Json;
using Microsoft.Data.Sqlite;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Storage;

public sealed class RunStoreTests : IDisposable
{
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Everything_written_is_read_back()
    {
        using (RunStore store = Create())
            WriteOneStep(store);
        using StoredRun run = StoredRun.Open(_runs.At("a"));
        AssertSame(RunParts.Run(), run.Run);
        AssertSame(RunParts.Settings(), run.Settings);
        AssertSame(RunParts.Deployment(), run.Deployment);
        AssertSame(RunParts.Environment(), run.Environment);
        GrowthStep step = Assert.Single(run.GrowthSteps);
        Assert.All(step.Phases, phase => Assert.True(phase.IsComplete));
        Assert.Equal(1000, step.Documents);
        Assert.Equal(["unack", "batch", "q4", "q4"], step.Operations.Select(o => o.Operation));
        Assert.Equal([1, 1, 1, 8], step.Operations.Select(o => o.Threads));
        AssertSame(RunParts.Sizes(1000), Assert.Single(step.Sizes));
        Assert.Equal(new Accounting(400, 400, 0, 0), run.Accounting);
        Assert.Equal([new Checkpoint(1, 1000, 5)], run.Checkpoints);
        Assert.Equal([new RunEvent(1, "outage", "gone", 1.5), new RunEvent(2, "resumed", "again")], run.Events);
        Assert.Equal("/tmp/data", run.FindNote("dataFolder"));
        Assert.Null(run.FindNote("unknown"));
        StoredHistogram histogram = Assert.Single(run.ReadHistograms());
        Assert.Equal([9, 8], histogram.Encoded.ToArray());
    }

    /// <summary>Tables have a column for each property, now and later: whatever a second or an event has is read back.</summary>
    [Fact]
    public void Every_property_of_samples_events_and_errors_is_read_back()
    {
        Sample[] samples = [.. new[] { 1, 2 }.Select(i => new Sample
        {
            AtMilliseconds = 1000 * i, Phase = i, Operation = $"q{i}", IsWarmup = true, HasOutage = true, Seconds = i, Operations = 10 * i,
            Documents = 20 * i, Bytes = 30 * i, Failed = 40 * i, CollectionDocuments = 50 * i, LatencyMicroseconds = RunParts.Latency(i),
            ResponseMicroseconds = RunParts.Latency(10 * i), LatenessMicroseconds = RunParts.Latency(20 * i),
            OfGroup = new GroupLatency(i, 2 * i, 3 * i), Histogram = new byte[] { (byte)i },
            ResponseHistogram = new byte[] { (byte)(10 * i) }, LatenessHistogram = new byte[] { (byte)(20 * i) },
        })];
        ChunkEvent[] chunks = [.. new[] { 1, 2 }.Select(i => new ChunkEvent
        {
            Id = $"{i}", Kind = ChunkEventKind.Migration, AtMilliseconds = i, EndMilliseconds = 10 * i, From = $"a{i}", To = $"b{i}",
            Documents = 20 * i, Bytes = 30 * i, Outcome = ChunkEventOutcome.Failed, Note = $"n{i}", Collection = $"{i}",
            BlockedSeconds = i, KeyBefore = $"{{{i}: 1}}", KeyAfter = $"{{{i}: 2}}",
        })];
        Filled.Require(samples, [], [nameof(Sample.IsWarmup), nameof(Sample.HasOutage)]);
        Filled.Require(chunks, [], [nameof(ChunkEvent.Kind), nameof(ChunkEvent.Outcome)]);
        RunEvent happened = new(5, "kind", "text", 1.5);
        ErrorCount error = new(11, "Name", 3, "first", ["a", "b"]);
        using (RunStore store = Create())
        {
            Array.ForEach(samples, store.AddSample);
            store.AddChunkEvents(chunks);
            store.AddEvent(happened);
            store.AddErrors([error]);
            // Errors of several phases are added up under the first message.
            store.AddErrors([error with { Count = 4, FirstMessage = "second" }, error with { Name = "Other", Count = 1 }]);
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal(samples.Select(Filled.TextsOf), run.ReadSamples(withHistograms: true).Select(Filled.TextsOf));
        Assert.Equal(chunks, run.ReadChunkEvents());
        Assert.Equal([happened], run.Events);
        Assert.Equal(
            [Filled.TextsOf(error with { Count = 7 }), Filled.TextsOf(error with { Name = "Other", Count = 1 })],
            run.Errors.Select(Filled.TextsOf));
    }

    /// <summary>Laps of a load that is resumed are counted and timed from there: none of the earlier ones may stand among them.</summary>
    [Fact]
    public void Laps_of_a_phase_that_continues_replace_those_before()
    {
        using (RunStore store = Create())
        {
            store.AddLaps(1, [[new LapMark(10, 1), new LapMark(20, 2), new LapMark(30, 3)], [new LapMark(11, 1)]]);
            store.AddLaps(2, [[new LapMark(12, 1)]]);
            store.BeginPhase(RunParts.Phase(1, "load"), continues: true);
            store.AddLaps(1, [[new LapMark(13, 0.5)]]);
            store.AddLaps(1, []);
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal([new StoredLap(1, 0, 1, 13, 0.5), new(2, 0, 1, 12, 1)], run.Laps);
    }

    [Fact]
    public void Nobody_but_its_owner_may_read_a_run()
    {
        const UnixFileMode OfFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        using RunStore store = Create();
        WriteOneStep(store);
        Assert.Equal(OfFile | UnixFileMode.UserExecute, File.GetUnixFileMode(_runs.At("a")));
        Assert.All(Directory.GetFiles(_runs.At("a")), file => Assert.Equal(OfFile, File.GetUnixFileMode(file)));
        Assert.Equal(
            OfFile | UnixFileMode.UserExecute, File.GetUnixFileMode(_runs.At(RunCatalogue.NewId(_runs.Path, DateTimeOffset.UnixEpoch))));
    }

    [Fact]
    public void Texts_are_read_fit_to_be_shown_and_the_scenario_as_it_was()
    {
        const string Wild = "\u001b[2J\u202etext";
        const string Tame = "?[2J?text";
        RunSettings settings = RunParts.Settings();
        settings = settings with { Plan = settings.Plan with { Text = Wild + new string('x', 10_000), Description = Wild } };
        using (RunStore store = RunStore.Create(_runs.At("a"), RunParts.Run(), settings))
        {
            store.SetDeployment(RunParts.Deployment() with { ServerVersion = Wild, Remarks = [Wild + new string('x', 10_000)] });
            store.AddEvent(new RunEvent(1, Wild, Wild));
            store.AddErrors([new ErrorCount(1, Wild, 1, Wild, [Wild])]);
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal((settings.Plan.Text, Tame), (run.Settings.Plan.Text, run.Settings.Plan.Description));
        Assert.Equal(Tame, run.Deployment!.ServerVersion);
        Assert.Equal(5001, Assert.Single(run.Deployment.Remarks).Length);
        Assert.Equal([new RunEvent(1, Tame, Tame)], run.Events);
        ErrorCount error = Assert.Single(run.Errors);
        Assert.Equal((Tame, Tame, Tame), (error.Name, error.FirstMessage, Assert.Single(error.Labels)));
    }

    [Theory]
    [InlineData(13, "the disk is full")]
    [InlineData(8, "the run's folder has become read-only")]
    [InlineData(10, "can't be written: is its disk full, or has it become read-only? (what SQLite said)")]
    [InlineData(14, "can't be opened: has its folder become read-only, or are there too few file handles (ulimit -n)?")]
    [InlineData(5, "can't be written (what SQLite said)")]
    public void A_store_that_can_not_be_written_is_named_with_the_cause(int code, string why) => Assert.Equal(
        $"/runs/a/run.db: {why}", new RunStoreWriteException("/runs/a", new SqliteException("what SQLite said", code)).Message);

    [Fact]
    public void A_store_that_can_not_be_written_says_so_once()
    {
        RunStore store = Create();
        using (var other = new SqliteConnection($"Data Source={_runs.At("a/run.db")};Pooling=False"))
        {
            other.Open();
            using SqliteCommand spoil = other.CreateCommand();
            spoil.CommandText = "DROP TABLE event; DROP TABLE meta";
            spoil.ExecuteNonQuery();
        }

        Assert.Throws<RunStoreWriteException>(() => store.AddEvent(new RunEvent(1, "outage", "gone")));
        // What was committed before is whole: nothing follows that could be taken for the next.
        Assert.Throws<RunStoreWriteException>(() => store.AddCheckpoint(new Checkpoint(1, 10, 0)));
        store.Dispose();
        using var after = new SqliteConnection($"Data Source={_runs.At("a/run.db")};Pooling=False");
        after.Open();
        using SqliteCommand count = after.CreateCommand();
        count.CommandText = "SELECT count(*) FROM checkpoint";
        Assert.Equal(0L, count.ExecuteScalar());
    }

    [Fact]
    public void What_fails_half_way_leaves_nothing_behind_and_the_store_goes_on()
    {
        using (RunStore store = Create())
        {
            Assert.Throws<TimeoutException>(() => store.AddErrors(Failing()));
            store.AddEvent(new RunEvent(1, "outage", "gone"));
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Empty(run.Errors);
        Assert.Single(run.Events);

        static IEnumerable<ErrorCount> Failing()
        {
            yield return new ErrorCount(1, "InternalError", 1, "x", []);
            throw new TimeoutException();
        }
    }

    [Fact]
    public void Reading_a_run_whose_writer_was_killed_changes_nothing_in_it()
    {
        using RunStore store = Create();
        WriteOneStep(store);
        store.AddSample(RunParts.Sample(0));
        store.Flush();
        string killed = _runs.At("killed");
        Directory.CreateDirectory(killed);
        foreach (string name in (string[])["run.db", "run.db-wal"])
            File.Copy(Path.Combine(_runs.At("a"), name), Path.Combine(killed, name));
        byte[] before = Bytes();

        using (StoredRun run = StoredRun.Open(killed))
        {
            Assert.Single(run.ReadSamples());
            Assert.Empty(run.ReadServerSamples());
            Assert.Empty(run.ReadChunkEvents());
            Assert.Single(run.ReadHistograms());
            // It is in no summary, and this histogram is none.
            Assert.Null(run.ValueOf(LatencyMetric.Find("p75")!, run.Phases[3].Operations[0]));
            StoredRun.OpenFrom(killed, default).Dispose();
        }

        Assert.Equal(before, Bytes());

        byte[] Bytes() => [.. ((string[])["run.db", "run.db-wal"]).SelectMany(name => File.ReadAllBytes(Path.Combine(killed, name)))];
    }

    [Fact]
    public void A_percentile_leaves_out_the_warm_up_and_other_operations()
    {
        using (RunStore store = Create())
        {
            store.AddHistogram(new StoredHistogram(1, "a", IsWarmup: true, Recorded(1000)));
            store.AddHistogram(new StoredHistogram(1, "a", IsWarmup: false, Recorded(10)));
            store.AddHistogram(new StoredHistogram(1, "b", IsWarmup: false, Recorded(20)));
            store.AddHistogram(new StoredHistogram(1, "c", IsWarmup: false, Recorded(30)));
            store.AddHistogram(new StoredHistogram(1, "watch", IsWarmup: false, Recorded(9000)));
            store.AddHistogram(new StoredHistogram(2, "a", IsWarmup: false, Recorded(500)));
            store.EndPhase(RunParts.Phase(1, "p", RunParts.Result("a"), RunParts.Result("b"), RunParts.Result("c"),
                RunParts.Result("watch") with { Changes = new ChangeResult(1, 0, 0, 0, 0, 0, 0) }) with
            {
                Groups =
                [
                    GroupShare.Of("ab", 1, [1], Accounting.None) with
                    {
                        Mix = ["a", "b"], Joint = new JointLatency(RunParts.Latency(15)),
                    },
                    GroupShare.Of("c", 1, [1], Accounting.None),
                ],
                Joint = new JointLatency(RunParts.Latency(20)),
            });
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        PhaseRecord phase = Assert.Single(run.Phases);
        Assert.Equal(10, Value("p9999", phase.Operations[0]), 0.1);
        Assert.Equal((10, 20), (Value("p25", phase.Mixes[0].Total), Value("p9999", phase.Mixes[0].Total)));
        Assert.Equal((10, 20, 30), (Value("p25", phase.Total!), Value("p60", phase.Total!), Value("p9999", phase.Total!)));

        double Value(string name, OperationResult result) => Math.Round(run.ValueOf(LatencyMetric.Find(name)!, result)!.Value);

        static byte[] Recorded(double microseconds)
        {
            var histogram = new LatencyHistogram();
            histogram.Record(microseconds);
            return HistogramEncoding.EncodeCompressed(histogram);
        }
    }

    [Fact]
    public void A_run_is_not_made_in_a_folder_that_is_a_link()
    {
        Directory.CreateDirectory(_runs.At("elsewhere"));
        File.CreateSymbolicLink(_runs.At("a"), _runs.At("elsewhere"));
        Assert.StartsWith($"{_runs.At("a")} is a link to {_runs.At("elsewhere")}", Assert.Throws<RunStoreException>(Create).Message);
        Assert.Empty(Directory.GetFileSystemEntries(_runs.At("elsewhere")));
    }

    [Fact]
    public void A_run_that_another_program_gave_a_journal_is_written_with_a_log_again()
    {
        Create().Dispose();
        Sql(_runs.At("a"), "PRAGMA journal_mode=DELETE");
        using RunStore store = RunStore.Open(_runs.At("a"));
        store.AddCheckpoint(new Checkpoint(1, 10, 0));
        Assert.True(new FileInfo(_runs.At("a/run.db-wal")).Length > 0);
    }

    [Fact]
    public void A_run_was_written_when_its_file_or_its_log_was()
    {
        using RunStore store = Create();
        File.SetLastWriteTimeUtc(_runs.At("a/run.db"), RunParts.Start.UtcDateTime);
        File.SetLastWriteTimeUtc(_runs.At("a/run.db-wal"), RunParts.Start.UtcDateTime.AddHours(1));
        Assert.Equal(RunParts.Start.AddHours(1), RunCatalogue.LastWritten(_runs.At("a")));
        File.SetLastWriteTimeUtc(_runs.At("a/run.db"), RunParts.Start.UtcDateTime.AddHours(2));
        Assert.Equal(RunParts.Start.AddHours(2), RunCatalogue.LastWritten(_runs.At("a")));
    }

    [Fact]
    public void Samples_are_read_back_in_order_with_NaN_where_nothing_was_measured()
    {
        using (RunStore store = Create())
        {
            for (int second = 0; second < 3; second++)
            {
                store.AddSample(RunParts.Sample(second));
                store.AddServerSample(RunParts.ServerSample(second));
                store.AddHostSample(new MetricSample(second, "client", [.. MetricCatalogue.Host.Select((_, i) => (double)i)]));
            }
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        AssertSame(
            Enumerable.Range(0, 3).Select(s => RunParts.Sample(s) with { Histogram = default }).ToArray(), run.ReadSamples().ToArray());
        Assert.All(run.ReadSamples(withHistograms: true), sample => Assert.Equal([1, 2, 3], sample.Histogram.ToArray()));
        MetricSample[] server = [.. run.ReadServerSamples()];
        Assert.Equal(RunParts.ServerSample(2).Values, server[2].Values);
        Assert.True(double.IsNaN(server[0].Values[1]));
        Assert.Equal(0, server[0].Values[0]);
        Assert.Equal([[5, double.NaN, 0], [105, double.NaN, 100], [205, double.NaN, 200]],
            run.ReadServerSamples([.. new[] { 5, 1, 0 }.Select(i => MetricCatalogue.Server[i])]).Select(sample => sample.Values));
        Assert.Equal(3, run.ReadHostSamples().Count());
    }

    [Fact]
    public void A_run_that_continues_elsewhere_says_where()
    {
        RunSettings before = RunParts.Settings();
        using (RunStore store = Create())
            store.SetSettings(before with { Deployment = before.Deployment with { Uri = "mongodb://there:27017" } });

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal("mongodb://there:27017", run.Settings.Deployment.Uri);
        Assert.Equal(before.Plan.Text, run.Settings.Plan.Text);
    }

    [Fact]
    public void What_shards_held_and_how_chunks_moved_is_read_back()
    {
        var begun = new ChunkEvent
        {
            Id = "x", Kind = ChunkEventKind.Migration, AtMilliseconds = 20, From = "s0", To = "s1", Outcome = ChunkEventOutcome.Running,
        };
        ChunkEvent ended = begun with { EndMilliseconds = 1520, Documents = 10, Bytes = 10_240, Outcome = ChunkEventOutcome.Done };
        var split = new ChunkEvent
        {
            Id = "y", Kind = ChunkEventKind.Split, AtMilliseconds = 10, EndMilliseconds = 10, From = "s0",
            Outcome = ChunkEventOutcome.Done, Note = "n",
        };
        using (RunStore store = Create())
        {
            store.AddShardSample(new MetricSample(7, "s0", [.. MetricCatalogue.Shard.Select((_, i) => i == 1 ? double.NaN : i)]));
            store.AddChunkEvents([begun, split]);
            store.AddChunkEvents([ended]);
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        MetricSample sample = Assert.Single(run.ReadShardSamples());
        Assert.Equal((7, "s0"), (sample.AtMilliseconds, sample.Member));
        Assert.Equal([0, double.NaN, 2], sample.Values[..3]);
        Assert.Equal([split, ended], run.ReadChunkEvents());
        Assert.Equal(1.5, ended.Seconds);
    }

    /// <summary>A run that was resumed reads the cluster's log again, and finds only the key of now.</summary>
    [Fact]
    public void Keys_of_a_resharding_stay_when_it_is_told_again_without_them()
    {
        var done = new ChunkEvent
        {
            Id = "x", Kind = ChunkEventKind.Resharding, AtMilliseconds = 20, EndMilliseconds = 1520, From = "config", Collection = "5",
            Outcome = ChunkEventOutcome.Done, KeyBefore = "{a: 1}", KeyAfter = "{b: 1}", BlockedSeconds = 0.5,
        };
        using (RunStore store = Create())
        {
            store.AddChunkEvents([done with { KeyAfter = null, Outcome = ChunkEventOutcome.Running, BlockedSeconds = null }]);
            store.AddChunkEvents([done]);
            store.AddChunkEvents([done with { KeyBefore = null, KeyAfter = "{c: 1}" }]);
        }

        using (StoredRun run = StoredRun.Open(_runs.At("a")))
            Assert.Equal(done, Assert.Single(run.ReadChunkEvents()));
        foreach (string column in (string[])["collection", "blocked_s", "key_before", "key_after"])
            Sql(_runs.At("a"), $"ALTER TABLE chunk_event DROP COLUMN {column}");
        using StoredRun old = StoredRun.Open(_runs.At("a"));
        Assert.Equal((1.5, null, null), (Assert.Single(old.ReadChunkEvents()).Seconds,
            old.ReadChunkEvents().Single().Collection, old.ReadChunkEvents().Single().KeyBefore));
    }

    /// <summary>
    /// Found behind a mongos that kept its clients waiting: the seconds after an outage were marked, not those of it.
    /// </summary>
    [Fact]
    public void Seconds_of_an_outage_are_marked_though_its_workers_learned_of_it_when_it_was_over()
    {
        long start = RunParts.Sample(0).AtMilliseconds;
        using (RunStore store = Create())
        {
            for (int second = 1; second <= 10; second++)
                store.AddSample(RunParts.Sample(second) with { Seconds = 1, HasOutage = second == 10 });
            store.AddEvent(new RunEvent(start + 7200, RunEvent.Outage, "shard s1 did not answer", 3));
            store.AddEvent(new RunEvent(start + 6000, RunEvent.Outage, "seen by another worker", 0.5));
            store.AddEvent(new RunEvent(start + 2500, RunEvent.ConfigServer, "no outage of operations", 1));
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal([5, 6, 7, 8, 10], run.ReadSamples().Where(one => one.HasOutage).Select(one => (one.AtMilliseconds - start) / 1000));
    }

    [Fact]
    public void Laps_are_read_back_in_order()
    {
        using (RunStore store = Create())
        {
            store.AddLaps(2, [[new LapMark(10, 0.5), new LapMark(20, 1.25)], [], [new LapMark(10, 0.75)]]);
            store.AddLaps(1, [[new LapMark(10, 3)]]);
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal([new StoredLap(1, 0, 1, 10, 3), new(2, 0, 1, 10, 0.5), new(2, 0, 2, 20, 1.25), new(2, 2, 1, 10, 0.75)], run.Laps);
    }

    [Fact]
    public void A_sample_array_that_is_filled_again_does_not_change_what_was_added()
    {
        using (RunStore store = Create())
        {
            MetricSample sample = RunParts.ServerSample(0);
            store.AddServerSample(sample);
            sample.Values[0] = -1;
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal(0, Assert.Single(run.ReadServerSamples()).Values[0]);
    }

    [Fact]
    public void A_result_of_the_same_phase_and_operation_is_replaced()
    {
        using (RunStore store = Create())
        {
            store.EndPhase(RunParts.Phase(1, "read", RunParts.Result("q4", operations: 5)));
            store.EndPhase(RunParts.Phase(1, "read", RunParts.Result("q4", operations: 7)));
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal(7, Assert.Single(Assert.Single(run.Phases).Operations).Operations);
    }

    [Theory]
    [InlineData(false, 0)]
    [InlineData(true, 1)]
    public void A_phase_that_begins_again_keeps_what_is_stored_of_it_only_when_it_goes_on_with_that(bool continues, int kept)
    {
        using (RunStore store = Create())
        {
            store.BeginPhase(RunParts.Phase(1, "read") with { IsComplete = false }, continues: false);
            store.AddSample(RunParts.Sample(0));
            store.AddHistogram(new StoredHistogram(1, "q4", IsWarmup: false, new byte[] { 9, 8 }));
            store.AddLaps(1, [[new LapMark(10, 3)]]);
            store.Flush();
            store.BeginPhase(RunParts.Phase(1, "read") with { IsComplete = false }, continues);
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.False(Assert.Single(run.Phases).IsComplete);
        Assert.Equal((kept, kept, kept), (run.ReadSamples().Count(), run.ReadHistograms().Count(), run.Laps.Count));
    }

    [Fact]
    public void Errors_of_the_same_code_and_name_add_up_and_keep_the_first_message()
    {
        using (RunStore store = Create())
        {
            store.AddErrors(
                [new ErrorCount(11000, "DuplicateKey", 2, "first", ["a"]), new ErrorCount(50, "MaxTimeMSExpired", 9, "slow", [])]);
            store.AddErrors([new ErrorCount(11000, "DuplicateKey", 3, "second", ["b"])]);
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal([9L, 5L], run.Errors.Select(e => e.Count));
        Assert.Equal("first", run.Errors[1].FirstMessage);
        Assert.Equal(["a"], run.Errors[1].Labels);
    }

    [Fact]
    public void State_is_kept_and_a_reopened_run_goes_on()
    {
        using (RunStore store = Create())
            store.SetState(RunState.Interrupted, "Ctrl+C", RunParts.Start.AddMinutes(1));
        using (RunStore store = RunStore.Open(_runs.At("a")))
        {
            Assert.Equal("Ctrl+C", store.Run.StoppedBecause);
            store.SetState(RunState.Running, null, null);
            store.EndPhase(RunParts.Phase(1, "read", RunParts.Result("q4")));
            store.SetState(RunState.Finished, null, RunParts.Start.AddMinutes(2));
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal("finished", run.StateText);
        Assert.Equal(RunParts.Start.AddMinutes(2), run.Run.EndedAt);
        Assert.Null(run.Run.StoppedBecause);
    }

    [Fact]
    public void A_reader_sees_a_running_run_while_it_is_written()
    {
        using RunStore store = Create();
        store.AddSample(RunParts.Sample(0));
        store.Flush();
        using StoredRun run = StoredRun.Open(_runs.At("a"));
        using IEnumerator<Sample> samples = run.ReadSamples().GetEnumerator();
        Assert.True(samples.MoveNext());
        store.AddSample(RunParts.Sample(1));
        store.AddCheckpoint(new Checkpoint(1, 10, 0));
        Assert.True(run.IsWriterAlive);
        Assert.Equal("running", run.StateText);
        Assert.Empty(run.Checkpoints);
        Assert.Equal(2, StoredRun.Open(_runs.At("a")).ReadSamples().Count());
    }

    [Fact]
    public void A_sample_is_on_disk_once_the_next_burst_has_begun()
    {
        var clock = new ManualClock();
        using RunStore store = RunStore.Create(_runs.At("a"), RunParts.Run(), RunParts.Settings(), clock);
        store.AddSample(RunParts.Sample(0));
        clock.Advance(0.4);
        store.AddSample(RunParts.Sample(0, "q5"));
        Assert.Empty(StoredRun.Open(_runs.At("a")).ReadSamples());
        clock.Advance(0.6);
        store.AddServerSample(RunParts.ServerSample(1));
        Assert.Equal(2, StoredRun.Open(_runs.At("a")).ReadSamples().Count());
    }

    [Fact]
    public void Counters_of_a_server_that_has_run_for_years_are_read_again_and_what_no_counter_is_is_left_out()
    {
        using (RunStore store = Create())
        {
            double[] values = [.. RunParts.ServerSample(1).Values];
            (values[0], values[1]) = (9e17, 9.2e18);
            store.AddServerSample(RunParts.ServerSample(1) with { Values = values });
        }

        double[] read = Assert.Single(StoredRun.Open(_runs.At("a")).ReadServerSamples()).Values;
        Assert.Equal((9e17, double.NaN), (read[0], read[1]));
    }

    [Fact]
    public void Many_threads_may_write_at_once()
    {
        using (RunStore store = Create())
        {
            Parallel.For(0, 200, i =>
            {
                store.AddSample(RunParts.Sample(i));
                store.AddErrors([new ErrorCount(1, "InternalError", 1, "x", [])]);
            });
        }

        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal(200, run.ReadSamples().Count());
        Assert.Equal(200, run.Errors[0].Count);
    }

    [Fact]
    public void What_a_killed_writer_committed_is_there_and_the_run_counts_as_aborted()
    {
        string folder = _runs.At("a");
        using RunStore store = Create();
        WriteOneStep(store);
        store.AddSample(RunParts.Sample(0, documents: 1500));
        store.Flush();
        // A copy of the open files is what kill -9 leaves: a log that was not folded into run.db. Its writer is made one that has ended.
        string killed = _runs.At("killed");
        Directory.CreateDirectory(killed);
        foreach (string file in Directory.GetFiles(folder))
            File.Copy(file, Path.Combine(killed, Path.GetFileName(file)));
        Assert.True(new FileInfo(Path.Combine(killed, "run.db-wal")).Length > 0);
        Sql(killed, "UPDATE meta SET value = '1' WHERE key = 'note.writer.startTicks'");

        using StoredRun run = StoredRun.Open(killed);
        Assert.False(run.IsWriterAlive);
        Assert.Equal("aborted", run.StateText);
        Assert.Equal(1500, run.DocumentsReached);
        Assert.Single(run.Checkpoints);
        using RunStore again = RunStore.Open(killed);
        again.AddCheckpoint(new Checkpoint(2, 2000, 0));
        Assert.True(StoredRun.Open(killed).IsWriterAlive);
    }

    [Fact]
    public void A_run_that_another_living_process_writes_is_not_opened_for_writing()
    {
        using (Create())
        {
        }

        using Process other = Process.Start("sleep", "60");
        try
        {
            string stat = File.ReadAllText($"/proc/{other.Id}/stat");
            string start = stat[(stat.LastIndexOf(')') + 2)..].Split(' ')[19];
            string boot = File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim();
            Sql(_runs.At("a"), $"INSERT INTO meta VALUES ('note.writer.pid', '{other.Id}'), ('note.writer.startTicks', '{start}'), "
                + $"('note.writer.boot', '{boot}')");
            Assert.Contains(
                $"is being written by process {other.Id}", Assert.Throws<RunStoreException>(() => RunStore.Open(_runs.At("a"))).Message);
            // Who is refused keeps no file open.
            Assert.DoesNotContain(new DirectoryInfo("/proc/self/fd").EnumerateFiles(),
                file => file.LinkTarget?.StartsWith(_runs.Path, StringComparison.Ordinal) == true);
            other.Kill();
            other.WaitForExit();
            RunStore.Open(_runs.At("a")).Dispose();
        }
        finally
        {
            other.Kill();
        }
    }

    [Fact]
    public void An_older_file_without_a_metric_reads_as_NaN_and_gets_the_column_when_it_is_written_again()
    {
        using (RunStore store = Create())
            store.AddServerSample(RunParts.ServerSample(0));
        Sql(_runs.At("a"), $"ALTER TABLE server_sample DROP COLUMN {MetricCatalogue.Server[^1].Name}");
        using (StoredRun old = StoredRun.Open(_runs.At("a")))
        {
            double[] values = Assert.Single(old.ReadServerSamples()).Values;
            Assert.True(double.IsNaN(values[^1]));
            Assert.Equal(2, values[2]);
        }

        using (RunStore store = RunStore.Open(_runs.At("a")))
            store.AddServerSample(RunParts.ServerSample(1));
        using StoredRun run = StoredRun.Open(_runs.At("a"));
        Assert.Equal(100 + MetricCatalogue.Server.Count - 1, run.ReadServerSamples().Last().Values[^1]);
    }

    private RunStore Create() => RunStore.Create(_runs.At("a"), RunParts.Run(), RunParts.Settings());

    private static void WriteOneStep(RunStore store)
    {
        store.SetDeployment(RunParts.Deployment());
        store.SetEnvironment(RunParts.Environment());
        store.EndPhase(RunParts.Grown(4, "q4", 1, 1000, RunParts.Result("q4", 8)));
        store.EndPhase(RunParts.Grown(3, "q4", 1, 1000, RunParts.Result("q4", 1)));
        store.EndPhase(RunParts.Grown(2, "batch", 1, 1000, RunParts.Result("batch")));
        store.EndPhase(RunParts.Grown(1, "unack", 1, 1000, RunParts.Result("unack")));
        store.AddHistogram(new StoredHistogram(4, "q4", IsWarmup: false, new byte[] { 9, 8 }));
        store.EndPhase(RunParts.Grown(5, "size", 1, 1000) with { Sizes = [RunParts.Sizes(1000)] });
        store.AddEvent(new RunEvent(2, "resumed", "again"));
        store.AddEvent(new RunEvent(1, "outage", "gone", 1.5));
        store.SetNote("dataFolder", "/tmp/data");
        store.AddCheckpoint(new Checkpoint(1, 1000, 5));
    }

    private static void Sql(string folder, string sql)
    {
        using var connection = new SqliteConnection($"Data Source={Path.Combine(folder, "run.db")};Pooling=False");
        connection.Open();
        using SqliteCommand command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    // Records compare lists by identity, so their JSON is compared.
    private static void AssertSame<T>(T expected, T? actual) =>
        Assert.Equal(JsonSerializer.Serialize(expected), JsonSerializer.Serialize(actual));
}
