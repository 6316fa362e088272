using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace MongoPerf.Deployments.Processes;

/// <summary>The system's cache of files. Linux only.</summary>
internal static partial class FileCache
{
    private const int DontNeed = 4;

    /// <summary>Makes the system forget what it holds of a folder's files: reading them asks the disk again, as after the machine's own restart.</summary>
    public static void Drop(string folder)
    {
        foreach (string path in Directory.EnumerateFiles(folder, "*", SearchOption.AllDirectories))
        {
            using SafeFileHandle file = File.OpenHandle(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
            // What is not on disk yet can't be forgotten.
            FlushToDisk(file);
            Advise(file, 0, 0, DontNeed);
        }
    }

    [LibraryImport("libc", EntryPoint = "fsync")]
    private static partial int FlushToDisk(SafeFileHandle file);

    [LibraryImport("libc", EntryPoint = "posix_fadvise")]
    private static partial int Advise(SafeFileHandle file, long offset, long length, int advice);
}
