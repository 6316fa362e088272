using MongoPerf.Wire.Failures;

namespace MongoPerf.Texts.Input;

/// <summary>What the program's exit code says; the last line printed says it too.</summary>
public enum ExitCode
{
    Done = 0,
    InternalError = 1,
    WrongUsage = 2,
    CannotConnect = 3,
    TooManyErrors = 4,
    VerificationFailed = 5,
    Refused = 6,
    RejectedByServer = 7,
    Unfit = 8,
    RepliesDiffer = 9,
    Regression = 10,
    AssertionFailed = 99,
    Interrupted = 130,
}

public static class ExitCodes
{
    public static string Describe(ExitCode code) => code switch
    {
        ExitCode.Done => "done",
        ExitCode.InternalError => "internal error",
        ExitCode.WrongUsage => "wrong usage, name, run folder, target or file",
        ExitCode.CannotConnect => "cannot connect or authenticate, or the server is older than 3.6",
        ExitCode.TooManyErrors =>
            "finished with more errors or skipped arrivals than allowed, or with a phase that never measured anything",
        ExitCode.VerificationFailed => "verification failed, or documents still missing after repair",
        ExitCode.Refused =>
            "refused: the command would touch data that its run does not own, continue without data that the run wrote, or fill the disk",
        ExitCode.RejectedByServer => "the server rejected a command, for the reason it gave",
        ExitCode.Unfit => "doctor found a problem that prevents runs",
        ExitCode.RepliesDiffer => "more replies to a replay differ from the recorded ones than --max-different allows",
        ExitCode.Regression => "compare or history found a regression",
        ExitCode.AssertionFailed => "an assertion failed",
        ExitCode.Interrupted => "interrupted; what was measured is saved, and 'resume' continues most runs",
        _ => "unknown",
    };
}

/// <summary>
/// A mistake or a refusal that the user must know of: one line of what was found and what is allowed, and a hint. No stack trace.
/// </summary>
public class UserException(ExitCode code, string message, string? hint = null) : MongoPerfException((Fault)code, message, hint)
{
    public ExitCode Code => (ExitCode)Fault;
}
