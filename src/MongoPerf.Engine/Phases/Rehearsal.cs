using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Engine.Phases;

/// <summary>Has the code compiled with which a group begins. A process compiles what it calls for the first time, which takes longer than clients that begin together may lie apart.</summary>
public static class Rehearsal
{
    /// <summary>Longer than a wait in one piece (<see cref="GroupControl.WaitUntil"/>), so that waking up is rehearsed too.</summary>
    private const double LeadSeconds = 0.22;

    public static void Run(IClock clock)
    {
        var groups = new GroupRunner(clock, static (_, _) => new Idle());
        var plan = new GroupPlan { Name = "rehearsal", Operations = GroupPlan.Only(new CreateCollection("none")), Threads = 1, Count = 1, Seed = 0, BeforeStart = () => clock.Now + clock.TicksOf(LeadSeconds) };
        groups.Run(plan, new Nobody(), CancellationToken.None);
        groups.Run(plan with { Rate = 1000, BeforeStart = static () => null }, new Nobody(), CancellationToken.None);
    }

    private sealed class Idle : IOperationExecutor, IPreparedOperation
    {
        public ServerError? LastError => null;

        public void Connect()
        {
        }

        public IPreparedOperation Prepare(Operation operation, OperationContext context) => this;

        public bool Draw() => true;

        public OperationOutcome Execute() => new(true, 0, 0);

        public VerificationOutcome Verify() => default;

        public void Complete()
        {
        }

        public void Abort()
        {
        }

        public void Dispose()
        {
        }
    }

    private sealed class Nobody : IGroupObserver
    {
        public void OnInterval(IReadOnlyList<Sample> samples)
        {
        }

        public void OnEvent(string kind, string text, double? seconds)
        {
        }
    }
}
