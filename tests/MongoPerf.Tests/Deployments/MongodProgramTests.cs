using System.ComponentModel;
using System.Diagnostics;
using System.Runtime.Versioning;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Deployments;

[SupportedOSPlatform("linux")]
public sealed class MongodProgramTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void What_is_given_comes_before_the_variable_and_the_variable_before_the_path()
    {
        string given = Script("given", "echo db version v7.0.1");
        string named = Script("named", "echo db version v6.0.5");
        string inPath = Script("mongod", "echo db version v5.0.2");
        string? Variable(string name) =>
            name == "PATH" ? $"/nowhere:{Path.GetDirectoryName(inPath)}" : name == MongodProgram.Variable ? named : null;
        Assert.Equal(new MongodProgram(given, new Version(7, 0, 1)), MongodProgram.Find(given, Variable));
        Assert.Equal(named, MongodProgram.Find(null, Variable)!.Path);
        Assert.Equal(inPath, MongodProgram.Find(null, name => name == "PATH" ? Variable(name) : null)!.Path);
        Assert.Null(MongodProgram.Find(null, _ => null));
    }

    [Theory]
    [InlineData("echo db version v3.4.24", 3, "is version 3.4.24; allowed: 3.6 or later")]
    [InlineData("echo 'mongod: error while loading shared libraries: libcurl.so.4: cannot open shared object file' >&2; exit 127", 2,
        "shared library libcurl.so.4 is missing")]
    [InlineData("echo hello", 2, "exited with code 0: hello")]
    [InlineData("exit 1", 2, "exited with code 1: nothing")]
    public void A_program_that_is_no_usable_mongod_is_refused(string script, int exitCode, string text)
    {
        string path = Script("mongod", script);
        var e = Assert.Throws<DeploymentException>(() => MongodProgram.Find(path, _ => null));
        Assert.Equal(exitCode, (int)e.Fault);
        Assert.Contains(text, e.Message, StringComparison.Ordinal);
        Assert.Contains("hint:", e.Message, StringComparison.Ordinal);
    }

    /// <summary>One that it left behind would also keep its outputs open, and so the check waiting.</summary>
    [Theory]
    [InlineData("sleep 300 & echo $! > \"$0.child\"; exit 1")]
    [InlineData("setsid sleep 300 & echo $! > \"$0.child\"; echo db version v6.0.5")]
    [InlineData("(sh -c 'sleep 300' & echo $! > \"$0.child\") & wait; sleep 1; exit 3")]
    public void What_a_program_started_ends_with_its_check(string script)
    {
        string program = Script("mongod", script);
        MongodProgram.RunForVersion(program, "test");
        int child = int.Parse(File.ReadAllText(program + ".child"));
        Assert.Null(ProcessTable.System.Find(child));
    }

    [Fact]
    public void A_program_that_is_not_there_or_not_executable_is_refused()
    {
        Assert.Contains("does not exist",
            Assert.Throws<DeploymentException>(() => MongodProgram.Find("/nowhere/mongod")).Message, StringComparison.Ordinal);
        // A newcomer typed two versions, and was told that a file of that name does not exist.
        Assert.Equal("--mongod: '8.0' does not exist, and MongoDB 8.0 is not installed\nhint:  'mongoperf server install 8.0' installs it",
            Assert.Throws<DeploymentException>(() => MongodProgram.Find("8.0", _ => null)).Message);
        string file = _folder.At("text");
        File.WriteAllText(file, "no program");
        Assert.Contains(
            "can't be run", Assert.Throws<DeploymentException>(() => MongodProgram.Find(file)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_program_that_is_still_being_written_is_waited_for()
    {
        string path = Script("mongod", "echo db version v7.0.1");
        FileStream writing = File.Open(path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite);
        Assert.Throws<Win32Exception>(() => Process.Start(path));
        // A thread of its own: those of the pool may all be busy for longer than it is waited.
        var writer = new Thread(() =>
        {
            Thread.Sleep(100);
            writing.Dispose();
        });
        writer.Start();
        Assert.Equal(new Version(7, 0, 1), MongodProgram.Check(path, "--mongod").Version);
        writer.Join();
    }

    [Fact]
    public void A_cache_must_suit_mongod_and_the_memory()
    {
        const long megaByte = 1 << 20;
        CacheSize.Check(256 * megaByte, servers: 3, memoryBytes: 1024 * megaByte);
        Assert.Equal(["--wiredTigerCacheSizeGB", "0.25"], CacheSize.Arguments(256 * megaByte));
        // mongod's own option takes no less.
        Assert.Equal(["--wiredTigerEngineConfigString", "cache_size=255M"], CacheSize.Arguments(255 * megaByte));
        Assert.Contains("is 63 MiB; allowed: 64 MiB or more",
            Assert.Throws<DeploymentException>(() => CacheSize.Check(63 * megaByte)).Message, StringComparison.Ordinal);
        var e = Assert.Throws<DeploymentException>(() => CacheSize.Check(512 * megaByte, servers: 3, memoryBytes: 1024 * megaByte));
        Assert.Contains("512 MiB for each of 3 servers, but this machine has 1 GiB", e.Message, StringComparison.Ordinal);
        Assert.Equal(2, (int)e.Fault);
    }

    [Fact]
    public void The_null_topology_comes_before_any_server_that_is_named()
    {
        using IDeployment deployment = DeploymentFactory.Create(new DeploymentRequest
        {
            Settings = new DeploymentSettings { Topology = Topology.Null, MongodPath = "/nowhere" },
            DataFolder = _folder.At("data"),
        });
        Assert.Equal(DeploymentKind.Null, deployment.Kind);
    }

    private string Script(string name, string text)
    {
        string path = _folder.At(name);
        File.WriteAllText(path, "#!/bin/sh\n" + text + "\n");
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        return path;
    }
}
