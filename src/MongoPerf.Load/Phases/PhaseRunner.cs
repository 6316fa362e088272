using MongoPerf.Load.Documents;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>What a phase came to.</summary>
/// <param name="Record">The record with its results; not stored as complete yet.</param>
/// <param name="Groups">What each group counted; those that never began are left out.</param>
internal sealed record PhaseOutcome(PhaseRecord Record, IReadOnlyList<GroupResult> Groups)
{
    public Exception? GivenUp => Groups.Select(group => group.GivenUp).FirstOrDefault(failure => failure is not null);

    /// <summary>A group that has an end did not come to it; those without one are always stopped.</summary>
    public bool WasStopped { get; init; }
}

/// <summary>Runs phases: all groups of one at once, its samples stored as they come.</summary>
internal sealed class PhaseRunner(RunContext run)
{
    /// <summary>Runs one phase; the caller stores its record when all else that belongs to it is done.</summary>
    /// <param name="phase">The phase of the plan.</param>
    /// <param name="head">Its record without results.</param>
    /// <param name="numbers">What its first group inserts; null for a phase that fills nothing.</param>
    /// <param name="continues">What an attempt that was interrupted left in the store belongs to the result.</param>
    /// <param name="stop">Ends it early.</param>
    public PhaseOutcome Run(Phase phase, PhaseRecord head, NumberSource? numbers, bool continues, CancellationToken stop)
    {
        if (phase.Loads is null)
            run.Options.AwaitReplication(stop);
        run.Store.BeginPhase(head, continues);
        run.Observer.OnPhaseStarted(head, [.. phase.Groups.SelectMany(g => g.Operations).Select(o => o.Operation.Name).Distinct()]);
        QueryPlans? plans = phase.ExplainsQueries ? QueryPlans.Explain(run.Data, phase) : null;
        if (plans is { Unexplained: { Count: > 0 } unexplained } && run.Unexplained.Add(string.Join(", ", unexplained)))
            run.Report("explain", $"{string.Join(", ", unexplained)}: the server gives no query plan, so index and documents examined are "
                + "unknown");
        // What earlier phases left (histograms, buffers) is collected now, so that it neither piles up over hundreds of phases nor is
        // collected in the middle of this one. Not by each group: another one may be measured already. Nor on a clock that tests move:
        // nothing is measured there, and thousands of collections of the test host's heap took most of the tests' time.
        if (run.Clock is SystemClock)
            GC.Collect();
        (PhaseGroup Group, GroupResult? Result)[] all = [.. RunGroups(phase, head, numbers, stop)];
        (PhaseGroup Group, GroupResult Result)[] groups = [.. all.Where(g => g.Result is not null).Select(g => (g.Group, g.Result!))];
        foreach ((_, GroupResult result) in groups)
            Keep(head.Number, result);
        run.Store.AddLaps(head.Number, [.. groups.SelectMany(g => g.Result.Laps)]);
        GroupResult? first = groups.Select(g => g.Result).MinBy(result => result.StartedAt);
        IReadOnlyList<OperationResult> results = [.. groups.SelectMany(g => ResultsOf(g.Group, g.Result))];
        return new PhaseOutcome(
            head with
            {
                StartedAtMilliseconds = first is null ? null : (first.StartedAt - DateTimeOffset.UnixEpoch).TotalMilliseconds,
                Clock = first?.Clock,
                Groups = [.. groups.Select(g => ShareOf(g.Group, g.Result))],
                Joint =
                    groups.Length > 1
                        ? JointLatency.Of([.. groups.SelectMany(g => g.Result.Parts).Where(part => part.Changes is null)
                            .Select(part => part.Latency)])
                        : null,
                Operations = plans is null || groups.Any(g => g.Result.GivenUp is not null) ? results
                    : plans.AddTo(results, stop.IsCancellationRequested ? 0 : groups.Sum(g => g.Result.Accounting.Succeeded)),
            },
            [.. groups.Select(g => g.Result)])
        {
            WasStopped = all.Where((g, i) => HasEnd(g.Group, i, numbers)).Any(g => g.Result is not { WasStopped: false }),
        };
    }

    /// <summary>Checks what the phase asserts and stores it as complete.</summary>
    public PhaseRecord Complete(Phase phase, PhaseOutcome outcome)
    {
        AssertionResult[] assertions = [.. outcome.Record.Assertions, .. phase.Assertions.Select(a => AssertionCheck.Check(a, outcome))];
        PhaseRecord record = outcome.Record with
        {
            Assertions = assertions,
            NextNumbers = run.Keys.ToDictionary(keys => keys.Key, keys => keys.Value.Next),
            IsComplete = outcome.GivenUp is null && !outcome.WasStopped,
        };
        run.Store.EndPhase(record);
        run.Observer.OnPhaseFinished(record);
        return record;
    }

    /// <summary>The phase's name and its parameters, for people.</summary>
    public static string LabelOf(Phase phase) =>
        phase.Parameters.Count == 0 ? phase.Name
            : $"{phase.Name} ({string.Join(", ", phase.Parameters.Select(p => $"{p.Key}={p.Value}"))})";

    /// <summary>
    /// The seed of a group's streams. Each phase, size and repeat asks for other documents: the same ones would be in the server's
    /// cache since the one before. It goes by names, not by places, so that a phase asks for the same alone, in a resumed run, and
    /// after others are added.
    /// </summary>
    internal static ulong SeedOf(Phase phase, PhaseGroup group, GrowthPoint? growth, PlanRunOptions options) =>
        Mixing.Mix(options.Seed ^ Salt.Of($"{growth?.Growth}/{growth?.Documents}/{LabelOf(phase)}/{group.Name}/{options.Repeat}"));

    private void Keep(int number, GroupResult result)
    {
        run.HasFailedSinceCheckpoint |= result.Accounting.Failed > 0;
        run.Store.AddErrors(result.Errors);
        foreach (OperationCount part in result.Counted)
        {
            run.Store.AddHistogram(part.Encode(number, ofWarmup: false));
            if (result.WarmupSeconds > 0)
                run.Store.AddHistogram(part.Encode(number, ofWarmup: true));
            foreach (StoredHistogram step in part.EncodeSteps(number, ofWarmup: false))
                run.Store.AddHistogram(step);
            if (part.EncodeRecorded(number) is { } recorded)
                run.Store.AddHistogram(recorded);
        }
    }

    /// <summary>
    /// Runs the groups at once; those without a limit end with the last that has one. Those that watch a collection begin before all others
    /// and end after them, so that they can see every write.
    /// </summary>
    private IEnumerable<(PhaseGroup Group, GroupResult? Result)> RunGroups(
        Phase phase, PhaseRecord head, NumberSource? numbers, CancellationToken stop)
    {
        using var tracked = new PhaseWrites(phase, run.Keys, numbers);
        if (phase.Groups.Count == 1)
            return [(phase.Groups[0], RunGroup(phase, phase.Groups[0], head, numbers, tracked, stop))];
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        using var written = new CancellationTokenSource();
        Task<GroupResult?>[] tasks =
        [
            .. phase.Groups.Select((group, i) => Task.Factory.StartNew(
                () =>
                {
                    try
                    {
                        CancellationToken end = PhaseWrites.IsWatcher(group) ? written.Token : ended.Token;
                        GroupResult? result = RunGroup(phase, group, head, i == 0 ? numbers : null, tracked, end);
                        if (result?.GivenUp is not null)
                            ended.Cancel();
                        return result;
                    }
                    catch (Exception e) when (ended.IsCancellationRequested && ErrorTally.IsServerAway(e) && (i > 0 || numbers is null))
                    {
                        // The phase ended before the group began. Without the writer there is no phase.
                        return null;
                    }
                    catch
                    {
                        ended.Cancel();
                        throw;
                    }
                },
                CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default)),
        ];
        WaitForAll(tasks.Where((_, i) => HasEnd(phase.Groups[i], i, numbers)));
        ended.Cancel();
        WaitForAll(tasks.Where((_, i) => !PhaseWrites.IsWatcher(phase.Groups[i])));
        written.Cancel();
        WaitForAll(tasks);
        return [.. phase.Groups.Select((group, i) => (group, tasks[i].GetAwaiter().GetResult()))];
    }

    /// <summary>Waits for all workers, also for those that fail: their exceptions come when results are taken.</summary>
    private static void WaitForAll(IEnumerable<Task> tasks) => Task.WhenAny(Task.WhenAll(tasks)).Wait(CancellationToken.None);

    private static bool HasEnd(PhaseGroup group, int place, NumberSource? numbers) =>
        group.IsLimited || (place == 0 && numbers is not null);

    /// <returns>Null when the phase ended before the group began.</returns>
    private GroupResult? RunGroup(
        Phase phase, PhaseGroup group, PhaseRecord head, NumberSource? numbers, PhaseWrites tracked, CancellationToken stop)
    {
        if (group.AfterSeconds > 0 && !run.Wait(group.AfterSeconds, stop))
            return null;
        string name = group.Name.Length > 0 ? $"{phase.Name}.{group.Name}" : phase.Name;
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stop);
        Func<IReadOnlyList<Sample>, bool> isEnough = group.Until is { } until ? run.Options.Watch(until, name) : static _ => false;
        // Each client of several opens its part of them.
        int threads = group.Connections is { Kind: ConnectionKind.Storm }
            ? (int)run.Options.Share.Of(group.Threads)
            : group.Threads;
        bool hasEnough = false;
        Meeting? met = null;
        var recorder = new SampleRecorder(run, name, samples =>
        {
            hasEnough = hasEnough || isEnough([.. samples.Where(sample => sample.Operation != group.Connections?.Name)]);
            if (hasEnough || !run.MayGoOn())
                ended.Cancel();
        });
        GroupResult result = run.Groups.Run(new GroupPlan
        {
            Phase = head.Number,
            Name = name,
            Operations = Bind(group, tracked),
            Threads = threads,
            Connections = group.Connections,
            FirstThread = phase.Groups.TakeWhile(other => !ReferenceEquals(other, group)).Sum(other => other.Threads),
            Seed = SeedOf(phase, group, head.Growth, run.Options),
            Share = run.Options.Share,
            BeforeStart = () =>
            {
                met = tracked.Await(group, ended.Token) ? run.Join(head.Number, MeetingStage.Start, ended.Token) : null;
                if (met is null)
                    ended.Cancel();
                return met?.StartAt;
            },
            Numbers = numbers,
            HasRanges = phase.HasRanges,
            Lap = phase.Lap,
            Seconds = group.Seconds,
            WarmupSeconds = group.WarmupSeconds,
            Count = group.Count is { } count ? run.Options.Share.Of(count) : null,
            Rate = group.Rate,
            Script = group.Script,
            Think = group.Think,
            ThreadSteps = group.ThreadSteps,
            VerifyShare = run.Options.VerifyShare,
            MaxRefused = numbers is null ? null : run.Options.MaxErrors,
            ReconnectFor = run.Options.ReconnectFor,
            CollectionDocuments = numbers?.First ?? run.Keys.GetValueOrDefault(group.Operations[0].Operation.Collection)?.Count ?? 0,
        }, recorder, ended.Token) with { Clock = met?.Clock };
        // Its time was over, as if that had been its length.
        return hasEnough && !stop.IsCancellationRequested && run.StopReason is null ? result with { WasStopped = false } : result;
    }

    /// <summary>Ties the group's operations to the keys that are there now.</summary>
    private IReadOnlyList<WeightedOperation> Bind(PhaseGroup group, PhaseWrites tracked) =>
        [.. group.Operations.Select(o => o with { Operation = tracked.Bind(Bind(o.Operation, group)) })];

    private Operation Bind(Operation operation, PhaseGroup group)
    {
        if (operation is CompositeOperation several)
            return several.Each(one => Bind(one, group));
        KeySpace? keys = run.Keys.GetValueOrDefault(operation.Collection);
        if (operation.Inserts)
            return operation with { Keys = keys };
        if (operation.Choice is null || keys is null)
            return operation;
        Operation bound = operation with { Chooser = operation.Choice.Open(keys, group.ExpectedInserts(operation.Collection)) };
        // What an operation finds in an empty collection depends on how far the inserts beside it are.
        return keys.Count == 0 || run.Refused.AnyIn(bound.Collection) || run.Incomplete.Contains(bound.Collection)
            ? bound.Unchecked : bound;
    }

    private static GroupShare ShareOf(PhaseGroup group, GroupResult result) =>
        GroupShare.Of(group.Name, result.Seconds, result.ThreadOperations, result.Accounting) with
        {
            Waiting = result.Waiting,
            OversleptSeconds = result.OversleptSeconds,
            Traffic = result.Traffic,
            Mix = result.Parts.Count > 1 ? [.. result.Parts.Select(part => part.Operation.Name)] : [],
            Joint = JointLatency.Of([.. result.Parts.Select(part => part.Latency)]),
        };

    /// <returns>Null where neither rate nor threads change.</returns>
    private static IReadOnlyList<CoursePiece>? CourseOf(PhaseGroup group)
    {
        if (group.Rate is { IsSteady: false } rate)
            return [.. rate.Pieces.Select(piece => new CoursePiece(piece.From, piece.To, piece.Seconds))];
        return group.ThreadSteps.Select(step => step.Threads).Distinct().Count() < 2 ? null
            : [.. group.ThreadSteps.Select((step, i) => new CoursePiece(step.Threads, step.Threads,
                i + 1 < group.ThreadSteps.Count ? group.ThreadSteps[i + 1].AtSeconds - step.AtSeconds : 0))];
    }

    private static IEnumerable<OperationResult> ResultsOf(PhaseGroup group, GroupResult result)
    {
        // An end within the warm-up leaves nothing measured, over hardly any time: its rates are 0.
        double seconds = result.Operations + result.Failed > 0 && result.Seconds > 0 ? result.Seconds : double.PositiveInfinity;
        return result.Counted.Select(part => new OperationResult
        {
            Operation = part.Operation.Name,
            Collection = part.Operation.Collection is { Length: > 0 } collection ? collection : null,
            Threads = result.ThreadOperations.Count,
            IsInsert = part.Operation.Inserts,
            IsUnacknowledged = part.Operation.Concerns.IsUnacknowledged,
            ServerCounter = part.Operation.ServerCounter,
            Batch = part.Operation.DocumentsPerCommand,
            Operations = part.Operations,
            Documents = part.Documents,
            Failed = part.Failed,
            ShortReplies = part.ShortReplies,
            Effect = part.Effect,
            InFlightAtStart = part.InFlightAtStart,
            InFlightAtEnd = part.InFlightAtEnd,
            WarmupSeconds = result.WarmupSeconds,
            Seconds = result.Seconds,
            OperationsPerSecond = part.Operations * DueIn(part) / seconds,
            DocumentsPerSecond = part.Documents * DueIn(part) / seconds,
            MegabytesPerSecond = part.Bytes * DueIn(part) / seconds / 1e6,
            ClientCpuMicrosecondsPerOperation = result.Operations == 0 ? 0 : result.ClientCpuSeconds * 1e6 / result.Operations,
            ClientCpuCores = result.ClientCpuSeconds / seconds,
            ClientAllocatedBytesPerOperation = result.Operations == 0 ? 0 : (double)result.ClientAllocatedBytes / result.Operations,
            LatencyMicroseconds = LatencySummaries.From(part.Service),
            ResponseMicroseconds = LatencySummaries.FromPaced(part.Response),
            LatenessMicroseconds = LatencySummaries.FromPaced(part.Lateness),
            ClientLatenessMicroseconds = LatencySummaries.FromPaced(part.ClientLateness),
            Verified = part.Verified,
            Wrong = part.Wrong,
            // What a mix left undone belongs to none of its operations.
            Accounting = result.Parts.Count == 1 && part != result.Connections
                ? result.Accounting
                : new Accounting(part.AllSucceeded + part.AllFailed, part.AllSucceeded, part.AllFailed, 0),
            Members = part.Members,
            Course = CourseOf(group),
            Steps = part.Steps,
            Transactions = part.Transactions,
            Changes = part.Changes,
            Replay = part.Replay,
            Connections = part.Operation is ConnectionUse use ? new ConnectionResult(use.Kind, use.Kind switch
            {
                ConnectionKind.Pool => use.Count,
                ConnectionKind.Storm => result.ThreadOperations.Count,
                _ => 0,
            }) { Storms = result.Storms } : null,
            Errors = part.Errors,
        });

        // Of an open loop the window is what was asked for. Operations under way at its end count, so those under way at its start must
        // not raise the rate, unless there are no others: what has a latency has a rate.
        double DueIn(OperationCount part) => group.Rate is null || part.InFlightAtStart is not { } before
            || before.Operations == part.Operations ? 1 : 1 - ((double)before.Operations / part.Operations);
    }

    /// <summary>Stores a group's samples and events, and shows them.</summary>
    private sealed class SampleRecorder(RunContext run, string name, Action<IReadOnlyList<Sample>> afterSample) : IGroupObserver
    {
        public void OnInterval(IReadOnlyList<Sample> samples)
        {
            foreach (Sample sample in samples)
            {
                run.Store.AddSample(sample);
                if (!StepResult.IsKey(sample.Operation))
                    run.Observer.OnSample(sample);
            }

            afterSample([.. samples.Where(sample => !StepResult.IsKey(sample.Operation))]);
        }

        public void OnEvent(string kind, string text, double? seconds) => run.Report(kind, $"{name}: {text}", seconds);
    }
}
