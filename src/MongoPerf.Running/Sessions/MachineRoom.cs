using System.Globalization;
using MongoPerf.Platforms;
using MongoPerf.Texts;
using MongoPerf.Texts.Input;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Whether this machine has room for a run's threads: Linux's limits on their number, and memory. A limit that the system does not tell
/// is none.
/// </summary>
/// <param name="root">Another folder than / in tests.</param>
internal sealed class MachineRoom(string root = "/")
{
    /// <summary>Fewer have room on any machine, also where a small container leaves less than what is reckoned with here.</summary>
    private const int Few = 100;

    /// <summary>What a thread of .NET has (measured): its stack and another one for signals, each with a guard.</summary>
    private const int MapsPerThread = 4;

    /// <summary>
    /// A thread with its stacks, its connection with the kernel's buffers at both ends, and what it sends and receives with: measured,
    /// docs/performance.md. Over TLS OpenSSL has 46 KB more.
    /// </summary>
    private const long BytesPerThread = 100_000;

    /// <summary>The rest is for replies, and for other programs.</summary>
    private const double MostOfMemory = 0.8;

    /// <summary>The run's other threads, and those that other programs may start meanwhile.</summary>
    private const int OtherThreads = 100;

    /// <param name="threads">Threads that are at work at once.</param>
    /// <param name="connections">Their connections.</param>
    /// <param name="hasServer">The server is on this machine, and has a thread for each connection.</param>
    /// <exception cref="UserException">There is less room than they need.</exception>
    public void Check(int threads, int connections, bool hasServer)
    {
        if (threads < Few)
            return;
        int all = threads + (hasServer ? connections : 0);
        long running = ReadRunning();
        RequireThreads(threads, all, "kernel.pid_max", Number("proc/sys/kernel/pid_max") - running, "sysctl -w kernel.pid_max=4194304");
        RequireThreads(threads, all, "kernel.threads-max", Number("proc/sys/kernel/threads-max") - running,
            $"sysctl -w kernel.threads-max={2 * (running + all + OtherThreads)}");
        foreach (string group in Groups())
            RequireThreads(threads, all, $"the control group's pids.max ({group})",
                Number($"{group}/pids.max") - (Number($"{group}/pids.current") ?? 0), $"echo max > /{group}/pids.max");
        RequireThreads(threads, threads, "vm.max_map_count", (Number("proc/sys/vm/max_map_count") - ReadMaps()) / MapsPerThread,
            "sysctl -w vm.max_map_count=262144");
        RequireMemory(threads);
    }

    /// <param name="threads">Of the run.</param>
    /// <param name="all">Those that count: the run's own, or also the server's.</param>
    /// <param name="limit">What there is a limit of.</param>
    /// <param name="left">How many threads it leaves; null when that is not known.</param>
    /// <param name="command">Raises it.</param>
    private static void RequireThreads(int threads, int all, string limit, long? left, string command)
    {
        if (left is not { } most || all + OtherThreads <= most)
            return;
        long fitting = Math.Max(Few - 1, (most - OtherThreads) * threads / all);
        throw new UserException(ExitCode.WrongUsage,
            $"{threads:N0} threads need {all + OtherThreads:N0} threads of the operating system"
            + $"{(all > threads ? ", with those of a server on this machine" : "")}, but {limit} leaves {Math.Max(0, most):N0}",
            $"raise it ({command}), or use at most {fitting:N0} threads");
    }

    private void RequireMemory(int threads)
    {
        long bytes = threads * BytesPerThread;
        long left = Groups().Select(group => Number($"{group}/memory.max") - Number($"{group}/memory.current"))
            .Append(ReadAvailable()).Min() ?? long.MaxValue;
        if (bytes > left * MostOfMemory)
            throw new UserException(ExitCode.WrongUsage,
                $"{threads:N0} threads need about {Units.BinaryBytes(bytes)} of memory, but {Units.BinaryBytes(left)} are left here, "
                + $"of which they may take {MostOfMemory * 100:0} %",
                $"use at most {(long)(left * MostOfMemory / BytesPerThread):N0} threads, or agents on several machines (--agents)");
    }

    private string Text(string path) => SystemFile.ReadText(Path.Combine(root, path));

    private long? Number(string path) =>
        long.TryParse(Text(path).Trim(), CultureInfo.InvariantCulture, out long value) ? value : null;

    /// <summary>Threads on this machine: behind the slash of "0.20 0.18 0.12 1/80 11206".</summary>
    private long ReadRunning() =>
        Text("proc/loadavg").Split(' ') is [_, _, _, var running, ..] && running.Split('/') is [_, var all]
            && long.TryParse(all, CultureInfo.InvariantCulture, out long count) ? count : 0;

    private long ReadMaps() => Text("proc/self/maps").AsSpan().Count('\n');

    /// <summary>"MemAvailable:    9876543 kB", in bytes.</summary>
    private long? ReadAvailable() =>
        Text("proc/meminfo").Split('\n').FirstOrDefault(line => line.StartsWith("MemAvailable:", StringComparison.Ordinal))
            ?.Split(' ', StringSplitOptions.RemoveEmptyEntries) is [_, var kilobytes, ..]
            && long.TryParse(kilobytes, CultureInfo.InvariantCulture, out long value) ? value * 1024 : null;

    /// <summary>The folders of this process's control group (version 2) and of those above it.</summary>
    private List<string> Groups()
    {
        // "0::/user.slice/session.scope"; in a container the path may be the host's and not be there.
        string own = Text("proc/self/cgroup").Split('\n').FirstOrDefault(line => line.StartsWith("0::", StringComparison.Ordinal)) ?? "0::";
        var groups = new List<string>();
        for (string? at = own[3..].Trim('/'); at is not null; at = at.Length == 0 ? null : Path.GetDirectoryName(at) ?? "")
            groups.Add(Path.Combine("sys/fs/cgroup", at));
        return groups;
    }
}
