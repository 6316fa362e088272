using System.Text;
using MongoPerf.Learning.Sampling;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Texts that take the place of a deployment's own: of the same length and alphabet, always the same for the same place.</summary>
internal static class MadeUpText
{
    private const int Attempts = 200;

    /// <summary>So many different ones, in the order of texts.</summary>
    /// <param name="values">Those whose place they take.</param>
    /// <param name="path">Where they stand.</param>
    /// <returns>One for each value, in the values' order; null where there are not enough of the length.</returns>
    public static string[]? Instead(IReadOnlyList<BsonValue> values, string path)
    {
        var random = new RandomStream(Seed(path));
        var real = values.Select(value => value.ToString()).ToHashSet(StringComparer.Ordinal);
        var made = new HashSet<string>(StringComparer.Ordinal);
        var all = new List<string>();
        foreach (string text in values.Select(value => value.ToString()))
        {
            string? one = Make(Encoding.UTF8.GetByteCount(text), TextAlphabets.Of([text]), candidate =>
                candidate.Length == 0 ? made.Add(candidate) : !real.Contains(candidate) && made.Add(candidate), ref random);
            if (one is null)
                return null;
            all.Add(one);
        }

        return [.. all];
    }

    /// <summary>A beginning of texts that is not theirs.</summary>
    public static string Prefix(string real, string path)
    {
        var random = new RandomStream(Seed($"{path} prefix"));
        return Make(Encoding.UTF8.GetByteCount(real), TextAlphabet.Lower, text => text != real, ref random) ?? "";
    }

    private static string? Make(int length, TextAlphabet alphabet, Func<string, bool> take, ref RandomStream random)
    {
        string characters = TextAlphabets.CharactersOf(alphabet);
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            // A single digit may be all that there is; then any letter does.
            string from = attempt < Attempts / 2 ? characters : TextAlphabets.CharactersOf(TextAlphabet.Any);
            var text = new StringBuilder();
            for (int i = 0; i < length; i++)
                text.Append(from[random.Next(from.Length)]);
            if (take(text.ToString()))
                return text.ToString();
        }

        return null;
    }

    private static ulong Seed(string path)
    {
        ulong seed = 0;
        foreach (char c in path)
            seed = Mixing.Mix((seed * 31) + c);
        return seed;
    }
}
