using System.Diagnostics;
using System.Runtime.Versioning;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

/// <summary>What a program that is started may use of the machine's CPUs.</summary>
[SupportedOSPlatform("linux")]
public sealed class CpuAffinityTests
{
    [Theory]
    [InlineData("0", 0)]
    [InlineData("0-3,8", 0, 1, 2, 3, 8)]
    [InlineData("\t2,5-6\n", 2, 5, 6)]
    [InlineData("")]
    public void Lists_are_read_as_the_system_writes_them(string list, params int[] cpus) => Assert.Equal(cpus, CpuAffinity.Parse(list));

    [Fact]
    public void A_child_is_confined_and_the_program_that_starts_it_is_not()
    {
        IReadOnlyList<int> own = CpuAffinity.Own;
        int last = own[^1];
        using Process child = CpuAffinity.Confine([last], () => Process.Start(new ProcessStartInfo("/bin/sh",
            ["-c", "grep Cpus_allowed_list: /proc/self/status"]) { RedirectStandardOutput = true })!);
        string said = child.StandardOutput.ReadToEnd();
        child.WaitForExit();
        Assert.Equal([last], CpuAffinity.Parse(said.Split(':')[1]));
        Assert.Equal(own, CpuAffinity.Own);
        Assert.Equal(own, CpuAffinity.Parse(File.ReadAllLines("/proc/thread-self/status")
            .Single(line => line.StartsWith("Cpus_allowed_list:", StringComparison.Ordinal)).Split(':')[1]));
    }

    [Fact]
    public void What_fails_to_start_fails_as_without() =>
        Assert.Throws<InvalidOperationException>(() =>
            CpuAffinity.Confine<int>([CpuAffinity.Own[0]], () => throw new InvalidOperationException("no")));

    [Fact]
    public void More_than_there_are_is_refused_with_what_is_allowed()
    {
        int there = CpuAffinity.Own.Count;
        Assert.Equal(CpuAffinity.Own, CpuAffinity.First(there));
        var refused = Assert.Throws<DeploymentException>(() => CpuAffinity.First(there + 1));
        Assert.Equal(2, (int)refused.Fault);
        Assert.StartsWith($"--cpus is {there + 1}; allowed: 1 to {there}", refused.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_process_s_own_are_in_its_status()
    {
        using var folder = new TemporaryFolder();
        FakeProc.WriteFile(folder.At("7/status"), "Name:\tmongod\nCpus_allowed:\t5\nCpus_allowed_list:\t0,2\nMems_allowed:\t1\n");
        Assert.Equal([0, 2], new ProcessTable(folder.Path).CpusOf(7));
        Assert.Empty(new ProcessTable(folder.Path).CpusOf(8));
    }
}
