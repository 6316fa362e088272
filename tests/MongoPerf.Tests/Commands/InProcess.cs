using MongoPerf.Commands;

namespace MongoPerf.Tests.Commands;

/// <summary>Calls the program in this process. The console is one for all: only for tests of <see cref="ConsoleTests"/>.</summary>
internal static class InProcess
{
    public static (int Code, string Output, string Errors) Run(params string[] arguments)
    {
        (TextWriter output, TextWriter errors) = (Console.Out, Console.Error);
        using var said = new StringWriter();
        using var complained = new StringWriter();
        Console.SetOut(said);
        Console.SetError(complained);
        try
        {
            int code = CommandLine.Run(arguments);
            return (code, said.ToString(), complained.ToString());
        }
        finally
        {
            Console.SetOut(output);
            Console.SetError(errors);
        }
    }
}
