using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Traffic.Replaying;

/// <summary>Which of a recording's requests are replayed.</summary>
public enum ReplayedRequests
{
    All,

    /// <summary>find, with the rest of its cursor.</summary>
    Finds,

    /// <summary>What is known to change nothing.</summary>
    Reads,
}

/// <summary>How a recording is replayed.</summary>
public sealed record ReplayOptions
{
    /// <summary>How many times as fast as recorded; null for as fast as replies come.</summary>
    public double? Speed { get; init; } = 1;

    public ReplayedRequests Only { get; init; }

    /// <summary>Databases that stand in place of recorded ones.</summary>
    public IReadOnlyDictionary<string, string> Databases { get; init; } = new Dictionary<string, string>();

    /// <summary>At most so many connections, 1 or more; null for as many as were open at once.</summary>
    public int? Threads { get; init; }

    /// <summary>What depends on another request (<see cref="RequestDependencies"/>) waits for its reply.</summary>
    public bool KeepsDependencies { get; init; }
}

/// <summary>A request of a recording: where it stands, when it is due, and what must have happened before.</summary>
internal record struct RecordedRequest
{
    /// <summary>Where its message begins in the file, bytes.</summary>
    public long Place { get; init; }

    /// <summary>The message's bytes in the file.</summary>
    public int Length { get; init; }

    /// <summary>0-based, of <see cref="ReplayScript.Shapes"/>.</summary>
    public int Shape { get; set; }

    /// <summary>Microseconds since the first one.</summary>
    public long Due { get; init; }

    /// <summary>An earlier one, of another connection perhaps, that must have been answered; -1 for none.</summary>
    public int After { get; init; }

    /// <summary>The cursor that its reply opened, by number; -1 for none.</summary>
    public int Opens { get; set; }

    /// <summary>The cursor that it reads on, or the first that it closes; -1 for none.</summary>
    public int Uses { get; init; }

    /// <summary>Where what it waits for begins in <see cref="ReplayScript.Priors"/>; it ends where the next request's begins.</summary>
    public int FirstPrior { get; init; }

    /// <summary>It names documents by an <c>_id</c> that the server made.</summary>
    public bool UsesGeneratedIds { get; init; }

    public bool IsUnacknowledged { get; init; }

    /// <summary>Its reply is in the recording.</summary>
    public bool HasReply { get; set; }

    /// <summary>Only with a reply.</summary>
    public ReplyFacts Reply { get; set; }

    /// <inheritdoc cref="RecordedFacts.Hash"/>
    public ulong ReplyHash { get; set; }

    /// <summary>From the request to the reply, microseconds; only with a reply.</summary>
    public long ReplyMicroseconds { get; set; }
}

/// <summary>What must have ended before a request is sent: the first requests of a sequence.</summary>
/// <param name="Sequence">
/// 0-based, of <see cref="ReplayScript.Sequences"/>; -1 where <paramref name="Count"/> is one request's number.
/// </param>
/// <param name="Count">How many of them.</param>
internal readonly record struct Prior(int Sequence, int Count);

/// <summary>Ids in one reply of the recording: the n-th of them has the number <c>First + n</c>.</summary>
/// <param name="First">Of all generated ids of the recording.</param>
/// <param name="Statements">The statement of the request that made each; ascending.</param>
internal sealed record MadeIds(int First, int[] Statements);

/// <summary>What a recording comes to: requests by worker and time, their shapes, and what they write. For all threads.</summary>
public sealed class ReplayScript
{
    internal ReplayScript(Recording recording, ReplayOptions options, RecordedRequest[] requests, int[][] workers)
    {
        (Recording, Options, Requests, Workers) = (recording, options, requests, workers);
        WorkerOf = new int[requests.Length];
        for (int worker = 0; worker < workers.Length; worker++)
        {
            foreach (int request in workers[worker])
                WorkerOf[request] = worker;
        }
    }

    public Recording Recording { get; }

    public ReplayOptions Options { get; }

    /// <summary>Those that are replayed.</summary>
    public int Count => Requests.Length;

    /// <summary>Connections that are needed: recorded ones that were not open at the same time share one.</summary>
    public int Connections => Workers.Length;

    /// <summary>The connections of the recording that have such requests.</summary>
    public required int RecordedConnections { get; init; }

    /// <summary>From the first request to the last, seconds, as recorded.</summary>
    public double Seconds => Requests.Length == 0 ? 0 : Requests.Max(request => request.Due) / 1e6;

    public required IReadOnlyList<RecordedOperation> Shapes { get; init; }

    /// <summary>What they can write, under the names of the target.</summary>
    public required IReadOnlyList<WriteTarget> Writes { get; init; }

    /// <summary>Why requests are not replayed, and how many; the largest number first.</summary>
    public required IReadOnlyList<(string Why, long Count)> LeftOut { get; init; }

    /// <summary>The database, under its name on the target, that has most of the requests.</summary>
    public required string Database { get; init; }

    /// <summary>The databases of the replayed requests, as recorded.</summary>
    public required IReadOnlyList<string> RecordedDatabases { get; init; }

    internal RecordedRequest[] Requests { get; }

    /// <summary>The requests of each worker, in their order.</summary>
    internal int[][] Workers { get; }

    /// <summary>Whose each request is.</summary>
    internal int[] WorkerOf { get; }

    /// <summary>How many cursors replies opened.</summary>
    internal int Cursors { get; init; }

    /// <summary>The cursors of requests that close several.</summary>
    internal IReadOnlyDictionary<int, int[]> Closed { get; init; } = new Dictionary<int, int[]>();

    /// <summary>What requests wait for beside <see cref="RecordedRequest.After"/>, in the requests' order.</summary>
    internal IReadOnlyList<Prior> Priors { get; init; } = [];

    /// <summary>Requests in the order in which their replies were recorded, by what they read or write.</summary>
    internal IReadOnlyList<int[]> Sequences { get; init; } = [];

    /// <summary>The numbers of <c>_id</c>s that the recorded server made.</summary>
    internal IReadOnlyDictionary<ObjectId, int> GeneratedIds { get; init; } = new Dictionary<ObjectId, int>();

    /// <summary>How many such numbers there are.</summary>
    internal int Generated { get; init; }

    /// <summary>By request: the ids that it led the server to make.</summary>
    internal IReadOnlyDictionary<int, MadeIds> IdsMadeBy { get; init; } = new Dictionary<int, MadeIds>();

    /// <summary>The group of threads that replays it once.</summary>
    public PhaseGroup Group => new()
    {
        Threads = Connections,
        Operations = [.. Shapes.Select(shape => new WeightedOperation(shape, 1))],
        Script = new ScriptPlan(Count, Options.Speed is not null),
    };
}
