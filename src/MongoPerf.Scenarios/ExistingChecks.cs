using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>Sees to it that a scenario on existing data writes nothing, whatever may have been confirmed.</summary>
internal static class ExistingChecks
{
    /// <exception cref="Texts.Input.UserException">A phase writes, or takes the documents for the run's own.</exception>
    public static void Require(IReadOnlyList<PlanCollection> collections, IEnumerable<(Phase Phase, ScenarioNode Node)> phases)
    {
        if (collections.FirstOrDefault(one => one.IsExisting) is not { } existing)
            return;
        foreach ((Phase phase, ScenarioNode node) in phases)
        {
            string? does = phase.Creates is not null ? "creates a collection"
                : phase.Loads is not null ? "loads documents"
                : phase.Growth is not null ? "grows a collection"
                : phase.Checks is not null ? "checks documents that the run wrote"
                : phase.Restart != ServerRestart.None ? "restarts the server"
                : phase.AllGroups.SelectMany(group => group.Operations).Select(one => Written(one.Operation))
                    .FirstOrDefault(written => written is not null);
            if (does is not null)
                throw MappingReader.Wrong(node, $"phase '{phase.Name}' {does}, but '{existing.Name}' is existing data, which is only read",
                    "allowed: find, count, distinct, aggregate without $out and $merge, commands that only read, and steps of these");
        }
    }

    private static string? Written(Operation operation) => operation is SetBalancer ? "sets the balancer"
        : WriteTargets.Of(operation, "") is [var target, ..] ? $"writes (operation '{operation.Name}': {target.By})"
        : null;
}
