using System.Text;

namespace MongoPerf.Server.Commands.Queries;

/// <summary>
/// Code points that are the same letter in another case, as PCRE sees them: k, K and the Kelvin sign. Source: Unicode, simple case folding.
/// </summary>
internal static class CaseVariants
{
    private const int LongS = 0x17F;

    private static readonly Lazy<Dictionary<int, int[]>> Groups = new(Build);

    /// <summary>The other cases of a code point; none for most.</summary>
    public static IReadOnlyList<int> Of(int codePoint) => Groups.Value.GetValueOrDefault(codePoint, []);

    /// <summary>All code points that have another case, each with its others.</summary>
    public static IEnumerable<KeyValuePair<int, int[]>> All => Groups.Value;

    private static Dictionary<int, int[]> Build()
    {
        var folded = new Dictionary<int, List<int>>();
        for (int i = 0; i <= 0x10FFFF; i++)
        {
            if (!Rune.TryCreate(i, out Rune rune))
                continue;
            // Lower of upper: that leads the final sigma and the long s to the letters that they are forms of.
            // .NET leaves the long s alone, since it would make ASCII of what is none.
            int key = i == LongS ? 's' : Rune.ToLowerInvariant(Rune.ToUpperInvariant(rune)).Value;
            if (key == i && Rune.ToUpperInvariant(rune).Value == i)
                continue;
            Add(folded, key, i);
            Add(folded, key, key);
        }

        return folded.Values.SelectMany(group => group.Select(member => (member, group.Where(other => other != member).ToArray())))
            .ToDictionary(pair => pair.member, pair => pair.Item2);
    }

    private static void Add(Dictionary<int, List<int>> groups, int key, int member)
    {
        if (!groups.TryGetValue(key, out List<int>? group))
            groups.Add(key, group = []);
        if (!group.Contains(member))
            group.Add(member);
    }
}
