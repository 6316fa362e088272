using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Support;

/// <summary>How one operation goes: how long it takes, and what comes of it.</summary>
/// <param name="Seconds">From sending to the reply.</param>
/// <param name="Refusal">The server's error; null when it succeeds.</param>
/// <param name="Failure">What is thrown instead of a reply.</param>
internal sealed record Scripted(double Seconds, ServerError? Refusal = null, Exception? Failure = null)
{
    public static ServerAddress Server { get; } = new("scripted", 27017);

    /// <summary>What an insert sends reaches the collection: by default when it succeeds.</summary>
    public bool Arrives { get; init; } = Refusal is null && Failure is null;

    /// <summary>What a query that succeeds brings.</summary>
    public int Found { get; init; } = ScriptedExecutor.FoundDocuments;

    public static Scripted Ok(double seconds = 0.001) => new(seconds);

    public static Scripted Refused(int code, string name, string message = "refused", double seconds = 0.001) =>
        new(seconds, new ServerError(code, name, message, []));

    public static Scripted Broken(double seconds = 0.001) =>
        new(seconds, null, new ConnectionFailedException(Server, "connection closed by the server"));

    /// <summary>Such as an error in the program: no answer of a server and no broken connection.</summary>
    public static Scripted Dies(double seconds = 0.001) => new(seconds, null, new InvalidOperationException("the worker dies"));
}

/// <summary>Carries operations out as a script says, on a manual clock.</summary>
internal sealed class ScriptedExecutor(ManualClock clock, Func<int, Scripted> script) : IOperationExecutor
{
    public const int FoundDocuments = 10;

    private const int DocumentBytes = 1024;

    private ConnectionLog? _log;

    /// <summary>What comes of each operation, by its place; 0-based.</summary>
    public Func<int, Scripted> Script { get; set; } = script;

    /// <summary>How many of the next calls of Connect fail.</summary>
    public int ConnectFailures { get; set; }

    /// <summary>How long it takes to put an operation together.</summary>
    public double DrawSeconds { get; init; }

    /// <summary>How long it takes to compare what came.</summary>
    public double VerifySeconds { get; init; }

    /// <summary>How long the fence takes.</summary>
    public double CompleteSeconds { get; init; }

    /// <summary>Where inserted numbers of a collection go; false says that one was there already.</summary>
    public Func<string, long, bool> Store { get; init; } = (_, _) => true;

    /// <summary>What an operation that removes takes away: collection and number.</summary>
    public Action<string, long> Remove { get; init; } = (_, _) => { };

    /// <summary>Called in the fence, once it has taken its time.</summary>
    public Action OnComplete { get; init; } = () => { };

    /// <summary>What operations that watch a collection have seen; the script fills it. Null for any other.</summary>
    public ChangeLog? Changes { get; init; }

    /// <summary>What each operation of several steps did; the script fills it. Null for any other.</summary>
    public StepLog? Steps { get; init; }

    public VerificationOutcome Verification { get; init; } = new(FoundDocuments, 0);

    /// <summary>Who carries out what comes after so many calls of Connect; null for nobody with a name.</summary>
    public Func<int, string?> Member { get; init; } = _ => null;

    public TrafficCounters? Traffic { get; init; }

    public string? Compressor { get; init; }

    public string ConnectFailure { get; init; } = "connection refused (nothing listens there)";

    /// <summary>When each call of Connect came, seconds.</summary>
    public List<double> ConnectTimes { get; } = [];

    public List<Operation> Prepared { get; } = [];

    /// <summary>What each of these draws from.</summary>
    public List<OperationContext> Contexts { get; } = [];

    /// <summary>Of the worker, where a test's harness says so.</summary>
    public GroupPlan? Group { get; init; }

    /// <summary>Keys that operations were about.</summary>
    public List<long> KeysDrawn { get; } = [];

    /// <summary>When each operation started, seconds.</summary>
    public List<double> StartTimes { get; } = [];

    /// <summary>How long it takes to connect.</summary>
    public double ConnectSeconds { get; init; }

    /// <summary>Before each attempt to connect.</summary>
    public Action OnConnect { get; init; } = () => { };

    /// <summary>Calls of Disconnect.</summary>
    public int Disconnects { get; private set; }

    /// <summary>Whose connections it uses.</summary>
    public IOperationExecutor? Lender { get; private set; }

    public bool WasAborted { get; private set; }

    /// <summary>Wakes an operation that hangs.</summary>
    public Action OnAbort { get; init; } = () => { };

    public bool WasDisposed { get; private set; }

    public void Connect()
    {
        OnConnect();
        ConnectTimes.Add(clock.Seconds);
        long start = clock.Now;
        clock.Advance(ConnectSeconds);
        ConnectionFailedException? failure = ConnectFailures-- > 0
            ? new ConnectionFailedException(Scripted.Server, ConnectFailure)
            : null;
        _log?.Add(start, clock.Now, failure);
        if (failure is not null)
            throw failure;
    }

    public void Note(ConnectionLog log) => _log = log;

    public void Borrow(IOperationExecutor? lender) => Lender = lender;

    public void Disconnect() => Disconnects++;

    public IPreparedOperation Prepare(Operation operation, OperationContext context)
    {
        Prepared.Add(operation);
        Contexts.Add(context);
        return new PreparedOperation(this, operation, context);
    }

    public void Abort()
    {
        WasAborted = true;
        OnAbort();
    }

    public void Dispose() => WasDisposed = true;

    private OperationOutcome Run(Operation operation, InsertNumbers? numbers, out ServerError? error)
    {
        int index = StartTimes.Count;
        StartTimes.Add(clock.Seconds);
        Scripted step = Script(index);
        clock.Advance(step.Seconds);
        error = step.Refusal;
        bool fresh = true;
        if (step.Arrives && numbers is not null)
        {
            for (int i = 0; i < numbers.Count; i++)
                fresh &= Store(operation.Collection, numbers[i]);
        }

        if (step.Failure is not null)
            throw step.Failure;
        if (!fresh && !operation.Concerns.IsUnacknowledged)
            error = new ServerError(ServerError.DuplicateKey, "DuplicateKey", "there already", []);
        if (error is not null)
            return default;
        int documents = numbers?.Count ?? step.Found;
        return new OperationOutcome(true, documents, (long)documents * DocumentBytes);
    }

    private void Advance(double seconds) => clock.Advance(seconds);

    /// <summary>Takes its numbers as the wire client does.</summary>
    private sealed class PreparedOperation(ScriptedExecutor executor, Operation operation, OperationContext context) : IPreparedOperation
    {
        private readonly InsertNumbers? _numbers = operation.Inserts ? new InsertNumbers(operation, context) : null;
        private readonly KeyChooser? _chooser = operation.Chooser?.ForWorker();
        private long _key = -1;
        private RandomStream _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);

        public ServerError? LastError { get; private set; }

        public string? Member => executor.Member(executor.ConnectTimes.Count);

        public ChangeLog? Changes => executor.Changes;

        public StepLog? Steps => executor.Steps;

        public bool Draw()
        {
            executor.Advance(executor.DrawSeconds);
            if (_chooser is not null)
                executor.KeysDrawn.Add(_key = _chooser.Next(ref _random));
            return _numbers is null || _numbers.Take(operation.DocumentsPerCommand);
        }

        public OperationOutcome Execute()
        {
            OperationOutcome outcome = executor.Run(operation, _numbers, out ServerError? error);
            if (operation.Removes && outcome.Succeeded)
                executor.Remove(operation.Collection, _key);
            _numbers?.Acknowledge();
            LastError = error;
            return outcome;
        }

        public VerificationOutcome Verify()
        {
            executor.Advance(executor.VerifySeconds);
            return executor.Verification;
        }

        public void Complete()
        {
            _numbers?.Acknowledge();
            executor.Advance(executor.CompleteSeconds);
            executor.OnComplete();
        }
    }
}
