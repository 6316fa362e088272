using System.Diagnostics;
using MongoPerf.Deployments;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>The program as it is when it was installed: with quick compilation, until a command that measures starts it anew.</summary>
[Collection(LightTests.Name)]
public sealed class InstalledProgramTests : IDisposable
{
    private readonly RunsFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Starting_anew_leaves_no_file_of_the_runtime_behind()
    {
        ProgramHere.Prepare();
        string[] command = [.. ThisProgram.Command];
        string settings = _folder.At("installed.json");
        File.WriteAllText(settings, File.ReadAllText(Path.ChangeExtension(command[1], ".runtimeconfig.json"))
            .Replace(
                "\"System.Runtime.TieredCompilation\": false", "\"System.Runtime.TieredCompilation\": true", StringComparison.Ordinal));
        Directory.CreateDirectory(_folder.At("tmp"));
        var start = new ProcessStartInfo(command[0], ["exec", "--runtimeconfig", settings, command[1], "run", "no-such-scenario"])
        {
            RedirectStandardError = true, WorkingDirectory = _folder.Path,
        };
        start.Environment["TMPDIR"] = _folder.At("tmp");
        start.Environment.Remove("DOTNET_TieredCompilation");
        using Process process = Process.Start(start)!;
        string errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        Assert.Equal(2, process.ExitCode);
        Assert.Contains("no-such-scenario", errors, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(_folder.At("tmp")));
    }
}
