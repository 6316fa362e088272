using System.Globalization;
using MongoPerf.Deployments.Processes;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Platforms;
using MongoPerf.Storage;

namespace MongoPerf.Running.Doctor;

/// <summary>
/// What this machine allows, and how it is set: as MongoDB's production notes have it where a server would run here, and as measuring
/// needs it. A check whose file is not there is left out: another system, or a container that hides it.
/// </summary>
/// <param name="serverVersion">The version of the mongod that runs would start; null where none is found.</param>
/// <param name="root">Another folder than / in tests.</param>
public sealed class MachineChecks(Version? serverVersion, string root = "/")
{
    private const long Gibibyte = 1L << 30;

    /// <summary>MongoDB's recommendation for open files and processes.</summary>
    private const long EnoughFiles = 64_000;
    private const long LeastFiles = 256;

    /// <summary>MongoDB's recommendation: two maps for each connection that it may get.</summary>
    private const long EnoughMaps = 128_000;

    /// <summary>What Linux has by itself, enough for 32,000 connections; a run has 10,000 at most.</summary>
    private const long LeastMaps = 65_530;

    /// <summary>The version with which MongoDB's recommendation for huge pages turned round.</summary>
    private static readonly Version HugePagesWanted = new(8, 0);

    private static readonly string[] FastClocks = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "stp"];

    /// <param name="runsFolder">Where runs, and the data of servers that they start, would lie.</param>
    public IReadOnlyList<Check> Run(string runsFolder)
    {
        string existing = StorageChecks.Existing(Path.GetFullPath(runsFolder));
        EnvironmentInfo machine = EnvironmentReader.Read(existing, serverOnSameMachine: true, root);
        return
        [
            .. new[]
            {
                Processor(machine), Memory(machine), Swapped(), Limits(), Handles(), Processes(), Maps(), Clock(), Frequency(), HugePages(),
                Swappiness(), Numa(),
            }.OfType<Check>(),
            .. new StorageChecks(root).Run(existing, machine),
        ];
    }

    private static Check Processor(EnvironmentInfo machine)
    {
        string found = $"{machine.CpuModel}, {Units.Counted(machine.CpuCount, "CPU")}";
        return machine.CpuCount > 1 ? Check.Ok("processor", found) : Check.Warning(
            "processor", $"{found}: client and server would take turns on it",
            "measure a server on another machine, with --uri");
    }

    private Check Memory(EnvironmentInfo machine)
    {
        double available = NumberIn("proc/meminfo", "MemAvailable:") * 1024;
        string found = $"{Units.BinaryBytes(machine.MemoryBytes)}"
            + (double.IsNaN(available) ? "" : $", {Units.BinaryBytes(available)} available");
        return available < Gibibyte / 2 ? Check.Warning("memory", $"{found}: too little for a server with its cache", "end other programs")
            : Check.Ok("memory", found);
    }

    private Check? Swapped()
    {
        double used = (NumberIn("proc/meminfo", "SwapTotal:") - NumberIn("proc/meminfo", "SwapFree:")) * 1024;
        return used > Gibibyte / 16 ? Check.Warning(
            "swap", $"{Units.BinaryBytes(used)} in use: some program's memory is on the disk, and is read back when it is least welcome",
            "stop what uses the memory, then: swapoff -a && swapon -a") : null;
    }

    private Check Limits()
    {
        var place = MemoryGroupPlace.Find(root);
        return place.Folder is null
            ? Check.Warning(
                "limits", $"--memory-limit can't be used: {place.Problem}", "omit it, or run where control groups may be created")
            : Check.Ok("limits", $"--memory-limit and --cpus can be used (control groups, version {place.Version})");
    }

    private Check? Handles()
    {
        if (ProcessLimit.Read(ProcessLimit.Handles, root) is not { } most)
            return null;
        string found = $"{Text(most)} open files";
        return most < LeastFiles ? Check.Problem("open files", $"{found}: too few for a run", $"ulimit -n {EnoughFiles}")
            : most < EnoughFiles ? Check.Warning(
                "open files", $"{found}: a mongod that a run starts inherits this and may run out of files; MongoDB asks for "
                    + $"{EnoughFiles:N0}", $"ulimit -n {EnoughFiles}, or LimitNOFILE= of a systemd unit")
            : Check.Ok("open files", found);
    }

    private Check? Processes() => ProcessLimit.Read(ProcessLimit.Processes, root) is { } most && most < EnoughFiles
        ? Check.Warning(
            "processes",
            $"{Text(most)} processes and threads: a mongod has a thread for each connection; MongoDB asks for {EnoughFiles:N0}",
            $"ulimit -u {EnoughFiles}")
        : null;

    private Check? Maps() => Number("proc/sys/vm/max_map_count") is { } maps && maps < LeastMaps
        ? Check.Warning(
            "memory maps", $"vm.max_map_count is {maps}: a mongod needs two for each connection; MongoDB asks for {EnoughMaps}",
            $"sysctl -w vm.max_map_count={EnoughMaps}")
        : null;

    private Check? Clock()
    {
        const string Folder = "sys/devices/system/clocksource/clocksource0";
        if (Line($"{Folder}/current_clocksource") is not { } source)
            return null;
        string[] others = (Line($"{Folder}/available_clocksource") ?? "").Split(' ');
        return FastClocks.Contains(source) ? Check.Ok("clock source", source) : Check.Warning(
            "clock source", $"{source}: every timestamp is a system call of about a microsecond",
            FastClocks.FirstOrDefault(others.Contains) is { } better ? $"echo {better} > /{Folder}/current_clocksource"
                : "this machine has no better one: latencies below some 10 µs are uncertain");
    }

    private Check? Frequency()
    {
        IReadOnlyList<string> cpus = Folders("sys/devices/system/cpu", "cpu*");
        string[] governors =
            [.. cpus.Select(cpu => Line(Path.Combine(cpu, "cpufreq/scaling_governor"))).OfType<string>().Distinct()];
        return cpus.Count == 0 ? null
            : governors is [] ? Check.Ok("frequency", "not reported, as in most virtual machines: the host decides")
            : governors is ["performance"] ? Check.Ok("frequency", "performance")
            : Check.Warning(
                "frequency", $"{string.Join(", ", governors)}: CPUs slow down when they have little to do, so latencies at a low rate are "
                    + "longer than at a high one", "cpupower frequency-set -g performance");
    }

    private Check? HugePages()
    {
        const string Folder = "sys/kernel/mm/transparent_hugepage";
        if (Line($"{Folder}/enabled") is not { } line || line.IndexOf('[') is var at && at < 0)
            return null;
        string chosen = line[(at + 1)..].Split(']')[0];
        string wanted = serverVersion >= HugePagesWanted ? "always" : "never";
        if (serverVersion is null)
            return Check.Ok("huge pages", $"{chosen} (MongoDB 8.0 and later wants always, earlier ones never)");
        string version = $"MongoDB {serverVersion.ToString(2)}";
        return chosen == wanted ? Check.Ok("huge pages", $"{chosen}, as {version} wants it") : Check.Warning(
            "huge pages", $"{chosen}: {version} wants {wanted}"
                + (wanted == "never" ? "; its memory is scattered, and huge pages waste it and stall it" : ""),
            $"echo {wanted} > /{Folder}/enabled");
    }

    private Check? Swappiness()
    {
        if (Number("proc/sys/vm/swappiness") is not { } swappiness)
            return null;
        return swappiness <= 1 ? Check.Ok("swappiness", $"{swappiness}")
            : NumberIn("proc/meminfo", "SwapTotal:") is 0 ? Check.Ok("swappiness", $"{swappiness}, but there is no swap")
            : Check.Warning("swappiness", $"{swappiness}: the system may swap a server's cache out; MongoDB asks for 1",
                "sysctl -w vm.swappiness=1");
    }

    private Check? Numa()
    {
        int nodes = Folders("sys/devices/system/node", "node*").Count;
        if (nodes <= 1)
            return nodes == 1 ? Check.Ok("NUMA", "one node") : null;
        bool reclaims = Number("proc/sys/vm/zone_reclaim_mode") is > 0;
        return Check.Warning(
            "NUMA", $"{nodes} nodes: memory of another node is slower, and one node may be full while others are empty"
                + (reclaims ? "; vm.zone_reclaim_mode makes that worse" : ""),
            (reclaims ? "sysctl -w vm.zone_reclaim_mode=0; " : "")
                + "start the server with numactl --interleave=all, and name it with --uri");
    }

    private static string Text(long limit) => limit == long.MaxValue ? "any number of" : limit.ToString("N0", CultureInfo.InvariantCulture);

    private double NumberIn(string path, string name)
    {
        string? line = SystemFile.ReadText(At(path)).Split('\n').FirstOrDefault(line => line.StartsWith(name, StringComparison.Ordinal));
        return line is not null && double.TryParse(line[name.Length..].Trim().Split(' ')[0], out double number) ? number : double.NaN;
    }

    private long? Number(string path) => long.TryParse(Line(path), out long number) ? number : null;

    private string? Line(string path) => SystemFile.ReadText(At(path)).Split('\n')[0].Trim() is { Length: > 0 } line ? line : null;

    /// <summary>Those whose name is the pattern's with a number.</summary>
    private IReadOnlyList<string> Folders(string path, string pattern) => !Directory.Exists(At(path)) ? []
        : [.. Directory.EnumerateDirectories(At(path), pattern).Where(folder => char.IsAsciiDigit(folder[^1]))];

    private string At(string path) => Path.Combine(root, path);
}
