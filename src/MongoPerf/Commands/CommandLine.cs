using System.CommandLine;
using MongoPerf.Options;
using MongoPerf.Running;
using MongoPerf.Running.Secrets;
using MongoPerf.Secrets;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>The program's commands: parses, runs, and turns every failure into one line and an exit code.</summary>
public static class CommandLine
{
    /// <summary>Runs the program in a process of its own: what it prints shows no password that was typed, whoever prints it.</summary>
    /// <inheritdoc cref="Run"/>
    public static int RunAlone(string[] args)
    {
        Masking.Typed = [.. args, Environment.GetEnvironmentVariable(UriVariable.Name) ?? ""];
        if (Masking.TypedHoldsSecret)
        {
            Console.SetOut(Masking.Cover(Console.Out));
            Console.SetError(Masking.Cover(Console.Error));
        }

        return Run(args);
    }

    /// <summary>Runs the program.</summary>
    /// <returns>The exit code; see <see cref="ExitCode"/>.</returns>
    public static int Run(string[] args)
    {
        UriVariable.Take();
        Masking.Typed = UriVariable.Value is { } uri ? [.. args, uri] : args;
        ArgumentMemory.Hide(args, Masking.MaskArgument);
        if (args is ["help", .. string[] of])
            args = [.. of, "--help"];
        ParseResult parsed = CommandTree.Build().Parse(args);
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
        }
        catch (UserException e)
        {
            return (int)FailureReport.Write(e, Console.Error);
        }

        return Words.Language.IsEnglish || !AsksForHelp(args) ? parsed.Invoke(Invocation()) : ShowHelp(args);
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

    /// <summary>In another language than English. The library's own headings are lines by themselves.</summary>
    private static int ShowHelp(string[] args)
    {
        RootCommand root = LanguageOption.Translated(CommandTree.Build());
        using var help = new StringWriter { NewLine = "\n" };
        InvocationConfiguration invocation = Invocation();
        invocation.Output = help;
        int code = root.Parse(args).Invoke(invocation);
        Console.Out.Write(LanguageOption.Translate(help.ToString()));
        return code;
    }

    private static bool AsksForHelp(string[] args) => args.Any(a => a is "--help" or "-h" or "-?" or "--version");
}
