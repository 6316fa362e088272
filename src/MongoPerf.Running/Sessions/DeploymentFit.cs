using MongoPerf.Deployments;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Plans;
using MongoPerf.Load.Sharding;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Running.Sessions;

/// <summary>Refuses deployments that a plan does not fit: in the middle of a run nobody could mend that.</summary>
internal static class DeploymentFit
{
    /// <exception cref="UserException">The deployment has another topology than the one asked for.</exception>
    public static void RequireTopology(IDeployment deployment, RunSettings settings)
    {
        if (settings.Data.Sharding is not null && deployment.Cluster is null)
            throw new UserException(ExitCode.WrongUsage, $"{deployment.Address} is not a sharded deployment",
                "--topology sharded needs a mongos in --uri, or starts a cluster without --uri");
        if (settings.Deployment.Topology == Topology.ReplicaSet && deployment.Cluster is not null)
            throw new UserException(
                ExitCode.WrongUsage, $"{deployment.DataFolder} holds a sharded cluster, but --topology is replicaset", "omit --topology");
    }

    /// <summary>Reads that no member fits would wait for one in the middle of the run.</summary>
    /// <exception cref="ConnectionFailedException">One of the plan's operations finds no server.</exception>
    public static void RequireMembers(IDeployment deployment, Plan plan, ConnectionSettings connections)
    {
        foreach (ReadPreference preference in WireExecutor.PreferencesOf(plan.Operations, connections.ReadPreference))
            deployment.Select(preference, 0);
    }

    /// <exception cref="UserException">The run's client can't use a router of this dialect.</exception>
    public static void RequireRouter(RunRequest request, CommandDialect dialect)
    {
        if (request.Settings.Engine.Kind == EngineKind.Driver && dialect != CommandDialect.Plain)
            throw new UserException(
                ExitCode.WrongUsage,
                "--engine driver needs a mongos: this cluster is routed by a mongod, which uses command names of its own",
                "use --engine wire, or install a server with a mongos ('mongoperf server install')");
    }

    /// <exception cref="UserException">A time series would be sharded where a mongod routes.</exception>
    public static void RequireTimeSeries(Plan plan, CommandDialect dialect)
    {
        if (dialect != CommandDialect.Plain
            && plan.Rounds.SelectMany(round => round.Collections).FirstOrDefault(one => one.IsTimeSeries) is { } series)
            throw new UserException(
                ExitCode.WrongUsage,
                $"collection '{series.Name}' is a time series: this cluster's router is a mongod, which loses track of it when its chunks "
                    + "move",
                "behind a mongos it can be sharded; or run it on one server or a replica set");
    }

    /// <exception cref="UserException">The servers are not the run's, and would refuse to give space back.</exception>
    public static void RequireCompact(IDeployment deployment, Plan plan)
    {
        if (deployment.Kind != DeploymentKind.Given
            || plan.Operations.OfType<DatabaseCommand>().FirstOrDefault(one => one.IsCompact) is not { } compact)
            return;
        if (deployment.Cluster is { Direct: not DirectAccess.Allowed })
            throw new UserException(
                ExitCode.WrongUsage,
                $"operation '{compact.Name}': a mongos does not pass compact on, and this user may not send it to the shards",
                "--shard-user names a user with roles dbAdmin and, from 8.0 on, directShardOperations; or leave the phase out");
        if (compact.LacksForce && deployment.HasPrimaries)
            throw new UserException(
                ExitCode.WrongUsage,
                $"operation '{compact.Name}': the primaries of replica sets refuse compact unless it is forced",
                $"write {{compact: {compact.Collection}, force: true}} if it may slow down everybody else there");
    }

    /// <param name="request">The run.</param>
    /// <param name="other">What it is on, or would be on, in place of MongoDB; null for MongoDB.</param>
    /// <exception cref="UserException">The scenario is for MongoDB only.</exception>
    public static void RequireMongoDb(RunRequest request, string? other)
    {
        if (other is not null && request.Plan.IsForMongoDbOnly)
            throw new UserException(
                ExitCode.WrongUsage,
                $"{request.Settings.Plan.Path} is for MongoDB only (onlyMongoDb: true), and this run would be on the {other}",
                "'mongoperf server install 8.0' installs a mongod for it, --mongod names one, --uri a deployment");
    }

    /// <exception cref="UserException">A crash could take away what the run has written.</exception>
    public static void RequireJournal(IDeployment deployment, Inspection inspection, RunSettings settings)
    {
        if (!inspection.HasJournal && !settings.Data.IsExisting)
            throw new UserException(
                ExitCode.WrongUsage,
                $"{deployment.Address}: this server runs without a journal, and a resumed run relies on the journal",
                "start it with its journal (without --nojournal)");
    }

    /// <exception cref="UserException">The cluster has not the shard that a collection names.</exception>
    public static void RequireShards(IEnumerable<StoredCollection> collections, int shards)
    {
        foreach (StoredCollection collection in collections)
        {
            int most = Math.Max(collection.Shard ?? 0, collection.Zones.Select(static zone => zone.Shard).DefaultIfEmpty().Max());
            if (most > shards)
                throw new UserException(
                    ExitCode.WrongUsage,
                    $"collection '{collection.Name}': {(collection.Shard is null ? "a zone's shard" : "shard")} is {most}; "
                        + $"allowed: 1 to {shards}, the cluster's shards",
                    $"--shards {most} starts a larger cluster");
        }
    }
}
