using System.CommandLine;
using System.Text.RegularExpressions;
using MongoPerf.Running.Configuration;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary><c>--lang</c> of every command, and help in that language.</summary>
internal static partial class LanguageOption
{
    public const string Name = "--lang";

    public static Option<string?> Create()
    {
        Option<string?> option = OptionTypes.Choice(
            Name,
            $"Language of reports, charts and help; zh is simplified Chinese (environment: {Language.Variable}) [default: en]",
            [.. Language.Names]);
        option.Recursive = true;
        return option;
    }

    /// <summary>The option, else what variable and configuration say, else English.</summary>
    /// <exception cref="UserException">They name no language.</exception>
    public static Language Of(ParseResult parsed)
    {
        if (parsed.GetResult(Name) is { Tokens: [.., { Value: var typed }] } && Language.Names.Contains(typed))
            return Language.Named(typed);
        return Language.Named(Settings.Current.ValueOf(SettingRule.Language));
    }

    /// <summary>Chooses the language for this process and those that it starts.</summary>
    public static void Choose(Language language)
    {
        Words.Choose(language);
        if (!language.IsEnglish)
            Environment.SetEnvironmentVariable(Language.Variable, language.Tag);
    }

    /// <summary>The same command, with all descriptions in the language of now.</summary>
    public static RootCommand Translated(RootCommand root)
    {
        if (!Words.Language.IsEnglish)
            Translate(root);
        return root;
    }

    private static void Translate(Command command)
    {
        foreach (Symbol symbol in command.Options.Concat<Symbol>(command.Arguments).Append(command))
            symbol.Description = symbol.Description is { } text ? Translate(text) : null;
        foreach (Command below in command.Subcommands)
            Translate(below);
    }

    /// <summary>Line by line; of a line in columns, such as an exit code or an example, the last.</summary>
    public static string Translate(string text) =>
        string.Join('\n', text.Split('\n').Select(line => LastColumn().Replace(line, column => Words.Of(column.Value), 1)));

    [GeneratedRegex(@"(?<=^|\s{2})\S+(\s\S+)*$")]
    private static partial Regex LastColumn();
}
