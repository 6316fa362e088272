using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>What a command may not do under a collation: compare strings in a place that knows bytes only.</summary>
internal static class CollationLimits
{
    private static readonly string[] UpdatesWithoutComparison =
        ["$set", "$setOnInsert", "$unset", "$inc", "$mul", "$rename", "$currentDate", "$bit", "$push", "$pop"];

    /// <exception cref="CommandException">238: the update compares values.</exception>
    public static void RequireUpdate(BsonValue update, BsonValue? arrayFilters)
    {
        if (arrayFilters is { } filters && Values.Items(filters).Any())
            throw NotSupported("arrayFilters");
        if (update.Type == BsonType.Array)
            throw NotSupported("an update by a pipeline");
        foreach ((string name, BsonValue value) in update.ToDocument())
        {
            if (name.StartsWith('$') && !UpdatesWithoutComparison.Contains(name))
                throw NotSupported(name);
            if (name == "$push" && value.Type == BsonType.Document && value.ToDocument().Any(field => Sorts(field.Value)))
                throw NotSupported("$sort in $push");
        }
    }

    /// <exception cref="CommandException">238: the stage compares strings in a place that knows bytes only.</exception>
    public static void RequireStage(string name, BsonValue value)
    {
        // What is no document, the stage itself refuses.
        if (value.Type != BsonType.Document)
            return;
        switch (name)
        {
            case "$project" or "$addFields" or "$set" or "$replaceRoot" or "$replaceWith" or "$sortByCount"
                when HasOperators(value.ToDocument()):
                throw NotSupported($"{name} with operators");
            case "$lookup" when value.ToDocument().FindDocument("let") is { } let && HasOperators(let):
                throw NotSupported("$lookup with operators in 'let'");
            case "$group":
                foreach ((string field, BsonValue part) in value.ToDocument())
                {
                    if (field != "_id" && part.Type == BsonType.Document
                        && part.ToDocument().FirstOrDefault().Key is "$min" or "$max" or "$addToSet")
                        throw NotSupported($"{part.ToDocument().First().Key} in $group");
                    BsonDocument operands = field == "_id" || part.Type != BsonType.Document ? BsonDocument.Of((field, part))
                        : BsonDocument.Of([.. part.ToDocument().Select(one => ("of", (object?)one.Value))]);
                    if (HasOperators(operands))
                        throw NotSupported("$group with operators");
                }

                break;
            case "$bucket":
                throw NotSupported(name);
            default:
                break;
        }
    }

    /// <summary>Whether there is an operator in a projection or in the fields of a stage; $slice compares nothing.</summary>
    public static bool HasOperators(BsonDocument document) => document.Any(field =>
        (field.Key.StartsWith('$') && field.Key is not ("$slice" or "$literal"))
        || (field.Value.Type is BsonType.Document or BsonType.Array && HasOperators(field.Value.ToDocument())));

    private static bool Sorts(BsonValue push) =>
        push.Type == BsonType.Document && push.ToDocument().Any(option => option.Key == "$sort");

    public static CommandException NotSupported(string what) => CommandException.NotSupported($"{what} under a collation");
}
