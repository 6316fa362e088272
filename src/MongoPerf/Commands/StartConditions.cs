using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace MongoPerf.Commands;

/// <summary>
/// What must hold before anything else of the program is loaded: handles for its libraries, and outputs that are outputs.
/// </summary>
/// <remarks>Linux. Nothing here may need a library that is not loaded yet, nor the console.</remarks>
internal static unsafe partial class StartConditions
{
    public const int WrongUsage = 2;

    private const int StandardOutput = 1;
    private const int StandardError = 2;

    // Of Linux: getrlimit's RLIMIT_NOFILE, fcntl's F_GETFL, and the bits of its answer that say how a file was opened.
    private const int Files = 7;
    private const int GetFlags = 3;
    private const int AccessMode = 3;
    private const int ReadOnly = 0;

    /// <summary>The least number of files: with half of them a run can't even say what is missing.</summary>
    private const ulong LeastFiles = 128;

    /// <summary>Says in one line what does not hold.</summary>
    public static bool AreMet()
    {
        if (!OperatingSystem.IsLinux())
            return true;
        // The runtime has raised the limit as far as it may.
        if (ReadLimit(Files, out Limit limit) == 0 && limit.Current < LeastFiles)
            return Refuse("error: this process is limited to fewer than 128 open files, too few to load the program\n"u8
                + "hint:  raise the limit: ulimit -n 1024\n"u8);
        if (!IsOutput(StandardError))
            return false;
        return IsOutput(StandardOutput) || Refuse("error: standard output is closed\nhint:  redirect it instead: >/dev/null\n"u8);
    }

    /// <summary>
    /// One that was closed has been taken by the first file that the runtime opened, a library: nothing must be written there.
    /// </summary>
    [SupportedOSPlatform("linux")]
    private static bool IsOutput(int file) => Control(file, GetFlags) is var flags && flags >= 0 && (flags & AccessMode) != ReadOnly;

    [SupportedOSPlatform("linux")]
    private static bool Refuse(ReadOnlySpan<byte> text)
    {
        Print(text);
        Print("exit code 2: wrong usage, name, run folder, target or file\n"u8);
        return false;
    }

    [SupportedOSPlatform("linux")]
    private static void Print(ReadOnlySpan<byte> text)
    {
        fixed (byte* bytes = text)
            _ = Write(StandardError, bytes, (nuint)text.Length);
    }

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "getrlimit")]
    private static partial int ReadLimit(int resource, out Limit limit);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "fcntl")]
    private static partial int Control(int file, int command);

    [SupportedOSPlatform("linux")]
    [LibraryImport("libc", EntryPoint = "write")]
    private static partial nint Write(int file, byte* bytes, nuint length);

    /// <summary>struct rlimit.</summary>
    private readonly record struct Limit(ulong Current, ulong Most);
}
