using System.Text.Json;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace MongoPerf.Storage;

/// <summary>The queries on run.db. Older files may lack columns of metrics, which read as NaN.</summary>
/// <param name="connection">The connection from <see cref="RunSchema.Open(string, bool)"/>.</param>
internal sealed class RunReader(SqliteConnection connection)
{
    private const string Endless = "it has more rows than bytes";

    /// <summary>SQLITE_INTERRUPT (sqlite.org/rescode.html).</summary>
    private const int Interrupted = 9;

    /// <summary>The most instructions of SQLite for each byte of the file: the shortest rows, and sorting them, take four.</summary>
    private const long InstructionsPerByte = 32;

    private const int InstructionsAtOnce = 100_000;

    private readonly long _length = new[] { connection.DataSource, connection.DataSource + "-wal" }
        .Where(File.Exists).Sum(path => new FileInfo(path).Length);

    public Dictionary<string, string> ReadMeta() =>
        Query("SELECT key, value FROM meta", row => (Key: row.GetString(0), Value: row.GetString(1)))
            .ToDictionary(pair => pair.Key, pair => pair.Value);

    public IReadOnlyList<Checkpoint> ReadCheckpoints() =>
        [.. Query("SELECT phase, documents, at_ms FROM checkpoint ORDER BY phase",
            row => new Checkpoint(row.GetInt32(0), Count(row, 1), Time(row, 2)))];

    public IReadOnlyList<ErrorCount> ReadErrors() =>
        [.. Query("SELECT code, name, count, first_message, labels FROM error ORDER BY count DESC, code, name",
            row => new ErrorCount(row.GetInt32(0), Text(row, 1), Count(row, 2), Text(row, 3), RunJson.Read<string[]>(row.GetString(4))))];

    public IReadOnlyList<RunEvent> ReadEvents() =>
        [.. Query("SELECT at_ms, kind, text, seconds FROM event ORDER BY at_ms, rowid",
            row => new RunEvent(Time(row, 0), Text(row, 1), Text(row, 2), NullableDouble(row, 3)))];

    public IReadOnlyList<PhaseRecord> ReadPhases()
    {
        var results = Query("SELECT phase, json FROM operation_result ORDER BY phase, place",
            row => (Phase: row.GetInt32(0), Result: RunJson.Read<OperationResult>(row.GetString(1)))).ToLookup(r => r.Phase, r => r.Result);
        var sizes = Query("SELECT phase, json FROM size ORDER BY phase, place",
            row => (Phase: row.GetInt32(0), Sizes: RunJson.Read<SizeResult>(row.GetString(1)))).ToLookup(s => s.Phase, s => s.Sizes);
        return
        [
            .. Query("SELECT json FROM phase ORDER BY number", row => RunJson.Read<PhaseRecord>(row.GetString(0)))
                .Select(record =>
                    PhaseTotals.AddTo(record with { Operations = [.. results[record.Number]], Sizes = [.. sizes[record.Number]] })),
        ];
    }

    public long ReadLastCollectionDocuments() =>
        Query("SELECT collection_documents FROM sample ORDER BY rowid DESC LIMIT 1", row => Count(row, 0)).SingleOrDefault();

    /// <summary>The last rows of the tables of samples.</summary>
    public RunPosition ReadEnd() => new(
        LastRow(RunSchema.SampleTable), LastRow(RunSchema.ServerTable), LastRow(RunSchema.HostTable), LastRow(RunSchema.ShardTable),
        LastRow(RunSchema.ReplicaTable),
        Query($"SELECT at_ms FROM {RunSchema.SampleTable} ORDER BY rowid DESC LIMIT 1", row => Time(row, 0)).SingleOrDefault(),
        RunPosition.DiscardsIn(RunSchema.FindMeta(connection, RunSchema.NotePrefix + RunPosition.DiscardsNote)));

    /// <summary>Whether samples may have a <see cref="Sample.OfGroup"/>: those of earlier versions have none.</summary>
    private bool HasGroupLatencies =>
        RunSchema.SampleGroupColumns.Split(", ").All(RunSchema.ColumnsOf(connection, RunSchema.SampleTable).Contains);

    /// <param name="withHistograms">Whether to read them too.</param>
    /// <param name="rows">Null for all.</param>
    public IEnumerable<Sample> ReadSamples(bool withHistograms, RowRange? rows = null) => Query(
        $"SELECT {RunSchema.SampleColumns}, {(HasGroupLatencies ? RunSchema.SampleGroupColumns : "NULL, NULL, NULL")}"
        + $"{(withHistograms ? $", {RunSchema.SampleHistogramColumns}" : "")} FROM sample {rows?.Condition} ORDER BY rowid",
        row => new Sample
        {
            AtMilliseconds = Time(row, 0),
            Phase = checked((int)Integer(row, 1)),
            Operation = Text(row, 2),
            IsWarmup = Integer(row, 3) != 0,
            HasOutage = Integer(row, 4) != 0,
            Seconds = Seconds(row, 5),
            Operations = Count(row, 6),
            Documents = Count(row, 7),
            Bytes = Count(row, 8),
            Failed = Count(row, 9),
            CollectionDocuments = Count(row, 10),
            LatencyMicroseconds = Latency(row, 11) ?? LatencySummary.None,
            ResponseMicroseconds = Latency(row, 19),
            LatenessMicroseconds = Latency(row, 27),
            OfGroup = IsNull(row, 35) ? null : new GroupLatency(Double(row, 35), Double(row, 36), Double(row, 37)),
            Histogram = withHistograms ? Bytes(row, 38) : default,
            ResponseHistogram = withHistograms ? Bytes(row, 39) : default,
            LatenessHistogram = withHistograms ? Bytes(row, 40) : default,
        });

    public IEnumerable<MetricSample> ReadMetrics(string table, IReadOnlyList<Metric> metrics, RowRange? rows = null)
    {
        HashSet<string> there = RunSchema.ColumnsOf(connection, table);
        // A run of an earlier version.
        if (there.Count == 0)
            return [];
        IEnumerable<string> columns = metrics.Select(m => there.Contains(m.Name) ? $"\"{m.Name}\"" : "NULL");
        return Query(
            $"SELECT {string.Join(", ", columns.Prepend("member").Prepend("at_ms"))} FROM {table} {rows?.Condition} ORDER BY rowid", row =>
            {
                double[] values = new double[metrics.Count];
                for (int i = 0; i < values.Length; i++)
                    values[i] = Metric(row, i + 2);
                return new MetricSample(Time(row, 0), Text(row, 1), values);
            });
    }

    private string ReshardingColumns => RunSchema.ReshardingColumns.Split(", ")
        .All(RunSchema.ColumnsOf(connection, RunSchema.ChunkEventTable).Contains) ? RunSchema.ReshardingColumns : "NULL, NULL, NULL, NULL";

    public IEnumerable<ChunkEvent> ReadChunkEvents() => Query(
        $"SELECT {RunSchema.ChunkEventColumns}, {ReshardingColumns} FROM {RunSchema.ChunkEventTable} ORDER BY at_ms, rowid",
        row => new ChunkEvent
        {
            Id = Text(row, 0),
            Kind = Enum.Parse<ChunkEventKind>(row.GetString(1)),
            AtMilliseconds = Time(row, 2),
            EndMilliseconds = row.IsDBNull(3) ? null : Time(row, 3),
            From = Text(row, 4),
            To = row.IsDBNull(5) ? null : Text(row, 5),
            Documents = row.IsDBNull(6) ? null : Count(row, 6),
            Bytes = row.IsDBNull(7) ? null : Count(row, 7),
            Outcome = Enum.Parse<ChunkEventOutcome>(row.GetString(8)),
            Note = row.IsDBNull(9) ? null : Text(row, 9),
            Collection = row.IsDBNull(10) ? null : Text(row, 10),
            BlockedSeconds = row.IsDBNull(11) ? null : Seconds(row, 11),
            KeyBefore = row.IsDBNull(12) ? null : Text(row, 12),
            KeyAfter = row.IsDBNull(13) ? null : Text(row, 13),
        });

    public IReadOnlyList<StoredLap> ReadLaps() =>
        [.. Query("SELECT phase, thread, number, done, seconds FROM lap ORDER BY phase, thread, number",
            row => new StoredLap(row.GetInt32(0), row.GetInt32(1), row.GetInt32(2), Count(row, 3), Seconds(row, 4)))];

    /// <param name="phase">The number of the only phase; null for all.</param>
    public IEnumerable<StoredHistogram> ReadHistograms(int? phase) => Query(
        "SELECT h.phase, h.operation, h.warmup, h.encoded, h.response, h.lateness FROM histogram h LEFT JOIN operation_result r USING "
        + $"(phase, operation) {(phase is null ? "" : $"WHERE h.phase = {phase} ")}ORDER BY h.phase, r.place, h.operation, h.warmup DESC",
        row => new StoredHistogram(
            row.GetInt32(0), Text(row, 1), row.GetBoolean(2), Bytes(row, 3)) { Response = Bytes(row, 4), Lateness = Bytes(row, 5) });

    /// <returns>0 also where a run of an earlier version has no such table.</returns>
    private long LastRow(string table) => RunSchema.ColumnsOf(connection, table).Count == 0 ? 0
        : Query($"SELECT max(rowid) FROM {table}", row => row.IsDBNull(0) ? 0 : row.GetInt64(0)).Single();

    /// <exception cref="RunStoreException">A row holds what no run stores.</exception>
    private IEnumerable<T> Query<T>(string sql, Func<SqliteDataReader, T> read)
    {
        using SqliteCommand command = connection.CreateCommand();
        command.CommandText = sql;
        // In a file whose pages refer to the same pages again and again the rows hardly ever end, and sorting them before the first one.
        long rounds = _length * InstructionsPerByte / InstructionsAtOnce;
        raw.sqlite3_progress_handler(connection.Handle, InstructionsAtOnce, _ => rounds-- > 0 ? 0 : 1, null);
        using SqliteDataReader reader = Guarded(command.ExecuteReader);
        Func<(bool IsThere, T Row)> next = () => reader.Read() ? (true, read(reader)) : default;
        for (long most = _length; Guarded(next) is (true, var row); most--)
        {
            if (most == 0)
                throw Damaged(Endless);
            yield return row;
        }
    }

    private T Guarded<T>(Func<T> read)
    {
        try
        {
            return read();
        }
        catch (Exception e) when (e is JsonException or SqliteException or InvalidCastException or InvalidOperationException
            or FormatException or ArgumentException or OverflowException)
        {
            throw Damaged(e is SqliteException { SqliteErrorCode: Interrupted } ? Endless : e.Message);
        }
    }

    /// <returns>Null for columns that are empty throughout: nothing was recorded, or none of the kind is.</returns>
    private static LatencySummary? Latency(SqliteDataReader row, int first) => IsNull(row, first) ? null : new LatencySummary
    {
        Min = NullableDouble(row, first),
        Mean = NullableDouble(row, first + 1),
        P50 = NullableDouble(row, first + 2),
        P90 = NullableDouble(row, first + 3),
        P95 = NullableDouble(row, first + 4),
        P99 = NullableDouble(row, first + 5),
        P999 = NullableDouble(row, first + 6),
        Max = NullableDouble(row, first + 7),
    };

    private static ReadOnlyMemory<byte> Bytes(SqliteDataReader row, int column) =>
        row.IsDBNull(column) ? default : (byte[])row.GetValue(column);

    private static string Text(SqliteDataReader row, int column) => StoredText.Clean(row.GetString(column));

    private RunStoreException Damaged(string why) => RunSchema.Damaged(Path.GetDirectoryName(connection.DataSource)!, why);

    // The file may be damaged or somebody else's: what no run stores would break sums, axes and dates later on.
    private static long Count(SqliteDataReader row, int column) => Integer(row, column) is >= 0 and <= (long)RunJson.Largest and var count
        ? count
        : throw OutOfRange(row, column);

    /// <summary>Unix time in milliseconds, before the year 2200.</summary>
    private static long Time(SqliteDataReader row, int column) => Integer(row, column) is >= 0 and < 7_258_118_400_000 and var time
        ? time
        : throw OutOfRange(row, column);

    private static double Seconds(SqliteDataReader row, int column) => Real(row, column) is >= 0 and <= 1e9 and var seconds
        ? seconds
        : throw OutOfRange(row, column);

    private static double Double(SqliteDataReader row, int column) =>
        NullableDouble(row, column) ?? throw new FormatException($"'{row.GetName(column)}' is null");

    private static double? NullableDouble(SqliteDataReader row, int column) => Real(row, column) is var value && double.IsNaN(value) ? null
        : value is >= -RunJson.Largest and <= RunJson.Largest ? value
        : throw OutOfRange(row, column);

    /// <summary>Reads a metric, also a counter of a server or a machine that has run for years.</summary>
    private static double Metric(SqliteDataReader row, int column) =>
        Real(row, column) is var value
        && (double.IsNaN(value) || value is >= -SampleWriter.LargestMetric and <= SampleWriter.LargestMetric) ? value
        : throw OutOfRange(row, column);

    // SqliteDataReader asks SQLite three times for every value. A report of a day reads sixty million of them, and SQLite
    // itself reads null as 0.
    private static long Integer(SqliteDataReader row, int column)
    {
        long value = SqliteColumn.Integer(StatementOf(row), column);
        return value != 0 || !IsNull(row, column) ? value : throw new FormatException($"'{row.GetName(column)}' is null");
    }

    /// <returns>NaN for null.</returns>
    private static double Real(SqliteDataReader row, int column)
    {
        double value = SqliteColumn.Real(StatementOf(row), column);
        return value != 0 || !IsNull(row, column) ? value : double.NaN;
    }

    private static bool IsNull(SqliteDataReader row, int column) => SqliteColumn.Type(StatementOf(row), column) == raw.SQLITE_NULL;

    private static nint StatementOf(SqliteDataReader row) => row.Handle!.DangerousGetHandle();

    private static FormatException OutOfRange(SqliteDataReader row, int column) => new($"'{row.GetName(column)}' is out of range");
}
