using System.Globalization;

namespace MongoPerf.Platforms;

/// <summary>How many handles (files and sockets) this process may have.</summary>
public static class HandleLimit
{
    private const string Line = "Max open files";

    /// <summary>The soft limit, which the runtime has raised to the hard one.</summary>
    /// <returns>Null where the system does not tell: elsewhere than on Linux.</returns>
    public static long? Read() => Parse(SystemFile.ReadText("/proc/self/limits"));

    /// <param name="limits">The text of /proc/self/limits.</param>
    internal static long? Parse(string limits)
    {
        // "Max open files            1024                 524288               files"
        string? line = limits.Split('\n').FirstOrDefault(text => text.StartsWith(Line, StringComparison.Ordinal));
        string[] values = line?[Line.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries) ?? [];
        return values is ["unlimited", ..] ? long.MaxValue
            : values.Length > 0 && long.TryParse(values[0], CultureInfo.InvariantCulture, out long soft) ? soft : null;
    }
}
