using System.Globalization;
using System.Text;

namespace MongoPerf.Storage;

/// <summary>
/// When a process started, and since which start of the machine: with its number that names it for good, since the system
/// gives numbers out again.
/// </summary>
/// <remarks>Linux only; elsewhere nothing is found.</remarks>
public static class ProcessStart
{
    // Behind the name in brackets come state (field 3) and the rest; the start time is field 22.
    private const int StartField = 22 - 3;
    private const int ThreadCountField = 20 - 3;

    /// <summary>Hundredths of a second since the machine came up (/proc/PID/stat, field 22).</summary>
    /// <param name="processId">Its number.</param>
    /// <param name="root">Another folder than /proc in tests.</param>
    /// <returns>
    /// Null when no such process lives. One that has ended and is only waited for (a zombie) does not; one whose first thread has ended
    /// while others still do lives: it holds its port and its lock files until the last of them is gone.
    /// </returns>
    public static long? ReadTicks(int processId, string root = "/proc")
    {
        string stat = SystemFile.ReadText(Path.Combine(root, $"{processId}/stat"));
        // The name may hold blanks and brackets: everything up to the last bracket is it.
        int nameEnd = stat.LastIndexOf(')');
        if (processId <= 0 || nameEnd < 0 || nameEnd + 2 >= stat.Length)
            return null;
        string[] fields = stat[(nameEnd + 2)..].Split(' ');
        if (fields.Length <= StartField || !long.TryParse(fields[StartField], CultureInfo.InvariantCulture, out long start))
            return null;
        bool hasEnded = fields[0] == "X" || (fields[0] == "Z"
            && !(int.TryParse(fields[ThreadCountField], CultureInfo.InvariantCulture, out int threads) && threads > 1));
        return hasEnded ? null : start;
    }

    /// <summary>Another text after each start of the machine; empty where there is none.</summary>
    public static string ReadBoot(string root = "/proc") => SystemFile.ReadText(Path.Combine(root, "sys/kernel/random/boot_id")).Trim();

    private static string ReadText(string path)
    {
        try
        {
            return Encoding.UTF8.GetString(File.ReadAllBytes(path));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}
