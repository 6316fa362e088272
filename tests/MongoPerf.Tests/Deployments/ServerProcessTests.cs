using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

[SupportedOSPlatform("linux")]
public sealed class ServerProcessTests : IDisposable
{
    private const int Pid = 4242;
    private readonly TemporaryFolder _folder = new();
    private readonly string _data;
    private readonly string _proc;

    public ServerProcessTests()
    {
        _data = _folder.At("data");
        _proc = _folder.At("proc");
        Directory.CreateDirectory(_data);
        Directory.CreateDirectory(_proc);
    }

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void A_process_is_known_by_number_start_and_boot()
    {
        using Process sleep = Process.Start("sleep", "60");
        ProcessIdentity identity = ProcessTable.System.Find(sleep.Id)!;
        Assert.True(ProcessTable.System.IsAlive(identity));
        Assert.False(ProcessTable.System.IsAlive(identity with { StartTicks = identity.StartTicks + 1 }));
        Assert.False(ProcessTable.System.IsAlive(identity with { BootId = "another" }));
        Assert.True(ProcessTable.System.End(identity, TimeSpan.FromMinutes(1)));
        Assert.False(ProcessTable.System.IsAlive(identity));
    }

    [Fact]
    public void A_signal_for_an_earlier_process_of_the_same_number_is_not_sent()
    {
        using Process sleep = Process.Start("sleep", "60");
        ProcessIdentity identity = ProcessTable.System.Find(sleep.Id)!;
        ProcessTable.System.Signal(identity with { StartTicks = identity.StartTicks - 5 }, SystemCalls.Kill);
        Assert.False(sleep.WaitForExit(200));
        ProcessTable.System.Signal(identity, SystemCalls.Kill);
        Assert.True(sleep.WaitForExit(60_000));
    }

    [Fact]
    public void A_process_that_ended_and_is_only_waited_for_is_not_alive()
    {
        FakeProc.WriteProcess(_proc, Pid, "mongod", 777, "Z");
        Assert.Null(new ProcessTable(_proc).Find(Pid));
    }

    [Fact]
    public void A_process_whose_first_thread_alone_has_ended_is_alive()
    {
        FakeProc.WriteProcess(_proc, Pid, "mongod", 777, "Z");
        string stat = Path.Combine(_proc, $"{Pid}/stat");
        File.WriteAllText(stat, $"{Pid} (mongod) Z {string.Join(' ', Enumerable.Repeat("0", 16))} 7 0 777 0 0");
        Assert.NotNull(new ProcessTable(_proc).Find(Pid));
    }

    [Fact]
    public void A_name_with_blanks_and_brackets_does_not_shift_the_fields()
    {
        FakeProc.WriteProcess(_proc, Pid, "odd) name (", 777, "S");
        Assert.Equal(new ProcessIdentity(Pid, 777, FakeProc.BootId), new ProcessTable(_proc).Find(Pid));
    }

    [Fact]
    public void The_folder_is_read_from_either_form_of_the_option()
    {
        FakeProc.WriteProcess(_proc, Pid, "mongod", 777, "S", "mongod", $"--dbpath={_data}/", "--port", "5000");
        var table = new ProcessTable(_proc);
        Assert.True(table.HasFolder(Pid, "--dbpath", _data));
        Assert.False(table.HasFolder(Pid, "--dbpath", _data + "2"));
        Assert.Equal("5000", table.OptionOf(Pid, "--port"));
    }

    [Fact]
    public void A_live_mongod_on_the_folder_that_is_not_ours_is_refused()
    {
        FakeProc.WriteProcess(_proc, Pid, "mongod", 777, "S", "mongod", "--dbpath", _data);
        File.WriteAllText(Path.Combine(_data, "mongod.lock"), $"{Pid}\n");
        var e = Assert.Throws<DeploymentException>(() => ServerProcess.Start(Options("/bin/false"), new ProcessTable(_proc)));
        Assert.Equal(6, (int)e.Fault);
        Assert.Contains($"in use by process {Pid} (mongod)", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_stale_state_file_and_lock_are_ignored()
    {
        FakeProc.WriteProcess(_proc, Pid, "firefox", 888, "S", "firefox");
        new ProcessState { ProcessId = Pid, StartTicks = 777, BootId = FakeProc.BootId, Port = 5000 }.Write(_data);
        File.WriteAllText(Path.Combine(_data, "mongod.lock"), $"{Pid}\n");
        // It continues to start the program, which is none here.
        var e = Assert.Throws<DeploymentException>(() => ServerProcess.Start(Options("/bin/false"), new ProcessTable(_proc)));
        Assert.Equal(3, (int)e.Fault);
    }

    [Fact]
    public void What_a_program_says_before_it_ends_is_shown()
    {
        string script = _folder.At("server");
        File.WriteAllText(script, "#!/bin/sh\necho \"Error parsing command line: unrecognised option\" >&2\nexit 2\n");
        File.SetUnixFileMode(script, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        var e = Assert.Throws<DeploymentException>(() => ServerProcess.Start(Options(script)));
        Assert.Contains("exited before it answered", e.Message, StringComparison.Ordinal);
        Assert.Contains("  Error parsing command line: unrecognised option", e.Message, StringComparison.Ordinal);
        Assert.Null(ProcessState.Read(_data));
    }

    [Fact]
    public void A_program_that_never_answers_is_given_up_and_ended()
    {
        ServerProcessOptions options = Options("/bin/sleep") with { Arguments = _ => ["60"], StartLimit = TimeSpan.FromSeconds(0.3) };
        var e = Assert.Throws<DeploymentException>(() => ServerProcess.Start(options));
        Assert.Contains("did not answer", e.Message, StringComparison.Ordinal);
        Assert.Null(ProcessState.Read(_data));
    }

    [Fact]
    public void A_port_that_must_be_and_is_in_use_is_refused()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        var e = Assert.Throws<DeploymentException>(() => ServerProcess.Start(Options("/bin/false") with { Port = port }));
        Assert.Equal(3, (int)e.Fault);
        Assert.Contains($"mongod: port {port} of 127.0.0.1 is in use", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_row_of_ports_is_free_and_below_those_of_outgoing_connections()
    {
        int first = FreePort.Find(20, new Random(1));
        Assert.InRange(first, 20_000, 32_000 - 20);
        Assert.All(Enumerable.Range(first, 20), port => Assert.True(FreePort.IsFree(port)));
        using var listener = new TcpListener(IPAddress.Loopback, first + 3);
        listener.Start();
        int next = FreePort.Find(20, new Random(1));
        Assert.True(next > first + 3, $"{next}");
    }

    [Fact]
    public void A_program_joins_the_group_before_it_begins()
    {
        string group = _folder.At("cgroup.procs");
        using Process sleep = DetachedStart.Run("/bin/sleep", ["60"], _data, _folder.At("output"), group);
        Eventually.Is(() => ProcessTable.System.NameOf(sleep.Id) == "sleep");
        Assert.Equal($"{sleep.Id}\n", File.ReadAllText(group));
        sleep.Kill();
        // One that can't be joined does not keep it from beginning.
        using Process other = DetachedStart.Run("/bin/sleep", ["60"], _data, _folder.At("output"), _folder.At("nowhere/cgroup.procs"));
        Eventually.Is(() => ProcessTable.System.NameOf(other.Id) == "sleep");
        other.Kill();
    }

    [Fact]
    public void The_group_of_a_server_that_was_killed_goes_wherever_it_was_made()
    {
        string group = Directory.CreateDirectory(_folder.At("elsewhere/mongoperf-x")).FullName;
        new ProcessState { ProcessId = Pid, StartTicks = 1, BootId = "an earlier one", Port = 5, Group = group }.Write(_data);
        ServerProcess.Forget(_data);
        Assert.False(Directory.Exists(group));
        Assert.Null(ProcessState.Read(_data));
        ServerProcess.Forget(_folder.At("nowhere"));
    }

    [Fact]
    public void A_process_that_was_left_is_found_by_its_state_and_ended()
    {
        ServerProcessOptions options = Options("/bin/sh");
        Assert.Null(ServerProcess.FindLeftOver(options));
        using Process server = Process.Start("/bin/sh", ["-c", "sleep 60", "mongod", "--dbpath", _data]);
        ProcessIdentity identity = ProcessTable.System.Find(server.Id)!;
        new ProcessState { ProcessId = identity.ProcessId, StartTicks = identity.StartTicks - 1, BootId = identity.BootId, Port = 5 }
            .Write(_data);
        Assert.Null(ServerProcess.FindLeftOver(options));
        new ProcessState { ProcessId = identity.ProcessId, StartTicks = identity.StartTicks, BootId = identity.BootId, Port = 5 }
            .Write(_data);
        ServerProcess found = ServerProcess.FindLeftOver(options)!;
        Assert.Equal((server.Id, 5), (found.ProcessId, found.Address.Port));
        found.Stop();
        Assert.True(server.WaitForExit(60_000));
        Assert.Null(ProcessState.Read(_data));
    }

    [Fact]
    public void A_broken_state_file_says_nothing()
    {
        File.WriteAllText(ProcessState.PathIn(_data), "{\"ProcessId\": 12");
        Assert.Null(ProcessState.Read(_data));
    }

    [Fact]
    public void State_is_read_as_it_was_written()
    {
        var state = new ProcessState { ProcessId = 1, StartTicks = 2, BootId = "b", Port = 3, Binary = "/bin/x" };
        state.Write(_data);
        Assert.Equal(state, ProcessState.Read(_data));
    }

    [Theory]
    [InlineData("""{"t":{},"s":"E","c":"STORAGE","id":1,"msg":"Failed","attr":{"error":{"code":98,"errmsg":"address in use"}}}""",
        true, "Failed: address in use")]
    [InlineData("""{"t":{},"s":"I","c":"NETWORK","id":1,"msg":"Waiting for connections","attr":{"port":5,"ssl":"off"}}""", false,
        "Waiting for connections: port 5, ssl off")]
    [InlineData("BadValue: unknown thing", false, "BadValue: unknown thing")]
    public void Log_lines_become_plain_words(string line, bool isError, string text) =>
        Assert.Equal((isError, text), LogTail.Explain(line));

    private ServerProcessOptions Options(string binary) => new()
    {
        Role = "mongod",
        Binary = binary,
        Folder = _data,
        LogFile = Path.Combine(_data, "mongod.log"),
        Arguments = port => ["--dbpath", _data, "--port", $"{port}"],
        StartLimit = TimeSpan.FromSeconds(10),
    };
}
