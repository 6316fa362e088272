using Microsoft.Data.Sqlite;

namespace MongoPerf.Storage;

/// <summary>Keeps samples until the next commit and inserts them with prepared statements.</summary>
/// <remarks>No lock of its own: <see cref="RunStore"/> holds one around every call.</remarks>
internal sealed class SampleWriter(SqliteConnection connection) : IDisposable
{
    /// <summary>Counters of many processors and years stay below it; some file systems claim to be larger.</summary>
    public const double LargestMetric = 1e18;

    private readonly List<Sample> _phases = [];
    private readonly Dictionary<string, List<MetricSample>> _metrics = RunSchema.MetricTables.ToDictionary(one => one.Table,
        _ => new List<MetricSample>());
    private readonly Dictionary<string, SqliteCommand> _inserts = [];

    public void Add(Sample sample) => _phases.Add(sample);

    /// <param name="table">One of <see cref="RunSchema.MetricTables"/>.</param>
    /// <param name="sample">The sample with a value for each of its metrics.</param>
    public void Add(string table, MetricSample sample)
    {
        IReadOnlyList<Metric> metrics = RunSchema.MetricTables.First(one => one.Table == table).Metrics;
        if (sample.Values.Length != metrics.Count)
            throw new ArgumentException(
                $"the sample has {sample.Values.Length} values, the catalogue {metrics.Count} metrics", nameof(sample));
        // Copied: the sampler may fill the same array again before the commit.
        _metrics[table].Add(sample with { Values = [.. sample.Values] });
    }

    /// <summary>Inserts all; they stay buffered until <see cref="Forget"/>, in case the commit fails.</summary>
    public void WriteBuffered(SqliteTransaction transaction)
    {
        if (_phases.Count > 0)
        {
            SqliteCommand insert = InsertInto(
                RunSchema.SampleTable, $"{RunSchema.SampleColumns}, {RunSchema.SampleGroupColumns}, {RunSchema.SampleHistogramColumns}",
                transaction);
            foreach (Sample sample in _phases)
                Insert(insert, sample);
        }

        foreach ((string table, IReadOnlyList<Metric> metrics) in RunSchema.MetricTables.Where(one => _metrics[one.Table].Count > 0))
        {
            SqliteCommand insert = InsertInto(
                table, "at_ms, member, " + string.Join(", ", metrics.Select(m => $"\"{m.Name}\"")), transaction);
            foreach (MetricSample sample in _metrics[table])
                Insert(insert, sample);
        }
    }

    public void Forget()
    {
        _phases.Clear();
        foreach (List<MetricSample> samples in _metrics.Values)
            samples.Clear();
    }

    public void Dispose()
    {
        foreach (SqliteCommand insert in _inserts.Values)
            insert.Dispose();
    }

    private SqliteCommand InsertInto(string table, string columns, SqliteTransaction transaction)
    {
        if (!_inserts.TryGetValue(table, out SqliteCommand? insert))
        {
            string[] names = [.. columns.Split(',').Select((_, i) => "$" + i)];
            _inserts[table] = insert = connection.CreateCommand();
            insert.CommandText = $"INSERT INTO {table}({columns}) VALUES ({string.Join(", ", names)})";
            foreach (string name in names)
                insert.Parameters.Add(new SqliteParameter(name, null));
        }

        insert.Transaction = transaction;
        return insert;
    }

    private static void Insert(SqliteCommand command, MetricSample sample)
    {
        command.Parameters[0].Value = sample.AtMilliseconds;
        command.Parameters[1].Value = sample.Member;
        for (int i = 0; i < sample.Values.Length; i++)
            command.Parameters[i + 2].Value = OrNull(Math.Abs(sample.Values[i]) <= LargestMetric ? sample.Values[i] : null);
        command.ExecuteNonQuery();
    }

    private static void Insert(SqliteCommand command, Sample sample)
    {
        ReadOnlySpan<object?> values =
        [
            sample.AtMilliseconds, sample.Phase, sample.Operation, sample.IsWarmup, sample.HasOutage, sample.Seconds,
            sample.Operations, sample.Documents, sample.Bytes, sample.Failed, sample.CollectionDocuments,
            .. Columns(sample.LatencyMicroseconds), .. Columns(sample.ResponseMicroseconds), .. Columns(sample.LatenessMicroseconds),
            sample.OfGroup?.P50, sample.OfGroup?.P99, sample.OfGroup?.Max,
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
