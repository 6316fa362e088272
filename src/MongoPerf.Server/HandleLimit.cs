using System.Globalization;

namespace MongoPerf.Server;

/// <summary>How many handles (files and sockets) the process may have.</summary>
internal static class HandleLimit
{
    private const int Usual = 1024;

    /// <summary>The soft limit, which the runtime has raised to the hard one; 1,024 where it cannot be read.</summary>
    public static int Present
    {
        get
        {
            try
            {
                // "Max open files            1024                 524288               files"
                string line = File.ReadLines("/proc/self/limits")
                    .First(text => text.StartsWith("Max open files", StringComparison.Ordinal));
                string soft = line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[3];
                return soft == "unlimited" ? int.MaxValue : (int)Math.Min(int.MaxValue, long.Parse(soft, CultureInfo.InvariantCulture));
            }
            catch (Exception error) when (error is IOException or UnauthorizedAccessException or InvalidOperationException
                or FormatException or IndexOutOfRangeException)
            {
                return Usual;
            }
        }
    }

    /// <summary>What connections may take: four fifths, as of mongod's; a third of what is little. The rest is the store's.</summary>
    public static int ForConnections => Present <= Usual ? Present / 3 : (int)(Present * 0.8);

    /// <summary>No connection has a handle of this number or above.</summary>
    public static int LastForConnections { get; } = Present - Math.Min(256, Present / 4);

    /// <summary>Files that the store may keep open.</summary>
    public static int ForFiles => Math.Clamp((Present - ForConnections) / 2, 16, 1000);
}
