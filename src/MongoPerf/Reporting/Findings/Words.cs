namespace MongoPerf.Reporting.Findings;

/// <summary>Words that findings share.</summary>
internal static class Words
{
    /// <summary>"q4", "q4 and q5", "q4, q5 and q6".</summary>
    public static string And(IReadOnlyList<string> words) => words.Count < 2 ? string.Concat(words) : $"{string.Join(", ", words.Take(words.Count - 1))} and {words[^1]}";

    /// <summary>"23 % lower", "2.1 times as high".</summary>
    public static string Change(double ratio) => ratio < 1 ? $"{Units.Percent(1 - ratio)} lower" : ratio < 2 ? $"{Units.Percent(ratio - 1)} higher" : $"{Units.Significant(ratio)} times as high";
}
