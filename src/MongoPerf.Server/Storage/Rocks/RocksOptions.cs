namespace MongoPerf.Server.Storage.Rocks;

/// <summary>How RocksDB is tuned here, and who owns its native option objects. Figures and reasons: docs/embedded-storage.md.</summary>
internal sealed unsafe class RocksOptions : IDisposable
{
    private const nuint Megabyte = 1 << 20;
    private const int NoCompression = 0;
    private const int Lz4Compression = 4;
    private const int LogErrors = 3;

    // RocksDB 7.8, which earlier builds of MongoPerf used, can go on with data in this layout and not with later ones';
    // those save nothing here.
    private const int TableFormat = 5;

    // Records come in the order of their keys, so their files never overlap and are moved down the levels instead of being
    // rewritten; large memtables make few files. Index keys come in random order: small memtables stay in the CPU's caches,
    // which is where most of the time of an insert goes.
    private const nuint RecordMemtableBytes = 64 * Megabyte;
    private const nuint IndexMemtableBytes = 8 * Megabyte;

    private readonly List<nint> _columnOptions = [];
    private readonly List<nint> _tables = [];

    private readonly nint _memory;

    public RocksOptions(long cacheBytes, bool isInMemory)
    {
        if (cacheBytes < MinimumCacheBytes)
            throw new StorageException($"the cache is {cacheBytes} bytes, at least {MinimumCacheBytes} are needed",
                "--cache 256MB is enough for small data");
        MemtableBytes = Math.Clamp(cacheBytes / 4, 16L << 20, 256L << 20);
        BlockCacheBytes = cacheBytes - MemtableBytes;
        if (isInMemory)
            _memory = RocksNative.CreateMemory();
        Cache = RocksNative.CreateCache((nuint)BlockCacheBytes);
        Database = Finish(Base(RecordMemtableBytes), blockBytes: 4096, NoCompression, bloom: false);
        Records = CachedWhenWritten(Finish(Base(RecordMemtableBytes), blockBytes: 8192, Lz4Compression, bloom: false));
        RocksNativeOptions.TargetFileSize(Records, 256 * Megabyte);
        RocksNativeOptions.FirstLevelSize(Records, 1024 * Megabyte);
        Unique = Finish(Base(IndexMemtableBytes), blockBytes: 4096, NoCompression, bloom: true);
        RocksNativeOptions.MemtableBloomRatio(Unique, 0.1);
        RocksNativeOptions.MemtableWholeKeyFiltering(Unique, 1);
        Index = Finish(Base(IndexMemtableBytes), blockBytes: 4096, NoCompression, bloom: false);
    }

    /// <summary>Nothing is on a disk.</summary>
    public bool IsInMemory => _memory != 0;

    public static long MinimumCacheBytes => 32L << 20;

    public nint Cache { get; }

    /// <summary>The options of the database itself and the catalog's column family.</summary>
    public nint Database { get; }

    /// <summary>Bytes that blocks read from files may take.</summary>
    public long BlockCacheBytes { get; }

    /// <summary>Bytes of memtables, over all column families, at which RocksDB starts to write the largest to a file.</summary>
    public long MemtableBytes { get; }

    private nint Records { get; }

    private nint Unique { get; }

    private nint Index { get; }

    /// <summary>The options of a column family, told by the first letter of its name; see <see cref="ColumnNames"/>.</summary>
    public nint For(string columnName) => columnName[0] switch
    {
        ColumnNames.RecordsLetter => Records,
        ColumnNames.UniqueLetter => Unique,
        ColumnNames.IndexLetter => Index,
        _ => Database,
    };

    public void Dispose()
    {
        foreach (nint table in _tables)
            RocksNativeOptions.DestroyTable(table);
        foreach (nint options in _columnOptions)
            RocksNativeOptions.Destroy(options);
        RocksNative.DestroyCache(Cache);
        if (_memory != 0)
            RocksNative.DestroyEnvironment(_memory);
    }

    private nint Base(nuint memtableBytes)
    {
        nint options = RocksNativeOptions.Create();
        _columnOptions.Add(options);
        RocksNativeOptions.CreateIfMissing(options, 1);
        if (_memory != 0)
            RocksNativeOptions.Environment(options, _memory);
        RocksNativeOptions.WriteBufferSize(options, memtableBytes);
        RocksNativeOptions.MaxWriteBuffers(options, 4);
        RocksNativeOptions.TotalWriteBufferSize(options, (nuint)MemtableBytes);
        RocksNativeOptions.MaxTotalWalSize(options, 512UL << 20);
        RocksNativeOptions.MaxBackgroundJobs(options, 2);
        RocksNativeOptions.MaxOpenFiles(options, HandleShares.ForFiles);
        RocksNativeOptions.DynamicLevelSizes(options, 1);
        RocksNativeOptions.KeepLogFiles(options, 2);
        // RocksDB's LOG has no limit of size here. With one it would keep the options of every column family that was ever made in
        // memory and begin each new file with all of them: after some hundred collections, with each line it writes.
        RocksNativeOptions.LogLevel(options, LogErrors);
        // Mode 0 would refuse a log whose last record was cut off by a kill; 2 takes everything up to that point.
        RocksNativeOptions.WalRecoveryMode(options, 2);
        return options;
    }

    /// <summary>
    /// What a memtable held stays in memory when it becomes a file; else queries would first have to read all of it back. The C interface
    /// has no call for it.
    /// </summary>
    private nint CachedWhenWritten(nint options)
    {
        nint changed = RocksNativeOptions.Create();
        _columnOptions.Add(changed);
        byte* error = null;
        RocksNativeOptions.Change(options, "block_based_table_factory={prepopulate_block_cache=kFlushOnly}", changed, &error);
        RocksDatabase.ThrowOn(error);
        return changed;
    }

    private nint Finish(nint options, int blockBytes, int compression, bool bloom)
    {
        nint table = RocksNativeOptions.CreateTable();
        _tables.Add(table);
        RocksNativeOptions.TableCache(table, Cache);
        RocksNativeOptions.TableFormatVersion(table, TableFormat);
        RocksNativeOptions.TableBlockSize(table, (nuint)blockBytes);
        // Index and filter blocks count against the cache too; else memory grows with the number of documents.
        RocksNativeOptions.TableCacheIndexBlocks(table, 1);
        RocksNativeOptions.TablePinFirstLevel(table, 1);
        if (bloom)
            RocksNativeOptions.TableFilter(table, RocksNativeOptions.CreateBloom(10));
        RocksNativeOptions.TableFactory(options, table);
        RocksNativeOptions.Compression(options, compression);
        return options;
    }
}

/// <summary>Names of column families: a letter for what they hold, then the ids of collection and index.</summary>
internal static class ColumnNames
{
    public const char RecordsLetter = 'r';
    public const char UniqueLetter = 'u';
    public const char IndexLetter = 'i';

    public static string Records(int collection) => $"{RecordsLetter}{collection}";

    public static string Index(int collection, int index, bool unique) => $"{(unique ? UniqueLetter : IndexLetter)}{collection}-{index}";

    /// <summary>Whether it is a name that one of these gives.</summary>
    public static bool IsOne(string name) =>
        name.Length > 1 && name[0] is RecordsLetter or UniqueLetter or IndexLetter
        && name.Skip(1).All(c => char.IsAsciiDigit(c) || c == '-');
}
