using MongoPerf.Load.Plans;

namespace MongoPerf.Scenarios;

/// <summary>
/// Decides which reads can be compared with what was written: those of collections whose documents nothing has changed up to then.
/// </summary>
internal static class ReadChecks
{
    public static PlanRound Of(PlanRound round)
    {
        var changes = new Dictionary<string, DocumentChange>();
        var phases = new List<Phase>();
        foreach (Phase phase in round.Phases)
        {
            // Groups of a phase are at work at once, and phases of a growth again and again.
            foreach (Phase part in Parts(phase))
                Note(part, changes);
            phases.Add(Checked(phase, changes));
        }

        return round with { Phases = phases };
    }

    private static IEnumerable<Phase> Parts(Phase phase) =>
        phase.Growth is { } growth ? [.. growth.Each, new Phase { Name = phase.Name, Groups = growth.Beside }] : [phase];

    private static void Note(Phase phase, Dictionary<string, DocumentChange> changes)
    {
        foreach ((string name, Operation leaf, _) in phase.Groups.SelectMany(g => g.Operations)
            .SelectMany(o => o.Operation.Leaves.Select(leaf => (o.Operation.Name, leaf, IsStep: o.Operation is StepSequence)))
            // What steps insert is there only if the steps, and their transaction, come to their end.
            .Where(o => o.leaf.IsWrite && (!o.leaf.Inserts || o.IsStep)))
            changes.TryAdd(leaf.Written, new DocumentChange(name, phase.Name, leaf.Written));
    }

    private static Phase Checked(Phase phase, Dictionary<string, DocumentChange> changes)
    {
        if (phase.Growth is { } growth)
        {
            return phase with
            {
                Growth = growth with
                {
                    Each = [.. growth.Each.Select(each => Checked(each, changes))],
                    Beside = [.. growth.Beside.Select(group => Checked(group, changes))],
                },
            };
        }

        FindDocuments[] finds = [.. phase.Groups.SelectMany(g => g.Operations).Select(o => o.Operation).OfType<FindDocuments>()];
        return phase with
        {
            Groups = [.. phase.Groups.Select(group => Checked(group, changes))],
            NotVerified = finds.Length > 0 && finds.All(find => ChangeOf(find, changes) is not null) ? ChangeOf(finds[0], changes) : null,
        };
    }

    private static PhaseGroup Checked(PhaseGroup group, Dictionary<string, DocumentChange> changes) => group with
    {
        Operations = [.. group.Operations.Select(o =>
            o.Operation is FindDocuments find && ChangeOf(find, changes) is not null ? o with { Operation = find.Unchecked } : o)],
    };

    private static DocumentChange? ChangeOf(FindDocuments find, Dictionary<string, DocumentChange> changes) =>
        changes.GetValueOrDefault(find.Collection) ?? changes.GetValueOrDefault("");
}
