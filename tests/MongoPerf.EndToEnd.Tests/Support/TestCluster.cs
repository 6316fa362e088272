using MongoPerf.Deployments.Clusters;
using MongoPerf.Deployments.Processes;
using MongoPerf.Platforms;
using MongoPerf.Storage;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.EndToEnd.Tests.Support;

/// <summary>
/// A cluster of two shards, or as many as a class says, that a class's tests have in common, brought up when first asked for. The program
/// knows it by its folder.
/// </summary>
public class TestCluster : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("mongoperf-cluster-").FullName;
    private LocalCluster? _cluster;
    private int _databases;

    protected virtual int Shards => 2;

    /// <summary>Of each shard.</summary>
    protected virtual int Members => 1;

    internal string Folder
    {
        get
        {
            _ = Cluster;
            return _folder;
        }
    }

    internal LocalCluster Cluster
    {
        get
        {
            if (_cluster is null)
            {
                _cluster = LocalCluster.Prepare(_folder, new ClusterRequest
                {
                    Settings = new DeploymentSettings
                    {
                        Shards = Shards, Members = Members, CacheBytes = 256L << 20, MongodPath = MongodBinary.Path,
                    },
                    Variable = name => name == "MONGOPERF_MONGOS" ? Environment.GetEnvironmentVariable(name) : null,
                });
                _cluster.EnsureRunning();
            }

            return _cluster;
        }
    }

    /// <summary>A name that no other test has.</summary>
    public string NewDatabase() => $"test{Interlocked.Increment(ref _databases)}";

    /// <summary>Through the router.</summary>
    internal MongoConnection Connect() => MongoConnection.Open(
        Cluster.Parts!.RouterAddress, ConnectionSettings.Default with { Dialect = Cluster.Parts.Dialect });

    internal MongoConnection ConnectConfig() => MongoConnection.Open(Cluster.Parts!.ConfigAddress, ConnectionSettings.Default);

    /// <summary>Where a shard's primary really is.</summary>
    /// <exception cref="ConnectionFailedException">It has none just now.</exception>
    internal ServerAddress PrimaryOf(string shard)
    {
        using MongoConnection config = ConnectConfig();
        foreach (ServerAddress member in config.RunCursor("config", BsonDocument.Of(("find", "shards")))
            .Where(one => one.FindString("_id") == shard).SelectMany(HostsOf))
        {
            try
            {
                using MongoConnection connection = MongoConnection.Open(member, ConnectionSettings.Default);
                if (connection.Server.IsWritablePrimary)
                    return member;
            }
            catch (IOException)
            {
                // Another one may be.
            }
        }

        throw new ConnectionFailedException(
            Cluster.Parts!.ConfigAddress, $"Could not find host matching read preference for set {shard}");
    }

    /// <summary>The members of a shard as config.shards names them.</summary>
    internal static IEnumerable<ServerAddress> HostsOf(BsonDocument shard)
    {
        string host = shard.FindString("host")!;
        return host[(host.IndexOf('/', StringComparison.Ordinal) + 1)..].Split(',').Select(one => ServerAddress.TryParse(one)!);
    }

    internal GrowthWatch Watch(string database) => new(Connect, database);

    /// <summary>A document of config.settings; null when there is none.</summary>
    internal BsonDocument? FindSetting(string id)
    {
        using MongoConnection config = ConnectConfig();
        return Documents.Find(config, "config", "settings", BsonDocument.Of(("_id", id))).FirstOrDefault();
    }

    /// <summary>kill -9 of one process: "router", "config", "s0-0" or "s1-0".</summary>
    internal void Kill(string member)
    {
        ProcessIdentity identity = ProcessState.Read(Path.Combine(Folder, member))!.Identity;
        ProcessTable.System.Signal(identity, SystemCalls.Kill);
        Assert.True(ProcessTable.System.WaitForEnd(identity, TimeSpan.FromMinutes(1)));
    }

    /// <summary>After <see cref="Kill"/>.</summary>
    internal void StartAgain() => Assert.True(Cluster.EnsureRunning());

    public void Dispose()
    {
        _cluster?.Dispose();
        Directory.Delete(_folder, recursive: true);
        GC.SuppressFinalize(this);
    }
}

/// <summary>As many shards as the publication of six nodes had.</summary>
public sealed class ThreeShards : TestCluster
{
    protected override int Shards => 3;
}
