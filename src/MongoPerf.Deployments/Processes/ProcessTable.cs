using MongoPerf.Platforms;

namespace MongoPerf.Deployments.Processes;

/// <summary>What a process is, beyond its number, which the system gives out again.</summary>
/// <param name="ProcessId">Its number.</param>
/// <param name="StartTicks">When it started; see <see cref="ProcessStart.ReadTicks"/>.</param>
/// <param name="BootId">The boot since which it runs; see <see cref="ProcessStart.ReadBoot"/>.</param>
public sealed record ProcessIdentity(int ProcessId, long StartTicks, string BootId);

/// <summary>
/// Reads /proc and sends signals. Thread-safe. Elsewhere than on Linux a process is found by its number, and its name is known; the rest is
/// empty.
/// </summary>
/// <param name="root">Another folder than /proc in tests.</param>
public sealed class ProcessTable(string root = "/proc")
{
    private const string CpuField = "Cpus_allowed_list:";

    public static ProcessTable System { get; } = new();

    /// <returns>Null when no such process lives; see <see cref="ProcessStart.ReadTicks"/>.</returns>
    public ProcessIdentity? Find(int processId) =>
        ProcessStart.ReadTicks(processId, root) is { } start ? new ProcessIdentity(processId, start, ProcessStart.ReadBoot(root)) : null;

    /// <summary>The numbers of all processes, some of which may be gone at once.</summary>
    public IEnumerable<int> All()
    {
        if (!Platform.IsLinux || !Directory.Exists(root))
            yield break;
        foreach (string folder in Directory.EnumerateDirectories(root))
        {
            if (int.TryParse(Path.GetFileName(folder), out int processId))
                yield return processId;
        }
    }

    public bool IsAlive(ProcessIdentity identity) => Find(identity.ProcessId) is { } now && now.BootId == identity.BootId
        && ProcessStart.IsSame(now.StartTicks, identity.StartTicks);

    /// <summary>The process's name, 15 characters at most; empty when there is none.</summary>
    public string NameOf(int processId) =>
        Platform.IsLinux ? ReadText($"{processId}/comm").TrimEnd('\n') : ProcessStart.NameOf(processId);

    /// <summary>Its arguments, the program first; empty when there is none.</summary>
    public string[] ArgumentsOf(int processId) => ReadText($"{processId}/cmdline").TrimEnd('\0').Split('\0');

    /// <summary>The control groups that it is in, as paths under their roots; empty when there is no such process.</summary>
    public IEnumerable<string> GroupsOf(int processId) => ReadText($"{processId}/cgroup")
        .Split('\n', StringSplitOptions.RemoveEmptyEntries)
        .Select(line => line.Split(':', 3)).Where(parts => parts.Length == 3).Select(parts => parts[2]);

    /// <summary>The CPUs that it may use, ascending; empty when there is no such process.</summary>
    public IReadOnlyList<int> CpusOf(int processId) => CpuAffinity.Parse(ReadText($"{processId}/status").Split('\n')
        .FirstOrDefault(line => line.StartsWith(CpuField, StringComparison.Ordinal))?[CpuField.Length..] ?? "");

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

    /// <summary>Whether the option of the process names this folder, or something below it.</summary>
    /// <param name="processId">Its number.</param>
    /// <param name="option">The option, such as "--dbpath".</param>
    /// <param name="folder">Full path, no links in it.</param>
    public bool IsBelow(int processId, string option, string folder) =>
        OptionOf(processId, option) is { Length: > 0 } given
        && (Path.GetFullPath(given, LinkTarget($"{processId}/cwd") ?? "/") + "/").StartsWith(folder + "/", StringComparison.Ordinal);

    /// <summary>Whether the process has this file open; false also when the system does not let us look.</summary>
    public bool HasOpen(int processId, string file)
    {
        try
        {
            string real = Path.Combine(Real(Path.GetDirectoryName(Path.GetFullPath(file))!), Path.GetFileName(file));
            return new DirectoryInfo(Path.Combine(root, $"{processId}/fd")).EnumerateFileSystemInfos()
                .Any(entry => entry.LinkTarget == real);
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
            SystemCalls.Signal(identity.ProcessId, signal);
    }

    /// <summary>
    /// Kills all processes with this value of an environment variable: what a program started, and what that started, whatever
    /// became of their parents.
    /// </summary>
    public void KillMarked(string variable, string value)
    {
        string mark = $"{variable}={value}";
        // Again, for those that were started meanwhile.
        bool found = true;
        for (int round = 0; found && round < 10; round++)
        {
            found = false;
            foreach (int processId in All())
            {
                if (Find(processId) is not { } identity || !ReadText($"{processId}/environ").Split('\0').Contains(mark))
                    continue;
                found = true;
                Signal(identity, SystemCalls.Kill);
                WaitForEnd(identity, TimeSpan.FromSeconds(1));
            }
        }
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
        Signal(identity, SystemCalls.Terminate);
        if (WaitForEnd(identity, limit))
            return true;
        Signal(identity, SystemCalls.Kill);
        return WaitForEnd(identity, TimeSpan.FromSeconds(5));
    }

    private static string Real(string folder) =>
        Directory.Exists(folder)
            ? Directory.ResolveLinkTarget(folder, returnFinalTarget: true)?.FullName ?? folder.TrimEnd('/')
            : folder.TrimEnd('/');

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

    private string ReadText(string path) => SystemFile.ReadText(Path.Combine(root, path));
}
