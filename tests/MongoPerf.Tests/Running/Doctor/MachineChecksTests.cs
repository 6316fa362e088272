using MongoPerf.Running.Doctor;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Running.Doctor;

/// <summary>Machines that are folders of files: a good one, and five that are not.</summary>
public sealed class MachineChecksTests : IDisposable
{
    private readonly TemporaryFolder _root = new();

    public MachineChecksTests()
    {
        Write("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 4000000 kB\nSwapFree: 4000000 kB\n");
        Limits(files: "524288", processes: "unlimited");
        Write("proc/self/cgroup", "0::/user.slice\n");
        Write("proc/self/mountinfo", "27 1 8:1 / / rw,relatime shared:1 - xfs /dev/sda1 rw\n");
        Write("proc/sys/vm/max_map_count", "262144\n");
        Write("proc/sys/vm/swappiness", "1\n");
        Write("sys/block/sda/dev", "8:0\n");
        Write("sys/block/sda/sda1/dev", "8:1\n");
        Write("sys/block/sda/queue/read_ahead_kb", "16\n");
        Write("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm \n");
        Write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        Write("sys/devices/system/node/node0/meminfo", "\n");
        Write("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
        Write("sys/fs/cgroup/cgroup.subtree_control", "cpu memory\n");
        Write("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    }

    public void Dispose() => _root.Dispose();

    [Fact]
    public void A_good_machine_has_nothing_to_be_done()
    {
        IReadOnlyList<Check> checks = Run("7.0.5");
        Assert.DoesNotContain(checks, check => check.State != CheckState.Ok && check.Subject is not ("processor" or "disk"));
        Assert.Equal("16 KB on sda", Find(checks, "readahead").Found);
        Assert.Equal("never, as MongoDB 7.0 wants it", Find(checks, "huge pages").Found);
        Assert.Equal("--memory-limit and --cpus can be used (control groups, version 2)", Find(checks, "limits").Found);
    }

    [Fact]
    public void A_laptop_saves_power_and_swaps()
    {
        Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
        Write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
        Write("proc/sys/vm/swappiness", "60\n");
        Write("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 300000 kB\nSwapTotal: 4000000 kB\nSwapFree: 1000000 kB\n");
        Write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
        Write("proc/self/mountinfo", "27 1 259:2 / / rw - ext4 /dev/nvme0n1p2 rw\n");
        IReadOnlyList<Check> checks = Run("7.0.5");
        Warns(checks, "frequency", "powersave: ", "cpupower frequency-set -g performance");
        Warns(checks, "swappiness", "60: ", "sysctl -w vm.swappiness=1");
        Warns(checks, "memory", "too little", "end other programs");
        Warns(checks, "swap", "2.86 GiB in use", "swapoff -a");
        Warns(checks, "huge pages", "always: MongoDB 7.0 wants never", "echo never > /sys/kernel/mm/transparent_hugepage/enabled");
        Warns(checks, "file system", "ext4 on /dev/nvme0n1p2: MongoDB recommends XFS", "--out");
        // What 7.0 does not want, 8.0 does.
        Assert.Equal(CheckState.Ok, Find(Run("8.0.4"), "huge pages").State);
    }

    [Fact]
    public void A_machine_with_two_sockets_is_asked_to_interleave()
    {
        Write("sys/devices/system/node/node1/meminfo", "\n");
        Write("sys/devices/system/node/possible", "0-1\n");
        Warns(Run(null), "NUMA", "2 nodes", "numactl --interleave=all");
        Write("proc/sys/vm/zone_reclaim_mode", "1\n");
        Warns(Run(null), "NUMA", "zone_reclaim_mode makes that worse", "sysctl -w vm.zone_reclaim_mode=0; start the server");
    }

    [Fact]
    public void A_container_has_few_files_and_no_groups()
    {
        Limits(files: "100", processes: "4096");
        Write("proc/self/cgroup", "0::/\n");
        File.Delete(_root.At("sys/fs/cgroup/cgroup.subtree_control"));
        Write("proc/self/mountinfo", "27 1 0:52 / / rw - overlay overlay rw\n");
        Directory.Delete(_root.At("sys/devices"), recursive: true);
        Write("proc/sys/vm/max_map_count", "8192\n");
        IReadOnlyList<Check> checks = Run(null);
        Check files = Find(checks, "open files");
        Assert.Equal(
            (CheckState.Problem, "100 open files: too few for a run", "ulimit -n 64000"), (files.State, files.Found, files.Advice));
        Warns(checks, "processes", "4,096 processes and threads", "ulimit -u 64000");
        Warns(checks, "memory maps", "vm.max_map_count is 8192", "sysctl -w vm.max_map_count=128000");
        Warns(checks, "limits", "--memory-limit can't be used: no group above", "control groups may be created");
        Warns(checks, "file system", "overlay on overlay: a container's own layer", "--out");
        // What a container hides is no warning.
        Assert.DoesNotContain(checks, check => check.Subject is "clock source" or "readahead" or "frequency" or "NUMA");
    }

    [Fact]
    public void An_old_virtual_machine_has_a_slow_clock_and_reads_far_ahead()
    {
        Write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
        Write("sys/block/sda/queue/read_ahead_kb", "4096\n");
        Limits(files: "1024", processes: "unlimited");
        File.Delete(_root.At("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
        IReadOnlyList<Check> checks = Run(null);
        Assert.Equal("not reported, as in most virtual machines: the host decides", Find(checks, "frequency").Found);
        Warns(checks, "clock source", "hpet: every timestamp is a system call", "echo tsc > /sys/devices/system/clocksource");
        Warns(checks, "readahead", "4096 KB on sda", "blockdev --setra 32 /dev/sda");
        Warns(checks, "open files", "1,024 open files", "ulimit -n 64000");
        Write("sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm\n");
        Warns(Run(null), "clock source", "hpet", "this machine has no better one");
    }

    [Fact]
    public void A_machine_without_a_disk_of_its_own_measures_the_network()
    {
        Write("proc/self/mountinfo", "27 1 0:40 / / rw - nfs4 filer:/export rw\n28 27 0:41 / /proc rw - proc proc rw\n");
        Write("proc/meminfo", "MemTotal: 2000000 kB\nMemAvailable: 1500000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
        Write("proc/sys/vm/swappiness", "60\n");
        IReadOnlyList<Check> checks = Run(null);
        Warns(checks, "file system", "nfs4 on filer:/export: over a network", "--out");
        Assert.Equal("60, but there is no swap", Find(checks, "swappiness").Found);
        Assert.DoesNotContain(checks, check => check.Subject is "readahead" or "swap");
    }

    [Fact]
    public void A_runs_folder_that_can_not_be_written_prevents_runs()
    {
        Write("file", "");
        // In a file no folder can be made; where it is missing, the nearest folder above counts.
        Assert.DoesNotContain(new MachineChecks(null, _root.Path).Run(_root.At("new/runs")), check => check.Subject == "runs folder");
        Check check = Find(new MachineChecks(null, _root.Path).Run("/proc/runs"), "runs folder");
        Assert.Equal((CheckState.Problem, "choose another with --out"), (check.State, check.Advice));
    }

    [Fact]
    public void Noise_is_told_with_what_makes_it()
    {
        IReadOnlyList<Check> quiet = new MachineNoise(0.01, 0, null, 0.4, 25, 1).Checks();
        Assert.All(quiet, check => Assert.Equal(CheckState.Ok, check.State));
        Assert.Equal("25 ns to read, 1 ns resolution", Find(quiet, "clock").Found);
        IReadOnlyList<Check> loud = new MachineNoise(0.4, 0.03, ("java", 0.75), 38.25, 900, 1000).Checks();
        Warns(loud, "other programs", "40 % of all CPUs; most by java (75 % of a CPU)", "quiet");
        Warns(loud, "stolen time", "3 % of all CPUs went to other virtual machines", "--repeat");
        Warns(loud, "longest pause", "38.25 ms for which a busy thread did not run", "quiet machine");
        Warns(loud, "clock", "900 ns to read, 1000 ns resolution", "clock source");
    }

    [Fact]
    public void Noise_can_be_measured_here()
    {
        MachineNoise noise = MachineNoise.Measure(0.02, CancellationToken.None);
        Assert.InRange(noise.ReadingNanoseconds, 1, 1e6);
        Assert.InRange(noise.LongestPauseMilliseconds, 0, 1e5);
        Assert.True(double.IsNaN(noise.OtherShare) || noise.OtherShare is >= 0 and <= 1);
    }

    private static Check Find(IEnumerable<Check> checks, string subject) => Assert.Single(checks, check => check.Subject == subject);

    private static void Warns(IEnumerable<Check> checks, string subject, string found, string advice)
    {
        Check check = Find(checks, subject);
        Assert.Equal(CheckState.Warning, check.State);
        Assert.Contains(found, check.Found, StringComparison.Ordinal);
        Assert.Contains(advice, check.Advice!, StringComparison.Ordinal);
    }

    private IReadOnlyList<Check> Run(string? version) =>
        new MachineChecks(version is null ? null : Version.Parse(version), _root.Path).Run(_root.Path);

    private void Limits(string files, string processes) => Write("proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        + $"Max processes             {processes,-20} unlimited            processes \n"
        + $"Max open files            {files,-20} 524288               files     \n");

    private void Write(string path, string text)
    {
        string full = _root.At(path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }
}
