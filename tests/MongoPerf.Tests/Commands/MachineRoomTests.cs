using MongoPerf.Running.Sessions;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

public sealed class MachineRoomTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("mongoperf-room").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void Where_the_system_tells_no_limit_there_is_none() => Check(10_000, hasServer: true);

    /// <summary>The server has a thread for each connection, and both count.</summary>
    [Fact]
    public void A_limit_on_processes_is_named_with_the_number_of_threads_that_fits()
    {
        Write("proc/loadavg", "0.20 0.18 0.12 1/300 11206\n");
        Write("proc/sys/kernel/pid_max", "1000\n");
        Check(600, hasServer: false);
        Check(300, hasServer: true);
        UserException refused = Assert.Throws<UserException>(() => Check(500, hasServer: true));
        Assert.Equal("500 threads need 1,100 threads of the operating system, with those of a server on this machine, but "
            + "kernel.pid_max leaves 700", refused.Message);
        Assert.Equal("raise it (sysctl -w kernel.pid_max=4194304), or use at most 300 threads", refused.Hint);
        Assert.Equal(ExitCode.WrongUsage, refused.Code);
        Assert.Throws<UserException>(() => Check(601, hasServer: false));
        Write("proc/sys/kernel/pid_max", "320\n");
        Check(99, hasServer: true);
        Assert.EndsWith("or use at most 99 threads", Assert.Throws<UserException>(() => Check(100, hasServer: true)).Hint,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Threads_of_the_whole_machine_are_limited_too()
    {
        Write("proc/loadavg", "0.20 0.18 0.12 1/300 11206\n");
        Write("proc/sys/kernel/pid_max", "4194304\n");
        Write("proc/sys/kernel/threads-max", "2400\n");
        Check(2_000, hasServer: false);
        Assert.Equal("2,001 threads need 2,101 threads of the operating system, but kernel.threads-max leaves 2,100",
            Assert.Throws<UserException>(() => Check(2_001, hasServer: false)).Message);
    }

    /// <summary>In a container the path is often the host's, and the container's own limit at the top.</summary>
    [Theory]
    [InlineData("0::/\n", "sys/fs/cgroup")]
    [InlineData("0::/docker/0123\n", "sys/fs/cgroup")]
    [InlineData("12:pids:/x\n0::/user.slice/session.scope\n", "sys/fs/cgroup/user.slice")]
    public void A_control_groups_limit_is_that_of_each_group_above(string own, string limited)
    {
        Write("proc/self/cgroup", own);
        Write($"{limited}/pids.max", "512\n");
        Write($"{limited}/pids.current", "12\n");
        Check(400, hasServer: false);
        UserException refused = Assert.Throws<UserException>(() => Check(401, hasServer: false));
        Assert.Equal($"401 threads need 501 threads of the operating system, but the control group's pids.max ({limited}) leaves 500",
            refused.Message);
        Write($"{limited}/pids.max", "max\n");
        Check(401, hasServer: false);
    }

    [Fact]
    public void Each_thread_needs_four_memory_maps()
    {
        Write("proc/sys/vm/max_map_count", "4003\n");
        Write("proc/self/maps", "00400000-00452000 r-xp /usr/bin/x\n00651000-00652000 r--p\n00652000-00655000 rw-p\n");
        Check(900, hasServer: true);
        Assert.Equal("901 threads need 1,001 threads of the operating system, but vm.max_map_count leaves 1,000",
            Assert.Throws<UserException>(() => Check(901, hasServer: true)).Message);
    }

    [Fact]
    public void Memory_that_would_not_do_is_named_before_the_run()
    {
        Write("proc/meminfo", "MemTotal:       1000000 kB\nMemAvailable:    122071 kB\n");
        Check(999, hasServer: false);
        UserException refused = Assert.Throws<UserException>(() => Check(1_001, hasServer: false));
        Assert.Equal("1,001 threads need about 95.5 MiB of memory, but 119 MiB are left here, of which they may take 80 %",
            refused.Message);
        Write("proc/self/cgroup", "0::/\n");
        Write("sys/fs/cgroup/memory.max", "100000000\n");
        Write("sys/fs/cgroup/memory.current", "50000000\n");
        refused = Assert.Throws<UserException>(() => Check(999, hasServer: false));
        Assert.Equal("use at most 400 threads, or agents on several machines (--agents)", refused.Hint);
    }

    private void Check(int threads, bool hasServer) => new MachineRoom(_root).Check(threads, threads, hasServer);

    private void Write(string path, string text)
    {
        string file = Path.Combine(_root, path);
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        File.WriteAllText(file, text);
    }
}
