using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Connections;

/// <summary>How the commands of a client are named by what it talks to: the one place that knows which router is there.</summary>
/// <remarks>
/// A mongod 6.0 or later that routes (see docs/design.md) carries mongos' code under the names of its internal cluster commands; only the
/// first element's name differs. Immutable, for any thread.
/// </remarks>
public sealed class CommandDialect
{
    private readonly IReadOnlyDictionary<string, string> _names;

    private CommandDialect(IReadOnlyDictionary<string, string> names) => _names = names;

    /// <summary>mongod and mongos: every command by its own name.</summary>
    public static CommandDialect Plain { get; } = new(new Dictionary<string, string>());

    /// <summary>A mongod that plays mongos' part.</summary>
    public static CommandDialect RoutingMongod { get; } = new(new Dictionary<string, string>
    {
        ["insert"] = "clusterInsert",
        ["find"] = "clusterFind",
        ["getMore"] = "clusterGetMore",
        ["update"] = "clusterUpdate",
        ["delete"] = "clusterDelete",
        ["aggregate"] = "clusterAggregate",
    });

    /// <returns>The name to send: the command's own where the dialect has none for it.</returns>
    public string NameOf(string command) => _names.GetValueOrDefault(command, command);

    /// <summary>The command with its first element renamed; in explain the inner command's.</summary>
    public BsonDocument Translate(BsonDocument command)
    {
        if (_names.Count == 0)
            return command;
        (string name, BsonValue value) = command.First();
        if (name == "explain")
            return BsonDocument.Of([("explain", Translate(value.ToDocument())), .. command.Skip(1).Select(e => (e.Key, (object?)e.Value))]);
        return _names.ContainsKey(name)
            ? BsonDocument.Of([(NameOf(name), value), .. command.Skip(1).Select(e => (e.Key, (object?)e.Value))])
            : command;
    }
}
