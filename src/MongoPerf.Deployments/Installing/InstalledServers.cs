using System.Text;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Files;

namespace MongoPerf.Deployments.Installing;

/// <summary>A MongoDB that <c>server install</c> has unpacked.</summary>
/// <param name="Version">The version as its mongod says, such as 8.0.4; also the name of its folder.</param>
/// <param name="Folder">Full path; bin lies in it.</param>
/// <param name="Mongod">Full path of the server.</param>
/// <param name="Mongos">Full path of the router; null when the archive had none.</param>
/// <param name="IsChosen">Runs take this one when nothing else is named: the one that was installed last.</param>
public sealed record InstalledServer(string Version, string Folder, string Mongod, string? Mongos, bool IsChosen);

/// <summary>The MongoDB servers that lie unpacked in the user's cache. Several processes may look and install at once.</summary>
/// <param name="folder">Full path; need not exist.</param>
public sealed class InstalledServers(string folder)
{
    /// <summary>Names another folder than the one under the user's cache, such as one that several users share.</summary>
    public const string Variable = "MONGOPERF_SERVERS";

    private const string ChosenFile = ".chosen";

    public string Folder { get; } = folder;

    /// <summary>
    /// The folder that the environment names: MONGOPERF_SERVERS, else mongoperf/servers under XDG_CACHE_HOME, else under ~/.cache.
    /// </summary>
    /// <returns>Null when it names none: not even HOME is set.</returns>
    public static InstalledServers? Of(Func<string, string?> variable)
    {
        string? named = variable(Variable) is { Length: > 0 } value ? value : null;
        string? folder = named ?? (UserCache.Find(variable) is { } cache ? Path.Combine(cache, "servers") : null);
        return folder is null ? null : new InstalledServers(Path.GetFullPath(folder));
    }

    /// <summary>The newest first.</summary>
    public IReadOnlyList<InstalledServer> List()
    {
        if (!Directory.Exists(Folder))
            return [];
        string chosen = SystemFile.ReadText(Path.Combine(Folder, ChosenFile)).Trim();
        return [.. Directory.EnumerateDirectories(Folder)
            .Select(Path.GetFileName)
            .Select(name => (Name: name!, Number: ReleaseNumber.Parse(name!)))
            .Where(one => one.Number is not null && File.Exists(ProgramOf(one.Name, "mongod")))
            .OrderByDescending(one => one.Number!.Value)
            .Select(one => Describe(one.Name, one.Name == chosen))];
    }

    /// <summary>What runs take: the one that was installed last, or, when that is gone, the newest; null when there is none.</summary>
    public InstalledServer? Chosen => List() is { Count: > 0 } servers ? servers.FirstOrDefault(s => s.IsChosen) ?? servers[0] : null;

    /// <summary>The newest that is of this version or series (8.0.4, 8.0 or 8); null when none is.</summary>
    public InstalledServer? Find(string asked) => List().FirstOrDefault(s => ReleaseNumber.Parse(s.Version)!.Value.IsOf(asked));

    /// <summary>Makes this server the one that runs take from now on.</summary>
    public void Choose(string version) => WholeFile.Replace(
        Path.Combine(Folder, ChosenFile), file => file.Write(Encoding.UTF8.GetBytes(version + "\n")));

    private InstalledServer Describe(string version, bool isChosen)
    {
        string mongos = ProgramOf(version, "mongos");
        return new InstalledServer(version, Path.Combine(Folder, version), ProgramOf(version, "mongod"),
            File.Exists(mongos) ? mongos : null, isChosen);
    }

    private string ProgramOf(string version, string program) => Path.Combine(Folder, version, "bin", program);
}
