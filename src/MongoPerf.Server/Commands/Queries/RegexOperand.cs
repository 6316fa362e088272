using System.Text;
using System.Text.RegularExpressions;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Regular expressions of filters. MongoDB's are PCRE's; a part of them is translated for .NET, and the rest is refused.</summary>
/// <remarks>
/// Taken: literals, classes, groups, alternatives, greedy and lazy quantifiers, ^ $ . and \d \w \s, which are ASCII as in PCRE;
/// options i, m and s.
/// </remarks>
internal static class RegexOperand
{
    /// <summary>Parses a BSON regular expression: pattern and options, each ending with a zero byte.</summary>
    public static TextPattern Parse(ReadOnlySpan<byte> value)
    {
        (string pattern, string options) = Parts(value);
        return Make(pattern, options);
    }

    public static (string Pattern, string Options) Parts(ReadOnlySpan<byte> value)
    {
        int end = value.IndexOf((byte)0);
        return (Encoding.UTF8.GetString(value[..end]), Encoding.UTF8.GetString(value[(end + 1)..^1]));
    }

    /// <exception cref="CommandException">
    /// 238 for what might mean something else here; 51091 for a pattern that is none; 51108 for an unknown option.
    /// </exception>
    public static TextPattern Make(string pattern, string options)
    {
        foreach (char option in options)
        {
            if (option == 'x')
                throw CommandException.NotSupported("the option x of regular expressions");
            if (!"imsu".Contains(option))
                throw CommandException.Location(51108, $"invalid flag in regex options: {option}");
        }

        BoundedRegex.RequireSize(pattern);
        var translator = new PatternTranslator(pattern, options.Contains('i'), options.Contains('m'));
        RegexOptions flags = RegexOptions.CultureInvariant
            | (options.Contains('m') ? RegexOptions.Multiline : RegexOptions.None)
            | (options.Contains('s') ? RegexOptions.Singleline : RegexOptions.None);
        try
        {
            return new TextPattern(new Regex(translator.Translate(), flags, BoundedRegex.FirstTry), translator.Bounds);
        }
        catch (RegexParseException error)
        {
            throw CommandException.Location(51091, $"Regular expression is invalid: {error.Error}");
        }
    }
}
