using System.CommandLine;
using MongoPerf.Running;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>Runs a command's body and turns what it throws into one line, a hint and an exit code.</summary>
internal static class CommandRunner
{
    /// <summary>Makes this what a command does.</summary>
    public static void Runs(this Command command, Func<ParseResult, ExitCode> body) => command.SetAction(parsed => Run(() => body(parsed)));

    /// <summary>
    /// Does the same as <see cref="Runs(Command, Func{ParseResult, ExitCode})"/> for a command whose failures are all exceptions.
    /// </summary>
    public static void Runs(this Command command, Action<ParseResult> body) => command.Runs(parsed =>
    {
        body(parsed);
        return ExitCode.Done;
    });

    public static int Run(Func<ExitCode> body)
    {
        try
        {
            ExitCode code = body();
            if (code != ExitCode.Done)
                Console.Error.WriteLine($"exit code {(int)code}: {ExitCodes.Describe(code)}");
            return (int)code;
        }
        catch (Exception e)
        {
            return (int)FailureReport.Write(e, Console.Error);
        }
    }
}
