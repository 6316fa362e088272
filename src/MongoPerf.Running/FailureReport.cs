using System.Net.Sockets;
using System.Text.RegularExpressions;
using MongoPerf.Measurement;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Running;

/// <summary>What a failure comes to for whoever reads it: one line, a hint and an exit code.</summary>
public static partial class FailureReport
{
    /// <summary>ENOSPC of Linux, as the runtime hands it on.</summary>
    private const int NoSpaceLeft = 28;

    /// <summary>Only unexpected failures are shown with their stack: they are faults of the program.</summary>
    public static ExitCode Write(Exception failure, TextWriter errors)
    {
        // The scheduler's exception hides that the system gives no memory for a thread.
        if (failure is TaskSchedulerException { InnerException: OutOfMemoryException inner })
            failure = inner;
        (ExitCode Code, string? Hint)? known = Classify(failure);
        if (known is null)
            errors.WriteLine($"internal error: {Masking.Shown(failure.ToString())}");
        else
            errors.WriteLine(
                $"error: {CommandText.Typed(Clipped(Masking.Shown(failure is OutOfMemoryException ? "out of memory" : failure.Message)))}");
        if (known?.Hint is { } hint)
            errors.WriteLine($"hint:  {Masking.Shown(CommandText.Typed(hint))}");
        ExitCode code = known?.Code ?? ExitCode.InternalError;
        errors.WriteLine($"exit code {(int)code}: {ExitCodes.Describe(code)}");
        return code;
    }

    /// <summary>What a message quotes may be of any length; commands to be typed stay whole.</summary>
    private static string Clipped(string message) => LongQuote().Replace(message, "'$1…'");

    [GeneratedRegex(@"(?<![\p{L}\d])'(?!mongoperf )([^'\n]{100})[^'\n]{60,}'")]
    private static partial Regex LongQuote();

    /// <returns>Null for what is not expected; a hint where there is one.</returns>
    public static (ExitCode Code, string? Hint)? Classify(Exception failure) => failure switch
    {
        ConnectionStringException e => (ExitCode.WrongUsage, e.Typed is { } typed ? NearestName.Hint(typed, e.Allowed) : null),
        IFailure e => ((ExitCode)e.Fault, e.Hint),
        HistogramFormatException => (ExitCode.WrongUsage, "the run is damaged: make its report anew from a copy, if there is one"),
        OperationCanceledException => (ExitCode.Interrupted, null),
        OutOfMemoryException => (ExitCode.Refused, "this machine, or the limit of this process, has too little memory for the run: "
            + "use fewer threads, or smaller batches and documents"),
        SocketException =>
            (ExitCode.CannotConnect, "is another program using the port? choose another --port, or omit it to use a free one"),
        IOException { HResult: NoSpaceLeft } =>
            (ExitCode.Refused, "make room there; if no file is named, standard output goes to the full disk"),
        UnauthorizedAccessException => (ExitCode.WrongUsage, "does this user have permission to read and write there?"),
        IOException => (ExitCode.WrongUsage, "is it the right folder or file, and is the disk full?"),
        _ => null,
    };
}
