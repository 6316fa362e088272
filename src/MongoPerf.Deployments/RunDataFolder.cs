using System.Text.Json;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Files;

namespace MongoPerf.Deployments;

/// <summary>How a run's data folder was found.</summary>
public enum DataFolderState
{
    /// <summary>Nothing of that name is there.</summary>
    None,

    /// <summary>The run made it: it carries the run's token, or holds nothing yet.</summary>
    Own,

    /// <summary>Something that the run's record does not vouch for.</summary>
    Foreign,
}

/// <summary>
/// Where the server that a run starts keeps its data: the folder <c>data</c> in the run's own. The run makes it and marks it with its
/// token. Of what is in it, only what servers and the run made is ever deleted.
/// </summary>
/// <param name="runFolder">The folder of the run.</param>
/// <param name="token">The token of the run; null for a run of an earlier version, whose folder has no mark.</param>
public sealed class RunDataFolder(string runFolder, string? token)
{
    public const string MarkFile = "mongoperf-run.json";

    private const int MostMarkBytes = 4096;

    /// <summary>Full path.</summary>
    public string Path { get; } = System.IO.Path.Combine(System.IO.Path.GetFullPath(runFolder), "data");

    private string MarkPath => System.IO.Path.Combine(Path, MarkFile);

    /// <param name="why">Why it is a foreign folder: what was found, to be read behind its path.</param>
    public DataFolderState Look(out string why)
    {
        why = "";
        if (new FileInfo(Path).LinkTarget is { } target)
            why = $"is a link to {target}";
        else if (!Directory.Exists(Path))
            why = File.Exists(Path) ? "is a file" : "";
        else if (Directory.EnumerateFileSystemEntries(Path).Any(entry => token is null || !WholeFile.IsLeftover(entry))
            && (token is null || ReadMark() != token))
            why = "does not carry this run's mark";
        else
            return DataFolderState.Own;
        return why.Length == 0 ? DataFolderState.None : DataFolderState.Foreign;
    }

    /// <summary>Makes it for the run's server, or sees to it that what is there can be gone on with.</summary>
    /// <exception cref="RunStoreException">It is not the run's, or holds links, which a server would follow.</exception>
    public void Claim()
    {
        DataFolderState state = Look(out string why);
        // A run of an earlier version has no mark to look for; what is in its folder is all that its server touches.
        if (state == DataFolderState.Foreign && (token is not null || !Directory.Exists(Path) || OwnFiles.IsLink(Path)))
            throw Refused($"{Path} {why}");
        Directory.CreateDirectory(Path);
        // A server would follow a link, and wait at a pipe. Its own sockets it removes.
        foreach (FileSystemInfo entry in OwnFiles.Below(new DirectoryInfo(Path)))
        {
            bool isSafe = entry.LinkTarget is null && (entry is DirectoryInfo || entry.Extension == ".sock");
            if (!isSafe && OwnFiles.FindFault(entry.FullName) is { } fault)
                throw Refused($"{entry.FullName} {fault}");
        }

        if (token is null || File.Exists(MarkPath))
            return;
        WholeFile.RemoveLeftovers(Path, all: true);
        // What a server writes durably is no use to the run once a power cut has taken the mark, or the folder's own name.
        OwnFiles.Replace(MarkPath, output => output.Write(JsonSerializer.Serialize(new Mark("mongoperf", token)) + "\n"), isDurable: true);
        SystemCalls.SyncFolder(System.IO.Path.GetDirectoryName(Path)!);
    }

    /// <exception cref="RunStoreException">It is not the run's.</exception>
    public void RequireOwn()
    {
        if (Look(out string why) != DataFolderState.Own)
            throw Refused($"{Path} {(why.Length > 0 ? why : "does not exist")}");
    }

    /// <summary>Bytes of all files in it, links left out; null when there is nothing of the run's.</summary>
    public long? ReadBytes() => Look(out _) == DataFolderState.Own ? DataFolderSize.ReadBytes(Path) : null;

    /// <summary>Deletes what servers and the run made in it, and the folder itself if nothing else is left.</summary>
    /// <returns>What is gone, and what is kept.</returns>
    /// <exception cref="RunStoreException">It is not the run's.</exception>
    /// <exception cref="IOException">Something could not be deleted; says how much was.</exception>
    public Deleted Delete()
    {
        RequireOwn();
        return ServerFiles.Delete(Path, MarkPath);
    }

    private string? ReadMark()
    {
        try
        {
            return JsonSerializer.Deserialize<Mark>(OwnFiles.Read(MarkPath, MostMarkBytes)) is { Program: "mongoperf" } mark
                ? mark.Token : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or JsonException)
        {
            return null;
        }
    }

    private static RunStoreException Refused(string what) => new($"{what}: it is not the data that this run's server wrote, "
        + "and is left alone\nhint:  look at it, and delete it yourself if it is yours");

    private sealed record Mark(string Program, string Token);
}
