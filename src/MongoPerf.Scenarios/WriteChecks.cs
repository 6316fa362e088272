using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;

namespace MongoPerf.Scenarios;

/// <summary>Decides which writes have a known effect, so that an answer without it is a failure.</summary>
/// <remarks>
/// An update, a replacement and a findAndModify must find their document where every condition of the filter is <c>^key</c> or a
/// <c>^field</c> that nothing changes, and nothing up to then can have removed documents of the collection. A delete never has to: what it
/// names may be deleted already. The rule for users is in docs/scenarios.md.
/// </remarks>
internal static class WriteChecks
{
    public static PlanRound Of(PlanRound round)
    {
        var known = new Dictionary<string, Known>();
        foreach (PlanCollection collection in round.Collections.Where(c => c is { Files: null, IsTimeSeries: false, RemovedBecause: null }))
            known[collection.Name] = new Known(collection.Documents);
        var phases = new List<Phase>();
        foreach (Phase phase in round.Phases)
        {
            // Groups of a phase are at work at once, and phases of a growth again and again.
            foreach (PhaseGroup group in AtWork(phase))
                Note(group, known);
            phases.Add(Checked(phase, known));
        }

        return round with { Phases = phases };
    }

    /// <summary>What is done to documents, without what fills collections and proves that they are complete.</summary>
    private static IEnumerable<PhaseGroup> AtWork(Phase phase) =>
        phase.Growth is { } growth ? growth.Each.SelectMany(each => each.Groups).Concat(growth.Beside)
        : phase.Loads is null ? phase.Groups
        : [];

    private static bool IsUnacknowledged(PhaseGroup group) =>
        group.Operations.SelectMany(o => o.Operation.Leaves).Any(leaf => leaf.Concerns.IsUnacknowledged);

    /// <summary>What these operations may take away, or change.</summary>
    private static void Note(PhaseGroup group, Dictionary<string, Known> known)
    {
        IEnumerable<(Operation Leaf, bool IsStep)> all =
            group.Operations.SelectMany(o => o.Operation.Leaves.Select(leaf => (leaf, o.Operation is StepSequence)));
        foreach ((Operation operation, bool isStep) in all.Where(one => one.Leaf.IsWrite))
        {
            switch (operation)
            {
                case UpdateDocuments update:
                    known.GetValueOrDefault(update.Collection)?.Change(update.Update);
                    break;
                case FindAndModify { Update: { } change }:
                    known.GetValueOrDefault(operation.Collection)?.Change(change);
                    break;
                // What is not acknowledged may not be there yet, or be lost; what steps insert may not come to be.
                case { Inserts: true, Concerns.IsUnacknowledged: false } when !isStep:
                    break;
                case { Inserts: true } or DeleteDocuments or FindAndModify:
                    known.Remove(operation.Collection);
                    break;
                default:
                    Forget(operation, known);
                    break;
            }
        }
    }

    /// <summary>Whatever a command, or a stage such as $out, can write is no longer known.</summary>
    private static void Forget(Operation operation, Dictionary<string, Known> known)
    {
        const string Own = "own";
        foreach (WriteTarget target in WriteTargets.Of(operation, Own))
        {
            if (target.Name?.StartsWith($"{Own}.", StringComparison.Ordinal) == true && target.Name != $"{Own}.*")
                known.Remove(target.Name[(Own.Length + 1)..]);
            else
                known.Clear();
        }
    }

    private static Phase Checked(Phase phase, Dictionary<string, Known> known) => phase with
    {
        Groups = [.. phase.Groups.Select(group => Checked(group, known))],
        Growth = phase.Growth is not { } growth ? null : growth with
        {
            Each = [.. growth.Each.Select(each => Checked(each, known))],
            // Beside writes that are not acknowledged a document may not be there yet.
            Beside = growth.Writes.Any(write => write.Groups.Values.Any(IsUnacknowledged))
                ? growth.Beside
                : [.. growth.Beside.Select(group => Checked(group, known))],
        },
    };

    private static PhaseGroup Checked(PhaseGroup group, Dictionary<string, Known> known) =>
        group with { Operations = [.. group.Operations.Select(o => o with { Operation = o.Operation.Each(one => Checked(one, known)) })] };

    private static Operation Checked(Operation operation, Dictionary<string, Known> known) => operation switch
    {
        UpdateDocuments update when known.GetValueOrDefault(update.Collection) is { } collection =>
            update with
            {
                MustMatch = collection.Has(update.Filter), MustModify = UpdateFields.AlwaysModifies(update.Update, collection.Documents),
            },
        FindAndModify { Update: not null } change when known.GetValueOrDefault(change.Collection) is { } collection =>
            change with { MustMatch = collection.Has(change.Filter) },
        _ => operation,
    };

    /// <summary>A collection whose documents are all there.</summary>
    private sealed class Known(DocumentTemplate documents)
    {
        /// <summary>Null where it may be any field.</summary>
        private HashSet<string>? _changed = [];

        public DocumentTemplate Documents => documents;

        public void Change(TemplateValue update)
        {
            if (UpdateFields.Changed(update, documents) is { } fields)
                _changed?.UnionWith(fields);
            else
                _changed = null;
        }

        /// <summary>A document meets the filter: the one whose number is drawn.</summary>
        public bool Has(DocumentValue filter) => filter.Elements.Count > 0 && filter.Elements.All(condition =>
            ReferenceValue.FieldOf(condition.Value) is { } field && ReferenceEquals(field, documents.Find(condition.Key))
            && (condition.Key == "_id" || _changed?.Contains(condition.Key.Split('.')[0]) == false));
    }
}
