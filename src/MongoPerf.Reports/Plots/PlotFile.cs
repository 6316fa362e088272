using MongoPerf.Texts.Input;
using MongoPerf.Wire.Files;

namespace MongoPerf.Reports.Plots;

/// <summary>A plot file or style file, and where it was found.</summary>
/// <param name="Name">The file's name without its extension, such as insert-rate.</param>
/// <param name="ShownPath">The path as messages name it.</param>
/// <param name="Text">Its contents.</param>
public sealed record PlotFile(string Name, string ShownPath, string Text)
{
    public const string FolderName = "plots";
    private const string Extension = ".yaml";
    private const int LongestFile = 1_000_000;

    /// <summary>The folder of the plots that come with the program.</summary>
    public static string ShippedFolder => Path.Combine(AppContext.BaseDirectory, FolderName);

    /// <summary>Opens the plots directly in a folder, ordered by name.</summary>
    public static IReadOnlyList<PlotFile> In(string folder, bool isShipped = false) =>
        [.. Directory.EnumerateFiles(folder, "*" + Extension).Where(static path => Path.GetFileNameWithoutExtension(path) != PlotStyle.Name)
            .Order(StringComparer.Ordinal).Select(path => Open(path, isShipped ? Path.Combine(FolderName, Path.GetFileName(path)) : path))];

    /// <summary>Finds a plot by its path, or by the name of one that comes with the program.</summary>
    /// <returns>Null when there is none.</returns>
    public static PlotFile? TryFind(string nameOrPath)
    {
        if (nameOrPath.Length == 0)
            return null;
        if (File.Exists(nameOrPath))
            return Open(nameOrPath, nameOrPath);
        string[] shipped = [Path.Combine(ShippedFolder, nameOrPath + Extension), Path.Combine(AppContext.BaseDirectory, nameOrPath)];
        return shipped.FirstOrDefault(File.Exists) is { } path ? Open(path, Path.GetRelativePath(AppContext.BaseDirectory, path)) : null;
    }

    /// <param name="shownPath">The path as messages name it.</param>
    /// <param name="text">The text that was read already.</param>
    /// <exception cref="UserException">Too long.</exception>
    public static PlotFile Of(string shownPath, string text) => text.Length <= LongestFile
        ? new PlotFile(Path.GetFileNameWithoutExtension(shownPath), shownPath, text)
        : throw new UserException(ExitCode.WrongUsage, $"{shownPath}: longer than {LongestFile:N0} characters, the limit for a plot");

    /// <exception cref="UserException">The file is too long, or can't be read.</exception>
    private static PlotFile Open(string path, string shown)
    {
        try
        {
            return Of(shown, NamedFile.ReadText(path, LongestFile));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or TimeoutException)
        {
            throw new UserException(ExitCode.WrongUsage, $"{shown}: can't be read: {e.Message}");
        }
    }
}
