using MongoPerf.Deployments;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

/// <summary>What a single server may use, and what is said of it.</summary>
public sealed class ServerLimitsTests : IDisposable
{
    private const long GigaByte = 1L << 30;
    private const long MegaByte = 1L << 20;
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(100 * MegaByte, 64 * MegaByte)]
    [InlineData(320 * MegaByte, 128 * MegaByte)]
    [InlineData(512 * MegaByte, 256 * MegaByte)]
    [InlineData(1 * GigaByte, 256 * MegaByte)]
    [InlineData(2 * GigaByte, 512 * MegaByte)]
    [InlineData(10 * GigaByte, 4608 * MegaByte)]
    public void Cache_that_goes_with_a_limit_is_mongod_s_own_on_such_a_machine_but_what_a_small_one_leaves_room_for(
        long limit, long cache) => Assert.Equal(cache, MemoryLimit.DefaultCache(limit));

    /// <summary>Found in 512 MB: a mongod was killed while it built eight indexes.</summary>
    [Theory]
    [InlineData(null, "6.0.5", null)]
    [InlineData(256, "6.0.5", 50)]
    [InlineData(512, "6.0.5", 64)]
    [InlineData(1599, "6.0.5", 199)]
    [InlineData(1600, "6.0.5", null)]
    [InlineData(512, "4.0.28", null)]
    public void Index_builds_get_an_eighth_of_a_small_limit(int? megabytes, string version, int? expected)
    {
        string[] arguments = expected is null ? [] : ["--setParameter", $"maxIndexBuildMemoryUsageMegabytes={expected}"];
        Assert.Equal(arguments, MemoryLimit.Arguments(megabytes * 1024L * 1024, Version.Parse(version)));
    }

    [Fact]
    public void Without_limits_nothing_is_said_and_nothing_asked_of_the_server()
    {
        foreach (long? none in (long?[])[null, 0])
        {
            var limits = new ServerLimits("/data/x", new DeploymentSettings { MemoryLimitBytes = none });
            Assert.Null(limits.CacheBytes);
            Assert.Null(limits.Memory);
            Assert.Null(limits.Cpus);
            Assert.Empty(limits.Describe(7, Table("0-1", "/")));
        }
    }

    [Fact]
    public void What_the_system_did_is_said_and_what_it_did_not_do()
    {
        var limits = new ServerLimits("/data/x", new DeploymentSettings { MemoryLimitBytes = 512 * MegaByte, Cpus = 1 });
        Assert.Equal(256 * MegaByte, limits.CacheBytes);
        int first = CpuAffinity.Own[0];
        IReadOnlyList<string> held = limits.Describe(7, Table($"{first}", $"/own/{MemoryGroup.NameFor("/data/x")}"));
        Assert.StartsWith("memory limited to 512 MiB (cgroup v", held[0], StringComparison.Ordinal);
        Assert.Equal($"the server runs on 1 of {CpuAffinity.Own.Count} CPUs (CPU {first})", held[1]);
        IReadOnlyList<string> free = limits.Describe(7, Table("900-901", "/own"));
        Assert.StartsWith("memory not limited to 512 MiB: ", free[0], StringComparison.Ordinal);
        Assert.EndsWith("the system lets it use CPUs 900, 901", free[1], StringComparison.Ordinal);
        Assert.Empty(limits.Describe(null, Table("0", "/")));
    }

    [Fact]
    public void A_limit_beyond_the_machine_is_a_remark_and_no_error()
    {
        var limits = new ServerLimits("/data/x", new DeploymentSettings { MemoryLimitBytes = 1L << 50 });
        Assert.Null(limits.Memory);
        Assert.Null(limits.CacheBytes);
        Assert.Matches("^memory not limited to 1048576 GiB: this machine has [0-9.]+ [MG]iB$",
            Assert.Single(limits.Describe(7, Table("0", "/"))));
    }

    [Fact]
    public void A_limit_that_the_cache_would_break_is_refused()
    {
        var refused = Assert.Throws<DeploymentException>(() =>
            new ServerLimits("/data/x", new DeploymentSettings { MemoryLimitBytes = GigaByte, CacheBytes = GigaByte }));
        Assert.StartsWith("--memory-limit is 1 GiB; allowed with a cache of 1 GiB: 1.25 GiB or more",
            refused.Message, StringComparison.Ordinal);
        Assert.Throws<DeploymentException>(() => new ServerLimits("/data/x", new DeploymentSettings { CacheBytes = 63 * MegaByte }));
    }

    private ProcessTable Table(string cpus, string group)
    {
        FakeProc.WriteFile(_folder.At("7/status"), $"Cpus_allowed_list:\t{cpus}\n");
        FakeProc.WriteFile(_folder.At("7/cgroup"), $"4:memory:{group}\n0::/\n");
        return new ProcessTable(_folder.Path);
    }
}
