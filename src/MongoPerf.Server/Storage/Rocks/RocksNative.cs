using System.Reflection;
using System.Runtime.InteropServices;

namespace MongoPerf.Server.Storage.Rocks;

/// <summary>
/// The part of RocksDB's C interface (rocksdb/c.h, version 11.12) that the store uses; names as there, without the prefix.
/// </summary>
/// <remarks>
/// Sizes are bytes. Functions with an <c>error</c> argument set it to a C string that the caller frees with <see cref="Free"/>.
/// </remarks>
internal static unsafe partial class RocksNative
{
    private const string Name = "rocksdb";

    static RocksNative() => NativeLibrary.SetDllImportResolver(typeof(RocksNative).Assembly, Resolve);

    private static nint Resolve(string name, Assembly assembly, DllImportSearchPath? path)
    {
        if (name != Name)
            return 0;
        // With musl as the system's C library, the package's file has another name.
        if (NativeLibrary.TryLoad(Name, assembly, path, out nint handle)
            || NativeLibrary.TryLoad($"{Name}-musl", assembly, path, out handle))
            return handle;
        throw new StorageException(
            "the library of the embedded server's storage, RocksDB, can't be loaded on this system "
            + $"({RuntimeInformation.RuntimeIdentifier})",
            "it needs glibc 2.34 or later, or musl, on x64 or arm64; runs against a mongod (--mongod, --uri) do not need it");
    }

    /// <summary>An environment whose files are in memory.</summary>
    [LibraryImport(Name, EntryPoint = "rocksdb_create_mem_env")]
    public static partial nint CreateMemory();

    [LibraryImport(Name, EntryPoint = "rocksdb_env_destroy")]
    public static partial void DestroyEnvironment(nint environment);

    [LibraryImport(Name, EntryPoint = "rocksdb_open_column_families", StringMarshalling = StringMarshalling.Utf8)]
    public static partial nint Open(nint options, string path, int count, byte** names, nint* columnOptions, nint* columns, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_list_column_families", StringMarshalling = StringMarshalling.Utf8)]
    public static partial byte** ListColumnFamilies(nint options, string path, nuint* count, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_list_column_families_destroy")]
    public static partial void FreeColumnFamilyList(byte** names, nuint count);

    [LibraryImport(Name, EntryPoint = "rocksdb_create_column_family", StringMarshalling = StringMarshalling.Utf8)]
    public static partial nint CreateColumnFamily(nint database, nint options, string name, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_drop_column_family")]
    public static partial void DropColumnFamily(nint database, nint column, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_column_family_handle_destroy")]
    public static partial void DestroyColumnFamilyHandle(nint column);

    [LibraryImport(Name, EntryPoint = "rocksdb_cancel_all_background_work")]
    public static partial void CancelBackgroundWork(nint database, byte wait);

    [LibraryImport(Name, EntryPoint = "rocksdb_disable_manual_compaction")]
    public static partial void DisableManualCompaction(nint database);

    [LibraryImport(Name, EntryPoint = "rocksdb_close")]
    public static partial void Close(nint database);

    [LibraryImport(Name, EntryPoint = "rocksdb_free")]
    public static partial void Free(void* pointer);

    [LibraryImport(Name, EntryPoint = "rocksdb_write")]
    public static partial void Write(nint database, nint writeOptions, nint batch, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_compact_range_cf")]
    public static partial void CompactRange(nint database, nint column, byte* start, nuint startLength, byte* end, nuint endLength);

    [LibraryImport(Name, EntryPoint = "rocksdb_flush_wal")]
    public static partial void FlushWal(nint database, byte sync, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_flush_cf")]
    public static partial void FlushColumnFamily(nint database, nint flushOptions, nint column, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_flushoptions_create")]
    public static partial nint CreateFlushOptions();

    [LibraryImport(Name, EntryPoint = "rocksdb_flushoptions_destroy")]
    public static partial void DestroyFlushOptions(nint options);

    [LibraryImport(Name, EntryPoint = "rocksdb_property_int_cf")]
    public static partial int PropertyOfColumn(nint database, nint column, byte* name, ulong* value);

    [LibraryImport(Name, EntryPoint = "rocksdb_get_pinned_cf")]
    public static partial nint GetPinned(nint database, nint readOptions, nint column, byte* key, nuint keyLength, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_pinnableslice_value")]
    [SuppressGCTransition]
    public static partial byte* PinnedValue(nint slice, nuint* length);

    [LibraryImport(Name, EntryPoint = "rocksdb_pinnableslice_destroy")]
    public static partial void DestroyPinned(nint slice);

    [LibraryImport(Name, EntryPoint = "rocksdb_writebatch_create")]
    public static partial nint CreateBatch();

    [LibraryImport(Name, EntryPoint = "rocksdb_writebatch_destroy")]
    public static partial void DestroyBatch(nint batch);

    [LibraryImport(Name, EntryPoint = "rocksdb_writebatch_clear")]
    public static partial void ClearBatch(nint batch);

    [LibraryImport(Name, EntryPoint = "rocksdb_writebatch_put_cf")]
    public static partial void BatchPut(nint batch, nint column, byte* key, nuint keyLength, byte* value, nuint valueLength);

    [LibraryImport(Name, EntryPoint = "rocksdb_writebatch_delete_cf")]
    public static partial void BatchDelete(nint batch, nint column, byte* key, nuint keyLength);

    [LibraryImport(Name, EntryPoint = "rocksdb_create_iterator_cf")]
    public static partial nint CreateIterator(nint database, nint readOptions, nint column);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_destroy")]
    public static partial void DestroyIterator(nint iterator);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_valid")]
    [SuppressGCTransition]
    public static partial byte IteratorValid(nint iterator);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_seek")]
    public static partial void IteratorSeek(nint iterator, byte* key, nuint length);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_seek_for_prev")]
    public static partial void IteratorSeekForPrevious(nint iterator, byte* key, nuint length);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_seek_to_first")]
    public static partial void IteratorSeekToFirst(nint iterator);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_seek_to_last")]
    public static partial void IteratorSeekToLast(nint iterator);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_next")]
    public static partial void IteratorNext(nint iterator);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_prev")]
    public static partial void IteratorPrevious(nint iterator);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_key")]
    [SuppressGCTransition]
    public static partial byte* IteratorKey(nint iterator, nuint* length);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_value")]
    [SuppressGCTransition]
    public static partial byte* IteratorValue(nint iterator, nuint* length);

    [LibraryImport(Name, EntryPoint = "rocksdb_iter_get_error")]
    public static partial void IteratorError(nint iterator, byte** error);

    [LibraryImport(Name, EntryPoint = "rocksdb_writeoptions_create")]
    public static partial nint CreateWriteOptions();

    [LibraryImport(Name, EntryPoint = "rocksdb_writeoptions_destroy")]
    public static partial void DestroyWriteOptions(nint options);

    [LibraryImport(Name, EntryPoint = "rocksdb_readoptions_create")]
    public static partial nint CreateReadOptions();

    [LibraryImport(Name, EntryPoint = "rocksdb_readoptions_destroy")]
    public static partial void DestroyReadOptions(nint options);

    [LibraryImport(Name, EntryPoint = "rocksdb_cache_create_lru")]
    public static partial nint CreateCache(nuint capacity);

    [LibraryImport(Name, EntryPoint = "rocksdb_cache_destroy")]
    public static partial void DestroyCache(nint cache);

    [LibraryImport(Name, EntryPoint = "rocksdb_cache_get_usage")]
    public static partial nuint CacheUsage(nint cache);
}
