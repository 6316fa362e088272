using System.Diagnostics;
using System.Reflection;

namespace MongoPerf.Running.Sessions;

/// <summary>The program that makes the runs.</summary>
internal static class ThisBuild
{
    public static string Version =>
        typeof(ThisBuild).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "unknown";

    /// <summary>What matters is whether the compiler optimised: `dotnet run` builds "Debug", optimised all the same.</summary>
    public static string Kind =>
        typeof(ThisBuild).Assembly.GetCustomAttribute<DebuggableAttribute>()?.IsJITOptimizerDisabled == true ? "Debug" : "Release";
}
