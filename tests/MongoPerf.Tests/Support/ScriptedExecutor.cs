using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Workloads;
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

    public static Scripted Broken(double seconds = 0.001) => new(seconds, null, new ConnectionFailedException(Server, "connection closed by the server"));

    /// <summary>Such as an error in the program: no answer of a server and no broken connection.</summary>
    public static Scripted Dies(double seconds = 0.001) => new(seconds, null, new InvalidOperationException("the worker dies"));
}

/// <summary>Carries operations out as a script says, on a manual clock.</summary>
internal sealed class ScriptedExecutor(ManualClock clock, Func<int, Scripted> script) : IOperationExecutor
{
    public const int FoundDocuments = 10;

    private const int DocumentBytes = 1024;

    /// <summary>How many of the next calls of Connect fail.</summary>
    public int ConnectFailures { get; set; }

    /// <summary>How long it takes to put an operation together.</summary>
    public double DrawSeconds { get; init; }

    /// <summary>How long it takes to compare what came.</summary>
    public double VerifySeconds { get; init; }

    /// <summary>How long the fence takes.</summary>
    public double CompleteSeconds { get; init; }

    /// <summary>Where inserted numbers go; false says that one was there already.</summary>
    public Func<long, bool> Store { get; init; } = _ => true;

    public VerificationOutcome Verification { get; init; } = new(FoundDocuments, 0);

    /// <summary>When each call of Connect came, seconds.</summary>
    public List<double> ConnectTimes { get; } = [];

    public List<OperationSpecification> Prepared { get; } = [];

    /// <summary>When each operation started, seconds.</summary>
    public List<double> StartTimes { get; } = [];

    public bool WasAborted { get; private set; }

    /// <summary>Wakes an operation that hangs.</summary>
    public Action OnAbort { get; init; } = () => { };

    public bool WasDisposed { get; private set; }

    public void Connect()
    {
        ConnectTimes.Add(clock.Seconds);
        if (ConnectFailures-- > 0)
            throw new ConnectionFailedException(Scripted.Server, "connection refused (nothing listens there)");
    }

    public IPreparedOperation Prepare(OperationSpecification specification, OperationContext context)
    {
        Prepared.Add(specification);
        return new Operation(this, specification, context);
    }

    public void Abort()
    {
        WasAborted = true;
        OnAbort();
    }

    public void Dispose() => WasDisposed = true;

    private OperationOutcome Run(OperationSpecification specification, long first, int count, out ServerError? error)
    {
        int index = StartTimes.Count;
        StartTimes.Add(clock.Seconds);
        Scripted step = script(index);
        clock.Advance(step.Seconds);
        error = step.Refusal;
        bool fresh = true;
        if (step.Arrives)
        {
            for (long number = first; number < first + count; number++)
                fresh &= Store(number);
        }

        if (step.Failure is not null)
            throw step.Failure;
        if (!fresh && specification is InsertSpecification { Acknowledged: true })
            error = new ServerError(ServerError.DuplicateKey, "DuplicateKey", "there already", []);
        if (error is not null)
            return default;
        int documents = specification is InsertSpecification ? count : step.Found;
        return new OperationOutcome(true, documents, (long)documents * DocumentBytes);
    }

    private sealed class Operation(ScriptedExecutor executor, OperationSpecification specification, OperationContext context) : IPreparedOperation
    {
        private long _first;
        private int _count;

        public ServerError? LastError { get; private set; }

        public bool Draw()
        {
            executor.Advance(executor.DrawSeconds);
            if (specification is not InsertSpecification insert)
                return true;
            _count = context.Numbers!.Take(insert.BatchSize, out _first);
            return _count > 0;
        }

        public OperationOutcome Execute()
        {
            OperationOutcome outcome = executor.Run(specification, _first, _count, out ServerError? error);
            LastError = error;
            return outcome;
        }

        public VerificationOutcome Verify()
        {
            executor.Advance(executor.VerifySeconds);
            return executor.Verification;
        }

        public void Complete() => executor.Advance(executor.CompleteSeconds);
    }

    private void Advance(double seconds) => clock.Advance(seconds);
}
