using MongoPerf.Load.Phases;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>How the execution of a plan ended, and what that comes to.</summary>
/// <param name="Run">What all parts of the run came to.</param>
/// <param name="IsDone">All phases ran to their ends.</param>
/// <param name="WasStopped">It was stopped by a signal.</param>
/// <param name="Failure">What broke it off, when neither a signal nor the run itself did; null for nothing.</param>
internal sealed record PlanOutcome(RunContext Run, bool IsDone, bool WasStopped, Exception? Failure)
{
    private readonly (ExitCode Code, string? Hint)? _failed = Failure is null ? null : FailureReport.Classify(Failure);

    /// <summary>The run is one of several agents'.</summary>
    public bool IsPart { get; init; }

    /// <summary>A signal that came when all was done interrupted nothing.</summary>
    public bool IsInterrupted => WasStopped && (!IsDone || Failure is not null);

    /// <summary>Why the run ended before its time; null when it did not.</summary>
    public string? Why => IsInterrupted ? "interrupted" : Run.StopReason ?? Failure?.Message;

    public RunState State => IsDone && Why is null ? RunState.Finished : RunState.Interrupted;

    /// <summary>The server's reason, when a resumed run would meet the same; null otherwise.</summary>
    public string? Rejection =>
        Failure is RefusedDocumentsException || _failed is { Code: ExitCode.RejectedByServer } ? Failure!.Message : null;

    /// <summary>Says how the run ended.</summary>
    /// <param name="stored">The run.</param>
    /// <param name="next">What to type next; null for nothing.</param>
    /// <param name="failed">Assertions that do not hold.</param>
    public void Print(StoredRun stored, string? next, IReadOnlyList<string> failed)
    {
        if (Why is { } why)
        {
            Console.Error.WriteLine($"stopped{(stored.DocumentsReached > 0 ? $" at {stored.DocumentsReached:N0} documents" : "")}: {why}");
            if (_failed?.Hint is { } hint)
                Console.Error.WriteLine($"hint:  {hint}");
            if (next is not null)
                Console.Error.WriteLine(next);
        }

        foreach (string text in failed)
            Console.Error.WriteLine(text);
        if (HasSkipped(stored) && !IsInterrupted)
            Console.Error.WriteLine($"{stored.Arrivals.Skipped:N0} of {stored.Arrivals.Scheduled:N0} arrivals were skipped, "
                + "more than allowed\nhint:  --max-skipped allows a number or a share such as 1%");
    }

    /// <summary>The first of these that holds is the exit code. What the run came to before it was interrupted counts, too.</summary>
    /// <param name="stored">The run.</param>
    public ExitCode ToExitCode(StoredRun stored) => IsInterrupted || (Why is not null && IsPart) ? ExitCode.Interrupted
        : Run.StopReason is not null || _failed?.Code == ExitCode.Refused ? ExitCode.Refused
        : Failure is not null ? _failed?.Code ?? ExitCode.CannotConnect
        : Judge(stored);

    /// <summary>What a run's figures come to, also of one that several clients' runs were merged into.</summary>
    public static ExitCode Judge(StoredRun stored) =>
        stored.Results.Any(result => result.Wrong > 0 || result.Changes is { HasFault: true })
            || stored.Phases.Any(phase => phase.Missing > 0 || phase.IsInconsistent) ? ExitCode.VerificationFailed
        // What was recorded with data that are not there fails, too.
        : stored.RepliesDiffer ? ExitCode.RepliesDiffer
        : stored.Failures > stored.Settings.Plan.MaxErrors || HasSkipped(stored) ? ExitCode.TooManyErrors
        : stored.Phases.Any(phase => phase.Assertions.Any(one => !one.Holds)) ? ExitCode.AssertionFailed
        : stored.Run.Part is null && stored.HasUnmeasuredPhase ? ExitCode.TooManyErrors
        : ExitCode.Done;

    private static bool HasSkipped(StoredRun stored) => !stored.Settings.Plan.MaxSkipped.Allows(stored.Arrivals);
}
