using System.Buffers;
using System.Text;
using System.Text.RegularExpressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Regular expressions of filters. MongoDB's are PCRE's; the part taken here means the same in .NET, and the rest is refused.</summary>
/// <remarks>Taken: literals, classes, groups, alternatives, greedy and lazy quantifiers, ^ $ . and \d \w \s, which are ASCII as in PCRE; options i, m and s.</remarks>
internal static class RegexOperand
{
    private const string Digits = "0-9";
    private const string WordCharacters = "A-Za-z0-9_";
    private const string Spaces = @" \t\n\r\f\v";

    /// <summary>After a backslash, what stands for itself or for the same control character.</summary>
    private static readonly SearchValues<char> PlainEscapes = SearchValues.Create(@"\.^$|()[]{}*+?-/""'#@!%&=:;,<>~` tnrf");

    /// <summary>From a BSON regular expression: pattern and options, each ending with a zero byte.</summary>
    public static Regex Parse(ReadOnlySpan<byte> value)
    {
        (string pattern, string options) = Parts(value);
        return Make(pattern, options);
    }

    public static (string Pattern, string Options) Parts(ReadOnlySpan<byte> value)
    {
        int end = value.IndexOf((byte)0);
        return (Encoding.UTF8.GetString(value[..end]), Encoding.UTF8.GetString(value[(end + 1)..^1]));
    }

    /// <exception cref="CommandException">238 for what might mean something else here; 51091 for a pattern that is none; 51108 for an unknown option.</exception>
    public static Regex Make(string pattern, string options)
    {
        var flags = RegexOptions.CultureInvariant;
        foreach (char option in options)
        {
            flags |= option switch
            {
                'i' => RegexOptions.IgnoreCase,
                'm' => RegexOptions.Multiline,
                's' => RegexOptions.Singleline,
                'u' => RegexOptions.None,
                'x' => throw CommandException.NotSupported("the option x of regular expressions"),
                _ => throw CommandException.Location(51108, $"invalid flag in regex options: {option}"),
            };
        }

        BoundedRegex.RequireSize(pattern);
        try
        {
            return new Regex(Translate(pattern), flags, BoundedRegex.FirstTry);
        }
        catch (RegexParseException error)
        {
            throw CommandException.Location(51091, $"Regular expression is invalid: {error.Error}");
        }
    }

    private static string Translate(string pattern)
    {
        var text = new StringBuilder(pattern.Length);
        bool isInClass = false;
        for (int i = 0; i < pattern.Length; i++)
        {
            char c = pattern[i];
            if (c == '\\')
            {
                if (++i == pattern.Length)
                    throw CommandException.Location(51091, "Regular expression is invalid: \\ at end of pattern");
                text.Append(Escape(pattern[i], isInClass, pattern));
                continue;
            }

            bool opensClass = c == '[' && !isInClass;
            if (isInClass ? c == '[' : (c == '(' && Next(pattern, i) == '?' && !pattern.AsSpan(i).StartsWith("(?:")))
                throw Refused(pattern);
            // Possessive quantifiers, which .NET has none of.
            if (!isInClass && c == '+' && i > 0 && pattern[i - 1] is '*' or '+' or '?' or '}' && !IsEscaped(pattern, i - 1))
                throw Refused(pattern);
            isInClass = opensClass || (isInClass && c != ']');
            text.Append(c);
            if (opensClass && Next(pattern, i) is ']' or '^' && IsClosedAtOnce(pattern, i))
                throw Refused(pattern);
        }

        return text.ToString();
    }

    private static string Escape(char c, bool isInClass, string pattern) => c switch
    {
        'd' => isInClass ? Digits : $"[{Digits}]",
        'w' => isInClass ? WordCharacters : $"[{WordCharacters}]",
        's' => isInClass ? Spaces : $"[{Spaces}]",
        'D' when !isInClass => $"[^{Digits}]",
        'W' when !isInClass => $"[^{WordCharacters}]",
        'S' when !isInClass => $"[^{Spaces}]",
        _ when PlainEscapes.Contains(c) => $@"\{c}",
        _ => throw Refused(pattern),
    };

    /// <summary>[] and [^]: the bracket is a member there, which the two dialects read differently.</summary>
    private static bool IsClosedAtOnce(string pattern, int open) => Next(pattern, open) == ']' || Next(pattern, open + 1) == ']';

    private static bool IsEscaped(string pattern, int at) => at > 0 && pattern[at - 1] == '\\' && !IsEscaped(pattern, at - 1);

    private static char Next(string pattern, int at) => at + 1 < pattern.Length ? pattern[at + 1] : '\0';

    private static CommandException Refused(string pattern) => CommandException.NotSupported($"a part of the regular expression '{pattern}'");
}
