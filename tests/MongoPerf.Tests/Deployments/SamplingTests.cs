using System.Text.Json;
using MongoPerf.Deployments.Null;
using MongoPerf.Deployments.Sampling;
using MongoPerf.Server;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Tests.Deployments;

public sealed class SamplingTests
{
    [Fact]
    public void Host_figures_are_read_from_the_tables_of_proc()
    {
        using var folder = new TemporaryFolder();
        string proc = FakeProc.Write(folder, mount: "8:1 / /", source: "/dev/sda1");
        using var sampler = new HostSampler(folder.Path, () => null, proc);
        double[] values = sampler.Sample().Values;
        Assert.Equal("sda1", sampler.DiskName);
        Assert.Equal((100 + 20) * 10_000, Host(values, "cpu_user"));
        Assert.Equal((30 + 6 + 7) * 10_000, Host(values, "cpu_system"));
        Assert.Equal(50 * 10_000, Host(values, "cpu_iowait"));
        Assert.Equal(80 * 10_000, Host(values, "cpu_steal"));
        Assert.Equal(2_000_000 * 1024.0, Host(values, "memory_available"));
        Assert.Equal(500_000 * 1024.0, Host(values, "memory_page_cache"));
        Assert.Equal(11.0 * Environment.SystemPageSize, Host(values, "swap_in"));
        Assert.Equal(1000 * 512, Host(values, "disk_read"));
        Assert.Equal(2000 * 512, Host(values, "disk_written"));
        Assert.Equal(77, Host(values, "disk_busy"));
        Assert.Equal(1111, Host(values, "network_received"));
        Assert.Equal(2222, Host(values, "network_sent"));
        Assert.Equal(300.0 * Environment.SystemPageSize, Host(values, "client_resident"));
        Assert.True(Host(values, "disk_free") > 0);
        Assert.Equal((6 + 7) * 10_000, Host(values, "cpu_interrupts"));
        Assert.True(double.IsNaN(Host(values, "servers_cpu")));
    }

    [Fact]
    public void CPU_of_servers_adds_up_over_their_restarts()
    {
        using var folder = new TemporaryFolder();
        int[]? processes = [7];
        var cpu = new ProcessesCpu(() => processes, folder.Path);
        WriteStat(7, 100, 20);
        Assert.Equal(0, cpu.Read());
        WriteStat(7, 130, 25);
        Assert.Equal(35 * 10_000, cpu.Read());
        // It ends, and another is started.
        File.Delete(folder.At("7/stat"));
        Assert.Equal(35 * 10_000, cpu.Read());
        processes = [8];
        WriteStat(8, 3, 1);
        Assert.Equal(35 * 10_000, cpu.Read());
        WriteStat(8, 5, 1);
        Assert.Equal(37 * 10_000, cpu.Read());
        processes = null;
        Assert.True(double.IsNaN(cpu.Read()));

        void WriteStat(int process, int user, int system)
        {
            Directory.CreateDirectory(folder.At($"{process}"));
            File.WriteAllText(
                folder.At($"{process}/stat"), $"{process} (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 {user} {system} 999 999 20 0 30 0 12345");
        }
    }

    [Fact]
    public void Without_a_device_under_the_folder_all_whole_disks_count()
    {
        using var folder = new TemporaryFolder();
        using var sampler = new HostSampler(folder.Path, () => null, FakeProc.Write(folder, mount: "0:40 / /", source: "overlay"));
        Assert.Equal("all disks", sampler.DiskName);
        Assert.Equal((5000 + 90) * 512, Host(sampler.Sample().Values, "disk_read"));
    }

    [Fact]
    public void Figures_that_the_system_does_not_have_are_not_numbers()
    {
        using var folder = new TemporaryFolder();
        using var sampler = new HostSampler(folder.Path, () => [], folder.At("no-proc"));
        double[] values = sampler.Sample().Values;
        Assert.True(double.IsNaN(Host(values, "cpu_user")));
        Assert.True(double.IsNaN(Host(values, "disk_read")));
        Assert.True(Host(values, "client_resident") > 0);
    }

    [Fact]
    public void A_host_sample_allocates_little()
    {
        using var sampler = new HostSampler(Path.GetTempPath(), () => []);
        sampler.Sample();
        long bytes = Allocation.LeastBytes(() =>
        {
            for (int i = 0; i < 100; i++)
                sampler.Sample();
        });
        Assert.InRange(bytes / 100, 0, 2000);
    }

    [VectorFact]
    public void Every_figure_of_mongod_6_is_found_in_its_reply()
    {
        BsonDocument recorded = ExtendedJson.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, "serverStatus.json")));
        byte[] reply = recorded.FindDocument("reply")!.Bytes.ToArray();
        var values = new double[MetricCatalogue.Server.Count];
        Array.Fill(values, double.NaN);
        StatusTree.Catalogue.Fill(reply, values);
        foreach ((int i, Metric metric) in MetricCatalogue.Server.Index())
            Assert.True(double.IsNaN(values[i]) == metric.IsOfRouter, metric.Path);
        Assert.Equal(60_028, Server(values, "opcounters_insert"));
        Assert.Equal(0, Allocation.LeastBytes(() => StatusTree.Catalogue.Fill(reply, values)));
    }

    [VectorFact]
    public void Shards_asked_and_what_shards_do_for_migrations_are_found_in_replies_of_8()
    {
        using var recorded = JsonDocument.Parse(File.ReadAllText(Path.Combine(RepositoryPaths.Replies!, "..", "replies-8.0",
            "sharding_statistics.json")));
        BsonDocument router = Reply("mongos, after 10 finds");
        var values = new double[MetricCatalogue.Server.Count];
        StatusTree.Catalogue.Fill(router.Bytes, values);
        Assert.Equal((30, 10, 20, 5), (Server(values, "asked_find_one"), Server(values, "asked_find_several"),
            Server(values, "asked_find_all"), Server(values, "asked_find_unsharded")));
        Assert.Equal((1, 2), (Server(values, "asked_update_all"), Server(values, "asked_aggregate_all")));

        double[] shard = ShardColumns.Nothing();
        ShardColumns.SetOperations(shard, Reply("shard s0, after the migrations"));
        Assert.Equal(5_000, shard[MetricCatalogue.IndexOf(MetricCatalogue.Shard, "documents_received")]);
        string[] none =
        [
            "migrations_begun", "documents_sent", "critical_section", "range_deletions_due", "range_deleted", "stale_config_errors",
        ];
        foreach (string metric in none)
            Assert.Equal(0, shard[MetricCatalogue.IndexOf(MetricCatalogue.Shard, metric)]);

        BsonDocument Reply(string what) => ExtendedJson.Parse(recorded.RootElement.GetProperty("exchanges").EnumerateArray()
            .First(one => one.TryGetProperty("what", out JsonElement text)
                && text.GetString()!.StartsWith(what, StringComparison.Ordinal)).GetProperty("reply").GetRawText());
    }

    [Fact]
    public void A_checkpoint_of_mongod_8_runs_while_it_is_at_any_step()
    {
        var values = new double[MetricCatalogue.Server.Count];
        foreach ((int step, double running) in new[] { (0, 0.0), (1, 1.0), (7, 1.0) })
        {
            StatusTree.Catalogue.Fill(BsonDocument.Of(("wiredTiger", BsonDocument.Of(("checkpoint", BsonDocument.Of(
                ("progress state", step), ("total succeed number of checkpoints", 12), ("most recent time (msecs)", 345))))),
                ("queues", BsonDocument.Of(("execution", BsonDocument.Of(("read", BsonDocument.Of(("out", 3)))))))).Bytes, values);
            Assert.Equal((running, 12, 345, 3), (Server(values, "checkpoint_running"), Server(values, "checkpoints"),
                Server(values, "checkpoint_milliseconds"), Server(values, "tickets_read_out")));
        }
    }

    [Fact]
    public void A_server_that_goes_away_gives_no_numbers_and_is_found_again()
    {
        EmbeddedServer server = NullServer.Start(0, []);
        int port = server.Port;
        using var sampler = new ServerSampler(() => new ServerAddress("127.0.0.1", port), ConnectionSettings.Default);
        Assert.Equal(0, Server(sampler.Sample().Values, "opcounters_insert"));
        server.Dispose();
        Assert.All(sampler.Sample().Values, value => Assert.True(double.IsNaN(value)));
        using EmbeddedServer next = NullServer.Start(0, []);
        port = next.Port;
        Eventually.Is(() => !double.IsNaN(Server(sampler.Sample().Values, "opcounters_insert")));
    }

    [Fact]
    public void Memory_is_that_of_the_lowest_limit_above_the_process()
    {
        using var folder = new TemporaryFolder();
        FakeProc.WriteFile(folder.At("proc/meminfo"), "MemTotal:       8000000 kB\n");
        FakeProc.WriteFile(folder.At("proc/self/cgroup"), "0::/work/job\n");
        FakeProc.WriteFile(folder.At("sys/fs/cgroup/work/job/memory.max"), "max\n");
        Assert.Equal(8_000_000L * 1024, MachineMemory.ReadBytes(folder.Path));
        FakeProc.WriteFile(folder.At("sys/fs/cgroup/work/memory.max"), "1000000000\n");
        Assert.Equal(1_000_000_000, MachineMemory.ReadBytes(folder.Path));
    }

    [Fact]
    public void Memory_limits_of_the_first_cgroup_version_count_too()
    {
        using var folder = new TemporaryFolder();
        FakeProc.WriteFile(folder.At("proc/meminfo"), "MemTotal:       8000000 kB\n");
        FakeProc.WriteFile(folder.At("proc/self/cgroup"), "5:cpu:/\n4:memory:/box\n0::/\n");
        FakeProc.WriteFile(folder.At("sys/fs/cgroup/memory/box/memory.limit_in_bytes"), "2000000000\n");
        FakeProc.WriteFile(folder.At("sys/fs/cgroup/memory/memory.limit_in_bytes"), "9223372036854771712\n");
        Assert.Equal(2_000_000_000, MachineMemory.ReadBytes(folder.Path));
    }

    [Fact]
    public void The_environment_names_system_processor_and_disk()
    {
        using var folder = new TemporaryFolder();
        FakeProc.Write(folder, mount: "8:1 / /", source: "/dev/sda1");
        FakeProc.WriteFile(folder.At("etc/os-release"), "ID=x\nPRETTY_NAME=\"Some Linux 12\"\n");
        FakeProc.WriteFile(folder.At("proc/cpuinfo"), "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n");
        FakeProc.WriteFile(folder.At("proc/sys/kernel/osrelease"), "6.1.0\n");
        FakeProc.WriteFile(folder.At("sys/class/net/lo/operstate"), "unknown\n");
        FakeProc.WriteFile(folder.At("sys/class/net/eth0/speed"), "2500\n");
        FakeProc.WriteFile(folder.At("sys/class/net/eth1/speed"), "-1\n");
        EnvironmentInfo info = EnvironmentReader.Read(folder.Path, serverOnSameMachine: true, folder.Path);
        Assert.Equal("Some Linux 12", info.OperatingSystem);
        Assert.Equal("Some CPU @ 3 GHz", info.CpuModel);
        Assert.Equal("6.1.0", info.Kernel);
        Assert.Equal("ext4 on /dev/sda1", info.Disk);
        Assert.True(info.DiskFreeBytes > 0);
        Assert.Equal(312_500_000, info.LinkBytesPerSecond);
    }

    private static double Host(double[] values, string name) => values[MetricCatalogue.IndexOf(MetricCatalogue.Host, name)];

    private static double Server(double[] values, string name) => values[MetricCatalogue.IndexOf(MetricCatalogue.Server, name)];
}
