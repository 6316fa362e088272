using MongoPerf.Storage;

namespace MongoPerf.Reports.Figures;

/// <summary>Checks the names in a figure that was written without the scenario of the runs that it shows.</summary>
public static class FigureNames
{
    /// <returns>Each name that none of the runs has, with its key and the names that they have.</returns>
    public static IEnumerable<UnknownName> FindUnknown(FigureInfo figure, IReadOnlyList<FigureRun> runs)
    {
        PhaseRecord[] phases = [.. runs.SelectMany(static run => run.Stored.Phases)];
        string[] parameters =
        [
            .. phases.SelectMany(static phase => phase.Parameters).Select(static one => one.Name)
                .Concat(runs.SelectMany(static run => run.Stored.Settings.Plan.Parameters).Select(static one => one.Name))
                .Concat(Dimension.All).Distinct(),
        ];
        string[] operations = [.. phases.SelectMany(static phase => phase.Operations).Select(static one => one.Operation).Distinct()];
        return
        [
            .. Find("x", [figure.X], parameters),
            .. Find("lines", figure.Lines is { } lines ? [lines] : [], parameters),
            .. Find("phases", figure.Of.Phases, [.. phases.Select(static phase => phase.Phase).Distinct()]),
            .. Find("operation", figure.Of.Operations, operations),
            .. Find("where", figure.Of.Where.Select(static one => one.Name), parameters),
        ];
    }

    private static IEnumerable<UnknownName> Find(string key, IEnumerable<string> names, string[] known) =>
        names.Distinct().Where(name => !known.Contains(name)).Select(name => new UnknownName(key, name, known));
}

/// <summary>A name in a figure or a plot that none of the runs has.</summary>
/// <param name="Key">The key that has it.</param>
/// <param name="Name">The name itself.</param>
/// <param name="Known">The names that the runs have; empty where they are not known.</param>
public sealed record UnknownName(string Key, string Name, IReadOnlyList<string> Known);
