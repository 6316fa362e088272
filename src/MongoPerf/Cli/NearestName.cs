namespace MongoPerf.Cli;

/// <summary>The known name that a mistyped one most resembles.</summary>
internal static class NearestName
{
    /// <returns>Null when none is near: more than two letters in five would have to change.</returns>
    public static string? Find(string typed, IEnumerable<string> known)
    {
        string? best = null;
        int least = int.MaxValue;
        foreach (string name in known)
        {
            int distance = Distance(typed.ToLowerInvariant(), name);
            if (distance < least)
                (best, least) = (name, distance);
        }

        return best is not null && least <= Math.Max(1, Math.Max(typed.Length, best.Length) * 2 / 5) ? best : null;
    }

    /// <summary>Letters to insert, delete or replace (Levenshtein).</summary>
    private static int Distance(string a, string b)
    {
        int[] row = [.. Enumerable.Range(0, b.Length + 1)];
        for (int i = 1; i <= a.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.Length; j++)
            {
                int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.Min(replaced, Math.Min(row[j], row[j - 1]) + 1);
            }
        }

        return row[^1];
    }
}
