using MongoPerf.Measurement;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Support;

/// <summary>The imagined server and machine of a frozen run: how fast they are, and what their counters say.</summary>
internal sealed class FrozenServer(FrozenShape shape)
{
    /// <summary>Share of the operations, and their latency against the mean.</summary>
    private static readonly (double Share, double Factor)[] LatencyShape =
        [
            (0.05, 0.6), (0.20, 0.75), (0.30, 0.9), (0.20, 1.0), (0.15, 1.2), (0.05, 1.5), (0.03, 2.1),
            (0.015, 3.2), (0.004, 6.5), (0.001, 14),
        ];

    private readonly double[] _server = new double[MetricCatalogue.Server.Count];
    private readonly double[] _host = new double[MetricCatalogue.Host.Count];

    /// <summary>Per second with 8 threads (inserts: one): documents of inserts, operations of queries.</summary>
    public static double BaseRate(string test) => test switch
    {
        "unack" => 26_000,
        "batch" => 44_000,
        "safe" => 9_500,
        "q4" => 12_000,
        "q5" => 9_000,
        "q6" => 720,
        _ => 2_500,
    };

    public static double ClientCores(string test) => test switch
    {
        "unack" => 0.92,
        "batch" => 0.35,
        "safe" => 0.31,
        "q4" => 1.1,
        "q5" => 0.7,
        "q6" => 0.12,
        _ => 1.4,
    };

    public static PlanSummary Plan(string test) => test switch
    {
        "q4" => MakePlan("Number_1", "LIMIT > FETCH > IXSCAN", 10, 10, 10, 10, 10),
        "q5" => MakePlan("Number1_1", "LIMIT > FETCH > IXSCAN", 21, 21, 10, 37.2, 36.9),
        "q6" => MakePlan("Date_-1", "LIMIT > SKIP > FETCH > IXSCAN", 220, 220, 10, 290.4, 290.4),
        _ => MakePlan(null, "LIMIT > COLLSCAN", 0, 100, 100, 0, 100),
    };

    /// <summary>0.94 to 1.06, the same on every machine.</summary>
    public static double Noise(int step, string test, int second)
    {
        uint hash = 2_166_136_261;
        foreach (int part in (int[])[step, second, .. test.Select(c => (int)c)])
            hash = (hash ^ (uint)part) * 16_777_619;
        hash ^= hash >> 15;
        return 0.94 + (hash % 1000 / 1000.0 * 0.12);
    }

    /// <summary>1 while everything fits into the cache, smaller beyond.</summary>
    public double Slowdown(long documents)
    {
        double fill = documents * 1111.0 / shape.CacheBytes;
        return fill < 0.95 ? 1 : Math.Max(0.2, 1 / (1 + (0.35 * (fill - 0.95))));
    }

    public static void FillLatencies(LatencyHistogram histogram, long operations, double meanMicroseconds, double slowdown)
    {
        histogram.Clear();
        long left = operations;
        for (int i = LatencyShape.Length - 1; i >= 0; i--)
        {
            (double share, double factor) = LatencyShape[i];
            long count = i == 0 ? left : (long)(operations * share);
            double tail = factor > 2 ? 1 / slowdown : 1;
            if (count > 0)
                histogram.AddCount(LatencyHistogram.IndexOf((long)(Math.Max(1, meanMicroseconds * factor * tail) * 1000)), count);
            left -= count;
        }
    }

    /// <summary>The process is new: its counts begin again.</summary>
    public void Restart() => Array.Clear(_server);

    public void Advance(FrozenPart part, double seconds, long operations, long documents, long bytes, long collectionDocuments)
    {
        double fill = collectionDocuments * 1111.0 / shape.CacheBytes;
        double missed = Math.Clamp((fill - 0.8) / 2, 0, 0.8) * bytes;
        Count(part.IsInsert ? "opcounters_insert" : "opcounters_query", part.IsInsert ? documents : operations);
        Count(part.IsInsert ? "documents_inserted" : "documents_returned", documents);
        Count("opcounters_command", 3 * seconds);
        PlanSummary? plan = part.IsInsert ? null : Plan(part.Phase);
        Count("keys_examined", operations * (plan?.KeysExaminedPerOperation ?? 0));
        Count("documents_examined", operations * (plan?.DocumentsExaminedPerOperation ?? 0));
        Count("server_user_time", Math.Round(seconds * 1e6 * 1.6));
        Count("server_system_time", Math.Round(seconds * 1e6 * 0.4));
        Count("cache_read", Math.Round(missed));
        Count("cache_written", Math.Round(missed + (part.IsInsert ? bytes * 0.9 : 0)));
        Count("cache_evicted_clean", Math.Round(missed / 32_768));
        Count("block_read", Math.Round(missed * 0.8));
        Count("block_written", part.IsInsert ? bytes : 0);
        Count("log_written", part.IsInsert ? bytes * 1.1 : 0);
        Count("network_in", part.IsInsert ? bytes : operations * 180);
        Count("network_out", part.IsInsert ? operations * 45 : bytes);
        Count(part.IsInsert ? "latency_writes" : "latency_reads", Math.Round(seconds * 1e6 * part.Threads * 0.7));
        Count(part.IsInsert ? "latency_writes_operations" : "latency_reads_operations", operations);
        Set("uptime", _server[MetricCatalogue.IndexOf(MetricCatalogue.Server, "uptime")] + seconds);
        Set("checkpoints", Math.Floor(_server[MetricCatalogue.IndexOf(MetricCatalogue.Server, "uptime")] / 60));
        Set("connections_current", part.Threads + 2);
        Set("mem_resident", Math.Round(Math.Min(fill, 1) * shape.CacheBytes / 1e6) + 120);
        Set("cache_max", shape.CacheBytes);
        Set("cache_used", Math.Round(Math.Min(fill, 0.8) * shape.CacheBytes));
        Set("cache_dirty", Math.Round(part.IsInsert ? 0.04 * shape.CacheBytes : 0.005 * shape.CacheBytes));
        Set("tickets_read_available", 128 - part.Threads);
        Set("tickets_write_available", 127);
        Set("connections_active", double.NaN);
        AdvanceHost(part, seconds, bytes, missed, collectionDocuments);
    }

    public MetricSample ServerSample(long at) => new(at, "127.0.0.1:27017", [.. _server]);

    public MetricSample HostSample(long at) => new(at, "client", [.. _host]);

    private void AdvanceHost(FrozenPart part, double seconds, long bytes, double missed, long collectionDocuments)
    {
        double client = ClientCores(part.Phase);
        double busy = Math.Min(shape.CpuCount * 0.98, client + shape.OtherCores + 2.0);
        Host("cpu_user", Math.Round(seconds * 1e6 * busy * 0.7));
        Host("cpu_system", Math.Round(seconds * 1e6 * busy * 0.3));
        Host("cpu_idle", Math.Round(seconds * 1e6 * (shape.CpuCount - busy - shape.StolenCores)));
        Host("cpu_steal", Math.Round(seconds * 1e6 * shape.StolenCores));
        Host("client_cpu_user", Math.Round(seconds * 1e6 * client * 0.6));
        Host("client_cpu_system", Math.Round(seconds * 1e6 * client * 0.4));
        Host("servers_cpu", Math.Round(seconds * 1e6 * (busy - client - shape.OtherCores)));
        Host("disk_read", Math.Round(missed * 0.6));
        Host("disk_written", part.IsInsert ? bytes * 2 : 0);
        Host("disk_busy", Math.Round(seconds * (part.IsInsert ? 320 : 15)));
        Host("network_received", bytes);
        Host("network_sent", bytes);
        _host[MetricCatalogue.IndexOf(MetricCatalogue.Host, "memory_available")] = 12e9;
        _host[MetricCatalogue.IndexOf(MetricCatalogue.Host, "memory_page_cache")] = 3e9;
        _host[MetricCatalogue.IndexOf(MetricCatalogue.Host, "disk_free")] = 120e9 - (collectionDocuments * 1111.0);
        _host[MetricCatalogue.IndexOf(MetricCatalogue.Host, "client_resident")] = 64e6;
    }

    private void Count(string metric, double by) => _server[MetricCatalogue.IndexOf(MetricCatalogue.Server, metric)] += by;

    private void Set(string metric, double value) => _server[MetricCatalogue.IndexOf(MetricCatalogue.Server, metric)] = value;

    private void Host(string metric, double by) => _host[MetricCatalogue.IndexOf(MetricCatalogue.Host, metric)] += by;

    private static PlanSummary MakePlan(
        string? index, string stages, long keys, long documents, long returned, double keysPerOperation,
        double documentsPerOperation) => new()
    {
        Index = index,
        Stages = stages,
        KeysExamined = keys,
        DocumentsExamined = documents,
        Returned = returned,
        KeysExaminedPerOperation = keysPerOperation,
        DocumentsExaminedPerOperation = documentsPerOperation,
    };
}
