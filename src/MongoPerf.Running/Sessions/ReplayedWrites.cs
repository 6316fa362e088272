using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Refuses a replay that would write what it does not create: a recording writes into databases that are empty, or into what whoever runs
/// it has named. Nothing is dropped or replaced that was there before, whatever was named.
/// </summary>
public static class ReplayedWrites
{
    public const string Option = "--yes-write-to";

    /// <summary>What an agent confirms holds for any plan that it gets.</summary>
    public const string OptionOfAgents = "--may-write";

    private const string OfItsOwn = "replay into a database of its own (--database RECORDED=NAME)";

    /// <summary>They take away what was there, or put something else in its place.</summary>
    private static readonly string[] Removing =
    [
        "drop", "dropDatabase", "dropIndexes", "deleteIndexes", "renameCollection", "convertToCapped", "cloneCollectionAsCapped", "$out",
        "dropSearchIndex", "mapReduce", "mapreduce", "applyOps", "dropUser", "dropAllUsersFromDatabase", "dropRole",
        "dropAllRolesFromDatabase",
    ];

    /// <param name="session">Open; nothing was written yet.</param>
    /// <exception cref="UserException">Something is not allowed (6).</exception>
    internal static void Require(RunSession session)
    {
        RunRequest request = session.Request;
        if (request.ReplayedWrites.Count == 0)
            return;
        using MongoConnection connection = MongoConnection.Open(
            session.On.Deployment.Select(ReadPreference.Primary, 0), session.On.Connections);
        Require(request.ReplayedWrites, request.MayWrite, database => IsEmpty(connection, database),
            request.Agent is null ? Option : OptionOfAgents);
    }

    /// <param name="writes">What the recording can write.</param>
    /// <param name="allowed">What whoever runs it has named.</param>
    /// <param name="isEmpty">Whether a database has nothing; asked once for each.</param>
    /// <param name="option">What names it.</param>
    /// <inheritdoc cref="Require(RunSession)"/>
    internal static void Require(
        IReadOnlyList<WriteTarget> writes, IReadOnlyList<string> allowed, Func<string, bool> isEmpty, string option = Option)
    {
        if (writes.FirstOrDefault(target => target.Name is null) is { } unknown)
            throw new UserException(ExitCode.Refused, $"the recording writes what can't be named before it runs ({unknown.By}); "
                + "nothing was sent", "leave writes out with --only reads");
        HashSet<string> empty =
            [.. writes.Select(target => DatabaseOf(target.Name!)).OfType<string>().Distinct().Where(isEmpty)];
        WriteTarget[] foreign = [.. writes
            .Where(target => DatabaseOf(target.Name!) is not { } database || !empty.Contains(database))];
        if (foreign.FirstOrDefault(target => Removing.Contains(target.By)) is { } removing)
            throw new UserException(ExitCode.Refused,
                removing.Name == WriteTargets.Server
                    ? $"the recording has {removing.By}, which may remove what this run did not create; nothing was sent"
                    : $"the recording has {removing.By} of {removing.Name}, which this run did not create; nothing was sent",
                $"{OfItsOwn}, or leave writes out with --only reads");
        WriteTarget[] needed = [.. foreign.Where(target => !allowed.Any(target.IsCoveredBy)).DistinctBy(target => target.Name)
            .OrderBy(target => target.Name, StringComparer.Ordinal)];
        if (needed.Length > 0)
            throw new UserException(ExitCode.Refused,
                $"the recording writes what the run does not create: {Listed([.. needed.Select(Told)])}; nothing was sent",
                HintFor([.. needed.Select(target => target.Name!)], option));
    }

    /// <summary>What writes to the server as a whole is known by its command alone.</summary>
    private static string Told(WriteTarget target) =>
        target.Name == WriteTargets.Server ? $"{target.Name} ({target.By})" : target.Name!;

    private static string Listed(string[] names) =>
        names.Length <= 5 ? string.Join(", ", names) : $"{string.Join(", ", names.Take(5))} and {names.Length - 5} more";

    private static string HintFor(string[] names, string option)
    {
        string[] databases = [.. names.Select(DatabaseOf).OfType<string>().Distinct()];
        string into = databases.Length > 0 ? $"{OfItsOwn}, " : "";
        string confirm = string.Join(' ', names.Where(name => DatabaseOf(name) is null).Take(3)
            .Concat(databases.Take(3).Select(database => $"{database}.*")).Select(name => $"{option} {CommandText.Quoted(name)}"));
        return $"{into}leave writes out with --only reads, or allow them with {confirm}";
    }

    /// <returns>Null for what is of no one database.</returns>
    private static string? DatabaseOf(string name) =>
        name.IndexOf('.', StringComparison.Ordinal) is > 0 and var dot && name[..dot] is not ("admin" or "config" or "local")
            ? name[..dot]
            : null;

    private static bool IsEmpty(MongoConnection connection, string database) =>
        !connection.RunCursor(database, BsonDocument.Of(("listCollections", 1), ("nameOnly", true)))
            .Any(collection => collection.FindString("name") is not ("system.profile" or "system.views"));
}
