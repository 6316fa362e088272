using MongoPerf.Server.Users;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Who the client of one connection is, and the exchange in which it shows that. The connection's thread only.</summary>
/// <param name="users">The users of the server.</param>
internal sealed class Login(UserStore users)
{
    /// <summary>A client that has failed so often on one connection has to come back with another.</summary>
    public const int MostFailures = 10;

    private const int ConversationId = 1;

    private ScramServerConversation? _conversation;
    private bool _skipsEmptyExchange;

    /// <summary>Null: nobody has logged in.</summary>
    public string? UserName { get; private set; }

    /// <summary>Logins that failed, those within hello too.</summary>
    public int Failures { get; private set; }

    /// <summary>The connection is to end with the present reply.</summary>
    public bool HasFailedTooOften => Failures >= MostFailures;

    public void LogOut() => UserName = null;

    /// <summary>saslStart, by itself or within hello.</summary>
    /// <param name="command">Its fields.</param>
    /// <param name="database">The database that the user belongs to.</param>
    /// <param name="reply">Gets the fields of the answer.</param>
    /// <exception cref="CommandException">
    /// 18 for whatever is wrong with user and password; 334, 40414 or 2 for the command itself.
    /// </exception>
    public void Start(BsonDocument command, string database, BsonWriter reply)
    {
        string mechanism = command.Find("mechanism") switch
        {
            null => throw CommandException.MissingField("saslStart", "mechanism"),
            { Type: BsonType.String } value => value.ToString(),
            { } value => throw CommandFields.Mismatch("saslStart", "mechanism", value.Type, "string"),
        };
        byte[] payload = Payload("saslStart", command);
        // As on mongod: only a command that makes sense ends an exchange that is under way.
        _conversation = null;
        if (!ScramCredential.Mechanisms.Contains(mechanism))
            throw new CommandException(
                334, "MechanismUnavailable", $"Received authentication for mechanism {mechanism} which is not enabled");
        var conversation = new ScramServerConversation(mechanism, user => users.Find(mechanism, database, user));
        byte[] answer = Converse(() => conversation.Start(payload));
        _conversation = conversation;
        _skipsEmptyExchange = command.IsTrue("options.skipEmptyExchange");
        Write(reply, isDone: false, answer);
    }

    /// <summary>saslContinue: the client's proof; then maybe an empty message.</summary>
    /// <inheritdoc cref="Start"/>
    public void Continue(BsonDocument command, BsonWriter reply)
    {
        BsonValue id = command.Find("conversationId") ?? throw CommandException.MissingField("saslContinue", "conversationId");
        byte[] payload = Payload("saslContinue", command);
        ScramServerConversation conversation = _conversation ?? throw Protocol("No SASL session state found");
        _conversation = null;
        if (!id.IsNumber || id.ToInt64() != ConversationId)
            throw Protocol("sasl: Mismatched conversation id");
        bool isLast = conversation.IsProven || _skipsEmptyExchange;
        Write(reply, isLast, conversation.IsProven ? [] : Converse(() => conversation.Finish(payload)));
        if (isLast)
            UserName = conversation.UserName;
        else
            _conversation = conversation;
    }

    private byte[] Converse(Func<byte[]> step)
    {
        try
        {
            return step();
        }
        catch (SaslException)
        {
            // As mongod: what exactly was wrong is nobody's business.
            Failures++;
            throw new CommandException(18, "AuthenticationFailed", "Authentication failed.");
        }
    }

    private static void Write(BsonWriter reply, bool isDone, byte[] payload)
    {
        reply.WriteInt32("conversationId"u8, ConversationId);
        reply.WriteBoolean("done"u8, isDone);
        reply.WriteBinary("payload"u8, payload);
    }

    private static byte[] Payload(string command, BsonDocument fields)
    {
        BsonValue value = fields.Find("payload") ?? throw CommandException.MissingField(command, "payload");
        if (value.Type == BsonType.Binary)
            return value.ToBinary().ToArray();
        if (value.Type != BsonType.String)
            throw CommandException.BadValue(
                $"Invalid SASLPayload type. Expected Base64 or BinData, got: {Queries.TypeSet.AliasOf(value.Type)}");
        try
        {
            return Convert.FromBase64String(value.ToString());
        }
        catch (FormatException)
        {
            throw CommandException.BadValue("Invalid base64 in SASLPayload");
        }
    }

    private static CommandException Protocol(string message) => new(17, "ProtocolError", message);
}
