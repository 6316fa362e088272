using MongoPerf.Server.Commands.Queries;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Which levels of readConcern a command takes.</summary>
internal enum ReadConcernSupport
{
    /// <summary>"local" only.</summary>
    Local,

    /// <summary>All but "snapshot".</summary>
    NotSnapshot,

    All,
}

/// <summary>
/// Checks of the fields that say how a command is to be seen beside others: session, transaction, read concern. As a standalone
/// mongod 6.0 does them.
/// </summary>
internal static class SessionFields
{
    private const string OutOfBounds = "Transaction numbers are only allowed on a replica set member or mongos";

    /// <exception cref="CommandException">
    /// 20 for a transaction or a retryable write; 72, 9, 14, 2, 123 for a read concern that is wrong or not supported.
    /// </exception>
    public static void Require(ReadOnlySpan<byte> body, CommandEntry command)
    {
        var found = default(Transaction);
        var api = default(ApiFields);
        bool hasSession = false;
        var reader = new BsonReader(body);
        while (reader.Read())
        {
            // The first letters tell: most commands have none of these fields, and this is on every command's way.
            switch (reader.Name.Length > 0 ? reader.Name[0] : 0)
            {
                case (byte)'l' when reader.NameIs("lsid"u8):
                    RequireSessionId(reader, "OperationSessionInfo.lsid");
                    hasSession = true;
                    break;
                case (byte)'t' when reader.NameIs("txnNumber"u8):
                    found.HasNumber = reader.Type == BsonType.Int64 ? true
                        : throw CommandFields.Mismatch("OperationSessionInfo", "txnNumber", reader.Type, "long");
                    break;
                case (byte)'a' when reader.NameIs("autocommit"u8): found.HasAutocommit = true; break;
                case (byte)'a' when reader.Name.StartsWith("api"u8): api.Take(reader); break;
                case (byte)'s' when reader.NameIs("startTransaction"u8): found.IsStart = true; break;
                case (byte)'r' when reader.NameIs("readConcern"u8): ReadConcern.Require(reader, body, command.Concern); break;
                default: break;
            }
        }

        if (api != default)
            api.Require(command);
        if (found != default)
            Refuse(found, hasSession, command);
    }

    /// <summary>{id: UUID} and perhaps the uid that a server adds.</summary>
    public static void RequireSessionId(BsonReader value, string field)
    {
        if (value.Type != BsonType.Document)
            throw CommandException.TypeMismatch(
                $"BSON field '{field}' is the wrong type '{TypeSet.AliasOf(value.Type)}', expected type 'object'");
        bool hasId = false;
        var fields = new BsonReader(value.Value);
        while (fields.Read())
        {
            if (fields.NameIs("id"u8))
                hasId = IsUuid(fields) ? true : throw CommandException.TypeMismatch(
                    $"BSON field '{field}.id' is the wrong type '{TypeSet.AliasOf(fields.Type)}', expected type 'UUID'");
            else if (!fields.NameIs("uid"u8) && !fields.NameIs("txnNumber"u8) && !fields.NameIs("txnUUID"u8) && !fields.NameIs("stmtId"u8))
                throw CommandException.UnknownField(field, fields.NameText);
        }

        if (!hasId)
            throw CommandException.MissingField(field, "id");
    }

    private static bool IsUuid(BsonReader value) =>
        value.Type == BsonType.Binary && value.Value.Length == 4 + 1 + 16 && value.Value[4] == 4;

    private static void Refuse(Transaction found, bool hasSession, CommandEntry command)
    {
        if (found.IsStart && !found.HasAutocommit)
            throw new CommandException(72, "InvalidOptions", "'startTransaction' field requires 'autocommit' field to also be specified");
        if (found.HasAutocommit && !command.TakesTransactionNumber)
            throw new CommandException(263, "OperationNotSupportedInTransaction", "This command is not supported in transactions");
        if (!found.HasNumber)
            throw new CommandException(72, "InvalidOptions", "'autocommit' field requires a transaction number to also be specified");
        if (command.TakesTransactionNumber && !hasSession)
            throw new CommandException(72, "InvalidOptions", "Transaction number requires a session ID to also be specified");
        throw command.TakesTransactionNumber
            ? new CommandException(20, "IllegalOperation", OutOfBounds)
            : CommandException.Location(50889, "It is illegal to provide a txnNumber for this command");
    }

    /// <summary>What a client says about MongoDB's stable API (serverApi in drivers).</summary>
    private record struct ApiFields(string? Version, bool IsStrict, bool HasOthers)
    {
        public void Take(BsonReader field)
        {
            switch (field.NameText)
            {
                case "apiVersion":
                    Version = field.Type == BsonType.String ? field.StringText : throw Mismatch(field, "string");
                    break;
                case "apiStrict" or "apiDeprecationErrors":
                    if (field.Type != BsonType.Boolean)
                        throw Mismatch(field, "bool");
                    HasOthers = true;
                    IsStrict |= field.Boolean && field.NameIs("apiStrict"u8);
                    break;
                default: break;
            }
        }

        /// <exception cref="CommandException">4886600, 322, 323.</exception>
        public readonly void Require(CommandEntry command)
        {
            if (Version == null)
                throw CommandException.Location(4886600, "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion");
            if (Version != "1")
                throw new CommandException(322, "APIVersionError", $"Cannot accept API version {Version}");
            if (IsStrict && !command.IsStable)
                throw new CommandException(323, "APIStrictError",
                    $"Provided apiStrict:true, but the command {command.Name} is not in API Version 1");
        }

        private static CommandException Mismatch(BsonReader field, string expected) =>
            CommandFields.Mismatch("APIParametersFromClient", field.NameText, field.Type, expected);
    }

    private record struct Transaction(bool HasNumber, bool HasAutocommit, bool IsStart);
}

/// <summary>The checks of a readConcern.</summary>
internal static class ReadConcern
{
    public static void Require(BsonReader concern, ReadOnlySpan<byte> body, ReadConcernSupport support)
    {
        var command = new BsonReader(body);
        command.Read();
        if (concern.Type != BsonType.Document)
        {
            throw command.NameIs("aggregate"u8) && concern.Type != BsonType.Null
                ? CommandFields.Mismatch("aggregate", "readConcern", concern.Type, "object")
                : CommandException.FailedToParse("readConcern field should be an object");
        }

        string? level = null;
        bool isAfterOperation = false;
        bool isAfterTime = false;
        bool isAtTime = false;
        var fields = new BsonReader(concern.Value);
        while (fields.Read())
        {
            switch (fields.NameText)
            {
                case "level": level = Level(fields); break;
                case "afterOpTime": isAfterOperation = true; break;
                case "afterClusterTime": isAfterTime = true; break;
                case "atClusterTime": isAtTime = true; break;
                case "provenance": RequireProvenance(fields); break;
                case { } name: throw Invalid($"Unrecognized option in readConcern: {name}");
            }
        }

        if (isAtTime && level != "snapshot")
            throw Invalid("atClusterTime field can be set only if level is equal to snapshot");
        if (isAfterTime && level is not (null or "local" or "majority" or "snapshot"))
            throw Invalid("afterClusterTime field can be set only if level is equal to majority, local, or snapshot");
        RequireSupported(level, command.NameText, support);
        if (level == "snapshot" || level == "linearizable" || isAfterOperation)
            throw new CommandException(123, "NotAReplicaSet",
                $"node needs to be a replica set member to use readConcern{(level == "snapshot" ? ": snapshot" : "")}");
        if (isAfterTime)
        {
            throw command.NameText is "ping" or "validate" or "serverStatus" or "getMore"
                ? Invalid("afterClusterTime is not allowed for this command")
                : new CommandException(20, "IllegalOperation", "Cannot specify afterClusterTime readConcern without replication enabled");
        }
    }

    private static string Level(BsonReader value)
    {
        if (value.Type != BsonType.String)
            throw CommandException.TypeMismatch($"\"level\" had the wrong type. Expected string, found {TypeSet.AliasOf(value.Type)}");
        return value.StringText is "local" or "majority" or "linearizable" or "available" or "snapshot"
            ? value.StringText
            : throw CommandException.FailedToParse(
                "readConcern.level must be either 'local', 'majority', 'linearizable', 'available', or 'snapshot'");
    }

    private static void RequireProvenance(BsonReader value)
    {
        if (value.Type == BsonType.String && value.StringText is not ("clientSupplied" or "implicitDefault" or "customDefault"))
            throw CommandException.BadValue(
                $"Enumeration value '{value.StringText}' for field 'ReadConcernArgs::parse.provenance' is not a valid value.");
    }

    private static void RequireSupported(string? level, string command, ReadConcernSupport support)
    {
        bool isSupported = level is null or "local" || support == ReadConcernSupport.All
            || (support == ReadConcernSupport.NotSnapshot && level != "snapshot");
        if (!isSupported)
            throw Invalid($"Command {command} does not support {{ readConcern: {{ level: \"{level}\" }} }} :: caused by :: "
                + $"read concern {(level == "snapshot" ? "snapshot " : "")}not supported");
    }

    private static CommandException Invalid(string message) => new(72, "InvalidOptions", message);
}
