using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Growth;

/// <summary>
/// Carries a plan out, from its start or from where it was interrupted: makes its data, but for those that a phase of its own makes, then
/// runs phase after phase.
/// </summary>
public sealed class PlanRunner(RunContext run, RunProgress before)
{
    /// <param name="plan">What to do.</param>
    /// <param name="isExisting">The collections are there: none is made or dropped.</param>
    /// <param name="stop">Ctrl+C.</param>
    /// <returns>True when all of it was done.</returns>
    /// <exception cref="Exception">What a worker gave up for; results up to then are stored.</exception>
    public bool Run(Plan plan, bool isExisting, CancellationToken stop)
    {
        run.Data.Stop = stop;
        run.Refused = before.Refused;
        int number = 1;
        foreach (PlanRound round in plan.Rounds)
        {
            int first = number;
            PhaseNumbers[] numbers = NumbersOf(round, ref number);

            bool isDone = numbers.All(before.IsDone);
            if (isDone && before.IsResumed)
                continue;
            if (!run.Meet(first, MeetingStage.Before, stop))
                return false;
            Prepare(round, numbers, first, number, isExisting || !run.Options.Share.IsFirst);
            if (!run.Meet(first, MeetingStage.Prepared, stop) || !RunRound(round, numbers, stop))
                return false;
        }

        return true;
    }

    /// <summary>
    /// Which records each of the round's phases has; <paramref name="next"/> is the first one's number, and afterwards the next round's.
    /// </summary>
    internal static PhaseNumbers[] NumbersOf(PlanRound round, ref int next)
    {
        var numbers = new PhaseNumbers[round.Phases.Count];
        for (int i = 0; i < numbers.Length; next += numbers[i++].Count)
            numbers[i] = new PhaseNumbers(next, round.Phases[i]);
        return numbers;
    }

    /// <summary>
    /// Makes the round's collections, unless they are there: those of a round that was interrupted stay, and so do those that grow.
    /// </summary>
    private void Prepare(PlanRound round, PhaseNumbers[] numbers, int first, int end, bool isExisting)
    {
        bool continues = before.HasBegun(first, end);
        foreach (PlanCollection collection in round.Collections)
        {
            long start = before.StartDocuments.GetValueOrDefault(collection.Name);
            long known = Math.Max(start, KnownBefore(round, numbers, collection.Name, first, end));
            if (!continues && start == 0 && !collection.IsGrown)
                run.ForgetRefused(collection.Name);
            if (!isExisting && !continues && round.Phases.All(p => p.Creates != collection.Name))
            {
                if (start == 0 && !collection.IsGrown)
                    run.Data.Drop(collection);
                run.Data.Create(collection, start);
            }
            else if (continues && !isExisting && round.Phases.All(p => p.Creates != collection.Name))
            {
                // Completes indexes, should the run have been killed before they were there.
                run.Data.Create(collection, known);
            }

            if (known > 0 || continues)
                run.LearnRefused(collection);
            run.Uncounted.Remove(collection.Name);
            if (continues && round.Phases.Any(phase => VouchedDocuments.IsUncounted(phase, collection.Name)))
                run.Uncounted.Add(collection.Name);
            bool isInserted = continues && round.Phases.SelectMany(p => p.Growth?.Each ?? [p]).SelectMany(p => p.Groups)
                .SelectMany(g => g.Operations).Any(o => o.Operation.InsertsInto(collection.Name));
            if (isInserted && run.Data.FindsDocuments(collection) && !HasOpenLoad(round, numbers, collection.Name)
                && OpenGrowth(round, numbers, collection.Name) is null)
                known = new Filling(run).FindInserted(collection, known, VouchedDocuments.MayShrink(round, collection));
            run.Keys[collection.Name] = new KeySpace(known);
        }
    }

    /// <summary>
    /// Documents of a collection that the stored records vouch for. What a growth wrote after its last checkpoint may have been lost since.
    /// </summary>
    private long KnownBefore(PlanRound round, PhaseNumbers[] numbers, string collection, int first, int end)
    {
        if (OpenGrowth(round, numbers, collection) is { } growth)
            end = (before.FindCheckpoint(growth)?.Phase ?? growth.First - 1) + 1;
        return before.FindLastComplete(first, end)?.NextNumbers.GetValueOrDefault(collection) ?? 0;
    }

    /// <summary>A growth of the collection that was begun and not finished; null when there is none.</summary>
    private PhaseNumbers? OpenGrowth(PlanRound round, PhaseNumbers[] numbers, string collection) => round.Phases.Index()
        .Where(p => p.Item.Growth is { } growth && growth.Collections.Any(c => c.Name == collection)).Select(p => numbers[p.Index])
        .FirstOrDefault(growth => before.HasBegun(growth.First, growth.First + growth.Count) && !before.IsDone(growth));

    private bool HasOpenLoad(PlanRound round, PhaseNumbers[] numbers, string collection) =>
        round.Phases.Index().Any(p => p.Item.Loads == collection && before.FindComplete(numbers[p.Index].First) is null);

    private bool RunRound(PlanRound round, PhaseNumbers[] numbers, CancellationToken stop)
    {
        var phases = new SinglePhases(run, round, before);
        foreach ((int i, Phase phase) in round.Phases.Index())
        {
            if (phase.Growth is { } growth)
            {
                if (!before.IsDone(numbers[i])
                    && !new GrowthRunner(run, round, phase, numbers[i], before).Run(StartOf(growth, numbers[i]), stop))
                    return false;
                continue;
            }

            PhaseRecord head = phases.HeadOf(phase, numbers[i].First);
            if (before.FindComplete(head.Number) is not null)
                continue;
            if (phases.Run(phase, head, stop, () => LoadedBefore(round, phase, head)) is null || !run.MayGoOn(stop))
                return false;
        }

        return true;
    }

    /// <summary>Documents, of a collection with factor 1, that are whole and durable.</summary>
    private long StartOf(GrowthPlan growth, PhaseNumbers numbers) => before.FindCheckpoint(numbers)?.Documents
        ?? growth.Collections.Min(c => run.Keys[c.Name].Next / c.Factor);

    /// <summary>A load that was interrupted continues, where its documents can be found again; any other begins anew.</summary>
    private long LoadedBefore(PlanRound round, Phase phase, PhaseRecord head)
    {
        PlanCollection collection = round.Collections.First(c => c.Name == phase.Loads);
        long known = run.Keys[collection.Name].Next;
        bool isFound = run.Data.FindsDocuments(collection) && !phase.HasRanges;
        // One of several clients may have lost what it stored of its own part.
        if (!run.Options.Share.IsWhole && isFound)
            return run.Options.Share.Of(SinglePhases.Left(collection, known)) is var own
                && new Filling(run).FindWholeEnd(collection, own) is var end && end > own.First ? end : 0;
        // One that grows may hold more than its last checkpoint says.
        if (before.Find(head.Number) is null)
            return collection.IsGrown && run.Options.Share.IsWhole ? new Filling(run).FindWholeEnd(collection, known) : 0;
        if (isFound)
            return new Filling(run).FindWholeEnd(collection, known);
        // Of several clients all begin it anew: while one has not done its part, none has gone on.
        if (run.Options.Share.IsFirst)
        {
            run.Data.Drop(collection);
            run.Data.Create(collection, 0);
        }

        run.ForgetRefused(collection.Name);
        return 0;
    }
}
