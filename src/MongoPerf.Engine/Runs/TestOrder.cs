namespace MongoPerf.Engine.Runs;

/// <summary>The eight tests as results show them.</summary>
public static class TestOrder
{
    public static IReadOnlyList<string> Names { get; } = ["unack", "batch", "safe", "q4", "q5", "q6", "q7", "size"];

    /// <summary>Those of the experiments, which come after them.</summary>
    private static readonly string[] Others = ["before", "after-stop", "after-kill", "insert", "w1", "w1-j", "sort-id", "sort-number"];

    /// <summary>Place in the order; names that nobody knows come last.</summary>
    public static int Of(string test)
    {
        for (int i = 0; i < Names.Count; i++)
        {
            if (Names[i] == test)
                return i;
        }

        int other = Array.IndexOf(Others, test);
        return Names.Count + (other >= 0 ? other : Others.Length);
    }
}
