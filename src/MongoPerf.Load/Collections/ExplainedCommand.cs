using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Collections;

/// <summary>What a server is asked to explain of a command, so that nothing is written, whatever it makes of explain.</summary>
/// <remarks>
/// mongod carries out no write that it explains, but not every server that speaks its protocol need do so: a write is only planned, and
/// what it costs to find its documents is that of the same search as a find.
/// </remarks>
/// <param name="Command">The command itself, without what explain refuses.</param>
/// <param name="Search">The find that looks for the documents of a write; null for a command that only reads.</param>
internal sealed record ExplainedCommand(BsonDocument Command, BsonDocument? Search = null)
{
    /// <summary>The stage that was left out of a pipeline because it writes; null for none.</summary>
    public string? Left { get; private init; }

    /// <param name="command">As it is sent.</param>
    public static ExplainedCommand Of(BsonDocument command) => command.First().Key switch
    {
        "aggregate" => OfAggregation(command),
        "update" => OfWrite(command, command.FindDocument("updates.0"), one => !one.IsTrue("multi")),
        "delete" => OfWrite(command, command.FindDocument("deletes.0"), one => one.FindInt64("limit") == 1),
        "findAndModify" => OfWrite(command, command, _ => true),
        _ => new ExplainedCommand(command),
    };

    private static ExplainedCommand OfAggregation(BsonDocument command)
    {
        BsonDocument[] stages = [.. (command.FindDocument("pipeline") ?? BsonDocument.Empty).Select(stage => stage.Value.ToDocument())];
        if (stages is not [.. var reading, var last] || last.First().Key is not ("$out" or "$merge"))
            return new ExplainedCommand(command);
        return new ExplainedCommand(BsonDocument.Of([.. command.Where(e => e.Key != "writeConcern")
            .Select(e => (e.Key, e.Key == "pipeline" ? reading : (object?)e.Value))])) { Left = last.First().Key };
    }

    /// <param name="command">The command.</param>
    /// <param name="write">Where it says which documents it changes.</param>
    /// <param name="isOfOne">It changes one document at most.</param>
    private static ExplainedCommand OfWrite(BsonDocument command, BsonDocument? write, Func<BsonDocument, bool> isOfOne)
    {
        if (write is null)
            return new ExplainedCommand(command);
        BsonDocument filter = write.FindDocument("q") ?? write.FindDocument("query") ?? BsonDocument.Empty;
        return new ExplainedCommand(command, BsonDocument.Of(
        [
            ("find", command.First().Value), ("filter", filter),
            .. ((string[])["sort", "hint", "collation"]).Where(name => write.Find(name) is not null)
                .Select(name => (name, (object?)write.Find(name)!.Value)),
            .. command.Find("let") is { } variables ? [("let", variables)] : Array.Empty<(string, object?)>(),
            .. isOfOne(write) ? [("limit", 1), ("singleBatch", true)] : Array.Empty<(string, object?)>(),
        ]));
    }
}
