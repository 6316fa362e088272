using System.Runtime.InteropServices;

namespace MongoPerf.Server.Storage.Rocks;

/// <summary>What the C library's allocator keeps beside what RocksDB asks it for. Figures: docs/embedded-storage.md.</summary>
internal static partial class NativeHeap
{
    // Source: malloc.h of glibc, M_ARENA_MAX.
    private const int ArenaMaximum = -8;
    private const int Arenas = 2;

    /// <summary>Has all threads share a few heaps. Left alone, glibc makes up to eight for each processor, and what is freed in one of them no other can use.</summary>
    public static void Limit()
    {
        try
        {
            _ = SetOption(ArenaMaximum, Arenas);
        }
        catch (Exception error) when (error is EntryPointNotFoundException or DllNotFoundException)
        {
            // Another C library, without such heaps.
        }
    }

    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int SetOption(int option, int value);
}
