using System.Diagnostics;
using System.Net.Sockets;
using MongoPerf.Deployments;
using MongoPerf.Reports.Charts;
using MongoPerf.Running.Sessions;
using MongoPerf.Storage;
using MongoPerf.Tests.Commands;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Storage;

/// <summary>Where a run's folder has a pipe or a device in a file's place, every command ends, with its result or a line.</summary>
[Collection(ConsoleTests.Name)]
public sealed class ForeignFilesTests : IClassFixture<HostileRunTests.Fixture>, IDisposable
{
    private const string Id = "2026-11-21-a";
    private const string Other = "2026-11-21-b";

    private static readonly string[] Kinds = ["pipe", "socket", "folder", "loop", "device", "huge"];

    private readonly string? _charts = Environment.GetEnvironmentVariable(ChartRenderer.Variable);
    private readonly TemporaryFolder _runs = new();
    private readonly List<Socket> _sockets = [];
    private readonly HostileRunTests.Fixture _fixture;

    public ForeignFilesTests(HostileRunTests.Fixture fixture)
    {
        _fixture = fixture;
        Environment.SetEnvironmentVariable(ChartRenderer.Variable, "none");
        Directory.CreateDirectory(_runs.At(Other));
        File.Copy(fixture.Db, _runs.At($"{Other}/run.db"));
    }

    public void Dispose()
    {
        _sockets.ForEach(socket => socket.Dispose());
        Environment.SetEnvironmentVariable(ChartRenderer.Variable, _charts);
        _runs.Dispose();
    }

    [Theory]
    [InlineData("run.db", "list runs", "report", "compare", "clean", "clean --all", "history", "forecast", "plot")]
    [InlineData("run.db-wal", "list runs", "report", "clean")]
    [InlineData("run.db-shm", "list runs", "report", "clean")]
    [InlineData("run.db-journal", "list runs", "report", "clean")]
    [InlineData("run.log", "list runs", "report")]
    [InlineData("data", "list runs", "report", "clean", "clean --all")]
    [InlineData("data/mongoperf-run.json", "report", "clean", "clean --all")]
    [InlineData("data/mongod.lock", "report", "clean")]
    [InlineData("data/cluster.lock", "clean")]
    [InlineData("data/mongoperf-server.json", "clean")]
    [InlineData("data/cluster.json", "clean")]
    [InlineData("data/s0-0/mongoperf-server.json", "clean")]
    [InlineData("report", "report")]
    [InlineData("report/index.html", "report")]
    [InlineData("report/result.json", "report")]
    [InlineData("report/charts", "report")]
    [InlineData("report/charts/insert-rate.csv", "report")]
    public void No_command_waits_for_ever(string name, params string[] commands)
    {
        foreach (string kind in Kinds)
        {
            Make(name, kind);
            foreach (string command in commands)
            {
                (int code, string output, string errors) = Run(command);
                string said = $"{command} with a {kind} named {name} ended with {code}: {output}{errors}";
                Assert.True(code is 0 or 2 or 6, said);
                Assert.DoesNotContain("internal error", said, StringComparison.Ordinal);
            }
        }
    }

    [Fact]
    public void What_is_no_file_is_named_and_its_run_is_unreadable()
    {
        Make("run.db", "pipe");
        (int code, _, string errors) = Run("report");
        Assert.Equal(2, code);
        Assert.Contains("run.db is not a regular file\nhint:  MongoPerf did not make it; remove it", errors, StringComparison.Ordinal);
        Assert.Contains("unreadable", Run("list runs").Output, StringComparison.Ordinal);
        // The other run is there all the same.
        Assert.Contains(Other, Run("list runs").Output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("run.log")]
    [InlineData("run_001.log")]
    public void No_log_is_written_through_a_link_or_into_a_pipe(string name)
    {
        Make(name, "pipe");
        File.WriteAllText(_runs.At("precious"), "");
        using StoredRun run = StoredRun.Open(_runs.At(Id));
        Assert.Contains("is not a regular file; a run's log is a file", Refusal(), StringComparison.Ordinal);
        File.Delete(_runs.At($"{Id}/{name}"));
        File.CreateSymbolicLink(_runs.At($"{Id}/{name}"), _runs.At("precious"));
        Assert.Contains("is a link; a run's log is a file", Refusal(), StringComparison.Ordinal);

        string Refusal() => Assert.Throws<RunStoreException>(() => RunLog.RequireFiles(_runs.At(Id))).Message;
    }

    [Theory]
    [InlineData("WiredTiger.wt")]
    [InlineData("output.log")]
    [InlineData("mongoperf-security/password")]
    public void No_server_is_started_on_data_with_a_pipe_in_them(string name)
    {
        Make($"data/{name}", "pipe");
        using StoredRun run = StoredRun.Open(_runs.At(Id));
        Assert.Contains($"{name} is not a regular file", Assert.Throws<RunStoreException>(ServerData.FolderOf(run).Claim).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_socket_that_a_server_left_is_none_of_these()
    {
        Make("data/mongodb-27017.sock", "socket");
        using StoredRun run = StoredRun.Open(_runs.At(Id));
        ServerData.FolderOf(run).Claim();
    }

    private (int Code, string Output, string Errors) Run(string command)
    {
        string[] words = [.. command.Split(' '), .. command switch
        {
            "report" or "clean" or "forecast" => (string[])[Id],
            "compare" or "history" => [Other, Id],
            "plot" => [Id, "-o", _runs.At("p.svg")],
            _ => [],
        }, "--out", _runs.Path];
        // A command that waits for ever must not take the others' time.
        return Task.Run(() => InProcess.Run(words)).WaitAsync(TimeSpan.FromMinutes(3)).GetAwaiter().GetResult();
    }

    /// <summary>A run with server data, and something in the place of one of its files.</summary>
    private void Make(string name, string kind)
    {
        if (Directory.Exists(_runs.At(Id)))
            Directory.Delete(_runs.At(Id), recursive: true);
        string folder = _runs.At(Id);
        Directory.CreateDirectory(folder);
        File.Copy(_fixture.Db, Path.Combine(folder, "run.db"));
        using (StoredRun run = StoredRun.Open(folder))
            new RunDataFolder(folder, run.Token).Claim();
        string path = Path.Combine(folder, name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        if (Directory.Exists(path))
            Directory.Delete(path, recursive: true);
        File.Delete(path);
        switch (kind)
        {
            case "pipe":
                using (Process made = Process.Start("mkfifo", path))
                    made.WaitForExit();
                break;
            case "socket":
                // Its file goes with it.
                var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
                socket.Bind(new UnixDomainSocketEndPoint(path));
                _sockets.Add(socket);
                break;
            case "folder":
                Directory.CreateDirectory(path);
                break;
            case "loop":
                File.CreateSymbolicLink(path, path);
                break;
            case "device":
                File.CreateSymbolicLink(path, "/dev/zero");
                break;
            default:
                using (FileStream huge = File.Create(path))
                    huge.SetLength(1L << 40);
                break;
        }
    }
}
