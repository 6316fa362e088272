using System.Runtime.ExceptionServices;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Load.Growth;

/// <summary>Fills ranges of a collection and sees to it that they are whole afterwards.</summary>
internal sealed class Filling(RunContext run)
{
    private const int RepairRounds = 5;

    private readonly PhaseRunner _phases = new(run);

    /// <summary>Writes a range as a phase of its own, proves what arrived, and writes what is missing again.</summary>
    /// <param name="fill">The range, its phase and its collection.</param>
    /// <param name="stop">Ends it early.</param>
    /// <returns>
    /// The record and where the collection ends now; no record when it was stopped in the middle: what is there is counted and repaired
    /// when the run is resumed.
    /// </returns>
    public (PhaseRecord? Record, long End) Fill(RangeFill fill, CancellationToken stop)
    {
        (Phase phase, PhaseRecord head, PlanCollection collection, NumberRange range, NumberRange all) = fill;
        bool isRead = phase.Groups.Count > 1;
        bool isAlone = run.Options.Share.IsWhole;
        if (isRead)
            run.Keys[collection.Name] = new KeySpace(isAlone ? range.First : all.First);
        // Of what several clients write at once nobody knows what is there without a gap.
        var numbers = new NumberSource(range.First, range.End, isRead && isAlone ? run.Keys[collection.Name] : null);
        PhaseOutcome outcome = _phases.Run(phase, head, numbers, fill.Continues, stop);
        GroupResult writer = outcome.Groups[0];
        var insert = (InsertDocuments)phase.Groups[0].Operations[0].Operation;
        // Numbers that were handed out were sent: a stop that came with the last of them left nothing out.
        bool isWhole = numbers.Next == range.End && writer.Accounting.Failed == 0;
        OperationResult? reconciled = writer.GivenUp is not null || (writer.WasStopped && !isWhole) ? null
            : TryReconcile(outcome.Record.Operations[0], writer, insert, collection, range, stop);
        if (reconciled is null)
        {
            long end = Math.Min(range.End, range.First + writer.AllDocuments);
            run.Store.EndPhase(outcome.Record with { Documents = end });
            if (writer.GivenUp is { } failure)
                ExceptionDispatchInfo.Throw(failure);
            return (null, end);
        }

        if (!run.Meet(head.Number, MeetingStage.End, stop))
        {
            run.Store.EndPhase(outcome.Record with
            {
                Operations = fill.IsMeasured ? [reconciled, .. outcome.Record.Operations.Skip(1)] : [], Documents = range.End,
            });
            return (null, range.End);
        }

        run.Keys[collection.Name] = new KeySpace(all.End);
        // Stopped together with its last number: all of it is there.
        GroupResult[] others = [.. outcome.Groups.Skip(1)];
        PhaseRecord record = outcome.Record with
        {
            Operations = fill.IsMeasured ? [reconciled, .. outcome.Record.Operations.Skip(1)] : [], Documents = all.End,
        };
        return (_phases.Complete(phase, new PhaseOutcome(fill.BeforeComplete?.Invoke(record) ?? record, others)), all.End);
    }

    /// <summary>Adds documents for the phase's time or count, proves what arrived, and writes what is missing again.</summary>
    /// <param name="phase">Its only operation inserts.</param>
    /// <param name="head">Its record, without results.</param>
    /// <param name="collection">The collection that is added to.</param>
    /// <param name="mayShrink">Documents may be taken out of it.</param>
    /// <param name="stop">Ends it early.</param>
    /// <returns>Null when it was stopped in the middle.</returns>
    public PhaseRecord? Append(Phase phase, PhaseRecord head, PlanCollection collection, bool mayShrink, CancellationToken stop)
    {
        bool isAlone = run.Options.Share.IsWhole;
        long first = run.Keys[collection.Name].Next;
        var keys = new KeySpace(first, run.Options.Share);
        run.Keys[collection.Name] = keys;
        var numbers = new NumberSource(first, DocumentNumbers.Limit - 1, isAlone ? null : keys);
        PhaseOutcome outcome = _phases.Run(phase, head, numbers, continues: false, stop);
        var written = new NumberRange(first, numbers.Next == first ? first : keys.NumberOf(numbers.Next - 1) + 1);
        OperationResult measured = outcome.Record.Operations[0];
        OperationResult? reconciled = outcome.GivenUp is not null ? null
            : TryReconcile(measured, outcome.Groups[0], (InsertDocuments)phase.Groups[0].Operations[0].Operation, collection, written, stop,
                isAlone ? null : run.Options.Share);
        if (!isAlone && !outcome.WasStopped && reconciled is not null)
            KeepMeasured(outcome.Record with { Operations = [reconciled] });
        bool isWhole = !outcome.WasStopped && reconciled is not null && (isAlone || run.Meet(head.Number, MeetingStage.End, stop));
        run.Keys[collection.Name] = isAlone || !isWhole ? new KeySpace(numbers.Next) : Level(collection, mayShrink);
        long end = run.Keys[collection.Name].Next;
        PhaseRecord record = _phases.Complete(phase,
            outcome with
            {
                WasStopped = !isWhole, Record = outcome.Record with { Operations = [reconciled ?? measured], Documents = end },
            });
        if (outcome.GivenUp is { } failure)
            ExceptionDispatchInfo.Throw(failure);
        // Of several clients none knows when the others have written theirs.
        if (record.IsComplete && collection.IsGrown && isAlone)
            run.Data.Checkpoint(collection, end);
        return record.IsComplete ? record : null;
    }

    /// <summary>
    /// Stores what one of several clients has measured before it waits for the others: when it is killed from then on, it
    /// need not measure again.
    /// </summary>
    public void KeepMeasured(PhaseRecord record)
    {
        run.Store.EndPhase(record);
        run.Store.Flush();
    }

    /// <summary>
    /// One beyond what has been added to a collection, by a phase that was interrupted too. Of several clients each completes its own, as
    /// at the end of such a phase.
    /// </summary>
    /// <param name="collection">The collection that is looked at; nobody adds to it meanwhile.</param>
    /// <param name="known">All below are known to be there.</param>
    /// <param name="mayShrink">Documents may be taken out of it: gaps stay.</param>
    public long FindInserted(PlanCollection collection, long known, bool mayShrink)
    {
        long end = run.Refused.EndOf(collection.Name, Math.Max(known, run.Data.FindEnd(collection, known)));
        if (end > known && !run.Options.Share.IsWhole && !mayShrink)
            Repair(collection, new NumberRange(known, end), run.Options.Share);
        return end;
    }

    /// <summary>
    /// Clients that add documents at once come to different numbers. When all have ended, each adds its own up to the greatest of any, so
    /// that the numbers of the collection have no gap and the clients agree on where it ends.
    /// </summary>
    /// <param name="collection">The collection to which this client has added <see cref="RunContext.Keys"/>.</param>
    /// <param name="mayShrink">Documents may be taken out of it: gaps stay.</param>
    /// <returns>The keys from now on.</returns>
    public KeySpace Level(PlanCollection collection, bool mayShrink)
    {
        KeySpace keys = run.Keys[collection.Name];
        long next = keys.NumberOf(keys.Next);
        long end = Math.Max(keys.Next, run.Data.FindEnd(collection, Math.Max(keys.Next, next - keys.Step + 1)));
        NumberRange[] own = mayShrink ? [] : [.. run.Options.Share.OwnOf(new NumberRange(next, end)).Select(NumberRange.Of)];
        if (own.Length > 0)
        {
            run.Report("levelled", $"{own.Length:N0} documents added to {collection.Name} after the measurement, to close the gaps: "
                + "other clients had inserted more");
            run.Data.Write(collection, own);
        }

        return new KeySpace(end);
    }

    /// <summary>Writes what is missing of a range until nothing is.</summary>
    /// <param name="collection">The collection that is looked at.</param>
    /// <param name="range">The range that is looked at.</param>
    /// <param name="share">Only the numbers that this client adds; null for all.</param>
    /// <returns>How many documents were missing at first.</returns>
    /// <remarks>
    /// Where the server removes documents by itself there is nothing to repair: who writes again what is gone never ends.
    /// </remarks>
    /// <exception cref="RefusedDocumentsException">Some can't be stored beside others, and they are more than may fail.</exception>
    /// <exception cref="MongoPerfException">Still not whole after several rounds.</exception>
    public long Repair(PlanCollection collection, NumberRange range, PlanShare? share = null) =>
        MakeWhole(collection, range, share).Missing;

    /// <inheritdoc cref="Repair"/>
    /// <returns>
    /// How many documents were missing at first, and how many of these can't be stored, whether that was known before or not.
    /// </returns>
    private (long Missing, long Refused) MakeWhole(PlanCollection collection, NumberRange range, PlanShare? share)
    {
        if (collection.RemovedBecause is not null)
            return default;
        string? said = null;
        (long first, long known, long before) = (0, 0, long.MaxValue);
        for (int round = 0; round <= RepairRounds; round++)
        {
            IReadOnlyList<NumberRange> absent = run.Data.FindMissing(collection, range);
            if (share is { } own)
                absent = [.. absent.SelectMany(own.OwnOf).Select(NumberRange.Of)];
            IReadOnlyList<NumberRange> missing = run.Refused.Without(collection.Name, absent);
            long count = missing.Sum(m => m.Count);
            if (round == 0)
                (first, known) = (absent.Sum(m => m.Count), absent.Sum(m => m.Count) - count);
            if (count == 0)
                return (first, known);
            // By its _id a document that arrived between look and write is a duplicate, too: only what a write leaves as it
            // was can't be stored.
            if (said is { } refused && (count == before || !refused.Contains("index: _id_", StringComparison.Ordinal)))
            {
                if (known + count > run.Options.MaxErrors)
                    throw new RefusedDocumentsException(collection.Name, known + count, refused);
                // No repair brings them in: a unique index holds their keys already, or they don't pass the validator.
                run.GoOnWithout(collection, missing, refused);
                return (first, known + count);
            }

            if (round == RepairRounds)
                break;
            if (round == 0)
                run.Report("repair",
                    $"{count:N0} of {range.Count:N0} documents were missing from {collection.Name}; writing them again, acknowledged");
            before = count;
            said = run.Data.Write(collection, missing);
        }

        throw new MongoPerfException(Fault.VerificationFailed,
            $"{collection.Name}: documents are still missing between {range.First:N0} and {range.End - 1:N0} after {RepairRounds} repairs");
    }

    /// <summary>Where writing continues in a collection that was left in the middle: everything below is made whole first.</summary>
    /// <param name="collection">The collection that is filled.</param>
    /// <param name="checkpoint">All below are known to be there.</param>
    public long FindWholeEnd(PlanCollection collection, long checkpoint) =>
        FindWholeEnd(collection, new NumberRange(checkpoint, DocumentNumbers.Limit - 1));

    /// <param name="collection">The collection that is filled.</param>
    /// <param name="range">What is written from its start on; all else is not looked at.</param>
    public long FindWholeEnd(PlanCollection collection, NumberRange range)
    {
        long stored = Math.Max(range.First, run.Data.FindEnd(collection, range.First, range.End));
        long end = Math.Min(range.End, run.Refused.EndOf(collection.Name, stored));
        Repair(collection, range with { End = end });
        return end;
    }

    /// <returns>
    /// Null when a stop has broken the connection by which it would have been found out: what was measured must be stored all the same.
    /// </returns>
    private OperationResult? TryReconcile(OperationResult result, GroupResult writer, InsertDocuments insert, PlanCollection collection,
        NumberRange range, CancellationToken stop, PlanShare? share = null)
    {
        try
        {
            return Reconcile(result, writer, insert, collection, range, share);
        }
        catch (Exception e) when (stop.IsCancellationRequested && (e is OperationCanceledException || ErrorTally.IsServerAway(e)))
        {
            return null;
        }
    }

    /// <summary>Looks for what is missing, where something may be, and writes it again.</summary>
    /// <returns>The result with arrivals, losses and repairs; arrived documents make the rate of unacknowledged inserts.</returns>
    private OperationResult Reconcile(
        OperationResult result, GroupResult writer, InsertDocuments insert, PlanCollection collection, NumberRange range, PlanShare? client)
    {
        bool isAcknowledged = !insert.Concerns.IsUnacknowledged;
        if (isAcknowledged && writer.Accounting.Failed == 0)
            return result;
        // Of an unacknowledged document that is gone nobody knows whether it was ever there.
        if (!isAcknowledged && collection.RemovedBecause is not null)
            return result with { IsArrivalUnknown = true };
        (long missing, long refused) = MakeWhole(collection, range, client);
        if (isAcknowledged)
            return result with { Repaired = missing - refused };

        long sent = writer.Parts[0].AllDocuments;
        // What never left the client (failed sends) is repaired too, but it was not lost on the way.
        long unsent = (client is { } own ? own.OwnOf(range).LongCount() : range.Count) - sent;
        long lost = Math.Max(0, missing - refused - unsent);
        long arrived = sent - lost - refused;
        double seconds = Math.Max(result.Seconds, 1e-9);
        double share = sent == 0 ? 1 : (double)arrived / sent;
        return result with
        {
            Repaired = missing - refused,
            Unacknowledged = new UnacknowledgedResult(sent, arrived, lost, writer.DrainSeconds),
            Operations = (long)(result.Operations * share),
            Documents = (long)(result.Documents * share),
            OperationsPerSecond = result.Operations * share / seconds,
            DocumentsPerSecond = result.Documents * share / seconds,
            MegabytesPerSecond = result.MegabytesPerSecond * share,
        };
    }
}

/// <summary>A range of a collection's documents that is written as a phase of its own.</summary>
/// <param name="Phase">Its first group inserts the documents.</param>
/// <param name="Head">The phase's record, without results.</param>
/// <param name="Collection">The collection that is filled.</param>
/// <param name="Range">The numbers that must be stored afterwards, by this client.</param>
/// <param name="All">The numbers of all clients, of which <paramref name="Range"/> is this one's, or what is left of that.</param>
internal sealed record RangeFill(Phase Phase, PhaseRecord Head, PlanCollection Collection, NumberRange Range, NumberRange All)
{
    /// <summary>A part was written before the run was interrupted.</summary>
    public bool Continues { get; init; }

    /// <summary>Its result is stored; otherwise it only makes the documents.</summary>
    public bool IsMeasured { get; init; } = true;

    /// <summary>Makes the documents durable, and adds to the record, before that counts as complete; null for nothing.</summary>
    public Func<PhaseRecord, PhaseRecord>? BeforeComplete { get; init; }
}
