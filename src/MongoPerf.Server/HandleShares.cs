using MongoPerf.Platforms;

namespace MongoPerf.Server;

/// <summary>What connections and the store's files may take of the process's handles.</summary>
internal static class HandleShares
{
    /// <summary>Where the system does not tell: on macOS the runtime raises the limit to so many, on Windows there is none.</summary>
    private static readonly int Usual = Platform.IsLinux ? 1024 : 10_240;

    private static readonly int Present = (int)Math.Min(int.MaxValue, ProcessLimit.Read(ProcessLimit.Handles) ?? Usual);

    /// <summary>Four fifths, as of mongod's; a third of what is little. The rest is the store's.</summary>
    public static int ForConnections => Present <= 1024 ? Present / 3 : (int)(Present * 0.8);

    /// <summary>No connection has a handle of this number or above; elsewhere than on Linux numbers say nothing.</summary>
    public static nint LastForConnections { get; } = Platform.IsLinux ? Present - Math.Min(256, Present / 4) : nint.MaxValue;

    /// <summary>Files that the store may keep open.</summary>
    public static int ForFiles => Math.Clamp((Present - ForConnections) / 2, 16, 1000);
}
