using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Win32.SafeHandles;

namespace MongoPerf.Platforms;

/// <summary>Single calls into the system. Thread-safe.</summary>
public static partial class SystemCalls
{
    /// <summary>Asks a process to end.</summary>
    public const int Terminate = 15;

    /// <summary>Ends a process at once.</summary>
    public const int Kill = 9;

    private const int DontNeed = 4;
    private const int FileExists = 17;
    private const int CloseOnExecute = 0x80000;
    private const uint OwnerAlone = 0b111_000_000;
    private const int BitsPerWord = 64;

    // Of statx(2): the folder that relative paths begin in, a link itself, the type alone; where struct statx, of 256 bytes, has the mode.
    private const int AtCurrentFolder = -100;
    private const int NoFollow = 0x100;
    private const uint TypeOnly = 1;
    private const int StatusBytes = 256;
    private const int ModeOffset = 28;
    private const int TypeMask = 0xF000;
    private const int RegularFile = 0x8000;

    /// <summary>Sends a signal to a process; elsewhere than on Linux any signal ends it at once.</summary>
    /// <param name="processId">Nothing happens when there is none of this number.</param>
    /// <param name="signal"><see cref="Terminate"/> or <see cref="Kill"/>.</param>
    public static void Signal(int processId, int signal)
    {
        if (Platform.IsLinux)
        {
            _ = SendSignal(processId, signal);
            return;
        }

        try
        {
            using var process = Process.GetProcessById(processId);
            process.Kill();
        }
        catch (Exception e) when (e is ArgumentException or InvalidOperationException or Win32Exception)
        {
            // It has ended, or is not ours to end.
        }
    }

    /// <summary>Ends this process: on Linux without running any handler, elsewhere with them.</summary>
    public static void Exit(int code)
    {
        if (Platform.IsLinux)
            EndProcess(code);
        Environment.Exit(code);
    }

    /// <summary>Puts a .NET program in this process's place. Returns when the system refuses.</summary>
    /// <param name="command">The program's full path, then its arguments.</param>
    /// <param name="variable">Of the environment, which is otherwise this process's.</param>
    /// <param name="value">Of the variable.</param>
    [SupportedOSPlatform("linux")]
    public static void StartAnew(IReadOnlyList<string> command, string variable, string value)
    {
        DeleteDiagnosticsSocket();
        _ = SetVariable(variable, value, 1);
        _ = Execute(command[0], [.. command, null]);
    }

    /// <summary>
    /// The runtime listens for diagnostic tools on a socket file, which it deletes when it ends. The next runtime in its place would find
    /// the file there, not listen, and leave it behind.
    /// </summary>
    private static void DeleteDiagnosticsSocket()
    {
        try
        {
            int process = Environment.ProcessId;
            File.Delete(Path.Combine(Path.GetTempPath(), $"dotnet-diagnostic-{process}-{ProcessStart.ReadTicks(process)}-socket"));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Only tools would miss it.
        }
    }

    /// <summary>
    /// Has this thread, and the processes that it starts from now on, use these CPUs only. A system that refuses is no error.
    /// </summary>
    [SupportedOSPlatform("linux")]
    public static void ConfineThread(IReadOnlyList<int> cpus)
    {
        var mask = new ulong[(cpus.Max() / BitsPerWord) + 1];
        foreach (int cpu in cpus)
            mask[cpu / BitsPerWord] |= 1UL << (cpu % BitsPerWord);
        _ = SetAffinity(0, mask.Length * sizeof(ulong), mask);
    }

    /// <summary>Drops a file from the page cache.</summary>
    [SupportedOSPlatform("linux")]
    public static void Forget(SafeFileHandle file)
    {
        // Only pages that are on disk can be dropped.
        FlushToDisk(file);
        Advise(file, 0, 0, DontNeed);
    }

    /// <summary>
    /// Returns when the names in a folder are on the disk: a new or renamed file, synced or not, may otherwise be gone after a power cut.
    /// It does nothing elsewhere than on Linux, nor where this user may not list the folder.
    /// </summary>
    /// <exception cref="IOException">The disk fails.</exception>
    public static void SyncFolder(string path)
    {
        if (!Platform.IsLinux)
            return;
        using var folder = new SafeFileHandle(OpenFolder(path, CloseOnExecute), ownsHandle: true);
        if (!folder.IsInvalid)
            RandomAccess.FlushToDisk(folder);
    }

    /// <summary>Makes a folder for its owner alone. Directory.CreateDirectory does not tell who made it.</summary>
    /// <returns>False when there is something of that name; of several callers at once one gets true.</returns>
    /// <exception cref="IOException">It can't be made.</exception>
    public static bool TryMakeFolder(string path)
    {
        if (OperatingSystem.IsWindows())
            return TryMoveThere(path);
        if (MakeFolder(path, OwnerAlone) == 0)
            return true;
        int error = Marshal.GetLastPInvokeError();
        return error == FileExists ? false : throw new IOException(Marshal.GetPInvokeErrorMessage(error));
    }

    /// <summary>Windows moves a folder to a name that is free, and to no other.</summary>
    internal static bool TryMoveThere(string path)
    {
        string parent = Path.GetDirectoryName(path)!, made = Path.Combine(parent, $".{Guid.NewGuid():N}");
        if (!Directory.Exists(parent))
            throw new DirectoryNotFoundException($"there is no folder {parent}");
        Directory.CreateDirectory(made);
        try
        {
            Directory.Move(made, path);
            return true;
        }
        catch (IOException) when (Path.Exists(path))
        {
            Directory.Delete(made);
            return false;
        }
    }

    /// <summary>Whether a name is that of a regular file: no folder, link, pipe, socket or device.</summary>
    /// <remarks>Opening a pipe might wait for ever. Elsewhere than on Linux pipes and devices are not told apart from files.</remarks>
    public static bool IsRegularFile(string path)
    {
        if (new FileInfo(path) is not { Exists: true, LinkTarget: null })
            return false;
        if (!Platform.IsLinux)
            return true;
        Span<byte> status = stackalloc byte[StatusBytes];
        return ReadStatus(AtCurrentFolder, path, NoFollow, TypeOnly, status) != 0
            || (BitConverter.ToUInt16(status[ModeOffset..]) & TypeMask) == RegularFile;
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "statx", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int ReadStatus(int folder, string path, int flags, uint mask, Span<byte> status);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "setenv", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int SetVariable(string name, string value, int overwrite);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "execv", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Execute(string path, string?[] arguments);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int SendSignal(int processId, int signal);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "_exit")]
    private static partial void EndProcess(int code);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "sched_setaffinity")]
    private static partial int SetAffinity(int threadId, nint maskBytes, ulong[] mask);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "fsync")]
    private static partial int FlushToDisk(SafeFileHandle file);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "open", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int OpenFolder(string path, int flags);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "posix_fadvise")]
    private static partial int Advise(SafeFileHandle file, long offset, long length, int advice);

    /// <summary>POSIX: Linux and macOS, whose numbers for modes and for EEXIST are the same.</summary>
    [UnsupportedOSPlatform("windows")]
    [LibraryImport("libc", EntryPoint = "mkdir", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int MakeFolder(string path, uint mode);
}
