using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>collMod: how long a TTL index keeps documents, and whether queries see an index.</summary>
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
        IndexSpec before = index.Spec;
        if (change.Seconds != null && before.IsIdIndex)
            throw InvalidOptions("the _id field does not support TTL indexes");
        if (change.IsHidden != null && before.IsIdIndex)
            throw CommandException.BadValue("can't hide _id index");
        if (change.Seconds != null && before.Fields.Length > 1)
            throw InvalidOptions("TTL indexes are single-field indexes, compound indexes do not support TTL");
        store.ReplaceIndex(collection, index, before with
        {
            ExpireAfterSeconds = change.Seconds ?? before.ExpireAfterSeconds, IsHidden = change.IsHidden ?? before.IsHidden,
        });
        if (change.Seconds is { } seconds)
        {
            if (before.ExpireAfterSeconds is { } old)
                body.WriteInt64("expireAfterSeconds_old"u8, old);
            body.WriteInt64("expireAfterSeconds_new"u8, seconds);
        }

        if (change.IsHidden is { } isHidden && isHidden != before.IsHidden)
        {
            body.WriteBoolean("hidden_old"u8, before.IsHidden);
            body.WriteBoolean("hidden_new"u8, isHidden);
        }
    }

    private static CommandException InvalidOptions(string message) => new(72, "InvalidOptions", message);

    /// <param name="Name">The index's; null where the key pattern is given.</param>
    /// <param name="Key">The index's key pattern; null where the name is given.</param>
    /// <param name="Seconds">How old documents may become; null leaves that as it is.</param>
    /// <param name="IsHidden">Whether queries do without it; null leaves that as it is.</param>
    private readonly record struct IndexChange(string? Name, BsonDocument? Key, int? Seconds, bool? IsHidden)
    {
        public static IndexChange Parse(BsonDocument change)
        {
            string? name = null;
            BsonDocument? key = null;
            BsonValue? seconds = null;
            bool? isHidden = null;
            foreach ((string field, BsonValue value) in change)
            {
                switch (field)
                {
                    case "name": name = value.Type == BsonType.String
                        ? value.ToString() : throw CommandFields.Mismatch("collMod.index", field, value.Type, "string"); break;
                    case "keyPattern": key = CommandFields.Document("collMod.index", field, value); break;
                    case Expiry: seconds = value; break;
                    case "hidden" when value.Type == BsonType.Null: break;
                    case "hidden": isHidden = CommandFields.Flag("collMod.index", field, value); break;
                    case "prepareUnique" or "unique": throw CommandException.NotSupported($"'{field}' in collMod");
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
            if (seconds == null && isHidden == null)
                throw InvalidOptions("no expireAfterSeconds, hidden, unique, or prepareUnique field");
            string? error = null;
            int? expiry = seconds is { } given ? IndexExpiry.Parse(given, out error) : null;
            return error == null ? new IndexChange(name, key, expiry, isHidden) : throw InvalidOptions(error);
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
