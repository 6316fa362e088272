using System.Reflection;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Connections;
using Xunit.Sdk;
using Xunit.v3;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>
/// Runs a theory on the embedded server and on the real mongod, which is skipped where there is none, but fails then when CI=true.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class EachServerAttribute : DataAttribute
{
    public override ValueTask<IReadOnlyCollection<ITheoryDataRow>> GetData(MethodInfo testMethod, DisposalTracker disposalTracker) =>
        new([new TheoryDataRow<string>("embedded"), new TheoryDataRow<string>("mongod") { Skip = MongodBinary.SkipReason }]);

    public override bool SupportsDiscoveryEnumeration() => true;
}

/// <summary>A server that the test started and the program knows only by its address.</summary>
internal sealed class TestServer : IDisposable
{
    private readonly IDeployment _deployment;
    private readonly string? _ownFolder;

    private TestServer(string kind, string folder, bool ownsFolder, bool isSecured = false)
    {
        _ownFolder = ownsFolder ? folder : null;
        var settings = new DeploymentSettings { CacheBytes = 256L << 20, Auth = isSecured, Tls = isSecured };
        _deployment = kind == "mongod"
            ? new MongodDeployment(MongodProgram.Find(MongodBinary.Path)!, folder, settings)
            : ChildDeployment.Embedded(folder, settings);
        _deployment.EnsureRunning();
    }

    public string Uri => $"mongodb://{Address}";

    public ServerAddress Address => _deployment.Address;

    public int ProcessId => _deployment.ProcessId!.Value;

    public static TestServer Start(string kind) =>
        new(kind, Directory.CreateTempSubdirectory("mongoperf-server-").FullName, ownsFolder: true);

    /// <summary>With a login and TLS, which <see cref="Connect"/> uses.</summary>
    public static TestServer StartSecured(string kind) =>
        new(kind, Directory.CreateTempSubdirectory("mongoperf-server-").FullName, ownsFolder: true, isSecured: true);

    /// <summary>On the data that a run left behind.</summary>
    public static TestServer OnDataOf(RunsFolder runs, string kind) => new(kind, runs.DataPath, ownsFolder: false);

    public MongoConnection Connect() => MongoConnection.Open(Address, _deployment.Connections ?? ConnectionSettings.Default);

    /// <summary>kill -9.</summary>
    public void Kill()
    {
        ProcessIdentity identity = ProcessTable.System.Find(_deployment.ProcessId!.Value)!;
        ProcessTable.System.Signal(identity, SystemCalls.Kill);
        Assert.True(ProcessTable.System.WaitForEnd(identity, TimeSpan.FromMinutes(1)));
    }

    /// <summary>After <see cref="Kill"/>, on the same port.</summary>
    public void StartAgain()
    {
        ServerAddress before = Address;
        _deployment.EnsureRunning();
        Assert.Equal(before, Address);
    }

    public void Dispose()
    {
        _deployment.Dispose();
        if (_ownFolder is not null)
            Directory.Delete(_ownFolder, recursive: true);
    }
}

/// <summary>
/// One server of each kind for a collection's tests, started when first asked for. Each test takes a database of its own.
/// </summary>
public sealed class TestServers : IDisposable
{
    private readonly Dictionary<string, TestServer> _servers = [];
    private int _databases;

    internal TestServer this[string kind]
    {
        get
        {
            lock (_servers)
                return _servers.TryGetValue(kind, out TestServer? server) ? server : _servers[kind] = TestServer.Start(kind);
        }
    }

    internal TestServer Embedded => this["embedded"];

    /// <summary>The kind of server for a test that holds on either: a mongod where there is one.</summary>
    internal static string Best => MongodBinary.SkipReason is null ? "mongod" : "embedded";

    /// <summary>A name that no other test has.</summary>
    public string NewDatabase() => $"test{Interlocked.Increment(ref _databases)}";

    public void Dispose()
    {
        foreach (TestServer server in _servers.Values)
            server.Dispose();
    }
}
