using MongoPerf.Load.Failures;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Running.Merging;

/// <summary>Makes one run of several clients' runs of one plan: counts and histograms are added, times are by the server's clock.</summary>
/// <remarks>
/// What all of them saw of the server is taken from one of them, and what several saw of a machine that they shared likewise.
/// </remarks>
public sealed class RunMerger
{
    /// <summary>The kind of event that says that clients did not measure at the same time.</summary>
    public const string ApartEvent = "apart";

    /// <summary>By more of the longest window than this they may not begin apart.</summary>
    private const double ApartShare = 0.1;

    private readonly IReadOnlyList<StoredRun> _parts;
    private readonly IReadOnlyList<MergedClient> _clients;
    private readonly Plan? _plan;
    private readonly PhaseMerger _phases;

    /// <param name="parts">The parts of one plan (<see cref="MergeCheck"/>), at least one, in their order.</param>
    /// <param name="missing">Names of clients that left no run.</param>
    /// <param name="plan">The plan for its assertions; null checks none.</param>
    public RunMerger(IReadOnlyList<StoredRun> parts, IReadOnlyList<string> missing, Plan? plan)
    {
        _parts = parts;
        _plan = plan;
        _clients =
        [
            .. parts.Select((part, i) => Describe(part, i)),
            .. missing.Select(name => new MergedClient(name, "none", MergedClient.Missing)),
        ];
        _phases = new PhaseMerger([.. _clients.Take(parts.Count).Select(client => client.Name)]);
    }

    /// <summary>Assertions that the clients together do not hold, with their phases.</summary>
    public IReadOnlyList<string> FailedAssertions { get; private set; } = [];

    private bool IsWhole => _clients.All(client => client.State == "finished");

    /// <summary>What the merged run says about itself.</summary>
    /// <param name="id">Its id.</param>
    /// <param name="commandLine">The command line as typed, secrets masked.</param>
    public RunInfo Head(string id, string commandLine) => _parts[0].Run with
    {
        Id = id,
        CommandLine = commandLine,
        StartedAt = _parts.Min(part => part.Run.StartedAt + Shift(part)),
        EndedAt = null,
        State = RunState.Running,
        StoppedBecause = null,
        Part = null,
        Repeat = null,
        Clients = _clients,
    };

    /// <summary>Writes all but the head, and ends the run.</summary>
    /// <exception cref="HistogramFormatException">A part's histogram is damaged.</exception>
    public void Write(RunStore store)
    {
        store.SetNote(StoredRun.PartTokensNote, string.Join(' ', _parts.Select(part => part.Token)));
        if (_parts.Select(part => part.FindNote(StoredRun.ReplayTargetNote)).FirstOrDefault(note => note is not null) is { } target)
            store.SetNote(StoredRun.ReplayTargetNote, target);
        if (_parts.Select(part => part.Deployment).FirstOrDefault(deployment => deployment is not null) is { } deployment)
            store.SetDeployment(deployment with { Remarks = [.. deployment.Remarks, Remark()] });
        if (_parts.Select(part => part.Environment).FirstOrDefault(environment => environment is not null) is { } environment)
            store.SetEnvironment(environment with { CpuCount = CpuCount(), Calibration = null, Clock = null, Host = null });
        WritePhases(store);
        WriteServers(store);
        store.AddErrors(ErrorTally.Merge(_parts.Select(part => part.Errors)));
        foreach ((int i, StoredRun part) in _parts.Index())
        {
            foreach (RunEvent happened in part.Events.Where(happened => i == 0 || happened.Kind != RunEvent.Phase))
                store.AddEvent(happened with
                {
                    AtMilliseconds = At(part, happened.AtMilliseconds),
                    Text = happened.Kind == RunEvent.Phase ? happened.Text : $"{_clients[i].Name}: {happened.Text}",
                });
        }

        string[] wrong = [.. _clients.Where(client => client.State != "finished")
            .Select(client => $"{client.Name} is {client.State}{(client.StoppedBecause is { } why ? $" ({why})" : "")}")];
        DateTimeOffset ended = _parts.Max(part => (part.Run.EndedAt ?? part.Run.StartedAt) + Shift(part));
        store.SetState(IsWhole ? RunState.Finished : RunState.Interrupted, IsWhole ? null : $"partial: {string.Join(", ", wrong)}", ended);
        store.Flush();
    }

    private static MergedClient Describe(StoredRun part, int i) =>
        new(part.Run.Part?.Name ?? $"client {i + 1}", part.Run.Id, part.StateText)
        {
            Host = part.Environment?.Host,
            CpuCount = part.Environment?.CpuCount,
            Clock = part.Environment?.Clock,
            StoppedBecause = part.Run.StoppedBecause,
        };

    private string Remark()
    {
        int unknown = _parts.Count(part => part.Environment?.Clock is null);
        string clocks = unknown == 0 ? ""
            : unknown == _parts.Count ? "; their clocks were not compared" : $"; the clocks of {unknown} were not compared";
        return $"merged from the {(_clients.Count == 1 ? "run of one client" : $"runs of {_clients.Count} clients")}"
            + $"{(IsWhole ? "" : ", of which some did not finish")}{(_parts.Count > 1 ? clocks : "")}";
    }

    /// <summary>The CPUs of all machines together, each machine once.</summary>
    private int CpuCount() => _parts.Select(part => part.Environment).OfType<EnvironmentInfo>()
        .GroupBy(environment => environment.Host ?? "").Sum(machine => machine.Max(environment => environment.CpuCount));

    private void WritePhases(RunStore store)
    {
        ILookup<int, StoredHistogram> histograms = _parts.SelectMany(part => part.ReadHistograms()).ToLookup(histogram => histogram.Phase);
        IEnumerator<Sample>[] samples = [.. _parts.Select(part => part.ReadSamples(withHistograms: true, withSteps: true).GetEnumerator())];
        bool[] hasMore = [.. samples.Select(own => own.MoveNext())];
        var failed = new List<string>();
        foreach (int number in _parts.SelectMany(part => part.Phases).Select(phase => phase.Number).Distinct().Order())
        {
            StoredHistogram[] whole = [.. histograms[number].GroupBy(histogram => (histogram.Operation, histogram.IsWarmup)).Select(Sum)];
            PhaseRecord?[] records = [.. _parts.Select(part => part.Phases.FirstOrDefault(phase => phase.Number == number))];
            var seconds = new SampleMerger();
            foreach ((int client, StoredRun part) in _parts.Index())
                seconds.Add(client, Next(client, part));
            PhaseStarts? starts = PhaseStarts.Find(records, _parts);
            Dictionary<string, StoredHistogram> measured =
                whole.Where(histogram => !histogram.IsWarmup).ToDictionary(histogram => histogram.Operation);
            PhaseRecord record = _phases.Merge(records, measured) with
            {
                StartedAtMilliseconds = starts?.First, Clock = null,
                StartSkewMilliseconds = _parts.Count > 1 ? starts?.Skew : null,
                StartSkewUncertaintyMilliseconds = _parts.Count > 1 ? starts?.Uncertainty : null,
            };
            // One client looked for all.
            IEnumerable<AssertionResult> conditions =
                records.OfType<PhaseRecord>().SelectMany(part => part.Assertions).Where(assertion => assertion.IsCheck);
            record = record with
            {
                Assertions = [.. conditions, .. Check(record, measured)],
                IsComplete = record.IsComplete && _clients.Count == _parts.Count,
            };
            failed.AddRange(record.Assertions.Where(assertion => !assertion.Holds)
                .Select(assertion => assertion.FailedIn(record.Phase)));
            store.BeginPhase(record, continues: false);
            store.EndPhase(record);
            foreach (StoredHistogram histogram in whole)
                store.AddHistogram(histogram);
            foreach (Sample sample in seconds.Take())
                store.AddSample(sample);
            NoteApart(store, record);
            WriteLaps(store, number);

            // Phases follow one another, also in a run that was resumed.
            IEnumerable<Sample> Next(int client, StoredRun part)
            {
                for (; hasMore[client] && samples[client].Current.Phase <= number; hasMore[client] = samples[client].MoveNext())
                    yield return samples[client].Current with
                    {
                        Phase = number, AtMilliseconds = At(part, samples[client].Current.AtMilliseconds),
                    };
            }
        }

        foreach (IEnumerator<Sample> own in samples)
            own.Dispose();
        FailedAssertions = failed;
    }

    private static StoredHistogram Sum(IGrouping<(string Operation, bool IsWarmup), StoredHistogram> same) =>
        new(same.First().Phase, same.Key.Operation, same.Key.IsWarmup, SampleMerger.Add(same.Select(one => one.Encoded)).Encoded)
        {
            Response = SampleMerger.Add(same.Select(one => one.Response)).Encoded,
            Lateness = SampleMerger.Add(same.Select(one => one.Lateness)).Encoded,
        };

    private static void NoteApart(RunStore store, PhaseRecord record)
    {
        double longest = record.Operations.Select(result => result.WarmupSeconds + result.Seconds).DefaultIfEmpty(0).Max();
        if (record.StartSkewMilliseconds is not { } skew || skew / 1000 <= ApartShare * longest || skew < 1000)
            return;
        store.AddEvent(new RunEvent((long)(record.StartedAtMilliseconds!.Value + skew),
            ApartEvent, $"{record.Phase}: the clients began {skew / 1000:0.0} s apart, so the sum of their rates was never the actual load",
            skew / 1000));
    }

    /// <summary>Threads are numbered through.</summary>
    private void WriteLaps(RunStore store, int number) => store.AddLaps(number,
    [
        .. _parts.SelectMany(part => part.Laps.Where(lap => lap.Phase == number).GroupBy(lap => lap.Thread).OrderBy(thread => thread.Key)
            .Select(thread => (IReadOnlyList<LapMark>)[.. thread.Select(lap => new LapMark(lap.Done, lap.Seconds))])),
    ]);

    private AssertionResult[] Check(PhaseRecord record, Dictionary<string, StoredHistogram> measured)
    {
        Phase? phase = _plan?.Phases.SelectMany(one => one.Growth?.Each ?? [one])
            .FirstOrDefault(one => one.Name == record.Phase
                && one.Parameters.Select(p => new ParameterValue(p.Key, p.Value)).SequenceEqual(record.Parameters));
        return [.. (phase?.Assertions ?? []).Select(assertion => AssertionCheck.Check(assertion, record,
            () => measured.Select(one => (one.Key, one.Value.ToLatency()))))];
    }

    /// <summary>Each server and shard as one client saw it: the one that looked most often.</summary>
    private void WriteServers(RunStore store)
    {
        WriteMetrics(part => part.ReadServerSamples(), store.AddServerSample);
        WriteMetrics(part => part.ReadShardSamples(), store.AddShardSample);
        WriteMetrics(part => part.ReadReplicaSamples(), store.AddReplicaSample);
        if (_parts.FirstOrDefault(part => part.ReadChunkEvents().Any()) is { } watcher)
            store.AddChunkEvents([.. watcher.ReadChunkEvents()]);
        foreach (IGrouping<string, (int Index, StoredRun Part)> machine in _parts.Index()
            .GroupBy(part => part.Item.Environment?.Host ?? _clients[part.Index].Name))
        {
            foreach (MetricSample sample in new HostMerger([.. machine.Select(one => HostSamples(one.Part))]).Merge())
                store.AddHostSample(sample with { Member = machine.Key });
        }
    }

    private static IEnumerable<MetricSample> HostSamples(StoredRun part) =>
        part.ReadHostSamples().Select(sample => sample with { AtMilliseconds = At(part, sample.AtMilliseconds) });

    private void WriteMetrics(Func<StoredRun, IEnumerable<MetricSample>> read, Action<MetricSample> add)
    {
        var watchers =
            _parts.SelectMany(part => read(part).GroupBy(sample => sample.Member).Select(own => (own.Key, Part: part, Count: own.Count())))
                .GroupBy(own => own.Key).ToDictionary(own => own.Key, own => own.MaxBy(one => one.Count).Part);
        foreach (StoredRun part in watchers.Values.Distinct())
        {
            foreach (MetricSample sample in read(part).Where(sample => watchers[sample.Member] == part))
                add(sample with { AtMilliseconds = At(part, sample.AtMilliseconds) });
        }
    }

    private static long At(StoredRun part, long milliseconds) => milliseconds + (long)Math.Round(Shift(part).TotalMilliseconds);

    private static TimeSpan Shift(StoredRun part) => TimeSpan.FromMilliseconds(part.Environment?.Clock?.OffsetMilliseconds ?? 0);

    /// <summary>When the clients began a phase, by a common clock.</summary>
    /// <param name="First">Unix time, milliseconds.</param>
    /// <param name="Last">Unix time, milliseconds.</param>
    /// <param name="Uncertainty">What their distance may be off, both ways, in milliseconds; null where it is not known.</param>
    private sealed record PhaseStarts(double First, double Last, double? Uncertainty)
    {
        public double Skew => Math.Round(Last - First, 3);

        /// <param name="records">The records of one phase, by client; null for a client that did not come to it.</param>
        /// <param name="parts">The clients' runs.</param>
        /// <returns>Null where nobody measured.</returns>
        public static PhaseStarts? Find(IReadOnlyList<PhaseRecord?> records, IReadOnlyList<StoredRun> parts)
        {
            // Clients that waited for one another compared their clocks just then, with one server's; others did when their runs began.
            (PhaseRecord Record, StoredRun Part)[] began = [.. records.Zip(parts)
                .Where(pair => pair.First?.StartedAtMilliseconds is not null).Select(pair => (pair.First!, pair.Second))];
            if (began.Length == 0)
                return null;
            bool isFresh = began.All(one => one.Record.Clock is { } clock && clock.Server == began[0].Record.Clock?.Server);
            ClientClock?[] clocks = [.. began.Select(one => isFresh ? one.Record.Clock : one.Part.Environment?.Clock)];
            (double At, ClientClock? Clock)[] starts = [.. began.Zip(clocks)
                .Select(pair => (pair.First.Record.StartedAtMilliseconds!.Value + (pair.Second?.OffsetMilliseconds ?? 0), pair.Second))];
            var (first, last) = (starts.MinBy(start => start.At), starts.MaxBy(start => start.At));
            // Clients of one machine agreed on one estimate, which errs for all of them alike.
            double? uncertainty = starts.Any(start => start.Clock is null) ? null
                : isFresh && first.Clock == last.Clock ? 0
                : first.Clock!.UncertaintyMilliseconds + last.Clock!.UncertaintyMilliseconds;
            return new PhaseStarts(first.At, last.At, uncertainty);
        }
    }
}
