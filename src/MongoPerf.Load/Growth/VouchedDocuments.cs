using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;

namespace MongoPerf.Load.Growth;

/// <summary>What the stored records of an interrupted run say that a collection holds. Only the server knows whether it does.</summary>
/// <param name="Collection">The collection of the round in which the run was interrupted.</param>
/// <param name="Documents">Numbers from 0 that finished loads and growths wrote, or that were there before the run; more than 0.</param>
/// <param name="MayHaveShrunk">Documents may have been removed since: by the run itself, or by the server.</param>
public sealed record VouchedDocuments(PlanCollection Collection, long Documents, bool MayHaveShrunk)
{
    /// <summary>Some of these numbers, which the run went on without.</summary>
    public required RefusedDocuments Refused { get; init; }

    /// <param name="plan">The plan of the run.</param>
    /// <param name="before">What it has stored.</param>
    public static IReadOnlyList<VouchedDocuments> Of(Plan plan, RunProgress before)
    {
        int next = 1;
        foreach (PlanRound round in plan.Rounds)
        {
            PhaseNumbers[] numbers = PlanRunner.NumbersOf(round, ref next);
            if (!numbers.All(before.IsDone))
                return [.. round.Collections.Select(c => Of(c, round, numbers, before)).Where(c => c.Documents > 0)];
        }

        return [];
    }

    private static VouchedDocuments Of(PlanCollection collection, PlanRound round, PhaseNumbers[] numbers, RunProgress before)
    {
        long documents = before.StartDocuments.GetValueOrDefault(collection.Name);
        bool hasShrunk = collection.RemovedBecause is not null;
        foreach ((int i, Phase phase) in round.Phases.Index().Where(p => before.HasBegun(numbers[p.Index].First, numbers[p.Index].End)))
        {
            // One that makes the collection anew, begun or finished, leaves nothing of what was there.
            (documents, hasShrunk) = phase.Creates == collection.Name
                ? (0, collection.RemovedBecause is not null)
                : (Math.Max(documents, WrittenBy(phase, numbers[i], collection.Name, before)),
                    hasShrunk || Removes(phase, collection.Name));
        }

        return new VouchedDocuments(collection, documents, hasShrunk) { Refused = before.Refused };
    }

    private static long WrittenBy(Phase phase, PhaseNumbers numbers, string collection, RunProgress before) =>
        phase.Growth?.Collections
            .FirstOrDefault(c => c.Name == collection) is { } growing ? (before.FindCheckpoint(numbers)?.Documents ?? 0) * growing.Factor
        // Without results it found all there already, and made no checkpoint of its own.
        : phase.Loads == collection && before.FindComplete(numbers.First) is { Operations.Count: > 0 } load ? load.Documents
        : 0;

    /// <summary>Documents may be taken out of it, so that a number which is not there says nothing.</summary>
    public static bool MayShrink(PlanRound round, PlanCollection collection) =>
        collection.RemovedBecause is not null || round.Phases.Any(phase => Removes(phase, collection.Name));

    private static bool Removes(Phase phase, string collection) =>
        phase.AllGroups.SelectMany(group => group.Operations).Select(item => item.Operation).Any(operation =>
            // What steps insert is there only if they come to their end.
            (operation is StepSequence && operation.InsertsInto(collection))
            || operation.Steps.Any(step => (step.Removes && step.Collection == collection)
                || (step is DatabaseCommand { MayWrite: true } or AggregateDocuments { IsWrite: true }
                    && (step.Written.Length == 0 || step.Written == collection))));

    /// <summary>
    /// How many documents the collection has after the phase only the server knows: some may have been removed, or have come without a
    /// number of their own.
    /// </summary>
    public static bool IsUncounted(Phase phase, string collection) => Removes(phase, collection) || phase.AllGroups
        .SelectMany(group => group.Operations).SelectMany(item => item.Operation.Leaves).Any(leaf => leaf.Collection == collection
            && leaf is UpdateDocuments { Upsert: true } or FindAndModify { Upsert: true });
}
