using Microsoft.Data.Sqlite;

namespace MongoPerf.Engine.Runs;

/// <summary>Keeps samples until the next commit and inserts them with prepared statements.</summary>
/// <remarks>No lock of its own: <see cref="RunStore"/> holds one around every call.</remarks>
internal sealed class SampleWriter : IDisposable
{
    /// <summary>Counters of many processors and years stay below it; some file systems claim to be larger.</summary>
    public const double LargestMetric = 1e18;

    private const int PhaseColumnCount = 38;

    private readonly SqliteConnection _connection;
    private readonly List<Sample> _phases = [];
    private readonly List<MetricSample> _servers = [];
    private readonly List<MetricSample> _hosts = [];
    private readonly List<MetricSample> _shards = [];
    private SqliteCommand? _insertPhase;
    private SqliteCommand? _insertServer;
    private SqliteCommand? _insertHost;
    private SqliteCommand? _insertShard;

    public SampleWriter(SqliteConnection connection)
    {
        _connection = connection;
    }

    public void Add(Sample sample) => _phases.Add(sample);

    public void AddServer(MetricSample sample) => AddMetrics(_servers, sample, MetricCatalogue.Server);

    public void AddHost(MetricSample sample) => AddMetrics(_hosts, sample, MetricCatalogue.Host);

    public void AddShard(MetricSample sample) => AddMetrics(_shards, sample, MetricCatalogue.Shard);

    /// <summary>Inserts all; they stay buffered until <see cref="Forget"/>, in case the commit fails.</summary>
    public void WriteBuffered(SqliteTransaction transaction)
    {
        if (_phases.Count > 0)
        {
            _insertPhase ??= Prepare("sample", $"{RunSchema.SampleColumns}, {RunSchema.SampleHistogramColumns}", PhaseColumnCount);
            _insertPhase.Transaction = transaction;
            foreach (Sample sample in _phases)
                Insert(_insertPhase, sample);
        }

        _insertServer = WriteMetrics(_insertServer, RunSchema.ServerTable, _servers, MetricCatalogue.Server, transaction);
        _insertHost = WriteMetrics(_insertHost, RunSchema.HostTable, _hosts, MetricCatalogue.Host, transaction);
        _insertShard = WriteMetrics(_insertShard, RunSchema.ShardTable, _shards, MetricCatalogue.Shard, transaction);
    }

    public void Forget()
    {
        _phases.Clear();
        _servers.Clear();
        _hosts.Clear();
        _shards.Clear();
    }

    public void Dispose()
    {
        _insertPhase?.Dispose();
        _insertServer?.Dispose();
        _insertHost?.Dispose();
        _insertShard?.Dispose();
    }

    private static void AddMetrics(List<MetricSample> buffer, MetricSample sample, IReadOnlyList<Metric> metrics)
    {
        if (sample.Values.Length != metrics.Count)
            throw new ArgumentException($"the sample has {sample.Values.Length} values, the catalogue {metrics.Count} metrics", nameof(sample));
        // Copied: the sampler may fill the same array again before the commit.
        buffer.Add(sample with { Values = [.. sample.Values] });
    }

    private SqliteCommand? WriteMetrics(
        SqliteCommand? command, string table, List<MetricSample> samples, IReadOnlyList<Metric> metrics, SqliteTransaction transaction)
    {
        if (samples.Count == 0)
            return command;
        command ??= Prepare(table, "at_ms, member, " + string.Join(", ", metrics.Select(m => $"\"{m.Name}\"")), metrics.Count + 2);
        command.Transaction = transaction;
        foreach (MetricSample sample in samples)
        {
            command.Parameters[0].Value = sample.AtMilliseconds;
            command.Parameters[1].Value = sample.Member;
            for (int i = 0; i < sample.Values.Length; i++)
                command.Parameters[i + 2].Value = OrNull(Math.Abs(sample.Values[i]) <= LargestMetric ? sample.Values[i] : null);
            command.ExecuteNonQuery();
        }

        return command;
    }

    private SqliteCommand Prepare(string table, string columns, int count)
    {
        SqliteCommand command = _connection.CreateCommand();
        command.CommandText = $"INSERT INTO {table}({columns}) VALUES ({string.Join(", ", Enumerable.Range(0, count).Select(i => "$" + i))})";
        for (int i = 0; i < count; i++)
            command.Parameters.Add(new SqliteParameter("$" + i, null));
        return command;
    }

    private static void Insert(SqliteCommand command, Sample sample)
    {
        ReadOnlySpan<object?> values =
        [
            sample.AtMilliseconds, sample.Phase, sample.Operation, sample.IsWarmup, sample.HasOutage, sample.Seconds,
            sample.Operations, sample.Documents, sample.Bytes, sample.Failed, sample.CollectionDocuments,
            .. Columns(sample.LatencyMicroseconds), .. Columns(sample.ResponseMicroseconds), .. Columns(sample.LatenessMicroseconds),
            Bytes(sample.Histogram), Bytes(sample.ResponseHistogram), Bytes(sample.LatenessHistogram),
        ];
        for (int i = 0; i < values.Length; i++)
            command.Parameters[i].Value = OrNull(values[i]);
        command.ExecuteNonQuery();
    }

    private static object?[] Columns(LatencySummary? latency) =>
        [latency?.Min, latency?.Mean, latency?.P50, latency?.P90, latency?.P95, latency?.P99, latency?.P999, latency?.Max];

    private static byte[]? Bytes(ReadOnlyMemory<byte> encoded) => encoded.IsEmpty ? null : encoded.ToArray();

    private static object OrNull(object? value) => value ?? DBNull.Value;
}
