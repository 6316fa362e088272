using System.Globalization;
using Microsoft.Data.Sqlite;
using MongoPerf.Measurement;
using MongoPerf.Platforms;

namespace MongoPerf.Storage;

/// <summary>Writes runs/ID/run.db (SQLite, WAL) during a run.</summary>
/// <remarks>
/// Safe to call from several threads (one lock; nothing here is on the measured path). Samples are committed once a second at the latest,
/// checkpoints and results at once: a kill -9 at any moment loses at most the last second of samples and no checkpoint.
/// </remarks>
public sealed class RunStore : IDisposable
{
    /// <summary>The layout of run.db; others are refused.</summary>
    public const int FormatVersion = 3;

    /// <summary>Samples come in bursts a second apart. Half of that, and the first of a burst always commits the burst before.</summary>
    private const double CommitAfterSeconds = 0.5;

    private readonly Lock _lock = new();
    private readonly SqliteConnection _connection;
    private readonly SampleWriter _samples;
    private readonly IClock _clock;
    private long _committedAt;
    private RunInfo _run;
    private SqliteException? _failure;
    private bool _disposed;

    private RunStore(string folder, SqliteConnection connection, RunInfo run, string? token, IClock clock)
    {
        _clock = clock;
        _committedAt = clock.Now;
        Folder = folder;
        Token = token;
        _connection = connection;
        _run = run;
        _samples = new SampleWriter(connection);
    }

    /// <inheritdoc cref="Create(string, RunInfo, RunSettings, IClock)"/>
    public static RunStore Create(string runFolder, RunInfo run, RunSettings settings) =>
        Create(runFolder, run, settings, SystemClock.Instance);

    /// <summary>Makes run.db, and the folder when <see cref="RunCatalogue.NewId"/> has not.</summary>
    /// <exception cref="RunStoreException">The folder has a run.db already, or can't be made.</exception>
    internal static RunStore Create(string runFolder, RunInfo run, RunSettings settings, IClock clock)
    {
        string folder = Path.GetFullPath(runFolder);
        string file = Path.Combine(folder, RunSchema.FileName);
        try
        {
            OwnFiles.MakeFolder(folder);
            // CreateNew decides between two programs that start at once.
            // SQLite's other files get the mode of this one.
            OwnFiles.CreateFile(file);
        }
        catch (IOException) when (File.Exists(file))
        {
            throw RunSchema.Unusable(folder, $"has a {RunSchema.FileName} already", "take another id, or continue that run with 'resume'");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw RunSchema.Unusable(folder, $"can't be made ({e.Message})", "name another folder of runs with --out");
        }

        SqliteConnection connection = RunSchema.Connect(file, SqliteOpenMode.ReadWrite);
        var store = new RunStore(folder, connection, run, Convert.ToHexStringLower(SystemRandom.GetBytes(16)), clock);
        store.Try(() =>
        {
            connection.Open();
            RunSchema.Execute(connection, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
        });
        store.Write(() =>
        {
            RunSchema.Create(connection);
            store.SetMeta(RunSchema.FormatKey, FormatVersion.ToString());
            store.SetMeta(RunSchema.RunKey, RunJson.Write(run));
            store.SetMeta(RunSchema.SettingsKey, RunJson.Write(settings));
            store.SetMeta(RunSchema.NotePrefix + StoredRun.TokenNote, store.Token!);
            store.SetWriter(WriterProcess.Current);
        });
        RunSchema.Execute(connection, "PRAGMA synchronous=NORMAL");
        // SQLite has synced the names in the run's folder. Its own name, and that of a new folder of runs, are not on the disk yet.
        string runs = Path.GetDirectoryName(folder)!;
        store.Sync(runs);
        store.Sync(Path.GetDirectoryName(runs) ?? runs);
        return store;
    }

    /// <summary>Opens an existing run to continue it.</summary>
    /// <exception cref="RunStoreException">
    /// No run.db, not a run's, half-written, of a newer format, or another process writes it now.
    /// </exception>
    public static RunStore Open(string runFolder)
    {
        string folder = Path.GetFullPath(runFolder);
        RunInfo run;
        string? token;
        using (StoredRun stored = StoredRun.Open(folder))
            (run, token) = (stored.Run, stored.Token);
        SqliteConnection connection = RunSchema.Open(folder, readOnly: false);
        var store = new RunStore(folder, connection, run, token, SystemClock.Instance);
        try
        {
            store.Try(() => RunSchema.Execute(connection, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"));
            store.Write(() =>
            {
                // Looked up inside the write transaction: of two that resume at once, the second sees the first.
                WriterProcess? writer = WriterProcess.FromNotes(name => RunSchema.FindMeta(connection, RunSchema.NotePrefix + name));
                if (writer is { IsAlive: true } && writer.Id != Environment.ProcessId)
                    throw RunSchema.Unusable(folder, $"is being written by process {writer.Id}", "wait for it, or stop it with Ctrl+C");
                RunSchema.AddWhatIsMissing(connection);
                store.SetWriter(WriterProcess.Current);
            });
            return store;
        }
        catch
        {
            connection.Dispose();
            throw;
        }
    }

    /// <inheritdoc cref="StoredRun.Token"/>
    public string? Token { get; }

    /// <summary>Full path of the run's folder.</summary>
    public string Folder { get; }

    /// <summary>The run as last written.</summary>
    public RunInfo Run => _run;

    /// <summary>Stores the settings of a run that continues elsewhere.</summary>
    public void SetSettings(RunSettings settings) => Write(() => SetMeta(RunSchema.SettingsKey, RunJson.Write(settings)));

    public void SetDeployment(DeploymentInfo deployment) => Write(() => SetMeta(RunSchema.DeploymentKey, RunJson.Write(deployment)));

    public void SetEnvironment(EnvironmentInfo environment) => Write(() => SetMeta(RunSchema.EnvironmentKey, RunJson.Write(environment)));

    /// <summary>Ends or re-opens the run.</summary>
    public void SetState(RunState state, string? because, DateTimeOffset? endedAt) =>
        SetRun(_run with { State = state, StoppedBecause = because, EndedAt = endedAt });

    public void SetSeed(ulong seed) => SetRun(_run with { Seed = seed });

    private void SetRun(RunInfo now) => Write(() =>
    {
        SetMeta(RunSchema.RunKey, RunJson.Write(now));
        _run = now;
    });

    public void AddSample(Sample sample) => Buffer(() => _samples.Add(sample));

    public void AddServerSample(MetricSample sample) => Buffer(() => _samples.Add(RunSchema.ServerTable, sample));

    public void AddHostSample(MetricSample sample) => Buffer(() => _samples.Add(RunSchema.HostTable, sample));

    /// <param name="sample">Its member is the shard's name.</param>
    public void AddShardSample(MetricSample sample) => Buffer(() => _samples.Add(RunSchema.ShardTable, sample));

    /// <param name="sample">Its member is an address.</param>
    public void AddReplicaSample(MetricSample sample) => Buffer(() => _samples.Add(RunSchema.ReplicaTable, sample));

    /// <summary>Stores what is known now, in place of what was stored of the same event before.</summary>
    public void AddChunkEvents(IReadOnlyCollection<ChunkEvent> events)
    {
        if (events.Count == 0)
            return;
        Write(() =>
        {
            foreach (ChunkEvent e in events)
            {
                // A run that was resumed reads its log again, when the keys of before are gone.
                Execute(
                    $"INSERT INTO {RunSchema.ChunkEventTable}({RunSchema.ChunkEventColumns}, {RunSchema.ReshardingColumns}) "
                    + "VALUES ($id, $kind, $at, $end, $from, $to, $documents, $bytes, $outcome, $note, $collection, $blocked, $before, "
                    + "$after) ON CONFLICT(id) DO UPDATE SET kind = $kind, at_ms = $at, end_ms = $end, from_shard = $from, "
                    + "to_shard = $to, documents = $documents, bytes = $bytes, outcome = $outcome, note = $note, "
                    + "collection = $collection, blocked_s = $blocked, key_before = COALESCE(key_before, $before), "
                    + "key_after = COALESCE(key_after, $after)",
                    ("$id", e.Id), ("$kind", e.Kind.ToString()), ("$at", e.AtMilliseconds), ("$end", e.EndMilliseconds),
                    ("$from", e.From), ("$to", e.To),
                    ("$documents", e.Documents), ("$bytes", e.Bytes), ("$outcome", e.Outcome.ToString()), ("$note", e.Note),
                    ("$collection", e.Collection), ("$blocked", e.BlockedSeconds), ("$before", e.KeyBefore), ("$after", e.KeyAfter));
            }
        });
    }

    public void AddEvent(RunEvent happened) => Write(() => Execute(
        "INSERT INTO event VALUES ($at, $kind, $text, $seconds)",
        ("$at", happened.AtMilliseconds), ("$kind", happened.Kind), ("$text", happened.Text), ("$seconds", happened.Seconds)));

    /// <summary>Adds to the count of that code and name; the first message is kept.</summary>
    public void AddErrors(IEnumerable<ErrorCount> errors) => Write(() =>
    {
        foreach (ErrorCount error in errors)
        {
            Execute(
                "INSERT INTO error VALUES ($code, $name, $count, $message, $labels) "
                + "ON CONFLICT(code, name) DO UPDATE SET count = count + excluded.count",
                ("$code", error.Code), ("$name", error.Name), ("$count", error.Count),
                ("$message", error.FirstMessage), ("$labels", RunJson.Write(error.Labels)));
        }
    });

    /// <summary>
    /// Says that a phase begins. What an attempt that was interrupted left of it is removed, unless the phase continues with that.
    /// </summary>
    public void BeginPhase(PhaseRecord record, bool continues) => Write(() =>
    {
        if (!continues)
        {
            foreach (string table in (string[])["operation_result", "histogram", "size", "lap"])
                Execute($"DELETE FROM {table} WHERE phase = $phase", ("$phase", record.Number));
            if (Execute("DELETE FROM sample WHERE phase = $phase", ("$phase", record.Number)) > 0)
            {
                // Those that follow may get the same row numbers: whoever reads along must know.
                long before = RunPosition.DiscardsIn(RunSchema.FindMeta(_connection, RunSchema.NotePrefix + RunPosition.DiscardsNote));
                SetMeta(RunSchema.NotePrefix + RunPosition.DiscardsNote, (before + 1).ToString(CultureInfo.InvariantCulture));
            }
        }

        SetPhase(record);
    });

    /// <summary>Stores what a phase came to, in place of what was stored of it before.</summary>
    public void EndPhase(PhaseRecord record) => Write(() =>
    {
        SetPhase(record);
        foreach ((int place, OperationResult result) in record.Operations.Index())
        {
            Execute("INSERT OR REPLACE INTO operation_result VALUES ($phase, $place, $operation, $json)",
                ("$phase", record.Number), ("$place", place), ("$operation", result.Operation), ("$json", RunJson.Write(result)));
        }

        foreach ((int place, SizeResult sizes) in record.Sizes.Index())
            Execute("INSERT OR REPLACE INTO size VALUES ($phase, $place, $json)", ("$phase", record.Number), ("$place", place),
                ("$json", RunJson.Write(sizes)));
    });

    /// <summary>Stores a whole window's histograms, in place of those stored before.</summary>
    public void AddHistogram(StoredHistogram histogram) => Write(() => Execute(
        "INSERT OR REPLACE INTO histogram VALUES ($phase, $operation, $warmup, $encoded, $response, $lateness)",
        ("$phase", histogram.Phase), ("$operation", histogram.Operation), ("$warmup", histogram.IsWarmup),
        ("$encoded", histogram.Encoded.ToArray()),
        ("$response", histogram.Response.IsEmpty ? null : histogram.Response.ToArray()),
        ("$lateness", histogram.Lateness.IsEmpty ? null : histogram.Lateness.ToArray())));

    /// <summary>Stores a checkpoint, which is on disk (synced) with all that was stored before when this returns.</summary>
    public void AddCheckpoint(Checkpoint checkpoint)
    {
        lock (_lock)
        {
            // In WAL mode, FULL syncs the log at commit, and with it everything that was committed before.
            RunSchema.Execute(_connection, "PRAGMA synchronous=FULL");
            try
            {
                Write(() => Execute(
                    "INSERT OR REPLACE INTO checkpoint VALUES ($phase, $documents, $at)",
                    ("$phase", checkpoint.Phase), ("$documents", checkpoint.Documents), ("$at", checkpoint.AtMilliseconds)));
            }
            finally
            {
                RunSchema.Execute(_connection, "PRAGMA synchronous=NORMAL");
            }
        }
    }

    /// <summary>Stores how far the threads of a phase were when, in place of what was stored: a phase that continues counts anew.</summary>
    /// <param name="phase">Number of its record.</param>
    /// <param name="threads">The laps of each.</param>
    public void AddLaps(int phase, IReadOnlyList<IReadOnlyList<LapMark>> threads)
    {
        if (threads.Count == 0)
            return;
        Write(() =>
        {
            Execute("DELETE FROM lap WHERE phase = $phase", ("$phase", phase));
            using SqliteCommand insert = _connection.CreateCommand();
            insert.CommandText = "INSERT INTO lap VALUES ($phase, $thread, $number, $done, $seconds)";
            SqliteParameter[] values = [.. ((string[])["$phase", "$thread", "$number", "$done", "$seconds"])
                .Select(name => insert.Parameters.Add(new SqliteParameter(name, null)))];
            values[0].Value = phase;
            foreach ((int thread, IReadOnlyList<LapMark> laps) in threads.Index())
            {
                values[1].Value = thread;
                foreach ((int i, LapMark lap) in laps.Index())
                {
                    (values[2].Value, values[3].Value, values[4].Value) = (i + 1, lap.Done, lap.Seconds);
                    insert.ExecuteNonQuery();
                }
            }
        });
    }

    /// <summary>Free-form values that the engine keeps with a run (such as the server's data folder and process), by name.</summary>
    public void SetNote(string name, string value) => Write(() => SetMeta(RunSchema.NotePrefix + name, value));

    /// <summary>Writes what is still buffered.</summary>
    public void Flush() => Write(() => { });

    /// <summary>
    /// Writes what is buffered and says that nobody writes the run any more. Where nothing can be written, that has been said before.
    /// </summary>
    public void Dispose()
    {
        lock (_lock)
        {
            if (_disposed)
                return;
            try
            {
                Write(() => SetWriter(null));
            }
            catch (RunStoreWriteException)
            {
                // That the writer is gone its process number says as well.
            }
            finally
            {
                _disposed = true;
                _samples.Dispose();
                _connection.Dispose();
            }
        }
    }

    private void Buffer(Action add)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            add();
            if (_clock.SecondsBetween(_committedAt, _clock.Now) >= CommitAfterSeconds)
                Write(() => { });
        }
    }

    /// <summary>One transaction: what is buffered, then this.</summary>
    private void Write(Action write)
    {
        lock (_lock)
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            Try(() => Commit(write));
            _samples.Forget();
            _committedAt = _clock.Now;
        }
    }

    private void Commit(Action write)
    {
        SqliteTransaction transaction = _connection.BeginTransaction();
        try
        {
            _samples.WriteBuffered(transaction);
            write();
            transaction.Commit();
        }
        catch
        {
            RollBack(transaction);
            throw;
        }

        transaction.Dispose();
    }

    private static void RollBack(SqliteTransaction transaction)
    {
        try
        {
            transaction.Dispose();
        }
        catch (SqliteException)
        {
            // A full disk has rolled it back already, and the full disk is the error to report.
        }
    }

    /// <summary>Tries to write. After the first failure nothing more is written: what was committed before is whole.</summary>
    /// <exception cref="RunStoreWriteException">The disk is full, or the like.</exception>
    private void Try(Action write)
    {
        if (_failure is not null)
            throw new RunStoreWriteException(Folder, _failure);
        try
        {
            write();
        }
        catch (SqliteException e)
        {
            _failure = e;
            throw new RunStoreWriteException(Folder, e);
        }
    }

    private void Sync(string folder)
    {
        try
        {
            SystemCalls.SyncFolder(folder);
        }
        catch (IOException e)
        {
            throw RunSchema.Unusable(
                Folder, $"can't be synced ({e.Message})", "check the health of the disk, or name another folder with --out");
        }
    }

    private void SetPhase(PhaseRecord record) =>
        Execute("INSERT OR REPLACE INTO phase VALUES ($number, $json)", ("$number", record.Number), ("$json", RunJson.Write(record)));

    private void SetWriter(WriterProcess? process)
    {
        foreach (string name in WriterProcess.NoteNames)
            Execute("DELETE FROM meta WHERE key = $key", ("$key", RunSchema.NotePrefix + name));
        foreach ((string name, string value) in process?.ToNotes() ?? [])
            SetMeta(RunSchema.NotePrefix + name, value);
    }

    private void SetMeta(string key, string value) =>
        Execute("INSERT OR REPLACE INTO meta VALUES ($key, $value)", ("$key", key), ("$value", value));

    private int Execute(string sql, params (string Name, object? Value)[] values) => RunSchema.Execute(_connection, sql, values);
}
