using System.CommandLine;
using System.CommandLine.Parsing;
using System.Text.RegularExpressions;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Commands;

/// <summary>Says what is wrong with a call in a line or two: the option, what was found, the nearest name.</summary>
internal static partial class UsageErrors
{
    /// <summary>Characters; an argument may have any number of them.</summary>
    private const int LongestError = 1000;

    public static void Print(ParseResult parsed, IReadOnlyList<string> args, TextWriter output)
    {
        Command command = parsed.CommandResult.Command;
        (string error, string? hint) = Describe(parsed, command);
        hint = FindParted(args) ?? hint;
        output.WriteLine($"error: {ForeignText.OneLine(Masking.MaskText(error), LongestError)}");
        if (hint is not null)
            output.WriteLine($"hint:  {Masking.MaskText(CommandText.Typed(hint))}");
        output.WriteLine($"exit code {(int)ExitCode.WrongUsage}: {ExitCodes.Describe(ExitCode.WrongUsage)}; "
            + $"'{NameOf(command)} --help' shows what is allowed");
    }

    /// <summary>The name with the commands that it is part of.</summary>
    private static string NameOf(Command command) =>
        command is RootCommand ? CommandText.Program : $"{NameOf(command.Parents.OfType<Command>().First())} {command.Name}";

    private static (string Error, string? Hint) Describe(ParseResult parsed, Command command)
    {
        string? first = parsed.UnmatchedTokens is [var token, ..] ? token : null;
        // After a mistyped command all its options are unknown too.
        bool isCommand = command.Subcommands.Count > 0 && first?.StartsWith('-') == false;
        string? unknown = isCommand ? first : parsed.UnmatchedTokens.FirstOrDefault(t => t.StartsWith('-')) ?? first;
        if (unknown is not null)
        {
            bool isOption = unknown.StartsWith('-');
            IEnumerable<string> known = isOption
                ? command.Options.Where(o => !o.Hidden).SelectMany(o => o.Aliases.Prepend(o.Name))
                : command.Subcommands.Where(c => !c.Hidden).Select(c => c.Name);
            // Whatever stands behind the name of an option that does not exist may be a secret.
            string name = isOption ? unknown.Split('=', ':')[0] : unknown;
            string what = isOption ? "unknown option" : isCommand ? "unknown command" : "unexpected argument";
            return ($"{what} '{name}'{(command is RootCommand ? "" : $" of '{command.Name}'")}",
                NearestName.Hint(name, known) ?? (isCommand && command is not RootCommand ? Allowed(command) : null));
        }

        ParseError error = parsed.Errors[0];
        return error.SymbolResult switch
        {
            CommandResult when command is RootCommand => ("no command given", "try 'mongoperf series --target 1M'"),
            CommandResult when command.Subcommands.Count > 0 => ($"{command.Name}: no command given", Allowed(command)),
            ArgumentResult { Tokens.Count: 0, Parent: CommandResult, Argument: var missing } =>
                ($"{command.Name}: {missing.Name} is missing", missing.Description),
            _ => (error.Message.TrimEnd('.'), null),
        };
    }

    /// <summary>A number and its unit with a space between them, such as 1 M, are two arguments.</summary>
    private static string? FindParted(IReadOnlyList<string> args)
    {
        for (int i = 1; i < args.Count; i++)
        {
            if (UnitAlone().IsMatch(args[i]) && NumberAlone().IsMatch(args[i - 1]))
                return "write the unit without a space: "
                    + $"{(i > 1 && args[i - 2].StartsWith('-') && !args[i - 1].StartsWith('-') ? args[i - 2] + " " : "")}"
                    + $"{args[i - 1]}{args[i]}";
        }

        return null;
    }

    [GeneratedRegex("^([kmgb]|[kmgt]i?b|us|ms|s|h|d|%)$", RegexOptions.IgnoreCase)]
    private static partial Regex UnitAlone();

    [GeneratedRegex("^(--?[A-Za-z-]+[=:])?[0-9][0-9._]*$")]
    private static partial Regex NumberAlone();

    private static string Allowed(Command command) =>
        $"allowed: {string.Join(", ", command.Subcommands.Where(c => !c.Hidden).Select(c => c.Name))}";
}
