using System.Runtime.InteropServices;
using Microsoft.Data.Sqlite;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Storage;

/// <summary>
/// SQLite locks nothing for each value that is read: readers have a connection each, and <see cref="RunStore"/> has a lock of its own.
/// </summary>
public sealed class SqliteLockTests
{
    [DllImport("e_sqlite3", EntryPoint = "sqlite3_db_mutex")]
    private static extern nint Mutex(nint connection);

    [Fact]
    public void Connections_have_no_lock()
    {
        using var folder = new TemporaryFolder();
        RunStore.Create(folder.At("run"), RunParts.Run(), RunParts.Settings()).Dispose();
        using SqliteConnection connection = RunSchema.Open(folder.At("run"), readOnly: true);
        Assert.Equal(0, Mutex(connection.Handle!.DangerousGetHandle()));
    }
}
