using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>Checks the names in a figure that was written without the scenario of the runs that it shows.</summary>
public static class FigureNames
{
    /// <returns>The key, the name that none of the runs has, and those that they have; null when they have all of them.</returns>
    public static (string Key, string Name, IReadOnlyList<string> Allowed)? FindUnknown(FigureInfo figure, IReadOnlyList<FigureRun> runs)
    {
        PhaseRecord[] phases = [.. runs.SelectMany(static run => run.Stored.Phases)];
        string[] parameters =
        [
            .. phases.SelectMany(static phase => phase.Parameters).Select(static one => one.Name)
                .Concat(runs.SelectMany(static run => run.Stored.Settings.Plan.Parameters).Select(static one => one.Name))
                .Concat(Dimension.All).Distinct(),
        ];
        string[] operations = [.. phases.SelectMany(static phase => phase.Operations).Select(static one => one.Operation).Distinct()];
        return Find("x", [figure.X], parameters)
            ?? Find("lines", figure.Lines is { } lines ? [lines] : [], parameters)
            ?? Find("phases", figure.Of.Phases, [.. phases.Select(static phase => phase.Phase).Distinct()])
            ?? Find("operation", figure.Of.Operations, operations)
            ?? Find("where", figure.Of.Where.Select(static one => one.Name), parameters);
    }

    private static (string, string, IReadOnlyList<string>)? Find(string key, IEnumerable<string> names, string[] allowed) =>
        names.FirstOrDefault(name => !allowed.Contains(name)) is { } unknown ? (key, unknown, allowed) : null;
}
