using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Storage;

namespace MongoPerf.Deployments;

/// <summary>What a single server that is started may use of this machine, how it is held to that, and what came of it.</summary>
internal sealed class ServerLimits
{
    private readonly long? _memoryBytes;
    private readonly long _machineBytes;
    private readonly MemoryGroupPlace? _place;

    /// <param name="folder">The folder of its data, which names the group.</param>
    /// <param name="settings">Cache, memory (the page cache of its files included) and CPUs that it may use.</param>
    /// <exception cref="DeploymentException">The cache does not fit into the memory, or there are not so many CPUs.</exception>
    public ServerLimits(string folder, DeploymentSettings settings)
    {
        if (settings.CacheBytes is { } bytes)
            CacheSize.Check(bytes);
        CacheBytes = settings.CacheBytes;
        Cpus = settings.Cpus is { } count ? CpuAffinity.First(count) : null;
        _memoryBytes = settings.MemoryLimitBytes is > 0 and { } asked ? asked : null;
        _machineBytes = MachineMemory.ReadBytes();
        if (_memoryBytes is not { } limit || MemoryLimit.IsBeyond(limit, _machineBytes))
            return;
        CacheBytes ??= MemoryLimit.DefaultCache(limit);
        MemoryLimit.Check(limit, CacheBytes.Value);
        _place = MemoryGroupPlace.Find();
        Memory = new MemoryGroup(MemoryGroup.NameFor(folder), limit, _place);
    }

    /// <summary>The cache of the server in bytes; null for its own default.</summary>
    public long? CacheBytes { get; }

    /// <summary>Null where nothing is limited.</summary>
    public MemoryGroup? Memory { get; }

    /// <summary>Null for all.</summary>
    public IReadOnlyList<int>? Cpus { get; }

    /// <summary>What a reader of the figures must know of them.</summary>
    /// <param name="processId">The process of the server; null when it does not run.</param>
    /// <param name="table">Knows what the system did.</param>
    public IReadOnlyList<string> Describe(int? processId, ProcessTable table) =>
        processId is { } id ? [.. new[] { DescribeMemory(id, table), DescribeCpus(Cpus, id, table) }.OfType<string>()] : [];

    /// <summary>"runs on 1 of this machine's 2 CPUs (0)"; null when no limit was requested.</summary>
    private static string? DescribeCpus(IReadOnlyList<int>? cpus, int processId, ProcessTable table)
    {
        if (cpus is null)
            return null;
        IReadOnlyList<int> allowed = table.CpusOf(processId);
        return allowed.SequenceEqual(cpus) ? $"the server runs on {CpuText(cpus)}"
            : $"the server is not limited to {CpuText(cpus)}: the system lets it use CPUs {string.Join(", ", allowed)}";
    }

    /// <summary>"1 of this machine's 2 CPUs (CPU 0)".</summary>
    public static string CpuText(IReadOnlyList<int> cpus) =>
        $"{cpus.Count} of {CpuAffinity.Own.Count} CPUs (CPU {string.Join(", ", cpus)})";

    private string? DescribeMemory(int processId, ProcessTable table) => _memoryBytes is not { } limit ? null
        : Memory is null ? NotLimited(limit, $"this machine has {CacheSize.Text(_machineBytes)}")
        : Memory.Holds(processId, table) ? LimitedText(limit, _place!)
        : NotLimited(limit, _place!.Problem ?? "the system did not let the server join its control group");

    /// <summary>"memory limited to 1 GiB (cgroup v1), page cache included".</summary>
    public static string LimitedText(long bytes, MemoryGroupPlace place) =>
        $"memory limited to {CacheSize.Text(bytes)} (cgroup v{place.Version}), page cache included";

    private static string NotLimited(long bytes, string why) => $"memory not limited to {CacheSize.Text(bytes)}: {why}";
}
