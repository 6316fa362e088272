using System.Globalization;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Installing;

/// <summary>Brings a server, checks it, unpacks it, and makes it the one that runs take.</summary>
/// <remarks>
/// A folder appears under its version's name only when all of it is there and its mongod has said its version. What is downloaded stays
/// until then, so that nothing is fetched twice. Any number of processes may install at once: they wait for one another.
/// </remarks>
/// <param name="servers">Where to.</param>
/// <param name="http">Fetches.</param>
/// <param name="tell">Whole lines of progress.</param>
/// <param name="progress">Hears how far a transfer is.</param>
/// <param name="stop">Ends it; a transfer continues from there the next time.</param>
/// <param name="freeBytes">How many bytes are free on the disk under a folder; null looks.</param>
public sealed class ServerInstaller(
    InstalledServers servers, HttpFiles http, Action<string> tell, Action<Transferred> progress, CancellationToken stop,
    Func<string, long>? freeBytes = null)
{
    /// <summary>A server takes about four times its archive.</summary>
    private const int UnpackedPerPacked = 4;

    private readonly Func<string, long> _freeBytes = freeBytes ?? (folder => new DriveInfo(folder).AvailableFreeSpace);

    private string Downloads => Path.Combine(servers.Folder, ".downloads");

    /// <summary>Installs a version, or the newest of a series; one that is there already is only chosen.</summary>
    /// <param name="asked">8.0.4, 8.0 or 8.</param>
    /// <param name="source">MongoDB's servers or a mirror.</param>
    /// <param name="given">The SHA-256 that the archive must have, as the user says; null when only its publisher says.</param>
    /// <param name="platform">Whose archives fit.</param>
    /// <exception cref="DeploymentException">Anything that keeps it from being installed.</exception>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    public InstalledServer Install(string asked, ReleaseSource source, string? given, SystemPlatform platform)
    {
        WantedArchive wanted = source.Find(asked, platform);
        using IDisposable held = Lock();
        // Another process may have been faster.
        if (VersionIn(wanted.Url) is { } version && servers.Find(version) is { } there)
        {
            tell($"MongoDB {there.Version} is already installed");
            return Choose(there.Version);
        }

        string sha256 = given ?? wanted.Sha256 ?? source.ReadChecksumBeside(wanted.Url) ?? throw new DeploymentException(
            Fault.Refused,
            $"{wanted.Url} has no .sha256 beside it, so the archive can't be verified\nhint:  give its checksum with --sha256 HEX");
        string file = Path.Combine(Downloads, Path.GetFileName(wanted.Url.AbsolutePath));
        Fetch(wanted.Url, file, sha256);
        InstalledServer installed = UnpackAndChoose(file);
        File.Delete(file);
        return installed;
    }

    /// <summary>Installs an archive that lies on this machine.</summary>
    /// <inheritdoc cref="Install(string, ReleaseSource, string, SystemPlatform)"/>
    public InstalledServer InstallArchive(string path, string? sha256)
    {
        if (sha256 is not null && Checksum.OfFile(path) is var found && !Checksum.Same(found, sha256))
            throw Mismatch(path, found, sha256);
        using IDisposable held = Lock();
        return UnpackAndChoose(path);
    }

    /// <summary>Takes an installed server away.</summary>
    /// <returns>The one that runs take now; null when none is left.</returns>
    public InstalledServer? Remove(InstalledServer server)
    {
        using IDisposable held = Lock();
        // Gone at once; what follows may be cut off.
        string away = TemporaryFolder();
        Directory.Move(server.Folder, away);
        Directory.Delete(away, recursive: true);
        return servers.Chosen;
    }

    private IDisposable Lock()
    {
        IDisposable held = FolderLock.Take(servers.Folder, () => tell("waiting for another mongoperf that is installing a server"), stop);
        Directory.CreateDirectory(Downloads);
        // Of processes that were killed: nobody else is at work now.
        foreach (string left in Directory.EnumerateDirectories(servers.Folder, ".unpacked-*"))
            Directory.Delete(left, recursive: true);
        return held;
    }

    private void Fetch(Uri url, string file, string sha256)
    {
        bool hadSome = File.Exists(file);
        tell(hadSome ? $"resuming {url}" : $"downloading {url}");
        Download(url, file);
        string found = Checksum.OfFile(file);
        if (Checksum.Same(found, sha256))
            return;
        File.Delete(file);
        if (!hadSome)
            throw Mismatch(url.ToString(), found, sha256);
        // The beginning may have been that of another file of this name.
        tell("the partial download does not match; downloading all of it");
        Fetch(url, file, sha256);
    }

    private void Download(Uri url, string file) => http.Download(url, file, bytes =>
    {
        if (bytes is { } coming)
            RequireRoom(coming + ((coming + HttpFiles.LengthOf(file)) * UnpackedPerPacked));
    }, progress);

    private InstalledServer UnpackAndChoose(string archive)
    {
        string unfinished = TemporaryFolder();
        try
        {
            tell($"unpacking {Path.GetFileName(archive)}");
            ServerArchive.Unpack(archive, unfinished, RequireRoom);
            string version = MongodProgram.Check(Path.Combine(unfinished, "bin"), Path.GetFileName(archive)).Version.ToString();
            string folder = Path.Combine(servers.Folder, version);
            if (Directory.Exists(folder))
                Directory.Delete(folder, recursive: true);
            Directory.Move(unfinished, folder);
            return Choose(version);
        }
        finally
        {
            if (Directory.Exists(unfinished))
                Directory.Delete(unfinished, recursive: true);
        }
    }

    private InstalledServer Choose(string version)
    {
        servers.Choose(version);
        return servers.Find(version)!;
    }

    private void RequireRoom(long bytes)
    {
        long free = _freeBytes(servers.Folder);
        if (bytes > free)
        {
            throw new DeploymentException(
                Fault.Refused,
                $"{servers.Folder}: needs {Megabytes(bytes)} MB, but only {Megabytes(free)} MB are free\n"
                + $"hint:  free some space, or choose another folder with {InstalledServers.Variable}");
        }
    }

    private string TemporaryFolder() => Path.Combine(servers.Folder, $".unpacked-{Environment.ProcessId}");

    /// <summary>mongodb-linux-x86_64-debian12-8.0.4.tgz is version 8.0.4.</summary>
    private static string? VersionIn(Uri url)
    {
        string[] parts = Path.GetFileNameWithoutExtension(url.AbsolutePath).Split('-');
        return parts.Select(part => ReleaseNumber.Parse(part)).FirstOrDefault(number => number is not null)?.ToString();
    }

    private static string Megabytes(long bytes) => Math.Ceiling(bytes / 1e6).ToString("N0", CultureInfo.InvariantCulture);

    private static DeploymentException Mismatch(string what, string found, string expected) => new(
        Fault.VerificationFailed, $"{what} has SHA-256 {found}, expected {expected.ToLowerInvariant()}; not installed\n"
            + "hint:  download it again; if it still differs, do not trust the source");
}
