using System.Text;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>renameCollection, within a database and from one to another.</summary>
internal static class RenameCommand
{
    private const string Command = "renameCollection";

    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        AdministrationCommands.RequireAdmin(session, Command);
        (string from, string to, bool dropsTarget) = Parse(request.Body);
        (string sourceDatabase, string sourceName) = Split(from);
        if (sourceName.Length == 0)
            throw CommandException.InvalidNamespace($"Invalid namespace specified '{from}'");
        (string database, string name) = Split(to);
        if (name.Length == 0)
            throw CommandException.InvalidNamespace($"Invalid target namespace: {to}");
        if (from == to)
            throw Illegal("Can't rename a collection to itself");
        RequireName("source", sourceDatabase, sourceName);
        RequireName("target", database, name);
        DocumentStore store = session.Server.Store;
        switch (store.Rename(from, database, name, target => target == null || dropsTarget))
        {
            case RenameOutcome.NoSource:
                throw CommandException.NamespaceNotFound($"Source collection {from} does not exist");
            case RenameOutcome.TargetRefused:
                throw new CommandException(48, "NamespaceExists", "target namespace exists");
            case RenameOutcome.Sharded:
                throw CommandException.NotSupported("renameCollection of a sharded collection");
            case RenameOutcome.OtherCase:
                throw CommandException.DatabaseDiffersInCase(store.FindOtherCase(database), database);
            default:
                session.Server.Cursors.ReleaseDropped();
                reply.Succeed();
                break;
        }
    }

    private static (string From, string To, bool DropsTarget) Parse(ReadOnlySpan<byte> body)
    {
        string? from = null;
        string? to = null;
        bool dropsTarget = false;
        foreach ((string field, BsonValue value) in new BsonDocument(body.ToArray()))
        {
            switch (field)
            {
                case Command when value.Type == BsonType.String: from = value.ToString(); break;
                case Command: throw CommandException.BadValue($"collection name has invalid type {Values.TypeName(value)}");
                case "to" when value.Type == BsonType.String: to = value.ToString(); break;
                case "to": throw CommandFields.Mismatch(Command, field, value.Type, "string");
                case "dropTarget" when value.Type == BsonType.Boolean: dropsTarget = value.ToBoolean(); break;
                case "dropTarget" when value.Type == BsonType.Binary:
                    throw CommandException.NotSupported("'dropTarget' of renameCollection as a UUID");
                case "dropTarget": throw CommandException.TypeMismatch($"BSON field '{Command}.{field}' is the wrong type "
                    + $"'{Values.TypeName(value)}', expected types '[bool, binData']");
                case "stayTemp": break;
                default: CommandFields.RequireGeneric(Command, field); break;
            }
        }

        return (from!, to ?? throw CommandException.MissingField(Command, "to"), dropsTarget);
    }

    /// <summary>Cuts a namespace at its first dot; the name is empty where there is none.</summary>
    private static (string Database, string Name) Split(string nameSpace)
    {
        int dot = nameSpace.IndexOf('.', StringComparison.Ordinal);
        return dot <= 0 ? (nameSpace, "") : (nameSpace[..dot], nameSpace[(dot + 1)..]);
    }

    /// <summary>Refuses names that no collection has, and those of the system's own.</summary>
    private static void RequireName(string which, string database, string name)
    {
        try
        {
            Namespaces.RequireDatabase(database, Encoding.UTF8.GetBytes(database));
            Namespaces.RequireCollection(database, Encoding.UTF8.GetBytes(name));
        }
        catch (CommandException error)
        {
            throw Illegal($"error with {which} namespace: {error.Message}");
        }

        if (name.StartsWith("system.", StringComparison.Ordinal))
            throw Illegal($"error with {which} namespace: Invalid system namespace: {database}.{name}");
    }

    private static CommandException Illegal(string message) => new(20, "IllegalOperation", message);
}
