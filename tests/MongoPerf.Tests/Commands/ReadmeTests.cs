using System.CommandLine;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

/// <summary>The README's table of commands and its exit codes are the program's.</summary>
public sealed partial class ReadmeTests
{
    private static readonly RootCommand Program = CommandTree.Build();

    private static string Text => File.ReadAllText(Path.Combine(RepositoryPaths.Root, "README.md"));

    /// <summary>Calls in the table's first column, such as "run q4 --threads 1"; scripts are none of the program's.</summary>
    private static string[] Calls =>
    [
        .. Rows().SelectMany(row => Quoted().Matches(row.Split(" | ")[0])).Select(match => match.Groups[1].Value)
            .Where(call => !call.StartsWith("--", StringComparison.Ordinal) && !call.StartsWith("scripts/", StringComparison.Ordinal)),
    ];

    [Fact]
    public void Every_command_is_in_the_table_and_nothing_else() =>
        Assert.Equal(Program.Subcommands.Where(c => !c.Hidden).Select(c => c.Name).Order(),
            Calls.Select(call => call.Split(' ')[0]).Distinct().Order());

    [Fact]
    public void Parts_of_commands_in_the_table_exist() => Assert.All(Calls, call => Assert.NotNull(Find(call)));

    [Fact]
    public void Options_in_the_table_are_those_of_a_command_of_their_row() => Assert.All(Rows(), row =>
    {
        Command[] commands = [.. Quoted().Matches(row).Select(match => Find(match.Groups[1].Value)).OfType<Command>()];
        Assert.All(Options().Matches(row).Select(match => match.Value),
            option => Assert.Contains(commands, command => command.Options.Any(o => o.Name == option)));
    });

    [Fact]
    public void Exit_codes_are_those_of_the_program() => Assert.Contains(
        $"\nExit codes: {string.Join(" · ", Enum.GetValues<ExitCode>().Select(code => $"{(int)code} {ExitCodes.Describe(code)}"))}.\n",
        Text, StringComparison.Ordinal);

    /// <summary>The command that a call names, with the part of it where it has parts; null when there is none.</summary>
    private static Command? Find(string call)
    {
        string[] words = call.Split(' ');
        Command? command = Program.Subcommands.FirstOrDefault(c => c.Name == words[0]);
        return command?.Subcommands.Count > 0 ? command.Subcommands.FirstOrDefault(c => words.Length > 1 && c.Name == words[1]) : command;
    }

    private static IEnumerable<string> Rows() => Text.Split("## Commands at a glance")[1]
        .Split("\n\n")[0].Split('\n').Where(line => line.StartsWith("| `", StringComparison.Ordinal));

    [GeneratedRegex("`([^`]+)`")]
    private static partial Regex Quoted();

    [GeneratedRegex("--[a-z][a-z-]*")]
    private static partial Regex Options();
}
