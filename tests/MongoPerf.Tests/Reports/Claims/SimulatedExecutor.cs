using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Reports.Claims;

/// <summary>How the operations of one name go.</summary>
internal sealed record Habit
{
    /// <summary>The median time; half of them take between half and twice as long.</summary>
    public double Seconds { get; init; } = 0.02;

    /// <summary>The share that takes ten times as long.</summary>
    public double SlowShare { get; init; }

    /// <summary>The share that the server refuses.</summary>
    public double FailedShare { get; init; }

    /// <summary>The share of reads that find nothing, and of writes that match nothing.</summary>
    public double NothingShare { get; init; }

    /// <summary>The documents of a reply are 1 to so many.</summary>
    public int MostDocuments { get; init; } = 1;

    /// <summary>The share of transactions' attempts that meet a write conflict.</summary>
    public double ConflictShare { get; init; }
}

/// <summary>What the simulated server is like at a time; shared by all executors of a run.</summary>
internal sealed class SimulatedServer(TurnClock clock, Func<string, Habit> habits, Func<string, long, bool> store)
{
    /// <summary>Seconds of the run's time in which it answers nothing, each with its length.</summary>
    public IReadOnlyList<(double From, double Seconds)> Stalls { get; init; } = [];

    /// <summary>Operations that have been started.</summary>
    public int Operations { get; private set; }

    /// <summary>Called before each operation, with its place, from 0.</summary>
    public Action<int> Before { get; set; } = static _ => { };

    /// <summary>The place of an operation during which the connection breaks; -1 for none.</summary>
    public int BreaksAt { get; init; } = -1;

    public TurnClock Clock => clock;

    public IOperationExecutor Open(GroupPlan group, int worker) =>
        new SimulatedExecutor(this, clock.Gather(group.Name, group.Threads));

    /// <summary>Stores what an insert writes.</summary>
    public void Insert(string collection, IEnumerable<long> numbers)
    {
        foreach (long number in numbers)
            store(collection, number);
    }

    /// <summary>Takes the time of one command.</summary>
    /// <returns>Why it failed; null when it succeeded.</returns>
    public ServerError? Work(Habit habit, ref RandomStream random)
    {
        int place = Operations++;
        Before(place);
        double seconds = habit.Seconds * Math.Pow(2, (random.NextDouble() * 2) - 1) * (random.NextDouble() < habit.SlowShare ? 10 : 1);
        double now = clock.Seconds;
        // What is asked during a stall is answered after it.
        if (Stalls.FirstOrDefault(stall => now >= stall.From && now < stall.From + stall.Seconds) is { Seconds: > 0 } met)
            seconds += met.From + met.Seconds - now;
        clock.Advance(seconds);
        if (place == BreaksAt)
            throw new ConnectionFailedException(new ServerAddress("simulated", 27017), "connection closed by the server");
        return random.NextDouble() < habit.FailedShare
            ? new ServerError(50, "MaxTimeMSExpired", "operation exceeded time limit", []) : null;
    }

    public Habit HabitOf(string operation) => habits(operation);
}

/// <summary>Carries operations out in the time of a <see cref="TurnClock"/>.</summary>
internal sealed class SimulatedExecutor(SimulatedServer server, TurnClock.Crew crew) : IOperationExecutor
{
    public void Connect()
    {
    }

    public IPreparedOperation Prepare(Operation operation, OperationContext context) => operation is StepSequence steps
        ? new PreparedSteps(new Steps(server, operation.Name, context), steps, context)
        : new Single(server, operation, context);

    public void Abort()
    {
    }

    public void Dispose() => server.Clock.Close(crew);

    /// <summary>An operation of one command, or several that count as one.</summary>
    private sealed class Single(SimulatedServer server, Operation operation, OperationContext context) : IPreparedOperation
    {
        private readonly Habit _habit = server.HabitOf(operation.Name);
        private readonly InsertNumbers? _numbers = operation.Inserts ? new InsertNumbers(operation, context) : null;
        private RandomStream _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);

        public ServerError? LastError { get; private set; }

        public bool Draw() => _numbers is null || _numbers.Take(operation.DocumentsPerCommand);

        public OperationOutcome Execute()
        {
            LastError = server.Work(_habit, ref _random);
            bool succeeded = LastError is null;
            if (_numbers is not null)
            {
                if (succeeded)
                    server.Insert(operation.Collection, Enumerable.Range(0, _numbers.Count).Select(i => _numbers[i]));
                _numbers.Acknowledge();
                return succeeded ? new OperationOutcome(true, _numbers.Count, _numbers.Count * 100L) : default;
            }

            return succeeded ? Replies.Outcome(operation, _habit, ref _random) : default;
        }

        public VerificationOutcome Verify() => default;

        public void Complete()
        {
            _numbers?.Acknowledge();
            TurnClock.End();
        }
    }

    private sealed class Steps(SimulatedServer server, string name, OperationContext context) : IStepClient
    {
        private readonly Habit _habit = server.HabitOf(name);
        private RandomStream _random = RandomStream.For(context.Seed, RandomPurpose.Choice, context.Worker);

        public bool HasBegun { get; set; }

        public bool IsAborted => false;

        public string? Member => null;

        public IStepCommand Prepare(Step step, StepValues values, StepNumbers? numbers) =>
            new StepCommand(server, this, step.Operation!, numbers, context);

        public void Begin() => HasBegun = false;

        public ServerError? Commit(bool isRetry) => server.Work(_habit with { Seconds = 0.002, FailedShare = 0 }, ref _random);

        public void Abort() => server.Clock.Advance(0.001);

        public void Reconnect()
        {
        }

        public void Complete() => TurnClock.End();

        public ServerError? Conflict() => _random.NextDouble() < _habit.ConflictShare
            ? new ServerError(112, "WriteConflict", "WriteConflict", ["TransientTransactionError"]) : null;
    }

    private sealed class StepCommand(
        SimulatedServer server, Steps steps, Operation operation, StepNumbers? numbers, OperationContext context) : IStepCommand
    {
        private readonly Habit _habit = server.HabitOf(operation.Name);
        private RandomStream _random = RandomStream.For(context.Seed, RandomPurpose.Verification, context.Worker);

        public ServerError? LastError { get; private set; }

        public void Stage(in ValueContext values)
        {
        }

        public OperationOutcome Execute()
        {
            steps.HasBegun = true;
            LastError = server.Work(_habit, ref _random) ?? steps.Conflict();
            return LastError is not null ? default
                : numbers is null ? Replies.Outcome(operation, _habit, ref _random)
                : new OperationOutcome(true, numbers.Batch, numbers.Batch * 100L);
        }

        public void Keep(StepValues values, int slot) => values.Set(slot, BsonType.Document, BsonDocument.Of(("n", 1)).Bytes);
    }
}

/// <summary>What comes of commands that the server has answered without an error.</summary>
internal static class Replies
{
    public static OperationOutcome Outcome(Operation operation, Habit habit, ref RandomStream random)
    {
        bool isNothing = random.NextDouble() < habit.NothingShare;
        int documents = isNothing ? 0 : operation.IsWrite ? operation.DocumentsPerCommand : 1 + random.Next(habit.MostDocuments);
        return new OperationOutcome(true, documents, operation.IsWrite ? 0 : documents * 100L);
    }
}
