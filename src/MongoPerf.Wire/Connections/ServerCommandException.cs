using System.Text.RegularExpressions;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Wire.Connections;

/// <summary>A command that the server refused, or a write that it did not do as asked.</summary>
public sealed class ServerCommandException(string command, ServerError error)
    : MongoPerfException(error.Fault, $"{command}: {error.Text}", error.Hint)
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
public sealed partial record ServerError(int Code, string Name, string Message, IReadOnlyList<string> Labels)
{
    /// <summary>How many documents of a batch it is about.</summary>
    public int Documents { get; init; } = 1;

    /// <summary>DuplicateKey.</summary>
    public const int DuplicateKey = 11000;

    /// <summary>DocumentValidationFailure.</summary>
    public const int InvalidDocument = 121;

    /// <summary>NamespaceNotFound.</summary>
    public const int NamespaceNotFound = 26;

    /// <summary>NamespaceExists.</summary>
    public const int NamespaceExists = 48;

    private const int BadValue = 2;
    private const int Unauthorized = 13;
    private const int AuthenticationFailed = 18;
    private const int AtlasError = 8000;
    private const int NotYetInitialized = 94;
    private const int OutOfDiskSpace = 14031;

    /// <summary>Of a server with requireApiVersion.</summary>
    private const int ApiVersionRequired = 498870;

    /// <summary>Longer messages are cut; MongoDB's own, of a duplicate key with its values for example, are far below.</summary>
    private const int LongestMessage = 4000;

    public static ServerError From(BsonDocument error)
    {
        string message = error.FindString("errmsg") ?? error.FindString("$err") ?? "no message";
        int code = (int)(error.FindInt64("code") ?? CodeOf(message));
        var labels = new List<string>();
        foreach ((_, BsonValue label) in error.FindDocument("errorLabels") ?? BsonDocument.Empty)
            labels.Add(label.ToString());
        string name = error.FindString("codeName") ?? (code == 0 ? "" : ErrorNames.Of(code));
        if (code == Unauthorized)
            message = RestOfCommand().Replace(message, ", … }");
        return new ServerError(code, ForeignText.OneLine(name, 100), ForeignText.OneLine(message, LongestMessage), labels);
    }

    /// <summary>
    /// The server answers, but does not take writes, or not any longer: another member may. Codes: specifications,
    /// server-discovery-and-monitoring.
    /// </summary>
    public bool MeansNoPrimary => Code is
        91 // ShutdownInProgress
        or 189 // PrimarySteppedDown
        or 10058 // LegacyNotPrimary
        or 10107 // NotWritablePrimary
        or 11600 // InterruptedAtShutdown
        or 11602 // InterruptedDueToReplStateChange
        or 13435 // NotPrimaryNoSecondaryOk
        or 13436; // NotPrimaryOrSecondary

    /// <summary>A change stream can't go on where it broke off.</summary>
    public bool MeansStreamLost => Code is
        280 // ChangeStreamFatalError
        or 286; // ChangeStreamHistoryLost

    /// <summary>
    /// Of <see cref="MeansNoPrimary"/>: the operation was ended by something that happens to a server that stays, or comes back at once.
    /// </summary>
    public bool MeansInterrupted => Code is
        91 // ShutdownInProgress
        or 189 // PrimarySteppedDown
        or 11600 // InterruptedAtShutdown
        or 11602; // InterruptedDueToReplStateChange

    /// <summary>
    /// A router answers and the shard behind it does not: whether a write got there is not known. Codes: error_codes.yml of the server.
    /// </summary>
    public bool MeansShardAway => Code is
        6 // HostUnreachable
        or 7 // HostNotFound
        or 89 // NetworkTimeout
        or 133 // FailedToSatisfyReadPreference
        or 9001; // SocketException

    /// <summary>
    /// The shard, or the config server, that an error of <see cref="MeansShardAway"/> names (MongoDB writes "for set NAME"); null for none.
    /// </summary>
    private string? Set => SetName().Match(Message) is { Success: true } match ? match.Groups[1].Value : null;

    /// <summary>This client may not do that, whoever it is.</summary>
    public bool MeansForbidden => Code is Unauthorized or AuthenticationFailed
        || (Code == AtlasError && Message.Contains("not allowed to do action", StringComparison.Ordinal));

    public bool MeansDiskFull => Code == OutOfDiskSpace;

    /// <summary>It is about one document and would be said of it again: a unique index has its key, or it is invalid.</summary>
    public static bool IsOfDocument(int code) => code is DuplicateKey or InvalidDocument;

    /// <summary>The message with code and name.</summary>
    public string Text => $"{Message} (code {Code}{(Name.Length > 0 ? " " + Name : "")})";

    /// <summary>
    /// The same without a text that may hold values of documents or commands; what a text says of servers and rights stays.
    /// </summary>
    public ServerError WithoutValues() => MeansForbidden || MeansNoPrimary || MeansShardAway || MeansDiskFull ? this : this with
    {
        Message = Code == DuplicateKey && Message.IndexOf(" dup key", StringComparison.Ordinal) is > 0 and var end ? Message[..end]
            : "its text may hold values and is left out",
    };

    /// <summary>What it comes to for a command that can't do without.</summary>
    public Fault Fault => Meaning.Fault;

    /// <summary>What to do about it; null for nothing that is known.</summary>
    public string? Hint => Meaning.Hint;

    private (Fault Fault, string? Hint) Meaning => this switch
    {
        { MeansDiskFull: true } => (Fault.Refused, "free some space on the server's disk"),
        { MeansForbidden: true } => (Fault.CannotConnect, MissingRight.Hint(Message)),
        { Code: NotYetInitialized } =>
            (Fault.CannotConnect, "its replica set is not initiated: run rs.initiate() on it, or start it without --replSet"),
        { Code: ApiVersionRequired } =>
            (Fault.CannotConnect, "this server demands the stable API: name it with --server-api 1"),
        { Code: BadValue } when Message.Contains("journal", StringComparison.Ordinal) =>
            (Fault.WrongUsage, "what a run has written must be there when it continues after a crash: start the server with its "
                + "journal (without --nojournal)"),
        { MeansNoPrimary: true } => (Fault.CannotConnect, "this member does not accept writes: is there a primary?"),
        { MeansShardAway: true } => (Fault.CannotConnect,
            $"the router answers, but {(Set is { } set ? $"replica set {set}" : "a shard")} does not: start it, or check its log"),
        _ => (Fault.RejectedByServer, null),
    };

    /// <summary>
    /// Servers of old, and others that speak MongoDB's protocol, say some things without a code. Sources: specifications,
    /// enumerate-collections.md and server-discovery-and-monitoring.md.
    /// </summary>
    private static int CodeOf(string message) => message switch
    {
        "ns not found" or "ns missing" or "ns does not exist" => NamespaceNotFound,
        _ when message.Contains("not master or secondary", StringComparison.Ordinal)
            || message.Contains("node is recovering", StringComparison.Ordinal) => 13436,
        _ when message.Contains("not master", StringComparison.Ordinal) => 10107,
        _ => 0,
    };

    /// <summary>What is behind the name of a refused command: session and cluster time, nothing that helps.</summary>
    [GeneratedRegex(@"(?<=to execute command \{ \w+: (""[^""]*""|[^,{}]+)), .*$", RegexOptions.Singleline)]
    private static partial Regex RestOfCommand();

    [GeneratedRegex(@"\bfor set ([\w-]+)")]
    private static partial Regex SetName();
}
