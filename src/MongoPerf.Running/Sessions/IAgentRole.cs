using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>What a run does beside its own work because it is one of several agents'.</summary>
public interface IAgentRole
{
    ClientPart Part { get; }

    /// <summary>What this agent does of the plan.</summary>
    PlanShare Share { get; }

    /// <summary>A sentence when somebody has stopped all agents; null while nobody has.</summary>
    string? ReasonToStop();

    /// <summary>When to do something that can wait instead of now, in ticks; null for now.</summary>
    long? Postpone();

    /// <summary>How this machine's clock stands against the one that all agents have in common.</summary>
    ClientClock CompareClock();

    /// <summary>Waits as <see cref="PlanRunOptions.Meet"/> says.</summary>
    Meeting Meet(long position, CancellationToken stop);

    /// <summary>Tells the others what the first agent found when it prepared the data.</summary>
    void Publish(ulong seed, IReadOnlyDictionary<string, long> startDocuments);

    /// <summary>Waits for what the first agent found.</summary>
    /// <exception cref="UserException">It won't come.</exception>
    (ulong Seed, IReadOnlyDictionary<string, long> StartDocuments) AwaitPrepared(CancellationToken stop);
}
