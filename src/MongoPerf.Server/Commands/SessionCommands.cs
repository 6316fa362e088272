using MongoPerf.Platforms;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>
/// Logical sessions: drivers open, name and end them, and nothing is kept for one, since there are no transactions and no retries.
/// </summary>
internal static class SessionCommands
{
    /// <summary>Told by hello, and by startSession; drivers send an lsid only where it is told.</summary>
    public const int TimeoutMinutes = 30;

    public static void Start(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        byte[] id = SystemRandom.GetBytes(16);
        // A UUID of version 4, RFC 4122.
        id[6] = (byte)((id[6] & 0x0F) | 0x40);
        id[8] = (byte)((id[8] & 0x3F) | 0x80);
        reply.Body.StartDocument("id"u8);
        reply.Body.WriteBinary("id"u8, id, subtype: 4);
        reply.Body.End();
        reply.Body.WriteInt32("timeoutMinutes"u8, TimeoutMinutes);
        reply.Succeed();
    }

    /// <summary>endSessions, refreshSessions and killSessions: the array is checked.</summary>
    public static void Take(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var reader = new BsonReader(request.Body);
        reader.Read();
        if (reader.Type != BsonType.Array)
            throw CommandFields.Mismatch(reader.NameText, reader.NameText, reader.Type, "array");
        var items = new BsonReader(reader.Value);
        while (items.Read())
        {
            if (items.Type != BsonType.Document)
                throw CommandFields.Mismatch(reader.NameText, items.NameText, items.Type, "object");
            SessionFields.RequireSessionId(items, reader.NameText);
        }

        reply.Succeed();
    }

    /// <summary>Reached without a transaction number only; with one the command is refused before.</summary>
    public static void RefuseTransaction(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        throw (session.Database != "admin"
            ? CommandException.AdminOnly(request.NameText)
            : new CommandException(125, "CommandFailed", $"{request.NameText} must be run within a transaction"));
}
