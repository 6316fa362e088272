using System.CommandLine;
using System.CommandLine.Completions;
using System.Text.RegularExpressions;

namespace MongoPerf.Completion;

/// <summary>What a shell lists by itself in place of a value.</summary>
internal enum ValueKind
{
    /// <summary>Nothing: only the words that are known beforehand.</summary>
    Words,
    Files,
    Folders,

    /// <summary>Ids of the runs in the runs folder.</summary>
    Runs,

    /// <summary>Scenarios under the current folder, and files.</summary>
    Scenarios,

    /// <summary>Files of plots.</summary>
    Plots,

    /// <summary>Names of deployments in the configuration.</summary>
    Deployments,
}

/// <summary>The value of an option or an argument.</summary>
/// <param name="Kind">What may stand there besides the words.</param>
/// <param name="Words">Known beforehand.</param>
/// <param name="IsList">Several may be typed, with commas between them.</param>
internal sealed record CompletedValue(ValueKind Kind, IReadOnlyList<string> Words, bool IsList)
{
    private static readonly (string Placeholder, ValueKind Kind)[] Kinds =
    [
        ("RUN", ValueKind.Runs), ("@NAME", ValueKind.Deployments), ("SCENARIO", ValueKind.Scenarios), ("PLOT", ValueKind.Plots),
        ("DIR", ValueKind.Folders), ("FILE", ValueKind.Files), ("PATH", ValueKind.Files), ("ARCHIVE", ValueKind.Files),
    ];

    /// <param name="placeholder">The placeholder as help shows it; FILE, DIR, RUN and the like say what stands there.</param>
    /// <param name="items">Known beforehand.</param>
    public static CompletedValue Of(string placeholder, IEnumerable<CompletionItem> items)
    {
        string[] names = placeholder.Split('|', '[');
        ValueKind kind = Kinds.FirstOrDefault(one => names.Contains(one.Placeholder)).Kind;
        return new CompletedValue(
            kind, [.. items.Select(item => item.InsertText ?? item.Label).Distinct()],
            kind == ValueKind.Runs || placeholder.Contains("[,", StringComparison.Ordinal));
    }
}

/// <summary>A command that can be typed, or an option's names, with what it does in a few words.</summary>
internal sealed record CompletedWord(string Name, string Description);

/// <param name="Names">The long one first.</param>
/// <param name="Description">What it does, in a few words.</param>
/// <param name="Value">Null for a flag.</param>
internal sealed record CompletedOption(IReadOnlyList<string> Names, string Description, CompletedValue? Value);

/// <summary>What can follow a command.</summary>
/// <param name="Path">The command with those above it, such as "list runs"; empty for the program itself.</param>
/// <param name="Commands">The commands below it.</param>
/// <param name="Options">The options of this command, those of all commands included.</param>
/// <param name="Arguments">The arguments in their order.</param>
/// <param name="RepeatsArgument">The last argument may be given several times.</param>
internal sealed partial record CompletedCommand(
    string Path, IReadOnlyList<CompletedWord> Commands, IReadOnlyList<CompletedOption> Options, IReadOnlyList<CompletedValue> Arguments,
    bool RepeatsArgument)
{
    /// <summary>The program and all of its commands, each before those below it.</summary>
    public static IReadOnlyList<CompletedCommand> AllOf(RootCommand root) => [.. Below(root, "", [])];

    private static IEnumerable<CompletedCommand> Below(Command command, string path, IReadOnlyList<Option> inherited)
    {
        Option[] options = [.. command.Options.Where(option => !option.Hidden), .. inherited];
        Command[] below = [.. command.Subcommands.Where(one => !one.Hidden)];
        IEnumerable<CompletedWord> help = options.FirstOrDefault(option => option.Name == "--help") is { } asked && path.Length == 0
            ? [new CompletedWord("help", Shorten(asked.Description))]
            : [];
        yield return new CompletedCommand(
            path,
            [.. below.Select(one => new CompletedWord(one.Name, Shorten(one.Description))), .. help],
            [.. options.Select(Describe)],
            [.. command.Arguments.Where(one => !one.Hidden).Select(one => CompletedValue.Of(
                one.HelpName ?? one.Name, one.GetCompletions(CompletionContext.Empty)))],
            command.Arguments is [.., { Arity.MaximumNumberOfValues: > 1 }]);
        IReadOnlyList<Option> handedOn = [.. options.Where(option => option.Recursive)];
        foreach (CompletedCommand one in below.SelectMany(one => Below(one, $"{path} {one.Name}".TrimStart(), handedOn)))
            yield return one;
    }

    private static CompletedOption Describe(Option option) => new(
        [option.Name, .. option.Aliases.Where(alias => ShortName().IsMatch(alias))],
        Shorten(option.Description),
        option.ValueType == typeof(bool) || option.Arity.MaximumNumberOfValues == 0
            ? null
            : CompletedValue.Of(option.HelpName ?? "", option.GetCompletions(CompletionContext.Empty)));

    /// <summary>The first clause of a description: a list of candidates has a line for each.</summary>
    private static string Shorten(string? description) => FirstClause().Match(description ?? "").Value;

    [GeneratedRegex(@"^.*?(?=; |: |, or |\. |\.?$| \(| \[|；|：|。|（)", RegexOptions.Multiline)]
    private static partial Regex FirstClause();

    [GeneratedRegex("^-[a-z]$")]
    private static partial Regex ShortName();
}
