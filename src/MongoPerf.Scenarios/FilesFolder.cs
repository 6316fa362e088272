using MongoPerf.Load.Documents.Rows;
using MongoPerf.Texts.Input;

namespace MongoPerf.Scenarios;

/// <summary>The folder in which a scenario's <c>^file</c> finds its files: there or below, and nowhere else.</summary>
/// <remarks>
/// A scenario may be somebody else's. One that is stored with a run, or comes from a coordinator, has no folder unless whoever runs it
/// names one.
/// </remarks>
public sealed record FilesFolder
{
    /// <summary>The option that names it.</summary>
    public const string Option = "--files";

    /// <param name="path">The folder.</param>
    public FilesFolder(string path) => FullPath = Path.GetFullPath(path);

    private FilesFolder()
    {
    }

    /// <summary>Null for none.</summary>
    public string? FullPath { get; }

    /// <summary>No file can be opened.</summary>
    public static FilesFolder None { get; } = new();

    /// <summary>What helps where a file is not found; null for nothing.</summary>
    public string? Hint => FullPath is null ? $"name the folder that holds it: {Option} DIR" : null;

    /// <inheritdoc cref="RowFile.Open"/>
    /// <remarks>Nor does it open a path that leaves the folder, by .. or by a link.</remarks>
    public RowFile Open(string name, IReadOnlyDictionary<string, CellType> types, string? weight) =>
        RowFile.Open(name, Find(name), types, weight);

    /// <returns>The full path of a file in the folder, which may not be there.</returns>
    /// <exception cref="RowFormatException">There is no folder, or the path leaves it, by .. or by a link.</exception>
    public string Find(string name)
    {
        if (FullPath is null)
            throw new RowFormatException($"{name}: files are opened for a stored or foreign scenario only in a folder that you name");
        if (name.Contains('\0', StringComparison.Ordinal))
            throw new RowFormatException("the file's name contains a zero character");
        string path = Path.GetFullPath(Path.Combine(FullPath, name));
        string folder = Path.EndsInDirectorySeparator(FullPath) ? FullPath : FullPath + Path.DirectorySeparatorChar;
        if (!path.StartsWith(folder, StringComparison.Ordinal))
            throw new RowFormatException($"{name} is outside the scenario's folder; {Option} DIR names another");
        for (string at = path; at.Length > folder.Length; at = Path.GetDirectoryName(at)!)
        {
            if (new FileInfo(at).LinkTarget is not null)
                throw new RowFormatException($"{name} goes through a symbolic link, which is not followed; {Option} DIR names the folder "
                    + "that holds the file itself");
        }

        return path;
    }
}

/// <summary>A file of rows can't be opened, or holds something wrong: the scenario itself may be right.</summary>
public sealed class DataFileException(string message, string? hint) : UserException(ExitCode.WrongUsage, message, hint);
