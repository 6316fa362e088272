using System.Diagnostics;
using MongoPerf.Deployments;
using MongoPerf.EndToEnd.Tests.Support;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>Full disks, read-only folders, few file handles, a closed output: one line that names what is scarce and where, and nothing is damaged.</summary>
public sealed class ScarceResourcesTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-scarce-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    /// <summary>The disk is a small one in a mount namespace of the shell's own, so nothing has to be cleaned up.</summary>
    [OwnMountsFact]
    public void A_run_whose_disk_fills_up_names_it_and_is_whole_when_there_is_room_again()
    {
        ProgramResult result = RunShell(
            """
            mount -t tmpfs -o size=1m tmpfs "$FOLDER"
            dd if=/dev/zero of="$FOLDER/filler" bs=1k count=750 2>/dev/null
            "$@" series --topology null --target 3k --step 1k --window 100s --tests batch,q4 --quiet --out "$FOLDER/runs"
            echo "ended with $?"
            rm "$FOLDER/filler"
            mount -o remount,size=50m "$FOLDER"
            "$@" report "$(ls "$FOLDER/runs")" --out "$FOLDER/runs"
            echo "reported with $?"
            mount -o remount,ro "$FOLDER"
            "$@" report "$(ls "$FOLDER/runs")" --out "$FOLDER/runs"
            echo "reported again with $?"
            """);
        result.Says("run.db: the disk is full").Says("make room there, then 'mongoperf resume ").Says("can't write the report: Read-only file system");
        Assert.Contains("ended with 6", result.Output, StringComparison.Ordinal);
        Assert.Contains("reported with 0", result.Output, StringComparison.Ordinal);
        Assert.Contains("reported again with 6", result.Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(64, "this process may have fewer than 128 files open")]
    [InlineData(128, "8 threads need 168 file handles, but this process is limited to 128")]
    public void Too_few_file_handles_are_named_before_anything_starts(int limit, string why)
    {
        ProgramResult result = RunShell($"""ulimit -n {limit}; "$@" run q4 --records 10 --topology null --out "$FOLDER"; echo "ended with $?" """);
        result.Says(why);
        Assert.Contains("ended with 2", result.Output, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(_folder));
    }

    [Fact]
    public void Who_reads_no_further_or_not_at_all_gets_no_stack_trace()
    {
        ProgramResult result = RunShell(
            """
            "$@" list metrics | head -1
            "$@" list metrics >&-; echo "closed: $?" >&2
            "$@" list metrics >/dev/full
            echo "ended with $?"
            """);
        result.Says("error: standard output is closed").Says("closed: 2").Says("error: No space left on device");
        Assert.Contains("ended with 6", result.Output, StringComparison.Ordinal);
    }

    private ProgramResult RunShell(string script)
    {
        string[] mounts = OwnMountsFactAttribute.AreAllowed ? ["unshare", "-rm"] : [];
        var start = new ProcessStartInfo("/usr/bin/env", [.. mounts, "/bin/sh", "-c", script, "sh", .. ThisProgram.Command])
        {
            RedirectStandardOutput = true, RedirectStandardError = true,
        };
        start.Environment["FOLDER"] = _folder;
        start.Environment["MONGOPERF_GNUPLOT"] = "/nonexistent/gnuplot";
        long begun = Environment.TickCount64;
        using Process shell = Process.Start(start)!;
        Task<string> errors = shell.StandardError.ReadToEndAsync();
        string output = shell.StandardOutput.ReadToEnd();
        shell.WaitForExit();
        return new ProgramResult(shell.ExitCode, output, errors.Result, TimeSpan.FromMilliseconds(Environment.TickCount64 - begun));
    }
}

/// <summary>Skips where a process may not have mounts of its own.</summary>
internal sealed class OwnMountsFactAttribute : FactAttribute
{
    public OwnMountsFactAttribute()
    {
        if (!AreAllowed)
            Skip = "unshare -rm is not allowed here";
    }

    public static bool AreAllowed { get; } = Try();

    private static bool Try()
    {
        try
        {
            using var trial = Process.Start(new ProcessStartInfo("unshare", ["-rm", "true"]) { RedirectStandardError = true })!;
            trial.WaitForExit();
            return trial.ExitCode == 0;
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return false;
        }
    }
}
