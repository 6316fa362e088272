using System.CommandLine;
using System.CommandLine.Parsing;

namespace MongoPerf.Cli;

/// <summary>Says what is wrong with a call in a line or two: the option, what was found, the nearest name.</summary>
internal static class UsageErrors
{
    public static void Print(ParseResult parsed, TextWriter output)
    {
        Command command = parsed.CommandResult.Command;
        (string error, string? hint) = Describe(parsed, command);
        output.WriteLine($"error: {error}");
        if (hint is not null)
            output.WriteLine($"hint:  {hint}");
        output.WriteLine($"exit code {(int)ExitCode.WrongUsage}: {ExitCodes.Describe(ExitCode.WrongUsage)}; 'mongoperf {(command is RootCommand ? "" : command.Name + " ")}--help' lists what is allowed");
    }

    private static (string Error, string? Hint) Describe(ParseResult parsed, Command command)
    {
        // Behind an unknown command every option is unknown too: the command is the mistake.
        string? first = parsed.UnmatchedTokens.Count > 0 ? parsed.UnmatchedTokens[0] : null;
        string? unknown = command.Subcommands.Count > 0 ? first : parsed.UnmatchedTokens.FirstOrDefault(t => t.StartsWith('-')) ?? first;
        if (unknown is not null)
        {
            bool isOption = unknown.StartsWith('-');
            bool wantsCommand = command.Subcommands.Count > 0 && !isOption;
            IEnumerable<string> known = isOption
                ? command.Options.Where(o => !o.Hidden).SelectMany(o => o.Aliases.Prepend(o.Name))
                : command.Subcommands.Where(c => !c.Hidden).Select(c => c.Name);
            string? nearest = NearestName.Find(unknown.Split('=')[0], known);
            string what = isOption ? "unknown option" : wantsCommand ? "unknown command" : "one argument too many:";
            return ($"{what} '{unknown}'{(command is RootCommand ? "" : $" of '{command.Name}'")}", nearest is null ? null : $"did you mean '{nearest}'?");
        }

        ParseError error = parsed.Errors[0];
        return command is RootCommand && error.SymbolResult is CommandResult
            ? ("a command is missing", "'mongoperf series --target 1M' is a good first one")
            : (error.Message.TrimEnd('.'), null);
    }
}
