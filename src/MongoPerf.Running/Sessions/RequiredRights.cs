using MongoPerf.Load.Collections;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Refuses a run whose user may not read or write its collections: in one line, before anything is made.</summary>
internal static class RequiredRights
{
    private const string Markers = WireCollection.MarkerCollection;

    /// <param name="rights">Of the run's user.</param>
    /// <param name="database">Of the run.</param>
    /// <param name="plan">To be run.</param>
    /// <param name="isExisting">Its collections are there.</param>
    /// <exception cref="UserException">Names what is missing and the role that gives it (3).</exception>
    public static void Check(UserRights rights, string database, Plan plan, bool isExisting)
    {
        if (!rights.AreKnown)
            return;
        string[] names = [.. plan.Collections.SelectMany(collection => collection.Stored).Select(stored => stored.Name)];
        bool writes = !isExisting || ReadsOnly(plan) is false;
        string[] actions = !isExisting ? ["find", "insert", "createCollection", "createIndex"] : writes ? ["find", "insert"] : ["find"];
        if (names.FirstOrDefault(name => actions.Any(action => !rights.May(action, database, name))) is { } name)
        {
            string may = rights.May("find", database, name) ? "read" : rights.May("insert", database, name) ? "insert into" : "not use";
            throw new UserException(
                ExitCode.CannotConnect,
                may == "not use" || !writes
                    ? $"'{rights.User}' may not {(writes ? "write" : "read")} {database}.{name}; nothing was started"
                    : $"'{rights.User}' may only {may} {database}.{name}, which this run creates or writes; nothing was started",
                $"grant role {(writes ? "readWrite" : "read")} on database {database}{Elsewhere(rights, writes)}"
                    + (may == "read" && writes ? ", or read what is there as it is ('existing: true' in the scenario)" : ""));
        }

        // Without collections of its own a run has no markers.
        if (writes && names.Length > 0 && ((string[])["find", "insert", "update"]).Any(action => !rights.May(action, database, Markers)))
        {
            throw new UserException(
                ExitCode.CannotConnect,
                $"'{rights.User}' may not write {database}.{Markers}, where MongoPerf keeps its markers; nothing was started",
                $"grant role readWrite on database {database}, or find, insert, update and remove on {database}.{Markers}");
        }
    }

    /// <summary>Nothing that the plan does changes a document.</summary>
    public static bool ReadsOnly(Plan plan) =>
        !plan.Operations.Any(operation => operation.Inserts || operation.IsWrite || operation.Removes);

    private static string Elsewhere(UserRights rights, bool writes) => writes && rights.WritableDatabases is [var one, ..]
        ? $", or use one that this user may write: --db {CommandText.Quoted(one)}"
        : "";
}
