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
        foreach (Operation operation in session.Server.Operations.Active)
            Write(body, ArrayNames.Of(index++), operation);
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
            throw CommandException.TypeMismatch($"Expected field \"op\" to have numeric type, but found {Queries.TypeSet.AliasOf(reader.Type)}");
        session.Server.Operations.Kill(reader.ToInt64());
        reply.Body.WriteString("info"u8, "attempting to kill op");
        reply.Succeed();
    }

    private static void Write(BsonWriter body, ReadOnlySpan<byte> name, Operation operation)
    {
        long milliseconds = Environment.TickCount64 - operation.StartedAt;
        body.StartDocument(name);
        body.WriteString("type"u8, "op");
        body.WriteString("desc"u8, $"conn{operation.Connection}");
        body.WriteInt32("connectionId"u8, operation.Connection);
        body.WriteBoolean("active"u8, true);
        Numbers.Write(body, "opid"u8, operation.Id);
        body.WriteInt64("secs_running"u8, milliseconds / 1000);
        body.WriteInt64("microsecs_running"u8, milliseconds * 1000);
        body.WriteString("op"u8, operation.Command is "find" ? "query" : operation.Command is "insert" or "update" or "getMore" ? operation.Command.ToLowerInvariant() : operation.Command is "delete" ? "remove" : "command");
        body.WriteString("ns"u8, operation.Namespace ?? $"{operation.Database}.$cmd");
        body.End();
    }
}
