using Microsoft.Data.Sqlite;

namespace MongoPerf.Engine.Runs;

/// <summary>The queries on run.db. Older files may lack columns of metrics, which read as NaN.</summary>
internal sealed class RunReader
{
    private readonly SqliteConnection _connection;
    private readonly SqliteTransaction? _transaction;

    public RunReader(SqliteConnection connection, SqliteTransaction? transaction)
    {
        _connection = connection;
        _transaction = transaction;
    }

    public Dictionary<string, string> ReadMeta() =>
        Query("SELECT key, value FROM meta", row => (Key: row.GetString(0), Value: row.GetString(1)))
            .ToDictionary(pair => pair.Key, pair => pair.Value);

    public IReadOnlyList<Checkpoint> ReadCheckpoints() =>
        [.. Query("SELECT phase, documents, at_ms FROM checkpoint ORDER BY phase",
            row => new Checkpoint(row.GetInt32(0), row.GetInt64(1), row.GetInt64(2)))];

    public IReadOnlyList<ErrorCount> ReadErrors() =>
        [.. Query("SELECT code, name, count, first_message, labels FROM error ORDER BY count DESC, code, name",
            row => new ErrorCount(row.GetInt32(0), row.GetString(1), row.GetInt64(2), row.GetString(3), RunJson.Read<string[]>(row.GetString(4))))];

    public IReadOnlyList<RunEvent> ReadEvents() =>
        [.. Query("SELECT at_ms, kind, text, seconds FROM event ORDER BY at_ms, rowid",
            row => new RunEvent(row.GetInt64(0), row.GetString(1), row.GetString(2), NullableDouble(row, 3)))];

    public IReadOnlyList<PhaseRecord> ReadPhases()
    {
        var results = Query("SELECT phase, json FROM operation_result ORDER BY phase, place", row => (Phase: row.GetInt32(0), Result: RunJson.Read<OperationResult>(row.GetString(1)))).ToLookup(r => r.Phase, r => r.Result);
        var sizes = Query("SELECT phase, json FROM size ORDER BY phase, place", row => (Phase: row.GetInt32(0), Sizes: RunJson.Read<SizeResult>(row.GetString(1)))).ToLookup(s => s.Phase, s => s.Sizes);
        return
        [
            .. Query("SELECT json FROM phase ORDER BY number", row => RunJson.Read<PhaseRecord>(row.GetString(0)))
                .Select(record => record with { Operations = [.. results[record.Number]], Sizes = [.. sizes[record.Number]] }),
        ];
    }

    public long ReadLastCollectionDocuments() =>
        Query("SELECT collection_documents FROM sample ORDER BY rowid DESC LIMIT 1", row => row.GetInt64(0)).SingleOrDefault();

    public IEnumerable<Sample> ReadSamples(bool withHistograms) => Query(
        $"SELECT {RunSchema.SampleColumns}{(withHistograms ? ", histogram" : "")} FROM sample ORDER BY rowid",
        row => new Sample
        {
            AtMilliseconds = row.GetInt64(0),
            Phase = row.GetInt32(1),
            Operation = row.GetString(2),
            IsWarmup = row.GetBoolean(3),
            HasOutage = row.GetBoolean(4),
            Seconds = row.GetDouble(5),
            Operations = row.GetInt64(6),
            Documents = row.GetInt64(7),
            Bytes = row.GetInt64(8),
            Failed = row.GetInt64(9),
            CollectionDocuments = row.GetInt64(10),
            LatencyMicroseconds = new LatencySummary
            {
                Min = NullableDouble(row, 11),
                Mean = NullableDouble(row, 12),
                P50 = NullableDouble(row, 13),
                P90 = NullableDouble(row, 14),
                P95 = NullableDouble(row, 15),
                P99 = NullableDouble(row, 16),
                P999 = NullableDouble(row, 17),
                Max = NullableDouble(row, 18),
            },
            Histogram = withHistograms && !row.IsDBNull(19) ? (byte[])row.GetValue(19) : ReadOnlyMemory<byte>.Empty,
        });

    public IEnumerable<MetricSample> ReadMetrics(string table, IReadOnlyList<Metric> metrics)
    {
        HashSet<string> there = RunSchema.ColumnsOf(_connection, _transaction, table);
        IEnumerable<string> columns = metrics.Select(m => there.Contains(m.Name) ? $"\"{m.Name}\"" : "NULL");
        return Query($"SELECT at_ms, member, {string.Join(", ", columns)} FROM {table} ORDER BY rowid", row =>
        {
            double[] values = new double[metrics.Count];
            for (int i = 0; i < values.Length; i++)
                values[i] = NullableDouble(row, i + 2) ?? double.NaN;
            return new MetricSample(row.GetInt64(0), row.GetString(1), values);
        });
    }

    public IEnumerable<ChunkEvent> ReadChunkEvents() => Query(
        $"SELECT {RunSchema.ChunkEventColumns} FROM chunk_event ORDER BY at_ms, rowid",
        row => new ChunkEvent
        {
            Id = row.GetString(0),
            Kind = Enum.Parse<ChunkEventKind>(row.GetString(1)),
            AtMilliseconds = row.GetInt64(2),
            EndMilliseconds = NullableInteger(row, 3),
            From = row.GetString(4),
            To = row.IsDBNull(5) ? null : row.GetString(5),
            Documents = NullableInteger(row, 6),
            Bytes = NullableInteger(row, 7),
            Outcome = Enum.Parse<ChunkEventOutcome>(row.GetString(8)),
            Note = row.IsDBNull(9) ? null : row.GetString(9),
        });

    public IReadOnlyList<StoredLap> ReadLaps() =>
        [.. Query("SELECT phase, thread, number, done, seconds FROM lap ORDER BY phase, thread, number",
            row => new StoredLap(row.GetInt32(0), row.GetInt32(1), row.GetInt32(2), row.GetInt64(3), row.GetDouble(4)))];

    public IEnumerable<StoredHistogram> ReadHistograms() => Query(
        "SELECT h.phase, h.operation, h.warmup, h.encoded FROM histogram h LEFT JOIN operation_result r USING (phase, operation) ORDER BY h.phase, r.place, h.operation, h.warmup DESC",
        row => new StoredHistogram(row.GetInt32(0), row.GetString(1), row.GetBoolean(2), (byte[])row.GetValue(3)));

    private IEnumerable<T> Query<T>(string sql, Func<SqliteDataReader, T> read)
    {
        using SqliteCommand command = _connection.CreateCommand();
        command.Transaction = _transaction;
        command.CommandText = sql;
        using SqliteDataReader reader = command.ExecuteReader();
        while (reader.Read())
            yield return read(reader);
    }

    private static long? NullableInteger(SqliteDataReader row, int column) => row.IsDBNull(column) ? null : row.GetInt64(column);

    private static double? NullableDouble(SqliteDataReader row, int column) => row.IsDBNull(column) ? null : row.GetDouble(column);
}
