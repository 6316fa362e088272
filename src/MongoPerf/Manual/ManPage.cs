using System.CommandLine;
using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Running.Configuration;
using MongoPerf.Running.Sessions;
using MongoPerf.Texts.Input;

namespace MongoPerf.Manual;

/// <summary>
/// A page of the manual in man(7)'s macros, made from the command tree. Commands below a command are sections of its page.
/// </summary>
/// <param name="FileName">The name of the file, such as mongoperf-run.1.</param>
/// <param name="Text">The source that man formats.</param>
internal sealed partial record ManPage(string FileName, string Text)
{
    private const string Program = "mongoperf";

    /// <summary>The program's own page, then one for each command.</summary>
    public static IReadOnlyList<ManPage> AllOf(RootCommand root)
    {
        Command[] commands = Below(root);
        return [ProgramPage(root, commands), .. commands.Select(command => PageOf(command, root))];
    }

    private static ManPage ProgramPage(RootCommand root, Command[] commands)
    {
        StringBuilder page = Start(Program, Sentence(root.Description!));
        Section(page, "SYNOPSIS").Append($".B {Program}\n.I command\n.RI [ options ]\n.br\n.B {Program} help\n.I command\n");
        Section(page, "COMMANDS");
        foreach (Command command in commands)
            page.Append($".TP\n.BR {Literal($"{Program}-{command.Name}")} (1)\n{Flowing(command.Description)}\n");
        AddOptions(page, root.Options);
        Section(page, "EXIT STATUS");
        foreach (ExitCode code in Enum.GetValues<ExitCode>())
            page.Append($".TP\n.B {(int)code}\n{Flowing(Words.Of(ExitCodes.Describe(code)))}\n");
        string examples = string.Join('\n', CommandTree.Examples.Split('\n').Select(Literal));
        Section(page, "EXAMPLES").Append($".nf\n{examples}\n.fi\n");
        Section(page, "ENVIRONMENT");
        foreach (EnvironmentVariable one in EnvironmentVariable.All)
            page.Append($".TP\n.B {Literal(one.Name)}\n{Flowing(one.Description)}\n");
        Section(page, "FILES");
        page.Append(".TP\n.I ~/.config/mongoperf/config.yaml\nWhat is typed each time otherwise; mongoperf config shows what counts.\n");
        page.Append(".TP\n.I mongoperf.yaml\nThe same for a project: in the current folder, or above.\n");
        return new ManPage($"{Program}.1", page.ToString());
    }

    private static ManPage PageOf(Command command, RootCommand root)
    {
        string name = $"{Program}-{command.Name}";
        StringBuilder page = Start(name, command.Description!);
        Command[] below = Below(command);
        Section(page, "SYNOPSIS");
        foreach ((Command one, int index) in (below.Length > 0 ? below : [command]).Select((one, index) => (one, index)))
            page.Append(index == 0 ? "" : ".br\n").Append(Synopsis(one, below.Length > 0 ? $"{command.Name} {one.Name}" : command.Name));
        if (below.Length == 0)
            AddParts(page, command);
        foreach (Command one in below)
        {
            Section(page, Literal($"{Program} {command.Name} {one.Name}")).Append(Flowing(one.Description)).Append('\n');
            AddParts(page, one);
        }

        AddOptions(page, root.Options.Where(option => option.Recursive), "OPTIONS OF ALL COMMANDS");
        Section(page, "SEE ALSO").Append($".BR {Program} (1)\n");
        return new ManPage($"{name}.1", page.ToString());
    }

    private static Command[] Below(Command command) => [.. command.Subcommands.Where(one => !one.Hidden)];

    private static StringBuilder Start(string name, string description) => new StringBuilder()
        .Append($".TH {Literal(name.ToUpperInvariant())} 1 \"\" \"MongoPerf {Literal(ThisBuild.Number)}\" \"MongoPerf\"\n")
        // No word is broken, and lines end where they may: options must stay whole.
        .Append(".nh\n.ad l\n.SH NAME\n").Append($"{Literal(name)} \\- {Flowing(description)}\n");

    private static StringBuilder Section(StringBuilder page, string title) => page.Append($".SH \"{title}\"\n");

    private static string Synopsis(Command command, string path)
    {
        var synopsis = new StringBuilder($".B {Literal($"{Program} {path}")}\n");
        foreach (Argument argument in command.Arguments)
        {
            string repeated = argument.Arity.MaximumNumberOfValues > 1 ? "..." : "";
            synopsis.Append(argument.Arity.MinimumNumberOfValues == 0
                ? $".RI [ {Literal(argument.Name)} ]{repeated}\n" : $".I {Literal(argument.Name)}{repeated}\n");
        }

        return synopsis.Append(command.Options.Any(option => !option.Hidden) ? ".RI [ options ]\n" : "").ToString();
    }

    private static void AddParts(StringBuilder page, Command command)
    {
        if (command.Arguments.Count > 0)
        {
            page.Append(".SS ARGUMENTS\n");
            foreach (Argument argument in command.Arguments)
                page.Append($".TP\n.I {Literal(argument.Name)}\n{Flowing(argument.Description)}\n");
        }

        AddOptions(page, command.Options);
    }

    private static void AddOptions(StringBuilder page, IEnumerable<Option> options, string title = "OPTIONS")
    {
        Option[] shown = [.. options.Where(option => !option.Hidden)];
        if (shown.Length == 0)
            return;
        page.Append($".SS \"{title}\"\n");
        foreach (Option option in shown)
        {
            IEnumerable<string> names = option.Aliases.Where(alias => alias.StartsWith('-') && alias != "-?").Append(option.Name);
            string value = option.HelpName is { } placeholder && option.Arity.MaximumNumberOfValues > 0
                ? $" \\fI{Literal(placeholder)}\\fR" : "";
            string shownNames = string.Join(", ", names.Select(name => $"\\fB{Literal(name)}\\fR"));
            page.Append($".TP\n{shownNames}{value}\n{Flowing(option.Description)}\n");
        }
    }

    /// <summary>The first line.</summary>
    private static string Sentence(string description) => description.Split('\n')[0];

    /// <summary>A text whose lines man fills.</summary>
    private static string Flowing(string? text) => Escaped(text ?? "").Replace('\n', ' ');

    /// <summary>What is typed as it stands: a hyphen must not become a dash.</summary>
    private static string Literal(string text) => Escaped(text).Replace("-", "\\-", StringComparison.Ordinal);

    /// <summary>A backslash, and a dot or an apostrophe that begins a line, would be commands; quotes end a macro's argument.</summary>
    private static string Escaped(string text) => LineStart().Replace(
        text.Replace("\\", "\\e", StringComparison.Ordinal).Replace("\"", "\\(dq", StringComparison.Ordinal), "\\&$0");

    [GeneratedRegex(@"^[.']", RegexOptions.Multiline)]
    private static partial Regex LineStart();
}
