using MongoPerf.Engine.Runs;
using MongoPerf.Input;

namespace MongoPerf.Cli.Sessions;

/// <summary>The folder of one run: run.db, run.log, data of a server that it started, report.</summary>
internal sealed class RunFolder
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
        if (idOrPath.Contains(System.IO.Path.DirectorySeparatorChar, StringComparison.Ordinal) && Directory.Exists(idOrPath))
        {
            string full = System.IO.Path.GetFullPath(idOrPath).TrimEnd(System.IO.Path.DirectorySeparatorChar);
            return new RunFolder(System.IO.Path.GetDirectoryName(full)!, System.IO.Path.GetFileName(full));
        }

        if (idOrPath.Length > 0 && Directory.Exists(System.IO.Path.Combine(runsFolder, idOrPath)))
            return new RunFolder(runsFolder, idOrPath);
        IReadOnlyList<string> known = Directory.Exists(runsFolder) ? [.. RunCatalogue.List(runsFolder).Select(r => r.Id)] : [];
        string? nearest = NearestName.Find(idOrPath, known);
        throw new UserException(
            ExitCode.WrongUsage,
            $"no run '{idOrPath}' in {System.IO.Path.GetFullPath(runsFolder)}",
            nearest is not null ? $"did you mean '{nearest}'?" : "'mongoperf list runs' shows all runs; --out selects another folder");
    }

    /// <summary>Takes a new folder away again whose run was refused before it began. Server and store must have ended.</summary>
    public void Remove()
    {
        if (Directory.Exists(Path))
            Directory.Delete(Path, recursive: true);
    }

    /// <summary>The folder of runs, when it is not the default one.</summary>
    public string? OtherRunsFolder
    {
        get
        {
            string runs = System.IO.Path.GetDirectoryName(System.IO.Path.GetFullPath(Path))!;
            return runs == System.IO.Path.GetFullPath("runs") ? null : runs;
        }
    }
}
