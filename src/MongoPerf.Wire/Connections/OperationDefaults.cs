using System.Buffers.Binary;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>
/// Adds to a command what the connection string asks for and the command does not say itself: write concern, read concern, read preference,
/// version of the API.
/// </summary>
/// <remarks>
/// One thread; the buffer is used again. Costs a walk over the command's elements and a copy of the message, and only those who ask for it.
/// </remarks>
internal sealed class OperationDefaults
{
    private const int KindOffset = MessageHeader.Size + 4;
    private const int BodyOffset = KindOffset + 1;

    private readonly byte[] _writeConcern;
    private readonly byte[] _readConcern;
    private readonly byte[] _readPreference;
    private readonly byte[] _api;
    private byte[] _message = [];

    /// <param name="writeConcern">The write concern for writes.</param>
    /// <param name="readConcern">The read concern level for reads.</param>
    /// <param name="readPreference">The read preference for everything that is no write.</param>
    /// <param name="api">The version of the API, for everything.</param>
    private OperationDefaults(BsonDocument? writeConcern, string? readConcern, BsonDocument? readPreference, BsonDocument? api)
    {
        _writeConcern = Element("writeConcern", writeConcern);
        _readConcern = Element("readConcern", readConcern is null ? null : BsonDocument.Of(("level", readConcern)));
        _readPreference = Element("$readPreference", readPreference);
        _api = api is null ? [] : Elements(api);
    }

    private enum CommandKind
    {
        Other,
        Read,
        Write,
    }

    /// <summary>
    /// The defaults for the operations of a load. Which member reads go to is decided before they are prepared, and stands in them.
    /// </summary>
    /// <returns>Null when there is nothing to add.</returns>
    public static OperationDefaults? ForLoad(ConnectionSettings settings, HelloReply server) =>
        settings.WriteConcern is null && settings.ReadConcernLevel is null && settings.ServerApi is null
        && !IsDirectSecondary(settings, server)
            ? null
            : new OperationDefaults(
                settings.WriteConcern, settings.ReadConcernLevel, ReadPreferenceOf(settings, server), settings.ServerApi?.ForLoad);

    /// <summary>
    /// The defaults for commands around the load, which name the concerns they need: only a secondary that was named wants to be told that
    /// it may answer.
    /// </summary>
    /// <inheritdoc cref="ForLoad"/>
    public static OperationDefaults? ForHousekeeping(ConnectionSettings settings, HelloReply server) =>
        IsDirectSecondary(settings, server)
            ? new OperationDefaults(null, null, ReadPreferenceOf(settings, server), settings.ServerApi?.ForHousekeeping)
            : ForHandshake(settings);

    /// <summary>The defaults for the commands that open a connection, when nothing is known of the server.</summary>
    /// <inheritdoc cref="ForLoad"/>
    public static OperationDefaults? ForHandshake(ConnectionSettings settings) =>
        settings.ServerApi is { } api ? new OperationDefaults(null, null, null, api.ForHousekeeping) : null;

    /// <param name="message">An OP_MSG whose first section is the command.</param>
    /// <returns>The message to send; valid until the next call.</returns>
    public ReadOnlySpan<byte> Apply(ReadOnlySpan<byte> message)
    {
        if (message.Length <= BodyOffset || message[KindOffset] != 0)
            return message;
        var reader = new BsonReader(message[BodyOffset..]);
        if (!reader.Read())
            return message;
        CommandKind kind = KindOf(reader.Name);
        ReadOnlySpan<byte> concern = kind switch
        {
            CommandKind.Write => _writeConcern,
            CommandKind.Read => _readConcern,
            _ => [],
        };
        ReadOnlySpan<byte> preference = kind == CommandKind.Write ? [] : _readPreference;
        ReadOnlySpan<byte> api = _api;
        while (reader.Read())
        {
            if (reader.NameIs("writeConcern"u8) || reader.NameIs("readConcern"u8))
                concern = [];
            else if (reader.NameIs("$readPreference"u8))
                preference = [];
            else if (reader.NameIs("apiVersion"u8))
                api = [];
            else if (reader.NameIs("autocommit"u8))
                concern = preference = []; // A transaction has concerns of its own.
        }

        return concern.Length + preference.Length + api.Length == 0 ? message
            : Insert(message, BodyOffset + reader.Document.Length - 1, concern, preference, api);
    }

    private static bool IsDirectSecondary(ConnectionSettings settings, HelloReply server) =>
        settings.IsDirect && !server.IsMongos && !server.IsWritablePrimary;

    /// <summary>A secondary answers only those who say that they mean it. Source: server-selection.md, "topology type Single".</summary>
    private static BsonDocument? ReadPreferenceOf(ConnectionSettings settings, HelloReply server) =>
        !IsDirectSecondary(settings, server) ? null
        : settings.ReadPreference.IsPrimary ? new ReadPreference(ReadMode.PrimaryPreferred).Document
        : settings.ReadPreference.Document;

    private static CommandKind KindOf(ReadOnlySpan<byte> name) => name switch
    {
        _ when name.SequenceEqual("find"u8) || name.SequenceEqual("aggregate"u8) || name.SequenceEqual("count"u8)
            || name.SequenceEqual("distinct"u8)
            || name.SequenceEqual("clusterFind"u8) || name.SequenceEqual("clusterAggregate"u8) => CommandKind.Read,
        _ when name.SequenceEqual("insert"u8) || name.SequenceEqual("update"u8) || name.SequenceEqual("delete"u8)
            || name.SequenceEqual("findAndModify"u8) || name.SequenceEqual("findandmodify"u8)
            || name.SequenceEqual("clusterInsert"u8) || name.SequenceEqual("clusterUpdate"u8) || name.SequenceEqual("clusterDelete"u8)
            || name.SequenceEqual("create"u8) || name.SequenceEqual("createIndexes"u8) || name.SequenceEqual("drop"u8)
            || name.SequenceEqual("dropIndexes"u8)
            || name.SequenceEqual("bulkWrite"u8) || name.SequenceEqual("dropDatabase"u8) || name.SequenceEqual("renameCollection"u8)
            || name.SequenceEqual("collMod"u8) => CommandKind.Write,
        _ => CommandKind.Other,
    };

    private static byte[] Element(string name, BsonDocument? value) =>
        value is null ? [] : Elements(BsonDocument.Of((name, value)));

    private static byte[] Elements(BsonDocument document) => document.Bytes[4..^1].ToArray();

    /// <param name="message">The message.</param>
    /// <param name="at">Where the command's final zero stands.</param>
    /// <param name="first">Elements.</param>
    /// <param name="second">More elements.</param>
    /// <param name="third">More elements.</param>
    private ReadOnlySpan<byte> Insert(
        ReadOnlySpan<byte> message, int at, ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, ReadOnlySpan<byte> third)
    {
        int added = first.Length + second.Length + third.Length;
        int length = message.Length + added;
        if (_message.Length < length)
            _message = new byte[(length + 0xFFFF) & ~0xFFFF];
        Span<byte> target = _message.AsSpan(0, length);
        message[..at].CopyTo(target);
        first.CopyTo(target[at..]);
        second.CopyTo(target[(at + first.Length)..]);
        third.CopyTo(target[(at + first.Length + second.Length)..]);
        message[at..].CopyTo(target[(at + added)..]);
        BinaryPrimitives.WriteInt32LittleEndian(target, length);
        BinaryPrimitives.WriteInt32LittleEndian(
            target[BodyOffset..], BinaryPrimitives.ReadInt32LittleEndian(message[BodyOffset..]) + added);
        return target;
    }
}
