using System.Text.RegularExpressions;

namespace MongoPerf.Reports;

/// <summary>Sentences that a run stores in English, in the reader's language as far as their form is known.</summary>
internal static partial class StoredText
{
    /// <param name="stored">What the command line changed, such as "count of 'x': 20,000 (--records, the file says 1000)".</param>
    public static string OfChange(string stored) =>
        Scale().Match(stored) is { Success: true } scaled
            ? Words.Of($"{(scaled.Groups[1].Length > 0 ? Words.Of("counts, memory and caches") : Words.Of("counts"))}: times "
                + $"{scaled.Groups[2].Value} (--scale){(scaled.Groups[3].Length > 0 ? Words.Of($", so {scaled.Groups[3].Value}") : "")}")
        : Change().Match(stored) is { Success: true } parts
            ? Words.Of($"{parts.Groups[1].Value} ({parts.Groups[2].Value}, the file says {parts.Groups[3].Value})")
            : stored;

    /// <param name="stored">Why replies could not be verified.</param>
    public static string OfNotVerified(string stored)
    {
        if (NotVerified().Match(stored) is not { Success: true } parts)
            return stored;
        string collection = parts.Groups[3].Value;
        return Words.Of($"operation '{parts.Groups[1].Value}' of phase '{parts.Groups[2].Value}' changes documents of "
            + $"{(collection == "any collection" ? Words.Of("any collection") : collection)}");
    }

    [GeneratedRegex(@"^counts(, memory and caches)?: times (\S+) \(--scale\)(?:, so (.*))?$", RegexOptions.Singleline)]
    private static partial Regex Scale();

    [GeneratedRegex(@"^(.*) \((--\S+), the file says (.*)\)$", RegexOptions.Singleline)]
    private static partial Regex Change();

    [GeneratedRegex("^operation '(.*)' of phase '(.*)' changes documents of ('.*'|any collection)$", RegexOptions.Singleline)]
    private static partial Regex NotVerified();
}
