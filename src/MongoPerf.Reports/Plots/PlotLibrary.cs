using MongoPerf.Texts.Input;

namespace MongoPerf.Reports.Plots;

/// <summary>The plots of a report: those that come with the program, and a user's own beside or in place of them.</summary>
public static class PlotLibrary
{
    private static readonly Lazy<IReadOnlyList<PlotInfo>> Shipped = new(static () =>
        Ordered(PlotFile.In(PlotFile.ShippedFolder, isShipped: true).Select(PlotReader.Read)));

    /// <summary>The standard plots, ordered by their places.</summary>
    public static IReadOnlyList<PlotInfo> Standard => Shipped.Value;

    /// <summary>Finds a standard plot by its name, or reads the plot of a file.</summary>
    /// <returns>Null when there is neither.</returns>
    /// <exception cref="UserException">The file is wrong.</exception>
    public static PlotInfo? TryFind(string nameOrPath) =>
        Standard.FirstOrDefault(plot => plot.Name == nameOrPath)
        ?? (PlotFile.TryFind(nameOrPath) is { } file ? PlotReader.Read(file) : null);

    /// <summary>The standard plots with those of a folder, which take the place of others of their name.</summary>
    /// <param name="folder">Null for none.</param>
    /// <exception cref="UserException">There is no such folder, it has no plot, or one of them is wrong.</exception>
    public static IReadOnlyList<PlotInfo> With(string? folder)
    {
        if (folder is null)
            return Standard;
        if (!Directory.Exists(folder))
            throw new UserException(
                ExitCode.WrongUsage, $"--plots: no folder '{folder}'",
                "name a folder with plot files; 'mongoperf new --plot my.yaml' writes one");
        PlotInfo[] own = [.. PlotFile.In(folder).Select(PlotReader.Read)];
        if (own.Length == 0 && !File.Exists(Path.Combine(folder, PlotStyle.Name + ".yaml")))
            throw new UserException(
                ExitCode.WrongUsage, $"--plots: {folder} has no .yaml file", "'mongoperf new --plot my.yaml' writes one");
        return Ordered([.. own, .. Standard.Where(plot => own.All(one => one.Name != plot.Name))]);
    }

    private static IReadOnlyList<PlotInfo> Ordered(IEnumerable<PlotInfo> plots) =>
        [.. plots.OrderBy(static plot => plot.Place).ThenBy(static plot => plot.Name, StringComparer.Ordinal)];
}
