namespace MongoPerf.Reporting.Findings;

/// <summary>Words that findings share.</summary>
internal static class Words
{
    /// <summary>"q4", "q4 and q5", "q4, q5 and q6".</summary>
    public static string And(IReadOnlyList<string> words) => words.Count < 2 ? string.Concat(words) : $"{string.Join(", ", words.Take(words.Count - 1))} and {words[^1]}";
}
