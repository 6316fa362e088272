using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Connections;

/// <summary>How the commands of a client are named by what it talks to: the one place that knows which router is there.</summary>
/// <remarks>
/// A mongod 6.0 or later that routes (see docs/clusters.md) carries mongos' code under the names of its internal cluster commands. Of most
/// only the first element's name differs; count and distinct have no cluster command and are asked as aggregations, whose replies are
/// brought into the commands' own form. Immutable, for any thread.
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

    private bool IsPlain => _names.Count == 0;

    /// <returns>The name to send: the command's own where the dialect has none for it.</returns>
    public string NameOf(string command) => _names.GetValueOrDefault(command, command);

    /// <summary>The command as it is sent: renamed, in explain the inner command; count and distinct as aggregations.</summary>
    /// <exception cref="NotSupportedException">
    /// findAndModify and killCursors, which a routing mongod has not for a cluster, a command with a txnNumber, which makes it abort, or an
    /// explain of update or delete, which a shard asks itself about without end, until its memory is full.
    /// </exception>
    public BsonDocument Translate(BsonDocument command)
    {
        if (IsPlain)
            return command;
        (string name, BsonValue value) = command.First();
        if (command.Find("txnNumber") is not null)
            throw new NotSupportedException($"{name} with a txnNumber: a mongod that routes aborts on it");
        return name switch
        {
            "explain" => BsonDocument.Of([("explain", Explained(value.ToDocument())), .. Rest(command)]),
            "count" => Count(command),
            "distinct" => Distinct(command),
            "findAndModify" or "findandmodify" => throw new NotSupportedException(
                $"{name}: a mongod that routes has no such command for a cluster; find, then update what was found"),
            "killCursors" => throw new NotSupportedException(
                "killCursors: a mongod that routes does not find a cluster's cursors; read them to their end, or let them time out"),
            _ when _names.TryGetValue(name, out string? renamed) => BsonDocument.Of([(renamed, value), .. Rest(command)]),
            _ => command,
        };
    }

    /// <summary>The reply in the form of the command that the caller meant.</summary>
    /// <param name="command">The name of the command before <see cref="Translate"/>.</param>
    /// <param name="reply">The server's; one that is not ok stays as it is.</param>
    public BsonDocument ReadReply(BsonDocument command, BsonDocument reply)
    {
        if (IsPlain || !reply.IsTrue("ok"))
            return reply;
        BsonDocument? only = reply.FindDocument("cursor.firstBatch.0");
        return command.First().Key switch
        {
            "count" => BsonDocument.Of(("n", (int)(only?.FindInt64("n") ?? 0)), ("ok", 1.0)),
            "distinct" => BsonDocument.Of(("values", (object?)only?.Find("values") ?? Array.Empty<object>()), ("ok", 1.0)),
            _ => reply,
        };
    }

    private BsonDocument Explained(BsonDocument command) => command.First().Key is "update" or "delete"
        ? throw new NotSupportedException(
            $"explain of {command.First().Key}: a shard of a mongod that routes would ask itself about it without end")
        : Translate(command);

    private static IEnumerable<(string, object?)> Rest(BsonDocument command, params string[] without) =>
        command.Skip(1).Where(e => !without.Contains(e.Key)).Select(e => (e.Key, (object?)e.Value));

    private BsonDocument Count(BsonDocument command)
    {
        var stages = new List<BsonDocument> { Match(command) };
        foreach (string stage in (string[])["skip", "limit"])
        {
            if (command.FindInt64(stage) is { } number and not 0)
                stages.Add(BsonDocument.Of(($"${stage}", Math.Abs(number))));
        }

        stages.Add(BsonDocument.Of(("$count", "n")));
        return Aggregate(command, stages, "query", "skip", "limit", "fields");
    }

    /// <remarks>As distinct does, an array counts by its elements; a path through arrays of documents is not unwound.</remarks>
    private BsonDocument Distinct(BsonDocument command)
    {
        string field = $"${command.FindString("key")}";
        return Aggregate(
            command,
            [
                Match(command),
                BsonDocument.Of(("$unwind", field)),
                BsonDocument.Of(("$group", BsonDocument.Of(("_id", null), ("values", BsonDocument.Of(("$addToSet", field)))))),
            ],
            "query", "key");
    }

    private static BsonDocument Match(BsonDocument command) =>
        BsonDocument.Of(("$match", command.FindDocument("query") ?? BsonDocument.Empty));

    private BsonDocument Aggregate(BsonDocument command, IEnumerable<BsonDocument> stages, params string[] without) => BsonDocument.Of(
    [
        (NameOf("aggregate"), command.First().Value), ("pipeline", stages), ("cursor", BsonDocument.Empty), .. Rest(command, without),
    ]);
}
