using MongoPerf.Running.Configuration;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>The folder of one run: run.db, run.log, data of a server that it started, report.</summary>
public sealed class RunFolder
{
    private RunFolder(string runsFolder, string id)
    {
        Id = id;
        Path = System.IO.Path.Combine(runsFolder, id);
    }

    public string Id { get; }

    public string Path { get; }

    public string DataPath => System.IO.Path.Combine(Path, "data");

    public string ReportPath => System.IO.Path.Combine(Path, "report");

    /// <summary>A new one, named after today.</summary>
    public static RunFolder Create(string runsFolder) => new(runsFolder, RunCatalogue.NewId(runsFolder, DateTimeOffset.Now));

    /// <summary>One that is there, by its id or as a path.</summary>
    /// <exception cref="UserException">No such run; names the nearest.</exception>
    public static RunFolder Find(string runsFolder, string idOrPath)
    {
        bool isPath = idOrPath is "." or ".." || idOrPath.Contains(System.IO.Path.DirectorySeparatorChar, StringComparison.Ordinal);
        string path = isPath ? idOrPath : System.IO.Path.Combine(runsFolder, idOrPath);
        if (idOrPath.Length > 0 && Directory.Exists(path))
            return isPath || OwnFiles.IsLink(path) ? At(path) : new RunFolder(runsFolder, idOrPath);
        IReadOnlyList<string> known = Directory.Exists(runsFolder) ? [.. RunCatalogue.List(runsFolder).Select(r => r.Id)] : [];
        throw new UserException(
            ExitCode.WrongUsage,
            $"no run '{idOrPath}' in {System.IO.Path.GetFullPath(runsFolder)}",
            NearestName.Hint(idOrPath, known) ?? "'mongoperf list runs' shows all runs; --out selects another folder");
    }

    /// <summary>A link to a run's folder is that folder, by its own name.</summary>
    private static RunFolder At(string path)
    {
        string full = System.IO.Path.GetFullPath(path);
        full = Directory.ResolveLinkTarget(System.IO.Path.TrimEndingDirectorySeparator(full), returnFinalTarget: true)?.FullName ?? full;
        full = System.IO.Path.TrimEndingDirectorySeparator(System.IO.Path.GetFullPath(full));
        return new RunFolder(System.IO.Path.GetDirectoryName(full) ?? full, System.IO.Path.GetFileName(full));
    }

    /// <summary>Takes a new folder away again whose run was refused before it began. Server and store must have ended.</summary>
    public void Remove()
    {
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }

    /// <summary>"'mongoperf resume 2026-11-21-a --out /big'", for texts.</summary>
    public string CommandFor(string command) => $"'{CommandText.Program} {command} {Id}{OutText}'";

    /// <summary>" --out /big", for a command about a run in another folder than the default one; otherwise empty.</summary>
    public string OutText => OutTextOf(RunsFolder);

    /// <summary>The same for a folder of runs.</summary>
    public static string OutTextOf(string runsFolder) => CommandText.Out(OtherThanDefault(runsFolder));

    /// <summary>Runs as a command takes them, wherever it is typed: by id those in the folder of runs, by full path all others.</summary>
    /// <param name="runsFolder">The folder of runs, which is named after them unless it is the default one.</param>
    /// <param name="names">Ids and paths, or several of them with commas.</param>
    /// <exception cref="UserException">No such run.</exception>
    public static string TextOf(string runsFolder, IEnumerable<string> names)
    {
        string runs = System.IO.Path.GetFullPath(runsFolder);
        return string.Join(' ', names.Select(name => CommandText.Quoted(string.Join(',', Several(runsFolder, name)
            .Select(folder => folder.RunsFolder == runs ? folder.Id : System.IO.Path.GetFullPath(folder.Path)))))) + OutTextOf(runsFolder);
    }

    /// <summary>Finds runs that are named together, with commas.</summary>
    /// <inheritdoc cref="Find"/>
    public static IEnumerable<RunFolder> Several(string runsFolder, string names) =>
        names.Split(',', StringSplitOptions.RemoveEmptyEntries).Select(one => Find(runsFolder, one));

    /// <summary>The folder of runs, when it is not the default one.</summary>
    public string? OtherRunsFolder => OtherThanDefault(RunsFolder);

    private string RunsFolder => System.IO.Path.GetDirectoryName(System.IO.Path.GetFullPath(Path))!;

    /// <returns>The full path; null for the default folder of runs.</returns>
    public static string? OtherThanDefault(string runsFolder)
    {
        string runs = System.IO.Path.GetFullPath(runsFolder);
        return runs == System.IO.Path.GetFullPath(Settings.Current.Runs) ? null : runs;
    }
}
