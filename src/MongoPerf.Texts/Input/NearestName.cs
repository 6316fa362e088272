namespace MongoPerf.Texts.Input;

/// <summary>The known name that a mistyped one most resembles.</summary>
public static class NearestName
{
    private const int ShortestBeginning = 4;

    /// <returns>Null when none is near: more than two letters in five would have to change.</returns>
    public static string? Find(string typed, IEnumerable<string> known)
    {
        // What was typed may be the beginning of a name.
        string? best = typed.Length < ShortestBeginning ? null
            : known.FirstOrDefault(name => name.StartsWith(typed, StringComparison.OrdinalIgnoreCase));
        if (best is not null)
            return best;
        int least = int.MaxValue;
        foreach (string name in known)
        {
            int distance = Distance(typed.ToLowerInvariant(), name.ToLowerInvariant());
            if (distance < least)
                (best, least) = (name, distance);
        }

        return best is not null && least <= Math.Max(1, Math.Max(typed.Length, best.Length) * 2 / 5) ? best : null;
    }

    /// <summary>"did you mean 'threads'?"; null where <see cref="Find"/> finds nothing.</summary>
    public static string? Hint(string typed, IEnumerable<string> known) =>
        Find(typed, known) is { } nearest ? $"did you mean '{nearest}'?" : null;

    /// <summary>Does the same as <see cref="Find"/> for dotted paths: a path whose last step is the same, or near, will do.</summary>
    public static string? FindPath(string typed, IReadOnlyList<string> known)
    {
        string last = LastOf(typed);
        return Find(typed, known) ?? known.FirstOrDefault(path => LastOf(path).Equals(last, StringComparison.OrdinalIgnoreCase))
            ?? (last.Length >= ShortestBeginning && Find(last, known.Select(LastOf)) is { } near
                ? known.First(path => LastOf(path) == near)
                : null);

        static string LastOf(string path) => path[(path.LastIndexOf('.') + 1)..];
    }

    /// <summary>Letters to insert, delete or replace, or neighbours to swap (Damerau and Levenshtein, no letter in two swaps).</summary>
    private static int Distance(string a, string b)
    {
        // Rows of the table: for the letters of a up to the one before, and up to the one before that.
        int[] last = [.. Enumerable.Range(0, b.Length + 1)];
        int[] beforeLast = last;
        for (int i = 1; i <= a.Length; i++)
        {
            int[] row = new int[b.Length + 1];
            row[0] = i;
            for (int j = 1; j <= b.Length; j++)
            {
                int replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
                row[j] = Math.Min(replaced, Math.Min(last[j], row[j - 1]) + 1);
                if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                    row[j] = Math.Min(row[j], beforeLast[j - 2] + 1);
            }

            (beforeLast, last) = (last, row);
        }

        return last[^1];
    }
}
