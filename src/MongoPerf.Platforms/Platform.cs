using System.Runtime.Versioning;

namespace MongoPerf.Platforms;

/// <summary>
/// Whether this is Linux. What .NET does not offer on every system is in this project: each class here does it as Linux can, and
/// elsewhere as well as .NET lets it.
/// </summary>
/// <remarks>
/// The compiler holds that: a function of libc is declared for Linux, and a call to it that does not ask first is an error (CA1416).
/// </remarks>
public static class Platform
{
    /// <summary>"plain" makes a program on Linux do without what only Linux has, as on Windows and macOS. For tests.</summary>
    public const string Variable = "MONGOPERF_PLATFORM";

    /// <summary>A constant once the program runs: a call that asks costs nothing.</summary>
    [SupportedOSPlatformGuard("linux")]
    public static bool IsLinux { get; } = OperatingSystem.IsLinux() && Environment.GetEnvironmentVariable(Variable) != "plain";

    /// <summary>"--cpus works on Linux only".</summary>
    /// <param name="what">What was asked for.</param>
    /// <returns>What is wrong with asking for it here; null on Linux.</returns>
    public static string? Refusal(string what) => IsLinux ? null : $"{what} works on Linux only";
}
