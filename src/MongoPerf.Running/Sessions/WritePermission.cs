using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Refuses a plan that would write what its run does not create, unless the file lists it (<c>mayWrite</c>) and whoever runs it confirms it
/// (<c>--may-write</c>).
/// </summary>
/// <remarks>
/// It needs no server, so it is asked before anything starts. No stored confirmation counts: a run's folder, or a coordinator's plan, may
/// be somebody else's.
/// </remarks>
public static class WritePermission
{
    /// <exception cref="UserException">Something is not allowed (6), or is confirmed for nothing (2).</exception>
    public static void Require(RunRequest request)
    {
        string[] needed = [.. RequireListed(request.Plan, request.Settings.Data.Database)
            .Where(target => !request.MayWrite.Any(target.IsCoveredBy)).Select(target => target.Name!).Distinct()];
        if (needed.Length > 0)
        {
            throw new UserException(
                ExitCode.Refused, $"the scenario writes what the run does not create: {string.Join(", ", needed)}; nothing was started",
                $"to allow it, add {string.Join(' ', needed.Select(Option))}");
        }

        // What an agent confirms holds for every plan that it gets, and is none's.
        if (request.Agent is null && request.MayWrite.FirstOrDefault(name => !request.Plan.MayWrite.Contains(name)) is { } unlisted)
        {
            throw new UserException(
                ExitCode.WrongUsage, $"--may-write: the scenario does not list '{unlisted}' in mayWrite; "
                    + $"it lists {(request.Plan.MayWrite.Count > 0 ? string.Join(", ", request.Plan.MayWrite) : "nothing")}",
                NearestName.Hint(unlisted, request.Plan.MayWrite));
        }
    }

    /// <summary>What the plan writes without its run creating it; the file lists all of it.</summary>
    /// <exception cref="UserException">The file does not list something, or it is not for any file to write (6).</exception>
    public static IReadOnlyList<WriteTarget> RequireListed(ReadPlan read, string database)
    {
        HashSet<string?> own = [.. read.Plan.Collections.SelectMany(collection => collection.Stored)
            .Select(stored => $"{database}.{stored.Name}")];
        var foreign = new List<WriteTarget>();
        foreach ((string who, WriteTarget target) in Targets(read.Plan, database).Where(found => !own.Contains(found.Target.Name)))
        {
            string? why = target.By == WriteTargets.UnknownStage ? "it may be $out or $merge, so it can't be checked before the run"
                : target.Name is null ? "the target is generated or not a valid name, so it can't be checked before the run"
                : target.Name[(target.Name.IndexOf('.', StringComparison.Ordinal) + 1)..]
                    == WireCollection.MarkerCollection ? $"{target.Name} is where MongoPerf keeps its markers"
                : null;
            if (why is not null)
                throw new UserException(ExitCode.Refused, $"{who}: {target.By}: {why}; nothing was started",
                    target.By == WriteTargets.UnknownStage ? "write the stage out; the values in it may be generated"
                        : target.Name is null ? "write the name out; parameters, as $(name), are allowed"
                        : null);
            if (!read.MayWrite.Any(target.IsCoveredBy))
                throw Unlisted(who, target, database);
            foreign.Add(target);
        }

        return [.. foreign.DistinctBy(target => target.Name)];
    }

    /// <summary>Writes a target as <c>--may-write</c> takes it.</summary>
    public static string Option(string name) => $"--may-write {CommandText.Quoted(name)}";

    private static IEnumerable<(string Who, WriteTarget Target)> Targets(Plan plan, string database)
    {
        foreach (PlanCollection collection in plan.Collections)
        {
            foreach (WriteTarget target in collection.Options is null ? []
                : WriteTargets.OfStages(DocumentValue.Of(collection.Options), database))
                yield return ($"options of collection '{collection.Name}'", target);
        }

        foreach (Phase phase in plan.Phases)
        {
            foreach (Operation operation in phase.AllGroups.SelectMany(group => group.Operations).Select(o => o.Operation))
            {
                foreach (WriteTarget target in WriteTargets.Of(operation, database))
                    yield return ($"operation '{operation.Name}' of phase '{phase.Name}'", target);
            }
        }
    }

    private static UserException Unlisted(string who, WriteTarget target, string database)
    {
        string name = target.Name!;
        string what = name == WriteTargets.Server ? $"runs {target.By}, which may change anything on the server"
            : name.EndsWith(".*", StringComparison.Ordinal) ? $"changes all of database {name[..^2]} ({target.By})"
            : $"writes {name} ({target.By}), which the run does not create";
        string create = name.StartsWith(database + ".", StringComparison.Ordinal) && !name.EndsWith(".*", StringComparison.Ordinal)
            ? $"describe {name[(database.Length + 1)..]} in data, and the run creates it; or "
            : "";
        return new UserException(
            ExitCode.Refused, $"{who} {what}; nothing was started",
            $"{create}to allow it, list it in the file (mayWrite: [{name}]) and confirm with {Option(name)}");
    }
}
