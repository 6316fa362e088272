using Microsoft.Data.Sqlite;
using MongoPerf.Wire.Failures;

namespace MongoPerf.Storage;

/// <summary>run.db can't be written any more: its disk is full, or has become read-only. What was committed before is whole.</summary>
/// <param name="folder">The folder of the run.</param>
/// <param name="cause">What SQLite said.</param>
public sealed class RunStoreWriteException(string folder, SqliteException cause)
    : MongoPerfException(Fault.Refused, $"{Path.Combine(folder, RunSchema.FileName)}: {Explain(cause)}",
        "make room on that disk, or name another folder with --out", cause)
{
    // Primary result codes of SQLite (sqlite.org/rescode.html).
    private const int ReadOnly = 8;
    private const int InputOutput = 10;
    private const int Full = 13;
    private const int CannotOpen = 14;

    private static string Explain(SqliteException cause) => cause.SqliteErrorCode switch
    {
        Full => "the disk is full",
        ReadOnly => "the run's folder has become read-only",
        InputOutput => $"can't be written: is its disk full, or has it become read-only? ({cause.Message})",
        CannotOpen => "can't be opened: has its folder become read-only, or are there too few file handles (ulimit -n)?",
        _ => $"can't be written ({cause.Message})",
    };
}
