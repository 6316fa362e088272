using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Failures;

/// <summary>Counts failures by code and name, and keeps the first message of each. Safe for all threads.</summary>
public sealed class ErrorTally
{
    private readonly Lock _lock = new();
    private readonly Dictionary<(int Code, string Name), ErrorCount> _counts = [];

    /// <param name="error">Why an operation failed.</param>
    /// <param name="microseconds">How long it took in microseconds.</param>
    public void Add(ServerError error, double microseconds)
    {
        lock (_lock)
        {
            (int, string) key = (error.Code, error.Name);
            _counts[key] = _counts.TryGetValue(key, out ErrorCount? known)
                ? known with { Count = known.Count + 1, SlowestMicroseconds = Math.Max(known.SlowestMicroseconds ?? 0, microseconds) }
                : new ErrorCount(error.Code, error.Name, 1, error.Message, error.Labels) { SlowestMicroseconds = microseconds };
        }
    }

    public IReadOnlyList<ErrorCount> Counts
    {
        get
        {
            lock (_lock)
                return [.. _counts.Values.OrderByDescending(c => c.Count)];
        }
    }

    /// <summary>Several tallies as one; of equal errors the first message stays.</summary>
    public static IReadOnlyList<ErrorCount> Merge(IEnumerable<IReadOnlyList<ErrorCount>> tallies) =>
    [
        .. tallies.SelectMany(t => t).GroupBy(e => (e.Code, e.Name))
            .Select(g => g.First() with { Count = g.Sum(e => e.Count), SlowestMicroseconds = g.Max(e => e.SlowestMicroseconds) })
            .OrderByDescending(e => e.Count),
    ];

    /// <summary>A failure that is no server's answer, in the same form: code 0 and a name for the cause.</summary>
    public static ServerError Describe(Exception failure) => failure switch
    {
        ServerCommandException e => e.Error,
        AuthenticationFailedException { InnerException: ServerCommandException e } => e.Error with { Message = failure.Message },
        ConnectionFailedException e => new ServerError(0, "NetworkError", e.Message, []),
        WireProtocolException e => new ServerError(0, "ProtocolError", e.Message, []),
        BsonFormatException e => new ServerError(0, "ProtocolError", e.Message, []),
        _ => new ServerError(0, failure.GetType().Name, failure.Message, []),
    };

    /// <summary>Failures after which the connection can't be trusted, but another one may do.</summary>
    public static bool BreaksConnection(Exception failure) =>
        failure is ConnectionFailedException or WireProtocolException or BsonFormatException;

    /// <summary>
    /// Asked again, the server will say the same: this client may not do that, or the server can't. Codes: error_codes.yml of the server.
    /// </summary>
    public static bool NeverPasses(ServerError error) => error.MeansForbidden || error is
        { Code: 0, Name: "" } // ok: 0 without a code, which no MongoDB says
        or { Code: 59 } // CommandNotFound
        or { Code: 73 } // InvalidNamespace
        or { Code: 115 }; // CommandNotSupported

    /// <summary>What the router knows of the chunks is old: StaleConfig.</summary>
    public static bool IsStaleRoute(Exception failure) => failure is ServerCommandException { Code: 13388 };

    /// <summary>
    /// The command met a change of the cluster and does well when it is asked again: a migration, a cursor that went with its shard.
    /// </summary>
    public static bool MayPass(Exception failure) => failure is ServerCommandException { Error.Code:
        43 // CursorNotFound
        or 46 // LockBusy
        or 117 // ConflictingOperationInProgress
        or 175 // QueryPlanKilled
        or 13388 }; // StaleConfig

    /// <summary>
    /// Tells whether <see cref="BreaksConnection"/> holds, or the server says itself that it, or a shard behind it, is away, going away, or
    /// not the one that takes writes now.
    /// </summary>
    public static bool IsServerAway(Exception failure) =>
        BreaksConnection(failure)
        || (failure is ServerCommandException { Error: var error } && (error.MeansNoPrimary || error.MeansShardAway));
}
