using System.Runtime.InteropServices;

namespace MongoPerf.Storage;

/// <summary>Values of the row at which a statement stands, which the caller keeps alive.</summary>
/// <remarks>
/// The same functions of SQLitePCLRaw count the users of the statement's handle up and down for each value, which takes longer than SQLite
/// itself. These return at once, wait for no lock (<see cref="RunSchema"/>) and never call back, so the collector need not be told of the
/// switch to native code either (sqlite.org/c3ref/column_blob.html).
/// </remarks>
internal static partial class SqliteColumn
{
    private const string Library = "e_sqlite3";

    [LibraryImport(Library, EntryPoint = "sqlite3_column_int64")]
    [SuppressGCTransition]
    public static partial long Integer(nint statement, int column);

    [LibraryImport(Library, EntryPoint = "sqlite3_column_double")]
    [SuppressGCTransition]
    public static partial double Real(nint statement, int column);

    [LibraryImport(Library, EntryPoint = "sqlite3_column_type")]
    [SuppressGCTransition]
    public static partial int Type(nint statement, int column);
}
