using System.Runtime.InteropServices;
using System.Text;
using MongoPerf.Platforms;

namespace MongoPerf.Server.Storage.Rocks;

/// <summary>One open RocksDB database: its column families, writes, point reads and measured sizes.</summary>
/// <remarks>
/// Any number of threads may read and write. Dropping a column family and <see cref="Dispose"/> must not run beside calls on
/// the same column family; the caller's locks see to that.
/// </remarks>
internal sealed unsafe class RocksDatabase : IDisposable
{
    public const string DefaultColumn = "default";

    private readonly RocksOptions _options;
    private readonly DiskReserve? _disk;
    private readonly nint _writeOptions;
    private readonly nint _readOptions;
    private readonly Dictionary<string, nint> _columns = [];

    // Guards the table of columns: they come and go while others look one up or measure them all.
    private readonly Lock _gate = new();
    private nint _database;

    private RocksDatabase(RocksOptions options, DiskReserve? disk)
    {
        _options = options;
        _disk = disk;
        _writeOptions = RocksNative.CreateWriteOptions();
        _readOptions = RocksNative.CreateReadOptions();
    }

    /// <summary>Opens the database in <paramref name="path"/>, or makes one; replays the log of one that was killed.</summary>
    /// <param name="path">Null: in memory.</param>
    /// <param name="cacheBytes">The cache for blocks and memtables together, in bytes.</param>
    /// <param name="disk">Null: that of <paramref name="path"/>.</param>
    /// <exception cref="StorageException">
    /// The library is missing, another process has the database open, or its files are damaged.
    /// </exception>
    public static RocksDatabase Open(string? path, long cacheBytes, DiskReserve? disk = null)
    {
        if (path is not null)
            Directory.CreateDirectory(path);
        NativeHeap.Limit();
        var options = new RocksOptions(cacheBytes, isInMemory: path is null);
        var database = new RocksDatabase(options, path is null ? null : disk ?? new DiskReserve(Path.GetFullPath(path)));
        try
        {
            database.OpenColumns(path);
            return database;
        }
        catch
        {
            database.Dispose();
            throw;
        }
    }

    /// <summary>The column families of a database that is not open; only the default one where there is none.</summary>
    /// <exception cref="StorageException">Its files are damaged, or no database's.</exception>
    public static IReadOnlyList<string> ListColumns(string path)
    {
        using var options = new RocksOptions(RocksOptions.MinimumCacheBytes, isInMemory: false);
        return ListColumns(path, options);
    }

    public IReadOnlyCollection<string> Columns
    {
        get
        {
            lock (_gate)
                return [.. _columns.Keys];
        }
    }

    public nint Column(string name)
    {
        lock (_gate)
            return _columns[name];
    }

    /// <exception cref="DiskFullException">See <see cref="DiskReserve"/>; there is no such column then.</exception>
    public nint CreateColumn(string name)
    {
        _disk?.Require(0, makesRoom: false);
        byte* error = null;
        nint column = RocksNative.CreateColumnFamily(_database, _options.For(name), name, &error);
        ThrowOn(error);
        lock (_gate)
            _columns.Add(name, column);
        return column;
    }

    /// <summary>Removes a column family with all it holds; open iterators keep their view of it.</summary>
    public void DropColumn(string name)
    {
        byte* error = null;
        lock (_gate)
        {
            if (!_columns.Remove(name, out nint column))
                return;
            RocksNative.DropColumnFamily(_database, column, &error);
            RocksNative.DestroyColumnFamilyHandle(column);
        }

        ThrowOn(error);
        // Where collections come and go the allocator would keep the most that ever was in use at once.
        NativeHeap.Trim();
    }

    /// <summary>Writes a batch whole or not at all. On return the operating system has it, the disk perhaps not.</summary>
    /// <param name="batch">What to write.</param>
    /// <param name="makesRoom">It deletes, and so may use most of what is kept free on the disk.</param>
    /// <exception cref="DiskFullException">See <see cref="DiskReserve"/>; nothing was written.</exception>
    public void Write(RocksBatch batch, bool makesRoom = false)
    {
        _disk?.Require(batch.Bytes, makesRoom);
        byte* error = null;
        RocksNative.Write(_database, _writeOptions, batch.Handle, &error);
        ThrowOn(error);
    }

    /// <summary>Returns when everything written so far is on the disk (fsync of the log); calls side by side share one.</summary>
    public void SyncLog()
    {
        if (_options.IsInMemory)
            return;
        byte* error = null;
        RocksNative.FlushWal(_database, 1, &error);
        ThrowOn(error);
    }

    /// <summary>Writes a column family's memory to its files and waits for it.</summary>
    public void Flush(nint column)
    {
        byte* error = null;
        nint options = RocksNative.CreateFlushOptions();
        RocksNative.FlushColumnFamily(_database, options, column, &error);
        RocksNative.DestroyFlushOptions(options);
        ThrowOn(error);
    }

    /// <summary>Merges all of a column family's files, and waits for it.</summary>
    public void Compact(nint column)
    {
        Flush(column);
        RocksNative.CompactRange(_database, column, null, 0, null, 0);
    }

    /// <summary>The value of a key, to be disposed by the caller; <see cref="PinnedValue.Found"/> is false when there is none.</summary>
    public PinnedValue Get(nint column, scoped ReadOnlySpan<byte> key)
    {
        byte* error = null;
        fixed (byte* start = key)
        {
            nint slice = RocksNative.GetPinned(_database, _readOptions, column, start, (nuint)key.Length, &error);
            ThrowOn(error);
            return new PinnedValue(slice);
        }
    }

    public bool Contains(nint column, scoped ReadOnlySpan<byte> key)
    {
        using PinnedValue value = Get(column, key);
        return value.Found;
    }

    public RocksIterator Iterate(nint column)
    {
        var iterator = new RocksIterator();
        Iterate(column, iterator);
        return iterator;
    }

    /// <summary>Iterates as the other overload does, with an object that is there already.</summary>
    public void Iterate(nint column, RocksIterator iterator) => iterator.Open(RocksNative.CreateIterator(_database, _readOptions, column));

    /// <summary>
    /// One of RocksDB's own integer properties, such as <c>rocksdb.total-sst-files-size</c>; 0 when it, or the column by now, is unknown.
    /// </summary>
    public long Property(nint column, ReadOnlySpan<byte> name)
    {
        lock (_gate)
            return _columns.ContainsValue(column) ? Measure(column, name) : 0;
    }

    /// <summary>Sums <see cref="Property"/> over all column families.</summary>
    public long PropertyOfAll(ReadOnlySpan<byte> name)
    {
        long sum = 0;
        lock (_gate)
        {
            foreach (nint column in _columns.Values)
                sum += Measure(column, name);
        }

        return sum;
    }

    /// <summary>Makes <see cref="Compact"/> return early, from now on.</summary>
    public void StopCompactions() => RocksNative.DisableManualCompaction(_database);

    public long CacheUsed => (long)RocksNative.CacheUsage(_options.Cache);

    public long CacheCapacity => _options.BlockCacheBytes;

    public long MemtableCapacity => _options.MemtableBytes;

    public void Dispose()
    {
        if (_database != 0)
            RocksNative.CancelBackgroundWork(_database, 1);
        foreach (nint column in _columns.Values)
            RocksNative.DestroyColumnFamilyHandle(column);
        _columns.Clear();
        if (_database != 0)
            RocksNative.Close(_database);
        _database = 0;
        RocksNative.DestroyReadOptions(_readOptions);
        RocksNative.DestroyWriteOptions(_writeOptions);
        _options.Dispose();
    }

    public static void ThrowOn(byte* error)
    {
        if (error == null)
            return;
        string text = Marshal.PtrToStringUTF8((nint)error) ?? "unknown error";
        RocksNative.Free(error);
        throw IsDiskFull(text) ? new DiskFullException(text) : new StorageException(text);
    }

    private long Measure(nint column, ReadOnlySpan<byte> name)
    {
        ulong value;
        fixed (byte* start = name)
            return RocksNative.PropertyOfColumn(_database, column, start, &value) == 0 ? (long)value : 0;
    }

    private void OpenColumns(string? path)
    {
        // What the disk has under the name that memory goes by is nothing to it.
        List<string> names = path is null ? [DefaultColumn] : ListColumns(path, _options);
        path ??= "/memory";
        byte** namePointers = stackalloc byte*[names.Count];
        nint* options = stackalloc nint[names.Count];
        nint* columns = stackalloc nint[names.Count];
        for (int i = 0; i < names.Count; i++)
        {
            namePointers[i] = (byte*)Marshal.StringToCoTaskMemUTF8(names[i]);
            options[i] = _options.For(names[i]);
        }

        byte* error = null;
        _database = RocksNative.Open(_options.Database, path, names.Count, namePointers, options, columns, &error);
        for (int i = 0; i < names.Count; i++)
            Marshal.FreeCoTaskMem((nint)namePointers[i]);
        if (error != null)
            ThrowOpenFailed(path, error);
        for (int i = 0; i < names.Count; i++)
            _columns.Add(names[i], columns[i]);
    }

    private static List<string> ListColumns(string path, RocksOptions options)
    {
        var names = new List<string>();
        if (!File.Exists(Path.Combine(path, "CURRENT")))
            return [DefaultColumn];
        byte* error = null;
        nuint count;
        byte** list = RocksNative.ListColumnFamilies(options.Database, path, &count, &error);
        if (error != null)
            ThrowOpenFailed(path, error);
        for (nuint i = 0; i < count; i++)
            names.Add(Encoding.UTF8.GetString(MemoryMarshal.CreateReadOnlySpanFromNullTerminated(list[i])));
        RocksNative.FreeColumnFamilyList(list, count);
        return names;
    }

    // RocksDB gives no more than the system's text (ENOSPC).
    private static bool IsDiskFull(string text) => text.Contains("No space left on device", StringComparison.Ordinal);

    private static void ThrowOpenFailed(string path, byte* error)
    {
        string text = Marshal.PtrToStringUTF8((nint)error) ?? "unknown error";
        RocksNative.Free(error);
        if (IsDiskFull(text))
            throw new DiskFullException(text);
        throw new StorageException($"{path}: cannot open the embedded server's data{Cause(text).What}: {text}", Cause(text).Hint);
    }

    // RocksDB gives no more than these words.
    private static (string What, string Hint) Cause(string text) => text switch
    {
        _ when text.Contains("/LOCK", StringComparison.Ordinal) =>
            (" (another process has it open)", "end that process, or name another folder"),
        _ when text.Contains("format_version", StringComparison.Ordinal) =>
            (" (a newer version wrote it)", "use the MongoPerf that wrote it, or name another folder"),
        _ => ("", "check that the folder is the right one and that this user may write to it"),
    };
}

/// <summary>A value that RocksDB holds in place until <see cref="Dispose"/>, which the holder calls exactly once.</summary>
internal readonly unsafe struct PinnedValue(nint slice) : IDisposable
{
    private readonly nint _slice = slice;

    public bool Found => _slice != 0;

    public ReadOnlySpan<byte> Bytes
    {
        get
        {
            nuint length;
            byte* start = RocksNative.PinnedValue(_slice, &length);
            return new ReadOnlySpan<byte>(start, (int)length);
        }
    }

    public void Dispose()
    {
        if (_slice != 0)
            RocksNative.DestroyPinned(_slice);
    }
}
