using MongoPerf.Server.Listening;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>currentOp and killOp: which commands run, and the end of one.</summary>
internal static class OperationCommands
{
    public static void CurrentOp(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        if (session.Database != "admin")
            throw CommandException.AdminOnly("currentOp");
        BsonWriter body = reply.Body;
        body.StartArray("inprog"u8);
        int index = 0;
        foreach (ActiveOperation operation in session.Server.Operations.Active)
            body.WriteDocument(ArrayNames.Of(index++), Describe(operation).Bytes);
        body.End();
        reply.Succeed();
    }

    public static void KillOp(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        if (session.Database != "admin")
            throw CommandException.AdminOnly("killOp");
        var reader = new BsonReader(request.Body);
        if (!reader.Find("op"u8))
            throw new CommandException(4, "NoSuchKey", "Missing expected field \"op\"");
        if (!reader.IsNumber)
            throw CommandException.TypeMismatch(
                $"Expected field \"op\" to have numeric type, but found {Queries.TypeSet.AliasOf(reader.Type)}");
        session.Server.Operations.Kill(reader.ToInt64());
        reply.Body.WriteString("info"u8, "attempting to kill op");
        reply.Succeed();
    }

    /// <summary>Describes an operation as currentOp and $currentOp tell it.</summary>
    public static BsonDocument Describe(ActiveOperation operation)
    {
        long milliseconds = Environment.TickCount64 - operation.StartedAt;
        return BsonDocument.Of(
            ("type", "op"),
            // Only the server's own deleting comes through no connection.
            ("desc", operation.Connection == 0 ? "TTLMonitor" : $"conn{operation.Connection}"),
            ("connectionId", operation.Connection),
            ("active", true),
            ("opid", operation.Id),
            ("secs_running", milliseconds / 1000),
            ("microsecs_running", milliseconds * 1000),
            ("op", operation.Command is "find" ? "query"
                : operation.Command is "insert" or "update" or "getMore" ? operation.Command.ToLowerInvariant()
                : operation.Command is "delete" ? "remove"
                : "command"),
            ("ns", operation.Namespace ?? $"{operation.Database}.$cmd"));
    }
}
