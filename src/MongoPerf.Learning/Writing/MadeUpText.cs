using System.Text;
using MongoPerf.Learning.Sampling;
using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Texts that take the place of a deployment's own: of the same length and alphabet, always the same for the same field.</summary>
internal static class MadeUpText
{
    private const int Attempts = 200;

    /// <summary>
    /// As many different texts as there are values, none of which is one of theirs but the empty one. The first letters of those of one
    /// alphabet ascend as far as it has different ones; where no such text is left, one of any characters takes its place.
    /// </summary>
    /// <param name="values">Texts, in ascending order.</param>
    /// <param name="path">The field that they are of; the same path always gives the same texts.</param>
    /// <returns>
    /// One for each value, in the values' order, and as long in UTF-8; null where there are not enough of that length.
    /// </returns>
    public static string[]? Instead(IReadOnlyList<BsonValue> values, string path)
    {
        var random = new RandomStream(Seed(path));
        var real = values.Select(value => value.ToString()).ToHashSet(StringComparer.Ordinal);
        var made = new HashSet<string>(StringComparer.Ordinal);
        var all = new List<string>();
        TextAlphabet ofAll = TextAlphabets.Of(values.Select(value => value.ToString()));
        (string Text, TextAlphabet Alphabet)[] texts = [.. values.Select(value => value.ToString())
            .Select(text => (text, ofAll == TextAlphabet.Any ? TextAlphabets.Of([text]) : ofAll))];
        foreach ((int i, (string text, TextAlphabet alphabet)) in texts.Index())
        {
            // Their first letters, as far as these go.
            (int place, int places) = (texts.Take(i).Count(one => one.Alphabet == alphabet), texts.Count(one => one.Alphabet == alphabet));
            string? one = Make(Encoding.UTF8.GetByteCount(text), alphabet, (double)place / places, candidate =>
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
        return Make(Encoding.UTF8.GetByteCount(real), TextAlphabet.Lower, null, text => text != real, ref random) ?? "";
    }

    /// <param name="length">In characters.</param>
    /// <param name="alphabet">Of what it is made.</param>
    /// <param name="first">Where in the alphabet its first letter stands, from 0 to below 1; null for anywhere.</param>
    /// <param name="take">Whether it will do.</param>
    /// <param name="random">Draws the letters.</param>
    private static string? Make(
        int length, TextAlphabet alphabet, double? first, Func<string, bool> take, ref RandomStream random)
    {
        string characters = string.Concat(TextAlphabets.CharactersOf(alphabet).Order());
        for (int attempt = 0; attempt < Attempts; attempt++)
        {
            // A single digit may be all that there is; then any letter does.
            string from = attempt < Attempts / 2 ? characters : TextAlphabets.CharactersOf(TextAlphabet.Any);
            var text = new StringBuilder();
            for (int i = 0; i < length; i++)
                text.Append(from[i == 0 && first is { } at && attempt < Attempts / 2 ? (int)(at * from.Length) : random.Next(from.Length)]);
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
