using System.Globalization;

namespace MongoPerf.Server.Storage.Rocks;

/// <summary>Refuses writes while little of the disk is free, so that no write to RocksDB's log can fail.</summary>
/// <remarks>
/// After a failed write RocksDB uses the same log file once more, and a build with assertions (Debian's) then aborts the process.
/// Files of tables may fail: RocksDB reports that, and goes on when there is room. Any number of threads.
/// </remarks>
/// <param name="folder">The folder of the data, for texts.</param>
/// <param name="free">Bytes that are free on its disk.</param>
/// <param name="clock">Milliseconds, as Environment.TickCount64 has them.</param>
internal sealed class DiskReserve(string folder, Func<long> free, Func<long> clock)
{
    /// <summary>
    /// The bytes for the log's next file, of which up to 70 MB are allocated at once, and for what flushes and compactions take between two
    /// looks.
    /// </summary>
    public const long Bytes = 128_000_000;

    /// <summary>What even a write that makes room leaves.</summary>
    public const long LeastBytes = Bytes / 4;

    // The system is asked for what is free after so many bytes or so long: others write to the disk too.
    private const long LookAfterBytes = 16_000_000;
    private const long LookAfterMilliseconds = 50;

    private long _bytesToLook;
    private long _timeToLook;

    public DiskReserve(string folder)
        : this(folder, () => new DriveInfo(folder).AvailableFreeSpace, static () => Environment.TickCount64)
    {
    }

    /// <param name="bytes">About to be written.</param>
    /// <param name="makesRoom">It deletes; else a full disk would stay full.</param>
    /// <exception cref="DiskFullException">The write would use the reserve.</exception>
    /// <exception cref="StorageException">What is free cannot be found out: the folder is gone, say.</exception>
    public void Require(long bytes, bool makesRoom)
    {
        if (Interlocked.Add(ref _bytesToLook, -bytes) >= 0 && clock() < Volatile.Read(ref _timeToLook))
            return;
        // To the log now, and later to a table's file.
        long written = 2 * bytes;
        long kept = makesRoom ? LeastBytes : Bytes;
        long found = Find();
        if (found - written < kept)
            throw new DiskFullException($"{folder}: {Megabytes(found)} MB free, {Megabytes(kept + written)} MB needed");
        Interlocked.Exchange(ref _bytesToLook, Math.Clamp((found - written - Bytes) / 2, 0, LookAfterBytes));
        Volatile.Write(ref _timeToLook, clock() + LookAfterMilliseconds);
    }

    private long Find()
    {
        try
        {
            return free();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StorageException($"{folder}: cannot find out how much of its disk is free: {e.Message}", cause: e);
        }
    }

    /// <summary>The bytes in megabytes of a million, as everything on a disk is told.</summary>
    private static string Megabytes(long bytes) => (bytes / 1e6).ToString("0.#", CultureInfo.InvariantCulture);
}
