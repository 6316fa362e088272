using System.CommandLine;
using System.CommandLine.Parsing;
using MongoPerf.Running.Configuration;
using MongoPerf.Texts.Input;

namespace MongoPerf.Options;

/// <summary>
/// Options whose values are counts, sizes, durations, lists or choices; a bad value names the option, what was found and what is allowed.
/// </summary>
internal static class OptionTypes
{
    public static Option<long?> Count(string name, string description, long least = 1, string? alias = null) =>
        Make<long?>(name, alias, description, "COUNT", text => Quantities.ParseCount(text, least));

    public static Option<long?> Size(string name, string description) =>
        Make<long?>(name, null, description, "SIZE", text => Quantities.ParseRoom(text));

    public static Option<double?> Duration(string name, string description, bool allowsZero = true) =>
        Make<double?>(name, null, description, "DURATION",
            text => allowsZero ? Quantities.ParseDuration(text) : Quantities.ParsePositiveDuration(text));

    public static Option<string?> Text(string name, string description, string valueName, string? alias = null) =>
        Make<string?>(name, alias, description, valueName, text => text);

    /// <summary>A connection string, or the name of a configured deployment: @NAME.</summary>
    public static Option<string?> Uri(string name, string description, string? alias = null) =>
        Make<string?>(name, alias, description, "URI|@NAME", Resolve);

    /// <summary>A connection string given here by mistake would become a folder with the password in its name.</summary>
    public static Option<string?> Folder(string name, string description) => Make<string?>(
        name, null, description, "DIR", text => text.Contains("://", StringComparison.Ordinal)
            ? throw new FormatException($"'{text}' is a connection string, not a folder (--uri names a deployment)")
            : text);

    /// <summary>Given on the command line, whatever its default.</summary>
    public static bool HasTyped(this ParseResult parsed, Option option) => parsed.GetResult(option) is { Implicit: false };

    /// <summary>
    /// A comma-separated list, each value parsed by <paramref name="parse"/>. <paramref name="ifBare"/> is what the
    /// option means without any.
    /// </summary>
    public static Option<IReadOnlyList<T>?> List<T>(
        string name, string description, string valueName, Func<string, T> parse, char separator = ',', string? alias = null,
        IReadOnlyList<T>? ifBare = null) =>
        Make<IReadOnlyList<T>?>(name, alias, description, valueName, text => Quantities.ParseList(text, parse, separator), ifBare);

    public static Option<string?> Choice(string name, string description, params string[] allowed) =>
        Make<string?>(name, null, description, string.Join('|', allowed), text => OneOf(text, allowed)).Suggesting(allowed);

    /// <summary>The same with words that completion offers for its value; others may be allowed beside them.</summary>
    public static Option<T> Suggesting<T>(this Option<T> option, params string[] words)
    {
        option.CompletionSources.Add(words);
        return option;
    }

    public static Option<T?> Make<T>(string name, string? alias, string description, string valueName, Func<string, T> parse,
        T? ifBare = default) => new(name, alias is null ? [] : [alias])
        {
            Description = description,
            HelpName = valueName,
            AllowMultipleArgumentsPerToken = false,
            CustomParser = result => result.Tokens.Count == 0 ? ifBare : Parse(name, result, parse),
        };

    public static string OneOf(string text, IReadOnlyList<string> allowed) => OneOf(text, new AllowedNames(allowed));

    public static string OneOf(string text, AllowedNames allowed) => allowed.Contain(text) ? text
        : throw new FormatException($"'{text}' is not valid; allowed: {allowed}" + (allowed.Hint(text) is { } hint ? $" ({hint})" : ""));

    private static string Resolve(string uri)
    {
        try
        {
            return Settings.Current.Resolve(uri);
        }
        catch (UserException e)
        {
            throw new FormatException(e.Hint is { } hint ? $"{e.Message} ({hint})" : e.Message);
        }
    }

    private static T? Parse<T>(string name, ArgumentResult result, Func<string, T> parse)
    {
        try
        {
            return parse(result.Tokens[^1].Value);
        }
        catch (FormatException e)
        {
            result.AddError($"{name}: {e.Message}");
            return default;
        }
    }
}
