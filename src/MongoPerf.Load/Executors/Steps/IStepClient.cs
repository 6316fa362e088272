using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Load.Executors.Steps;

/// <summary>How one worker's steps reach the server: the seam between <see cref="PreparedSteps"/> and each client. One thread.</summary>
public interface IStepClient
{
    /// <summary>Makes a step's command ready to be sent again and again.</summary>
    /// <param name="step">A step with a command, which is bound to its keys.</param>
    /// <param name="values">What earlier steps brought.</param>
    /// <param name="numbers">The numbers of the documents that it inserts; null for a step that inserts none.</param>
    IStepCommand Prepare(Step step, StepValues values, StepNumbers? numbers);

    /// <summary>Makes the next command begin a transaction.</summary>
    void Begin();

    /// <summary>Whether a command has been sent since <see cref="Begin"/>.</summary>
    bool HasBegun { get; }

    /// <summary>Asks the server to commit.</summary>
    /// <param name="isRetry">It has been asked before, and its answer, if any, left open whether it did.</param>
    /// <returns>Why it did not say that it has; null when it has.</returns>
    /// <exception cref="ConnectionFailedException">The connection broke.</exception>
    ServerError? Commit(bool isRetry);

    /// <summary>Asks the server to abort; whatever it answers, it will.</summary>
    void Abort();

    /// <summary>Connects again, once; the session stays.</summary>
    /// <exception cref="ConnectionFailedException">Not reachable just now.</exception>
    void Reconnect();

    /// <summary>Whether the worker is to end.</summary>
    bool IsAborted { get; }

    /// <inheritdoc cref="IPreparedOperation.Member"/>
    string? Member { get; }

    /// <summary>Ends the session after the last operation.</summary>
    void Complete();
}

/// <summary>One step's command. One thread.</summary>
public interface IStepCommand
{
    /// <summary>Puts the values of the next execution in.</summary>
    void Stage(in ValueContext context);

    OperationOutcome Execute();

    ServerError? LastError { get; }

    /// <summary>Keeps what the last execution brought. Only of a step that <see cref="Step.Keeps"/> something.</summary>
    void Keep(StepValues values, int slot);
}
