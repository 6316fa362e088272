using System.Text;
using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Deployments.Sampling;

/// <summary>Reads <see cref="MetricCatalogue.Host"/>: the machine that the client runs on, and the client process itself.</summary>
/// <remarks>
/// One thread. About 60 microseconds and one array per sample. Never throws: what the system does not tell is NaN, on another system than
/// Linux all but the client's own figures. The disk is the one under the given folder; where no block device is behind that
/// (overlay, btrfs subvolumes), all disks of the machine together.
/// </remarks>
public sealed class HostSampler : IDisposable
{
    private const double KiloByte = 1024;
    private const double SectorBytes = 512;

    // /proc/stat counts in USER_HZ, which is 100 on every Linux that .NET runs on.
    private const double MicrosecondsPerTick = 10_000;

    /// <summary>The longest time in milliseconds from the first counter to the last of a second between samples.</summary>
    private const long LongestMilliseconds = 20;
    private const int MostAttempts = 3;

    private readonly byte[] _buffer = new byte[64 * 1024];
    private readonly ProcFile _stat;
    private readonly ProcFile _meminfo;
    private readonly ProcFile _vmstat;
    private readonly ProcFile _diskstats;
    private readonly ProcFile _netdev;
    private readonly ProcFile _statm;
    private readonly DriveInfo? _drive;
    private readonly byte[]? _diskName;
    private readonly ProcessesCpu _servers;

    /// <param name="folder">The server's data folder when it is on this machine, else the run's folder.</param>
    /// <param name="servers">
    /// Processes of the servers under load; null when they are on this machine and not known, empty when they are elsewhere.
    /// </param>
    /// <param name="procRoot">Another folder than /proc in tests.</param>
    public HostSampler(string folder, Func<IReadOnlyList<int>?> servers, string procRoot = "/proc")
    {
        _servers = new ProcessesCpu(servers, procRoot);
        _stat = new ProcFile(Path.Combine(procRoot, "stat"));
        _meminfo = new ProcFile(Path.Combine(procRoot, "meminfo"));
        _vmstat = new ProcFile(Path.Combine(procRoot, "vmstat"));
        _diskstats = new ProcFile(Path.Combine(procRoot, "diskstats"));
        _netdev = new ProcFile(Path.Combine(procRoot, "net", "dev"));
        _statm = new ProcFile(Path.Combine(procRoot, "self", "statm"));
        _drive = OpenDrive(folder);
        _diskName = FindDisk(MountedDisk.Find(folder, procRoot));
        DiskName = _diskName is null ? "all disks" : Encoding.ASCII.GetString(_diskName);
    }

    /// <summary>Whose traffic the disk columns hold: a device such as "vda1", or "all disks".</summary>
    public string DiskName { get; }

    public MetricSample Sample() => Sample(static () => DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());

    /// <param name="now">Unix milliseconds.</param>
    internal MetricSample Sample(Func<long> now)
    {
        var values = new double[MetricCatalogue.Host.Count];
        for (int attempt = 1; ; attempt++)
        {
            long begun = now();
            Array.Fill(values, double.NaN);
            ReadCpu(values);
            ReadMemory(values);
            ReadDisk(values);
            ReadNetwork(values);
            ReadClient(values);
            values[Column("servers_cpu")] = _servers.Read();
            long took = now() - begun;
            // A thread that the system held up in between would give one time to counters of another: rates of more than there is.
            if (took <= LongestMilliseconds || attempt == MostAttempts)
                return new MetricSample(begun + (took / 2), "client", values);
        }
    }

    public void Dispose()
    {
        _stat.Dispose();
        _meminfo.Dispose();
        _vmstat.Dispose();
        _diskstats.Dispose();
        _netdev.Dispose();
        _statm.Dispose();
    }

    private static int Column(string name) => MetricCatalogue.IndexOf(MetricCatalogue.Host, name);

    // cpu user nice system idle iowait irq softirq steal …
    private void ReadCpu(double[] values)
    {
        ReadOnlySpan<byte> text = _stat.Read(_buffer.AsSpan(0, 1024));
        if (!ProcText.TryTakeLine(ref text, out ReadOnlySpan<byte> line) || !ProcText.TakeWord(ref line).SequenceEqual("cpu"u8))
            return;
        double user = ProcText.TakeNumber(ref line);
        double nice = ProcText.TakeNumber(ref line);
        double system = ProcText.TakeNumber(ref line);
        values[Column("cpu_idle")] = ProcText.TakeNumber(ref line) * MicrosecondsPerTick;
        values[Column("cpu_iowait")] = ProcText.TakeNumber(ref line) * MicrosecondsPerTick;
        double interrupts = ProcText.TakeNumber(ref line) + ProcText.TakeNumber(ref line);
        values[Column("cpu_steal")] = ProcText.TakeNumber(ref line) * MicrosecondsPerTick;
        values[Column("cpu_user")] = (user + nice) * MicrosecondsPerTick;
        values[Column("cpu_system")] = (system + interrupts) * MicrosecondsPerTick;
        values[Column("cpu_interrupts")] = interrupts * MicrosecondsPerTick;
    }

    private void ReadMemory(double[] values)
    {
        ReadOnlySpan<byte> memory = _meminfo.Read(_buffer);
        values[Column("memory_available")] = ProcText.FindNumber(memory, "MemAvailable:"u8) * KiloByte;
        values[Column("memory_page_cache")] = ProcText.FindNumber(memory, "Cached:"u8) * KiloByte;
        values[Column("memory_dirty")] = ProcText.FindNumber(memory, "Dirty:"u8) * KiloByte;
        ReadOnlySpan<byte> paging = _vmstat.Read(_buffer);
        values[Column("swap_in")] = ProcText.FindNumber(paging, "pswpin"u8) * Environment.SystemPageSize;
        values[Column("swap_out")] = ProcText.FindNumber(paging, "pswpout"u8) * Environment.SystemPageSize;
    }

    // major minor name, then reads, merged, sectors read, ms, writes, merged, sectors written, ms, in flight, ms busy (kernel, iostats.rst)
    private void ReadDisk(double[] values)
    {
        try
        {
            values[Column("disk_free")] = _drive?.AvailableFreeSpace ?? double.NaN;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The disk is gone; the columns stay NaN.
        }

        ReadOnlySpan<byte> text = _diskstats.Read(_buffer);
        double read = 0, written = 0, busy = 0;
        bool found = false;
        while (ProcText.TryTakeLine(ref text, out ReadOnlySpan<byte> line))
        {
            ProcText.SkipWords(ref line, 2);
            ReadOnlySpan<byte> name = ProcText.TakeWord(ref line);
            if (_diskName is null ? !IsWholeDisk(name) : !name.SequenceEqual(_diskName))
                continue;
            found = true;
            ProcText.SkipWords(ref line, 2);
            read += ProcText.TakeNumber(ref line) * SectorBytes;
            ProcText.SkipWords(ref line, 3);
            written += ProcText.TakeNumber(ref line) * SectorBytes;
            ProcText.SkipWords(ref line, 2);
            busy += ProcText.TakeNumber(ref line);
        }

        if (found)
            (values[Column("disk_read")], values[Column("disk_written")], values[Column("disk_busy")]) = (read, written, busy);
    }

    // Two lines of headings, then "name: bytes packets errs drop fifo frame compressed multicast bytes …".
    private void ReadNetwork(double[] values)
    {
        ReadOnlySpan<byte> text = _netdev.Read(_buffer);
        double received = 0, sent = 0;
        bool found = false;
        while (ProcText.TryTakeLine(ref text, out ReadOnlySpan<byte> line))
        {
            int colon = line.IndexOf((byte)':');
            if (colon < 0)
                continue;
            line = line[(colon + 1)..];
            found = true;
            received += ProcText.TakeNumber(ref line);
            ProcText.SkipWords(ref line, 7);
            sent += ProcText.TakeNumber(ref line);
        }

        if (found)
            (values[Column("network_received")], values[Column("network_sent")]) = (received, sent);
    }

    private void ReadClient(double[] values)
    {
        // getrusage: the same figures as /proc/self/stat, in microseconds instead of hundredths of a second.
        if (OperatingSystem.IsLinux() || OperatingSystem.IsWindows() || OperatingSystem.IsMacOS())
        {
            Environment.ProcessCpuUsage usage = Environment.CpuUsage;
            values[Column("client_cpu_user")] = usage.UserTime.TotalMicroseconds;
            values[Column("client_cpu_system")] = usage.PrivilegedTime.TotalMicroseconds;
        }

        ReadOnlySpan<byte> pages = _statm.Read(_buffer.AsSpan(0, 256));
        ProcText.SkipWords(ref pages, 1);
        double resident = ProcText.TakeNumber(ref pages) * Environment.SystemPageSize;
        values[Column("client_resident")] = double.IsNaN(resident) ? Environment.WorkingSet : resident;
    }

    private byte[]? FindDisk(MountedDisk? mount)
    {
        if (mount is null)
            return null;
        // btrfs and the like have an invented number 0:N, but name their device.
        ReadOnlySpan<byte> source = Encoding.ASCII.GetBytes(Path.GetFileName(mount.Source));
        ReadOnlySpan<byte> text = _diskstats.Read(_buffer);
        while (ProcText.TryTakeLine(ref text, out ReadOnlySpan<byte> line))
        {
            double major = ProcText.TakeNumber(ref line);
            double minor = ProcText.TakeNumber(ref line);
            ReadOnlySpan<byte> name = ProcText.TakeWord(ref line);
            bool same = mount.Major != 0
                ? major == mount.Major && minor == mount.Minor
                : mount.Source.StartsWith("/dev/", StringComparison.Ordinal) && name.SequenceEqual(source);
            if (same)
                return name.ToArray();
        }

        return null;
    }

    // Partitions (sda1, nvme0n1p1) repeat their disk's traffic, dm and md devices that of the disks below them.
    private static bool IsWholeDisk(ReadOnlySpan<byte> name)
    {
        if (name.StartsWith("nvme"u8) || name.StartsWith("mmcblk"u8))
            return !name.Contains((byte)'p');
        bool isDisk = name.StartsWith("sd"u8) || name.StartsWith("vd"u8) || name.StartsWith("xvd"u8) || name.StartsWith("hd"u8);
        return isDisk && name.Length > 0 && !char.IsAsciiDigit((char)name[^1]);
    }

    private static DriveInfo? OpenDrive(string folder)
    {
        try
        {
            return new DriveInfo(Path.GetFullPath(folder));
        }
        catch (ArgumentException)
        {
            return null;
        }
    }
}
