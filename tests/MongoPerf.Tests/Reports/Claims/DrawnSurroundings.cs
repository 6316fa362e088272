using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Reports.Claims;

/// <summary>What a drawn run ran on, and what was sampled there.</summary>
internal static class DrawnSurroundings
{
    private const string Server = "127.0.0.1:27017";

    public static DeploymentInfo Deployment(DrawnScenario drawn)
    {
        DeploymentInfo mongod = RunParts.Deployment();
        return drawn.Next(0, 8) switch
        {
            0 => mongod with
            {
                Kind = DeploymentKind.Embedded, Topology = Topology.Embedded, IsEmbedded = true, StorageEngine = "rocksdb",
                CacheBytes = null, Remarks = ["results are for the embedded server, not MongoDB"],
            },
            1 => mongod with { Kind = DeploymentKind.Null, Topology = Topology.Null, StorageEngine = null, CacheBytes = null },
            2 => mongod with { Kind = DeploymentKind.ReplicaSet, Topology = Topology.ReplicaSet, Members = 3 },
            3 => mongod with { Kind = DeploymentKind.Sharded, Topology = Topology.Sharded, Router = "mongos", ShardCount = 2 },
            4 => mongod with { Kind = DeploymentKind.Given, Tls = true, Auth = true, ProcessId = null },
            _ => mongod,
        };
    }

    /// <summary>Adds a sample of servers and machine for each second of the operations.</summary>
    public static void AddSamples(RunStore store, StoredRun run)
    {
        FrozenShards? shards = run.Deployment is { Topology: Topology.Sharded } ? new FrozenShards(["shard1", "shard2"], store) : null;
        double[] server = new double[MetricCatalogue.Server.Count];
        double[] host = new double[MetricCatalogue.Host.Count];
        var inserts = run.Phases.SelectMany(phase => phase.Operations.Where(result => result.IsInsert)
            .Select(result => (phase.Number, result.Operation))).ToHashSet();
        foreach (IGrouping<long, Sample> second in run.ReadSamples().GroupBy(sample => sample.AtMilliseconds).OrderBy(group => group.Key))
        {
            double seconds = second.Max(sample => sample.Seconds);
            long inserted = second.Where(sample => inserts.Contains((sample.Phase, sample.Operation))).Sum(sample => sample.Documents);
            long read = second.Where(sample => !inserts.Contains((sample.Phase, sample.Operation))).Sum(sample => sample.Operations);
            Add(server, MetricCatalogue.Server, "opcounters_insert", inserted);
            Add(server, MetricCatalogue.Server, "opcounters_query", read);
            Add(server, MetricCatalogue.Server, "uptime", seconds);
            Add(server, MetricCatalogue.Server, "server_user_time", seconds * 4e5);
            Set(server, MetricCatalogue.Server, "connections_current", 5);
            Set(server, MetricCatalogue.Server, "tickets_read_available", 120);
            Set(server, MetricCatalogue.Server, "tickets_write_available", 120);
            Add(host, MetricCatalogue.Host, "cpu_user", seconds * 6e5);
            Add(host, MetricCatalogue.Host, "cpu_idle", seconds * 7.4e6);
            Add(host, MetricCatalogue.Host, "client_cpu_user", seconds * 2e5);
            Add(host, MetricCatalogue.Host, "servers_cpu", seconds * 4e5);
            if (run.Deployment!.Kind != DeploymentKind.Null)
                store.AddServerSample(new MetricSample(second.Key, Server, [.. server]));
            store.AddHostSample(new MetricSample(second.Key, "client", [.. host]));
            shards?.Advance(second.Key, inserted, read);
        }
    }

    private static void Add(double[] values, IReadOnlyList<Metric> metrics, string name, double amount) =>
        values[MetricCatalogue.IndexOf(metrics, name)] += amount;

    private static void Set(double[] values, IReadOnlyList<Metric> metrics, string name, double value) =>
        values[MetricCatalogue.IndexOf(metrics, name)] = value;
}
