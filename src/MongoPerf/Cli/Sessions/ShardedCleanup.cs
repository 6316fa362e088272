using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Engine.Documents;
using MongoPerf.Engine.Execution;
using MongoPerf.Engine.Execution.Sharding;
using MongoPerf.Engine.Runs;
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
        if (FindRun(folder) is not ({ Sharding: { } sharding } settings, var seed) || settings is { Uri: null, Cluster.Folder: null })
        {
            if (uri is not null)
                throw new UserException(ExitCode.WrongUsage, $"run {folder.Id} sharded nothing on a cluster that it was given: --uri can't be given");
            return;
        }

        string ns = $"{settings.Database}.{settings.Collection}";
        (IDeployment cluster, ConnectionSettings connections) = Find(settings, uri);
        cluster.EnsureRunning();
        connections = connections with { Dialect = cluster.Cluster!.Dialect };
        WireCollection Open(string name) => new(
            () => cluster.Address, connections, settings.Database, name, new DocumentGenerator(seed, settings.Compressibility), RunSession.Clock,
            RunSession.ReconnectFor, sharding: new ShardingPlan(() => cluster.Cluster!, connections, sharding, settings.TargetDocumentCount));
        using WireCollection collection = Open(settings.Collection);
        CollectionState state = collection.Inspect();
        if (state.Marker is not { } marker)
        {
            Console.WriteLine($"{ns} is not there any more: nothing to take back");
            return;
        }

        if (marker.RunId != folder.Id)
            throw new UserException(ExitCode.Refused, $"{ns} is run {marker.RunId}'s by now: nothing is dropped", $"'mongoperf clean {marker.RunId}' takes it away");
        // A scenario made others too.
        foreach (string name in collection.FindMarked(folder.Id))
        {
            using WireCollection made = Open(name);
            made.Drop();
            Console.WriteLine($"{settings.Database}.{name} dropped");
        }

        Console.WriteLine($"with the last collection of MongoPerf in {settings.Database} the cluster's chunk size and balancer go back to what they were");
    }

    private static (IDeployment Cluster, ConnectionSettings Connections) Find(SeriesSettings settings, string? uri)
    {
        if (settings.Cluster?.Folder is { } given)
        {
            return uri is null
                ? (new GivenCluster(given), ConnectionSettings.Default)
                : throw new UserException(ExitCode.WrongUsage, $"the run's cluster is the one in {given}: --uri can't be given");
        }

        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings connections) = ServerUri.Read(uri ?? settings.Uri!);
        return (new GivenDeployment(hosts, connections, mustBeMongos: true), connections);
    }

    /// <returns>Null for a run that was killed before it could note anything.</returns>
    private static (SeriesSettings Settings, ulong Seed)? FindRun(RunFolder folder)
    {
        try
        {
            using StoredRun stored = StoredRun.Open(folder.Path);
            return (stored.Settings, stored.Run.Seed);
        }
        catch (RunStoreException) when (Directory.Exists(folder.DataPath))
        {
            return null;
        }
    }
}
