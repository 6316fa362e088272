using MongoPerf.Load.Collections;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Watch;

/// <summary>Watches a collection, whichever client reads its change stream. One thread.</summary>
public abstract class ChangeWatch : IPreparedOperation
{
    private readonly IClock _clock;

    /// <param name="operation">What is watched, bound to the phase's writes.</param>
    /// <param name="context">The context of the operation.</param>
    protected ChangeWatch(WatchChanges operation, OperationContext context)
    {
        Operation = operation;
        Follower = new ChangeFollower(operation);
        _clock = context.Clock;
    }

    public ServerError? LastError { get; private set; }

    public virtual string? Member => null;

    public ChangeLog Changes => Follower.Log;

    protected WatchChanges Operation { get; }

    protected ChangeFollower Follower { get; }

    protected long Now => _clock.Now;

    public bool Draw() => true;

    public OperationOutcome Execute()
    {
        Follower.Log.Clear();
        return new OperationOutcome(Read(), 0, 0);
    }

    /// <summary>What comes is compared as it comes.</summary>
    public VerificationOutcome Verify() => default;

    public virtual void Complete() => Follower.Drain(_clock, Read);

    /// <summary>Opens the stream, before the phase begins.</summary>
    /// <exception cref="ServerCommandException">The server has no change streams, or refuses this one.</exception>
    /// <exception cref="OperationLimitException">The server is one that can have none.</exception>
    protected void Begin(HelloReply server)
    {
        SessionLimit.Check(server, Operation);
        if (!Read())
            throw new ServerCommandException("aggregate", LastError!);
    }

    /// <summary>Waits for events and takes them, on a stream that is opened if there is none.</summary>
    /// <returns>False when the server refused; the stream is then opened again.</returns>
    protected abstract bool Read();

    /// <returns>False, for <see cref="Read"/> to return.</returns>
    /// <exception cref="ServerCommandException">It can't be opened again: the server no longer knows where it broke off.</exception>
    protected bool Refuse(ServerError error)
    {
        LastError = error;
        return !error.MeansStreamLost ? false : throw new ServerCommandException("getMore", error);
    }
}
