using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage;
using MongoPerf.Server.Users;
using MongoPerf.Wire.Authentication;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Logging in and out, and what hello says about it. Source: specifications, auth/auth.md; mongod 6.0.5.</summary>
internal static class LoginCommands
{
    public static void Start(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var command = new BsonDocument(request.Body.ToArray());
        Converse(session, reply, () => session.Login.Start(command, session.Database, reply.Body));
    }

    public static void Continue(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        var command = new BsonDocument(request.Body.ToArray());
        Converse(session, reply, () => session.Login.Continue(command, reply.Body));
    }

    /// <summary>Logs the connection out; of another database than the users' it changes nothing.</summary>
    public static void LogOut(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        if (session.Database == UserStore.Database)
            session.Login.LogOut();
        reply.Succeed();
    }

    /// <summary>Refuses X.509 certificates, which log nobody in here.</summary>
    public static void Authenticate(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonValue mechanism =
            new BsonDocument(request.Body.ToArray()).Find("mechanism") ?? throw CommandException.MissingField("authenticate", "mechanism");
        throw new CommandException(334, "MechanismUnavailable", $"Received authentication for mechanism {mechanism} which is not enabled");
    }

    public static void ConnectionStatus(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        BsonWriter body = reply.Body;
        body.StartDocument("authInfo"u8);
        body.StartArray("authenticatedUsers"u8);
        if (session.Login.UserName is { } user)
            WritePair(body, "user"u8, user);
        body.End();
        body.StartArray("authenticatedUserRoles"u8);
        if (session.Login.UserName is not null)
            WritePair(body, "role"u8, "root");
        body.End();
        body.End();
        reply.Succeed();
    }

    public static void RefuseUsers(CommandSession session, in CommandRequest request, ReplyWriter reply) =>
        throw CommandException.NotSupported(
            $"{request.NameText}; 'mongoperf serve --data DIR --add-user NAME' adds users, each with full access");

    /// <summary>
    /// hello's answers to <c>saslSupportedMechs</c> and <c>speculativeAuthenticate</c>: the beginning of a login, or silence
    /// where it would fail.
    /// </summary>
    public static void WriteToHello(CommandSession session, ReadOnlySpan<byte> hello, ReplyWriter reply)
    {
        BsonWriter body = reply.Body;
        var mechanisms = new BsonReader(hello);
        if (mechanisms.Find("saslSupportedMechs"u8))
        {
            if (mechanisms.Type != BsonType.String)
                throw CommandFields.Mismatch("hello", "saslSupportedMechs", mechanisms.Type, "string");
            if (!mechanisms.StringText.Contains('.', StringComparison.Ordinal))
                throw CommandException.BadValue("UserName must contain a '.' separated database.user pair");
            // Of any name: who asks does not learn which users there are.
            body.StartArray("saslSupportedMechs"u8);
            for (int i = 0; i < ScramCredential.Mechanisms.Count; i++)
                body.WriteString(ArrayNames.Of(i), ScramCredential.Mechanisms[i]);
            body.End();
        }

        var login = new BsonReader(hello);
        if (!login.Find("speculativeAuthenticate"u8))
            return;
        if (login.Type != BsonType.Document)
            throw CommandFields.Mismatch("hello", "speculativeAuthenticate", login.Type, "object");
        var command = new BsonDocument(login.Value.ToArray());
        var answer = new BsonWriter();
        answer.StartDocument();
        try
        {
            if (command.Find("saslStart") is null)
                return;
            session.Login.Start(command, command.FindString("db") ?? session.Database, answer);
        }
        catch (Exception error) when (error is CommandException or StorageException)
        {
            // The client then logs in without haste, and learns why it can't. Who only guesses is not let off.
            reply.CloseAfterwards |= session.Login.HasFailedTooOften;
            return;
        }

        answer.End();
        body.WriteDocument("speculativeAuthenticate"u8, answer.Written);
    }

    private static void Converse(CommandSession session, ReplyWriter reply, Action step)
    {
        try
        {
            step();
            reply.Succeed();
        }
        catch (CommandException) when (session.Login.HasFailedTooOften)
        {
            reply.CloseAfterwards = true;
            throw;
        }
    }

    private static void WritePair(BsonWriter body, ReadOnlySpan<byte> name, string value)
    {
        body.StartDocument("0"u8);
        body.WriteString(name, value);
        body.WriteString("db"u8, UserStore.Database);
        body.End();
    }
}
