using System.Text.RegularExpressions;

namespace MongoPerf.Texts;

/// <summary>What people type again, as messages show it.</summary>
public static partial class CommandText
{
    /// <summary>Options that change what a call shows, not what it does.</summary>
    private static readonly string[] Shown = ["--quiet", "--no-tui", "--full", "--no-report"];

    /// <summary>Set by the script that starts the program from its sources: how it was called.</summary>
    private const string Variable = "MONGOPERF_PROGRAM";

    /// <summary>This program, as whoever called it can call it again.</summary>
    public static string Program { get; } =
        Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } named ? Quoted(named) : "mongoperf";

    /// <summary>A message with its calls, such as 'mongoperf list runs', as whoever called this program can type them.</summary>
    public static string Typed(string message) => Typed(message, Program);

    internal static string Typed(string message, string program) =>
        message.Replace("'mongoperf ", $"'{program} ", StringComparison.Ordinal);

    /// <summary>
    /// A call that is stored, as whoever called this program can type it again: with other values of some options, and without those that
    /// change only what it shows.
    /// </summary>
    /// <param name="call">As it is stored.</param>
    /// <param name="options">With their values, such as "--repeat 5"; a name alone, such as "--cache", leaves the option out.</param>
    public static string Again(string call, params string[] options)
    {
        string[] names = [.. options.Select(option => option.Split(' ')[0])];
        string[] words = [.. Arguments().Matches(call).Select(match => match.Value)];
        List<string> kept = [];
        for (int i = 0; i < words.Length; i++)
        {
            if (names.Contains(words[i]))
                i++;
            else if (!Shown.Contains(words[i]) && !names.Any(name => words[i].StartsWith(name + "=", StringComparison.Ordinal)))
                kept.Add(words[i]);
        }

        if (kept is ["mongoperf", ..])
            kept[0] = Program;
        return string.Join(' ', [.. kept, .. options.Where(option => option.Contains(' '))]);
    }

    /// <summary>An argument as a shell takes it: in quotes where a character might mean something to it.</summary>
    public static string Quoted(string argument) =>
        argument.Length > 0 && argument.All(c => char.IsLetterOrDigit(c) || "/._-:=,+@%".Contains(c)) ? argument
            : $"'{argument.Replace("'", "'\\''")}'";

    /// <summary>" --out /big", for a command about a run in this folder of runs; empty for null, the default one.</summary>
    public static string Out(string? runsFolder) => runsFolder is null ? "" : $" --out {Quoted(runsFolder)}";

    /// <summary>A path, relative to the current folder if it lies in it.</summary>
    public static string OfPath(string path)
    {
        string relative = Path.GetRelativePath(Environment.CurrentDirectory, path);
        return relative.StartsWith("..", StringComparison.Ordinal) ? path : relative;
    }

    /// <summary>Of a command as the program writes it: quoted ones stay whole.</summary>
    [GeneratedRegex(@"(?:'(?:[^']|'\\'')*'|\S)+")]
    private static partial Regex Arguments();
}
