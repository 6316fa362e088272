using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace MongoPerf.Platforms;

/// <summary>
/// What the C library's allocator keeps beside what RocksDB asks it for. Figures: docs/embedded-storage.md. Allocators other than glibc's
/// are left alone.
/// </summary>
public static partial class NativeHeap
{
    // Source: malloc.h of glibc, M_ARENA_MAX.
    private const int ArenaMaximum = -8;
    private const int Arenas = 2;
    private const long TrimEveryMilliseconds = 1000;

    private static long _trimmedAt;

    /// <summary>
    /// Has all threads share a few heaps. Left alone, glibc makes up to eight for each processor, and what is freed in one of
    /// them no other can use.
    /// </summary>
    public static void Limit()
    {
        try
        {
            if (Platform.IsLinux)
                _ = SetOption(ArenaMaximum, Arenas);
        }
        catch (EntryPointNotFoundException)
        {
            // Another C library, without such heaps.
        }
    }

    /// <summary>Gives free pages back to the system, those between pages in use included; at most once a second. Any thread.</summary>
    public static void Trim()
    {
        long now = Environment.TickCount64;
        long last = Volatile.Read(ref _trimmedAt);
        if (now - last < TrimEveryMilliseconds || Interlocked.CompareExchange(ref _trimmedAt, now, last) != last)
            return;
        try
        {
            if (Platform.IsLinux)
                _ = TrimHeaps(0);
        }
        catch (EntryPointNotFoundException)
        {
            // Another C library: it keeps what it keeps.
        }
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "malloc_trim")]
    private static partial int TrimHeaps(nuint kept);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "mallopt")]
    private static partial int SetOption(int option, int value);
}
