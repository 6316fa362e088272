namespace MongoPerf.Engine.Runs;

/// <summary>The eight tests as results show them.</summary>
public static class TestOrder
{
    public static IReadOnlyList<string> Names { get; } = ["unack", "batch", "safe", "q4", "q5", "q6", "q7", "size"];

    /// <summary>Place in the order; names that are not of the series come last.</summary>
    public static int Of(string test)
    {
        for (int i = 0; i < Names.Count; i++)
        {
            if (Names[i] == test)
                return i;
        }

        return Names.Count;
    }
}
