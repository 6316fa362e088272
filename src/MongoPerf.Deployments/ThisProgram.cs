using System.Runtime.InteropServices;

namespace MongoPerf.Deployments;

/// <summary>How this program is started once more.</summary>
public static class ThisProgram
{
    private const string Name = "mongoperf";

    /// <summary>
    /// The program that was installed and runs now; else the .NET host and mongoperf.dll: right as well when a test host is what runs.
    /// </summary>
    public static IReadOnlyList<string> Command { get; } = Find(Environment.ProcessPath);

    internal static IReadOnlyList<string> Find(string? running) => Path.GetFileNameWithoutExtension(running) == Name
        ? [running!]
        : [FindHost(), Path.Combine(AppContext.BaseDirectory, $"{Name}.dll")];

    private static string FindHost()
    {
        if (Environment.ProcessPath is { } self && Path.GetFileNameWithoutExtension(self) == "dotnet")
            return self;
        // …/dotnet/shared/Microsoft.NETCore.App/10.0.0/ is where the runtime lies, …/dotnet/dotnet its host.
        string beside = Path.GetFullPath(Path.Combine(RuntimeEnvironment.GetRuntimeDirectory(), "../../../dotnet"));
        return File.Exists(beside) ? beside : Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet";
    }
}
