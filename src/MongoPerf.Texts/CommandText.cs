namespace MongoPerf.Texts;

/// <summary>What people type again, as messages show it.</summary>
public static class CommandText
{
    /// <summary>Set by the script that starts the program from its sources: how it was called.</summary>
    private const string Variable = "MONGOPERF_PROGRAM";

    /// <summary>This program, as whoever called it can call it again.</summary>
    public static string Program { get; } =
        Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } named ? Quoted(named) : "mongoperf";

    /// <summary>A call that is stored, as whoever called this program can type it again.</summary>
    public static string Again(string call) =>
        call.StartsWith("mongoperf ", StringComparison.Ordinal) ? Program + call["mongoperf".Length..] : call;

    /// <summary>An argument as a shell takes it: in quotes where a character might mean something to it.</summary>
    public static string Quoted(string argument) =>
        argument.Length > 0 && argument.All(c => char.IsLetterOrDigit(c) || "/._-:=,+@%".Contains(c)) ? argument
            : $"'{argument.Replace("'", "'\\''")}'";

    /// <summary>A path, relative to the current folder if it lies in it.</summary>
    public static string OfPath(string path)
    {
        string relative = Path.GetRelativePath(Environment.CurrentDirectory, path);
        return relative.StartsWith("..", StringComparison.Ordinal) ? path : relative;
    }
}
