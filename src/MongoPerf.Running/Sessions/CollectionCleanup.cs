using MongoPerf.Deployments;
using MongoPerf.Deployments.Clusters;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Sharding;
using MongoPerf.Measurement;
using MongoPerf.Running.Secrets;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>
/// Takes back what a run did to a deployment that it was given: its collections are dropped; on a cluster, chunk size and
/// balancer are as before.
/// </summary>
public static class CollectionCleanup
{
    /// <summary>Whether a run may have made collections on a deployment that it did not start.</summary>
    public static bool AppliesTo(StoredRun run) =>
        run.Settings.Deployment is { Uri: not null } or { ClusterFolder: not null } && DatabaseSystems.Of(run.Deployment).HasMarkers;

    /// <param name="folder">The folder of the run.</param>
    /// <param name="run">Whose collections they are; <see cref="AppliesTo"/>.</param>
    /// <param name="uri">Where the deployment is now; null takes what is stored.</param>
    /// <param name="passwordFile">The file with the password that the connection string lacks; null for none.</param>
    /// <exception cref="CollectionBusyException">Another run is writing one of them.</exception>
    public static void Run(RunFolder folder, StoredRun run, string? uri, string? passwordFile)
    {
        // Held meanwhile, so that nobody resumes the run.
        using RunStore store = RunStore.Open(folder.Path);
        RunSettings settings = run.Settings;
        string database = settings.Data.Database;
        ShardingSettings? sharding = settings.Data.Sharding;
        (IDeployment deployment, ConnectionSettings connections) = Find(settings, uri, passwordFile);
        deployment.EnsureRunning();
        connections = deployment.Connections ?? connections;
        connections = connections with { Dialect = deployment.Cluster?.Dialect ?? connections.Dialect };
        var access = new CollectionAccess(() => deployment.Address, connections, database, SystemClock.Instance, ReconnectTime.Read());
        List<string> differing = [];
        WireCollection Open(string name) =>
            new(access, name, null, new CollectionShape([]), sharding is null ? null : commands => new ShardedAdministration(
                new ShardingPlan(() => deployment.Cluster!, connections, sharding, settings.Plan.TargetDocuments)
                {
                    Run = run.Run.Id, Notify = differing.Add,
                },
                database, name, SystemClock.Instance, commands));
        using WireCollection markers = Open(WireCollection.MarkerCollection);
        List<string> made = [];
        foreach ((string id, string? token) in run.Makers)
        {
            IReadOnlyList<string> own = markers.FindMarked(id, token);
            RefuseWritten(deployment.Address, connections, new WriterLeases(database, id, token, LeaseKeeper.Length), own);
            made.AddRange(own);
        }

        // Not before all of them are known to be free.
        foreach (string name in made)
        {
            using WireCollection collection = Open(name);
            if (collection.Inspect() is { Exists: true, Marker: null, IsEmptySharded: false })
            {
                collection.Forget();
                Print($"{database}.{name} kept: the run was killed before it had made it, and somebody else made this one");
            }
            else
            {
                Print(collection.Drop()
                    ? $"{database}.{name} dropped" : $"{database}.{name} emptied: it was already sharded before the run");
            }
        }

        // Also where nothing is left to drop: the run, or another cleaning, may have been killed behind that.
        markers.TakeBack();
        IReadOnlyList<string> holders = sharding is null ? [] : GiveUpSettings();
        if (made.Count > 0)
            store.SetNote(StoredRun.DeletedNote, DateTimeOffset.UtcNow.ToString("O"));
        differing.ForEach(Print);
        if (made.Count == 0)
            Print($"{database} at {deployment.Address} holds no collection of run {run.Run.Id}");
        else if (markers.HasMarkers())
            Print($"{database} still holds other collections of MongoPerf");
        else if (holders.Count > 0)
            Print($"MongoPerf's last collection in {database} is gone; the cluster's settings stay changed for "
                + string.Join(", ", holders));
        else if (sharding is not null && differing.Count == 0)
            Print($"MongoPerf's last collection in {database} is gone; the cluster's settings are as they were before");

        IReadOnlyList<string> GiveUpSettings()
        {
            ClusterControl Control((string Id, string? Token) maker) => new(
                () => deployment.Cluster!, connections, database, maker, SystemClock.Instance, differing.Add);
            foreach ((string Id, string? Token) maker in run.Makers)
                Control(maker).Restore();
            return Control(run.Makers[0]).Holders();
        }
    }

    /// <summary>It may quote a run.db from elsewhere, or a server.</summary>
    private static void Print(string line) => Console.WriteLine(Masking.Shown(line));

    /// <summary>Nobody may be at work on what is dropped. The leases go with the markers.</summary>
    /// <exception cref="CollectionBusyException">Another run is.</exception>
    private static void RefuseWritten(
        ServerAddress server, ConnectionSettings connections, WriterLeases leases, IReadOnlyList<string> collections)
    {
        using MongoConnection connection = MongoConnection.Open(server, connections);
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

    private static (IDeployment Deployment, ConnectionSettings Connections) Find(RunSettings settings, string? uri, string? passwordFile)
    {
        if (settings.Deployment.ClusterFolder is { } given)
        {
            return uri is null
                ? (new GivenCluster(given), ConnectionSettings.Default)
                : throw new UserException(ExitCode.WrongUsage, $"the run used the cluster in {given}; --uri does not apply");
        }

        (IReadOnlyList<ServerAddress> hosts, ConnectionSettings connections) = ServerUri.Read(
            ConnectionSecrets.Complete(uri, settings.Deployment.Uri!, passwordFile), EngineKind.Wire);
        connections = ServerUri.WithServerApi(connections, settings.Deployment);
        return (new GivenDeployment(hosts, connections, mustBeMongos: settings.Data.Sharding is not null), connections);
    }
}
