using Microsoft.Data.Sqlite;

namespace MongoPerf.Engine.Runs;

/// <summary>The queries on run.db. Files of older programs may lack columns of metrics, which read as NaN, and tables, which read as empty.</summary>
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
        [.. Query("SELECT step, documents, at_ms FROM checkpoint ORDER BY step",
            row => new Checkpoint(row.GetInt32(0), row.GetInt64(1), row.GetInt64(2)))];

    public IReadOnlyList<ErrorCount> ReadErrors() =>
        [.. Query("SELECT code, name, count, first_message, labels FROM error ORDER BY count DESC, code, name",
            row => new ErrorCount(row.GetInt32(0), row.GetString(1), row.GetInt64(2), row.GetString(3), RunJson.Read<string[]>(row.GetString(4))))];

    public IReadOnlyList<RunEvent> ReadEvents() =>
        [.. Query("SELECT at_ms, kind, text, seconds FROM event ORDER BY at_ms, rowid",
            row => new RunEvent(row.GetInt64(0), row.GetString(1), row.GetString(2), NullableDouble(row, 3)))];

    public IReadOnlyList<Finding> ReadFindings() =>
        [.. Query("SELECT json FROM finding ORDER BY rowid", row => RunJson.Read<Finding>(row.GetString(0)))];

    public IReadOnlyList<StepResult> ReadSteps(IReadOnlyList<Checkpoint> checkpoints)
    {
        var tests = Query(
            "SELECT step, documents, json FROM test_result",
            row => (Step: row.GetInt32(0), Documents: row.GetInt64(1), Result: RunJson.Read<TestResult>(row.GetString(2)))).ToLookup(t => t.Step);
        Dictionary<int, SizeResult> sizes = Query(
            "SELECT step, json FROM size", row => (Step: row.GetInt32(0), Sizes: RunJson.Read<SizeResult>(row.GetString(1))))
            .ToDictionary(s => s.Step, s => s.Sizes);
        HashSet<int> complete = [.. checkpoints.Select(c => c.Step)];
        return [.. tests.Select(t => t.Key).Union(sizes.Keys).Order().Select(step => new StepResult
        {
            Step = step,
            // The inserts of a step end at smaller counts than its queries see.
            Documents = tests[step].Select(t => t.Documents).Append(sizes.GetValueOrDefault(step)?.Documents ?? 0).Max(),
            Tests = [.. tests[step].Select(t => t.Result).OrderBy(t => TestOrder.Of(t.Test)).ThenBy(t => t.Test, StringComparer.Ordinal).ThenBy(t => t.Threads)],
            Sizes = sizes.GetValueOrDefault(step),
            Complete = complete.Contains(step),
        })];
    }

    public long ReadLastCollectionDocuments() =>
        Query("SELECT collection_documents FROM sample ORDER BY rowid DESC LIMIT 1", row => row.GetInt64(0)).SingleOrDefault();

    public IEnumerable<PhaseSample> ReadSamples(bool withHistograms) => Query(
        $"SELECT {RunSchema.SampleColumns}{(withHistograms ? ", histogram" : "")} FROM sample ORDER BY rowid",
        row => new PhaseSample
        {
            AtMilliseconds = row.GetInt64(0),
            Step = row.GetInt32(1),
            Test = row.GetString(2),
            Threads = row.GetInt32(3),
            IsWarmup = row.GetBoolean(4),
            HasOutage = row.GetBoolean(5),
            Seconds = row.GetDouble(6),
            Operations = row.GetInt64(7),
            Documents = row.GetInt64(8),
            Bytes = row.GetInt64(9),
            Failed = row.GetInt64(10),
            CollectionDocuments = row.GetInt64(11),
            LatencyMicroseconds = new LatencySummary
            {
                Min = NullableDouble(row, 12),
                Mean = NullableDouble(row, 13),
                P50 = NullableDouble(row, 14),
                P90 = NullableDouble(row, 15),
                P95 = NullableDouble(row, 16),
                P99 = NullableDouble(row, 17),
                P999 = NullableDouble(row, 18),
                Max = NullableDouble(row, 19),
            },
            Histogram = withHistograms && !row.IsDBNull(20) ? (byte[])row.GetValue(20) : ReadOnlyMemory<byte>.Empty,
        });

    public IEnumerable<MetricSample> ReadMetrics(string table, IReadOnlyList<Metric> metrics)
    {
        HashSet<string> there = RunSchema.ColumnsOf(_connection, _transaction, table);
        if (there.Count == 0)
            return [];
        IEnumerable<string> columns = metrics.Select(m => there.Contains(m.Name) ? $"\"{m.Name}\"" : "NULL");
        return Query($"SELECT at_ms, member, {string.Join(", ", columns)} FROM {table} ORDER BY rowid", row =>
        {
            double[] values = new double[metrics.Count];
            for (int i = 0; i < values.Length; i++)
                values[i] = NullableDouble(row, i + 2) ?? double.NaN;
            return new MetricSample(row.GetInt64(0), row.GetString(1), values);
        });
    }

    public IEnumerable<ChunkEvent> ReadChunkEvents() => RunSchema.ColumnsOf(_connection, _transaction, RunSchema.ChunkEventTable).Count == 0 ? [] : Query(
        $"SELECT {RunSchema.ChunkEventColumns} FROM {RunSchema.ChunkEventTable} ORDER BY at_ms, rowid",
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

    public IReadOnlyList<StoredLap> ReadLaps() => RunSchema.ColumnsOf(_connection, _transaction, RunSchema.LapTable).Count == 0 ? [] :
        [.. Query($"SELECT step, thread, number, done, seconds FROM {RunSchema.LapTable} ORDER BY step, thread, number",
            row => new StoredLap(row.GetInt32(0), row.GetInt32(1), row.GetInt32(2), row.GetInt64(3), row.GetDouble(4)))];

    public IEnumerable<StoredHistogram> ReadHistograms()
    {
        string order = string.Join(" ", TestOrder.Names.Select((name, i) => $"WHEN '{name}' THEN {i}"));
        return Query(
            "SELECT step, test, threads, warmup, encoded FROM histogram "
            + $"ORDER BY step, CASE test {order} ELSE {TestOrder.Names.Count} END, test, threads, warmup DESC",
            row => new StoredHistogram(row.GetInt32(0), row.GetString(1), row.GetInt32(2), row.GetBoolean(3), (byte[])row.GetValue(4)));
    }

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
