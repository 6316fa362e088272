using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>A command that the server refused, or a write that it did not do as asked.</summary>
public sealed class ServerCommandException(string command, ServerError error)
    : Exception($"{command}: {error.Message} (code {error.Code}{(error.Name.Length > 0 ? " " + error.Name : "")})")
{
    public string Command { get; } = command;

    public ServerError Error { get; } = error;

    public int Code => Error.Code;
}

/// <summary>An error as MongoDB words it.</summary>
/// <param name="Code">0 when the server gave none (getParameter of 6.0 does that).</param>
/// <param name="Name">codeName; "Location…" for codes without a name; may be empty.</param>
/// <param name="Message">errmsg.</param>
/// <param name="Labels">errorLabels, such as RetryableWriteError.</param>
public sealed record ServerError(int Code, string Name, string Message, IReadOnlyList<string> Labels)
{
    /// <summary>How many documents of a batch it is about.</summary>
    public int Documents { get; init; } = 1;

    /// <summary>DuplicateKey.</summary>
    public const int DuplicateKey = 11000;

    /// <summary>NamespaceNotFound.</summary>
    public const int NamespaceNotFound = 26;

    /// <summary>NamespaceExists.</summary>
    public const int NamespaceExists = 48;

    /// <summary>Longer messages are cut; MongoDB's own, of a duplicate key with its values for example, are far below.</summary>
    private const int LongestMessage = 4000;

    public static ServerError From(BsonDocument error)
    {
        string message = error.FindString("errmsg") ?? error.FindString("$err") ?? "no message";
        int code = (int)(error.FindInt64("code") ?? CodeOf(message));
        var labels = new List<string>();
        foreach ((_, BsonValue label) in error.FindDocument("errorLabels") ?? BsonDocument.Empty)
            labels.Add(label.ToString());
        string name = error.FindString("codeName") ?? (code == 0 ? "" : KnownName(code));
        return new ServerError(code, ForeignText.OneLine(name, 100), ForeignText.OneLine(message, LongestMessage), labels);
    }

    /// <summary>Servers of old, and others that speak MongoDB's protocol, say some things without a code. Sources: specifications, enumerate-collections.md and server-discovery-and-monitoring.md.</summary>
    private static int CodeOf(string message) => message switch
    {
        "ns not found" or "ns missing" or "ns does not exist" => NamespaceNotFound,
        _ when message.Contains("not master or secondary", StringComparison.Ordinal) || message.Contains("node is recovering", StringComparison.Ordinal) => 13436,
        _ when message.Contains("not master", StringComparison.Ordinal) => 10107,
        _ => 0,
    };

    /// <summary>Write errors come without codeName.</summary>
    private static string KnownName(int code) => code switch
    {
        DuplicateKey => "DuplicateKey",
        NamespaceNotFound => "NamespaceNotFound",
        10107 => "NotWritablePrimary",
        13436 => "NotPrimaryOrSecondary",
        2 => "BadValue",
        64 => "WriteConcernFailed",
        100 => "UnsatisfiableWriteConcern",
        133 => "FailedToSatisfyReadPreference",
        6 => "HostUnreachable",
        13388 => "StaleConfig",
        _ => $"Location{code}",
    };
}
