using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Updates;
using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>
/// $out: puts a pipeline's documents in the place of a collection. They go into another one with the same indexes, which takes its name
/// when it is complete.
/// </summary>
internal sealed class OutStage : IPipelineTarget
{
    private readonly CommandSession _session;
    private readonly string _database;
    private readonly string _name;
    private readonly Collection _made;
    private readonly string[] _indexes;
    private bool _isComplete;

    private OutStage(CommandSession session, string database, string name)
    {
        (_session, _database, _name) = (session, database, name);
        DocumentStore store = session.Server.Store;
        store.TryFind($"{database}.{name}", out Collection? replaced);
        if (replaced?.Shards != null)
            throw Sharded();
        _indexes = IndexesOf(replaced);
        _made = store.CreateTemporary(database, $"tmp.agg_out.{Guid.NewGuid()}", replaced)
            ?? throw CommandException.DatabaseDiffersInCase(store.FindOtherCase(database), database);
    }

    /// <summary>Reads the stage's value.</summary>
    /// <returns>Opens the target, once the whole pipeline is known to be right.</returns>
    /// <exception cref="CommandException">It names no collection that can be written.</exception>
    public static Func<CommandSession, IPipelineTarget> Parse(BsonValue value, string database)
    {
        string name;
        if (value.Type == BsonType.String)
        {
            name = value.ToString();
        }
        else
        {
            if (value.Type != BsonType.Document)
                throw CommandException.Location(
                    16990, $"$out only supports a string or object argument, but found {Values.TypeName(value)}");
            BsonDocument fields = value.ToDocument();
            if (fields.Count() != 2 || DirectFields.Find(fields, "db") is not { } db || DirectFields.Find(fields, "coll") is not { } coll)
                throw CommandException.Location(
                    16994, "If an object is passed to $out it must have exactly 2 fields: 'db' and 'coll'");
            (database, name) = (Text("db", db), Text("coll", coll));
        }

        if (name.Length == 0)
            throw CommandException.InvalidNamespace($"Invalid $out target namespace, {database}.");
        if (name.StartsWith("system.", StringComparison.Ordinal))
            throw CommandException.Location(17385, $"Can't $out to special collection: {name}");
        if (Namespaces.IsInternal(database))
            throw CommandException.Location(31321, $"Can't $out to internal database: {database}");
        if (name.Contains('$'))
            throw new CommandException(20, "IllegalOperation", $"error with target namespace: Invalid collection name: {name}");
        Namespaces.RequireDatabase(database, System.Text.Encoding.UTF8.GetBytes(database));
        Namespaces.RequireCollection(database, System.Text.Encoding.UTF8.GetBytes(name));
        return session => new OutStage(session, database, name);
    }

    public void Write(IReadOnlyList<BsonDocument> documents) =>
        UpdateExecutor.Within(_session, _made, executor => executor.Insert(documents));

    public void Complete()
    {
        // An index that was made meanwhile would be lost: its client was told that it is there.
        RenameOutcome outcome = _session.Server.Store.Rename(
            _made.Namespace, _database, _name, target => IndexesOf(target).SequenceEqual(_indexes));
        if (outcome == RenameOutcome.TargetRefused)
            throw new CommandException(
                125, "CommandFailed", $"indexes of target collection {_database}.{_name} changed while processing $out");
        if (outcome == RenameOutcome.Sharded)
            throw Sharded();
        if (outcome != RenameOutcome.Done)
            throw new CommandException(175, "QueryPlanKilled", $"collection {_made.Namespace} dropped before it was complete");
        _session.Server.Cursors.ReleaseDropped();
        _isComplete = true;
    }

    public void Dispose()
    {
        if (!_isComplete)
            ActiveOperation.Finish(() => _session.Server.Store.Drop(_made.Namespace));
    }

    private CommandException Sharded() => CommandException.Location(28769, $"{_database}.{_name} cannot be sharded");

    private static string[] IndexesOf(Collection? collection) =>
        [.. (collection?.Entry.Indexes ?? []).Select(spec => Convert.ToHexString(IndexCommands.Describe(spec).Bytes))];

    private static string Text(string name, BsonValue value) => value.Type == BsonType.String
        ? value.ToString()
        : throw CommandException.Location(13111, $"wrong type for field ({name}) {Values.TypeName(value)} != string");
}
