using System.Globalization;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace MongoPerf.Storage;

/// <summary>The tables of run.db. One column per metric, so that any SQLite tool can plot them.</summary>
public static class RunSchema
{
    public const string FileName = "run.db";

    // Primary result codes of SQLite (sqlite.org/rescode.html).
    private const int CannotWrite = 8;
    private const int CannotOpen = 14;
    public const string SampleTable = "sample";
    public const string ServerTable = "server_sample";
    public const string HostTable = "host_sample";
    public const string ShardTable = "shard_sample";
    public const string ReplicaTable = "replica_sample";
    public const string ChunkEventTable = "chunk_event";

    private const string RollbackJournal = "-journal";

    /// <summary>The most bytes of one value: a scenario file is the longest that a run stores.</summary>
    private const int MostValueBytes = 64 << 20;

    private static readonly string[] SideFiles = ["", "-wal", "-shm", RollbackJournal];

    // Keys of table meta. Notes of the engine have a prefix of their own.
    public const string FormatKey = "format";
    public const string RunKey = "run";
    public const string SettingsKey = "settings";
    public const string DeploymentKey = "deployment";
    public const string EnvironmentKey = "environment";
    public const string NotePrefix = "note.";

    /// <summary>Order of the columns that both writer and reader bind by position.</summary>
    public const string SampleColumns =
        "at_ms, phase, operation, warmup, outage, seconds, operations, documents, bytes, failed, collection_documents, "
        + "min_us, mean_us, p50_us, p90_us, p95_us, p99_us, p999_us, max_us, "
        + "response_min_us, response_mean_us, response_p50_us, response_p90_us, response_p95_us, response_p99_us, "
        + "response_p999_us, response_max_us, "
        + "lateness_min_us, lateness_mean_us, lateness_p50_us, lateness_p90_us, lateness_p95_us, lateness_p99_us, "
        + "lateness_p999_us, lateness_max_us";

    /// <summary>The columns that follow <see cref="SampleColumns"/>; runs of earlier versions lack them.</summary>
    public const string SampleGroupColumns = "group_p50_us, group_p99_us, group_max_us";

    /// <summary>The columns that follow <see cref="SampleGroupColumns"/> where histograms are requested.</summary>
    public const string SampleHistogramColumns = "histogram, response_histogram, lateness_histogram";

    /// <inheritdoc cref="SampleColumns"/>
    public const string ChunkEventColumns = "id, kind, at_ms, end_ms, from_shard, to_shard, documents, bytes, outcome, note";

    /// <summary>The columns that follow <see cref="ChunkEventColumns"/>; runs of earlier versions lack them.</summary>
    public const string ReshardingColumns = "collection, blocked_s, key_before, key_after";

    private const string Tables = """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE sample(
            at_ms INTEGER NOT NULL, phase INTEGER NOT NULL, operation TEXT NOT NULL, warmup INTEGER NOT NULL, outage INTEGER NOT NULL,
            seconds REAL NOT NULL, operations INTEGER NOT NULL, documents INTEGER NOT NULL, bytes INTEGER NOT NULL, failed INTEGER NOT NULL,
            collection_documents INTEGER NOT NULL,
            min_us REAL, mean_us REAL, p50_us REAL, p90_us REAL, p95_us REAL, p99_us REAL, p999_us REAL, max_us REAL,
            response_min_us REAL, response_mean_us REAL, response_p50_us REAL, response_p90_us REAL, response_p95_us REAL, response_p99_us REAL,
            response_p999_us REAL, response_max_us REAL,
            lateness_min_us REAL, lateness_mean_us REAL, lateness_p50_us REAL, lateness_p90_us REAL, lateness_p95_us REAL, lateness_p99_us REAL,
            lateness_p999_us REAL, lateness_max_us REAL,
            group_p50_us REAL, group_p99_us REAL, group_max_us REAL,
            histogram BLOB, response_histogram BLOB, lateness_histogram BLOB);
        CREATE TABLE event(at_ms INTEGER NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, seconds REAL);
        CREATE TABLE error(
            code INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL, first_message TEXT NOT NULL, labels TEXT NOT NULL,
            PRIMARY KEY(code, name));
        CREATE TABLE phase(number INTEGER PRIMARY KEY, json TEXT NOT NULL);
        CREATE TABLE operation_result(
            phase INTEGER NOT NULL, place INTEGER NOT NULL, operation TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY(phase, operation));
        CREATE TABLE histogram(
            phase INTEGER NOT NULL, operation TEXT NOT NULL, warmup INTEGER NOT NULL, encoded BLOB NOT NULL, response BLOB, lateness BLOB,
            PRIMARY KEY(phase, operation, warmup));
        CREATE TABLE size(phase INTEGER NOT NULL, place INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY(phase, place));
        CREATE TABLE checkpoint(phase INTEGER PRIMARY KEY, documents INTEGER NOT NULL, at_ms INTEGER NOT NULL);
        CREATE TABLE chunk_event(
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, at_ms INTEGER NOT NULL, end_ms INTEGER, from_shard TEXT NOT NULL, to_shard TEXT,
            documents INTEGER, bytes INTEGER, outcome TEXT NOT NULL, note TEXT);
        CREATE TABLE lap(
            phase INTEGER NOT NULL, thread INTEGER NOT NULL, number INTEGER NOT NULL, done INTEGER NOT NULL, seconds REAL NOT NULL,
            PRIMARY KEY(phase, thread, number)) WITHOUT ROWID;
        """;

    /// <summary>What is sampled besides operations.</summary>
    public static readonly (string Table, IReadOnlyList<Metric> Metrics)[] MetricTables =
    [
        (ServerTable, MetricCatalogue.Server), (HostTable, MetricCatalogue.Host), (ShardTable, MetricCatalogue.Shard),
        (ReplicaTable, MetricCatalogue.Replica),
    ];

    /// <summary>
    /// No connection is used by two threads at once, so SQLite need not lock it for each value of a row, of which a report of a day reads
    /// tens of millions (sqlite.org/threadsafe.html, multi-thread).
    /// </summary>
    static RunSchema()
    {
        Batteries_V2.Init();
        raw.sqlite3_config(raw.SQLITE_CONFIG_MULTITHREAD);
    }

    public static void Create(SqliteConnection connection)
    {
        Execute(connection, Tables);
        AddWhatIsMissing(connection);
    }

    /// <summary>Gives an older file the columns that have been added since.</summary>
    public static void AddWhatIsMissing(SqliteConnection connection)
    {
        AddColumns(connection, SampleTable, SampleGroupColumns.Split(", "));
        AddColumns(connection, ChunkEventTable, ReshardingColumns.Split(", "), type: "");
        foreach ((string table, IReadOnlyList<Metric> metrics) in MetricTables)
        {
            Execute(connection, MetricTable(table, metrics));
            AddColumns(connection, table, metrics.Select(metric => metric.Name));
        }
    }

    private static void AddColumns(SqliteConnection connection, string table, IEnumerable<string> names, string type = "REAL")
    {
        HashSet<string> there = ColumnsOf(connection, table);
        foreach (string name in names.Where(name => !there.Contains(name)))
            Execute(connection, $"ALTER TABLE {table} ADD COLUMN \"{name}\" {type}");
    }

    public static HashSet<string> ColumnsOf(SqliteConnection connection, string table)
    {
        using SqliteCommand command = Command(connection, $"SELECT name FROM pragma_table_info('{table}')");
        using SqliteDataReader reader = command.ExecuteReader();
        var names = new HashSet<string>(StringComparer.Ordinal);
        while (reader.Read())
            names.Add(reader.GetString(0));
        return names;
    }

    /// <summary>Opens the file of a run folder, or says in one line why that can't be.</summary>
    /// <returns>The open connection; its format has been checked.</returns>
    public static SqliteConnection Open(string runFolder, bool readOnly)
    {
        string file = Path.Combine(runFolder, FileName);
        if (!Directory.Exists(runFolder))
            throw Unusable(runFolder, "no such folder", "'mongoperf list runs' shows all runs");
        if (!Path.Exists(file) && !OwnFiles.IsLink(file))
            throw Unusable(runFolder, $"has no {FileName}; not a run folder", "'mongoperf list runs' shows all runs");
        RefusePlanted(runFolder, file, readOnly);
        try
        {
            return Open(runFolder, Connect(file, readOnly ? SqliteOpenMode.ReadOnly : SqliteOpenMode.ReadWrite));
        }
        catch (SqliteException e) when (e.SqliteErrorCode == CannotOpen && readOnly && !HasUnmerged(file))
        {
            // On a disk that can't be written SQLite can't make the files beside a database by which readers and a writer share it.
            return Open(runFolder, Connect(AsUnchanging(file), SqliteOpenMode.ReadOnly));
        }
        catch (SqliteException e) when (e.SqliteErrorCode is CannotOpen or CannotWrite)
        {
            throw Unusable(runFolder, $"{FileName} can't be opened ({e.Message})", "is the folder read-only, or has this process too few "
                + "file handles (ulimit -n)? a copy of the folder on another disk will do");
        }
        catch (SqliteException e)
        {
            throw Unusable(runFolder, $"{FileName} is not readable ({e.Message})", "it is damaged, or was not written by MongoPerf");
        }
    }

    private static SqliteConnection Open(string runFolder, SqliteConnection connection)
    {
        try
        {
            connection.Open();
            raw.sqlite3_limit(connection.Handle, raw.SQLITE_LIMIT_LENGTH, MostValueBytes);
            CheckObjects(connection, runFolder);
            CheckFormat(connection, runFolder);
            return connection;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    /// <summary>What a writer that was killed had committed, and not yet brought into the file itself.</summary>
    private static bool HasUnmerged(string file) => new FileInfo(file + "-wal") is { Exists: true, Length: > 0 };

    /// <summary>Source: sqlite.org/uri.html.</summary>
    private static string AsUnchanging(string file) =>
        $"file:{string.Join('/', Path.GetFullPath(file).Split('/').Select(Uri.EscapeDataString))}?immutable=1";

    public static SqliteConnection Connect(string file, SqliteOpenMode mode) => new(new SqliteConnectionStringBuilder
    {
        DataSource = file,
        Mode = mode,
        // A pooled connection would keep the folder's files open after the run is closed.
        Pooling = false,
        DefaultTimeout = 30,
    }.ToString());

    /// <summary>
    /// The folder may be somebody else's: SQLite would follow a link, and wait at a pipe; and a journal that was put there can make it
    /// delete a file that the journal names.
    /// </summary>
    private static void RefusePlanted(string runFolder, string file, bool readOnly)
    {
        foreach (string path in SideFiles.Select(ending => file + ending))
        {
            if (OwnFiles.FindFault(path) is { } fault)
                throw Unusable(runFolder, $"{Path.GetFileName(path)} {fault}",
                    OwnFiles.IsLink(path) ? "name the folder that it leads to" : "MongoPerf did not make it; remove it");
        }

        // A run's own journal is run.db-wal; the mode is set before anything is stored.
        if (!readOnly && File.Exists(file + RollbackJournal))
            throw Unusable(runFolder, $"has a {FileName}{RollbackJournal}, which MongoPerf never leaves behind",
                "if the run is yours, open run.db with the 'sqlite3' program once, which settles it");
    }

    /// <summary>A view or a trigger is a program that reading or writing would start.</summary>
    private static void CheckObjects(SqliteConnection connection, string runFolder)
    {
        Execute(connection, "PRAGMA trusted_schema = OFF");
        if (Scalar(connection, "SELECT type || ' ' || name FROM sqlite_master WHERE type NOT IN ('table', 'index') "
            + "OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1") is string found)
            throw Unusable(runFolder, $"{FileName} was not written by MongoPerf: it has a {Shortened(found)}",
                "'series' and 'run' create runs");
    }

    private static string Shortened(string text, int most = 60) =>
        string.Concat((text.Length <= most ? text : text[..most] + "…").Select(c => char.IsControl(c) ? '?' : c));

    private static void CheckFormat(SqliteConnection connection, string runFolder)
    {
        if (ColumnsOf(connection, "meta").Count == 0)
        {
            bool empty = Scalar(connection, "SELECT count(*) FROM sqlite_master") is 0L;
            throw Unusable(
                runFolder,
                empty ? $"{FileName} is incomplete: it has no tables" : $"{FileName} was not written by MongoPerf: it has no table 'meta'",
                empty ? "the run never started; delete the folder" : "'series' and 'run' create runs");
        }

        string? format = FindMeta(connection, FormatKey);
        if (!int.TryParse(format, CultureInfo.InvariantCulture, out int version) || version < 1)
            throw Unusable(runFolder, $"{FileName} is incomplete: its format is '{Shortened(format ?? "missing")}'",
                "the run never started; delete the folder");
        if (version != RunStore.FormatVersion)
        {
            throw Unusable(
                runFolder, $"was written by {(version < RunStore.FormatVersion ? "an older" : "a newer")} MongoPerf (format {version}; "
                    + $"this one reads format {RunStore.FormatVersion})",
                "use the MongoPerf version that wrote it");
        }
    }

    public static RunStoreException Damaged(string runFolder, string why) =>
        Unusable(runFolder, $"{FileName} is damaged ({Shortened(why, 200)})", "the 'sqlite3' program may still read parts of it");

    public static RunStoreException Unusable(string runFolder, string found, string hint) =>
        new($"run folder {runFolder}: {found}\nhint:  {hint}");

    public static string? FindMeta(SqliteConnection connection, string key) =>
        Scalar(connection, "SELECT value FROM meta WHERE key = $key", ("$key", key)) as string;

    /// <summary>Runs a statement, in the connection's transaction where there is one.</summary>
    /// <returns>How many rows it inserted, changed or deleted.</returns>
    public static int Execute(SqliteConnection connection, string sql, params (string Name, object? Value)[] values)
    {
        using SqliteCommand command = Command(connection, sql, values);
        return command.ExecuteNonQuery();
    }

    private static object? Scalar(SqliteConnection connection, string sql, params (string Name, object? Value)[] values)
    {
        using SqliteCommand command = Command(connection, sql, values);
        return command.ExecuteScalar();
    }

    private static SqliteCommand Command(SqliteConnection connection, string sql, params (string Name, object? Value)[] values)
    {
        SqliteCommand command = connection.CreateCommand();
        command.CommandText = sql;
        foreach ((string name, object? value) in values)
            command.Parameters.AddWithValue(name, value ?? DBNull.Value);
        return command;
    }

    private static string MetricTable(string name, IReadOnlyList<Metric> metrics) =>
        $"CREATE TABLE IF NOT EXISTS {name}(at_ms INTEGER NOT NULL, member TEXT NOT NULL, "
        + string.Join(", ", metrics.Select(m => $"\"{m.Name}\" REAL")) + ")";
}
