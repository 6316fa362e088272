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
    /// <param name="folder">Of the run.</param>
    /// <param name="uri">Where the cluster is now; null takes what is stored.</param>
    /// <exception cref="UserException">The collection is another run's by now.</exception>
    public static void Run(RunFolder folder, string? uri)
    {
        if (FindRun(folder) is not { Data.Sharding: { } sharding } settings || settings.Deployment is { Uri: null, Cluster.Folder: null })
        {
            if (uri is not null)
                throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} did not shard a collection on an existing cluster; --uri does not apply");
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
        IReadOnlyList<string> made = markers.FindMarked(folder.Id);
        foreach (string name in made)
        {
            using WireCollection collection = Open(name);
            collection.Drop();
            Console.WriteLine($"{database}.{name} dropped");
        }

        Console.WriteLine(made.Count > 0
            ? $"MongoPerf's last collection in {database} is gone; the cluster's chunk size and balancer are restored"
            : $"{database} holds no collection of run {folder.Id}; nothing to undo");
    }

    private static (IDeployment Cluster, ConnectionSettings Connections) Find(DeploymentSettings settings, string? uri)
    {
        if (settings.Cluster?.Folder is { } given)
        {
            return uri is null
                ? (new GivenCluster(given), ConnectionSettings.Default)
                : throw new UserException(ExitCode.WrongUsage, $"the run used the cluster in {given}; --uri does not apply");
        }

        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings connections) = ServerUri.Read(uri ?? settings.Uri!);
        return (new GivenDeployment(hosts, connections, mustBeMongos: true), connections);
    }

    /// <returns>Null for a run that was killed before it could note anything.</returns>
    private static RunSettings? FindRun(RunFolder folder)
    {
        try
        {
            using StoredRun stored = StoredRun.Open(folder.Path);
            return stored.Settings;
        }
        catch (RunStoreException) when (Directory.Exists(folder.DataPath))
        {
            return null;
        }
    }
}
