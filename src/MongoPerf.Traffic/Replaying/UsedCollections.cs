namespace MongoPerf.Traffic.Replaying;

/// <summary>Which collections a recording uses, and which of them must have been there before it.</summary>
/// <param name="databases">Names that stand in place of recorded ones.</param>
internal sealed class UsedCollections(IReadOnlyDictionary<string, string> databases)
{
    private const int MostKnown = 10_000;

    /// <summary>By what the target calls them: whether the first request made them.</summary>
    private readonly Dictionary<(string Database, string Collection), bool> _isMade = [];

    /// <summary>Those that the first request does not make, by database.</summary>
    public ILookup<string, string> Needed => _isMade.Where(one => !one.Value).Select(one => one.Key)
        .ToLookup(one => one.Database, one => one.Collection, StringComparer.Ordinal);

    /// <param name="command">A request's.</param>
    /// <param name="database">The database that it was sent to.</param>
    /// <param name="collection">Null for none.</param>
    public void Add(string command, string database, string? collection)
    {
        if (string.IsNullOrEmpty(collection) || database is "admin" or "config" or "local"
            || collection.StartsWith("system.", StringComparison.Ordinal) || collection[0] == '$' || _isMade.Count == MostKnown)
            return;
        _ = _isMade.TryAdd((databases.GetValueOrDefault(database, database), collection),
            command is "insert" or "create" or "createIndexes" or "drop");
    }
}
