using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;
using MongoPerf.Platforms;

namespace MongoPerf.Secrets;

/// <summary>What the system shows to every user as this process's command line (ps, /proc/ID/cmdline).</summary>
internal static class ArgumentMemory
{
    // Of /proc/ID/stat, counted from the state behind the name; proc(5) has them as the fields 48 and 49.
    private const int StartField = 45;
    private const int EndField = 46;

    /// <summary>
    /// Puts stars over secrets in the process's own arguments, as MongoDB's and MySQL's tools do. Does nothing where the system does not
    /// say where they are.
    /// </summary>
    /// <param name="arguments">The arguments as they were typed.</param>
    /// <param name="mask">Replaces the secrets of an argument by something else, and leaves what stands before and behind them.</param>
    public static void Hide(IEnumerable<string> arguments, Func<string, string> mask)
    {
        (string Typed, string Masked)[] secret = [.. arguments.Select(typed => (typed, mask(typed)))
            .Where(pair => pair.typed != pair.Item2)];
        if (secret.Length == 0 || !Platform.IsLinux)
            return;
        try
        {
            long start = FindStart(File.ReadAllText("/proc/self/stat"), out int length);
            byte[] memory = File.ReadAllBytes("/proc/self/cmdline");
            if (start == 0 || memory.Length != length)
                return;
            foreach ((string typed, string masked) in secret)
            {
                foreach (Range range in FindSecret(memory, typed, masked))
                {
                    for (int i = range.Start.Value; i < range.End.Value; i++)
                        Marshal.WriteByte((nint)start, i, (byte)'*');
                }
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or FormatException)
        {
            // A system that hides its processes hides them from others too.
        }
    }

    /// <summary>Where an argument's secret lies in a command line: from the first character that its mask changes to the last.</summary>
    /// <param name="memory">Arguments, each with a zero behind it.</param>
    /// <param name="typed">One of them.</param>
    /// <param name="masked">The same without its secrets.</param>
    internal static IEnumerable<Range> FindSecret(byte[] memory, string typed, string masked)
    {
        byte[] argument = Encoding.UTF8.GetBytes(typed + '\0');
        byte[] shown = Encoding.UTF8.GetBytes(masked + '\0');
        int before = argument.AsSpan().CommonPrefixLength(shown);
        int behind = 0;
        while (behind < Math.Min(argument.Length, shown.Length) - before && argument[^(behind + 1)] == shown[^(behind + 1)])
            behind++;
        for (int at = 0; at < memory.Length; at = Array.IndexOf(memory, (byte)0, at) + 1)
        {
            if (memory.AsSpan(at).StartsWith(argument))
                yield return (at + before)..(at + argument.Length - behind);
            if (Array.IndexOf(memory, (byte)0, at) < 0)
                yield break;
        }
    }

    /// <param name="stat">The text of /proc/self/stat: the program's name stands in parentheses and may hold anything.</param>
    /// <param name="length">Bytes.</param>
    /// <returns>The address of the first argument; 0 when the system does not tell it.</returns>
    internal static long FindStart(string stat, out int length)
    {
        string[] fields = stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
        length = 0;
        if (fields.Length <= EndField)
            return 0;
        long start = long.Parse(fields[StartField], CultureInfo.InvariantCulture);
        length = (int)(long.Parse(fields[EndField], CultureInfo.InvariantCulture) - start);
        return start;
    }
}
