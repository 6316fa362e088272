using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using MongoPerf.Server.Operations;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>Matches regular expressions of clients in bounded memory, and so that time limits and killOp reach into them.</summary>
/// <remarks>
/// The usual engine is fast and can take exponential time, and memory in proportion to the text. Where it is not done soon, or
/// the text is long, one that never goes back takes its place: its time grows with the length of the text only. It is run for
/// longer and longer and asked for in between, so that an interruption comes through after as long again at the most.
/// </remarks>
internal static class BoundedRegex
{
    /// <summary>How long the usual engine may take.</summary>
    public static readonly TimeSpan FirstTry = TimeSpan.FromMilliseconds(50);

    private const int LongText = 16 << 10;

    // About what PCRE compiles to its limit of 64 KB, and its limit of groups inside each other.
    private const int MaximumPattern = 32_750;
    private const int MaximumGroups = 249;

    // States of an automaton; a count of a count of a count would make any number of them.
    private const int MaximumStates = 20_000;

    private static readonly ConditionalWeakTable<Regex, StrongBox<Regex?>> Linear = [];

    static BoundedRegex() => AppContext.SetData("REGEX_NONBACKTRACKING_MAX_AUTOMATA_SIZE", MaximumStates);

    /// <exception cref="CommandException">51091, as PCRE: the pattern is too long or nested too deeply.</exception>
    public static void RequireSize(string pattern)
    {
        if (pattern.Length > MaximumPattern)
            throw CommandException.Location(51091, "Regular expression is invalid: regular expression is too large");
        int depth = 0;
        for (int i = 0; i < pattern.Length; i++)
        {
            if (pattern[i] == '\\')
                i++;
            else if (pattern[i] == '(' && ++depth > MaximumGroups)
                throw CommandException.Location(51091, "Regular expression is invalid: parentheses are too deeply nested");
            else if (pattern[i] == ')')
                depth--;
        }
    }

    /// <param name="pattern">Made with <see cref="FirstTry"/> as its time limit.</param>
    /// <param name="text">Any length.</param>
    /// <exception cref="InterruptedException">The operation has to end.</exception>
    /// <exception cref="CommandException">51156: it cannot be matched in bounded time.</exception>
    public static bool IsMatch(Regex pattern, string text)
    {
        if (text.Length < LongText)
        {
            try
            {
                return pattern.IsMatch(text);
            }
            catch (RegexMatchTimeoutException)
            {
                ActiveOperation.Check();
            }
        }

        return IsMatchLinear(pattern, text);
    }

    private static bool IsMatchLinear(Regex pattern, string text)
    {
        // Without an automaton (it would be too large) the usual engine has to do, for a while.
        const int LongestAlone = 1000;
        Regex? linear = Linear.GetValue(pattern, static regex => new StrongBox<Regex?>(MakeLinear(regex, FirstTry))).Value;
        for (int milliseconds = (int)FirstTry.TotalMilliseconds; linear != null || milliseconds <= LongestAlone; milliseconds *= 2)
        {
            try
            {
                // The one that was made beforehand is enough for nearly every text.
                bool isFirst = milliseconds == (int)FirstTry.TotalMilliseconds;
                return (isFirst && linear != null ? linear : WithLimit(linear ?? pattern, Limited(milliseconds))).IsMatch(text);
            }
            catch (RegexMatchTimeoutException)
            {
                ActiveOperation.Check();
            }
        }

        throw CommandException.Location(51156, "Error occurred while executing the regular expression: match limit exceeded");
    }

    private static int Limited(int milliseconds) =>
        (int)Math.Clamp(ActiveOperation.Current?.RemainingMilliseconds ?? milliseconds, 1, milliseconds);

    private static Regex WithLimit(Regex pattern, int milliseconds) =>
        new(pattern.ToString(), pattern.Options, TimeSpan.FromMilliseconds(milliseconds));

    private static Regex? MakeLinear(Regex pattern, TimeSpan limit)
    {
        try
        {
            return new Regex(pattern.ToString(), pattern.Options | RegexOptions.NonBacktracking, limit);
        }
        catch (Exception error) when (error is NotSupportedException or InsufficientExecutionStackException)
        {
            return null;
        }
    }
}
