using System.Globalization;
using MongoPerf.Server.Listening;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>getParameter and setParameter: the few of mongod's parameters that mean something here, until the server ends.</summary>
internal static class ParameterCommands
{
    private static readonly Parameter[] Parameters =
    [
        new("ttlMonitorEnabled", server => server.Ttl.IsEnabled,
            // As on mongod: whatever is neither false nor zero is true.
            (server, value) => server.Ttl.IsEnabled = value.Type is not BsonType.Null && (value.ToBoolean()
                || !(value.IsNumber || value.Type == BsonType.Boolean))),
        new("ttlMonitorSleepSecs", server => server.Ttl.SleepSeconds,
            (server, value) => server.Ttl.SleepSeconds = PositiveInt32("ttlMonitorSleepSecs", value)),
    ];

    /// <summary>Answers as mongod does to a name that it does not know.</summary>
    public static void Get(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        AdministrationCommands.RequireAdmin(session, "getParameter");
        var command = new BsonDocument(request.Body.ToArray());
        bool isAll = command.FindString("getParameter") == "*" || command.IsTrue("getParameter.allParameters");
        if (command.IsTrue("getParameter.showDetails"))
            throw CommandException.NotSupported("'showDetails' of getParameter");
        Parameter[] wanted = [.. Parameters.Where(parameter => isAll || command.Find(parameter.Name) != null)];
        if (wanted.Length == 0)
            throw new CommandException(0, "", "no option found to get");
        foreach (Parameter parameter in wanted)
            parameter.Write(session.Server, parameter.Name, reply.Body);
        reply.Succeed();
    }

    public static void Set(CommandSession session, in CommandRequest request, ReplyWriter reply)
    {
        AdministrationCommands.RequireAdmin(session, "setParameter");
        var settings = new List<(Parameter Parameter, BsonValue Value)>();
        foreach ((string name, BsonValue value) in new BsonDocument(request.Body.ToArray()).Skip(1))
        {
            if (GenericFields.Contains(System.Text.Encoding.UTF8.GetBytes(name)))
                continue;
            settings.Add((Array.Find(Parameters, parameter => parameter.Name == name) ?? throw new CommandException(
                0, "", $"attempted to set unrecognized parameter [{name}], use help:true to see options; the embedded server knows "
                    + string.Join(" and ", Parameters.Select(parameter => parameter.Name))), value));
        }

        if (settings.Count == 0)
            throw new CommandException(0, "", "no option found to set, use help:true to see options ");
        settings[0].Parameter.Write(session.Server, "was", reply.Body);
        foreach ((Parameter parameter, BsonValue value) in settings)
            parameter.Set(session.Server, value);
        reply.Succeed();
    }

    private static int PositiveInt32(string name, BsonValue value)
    {
        if (!value.IsNumber && value.Type != BsonType.Boolean)
            throw CommandException.BadValue($"Failed validating {name}: Unable to coerce value to integral type");
        double number = value.IsNumber ? value.ToDouble() : value.ToBoolean() ? 1 : 0;
        return number is >= 1 and < int.MaxValue + 1.0 ? (int)number : throw CommandException.BadValue(
            $"Invalid value for parameter {name}: {number.ToString(CultureInfo.InvariantCulture)} is not greater than 0 and an int32");
    }

    /// <param name="Name">MongoDB's.</param>
    /// <param name="Get">The present value: an int or a bool.</param>
    /// <param name="Set">Takes the value that a client gave, or refuses it.</param>
    private sealed record Parameter(string Name, Func<ServerContext, object> Get, Action<ServerContext, BsonValue> Set)
    {
        public void Write(ServerContext server, string name, BsonWriter body)
        {
            (_, BsonValue value) = BsonDocument.Of((name, Get(server))).First();
            body.WriteValue(System.Text.Encoding.UTF8.GetBytes(name), value.Type, value.Bytes.Span);
        }
    }
}
