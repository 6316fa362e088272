using System.Globalization;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments;

/// <summary>Watches the disk under the server's data: refuses a run that would fill it, and says when to stop one that does.</summary>
/// <remarks>One thread. For servers on this machine only: elsewhere the client can't see the disk.</remarks>
public sealed class DiskGuard
{
    /// <summary>What a document of 1,024 bytes that hardly compresses takes with four indexes, in mongod's files and journal.</summary>
    public const double MongodBytesPerDocument = 1250;

    private const long MostReserve = 2_000_000_000;
    private const long LeastReserve = 256_000_000;
    private const int ReservePercent = 5;

    private readonly string _folder;
    private readonly Func<long> _free;

    /// <param name="folder">The server's data folder; it need not exist yet.</param>
    public DiskGuard(string folder)
        : this(folder, DriveOf(folder).TotalSize, () => DriveOf(folder).AvailableFreeSpace)
    {
    }

    /// <param name="folder">The folder as texts name it.</param>
    /// <param name="totalBytes">The disk's size.</param>
    /// <param name="free">What is free on it, bytes.</param>
    internal DiskGuard(string folder, long totalBytes, Func<long> free)
    {
        _folder = folder;
        _free = free;
        ReserveBytes = Math.Clamp(totalBytes / 100 * ReservePercent, LeastReserve, MostReserve);
    }

    /// <summary>Never given to the run: 5 % of the disk, at least 256 MB (a checkpoint and the journal), at most 2 GB.</summary>
    public long ReserveBytes { get; }

    /// <param name="documents">Still to be inserted.</param>
    /// <param name="bytesPerDocument">Estimate, data, indexes and journal together.</param>
    /// <exception cref="DeploymentException">The disk would fill (exit code 6).</exception>
    public void CheckBefore(long documents, double bytesPerDocument)
    {
        double needed = documents * bytesPerDocument;
        long free = _free();
        if (needed + ReserveBytes <= free)
            return;
        long fitting = Math.Max(0, (long)((free - ReserveBytes) / bytesPerDocument));
        throw new DeploymentException(
            Fault.Refused,
            $"{_folder}: {documents:N0} more documents need about {Bytes(needed)} plus {Bytes(ReserveBytes)} in reserve, "
            + $"but only {Bytes(free)} are free\n" +
            "hint:  " + (fitting > 0
                ? $"about {Round(fitting)} documents fit; choose a smaller --target, or"
                : "choose") + " a larger disk for the server's data (--out where the run starts the server)");
    }

    /// <summary>Whether the run must stop now, while the server can still shut down cleanly.</summary>
    /// <param name="text">What to tell in that case; empty otherwise.</param>
    public bool IsLow(out string text)
    {
        long free = _free();
        text = free >= ReserveBytes
            ? ""
            : $"{_folder}: {Bytes(free)} of disk space left, less than the reserve of {Bytes(ReserveBytes)}";
        return text.Length > 0;
    }

    /// <summary>Powers of a thousand, as for all that lies on disk.</summary>
    private static string Bytes(double bytes) =>
        bytes >= 1e9
            ? (bytes / 1e9).ToString("0.## 'GB'", CultureInfo.InvariantCulture)
            : (bytes / 1e6).ToString("0 'MB'", CultureInfo.InvariantCulture);

    private static string Round(long count) => count switch
    {
        >= 10_000_000 => $"{count / 1_000_000}M",
        >= 10_000 => $"{count / 1000}k",
        _ => $"{count}",
    };

    // The folder may still have to be made: the nearest one above that exists is on the same disk.
    private static DriveInfo DriveOf(string folder)
    {
        string at = Path.GetFullPath(folder);
        while (!Directory.Exists(at))
            at = Path.GetDirectoryName(at)!;
        return new DriveInfo(at);
    }
}
