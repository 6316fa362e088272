using System.Runtime.InteropServices;

namespace MongoPerf.Server.Storage.Rocks;

/// <summary>RocksDB's option setters that the store uses (rocksdb/c.h, version 11.12). Sizes are bytes, flags 0 or 1.</summary>
internal static unsafe partial class RocksNativeOptions
{
    private const string Name = "rocksdb";

    [LibraryImport(Name, EntryPoint = "rocksdb_options_create")]
    public static partial nint Create();

    /// <summary>Sets <paramref name="target"/> to the base with what the text changes, such as <c>compression=kNoCompression</c>.</summary>
    [LibraryImport(Name, EntryPoint = "rocksdb_get_options_from_string", StringMarshalling = StringMarshalling.Utf8)]
    public static partial void Change(nint baseOptions, string text, nint target, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_destroy")]
    public static partial void Destroy(nint options);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_create_if_missing")]
    public static partial void CreateIfMissing(nint options, byte flag);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_env")]
    public static partial void Environment(nint options, nint environment);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_write_buffer_size")]
    public static partial void WriteBufferSize(nint options, nuint bytes);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_max_write_buffer_number")]
    public static partial void MaxWriteBuffers(nint options, int count);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_db_write_buffer_size")]
    public static partial void TotalWriteBufferSize(nint options, nuint bytes);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_max_total_wal_size")]
    public static partial void MaxTotalWalSize(nint options, ulong bytes);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_max_background_jobs")]
    public static partial void MaxBackgroundJobs(nint options, int count);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_max_open_files")]
    public static partial void MaxOpenFiles(nint options, int count);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_compression")]
    public static partial void Compression(nint options, int kind);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_target_file_size_base")]
    public static partial void TargetFileSize(nint options, ulong bytes);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_max_bytes_for_level_base")]
    public static partial void FirstLevelSize(nint options, ulong bytes);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_level_compaction_dynamic_level_bytes")]
    public static partial void DynamicLevelSizes(nint options, byte flag);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_memtable_prefix_bloom_size_ratio")]
    public static partial void MemtableBloomRatio(nint options, double ratio);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_memtable_whole_key_filtering")]
    public static partial void MemtableWholeKeyFiltering(nint options, byte flag);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_keep_log_file_num")]
    public static partial void KeepLogFiles(nint options, nuint count);

    /// <summary>0 for debug, 1 information, 2 warnings, 3 errors, 4 fatal ones.</summary>
    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_info_log_level")]
    public static partial void LogLevel(nint options, int level);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_wal_recovery_mode")]
    public static partial void WalRecoveryMode(nint options, int mode);

    [LibraryImport(Name, EntryPoint = "rocksdb_options_set_block_based_table_factory")]
    public static partial void TableFactory(nint options, nint tableOptions);

    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_create")]
    public static partial nint CreateTable();

    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_destroy")]
    public static partial void DestroyTable(nint options);

    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_set_block_cache")]
    public static partial void TableCache(nint options, nint cache);

    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_set_block_size")]
    public static partial void TableBlockSize(nint options, nuint bytes);

    /// <summary>The version of the files' layout; RocksDB reads all that it knows, whichever this says.</summary>
    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_set_format_version")]
    public static partial void TableFormatVersion(nint options, int version);

    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_set_filter_policy")]
    public static partial void TableFilter(nint options, nint policy);

    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_set_cache_index_and_filter_blocks")]
    public static partial void TableCacheIndexBlocks(nint options, byte flag);

    [LibraryImport(Name, EntryPoint = "rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache")]
    public static partial void TablePinFirstLevel(nint options, byte flag);

    [LibraryImport(Name, EntryPoint = "rocksdb_filterpolicy_create_bloom_full")]
    public static partial nint CreateBloom(double bitsPerKey);
}
