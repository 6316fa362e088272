using MongoPerf.Texts.Input;
using MongoPerf.Wire.Files;

namespace MongoPerf.Scenarios;

/// <summary>A scenario file and where it was found.</summary>
/// <param name="Name">Short, such as ycsb/a.</param>
/// <param name="ShownPath">The path as messages name it.</param>
/// <param name="Text">Its contents.</param>
public sealed record ScenarioFile(string Name, string ShownPath, string Text)
{
    private const string FolderName = "scenarios";
    private const string Extension = ".yaml";
    private const int MostCharacters = 10_000_000;

    /// <summary>Where its ^file finds files.</summary>
    public FilesFolder Data { get; init; } = FilesFolder.None;

    /// <summary>The scenarios that come with the program.</summary>
    private static string ShippedFolder => Path.Combine(AppContext.BaseDirectory, FolderName);

    /// <summary>Names of the scenarios that can be run without a path: those under the current folder, then those of the program.</summary>
    public static IReadOnlyList<(string Name, string Path)> List() => [.. In(FolderName).Concat(In(ShippedFolder))
        .DistinctBy(found => found.Name).OrderBy(found => found.Name, StringComparer.Ordinal)];

    /// <summary>Names of the scenarios that come with the program.</summary>
    public static IEnumerable<string> Shipped() => In(ShippedFolder).Select(found => found.Name).Order(StringComparer.Ordinal);

    /// <summary>Finds a file by name (ycsb/a) or by path.</summary>
    /// <returns>Null when there is none.</returns>
    public static ScenarioFile? TryFind(string nameOrPath)
    {
        if (nameOrPath.Length == 0)
            return null;
        string[] candidates = [nameOrPath, Path.Combine(FolderName, nameOrPath + Extension),
            Path.Combine(ShippedFolder, nameOrPath + Extension), Path.Combine(AppContext.BaseDirectory, nameOrPath)];
        return candidates.FirstOrDefault(File.Exists) is { } path ? Open(path) : null;
    }

    /// <exception cref="UserException">There is none; names the nearest.</exception>
    public static ScenarioFile Find(string nameOrPath)
    {
        if (TryFind(nameOrPath) is { } file)
            return file;
        string[] files = [.. FilesBeside(nameOrPath)];
        throw new UserException(
            ExitCode.WrongUsage, $"no scenario '{nameOrPath}': no such file, and no scenario of that name in {FolderName}",
            NearestName.Hint(Path.ChangeExtension(nameOrPath, null), List().Select(s => s.Name)) ?? NearestName.Hint(nameOrPath, files)
            ?? (nameOrPath.EndsWith(Extension, StringComparison.Ordinal) && !nameOrPath.Any(char.IsControl)
                ? $"'mongoperf new {nameOrPath}' writes one to start from; 'mongoperf list scenarios' lists the built-in ones"
                : "'mongoperf list scenarios' lists them"));
    }

    /// <summary>Scenario files in the folder in which one was looked for, with the same folder before their names.</summary>
    private static IEnumerable<string> FilesBeside(string path)
    {
        string folder = Path.GetDirectoryName(path) ?? "";
        try
        {
            return [.. Directory.EnumerateFiles(folder.Length == 0 ? "." : folder, "*" + Extension)
                .Select(file => Path.Combine(folder, Path.GetFileName(file))).Take(1000)];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return [];
        }
    }

    private static IEnumerable<(string Name, string Path)> In(string folder) => !Directory.Exists(folder) ? []
        : Directory.EnumerateFiles(folder, "*" + Extension, SearchOption.AllDirectories).Select(path => (NameIn(folder, path), path));

    private static ScenarioFile Open(string path)
    {
        string full = Path.GetFullPath(path);
        string folder = new[]
        {
            Path.GetFullPath(FolderName), ShippedFolder,
        }.FirstOrDefault(f => full.StartsWith(f + Path.DirectorySeparatorChar, StringComparison.Ordinal)) ?? Path.GetDirectoryName(full)!;
        // Where the program itself lies tells a reader nothing.
        string shown = folder == ShippedFolder ? Path.GetRelativePath(AppContext.BaseDirectory, full) : path;
        return new ScenarioFile(NameIn(folder, full), shown, ReadText(path)) { Data = new FilesFolder(Path.GetDirectoryName(full)!) };
    }

    private static string ReadText(string path)
    {
        try
        {
            string text = NamedFile.ReadText(path, MostCharacters);
            return text.Length <= MostCharacters ? text
                : throw new UserException(
                    ExitCode.WrongUsage, $"{path}: longer than {MostCharacters:N0} characters, the limit for a scenario");
        }
        catch (TimeoutException e)
        {
            throw new UserException(ExitCode.WrongUsage, e.Message, "name a file, or start what writes to the pipe first");
        }
    }

    private static string NameIn(string folder, string path) =>
        Path.ChangeExtension(Path.GetRelativePath(folder, path), null).Replace(Path.DirectorySeparatorChar, '/');
}
