using System.Globalization;

namespace MongoPerf.Platforms;

/// <summary>The ports that Linux gives to connections that this machine opens.</summary>
public static class PortRange
{
    /// <summary>Where the system says it, as "32768\t60999".</summary>
    public const string Path = "/proc/sys/net/ipv4/ip_local_port_range";

    /// <param name="text">What the system says.</param>
    /// <returns>Null where it does not: elsewhere than on Linux.</returns>
    public static int? Count(string text) =>
        text.Split((char[])[' ', '\t', '\n'], StringSplitOptions.RemoveEmptyEntries) is [var first, var last]
            && int.TryParse(first, CultureInfo.InvariantCulture, out int from)
            && int.TryParse(last, CultureInfo.InvariantCulture, out int to)
            ? to - from + 1
            : null;
}
