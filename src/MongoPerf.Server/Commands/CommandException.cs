using MongoPerf.Server.Operations;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>A command, or a statement of a write command, is refused: MongoDB's code, its name and its text.</summary>
internal sealed class CommandException(int code, string codeName, string message) : Exception(message)
{
    /// <summary>0: answered without code and codeName.</summary>
    public int Code { get; } = code;

    public string CodeName { get; } = codeName;

    /// <summary>Goes into the reply besides code and text.</summary>
    public DuplicateKey? Duplicate { get; init; }

    /// <summary>Makes the error of an exception that says what is wrong with a command or statement; null for any other.</summary>
    public static CommandException? Of(Exception error) => error switch
    {
        CommandException refused => refused,
        MemoryLimitException => new(146, "ExceededMemoryLimit", error.Message),
        BsonDepthException => Overflow($"BSONObj exceeds maximum nested object depth: {error.Message}"),
        BsonFormatException => new(22, "InvalidBSON", error.Message),
        IndexKeyException key => new(key.Code, key.CodeName, key.Message),
        InsufficientExecutionStackException => Overflow("the command is nested too deeply"),
        _ => null,
    };

    public static CommandException BadValue(string message) => new(2, "BadValue", message);

    public static CommandException Overflow(string message) => new(15, "Overflow", message);

    public static CommandException FailedToParse(string message) => new(9, "FailedToParse", message);

    public static CommandException TypeMismatch(string message) => new(14, "TypeMismatch", message);

    public static CommandException UnknownField(string command, string field) =>
        Location(40415, $"BSON field '{command}.{field}' is an unknown field.");

    public static CommandException MissingField(string command, string field) =>
        Location(40414, $"BSON field '{command}.{field}' is missing but a required field");

    public static CommandException NamespaceNotFound(string message) => new(26, "NamespaceNotFound", message);

    public static CommandException InvalidNamespace(string message) => new(73, "InvalidNamespace", message);

    public static CommandException DatabaseDiffersInCase(string? there, string wanted) => new(
        13297, "DatabaseDifferCase", $"db already exists with different case already have: [{there}] trying to create [{wanted}]");

    public static CommandException AdminOnly(string command) =>
        new(13, "Unauthorized", $"{command} may only be run against the admin database.");

    /// <summary>Something that MongoDB can and this server cannot; refused so that nothing is answered wrongly.</summary>
    public static CommandException NotSupported(string what) => new(238, "NotImplemented", $"the embedded server does not support {what}");

    /// <summary>An error that has a number only.</summary>
    public static CommandException Location(int code, string message) => new(code, $"Location{code}", message);
}
