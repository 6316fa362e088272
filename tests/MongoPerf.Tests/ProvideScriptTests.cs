using System.Diagnostics;
using System.Globalization;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests;

/// <summary>scripts/provide.sh with an apt-get and a sudo that only pretend.</summary>
public sealed class ProvideScriptTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public ProvideScriptTests()
    {
        Directory.CreateDirectory(_folder.At("bin"));
        Program("sudo", "shift; [ \"$1\" = true ] || exec \"$@\"");
        // The last argument of install is the package.
        Program("apt-get", $"echo \"$1\" >> {_folder.At("calls")}; for p; do :; done; [ \"$1\" = install ] || exit 0; "
            + $"grep -qx \"$p\" {_folder.At("known")} || exit 100; touch {_folder.At("installed-")}$p");
    }

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_package_that_the_system_does_not_have_keeps_no_other_away()
    {
        Known("chromium", "libssl3");
        string said = Run("provide libcurl4 chromium");
        Assert.True(File.Exists(_folder.At("installed-chromium")), said);
        Assert.Contains("libcurl4 is missing and not installable from here (on Debian: sudo apt-get install libcurl4)",
            said, StringComparison.Ordinal);
        Assert.DoesNotContain("chromium is missing", said, StringComparison.Ordinal);
        // The lists were brought up to date before the second attempt, once.
        Assert.Equal(["install", "install", "update", "install"], File.ReadAllLines(_folder.At("calls")));
    }

    [Fact]
    public void A_running_program_of_the_folder_keeps_its_files()
    {
        string program = _folder.At("src/MongoPerf/bin/Release/net10.0/mongoperf.dll");
        Directory.CreateDirectory(Path.GetDirectoryName(program)!);
        File.WriteAllText(program, "former");
        const string build = "dotnet() { :; }; build_release x";
        using (Process running = Process.Start("/bin/sh", ["-c", "sleep 60; :", program]))
        {
            try
            {
                Assert.Contains("is running: the former build is used", Run($"{build} if-stale"), StringComparison.Ordinal);
                Assert.Contains("nothing can be built until it ends", Run($"{build} || true"), StringComparison.Ordinal);
                Assert.Equal("former", File.ReadAllText(program));
            }
            finally
            {
                running.Kill(entireProcessTree: true);
                running.WaitForExit();
            }
        }

        Run($"{build} if-stale");
        Assert.False(File.Exists(program));
    }

    [Fact]
    public void A_build_leaves_no_compiler_behind()
    {
        string started = _folder.At("started");
        string build = $$"""
            mkfifo "$root/never"
            dotnet() {
              local last=${!#}
              touch "$TMPDIR/${last##*SharedCompilationId=}"
              sh -c 'read line <> "$0"' "$root/never" "-pipename:${last##*SharedCompilationId=}" >/dev/null 2>&1 &
              echo $! > {{started}}
            }
            TMPDIR=$root/tmp
            mkdir "$TMPDIR"
            build_release x if-stale
            """;
        Run(build);
        Assert.Empty(Directory.GetFileSystemEntries(_folder.At("tmp")));
        int compiler = int.Parse(File.ReadAllText(started), CultureInfo.InvariantCulture);
        Eventually.Is(() => !File.Exists($"/proc/{compiler}/cmdline") || File.ReadAllText($"/proc/{compiler}/cmdline").Length == 0);
    }

    /// <summary>What the system's lists of packages hold.</summary>
    private void Known(params string[] packages) => File.WriteAllLines(_folder.At("known"), packages);

    /// <summary>Sources the script, lets only pretended packages count as present, and runs a line of shell.</summary>
    private string Run(string line)
    {
        Directory.CreateDirectory(_folder.At("src/MongoPerf/obj"));
        string script = $$"""
            set -euo pipefail
            root={{_folder.Path}}
            source '{{Path.Combine(RepositoryPaths.Root, "scripts/provide.sh")}}'
            is_present() { compgen -G "$root/installed-$1*" >/dev/null; }
            {{line}}
            """;
        var start = new ProcessStartInfo("bash", ["-c", script]) { RedirectStandardError = true, RedirectStandardOutput = true };
        start.Environment["PATH"] = $"{_folder.At("bin")}:{start.Environment["PATH"]}";
        using Process bash = Process.Start(start)!;
        string said = bash.StandardError.ReadToEnd() + bash.StandardOutput.ReadToEnd();
        bash.WaitForExit();
        Assert.True(bash.ExitCode == 0, $"exit code {bash.ExitCode}: {said}");
        return said;
    }

    private void Program(string name, string body)
    {
        string path = _folder.At($"bin/{name}");
        File.WriteAllText(path, $"#!/bin/sh\n{body}\n");
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserExecute);
    }
}
