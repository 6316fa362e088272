using MongoPerf.Reports.Comparison;

namespace MongoPerf.Reports.Histories;

/// <summary>
/// Which points of a history ran on the same deployment: versions of servers, clients and systems may change along a line, the rest of a
/// set-up makes another line.
/// </summary>
internal static class HistoryDeployments
{
    /// <returns>For each point what tells its deployment from the others'; all empty where there is only one.</returns>
    public static IReadOnlyList<string> Of(IReadOnlyList<HistoryPoint> points)
    {
        IReadOnlyList<(string Name, string Value)>[] shapes = [.. points.Select(point => SetupCheck.ShapeOf(point.First))];
        int[] varied = [.. Enumerable.Range(0, shapes[0].Count)
            .Where(trait => shapes.Select(shape => shape[trait].Value).Distinct().Count() > 1)];
        // What is called by a name needs no other.
        if (varied.Length > 1 && varied[0] == 0
            && shapes.Select(shape => shape[0].Value).Distinct().Count() == shapes.Select(Whole).Distinct().Count())
            varied = [0];
        return [.. shapes.Select(shape => string.Join(", ", varied.Select(trait => TextOf(shape[trait]))))];

        string Whole(IReadOnlyList<(string Name, string Value)> shape) => string.Join('\u001f', varied.Select(trait => shape[trait].Value));
    }

    private static string TextOf((string Name, string Value) trait) =>
        trait.Name is SetupCheck.DeploymentName or SetupCheck.Topology ? trait.Value : $"{Words.Of(trait.Name)} {trait.Value}";
}
