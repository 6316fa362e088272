using MongoPerf.Load.Documents;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Phases;

/// <summary>One worker's way to the deployment: a connection, and the operations prepared on it.</summary>
/// <remarks>
/// The seam for everything that can carry an operation out: the wire client, the official driver, another system's client, or a
/// scripted one in tests. One thread, except <see cref="Abort"/>.
/// </remarks>
public interface IOperationExecutor : IDisposable
{
    /// <summary>Connects, or connects again after a failure; prepared operations stay valid.</summary>
    /// <exception cref="ConnectionFailedException">Not reachable just now.</exception>
    void Connect();

    /// <summary>Does everything that need not be done for each operation.</summary>
    /// <param name="operation">What to do.</param>
    /// <param name="context">Where its numbers and random values come from.</param>
    IPreparedOperation Prepare(Operation operation, OperationContext context);

    /// <summary>Prepares what a recording has for a worker, where the group has a <see cref="ScriptPlan"/>.</summary>
    /// <param name="worker">The worker's number, 0-based, in its group.</param>
    IScriptedOperation PrepareScript(int worker) => throw new NotSupportedException("this executor has no recording");

    /// <summary>What its connections have carried so far, the closed ones included; null where that is not counted.</summary>
    TrafficCounters? Traffic => null;

    /// <summary>What messages are compressed with; null for nothing.</summary>
    string? Compressor => null;

    /// <summary>It shares connections with the other workers of its group by itself, where the group has a pool.</summary>
    bool HasPool => false;

    /// <summary>
    /// Takes note from now on of what its connections take: their openings, or the waits for one of its own pool. Called by the worker's
    /// own thread.
    /// </summary>
    void Note(ConnectionLog log)
    {
    }

    /// <summary>Uses the connections of another executor of its kind, in place of its own, until it is told otherwise.</summary>
    /// <param name="lender">Connected; null uses none.</param>
    void Borrow(IOperationExecutor? lender) => throw new NotSupportedException("connections are not shared");

    /// <summary>Closes its connections; <see cref="Connect"/> opens them as for the first time.</summary>
    void Disconnect() => throw new NotSupportedException("connections are not closed");

    /// <summary>Wakes the worker if it waits for the server. From any thread.</summary>
    void Abort();
}

/// <summary>What an operation draws from.</summary>
/// <param name="Seed">The seed of the operation's streams.</param>
/// <param name="Worker">0-based; each has a stream of its own.</param>
/// <param name="Numbers">Where inserts take their numbers; null otherwise.</param>
public sealed record OperationContext(ulong Seed, int Worker, NumberSource? Numbers)
{
    /// <summary>By which steps are timed, and wait.</summary>
    public IClock Clock { get; init; } = SystemClock.Instance;

    /// <summary>Which of all the phase's threads it is; 0-based.</summary>
    public int Thread { get; init; }

    /// <summary>
    /// Makes the context of one of a group's operations: its values stay the same when others are added, removed or weighted differently.
    /// </summary>
    public OperationContext Of(Operation operation) =>
        this with { Seed = Mixing.Mix(Seed ^ Salt.Of($"{operation.Collection}.{operation.Name}")) };
}

/// <summary>An operation ready to run again and again. One thread.</summary>
public interface IPreparedOperation
{
    /// <summary>Draws what the next operation needs and puts it into the message. Not timed as latency.</summary>
    /// <returns>False when the numbers have run out.</returns>
    bool Draw();

    /// <summary>Sends, and waits for the reply (an unacknowledged operation only sends). Allocates nothing when it succeeds.</summary>
    /// <exception cref="ConnectionFailedException">The connection broke; what was sent may have arrived.</exception>
    OperationOutcome Execute();

    /// <summary>Why the last operation did not succeed.</summary>
    ServerError? LastError { get; }

    /// <summary>Who carries it out now, as host:port, or did last; of several commands the first's. Null where that is not known.</summary>
    string? Member => null;

    /// <summary>What the last <see cref="Execute"/> did step by step; null for an operation that has no steps.</summary>
    StepLog? Steps => null;

    /// <summary>How the last reply compares with the recorded one; of no meaning for an operation that was not recorded.</summary>
    ReplyComparison Comparison => default;

    /// <summary>What it has seen of a collection's changes, for an operation that watches one; null for any other.</summary>
    ChangeLog? Changes => null;

    /// <summary>
    /// Tells those who watch the collection when the last <see cref="Execute"/>, which has succeeded, was acknowledged. Not timed, and
    /// called only where somebody watches.
    /// </summary>
    /// <param name="documents">What <see cref="OperationOutcome.Documents"/> says.</param>
    /// <param name="ticks">When its reply had come.</param>
    void Track(int documents, long ticks)
    {
    }

    /// <summary>Compares what the last <see cref="Execute"/> brought with what must have come. Not timed.</summary>
    /// <returns>How many documents were looked at, and how many were wrong.</returns>
    VerificationOutcome Verify();

    /// <summary>Waits after the last operation until the server has taken everything in (the fence of unacknowledged inserts).</summary>
    void Complete();
}

/// <summary>Several operations of one worker, of which each draw picks one.</summary>
public interface IChoosingOperation : IPreparedOperation
{
    /// <summary>What there is to pick from.</summary>
    IReadOnlyList<IPreparedOperation> Operations { get; }

    /// <summary>For each operation, the part of the plan that it counts in.</summary>
    IReadOnlyList<int> Parts { get; }

    /// <summary>Which of the operations was drawn last; 0-based.</summary>
    int Drawn { get; }

    /// <summary>Which of the plan's parts was drawn last; 0-based.</summary>
    int Part { get; }
}

/// <summary>What one worker does of a recording: which operation comes next, and when it is due, is known before.</summary>
public interface IScriptedOperation : IChoosingOperation
{
    /// <summary>Goes to the next one.</summary>
    /// <param name="seconds">When it is due, since the group's start.</param>
    /// <returns>False when there is none left.</returns>
    bool TryTake(out double seconds);
}

/// <summary>How one operation ended.</summary>
/// <param name="Succeeded">False when the server refused it, or any part of it.</param>
/// <param name="Documents">Inserted or returned.</param>
/// <param name="Bytes">The bytes of these documents.</param>
public readonly record struct OperationOutcome(bool Succeeded, int Documents, long Bytes)
{
    /// <summary>An update left the documents that it matched as they were.</summary>
    public bool ChangedNothing { get; init; }

    /// <summary>Documents that an update changed.</summary>
    public int Modified { get; init; }
}

/// <summary>Documents looked at, and wrong ones among them.</summary>
public readonly record struct VerificationOutcome(int Checked, int Wrong);
