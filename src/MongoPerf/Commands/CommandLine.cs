using System.CommandLine;
using MongoPerf.Deployments.Processes;
using MongoPerf.Options;
using MongoPerf.Running;
using MongoPerf.Running.Configuration;
using MongoPerf.Running.Secrets;
using MongoPerf.Secrets;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>The program's commands: parses, runs, and turns every failure into one line and an exit code.</summary>
public static class CommandLine
{
    /// <summary>@NAME is the name of a deployment, not a file with arguments.</summary>
    private static readonly ParserConfiguration NoResponseFiles = new() { ResponseFileTokenReplacer = null };

    /// <summary>Runs the program in a process of its own: what it prints shows no password that was typed, whoever prints it.</summary>
    /// <inheritdoc cref="Run(string[])"/>
    public static int RunAlone(string[] args) => Run(args, isAlone: true);

    /// <summary>Runs the program.</summary>
    /// <returns>The exit code; see <see cref="ExitCode"/>.</returns>
    public static int Run(string[] args) => Run(args, isAlone: false);

    private static int Run(string[] args, bool isAlone)
    {
        UriVariable.Take();
        Settings.Begin(name => name == UriVariable.Name ? UriVariable.Taken : Environment.GetEnvironmentVariable(name));
        Masking.Typed = [.. args, UriVariable.Taken ?? ""];
        ArgumentMemory.Hide(args, Masking.MaskArgument);
        if (args is ["help", .. string[] of])
            args = [.. of, "--help"];
        ParseResult parsed = CommandTree.Build().Parse(args, NoResponseFiles);
        // What was typed, or what a name of a deployment stands for.
        if (isAlone && Masking.TypedHoldsSecret)
        {
            Console.SetOut(Masking.Cover(Console.Out));
            Console.SetError(Masking.Cover(Console.Error));
        }

        bool isUnknown = parsed.CommandResult.Command is RootCommand && parsed.UnmatchedTokens is [not ['-', ..], ..];
        if (isUnknown || (parsed.Errors.Count > 0 && !AsksForHelp(args)))
        {
            UsageErrors.Print(parsed, args, Console.Error);
            return (int)ExitCode.WrongUsage;
        }

        LeaveDynamicCodeOut(parsed);
        try
        {
            LanguageOption.Choose(LanguageOption.Of(parsed));
            if (!AsksForHelp(args) && Environment.GetEnvironmentVariable(ParentWatch.Variable) is null)
                WarnOf(Settings.Current.Problems);
        }
        catch (UserException) when (AsksForHelp(args))
        {
            // Help shows how to set a file or a variable right.
        }
        catch (Exception e)
        {
            return (int)FailureReport.Write(e, Console.Error);
        }

        return Words.Language.IsEnglish || !AsksForHelp(args) ? parsed.Invoke(Invocation()) : ShowHelp(args);
    }

    private static void WarnOf(IReadOnlyList<UserException> problems)
    {
        foreach (UserException problem in problems)
        {
            string hint = problem.Hint is { } one ? $" ({one})" : "";
            Console.Error.WriteLine(Masking.Shown($"warning: {problem.Message}{hint}; the entry is ignored"));
        }
    }

    /// <summary>
    /// System.Text.Json would compile an accessor for each property that a run's records have, a quarter of a second of a command's start;
    /// by reflection they are fast enough. MongoDB's driver, which a resumed run may use too, is measured with its expressions compiled.
    /// </summary>
    private static void LeaveDynamicCodeOut(ParseResult parsed)
    {
        if (!MayUseDriver(parsed))
            AppContext.SetSwitch("System.Runtime.CompilerServices.RuntimeFeature.IsDynamicCodeSupported", false);
    }

    /// <summary>What a stored run used is known only when it has been opened.</summary>
    internal static bool MayUseDriver(ParseResult parsed) => parsed.CommandResult.Command.Name is "resume" or "calibrate"
        || (parsed.Errors.Count == 0 && parsed.CommandResult.Command.Options.OfType<Option<IReadOnlyList<EngineKind>?>>()
            .Any(engine => parsed.GetValue(engine)?.Contains(EngineKind.Driver) is true));

    private static InvocationConfiguration Invocation() =>
        new() { EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null };

    /// <summary>Shows help in another language than English. The library's own headings are lines by themselves.</summary>
    private static int ShowHelp(string[] args)
    {
        RootCommand root = LanguageOption.Translated(CommandTree.Build());
        using var help = new StringWriter { NewLine = "\n" };
        InvocationConfiguration invocation = Invocation();
        invocation.Output = help;
        int code = root.Parse(args, NoResponseFiles).Invoke(invocation);
        Console.Out.Write(LanguageOption.Translate(help.ToString()));
        return code;
    }

    private static bool AsksForHelp(string[] args) => args.Any(a => a is "--help" or "-h" or "-?" or "--version");
}
