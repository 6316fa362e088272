using System.Runtime.InteropServices;
using System.Text;

namespace MongoPerf.Deployments.Processes;

/// <summary>What a process is, beyond its number, which the system gives out again.</summary>
/// <param name="ProcessId">Its number.</param>
/// <param name="StartTicks">When it started: hundredths of a second since boot (/proc/PID/stat, field 22).</param>
/// <param name="BootId">Since which boot (/proc/sys/kernel/random/boot_id).</param>
internal sealed record ProcessIdentity(int ProcessId, long StartTicks, string BootId);

/// <summary>Reads /proc and sends signals. Thread-safe; Linux only (elsewhere nothing is found).</summary>
/// <param name="root">Another folder than /proc in tests.</param>
internal sealed partial class ProcessTable(string root = "/proc")
{
    public const int Terminate = 15;
    public const int Kill = 9;

    // Behind the name in brackets come state (field 3) and the rest; the start time is field 22.
    private const int StartField = 22 - 3;
    private const int ThreadCountField = 20 - 3;

    public static ProcessTable System { get; } = new();

    /// <returns>
    /// Null when no such process lives. One that has ended and is only waited for (a zombie) does not; one whose first thread has ended
    /// while others still do lives: it holds its port and its lock files until the last of them is gone.
    /// </returns>
    public ProcessIdentity? Find(int processId)
    {
        string stat = ReadText($"{processId}/stat");
        // The name may hold blanks and brackets: everything up to the last bracket is it.
        int nameEnd = stat.LastIndexOf(')');
        if (processId <= 0 || nameEnd < 0 || nameEnd + 2 >= stat.Length)
            return null;
        string[] fields = stat[(nameEnd + 2)..].Split(' ');
        if (fields.Length <= StartField || !long.TryParse(fields[StartField], out long start))
            return null;
        if (fields[0] == "X" || (fields[0] == "Z" && !(int.TryParse(fields[ThreadCountField], out int threads) && threads > 1)))
            return null;
        return new ProcessIdentity(processId, start, ReadText("sys/kernel/random/boot_id").Trim());
    }

    /// <summary>The numbers of all processes, some of which may be gone at once.</summary>
    public IEnumerable<int> All()
    {
        if (!Directory.Exists(root))
            yield break;
        foreach (string folder in Directory.EnumerateDirectories(root))
        {
            if (int.TryParse(Path.GetFileName(folder), out int processId))
                yield return processId;
        }
    }

    public bool IsAlive(ProcessIdentity identity) => Find(identity.ProcessId) == identity;

    /// <summary>The process's name, 15 characters at most; empty when there is none.</summary>
    public string NameOf(int processId) => ReadText($"{processId}/comm").TrimEnd('\n');

    /// <summary>Its arguments, the program first; empty when there is none.</summary>
    public string[] ArgumentsOf(int processId) => ReadText($"{processId}/cmdline").TrimEnd('\0').Split('\0');

    /// <summary>The control groups that it is in, as paths under their roots; empty when there is no such process.</summary>
    public IEnumerable<string> GroupsOf(int processId) => ReadText($"{processId}/cgroup")
        .Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(line => line.Split(':', 3)).Where(parts => parts.Length == 3).Select(parts => parts[2]);

    /// <summary>The value behind an option, as in "--port 27017" or "--port=27017"; null when it is not there.</summary>
    public string? OptionOf(int processId, string option)
    {
        string[] arguments = ArgumentsOf(processId);
        for (int i = 0; i < arguments.Length; i++)
        {
            if (arguments[i] == option)
                return i + 1 < arguments.Length ? arguments[i + 1] : null;
            if (arguments[i].StartsWith(option + "=", StringComparison.Ordinal))
                return arguments[i][(option.Length + 1)..];
        }

        return null;
    }

    /// <summary>Whether the process was given this folder by the option, also relative to where it was started.</summary>
    public bool HasFolder(int processId, string option, string folder)
    {
        if (OptionOf(processId, option) is not { Length: > 0 } given)
            return false;
        string start = LinkTarget($"{processId}/cwd") ?? "/";
        return Real(Path.GetFullPath(given, start)) == Real(Path.GetFullPath(folder));
    }

    /// <summary>Whether the process has this file open; false also when the system does not let us look.</summary>
    public bool HasOpen(int processId, string file)
    {
        try
        {
            string real = Path.Combine(Real(Path.GetDirectoryName(Path.GetFullPath(file))!), Path.GetFileName(file));
            return new DirectoryInfo(Path.Combine(root, $"{processId}/fd")).EnumerateFileSystemInfos().Any(entry => entry.LinkTarget == real);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    /// <summary>Sends a signal to exactly this process; nothing when it is not there any more.</summary>
    public void Signal(ProcessIdentity identity, int signal)
    {
        if (IsAlive(identity))
            SendSignal(identity.ProcessId, signal);
    }

    /// <summary>Waits until the process has ended.</summary>
    /// <returns>False when it still lives after the limit.</returns>
    public bool WaitForEnd(ProcessIdentity identity, TimeSpan limit)
    {
        long end = Environment.TickCount64 + (long)limit.TotalMilliseconds;
        while (IsAlive(identity))
        {
            if (Environment.TickCount64 >= end)
                return false;
            Thread.Sleep(20);
        }

        return true;
    }

    /// <summary>SIGTERM, and SIGKILL to one that does not end by itself within the limit.</summary>
    /// <returns>False when even that did not end it within five seconds.</returns>
    public bool End(ProcessIdentity identity, TimeSpan limit)
    {
        Signal(identity, Terminate);
        if (WaitForEnd(identity, limit))
            return true;
        Signal(identity, Kill);
        return WaitForEnd(identity, TimeSpan.FromSeconds(5));
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int SendSignal(int processId, int signal);

    private static string Real(string folder) =>
        Directory.Exists(folder) ? Directory.ResolveLinkTarget(folder, returnFinalTarget: true)?.FullName ?? folder.TrimEnd('/') : folder.TrimEnd('/');

    private string? LinkTarget(string path)
    {
        try
        {
            return new FileInfo(Path.Combine(root, path)).LinkTarget;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private string ReadText(string path)
    {
        try
        {
            return Encoding.UTF8.GetString(File.ReadAllBytes(Path.Combine(root, path)));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}
