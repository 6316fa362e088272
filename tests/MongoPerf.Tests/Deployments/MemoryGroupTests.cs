using System.Runtime.Versioning;
using MongoPerf.Deployments.Processes;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

/// <summary>Where control groups are made, on systems that exist as folders only.</summary>
[SupportedOSPlatform("linux")]
public sealed class MemoryGroupTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void With_version_1_it_lies_below_the_program_s_own_group()
    {
        Write("proc/self/cgroup", "5:devices:/other\n4:cpu,memory:/own/group\n0::/\n");
        Directory.CreateDirectory(_folder.At("sys/fs/cgroup/memory/own/group"));
        MemoryGroupPlace place = MemoryGroupPlace.Find(_folder.Path);
        Assert.Null(place.Problem);
        var group = new MemoryGroup("mongoperf-x", 5 << 20, place);
        string procs = group.Make()!;
        Assert.Equal(_folder.At("sys/fs/cgroup/memory/own/group/mongoperf-x/cgroup.procs"), procs);
        Assert.Equal("5242880", Read("sys/fs/cgroup/memory/own/group/mongoperf-x/memory.limit_in_bytes"));
        // Made again, as after a crash, it takes the limit of now.
        new MemoryGroup("mongoperf-x", 6 << 20, place).Make();
        Assert.Equal("6291456", Read("sys/fs/cgroup/memory/own/group/mongoperf-x/memory.limit_in_bytes"));
        File.Delete(_folder.At("sys/fs/cgroup/memory/own/group/mongoperf-x/memory.limit_in_bytes"));
        MemoryGroup.Remove(group.Folder!);
        Assert.Empty(Directory.GetDirectories(_folder.At("sys/fs/cgroup/memory/own/group")));
    }

    [Theory]
    [InlineData("5:memory:/own\n", "memory/own", "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill ")]
    [InlineData("0::/own\n", "own", "memory.events", "low 0\nmax 2\noom 1\noom_kill ")]
    public void A_process_that_its_limit_ended_is_told_from_one_that_exited(string groups, string parent, string file, string counts)
    {
        Write("proc/self/cgroup", groups);
        Write("sys/fs/cgroup/cgroup.controllers", "memory\n");
        Write("sys/fs/cgroup/own/cgroup.subtree_control", "memory\n");
        Directory.CreateDirectory(_folder.At($"sys/fs/cgroup/{parent}"));
        var group = new MemoryGroup("mongoperf-x", 256 << 20, MemoryGroupPlace.Find(_folder.Path));
        group.Make();
        // Of an earlier run.
        Write($"sys/fs/cgroup/{parent}/mongoperf-x/{file}", counts + "1\n");
        Assert.Equal("had exited", MemoryGroup.ExitText(group));
        Assert.Equal("had exited", MemoryGroup.ExitText(group));
        Write($"sys/fs/cgroup/{parent}/mongoperf-x/{file}", counts + "2\n");
        Assert.Equal("had been killed at its memory limit of 256 MiB", MemoryGroup.ExitText(group));
        Assert.Equal("had exited", MemoryGroup.ExitText(group));
        File.Delete(_folder.At($"sys/fs/cgroup/{parent}/mongoperf-x/{file}"));
        Assert.Equal("had exited", MemoryGroup.ExitText(group));
        Assert.Equal("had exited", MemoryGroup.ExitText(null));
    }

    [Fact]
    public void In_a_container_whose_own_path_is_the_host_s_it_lies_at_the_top()
    {
        Write("proc/self/cgroup", "4:memory:/docker/0123\n");
        Directory.CreateDirectory(_folder.At("sys/fs/cgroup/memory"));
        Assert.Equal(_folder.At("sys/fs/cgroup/memory"), MemoryGroupPlace.Find(_folder.Path).Folder);
    }

    [Fact]
    public void With_version_2_it_lies_below_the_nearest_group_that_hands_memory_on()
    {
        Write("proc/self/cgroup", "0::/user.slice/user-0.slice/session-1.scope\n");
        Write("sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n");
        Write("sys/fs/cgroup/user.slice/user-0.slice/cgroup.subtree_control", "memory pids\n");
        Write("sys/fs/cgroup/user.slice/user-0.slice/session-1.scope/memory.max", "max\n");
        Write("sys/fs/cgroup/user.slice/user-0.slice/session-1.scope/cgroup.subtree_control", "\n");
        MemoryGroupPlace place = MemoryGroupPlace.Find(_folder.Path);
        Assert.Equal((_folder.At("sys/fs/cgroup/user.slice/user-0.slice"), "memory.max"), (place.Folder, place.LimitFile));
    }

    [Fact]
    public void A_limit_of_the_program_is_not_left_behind()
    {
        Write("proc/self/cgroup", "0::/a/b\n");
        Write("sys/fs/cgroup/cgroup.controllers", "memory\n");
        Write("sys/fs/cgroup/a/cgroup.subtree_control", "memory\n");
        Write("sys/fs/cgroup/a/b/memory.max", "1073741824\n");
        MemoryGroupPlace place = MemoryGroupPlace.Find(_folder.Path);
        Assert.Null(place.Folder);
        Assert.Contains("no group above", place.Problem, StringComparison.Ordinal);
        var group = new MemoryGroup("mongoperf-x", 1, place);
        Assert.Null(group.Make());
        Assert.Null(group.Folder);
    }

    [Fact]
    public void A_system_without_them_says_so()
    {
        Assert.Contains("no memory control groups", MemoryGroupPlace.Find(_folder.Path).Problem, StringComparison.Ordinal);
        Write("proc/self/cgroup", "0::/\n");
        Assert.Contains("no memory control groups", MemoryGroupPlace.Find(_folder.Path).Problem, StringComparison.Ordinal);
    }

    [Fact]
    public void A_process_is_in_it_when_the_system_says_so()
    {
        string proc = _folder.At("proc");
        FakeProc.WriteFile(Path.Combine(proc, "7/cgroup"), "4:memory:/own/mongoperf-x\n0::/\n");
        FakeProc.WriteFile(Path.Combine(proc, "8/cgroup"), "4:memory:/own/mongoperf-xy\n0::/\n");
        var group = new MemoryGroup("mongoperf-x", 1, new MemoryGroupPlace(null, "", "none"));
        Assert.True(group.Holds(7, new ProcessTable(proc)));
        Assert.False(group.Holds(8, new ProcessTable(proc)));
        Assert.False(group.Holds(9, new ProcessTable(proc)));
    }

    private void Write(string name, string text) => FakeProc.WriteFile(_folder.At(name), text);

    private string Read(string name) => File.ReadAllText(_folder.At(name));
}
