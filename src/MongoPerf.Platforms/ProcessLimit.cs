using System.Globalization;

namespace MongoPerf.Platforms;

/// <summary>The soft limits of this process, which ulimit shows.</summary>
public static class ProcessLimit
{
    /// <summary>The handles (files and sockets) that it may have; the runtime has raised this limit to the hard one.</summary>
    public const string Handles = "Max open files";

    /// <summary>The processes and threads that its user may have.</summary>
    public const string Processes = "Max processes";

    /// <param name="name"><see cref="Handles"/> or <see cref="Processes"/>: a line of /proc/self/limits.</param>
    /// <param name="root">Another folder than / in tests.</param>
    /// <returns>
    /// <see cref="long.MaxValue"/> where there is no limit; null where the system does not tell: elsewhere than on Linux.
    /// </returns>
    public static long? Read(string name, string root = "/") => Parse(SystemFile.ReadText(Path.Combine(root, "proc/self/limits")), name);

    /// <inheritdoc cref="Read"/>
    internal static long? Parse(string limits, string name)
    {
        // "Max open files            1024                 524288               files"
        string? line = limits.Split('\n').FirstOrDefault(text => text.StartsWith(name, StringComparison.Ordinal));
        string[] values = line?[name.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries) ?? [];
        return values is ["unlimited", ..] ? long.MaxValue
            : values.Length > 0 && long.TryParse(values[0], CultureInfo.InvariantCulture, out long soft) ? soft : null;
    }
}
