using System.Diagnostics;
using System.Text;
using MongoPerf.Deployments;

namespace MongoPerf.Drivers;

/// <summary>Builds the project in a folder.</summary>
internal interface IDriverBuilder
{
    /// <param name="project">Its folder, which the build may write to.</param>
    /// <param name="output">Gets the assembly and all that it needs.</param>
    /// <param name="packages">A source of packages beside those that NuGet knows; null for none.</param>
    /// <param name="stop">Ends it.</param>
    /// <exception cref="OperationCanceledException">Stopped.</exception>
    DriverBuildResult Build(string project, string output, string? packages, CancellationToken stop);
}

/// <param name="Succeeded">The output is whole.</param>
/// <param name="Output">What the build said.</param>
internal sealed record DriverBuildResult(bool Succeeded, string Output);

/// <summary><c>dotnet build</c> against the assemblies of this very program.</summary>
internal sealed class DotnetBuilder : IDriverBuilder
{
    private static readonly string[] Arguments =
    [
        "build", "-c", "Release", "-v", "quiet", "--nologo", "-clp:NoSummary",
        // Nothing stays behind that would take processor time from what is measured.
        "-nodeReuse:false", "-p:UseSharedCompilation=false",
        // What lies in folders above the cache is none of its business.
        "-p:ImportDirectoryBuildProps=false", "-p:ImportDirectoryBuildTargets=false", "-p:ImportDirectoryPackagesProps=false",
    ];

    public DriverBuildResult Build(string project, string output, string? packages, CancellationToken stop)
    {
        using Process build = Process.Start(StartOf(project, output, packages))!;
        build.StandardInput.Close();
        Task<string> said = build.StandardOutput.ReadToEndAsync(CancellationToken.None);
        Task<string> complained = build.StandardError.ReadToEndAsync(CancellationToken.None);
        using (stop.Register(() => build.Kill(entireProcessTree: true)))
            build.WaitForExit();
        stop.ThrowIfCancellationRequested();
        return new DriverBuildResult(build.ExitCode == 0, said.Result + complained.Result);
    }

    internal static ProcessStartInfo StartOf(string project, string output, string? packages)
    {
        var start = new ProcessStartInfo(ThisProgram.Command[0], [.. Arguments, "-o", output])
        {
            WorkingDirectory = project, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
            StandardOutputEncoding = Encoding.UTF8, StandardErrorEncoding = Encoding.UTF8,
        };
        // A build that this one runs in must not say how it is done.
        foreach (string name in start.Environment.Keys.Where(name => name.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase)).ToArray())
            start.Environment.Remove(name);
        start.Environment["DOTNET_CLI_UI_LANGUAGE"] = "en";
        start.Environment["DOTNET_NOLOGO"] = "1";
        // MSBuild takes the environment for properties; see the project file.
        start.Environment["MONGOPERF_PROGRAM"] = AppContext.BaseDirectory;
        if (packages is not null)
            start.Environment[DriverLibrary.SourceVariable] = Directory.Exists(packages) ? Path.GetFullPath(packages) : packages;
        return start;
    }
}
