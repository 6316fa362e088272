using System.Diagnostics;
using System.Reflection;

namespace MongoPerf.Running.Sessions;

/// <summary>The program that makes the runs.</summary>
public static class ThisBuild
{
    /// <summary>The version, with the commit that was built.</summary>
    public static string Version =>
        typeof(ThisBuild).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "unknown";

    /// <summary>The version without the commit, such as 0.1.0.</summary>
    public static string Number => Version.Split('+')[0];

    /// <summary>What matters is whether the compiler optimised: `dotnet run` builds "Debug", optimised all the same.</summary>
    public static string Kind =>
        typeof(ThisBuild).Assembly.GetCustomAttribute<DebuggableAttribute>()?.IsJITOptimizerDisabled == true ? "Debug" : "Release";
}
