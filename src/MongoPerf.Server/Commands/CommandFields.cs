using System.Text;
using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>
/// Checks of command fields that commands have in common, with MongoDB's codes. For commands that are not on the measured paths.
/// </summary>
internal static class CommandFields
{
    /// <summary>Refuses fields that the command does not have.</summary>
    /// <param name="body">The command.</param>
    /// <param name="known">Fields besides the first one and the generic ones.</param>
    public static void RequireKnown(ReadOnlySpan<byte> body, params ReadOnlySpan<string> known)
    {
        var reader = new BsonReader(body);
        reader.Read();
        string command = reader.NameText;
        while (reader.Read())
        {
            string name = reader.NameText;
            if (!known.Contains(name))
                RequireGeneric(command, name);
        }
    }

    /// <summary>Refuses a field that no command has.</summary>
    public static void RequireGeneric(string command, string field)
    {
        if (!GenericFields.Contains(Encoding.UTF8.GetBytes(field)))
            throw CommandException.UnknownField(command, field);
    }

    public static BsonDocument Document(string command, string field, BsonValue value) => value.Type == BsonType.Document
        ? value.ToDocument()
        : throw Mismatch(command, field, value.Type, "object");

    /// <summary>A whole number that is 0 or more.</summary>
    public static long Count(string command, string field, BsonValue value)
    {
        if (!value.IsNumber)
            throw CommandException.TypeMismatch($"BSON field '{command}.{field}' is the wrong type '{Values.TypeName(value)}', "
                + "expected types '[long, int, decimal, double']");
        return value.ToInt64() >= 0
            ? value.ToInt64()
            : throw CommandException.Location(51024, $"BSON field '{field}' value must be >= 0, actual value '{value.ToInt64()}'");
    }

    /// <summary>True or false and nothing else, where MongoDB is strict.</summary>
    public static bool Boolean(string command, string field, BsonValue value) => value.Type switch
    {
        BsonType.Boolean => value.ToBoolean(),
        BsonType.Null => false,
        _ => throw Mismatch(command, field, value.Type, "bool"),
    };

    /// <summary>True, false or a number.</summary>
    public static bool Flag(string command, string field, BsonValue value) =>
        value.IsNumber || value.Type is BsonType.Boolean or BsonType.Null
            ? value.ToBoolean()
            : throw CommandException.TypeMismatch($"BSON field '{command}.{field}' is the wrong type '{Values.TypeName(value)}', "
                + "expected types '[bool, long, int, decimal, double']");

    public static CommandException Mismatch(string command, string field, BsonType found, string expected) =>
        CommandException.TypeMismatch(
            $"BSON field '{command}.{field}' is the wrong type '{Queries.TypeSet.AliasOf(found)}', expected type '{expected}'");
}
