using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>
/// The words of texts that have a text index, so many that a search for one of them finds as many documents as searches did.
/// </summary>
internal sealed class SearchedWords
{
    /// <summary>A word that no text has.</summary>
    public const string None = "{^pattern: \"0zz[0-9]{9}\"}";

    private const int MostWords = 1000;
    private const int MostCharacters = 60_000;
    private const string Letters = "bcdfghjklmnpqrstvwxz";

    private static readonly char[] Between =
        [.. Enumerable.Range(0, 128).Select(code => (char)code).Where(c => !char.IsAsciiLetterOrDigit(c) && c != '\'')];

    private readonly HashSet<string> _paths;
    private readonly string _word;
    private readonly int _length;

    private SearchedWords(HashSet<string> paths, string word, int length) => (_paths, _word, _length) = (paths, word, length);

    /// <summary>One of them.</summary>
    public string One => $"{{^pattern: \"{_word}\"}}";

    /// <param name="sample">The collection.</param>
    /// <param name="root">Its documents.</param>
    /// <param name="operations">What is done with it.</param>
    /// <returns>Null where it has no text index on fields by name, or no texts there.</returns>
    public static SearchedWords? Of(CollectionSample sample, FieldStatistics root, IEnumerable<LearnedOperation> operations)
    {
        HashSet<string> paths = [.. sample.Indexes.SelectMany(index => index.FindDocument("weights") ?? BsonDocument.Empty)
            .Select(weight => weight.Key).Where(path => root.Find(path) is { } field && TextsOf(field) is not null)];
        ValueStatistics[] texts = [.. paths.Select(path => TextsOf(root.Find(path)!)!)];
        string[] all = [.. texts.SelectMany(one => one.Values).SelectMany(one => WordsOf(one.Key.ToString()))];
        if (all.Length == 0)
            return null;
        double documents = Math.Max(sample.Count, sample.Documents.Count);
        // Of the words of one document.
        double words = texts.Sum(one => one.Values.Sum(text => (double)text.Value * WordsOf(text.Key.ToString()).Length))
            / Math.Max(1, sample.Documents.Count);
        double different = all.Distinct(StringComparer.Ordinal).Count();
        // Where each search ends at its limit, how many there are tells nothing.
        if (operations.Where(one => one.Filter?.Fields.Any(field => field.Key == "$text") is true && one.Replies is { AreEnough: true })
            .MaxBy(one => one.Count) is { Replies: { } replies } search
            && replies.Documents / Math.Max(0.001, 1 - replies.Nothing) is > 0 and var found && found < 0.9 * (search.Limit ?? documents))
            different = words / -Math.Log(1 - Math.Min(found / documents, 0.999));
        return new SearchedWords(paths, WordOf(Math.Max(1, different), (int)Math.Round(all.Average(word => word.Length))),
            (int)Math.Clamp(Math.Round(all.Average(word => word.Length)), 2, 30));
    }

    /// <summary>Texts of such words, as many as there were; null for other fields.</summary>
    /// <param name="path">The field.</param>
    /// <param name="values">Its texts.</param>
    public string? TextOf(string path, ValueStatistics values)
    {
        if (!_paths.Contains(path))
            return null;
        int[] counts = [.. values.Values.Select(one => WordsOf(one.Key.ToString()).Length)];
        int most = Math.Min(MostWords, MostCharacters / (_length + 1));
        (int least, int greatest) = (Math.Clamp(counts.Min() - 1, 0, most), Math.Clamp(counts.Max() - 1, 0, most));
        return $"{{^pattern: \"{_word}( {_word}){{{least},{greatest}}}\"}}";
    }

    private static ValueStatistics? TextsOf(FieldStatistics field) =>
        (field.Values.Count == 0 ? field.Elements ?? field : field).Values.GetValueOrDefault(BsonType.String);

    private static string[] WordsOf(string text) => text.Split(Between, StringSplitOptions.RemoveEmptyEntries);

    /// <summary>A pattern of so many words: one of some letters, digits, and letters that are always the same up to the length.</summary>
    private static string WordOf(double words, int length)
    {
        int digits = 0;
        while (words / Math.Pow(10, digits) > Letters.Length)
            digits++;
        int letters = Math.Clamp((int)Math.Round(words / Math.Pow(10, digits)), 1, Letters.Length);
        string rest = new('x', Math.Max(1, Math.Min(length, 30) - 1 - digits));
        return $"[{Letters[..letters]}]{(digits > 0 ? $"[0-9]{{{digits}}}" : "")}{rest}";
    }
}
