using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Traffic.Replaying;

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

    /// <summary>The one before it whose order its session keeps; -1 for none.</summary>
    public int InSession { get; init; }

    /// <summary>The cursor that its reply opened, by number; -1 for none.</summary>
    public int Opens { get; set; }

    /// <summary>The cursor that it reads on, or the first that it closes; -1 for none.</summary>
    public int Uses { get; init; }

    /// <summary>Where what it waits for begins in <see cref="ReplayScript.Priors"/>; it ends where the next request's begins.</summary>
    public int FirstPrior { get; init; }

    /// <summary>It names documents by an <c>_id</c> that the server made.</summary>
    public bool UsesGeneratedIds { get; init; }

    public bool IsUnacknowledged { get; init; }

    /// <summary>It is in a transaction, and does not end it.</summary>
    public bool IsStatement { get; init; }

    /// <summary>Its reply is in the recording.</summary>
    public bool HasReply { get; set; }

    /// <summary>Only with a reply.</summary>
    public ReplyFacts Reply { get; set; }

    /// <inheritdoc cref="RecordedFacts.Modified"/>
    public long? Modified { get; set; }

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

/// <summary>A connection of the replay.</summary>
/// <param name="Copy">0-based, of <see cref="ReplaySettings.Copies"/>.</param>
/// <param name="Worker">0-based, of <see cref="ReplayScript.Workers"/>.</param>
internal readonly record struct ReplayedConnection(int Copy, int Worker);

/// <summary>What a recording comes to: requests by worker and time, their shapes, and what they write. For all threads.</summary>
public sealed class ReplayScript
{
    private HashSet<int>? _own;

    internal ReplayScript(Recording recording, ReplaySettings settings, RecordedRequest[] requests, int[][] workers)
    {
        (Recording, Settings, Requests, Workers) = (recording, settings, requests, workers);
        WorkerOf = new int[requests.Length];
        for (int worker = 0; worker < workers.Length; worker++)
        {
            foreach (int request in workers[worker])
                WorkerOf[request] = worker;
        }

        Lines = [.. Enumerable.Range(0, settings.Copies)
            .SelectMany(copy => Enumerable.Range(0, workers.Length).Select(worker => new ReplayedConnection(copy, worker)))];
        Seconds = requests.Length == 0 ? 0 : requests.Max(request => request.Due) / 1e6;
    }

    public Recording Recording { get; }

    public ReplaySettings Settings { get; }

    /// <summary>Requests that are replayed.</summary>
    public long Count => Lines.Sum(line => (long)Workers[line.Worker].Length);

    /// <summary>Connections that are needed: recorded ones that were not open at the same time share one.</summary>
    public int Connections => Lines.Length;

    /// <summary>The connections of the recording that have such requests.</summary>
    public required int RecordedConnections { get; init; }

    /// <summary>From the first request to the last, seconds, as recorded.</summary>
    public double Seconds { get; }

    /// <summary>How many times as fast as recorded; infinite for as fast as replies come. 0 for a rate of what took no time.</summary>
    public double Speed => Settings.Rate is { } rate ? rate * Seconds / ((double)Requests.Length * Settings.Copies) : Settings.Speed;

    public required IReadOnlyList<RecordedOperation> Shapes { get; init; }

    /// <summary>What they can write, under the names of the target.</summary>
    public required IReadOnlyList<WriteTarget> Writes { get; init; }

    /// <summary>The collections that it reads or changes before it has made them, by database, under the names of the target.</summary>
    public required ILookup<string, string> Collections { get; init; }

    /// <summary>Why requests are not replayed, and how many; the largest number first.</summary>
    public required IReadOnlyList<(string Why, long Count)> LeftOut { get; init; }

    /// <summary>The database, under its name on the target, that has most of the requests.</summary>
    public required string Database { get; init; }

    /// <summary>The databases of the replayed requests, as recorded.</summary>
    public required IReadOnlyList<string> RecordedDatabases { get; init; }

    internal RecordedRequest[] Requests { get; }

    /// <summary>The requests of each worker, in their order.</summary>
    internal int[][] Workers { get; }

    /// <summary>The connections, by number.</summary>
    internal ReplayedConnection[] Lines { get; private set; }

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
        Script = new ScriptPlan(Count, double.IsFinite(Speed) ? Seconds / Speed : null),
    };

    /// <summary>
    /// What each of several clients replays: about as many requests, and no connection in two of them. Connections that share a cursor, a
    /// transaction or an id that the server made stay together.
    /// </summary>
    /// <param name="clients">1 or more.</param>
    /// <exception cref="MongoPerfException">There is not enough to divide (2).</exception>
    public IReadOnlyList<ReplayScript> Divide(int clients)
    {
        int[] groups = LinkedWorkers();
        (ReplayedConnection[] Lines, long Count)[] linked = [.. Lines.GroupBy(line => (line.Copy, groups[line.Worker]))
            .Select(group => (group.ToArray(), group.Sum(line => (long)Workers[line.Worker].Length)))
            .OrderByDescending(group => group.Item2)];
        if (linked.Length < clients)
            throw new MongoPerfException(Fault.WrongUsage,
                $"{Recording.Path} can't be divided among {clients} agents: those of its connections that share cursors, transactions or "
                + $"ids that the server made stay together, which leaves {linked.Length:N0} to divide", "use fewer agents");
        List<ReplayedConnection>[] parts = [.. Enumerable.Range(0, clients).Select(_ => new List<ReplayedConnection>())];
        var least = new PriorityQueue<int, (long Count, int Client)>(Enumerable.Range(0, clients).Select(client => (client, (0L, client))));
        foreach ((ReplayedConnection[] lines, long count) in linked)
        {
            least.TryDequeue(out int client, out (long Count, int) has);
            parts[client].AddRange(lines);
            least.Enqueue(client, (has.Count + count, client));
        }

        return [.. parts.Select(part => With([.. part.OrderBy(line => (line.Copy, line.Worker))]))];
    }

    /// <summary>Some of its connections are the worker's. Of what is divided, each client has sessions of its own.</summary>
    internal bool Has(int worker) => _own is null || _own.Contains(worker);

    /// <summary>What a request waits for, in <see cref="Priors"/>.</summary>
    internal (int First, int End) PriorsOf(int request) =>
        (Requests[request].FirstPrior, request + 1 < Requests.Length ? Requests[request + 1].FirstPrior : Priors.Count);

    private ReplayScript With(ReplayedConnection[] lines)
    {
        var part = (ReplayScript)MemberwiseClone();
        part.Lines = lines;
        part._own = [.. lines.Select(line => line.Worker)];
        return part;
    }

    /// <summary>By worker: a number that is the same for those of which one waits for another.</summary>
    private int[] LinkedWorkers()
    {
        int[] parents = [.. Enumerable.Range(0, Workers.Length)];
        for (int request = 0; request < Requests.Length; request++)
        {
            if (Requests[request].After is >= 0 and var earlier)
                Link(request, earlier);
            (int first, int end) = PriorsOf(request);
            for (int i = first; i < end; i++)
            {
                // Requests that depend on one another by what they touch are not divided.
                if (Priors[i].Sequence < 0)
                    Link(request, Priors[i].Count);
            }
        }

        return [.. parents.Select((_, worker) => Root(worker))];

        void Link(int request, int other) => parents[Root(WorkerOf[request])] = Root(WorkerOf[other]);

        int Root(int worker)
        {
            while (parents[worker] != worker)
                worker = parents[worker] = parents[parents[worker]];
            return worker;
        }
    }
}
