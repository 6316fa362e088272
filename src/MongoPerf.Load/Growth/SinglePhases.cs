using System.Runtime.ExceptionServices;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Growth;

/// <summary>Runs the phases of a plan that are no growth, one at a time: loads, measurements, collections made, sizes taken.</summary>
internal sealed class SinglePhases(RunContext run, PlanRound round, RunProgress before)
{
    private readonly PhaseRunner _phases = new(run);

    /// <summary>The phase's record without results.</summary>
    public PhaseRecord HeadOf(Phase phase, int number) => new()
    {
        Number = number,
        Phase = phase.Name,
        Description = phase.Description,
        Kind = phase.Creates is not null ? PhaseKind.Create : phase.Loads is not null ? PhaseKind.Load
            : phase.Measures is not null ? PhaseKind.Sizes
            : phase.Checks is not null || phase.Conditions.Count > 0 ? PhaseKind.Check : PhaseKind.Measure,
        Collection = phase.Creates ?? phase.Loads ?? phase.Measures ?? phase.Checks
            ?? phase.Groups.SelectMany(g => g.Operations).Select(o => o.Operation.Collection).FirstOrDefault(name => name.Length > 0),
        Lap = phase.Lap,
        Rate = phase.Groups.Any(g => g.Rate is not null) ? phase.Groups.Sum(g => g.Rate?.Highest ?? 0) : null,
        Parameters = [.. phase.Parameters.Select(p => new ParameterValue(p.Key, p.Value))],
        NotVerified = phase.NotVerified is { } change
            ? new StoredMessage(MessageCode.DocumentsChanged, change.Operation, change.Phase, change.Collection)
            : null,
    };

    /// <param name="phase">The phase of the round.</param>
    /// <param name="head">Its record.</param>
    /// <param name="stop">Ends it early.</param>
    /// <param name="findLoaded">For a load, looks for documents that are there and whole.</param>
    /// <returns>Null when it was stopped in its middle.</returns>
    public PhaseRecord? Run(Phase phase, PhaseRecord head, CancellationToken stop, Func<long>? findLoaded = null)
    {
        if (!run.Wait(phase.PauseSeconds, stop))
            return null;
        if (phase.Restart != ServerRestart.None)
            Restart(phase.Restart);
        if (head.Growth is null)
            run.Report(RunEvent.Phase, PhaseRunner.LabelOf(phase));
        if (!run.Options.Share.IsWhole && WrittenBy(phase) is { Length: > 0 } written)
        {
            if (run.Join(head.Number, MeetingStage.Look, stop) is not { } met)
                return null;
            LookFor(phase, written);
            if (met.Farthest > Meeting.PositionOf(head.Number, MeetingStage.End))
                return Late(phase, head);
        }

        return head.Kind switch
        {
            PhaseKind.Create => ByOne(phase, head, () => Create(phase, head, stop), stop),
            PhaseKind.Load => Load(phase, head, findLoaded?.Invoke() ?? 0, stop),
            PhaseKind.Sizes => ByOne(phase, head, () => Measure(phase, head), stop),
            PhaseKind.Check when phase.Checks is null => ByOne(phase, head, () => CheckConditions(phase, head, stop), stop),
            PhaseKind.Check => ByOne(phase, head, () => Check(phase, head), stop),
            _ when phase.IsForCluster => ByOne(phase, head, () => RunMeasured(phase, head, stop), stop),
            _ => RunMeasured(phase, head, stop),
        };
    }

    /// <summary>What a load that begins at a number still has to write.</summary>
    internal static NumberRange Left(PlanCollection collection, long from) => new(from, Math.Max(from, collection.Count));

    /// <summary>What it loads, or inserts into.</summary>
    private PlanCollection[] WrittenBy(Phase phase) => phase.Loads is { } loaded
        ? [CollectionOf(loaded)]
        : [.. round.Collections.Where(c => IsInsertedInto(phase, c.Name))];

    private static bool IsInsertedInto(Phase phase, string collection) =>
        phase.Groups.SelectMany(group => group.Operations).Any(item => item.Operation.InsertsInto(collection));

    /// <summary>
    /// An attempt at the phase may have been interrupted of which this client has nothing stored: the numbers that it used
    /// are not used again.
    /// </summary>
    private void LookFor(Phase phase, PlanCollection[] written)
    {
        foreach (PlanCollection collection in written.Where(c => phase.Loads is null && run.Data.FindsDocuments(c)))
            run.Keys[collection.Name] = new KeySpace(new Filling(run)
                .FindInserted(collection, run.Keys[collection.Name].Next, VouchedDocuments.MayShrink(round, collection)));
    }

    /// <summary>
    /// The others have ended the phase, together with this client, and gone on. What it measured then counts; what it would add now
    /// they would not know of.
    /// </summary>
    private PhaseRecord Late(Phase phase, PhaseRecord head)
    {
        PhaseRecord? measured = before.Find(head.Number);
        if (measured is not { Operations.Count: > 0 })
            run.Report("late", $"{PhaseRunner.LabelOf(phase)}: the other clients have gone on; what this one measured of it is lost");
        run.Store.BeginPhase(measured ?? head, continues: true);
        run.Observer.OnPhaseStarted(head, []);
        if (phase.Loads is { } loaded)
            run.Keys[loaded] = new KeySpace(Left(CollectionOf(loaded), run.Keys[loaded].Next).End);
        long documents = head.Collection is { } name ? run.Keys[name].Next : 0;
        return _phases.Complete(phase with { Assertions = [] }, new PhaseOutcome((measured ?? head) with { Documents = documents }, []));
    }

    /// <summary>What the first client does for all.</summary>
    private PhaseRecord? ByOne(Phase phase, PhaseRecord head, Func<PhaseRecord?> act, CancellationToken stop)
    {
        if (!run.Meet(head.Number, MeetingStage.Start, stop))
            return null;
        PhaseRecord? record = run.Options.Share.IsFirst ? act() : Follow(phase, head);
        return run.Meet(head.Number, MeetingStage.End, stop) ? record : null;
    }

    private PhaseRecord Follow(Phase phase, PhaseRecord head)
    {
        run.Store.BeginPhase(head, continues: false);
        run.Observer.OnPhaseStarted(head, []);
        if (phase.Creates is { } made)
        {
            run.Keys[made] = new KeySpace(0);
            run.Uncounted.Remove(made);
            run.ForgetRefused(made);
        }

        return _phases.Complete(phase, new PhaseOutcome(head, []));
    }

    private void Restart(ServerRestart how)
    {
        run.Options.Restart(how);
        if (how != ServerRestart.Kill)
            run.Data.NoteCleanRestart();
    }

    private PlanCollection CollectionOf(string name) => round.Collections.First(c => c.Name == name);

    private PhaseRecord Measure(Phase phase, PhaseRecord head)
    {
        run.Store.BeginPhase(head, continues: false);
        run.Observer.OnPhaseStarted(head, []);
        PlanCollection collection = CollectionOf(phase.Measures!);
        long documents = DocumentsIn(collection);
        return _phases.Complete(phase, new PhaseOutcome(head with { Documents = documents, Sizes = SizesOf(collection, documents) }, []));
    }

    /// <summary>What is missing is counted, not written again: the run was asked whether it is there.</summary>
    private PhaseRecord Check(Phase phase, PhaseRecord head)
    {
        run.Store.BeginPhase(head, continues: false);
        run.Observer.OnPhaseStarted(head, []);
        PlanCollection collection = CollectionOf(phase.Checks!);
        long end = run.Keys[collection.Name].Next;
        if (collection.RemovedBecause is { } why)
        {
            long left = run.Data.Count(collection);
            run.Report(RunEvent.Checked, $"{collection.Name} holds {left:N0} of {end:N0} documents; the server removes some by itself "
                + $"({why}), so whether any was lost can't be told");
            return _phases.Complete(phase, new PhaseOutcome(head with { Documents = left }, []));
        }

        (long absent, long refused) = CountAbsent(collection, end);
        long missing = absent - refused;
        run.Report(
            missing == 0 ? RunEvent.Checked : "missing",
            (missing > 0
                ? $"{missing:N0} of {end:N0} documents of {collection.Name} are missing"
                : $"{collection.Name} holds all {end:N0} documents")
            + (refused > 0 ? $", not counting {refused:N0} that a unique index refused" : ""));
        return _phases.Complete(phase, new PhaseOutcome(head with { Documents = end - absent, Missing = missing }, []));
    }

    /// <summary>All of them are looked at, whatever the first ones come to.</summary>
    /// <returns>Null when it was stopped in its middle.</returns>
    private PhaseRecord? CheckConditions(Phase phase, PhaseRecord head, CancellationToken stop)
    {
        run.Store.BeginPhase(head, continues: false);
        run.Observer.OnPhaseStarted(head, []);
        var results = new List<AssertionResult>();
        foreach (AggregateDocuments condition in phase.Conditions)
        {
            if (stop.IsCancellationRequested)
                return null;
            (long count, string? first) = run.Data.Aggregate(condition);
            var result = new AssertionResult(condition.Name, count == 0, count)
            {
                IsCheck = true, First = first,
            };
            run.Report(result.Holds ? RunEvent.Checked : "violated", result.Holds ? $"{result.Text}: no violations" : result.Shown);
            results.Add(result);
        }

        return _phases.Complete(phase, new PhaseOutcome(head with { Assertions = results }, []));
    }

    /// <returns>How many documents are not there, and how many of these the run goes on without.</returns>
    private (long Absent, long Refused) CountAbsent(PlanCollection collection, long end)
    {
        if (run.Data.FindsDocuments(collection))
        {
            run.LearnRefused(collection);
            IReadOnlyList<NumberRange> absent = run.Data.FindMissing(collection, new NumberRange(0, end));
            long all = absent.Sum(range => range.Count);
            return (all, all - run.Refused.Without(collection.Name, absent).Sum(range => range.Count));
        }

        long few = Math.Max(0, end - run.Data.Count(collection));
        return (few, Math.Min(few, run.Refused.CountIn(collection.Name)));
    }

    private PhaseRecord? Create(Phase phase, PhaseRecord head, CancellationToken stop)
    {
        PlanCollection collection = CollectionOf(phase.Creates!);
        using var executor = new CreateExecutor(run.Data, collection);
        // Those who prepare the data make it, as a group's only operation: timed, sampled and stored as any other.
        var own = new RunContext(run.Clock, new GroupRunner(run.Clock, (_, _) => executor), run.Data, run.Store, run.Observer, run.Options);
        PhaseOutcome outcome = new PhaseRunner(own).Run(phase, head, null, continues: false, stop);
        run.Keys[collection.Name] = new KeySpace(0);
        run.Uncounted.Remove(collection.Name);
        run.ForgetRefused(collection.Name);
        PhaseRecord record = _phases.Complete(phase, outcome);
        if ((executor.Failure ?? outcome.GivenUp) is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        return record.IsComplete ? record : null;
    }

    private PhaseRecord? Load(Phase phase, PhaseRecord head, long from, CancellationToken stop)
    {
        PlanCollection collection = CollectionOf(phase.Loads!);
        return run.Data.FindsDocuments(collection) ? Fill(phase, head, collection, from, stop) : LoadCounted(phase, head, collection, stop);
    }

    private PhaseRecord? Fill(Phase phase, PhaseRecord head, PlanCollection collection, long from, CancellationToken stop)
    {
        var filling = new Filling(run);
        long lost = run.Data.LostConnections;
        // What a growth, or another load, has written is there.
        NumberRange all = Left(collection, run.Keys.GetValueOrDefault(collection.Name)?.Next ?? 0);
        NumberRange own = run.Options.Share.Of(all);
        var range = new NumberRange(Math.Max(from, own.First), Math.Max(from, own.End));
        if (range.Count == 0)
            return run.Meet(head.Number, MeetingStage.End, stop)
                ? Nothing(phase, head, collection, run.Options.Share.IsWhole ? range.End : all.End)
                : null;
        var fill = new RangeFill(phase, head, collection, range, all with { End = Math.Max(all.End, range.End) })
        {
            Continues = from > 0, BeforeComplete = MakeDurable,
        };
        return filling.Fill(fill, stop).Record;

        // Before it counts as complete: what is killed in between is loaded again where it is missing.
        PhaseRecord MakeDurable(PhaseRecord filled)
        {
            do
            {
                if (run.Data.LostConnections > lost)
                {
                    // Not complete: the resumed run loads what is missing.
                    stop.ThrowIfCancellationRequested();
                    lost = run.Data.LostConnections;
                    filling.Repair(collection, new NumberRange(0, filled.Documents));
                }

                // It may be the first to notice that the server was away.
                run.Data.Checkpoint(collection, filled.Documents);
            }
            while (run.Data.LostConnections > lost);
            run.HasFailedSinceCheckpoint = false;
            return WithSizes(phase, filled, collection);
        }
    }

    /// <summary>All was there already.</summary>
    private PhaseRecord Nothing(Phase phase, PhaseRecord head, PlanCollection collection, long documents)
    {
        run.Keys[collection.Name] = new KeySpace(documents);
        run.Store.BeginPhase(head, continues: true);
        return _phases.Complete(phase, new PhaseOutcome(head with { Documents = documents }, []));
    }

    /// <summary>Documents that can't be found again are counted, of several clients by the first.</summary>
    private PhaseRecord? LoadCounted(Phase phase, PhaseRecord head, PlanCollection collection, CancellationToken stop)
    {
        NumberRange own = run.Options.Share.Of(new NumberRange(0, collection.Count));
        PhaseOutcome outcome = _phases.Run(phase, head, new NumberSource(own.First, own.End), continues: false, stop);
        long met = Math.Min(own.Count, outcome.Groups.Sum(group => group.Refused));
        // The first client counts for all. Which of its numbers a client has noted says nothing, only how many.
        if (met > 0 && !run.Options.Share.IsWhole)
            run.Data.NoteRefused(collection, [own with { End = own.First + met }]);
        if (outcome.WasStopped || outcome.GivenUp is not null || !run.Meet(head.Number, MeetingStage.End, stop))
        {
            _phases.Complete(phase,
                outcome with { WasStopped = true, Record = outcome.Record with { Documents = outcome.Groups.Sum(g => g.AllDocuments) } });
            if (outcome.GivenUp is { } failure)
                ExceptionDispatchInfo.Throw(failure);
            return null;
        }

        run.Keys[collection.Name] = new KeySpace(collection.Count);
        if (!run.Options.Share.IsFirst)
            return _phases.Complete(phase, outcome with { Record = outcome.Record with { Documents = collection.Count } });
        long there = run.Data.Count(collection);
        long absent = collection.RemovedBecause is null ? Math.Max(0, collection.Count - there) : 0;
        if (!run.Options.Share.IsWhole)
            met = run.Data.Inspect(collection.Stored[^1]).Marker?.Refused.Sum(range => range.Count) ?? met;
        long refused = Math.Min(absent, met);
        if (refused > 0)
            run.GoOnWithout(collection, [new NumberRange(0, refused)],
                outcome.Groups.Select(group => group.FirstRefusal).FirstOrDefault(first => first is not null)
                ?? "other clients met them");
        if (absent > refused)
            run.Report("missing", $"{absent - refused:N0} of {collection.Count:N0} documents did not arrive in {collection.Name}");
        run.Data.Checkpoint(collection, there);
        return _phases.Complete(phase,
            outcome with { Record = WithSizes(phase, outcome.Record with { Documents = there, Missing = absent - refused }, collection) });
    }

    private PhaseRecord? RunMeasured(Phase phase, PhaseRecord head, CancellationToken stop)
    {
        PhaseRecord? record = phase.Groups is [{ Operations: [{ Operation: InsertDocuments { } insert }] }]
            && CollectionOf(insert.Collection) is var filled && run.Data.FindsDocuments(filled)
            ? new Filling(run).Append(phase, head, filled, VouchedDocuments.MayShrink(round, filled), stop)
            : Measure(phase, head, stop);
        if (record is null || !phase.TakesSizes || round.Collections is not [var first, ..])
            return record;
        IEnumerable<PlanCollection> about = round.Collections.Where(c => IsAbout(phase, c.Name)).DefaultIfEmpty(first);
        PhaseRecord sized = record with { Sizes = [.. about.SelectMany(collection => SizesOf(collection, DocumentsIn(collection)))] };
        run.Store.EndPhase(sized);
        return sized;
    }

    /// <summary>Its operations read or write the collection, or put the results of pipelines there.</summary>
    private static bool IsAbout(Phase phase, string collection) => phase.Groups.SelectMany(group => group.Operations)
        .SelectMany(item => item.Operation.Leaves).Any(leaf => leaf.Collection == collection
            || (leaf is AggregateDocuments aggregation && WriteTargets.OfStages(aggregation.Pipeline, "")
                .Any(target => target.Name?.EndsWith($".{collection}", StringComparison.Ordinal) == true)));

    /// <returns>Null when it was stopped in the middle.</returns>
    private PhaseRecord? Measure(Phase phase, PhaseRecord head, CancellationToken stop)
    {
        PlanCollection[] added = run.Options.Share.IsWhole ? [] : WrittenBy(phase);
        foreach (PlanCollection collection in added)
            run.Keys[collection.Name] = new KeySpace(run.Keys[collection.Name].Next, run.Options.Share);
        PhaseOutcome outcome = _phases.Run(phase, head, null, continues: false, stop);
        if (outcome.Record.Operations.Any(result => result.Accounting.Failed > 0))
            run.Incomplete.UnionWith(round.Collections.Select(c => c.Name).Where(name => IsInsertedInto(phase, name)));
        run.Uncounted.UnionWith(round.Collections.Select(c => c.Name)
            .Where(name => run.Incomplete.Contains(name) || VouchedDocuments.IsUncounted(phase, name)));
        if (added.Length > 0 && !outcome.WasStopped && outcome.GivenUp is null)
        {
            new Filling(run).KeepMeasured(outcome.Record);
            if (!run.Meet(head.Number, MeetingStage.End, stop))
                outcome = outcome with { WasStopped = true };
            foreach (PlanCollection collection in added.Where(_ => !outcome.WasStopped))
                run.Keys[collection.Name] = new Filling(run).Level(collection, VouchedDocuments.MayShrink(round, collection));
        }

        // Keys that a broken connection left unanswered are there as far as later phases go.
        foreach (PlanCollection collection in round.Collections.Where(c => run.Keys[c.Name].Next != run.Keys[c.Name].Count))
            run.Keys[collection.Name] = new KeySpace(run.Keys[collection.Name].Next);
        PlanCollection? about = head.Collection is { } name ? round.Collections.FirstOrDefault(c => c.Name == name) : null;
        // After a stop, or where the server stays away, nothing is asked any more: what was measured must be stored all the same.
        bool mayAsk = !stop.IsCancellationRequested && outcome.GivenUp is null;
        long documents = about is null ? 0 : mayAsk ? DocumentsIn(about) : run.Keys[about.Name].Next;
        PhaseRecord record = _phases.Complete(phase, outcome with { Record = outcome.Record with { Documents = documents } });
        if (outcome.GivenUp is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        return record.IsComplete ? record : null;
    }

    private PhaseRecord WithSizes(Phase phase, PhaseRecord record, PlanCollection collection) =>
        phase.TakesSizes ? record with { Sizes = SizesOf(collection, record.Documents) } : record;

    /// <returns>None where the server does not tell them.</returns>
    private IReadOnlyList<SizeResult> SizesOf(PlanCollection collection, long documents)
    {
        SizeResult? sizes = run.Data.ReadSizes(collection, collection.RemovedBecause is null ? documents : run.Data.Count(collection));
        DiskUse? disk = run.Options.MeasureDisk();
        return sizes is null ? [] : [sizes with { DiskBytes = disk?.Bytes, JournalBytes = disk?.JournalBytes }];
    }

    private long DocumentsIn(PlanCollection collection) => run.Uncounted.Contains(collection.Name) || collection.RemovedBecause is not null
        ? run.Data.Count(collection)
        : run.Keys[collection.Name].Next;
}
