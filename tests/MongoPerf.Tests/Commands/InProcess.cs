using MongoPerf.Commands;

namespace MongoPerf.Tests.Commands;

/// <summary>
/// Calls the program, or a part of it, in this process. The console is one for all: only for tests of <see cref="ConsoleTests"/>.
/// </summary>
internal static class InProcess
{
    public static (int Code, string Output, string Errors) Run(params string[] arguments) => Run(() => CommandLine.Run(arguments));

    public static (int Code, string Output, string Errors) Run(Func<int> part)
    {
        (TextWriter output, TextWriter errors) = (Console.Out, Console.Error);
        using var said = new StringWriter();
        using var complained = new StringWriter();
        Console.SetOut(said);
        Console.SetError(complained);
        try
        {
            int code = part();
            return (code, said.ToString(), complained.ToString());
        }
        finally
        {
            Console.SetOut(output);
            Console.SetError(errors);
        }
    }
}
