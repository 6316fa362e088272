using System.Globalization;
using System.Runtime.ExceptionServices;
using MongoPerf.Platforms;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Deployments.Processes;

/// <summary>
/// Which CPUs of this machine processes may use. Children inherit it, so a program is confined by the thread that starts it.
/// </summary>
/// <remarks>Source: sched_setaffinity(2), and proc(5) for Cpus_allowed_list. Thread-safe.</remarks>
public static class CpuAffinity
{
    /// <summary>The CPUs that this program may use, ascending: all of the machine's, unless it was confined itself.</summary>
    public static IReadOnlyList<int> Own => ProcessTable.System.CpusOf(Environment.ProcessId) is { Count: > 0 } cpus ? cpus
        : [.. Enumerable.Range(0, Environment.ProcessorCount)];

    /// <summary>The first CPUs of those that this program may use.</summary>
    /// <param name="count">1 or more.</param>
    /// <exception cref="DeploymentException">More than there are, or a system that can't hold a process to some of them.</exception>
    public static IReadOnlyList<int> First(int count)
    {
        LinuxOnly.Require("--cpus", "without it the server may use all CPUs");
        IReadOnlyList<int> own = Own;
        return count <= own.Count ? [.. own.Take(count)] : throw new DeploymentException(Fault.WrongUsage,
            $"--cpus is {count}; allowed: 1 to {own.Count}, the CPUs this process may use");
    }

    /// <summary>Starts something that, with all that it starts, may use these CPUs only.</summary>
    /// <param name="cpus">
    /// Null lets it use all that this program may. A system that refuses is no error: what came of it
    /// <see cref="ProcessTable.CpusOf"/> tells.
    /// </param>
    /// <param name="start">Starts it.</param>
    public static T Confine<T>(IReadOnlyList<int>? cpus, Func<T> start)
    {
        if (cpus is null)
            return start();
        T? started = default;
        ExceptionDispatchInfo? failure = null;
        // On a thread of its own: the affinity is the thread's, and ends with it.
        var thread = new Thread(() =>
        {
            try
            {
                if (Platform.IsLinux)
                    SystemCalls.ConfineThread(cpus);
                started = start();
            }
            catch (Exception e)
            {
                failure = ExceptionDispatchInfo.Capture(e);
            }
        });
        thread.Start();
        thread.Join();
        failure?.Throw();
        return started!;
    }

    /// <summary>The numbers of a list such as "0-3,8".</summary>
    public static IReadOnlyList<int> Parse(string list) =>
    [
        .. list.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries).SelectMany(range =>
        {
            int[] ends = [.. range.Split('-').Select(end => int.Parse(end, CultureInfo.InvariantCulture))];
            return Enumerable.Range(ends[0], ends[^1] - ends[0] + 1);
        }),
    ];
}
