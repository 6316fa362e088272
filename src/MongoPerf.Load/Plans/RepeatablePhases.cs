using MongoPerf.Load.Documents;

namespace MongoPerf.Load.Plans;

/// <summary>Which phases of a plan can be run again on the data that it loaded, and find them as if just loaded.</summary>
/// <remarks>
/// Those that come after all loading, when they only read, or give fields of documents that they find by _id new values. Whatever adds or
/// removes documents, lets them grow, or chooses them by what it changes leaves other data to those that come after it.
/// </remarks>
public static class RepeatablePhases
{
    private static readonly string[] KeepSize = ["$set", "$inc", "$min", "$max", "$mul", "$bit", "$currentDate"];

    /// <returns>Their names; empty when the data must be loaded anew, and when none are loaded.</returns>
    public static IReadOnlyList<string> Of(Plan plan)
    {
        if (plan.Rounds is not [{ } round])
            return [];
        Phase[] first = [.. round.Phases.TakeWhile(IsLoading)];
        Phase[] rest = [.. round.Phases.Skip(first.Length)];
        bool isRepeatable = first.Length > 0
            && rest.All(phase => !IsLoading(phase) && phase is { Growth: null, Restart: ServerRestart.None }
                && phase.Groups.All(group => group.Operations.All(o => LeavesData(o.Operation, round))));
        return isRepeatable && !rest.Any(phase => first.Any(load => load.Name == phase.Name)) && !IsCheckedBeforeChange(rest)
            ? [.. rest.Select(phase => phase.Name).Distinct()]
            : [];
    }

    private static bool IsLoading(Phase phase) => phase.Loads is not null || phase.Creates is not null;

    private static bool LeavesData(Operation operation, PlanRound round) => operation switch
    {
        UpdateDocuments update =>
            !update.Upsert && IsOfId(update.Filter, update.Update, update.Collection, round) && KeepsSize(update.Update),
        FindAndModify { Update: { } changed } update =>
            !update.Upsert && IsOfId(update.Filter, changed, update.Collection, round) && KeepsSize(changed),
        OperationSequence sequence => sequence.Operations.All(one => LeavesData(one, round)),
        _ => operation.IsRead,
    };

    /// <summary>
    /// Tells whether a filter chooses by _id, or by the stored values of fields that the update leaves as they are, such as a shard key.
    /// </summary>
    private static bool IsOfId(DocumentValue filter, TemplateValue update, string collection, PlanRound round)
    {
        if (filter.Elements is [{ Key: "_id" }])
            return true;
        IReadOnlySet<string>? changed = UpdateFields.Changed(update, round.Collections.First(c => c.Name == collection).Documents);
        return changed is not null && filter.Find("_id") is not null && filter.Elements.All(e =>
            e.Key == "_id" || (ReferenceValue.FieldOf(e.Value) is not null && !changed.Contains(e.Key.Split('.')[0])));
    }

    /// <summary>Operators, or a whole document, which the file draws like those that were loaded.</summary>
    private static bool KeepsSize(TemplateValue update) => update is DocumentValue { IsArray: false } document
        && document.Elements.All(e => !e.Key.StartsWith('$') || KeepSize.Contains(e.Key));

    /// <summary>
    /// What a phase reads is compared with what was loaded, and a later one changes it: a second time it would be found changed.
    /// </summary>
    private static bool IsCheckedBeforeChange(IEnumerable<Phase> phases)
    {
        Operation[] all = [.. phases.SelectMany(phase => phase.Groups)
            .SelectMany(group => group.Operations).SelectMany(o => o.Operation.Steps)];
        return all.OfType<FindDocuments>()
            .Any(find => find.Expected is not null && all.Any(other => other.IsWrite && other.Written == find.Collection));
    }
}
