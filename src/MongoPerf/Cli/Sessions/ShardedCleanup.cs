using MongoPerf.Cli.Secrets;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Engine.Collections;
using MongoPerf.Engine.Runs;
using MongoPerf.Engine.Sharding;
using MongoPerf.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Cli.Sessions;

/// <summary>Takes back what a run did to a cluster that it was given: the collection is dropped, chunk size and balancer are as before.</summary>
internal static class ShardedCleanup
{
    /// <summary>Does nothing for any other run.</summary>
    /// <param name="run">Whose collections they are.</param>
    /// <param name="uri">Where the cluster is now; null takes what is stored.</param>
    /// <exception cref="UserException">The collection is another run's by now.</exception>
    public static void Run(StoredRun run, string? uri)
    {
        RunSettings settings = run.Settings;
        if (settings.Data.Sharding is not { } sharding || settings.Deployment is { Uri: null, ClusterFolder: null })
        {
            if (uri is not null)
                throw new UserException(ExitCode.WrongUsage, $"run {run.Run.Id} did not shard a collection on an existing cluster; --uri does not apply");
            return;
        }

        string database = settings.Data.Database;
        (IDeployment cluster, ConnectionSettings connections) = Find(settings.Deployment, uri);
        cluster.EnsureRunning();
        connections = (cluster.Connections ?? connections) with { Dialect = cluster.Cluster!.Dialect };
        var access = new CollectionAccess(() => cluster.Address, connections, database, RunSession.Clock, RunSession.ReconnectFor);
        WireCollection Open(string name) => new(access, name, null, new CollectionShape([]), commands => new ShardedAdministration(
            new ShardingPlan(() => cluster.Cluster!, connections, sharding, settings.Plan.TargetDocuments), database, name, RunSession.Clock, commands));
        using WireCollection markers = Open(WireCollection.MarkerCollection);
        IReadOnlyList<string> made = markers.FindMarked(run.Run.Id, run.Token);
        RefuseWritten(cluster.Address, connections, new WriterLeases(database, run.Run.Id, run.Token, LeaseKeeper.Length), made);
        foreach (string name in made)
        {
            using WireCollection collection = Open(name);
            collection.Drop();
            Console.WriteLine($"{database}.{name} dropped");
        }

        Console.WriteLine(made.Count > 0
            ? $"MongoPerf's last collection in {database} is gone; the cluster's chunk size and balancer are restored"
            : $"{database} holds no collection of run {run.Run.Id}; nothing to undo");
    }

    /// <summary>Nobody may be at work on what is dropped. The leases go with the markers.</summary>
    /// <exception cref="CollectionBusyException">Another run is.</exception>
    private static void RefuseWritten(ServerAddress router, ConnectionSettings connections, WriterLeases leases, IReadOnlyList<string> collections)
    {
        using MongoConnection connection = MongoConnection.Open(router, connections);
        try
        {
            foreach (string name in collections)
                leases.Take(connection, name);
        }
        catch (CollectionBusyException)
        {
            leases.Release(connection);
            throw;
        }
    }

    private static (IDeployment Cluster, ConnectionSettings Connections) Find(DeploymentSettings settings, string? uri)
    {
        if (settings.ClusterFolder is { } given)
        {
            return uri is null
                ? (new GivenCluster(given), ConnectionSettings.Default)
                : throw new UserException(ExitCode.WrongUsage, $"the run used the cluster in {given}; --uri does not apply");
        }

        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings connections) = ServerUri.Read(ConnectionSecrets.Complete(uri, settings.Uri!), EngineKind.Wire);
        return (new GivenDeployment(hosts, connections, mustBeMongos: true), connections);
    }
}
