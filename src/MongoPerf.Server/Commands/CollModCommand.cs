using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>collMod: how long a TTL index keeps documents.</summary>
internal static class CollModCommand
{
    private const string Command = "collMod";
    private const string Expiry = "expireAfterSeconds";

    /// <summary>Known to MongoDB 6.0 and not to this server.</summary>
    private static readonly string[] MongoOptions =
    [
        "validator", "validationLevel", "validationAction", "viewOn", "pipeline", "cappedSize", "cappedMax", "timeseries",
        "changeStreamPreAndPostImages", "recordPreImages", "clusteredIndex", "dryRun", "isTimeseriesNamespace", Expiry,
    ];

    public static void Execute(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        ReadOnlySpan<byte> name = CommandSession.CollectionName(reader);
        BsonDocument? change = null;
        foreach ((string field, BsonValue value) in new BsonDocument(request.Body.ToArray()).Skip(1))
        {
            if (field == "index")
                change = CommandFields.Document(Command, field, value);
            else if (MongoOptions.Contains(field))
                throw CommandException.NotSupported($"the option '{field}' of collMod");
            else
                CommandFields.RequireGeneric(Command, field);
        }

        IndexChange? wanted = change == null ? null : IndexChange.Parse(change);
        Collection collection = session.FindCollection(name) ?? throw CommandException.NamespaceNotFound("ns does not exist");
        if (wanted is { } given)
            Change(session.Server.Store, collection, given, reply.Body);
        reply.Succeed();
    }

    private static void Change(DocumentStore store, Collection collection, IndexChange change, BsonWriter body)
    {
        CollectionIndex index = change.Find(collection);
        if (index.Spec.IsIdIndex)
            throw InvalidOptions("the _id field does not support TTL indexes");
        if (index.Spec.Fields.Length > 1)
            throw InvalidOptions("TTL indexes are single-field indexes, compound indexes do not support TTL");
        if (index.Spec.ExpireAfterSeconds is { } before)
            body.WriteInt64("expireAfterSeconds_old"u8, before);
        store.ReplaceIndex(collection, index, index.Spec with { ExpireAfterSeconds = change.Seconds });
        body.WriteInt64("expireAfterSeconds_new"u8, change.Seconds);
    }

    private static CommandException InvalidOptions(string message) => new(72, "InvalidOptions", message);

    /// <param name="Name">The index's; null where the key pattern is given.</param>
    /// <param name="Key">The index's key pattern; null where the name is given.</param>
    /// <param name="Seconds">How old documents may become.</param>
    private readonly record struct IndexChange(string? Name, BsonDocument? Key, int Seconds)
    {
        public static IndexChange Parse(BsonDocument change)
        {
            string? name = null;
            BsonDocument? key = null;
            BsonValue? seconds = null;
            foreach ((string field, BsonValue value) in change)
            {
                switch (field)
                {
                    case "name": name = value.Type == BsonType.String
                        ? value.ToString() : throw CommandFields.Mismatch("collMod.index", field, value.Type, "string"); break;
                    case "keyPattern": key = CommandFields.Document("collMod.index", field, value); break;
                    case Expiry: seconds = value; break;
                    case "hidden" or "prepareUnique" or "unique": throw CommandException.NotSupported($"'{field}' in collMod");
                    default: throw CommandException.UnknownField("collMod.index", field);
                }
            }

            if (seconds is { IsNumber: false } wrong)
                throw CommandException.TypeMismatch($"BSON field 'collMod.index.{Expiry}' is the wrong type '{Values.TypeName(wrong)}', "
                    + "expected types '[long, int, decimal, double']");
            if (name != null && key != null)
                throw InvalidOptions("Cannot specify both key pattern and name.");
            if (name == null && key == null)
                throw InvalidOptions("Must specify either index name or key pattern.");
            if (seconds is not { } given)
                throw InvalidOptions("no expireAfterSeconds, hidden, unique, or prepareUnique field");
            return new IndexChange(name, key, IndexExpiry.Parse(given, out string? error) ?? throw InvalidOptions(error!));
        }

        public CollectionIndex Find(Collection collection)
        {
            BsonValue which = Key is { } key
                ? new BsonValue(BsonType.Document, key.Memory) : BsonDocument.Of(("name", Name)).First().Value;
            return IndexCommands.Find(collection, which) ?? throw new CommandException(27, "IndexNotFound",
                $"cannot find index {(Key is null ? Name : ValueText.Of(which.Type, which.Bytes.Span))} for ns {collection.Namespace}");
        }
    }
}
