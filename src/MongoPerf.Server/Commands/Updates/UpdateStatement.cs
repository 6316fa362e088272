using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Updates;

/// <summary>
/// One statement of an update command, read but for the update itself: what is wrong there fails the statement and not the command.
/// </summary>
internal sealed record UpdateStatement(
    BsonDocument Filter, BsonValue Update, BsonValue? ArrayFilters, bool IsMulti, bool IsUpsert, IndexHint Hint, BsonValue Collation)
{
    private const string Command = "update.updates";

    /// <exception cref="CommandException">A field that is missing, of the wrong type, or unknown.</exception>
    public static UpdateStatement Parse(ReadOnlySpan<byte> bytes)
    {
        BsonValidator.Validate(bytes);
        BsonDocument? filter = null;
        BsonValue? update = null;
        BsonValue? arrayFilters = null;
        bool isMulti = false;
        bool isUpsert = false;
        IndexHint hint = default;
        BsonValue collation = Values.Null;
        foreach ((string name, BsonValue value) in new BsonDocument(bytes.ToArray()))
        {
            switch (name)
            {
                case "q": filter = CommandFields.Document(Command, name, value); break;
                case "u": update = value; break;
                case "multi": isMulti = CommandFields.Boolean(Command, name, value); break;
                case "upsert": isUpsert = CommandFields.Boolean(Command, name, value); break;
                case "arrayFilters": arrayFilters =
                    value.Type == BsonType.Array ? value : throw CommandFields.Mismatch(Command, name, value.Type, "array"); break;
                case "hint": hint = IndexHint.Parse(value); break;
                case "collation" when value.Type is BsonType.Document or BsonType.Null: collation = value; break;
                case "collation": throw CommandFields.Mismatch(Command, name, value.Type, "object");
                case "c": throw CommandException.NotSupported("'c' in updates");
                default: throw CommandException.UnknownField(Command, name);
            }
        }

        return new UpdateStatement(
            filter ?? throw CommandException.MissingField(Command, "q"), update ?? throw CommandException.MissingField(Command, "u"),
            arrayFilters, isMulti, isUpsert, hint, collation);
    }

    /// <exception cref="CommandException">The update is wrong; this statement fails.</exception>
    public DocumentUpdate ParseUpdate(Variables? variables)
    {
        DocumentUpdate update = DocumentUpdate.Parse(
            Update, ArrayFilters is { } filters ? new ArrayFilters(Values.Items(filters)) : null, variables);
        return IsMulti && update.IsReplacement
            ? throw CommandException.FailedToParse("multi update is not supported for replacement-style update")
            : update;
    }
}
