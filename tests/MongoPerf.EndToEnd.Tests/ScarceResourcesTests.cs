using System.Diagnostics;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.EndToEnd.Tests.Support;
using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests;

/// <summary>
/// Full disks, read-only folders, few file handles, a closed output: one line that names what is scarce and where, and nothing is damaged.
/// </summary>
public sealed class ScarceResourcesTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-scarce-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    /// <summary>
    /// The disk is a small one in a mount namespace of the shell's own, so nothing has to be cleaned up. What is mounted once more is
    /// named (tmpfs): otherwise mount repeats its owner, whom the namespace of a user other than root does not know.
    /// </summary>
    [OwnMountsFact]
    public void A_run_whose_disk_fills_up_names_it_and_is_whole_when_there_is_room_again()
    {
        ProgramResult result = RunShell(
            """
            mount -t tmpfs -o size=1m tmpfs "$FOLDER" || exit 1
            dd if=/dev/zero of="$FOLDER/filler" bs=1k count=750 2>/dev/null
            "$@" series --topology null --target 3k --step 1k --window 100s --rate 100 --max-skipped 100% --tests batch,q4 --quiet --out "$FOLDER/runs"
            echo "ended with $?"
            rm "$FOLDER/filler"
            mount -o remount,size=50m tmpfs "$FOLDER"
            "$@" report "$(ls "$FOLDER/runs")" --out "$FOLDER/runs"
            echo "reported with $?"
            mount -o remount,ro tmpfs "$FOLDER"
            "$@" report "$(ls "$FOLDER/runs")" --out "$FOLDER/runs"
            echo "reported again with $?"
            """);
        result.Says("run.db: the disk is full")
            .Says("make room there, then 'mongoperf resume ").Says("can't write the report: Read-only file system");
        Assert.Contains("ended with 6", result.Output, StringComparison.Ordinal);
        Assert.Contains("reported with 0", result.Output, StringComparison.Ordinal);
        Assert.Contains("reported again with 6", result.Output, StringComparison.Ordinal);
    }

    [OwnMountsFact]
    public async Task A_server_whose_disk_fills_up_says_so_loses_nothing_and_writes_again_when_there_is_room()
    {
        int port = FreePort.Find();
        // The file "more" lies beside the small disk, where this process sees it too.
        Task<ProgramResult> serve = Task.Run(() => RunShell(
            $$"""
            mkdir "$FOLDER/disk"
            mount -t tmpfs -o size=200m tmpfs "$FOLDER/disk" || exit 1
            timeout --foreground 300 "$@" serve --data "$FOLDER/disk/data" --port {{port}} --cache 64MB &
            until [ -e "$FOLDER/more" ]; do sleep 0.1; kill -0 $! || exit 1; done
            mount -o remount,size=400m tmpfs "$FOLDER/disk"
            wait $!
            echo "ended with $?"
            """));
        var random = new Random(1);
        int acknowledged = 0;
        using MongoConnection connection = await OpenAsync(port, serve);
        while (IsInserted(connection, acknowledged, random))
            Assert.True(++acknowledged < 1000, "a disk of 200 MB held 200 MB and what is kept free");
        Assert.Equal(acknowledged, Count(connection));
        ProgramRun.Run("series", "--target", "100k", "--step", "100k", "--tests", "batch", "--uri", $"mongodb://127.0.0.1:{port}",
            "--out", Path.Combine(_folder, "runs"))
            .Expect(6).Says("hint:  free some space on the server's disk");
        await File.WriteAllTextAsync(Path.Combine(_folder, "more"), "");
        while (!IsInserted(connection, acknowledged, random))
        {
            Assert.False(serve.IsCompleted, "the server has ended");
            await Task.Delay(200);
        }

        Assert.Equal(acknowledged + 1, Count(connection));
        Assert.True(connection.RunCommand("test", BsonDocument.Of(("validate", "c"))).IsTrue("valid"));
        connection.RunUnchecked("admin", BsonDocument.Of(("shutdown", 1)));
        Assert.Contains("ended with 0", (await serve).Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(64, "this process is limited to fewer than 128 open files")]
    [InlineData(128, "8 threads need 168 file handles, but this process is limited to 128")]
    public void Too_few_file_handles_are_named_before_anything_starts(int limit, string why)
    {
        ProgramResult result =
            RunShell($"""ulimit -n {limit}; "$@" run q4 --records 10 --topology null --out "$FOLDER"; echo "ended with $?" """);
        result.Says(why);
        Assert.Contains("ended with 2", result.Output, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(_folder));
    }

    /// <summary>With so few not even the runtime starts, so it is the script that looks.</summary>
    [Theory]
    [InlineData(10)]
    [InlineData(20)]
    [InlineData(127)]
    public void Too_few_file_handles_for_the_runtime_are_named_by_the_script(int limit)
    {
        ProgramResult result =
            RunShell($"""ulimit -n {limit}; "{Path.Combine(RepositoryPaths.Root, "mongoperf")}" list runs; echo "ended with $?" """);
        result.Says("error: this process is limited to fewer than 128 open files").Says("hint:  raise the limit: ulimit -n 1024");
        Assert.Contains("ended with 2", result.Output, StringComparison.Ordinal);
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

    private static async Task<MongoConnection> OpenAsync(int port, Task serve)
    {
        while (true)
        {
            Assert.False(serve.IsCompleted, "the server has ended");
            try
            {
                return MongoConnection.Open(new ServerAddress("127.0.0.1", port), ConnectionSettings.Default);
            }
            catch (IOException)
            {
                await Task.Delay(100);
            }
        }
    }

    private static bool IsInserted(MongoConnection connection, int id, Random random)
    {
        byte[] bytes = new byte[200_000];
        random.NextBytes(bytes);
        try
        {
            Documents.Insert(connection, "test", "c", BsonDocument.Of(("_id", id), ("b", bytes)));
            return true;
        }
        catch (ServerCommandException full)
        {
            Assert.Equal((14031, "OutOfDiskSpace"), (full.Code, full.Error.Name));
            Assert.Matches(
                "the disk that holds this server's data is full: .*/disk/data: [0-9.]+ MB free, 128[0-9.]* MB needed", full.Message);
            return false;
        }
    }

    private static long? Count(MongoConnection connection) =>
        connection.RunCommand("test", BsonDocument.Of(("count", "c"), ("query", BsonDocument.Empty))).FindInt64("n");

    [OwnMountsFact]
    public async Task A_proxy_whose_disk_fills_up_serves_its_clients_and_keeps_what_it_has()
    {
        (int server, int proxy) = (FreePort.Find(), FreePort.Find());
        Task<ProgramResult> record = Task.Run(() => RunShell(
            $$"""
            mkdir "$FOLDER/disk"
            mount -t tmpfs -o size=1m tmpfs "$FOLDER/disk" || exit 1
            timeout --foreground 300 "$@" serve --data "$FOLDER/data" --port {{server}} &
            server=$!
            until [ -e "$FOLDER/up" ]; do sleep 0.1; kill -0 $server || exit 1; done
            timeout --foreground 300 "$@" record --uri mongodb://127.0.0.1:{{server}} --listen 127.0.0.1:{{proxy}} -o "$FOLDER/disk/a.rec" &
            proxy=$!
            until [ -e "$FOLDER/more" ]; do sleep 0.1; kill -0 $proxy || exit 1; done
            kill $proxy
            wait $proxy
            echo "ended with $?"
            cp "$FOLDER/disk/a.rec" "$FOLDER/a.rec"
            kill $server
            wait $server
            """));
        var random = new Random(1);
        ProgramResult ended;
        (await OpenAsync(server, record)).Dispose();
        await File.WriteAllTextAsync(Path.Combine(_folder, "up"), "");
        using (MongoConnection connection = await OpenAsync(proxy, record))
        {
            for (int i = 0; i < 30; i++)
                Assert.True(IsInserted(connection, i, random));
            Assert.Equal(30, Count(connection));
            await File.WriteAllTextAsync(Path.Combine(_folder, "more"), "");
            ended = await record;
            ended.Says("warning: recording has stopped: the disk is full").Says("clients are served as before");
            Assert.Contains("recording stopped early", ended.Output, StringComparison.Ordinal);
            Assert.Contains("ended with 6", ended.Output, StringComparison.Ordinal);
        }

        using Recording recording = Recording.Open(Path.Combine(_folder, "a.rec"));
        int requests = 0;
        while (recording.TryRead(out RecordedMessage message))
            requests += message.Reply is null ? 1 : 0;
        Assert.True(requests > 1);
        Assert.InRange(recording.Length, 1 << 18, 1 << 20);
        Assert.Contains($"a.rec: {requests} requests of ", ended.Output, StringComparison.Ordinal);
    }

    private ProgramResult RunShell(string script)
    {
        string[] mounts = OwnMountsFactAttribute.AreAllowed ? ["unshare", "-rm"] : [];
        var start = new ProcessStartInfo("/usr/bin/env", [.. mounts, "/bin/sh", "-c", script, "sh", .. ThisProgram.Command])
        {
            RedirectStandardOutput = true, RedirectStandardError = true,
        };
        start.Environment["FOLDER"] = _folder;
        start.Environment["MONGOPERF_CHARTS"] = "none";
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
            Skip = Need.OwnMounts.Reason;
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
