using System.CommandLine;
using MongoPerf.Cli.Secrets;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Engine.Runs;
using MongoPerf.Input;

namespace MongoPerf.Cli;

/// <summary>Which deployment the options name; those that can't go together are refused.</summary>
/// <param name="Topology">Standalone, replica set, sharded or null.</param>
/// <param name="Uri">With its secrets; null when the run starts its own server or is given a cluster.</param>
/// <param name="Cluster">Of a cluster or a replica set on this machine; null otherwise.</param>
/// <param name="CacheBytes">Of each server that is started; null for its own default.</param>
internal sealed record ServerChoice(Topology Topology, string? Uri, ClusterSettings? Cluster, long? CacheBytes)
{
    /// <summary>The environment names a deployment.</summary>
    public static bool HasUriInEnvironment => UriVariable.Value is not null;

    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="isSharded">A collection is to be sharded.</param>
    /// <param name="deployment">Which one it is.</param>
    /// <exception cref="UserException">Options that contradict one another.</exception>
    public static ServerChoice Read(ParseResult parsed, SharedOptions options, bool isSharded, NamedDeployment deployment)
    {
        Topology topology = deployment.Topology ?? (isSharded ? Topology.Sharded : Topology.Standalone);
        // Of a list, what is for the cluster is not for the others.
        string? folder = deployment.IsBeside(Topology.Sharded) ? null : parsed.GetValue(options.ClusterFolder);
        Option[] typed = [.. options.Cluster.Typed(parsed).Where(option => !deployment.IsBeside(TopologiesWith(option, options)))];
        bool startsServer = deployment.IsListed || topology is Topology.Null or Topology.ReplicaSet || folder is not null || typed.Length > 0 || TypedOf(parsed, ForStarted(options)) is not null;
        // What is typed wins over the environment.
        string? uri = deployment.Uri ?? (startsServer ? null : UriVariable.Value);
        RefuseNull(parsed, options, topology, uri);
        RefuseGiven(parsed, options, topology, uri, folder, typed);
        long? cache = parsed.GetValue(options.Cache) ?? deployment.CacheBytes;
        CheckLimits(cache, deployment);
        if (topology == Topology.ReplicaSet && uri is not null)
            throw new UserException(ExitCode.WrongUsage, "--topology replicaset starts one and can't be combined with --uri", "a replica set that --uri names is recognised as one");
        return new(topology, uri, IsCluster(topology) && uri is null ? ReadCluster(parsed, options, folder, deployment) : null, cache);
    }

    /// <summary>Of a list the last one must be refused before the first is run.</summary>
    private static void CheckLimits(long? cache, NamedDeployment deployment)
    {
        if (cache < CacheSize.Least)
            throw new UserException(ExitCode.WrongUsage, $"--cache is {CacheSize.Text(cache.Value)}; allowed: {CacheSize.Text(CacheSize.Least)} or more");
        if (deployment.MemoryLimitBytes is > 0 and { } limit)
            MemoryLimit.Check(limit, cache ?? MemoryLimit.DefaultCache(limit));
        if (deployment.Cpus is { } cpus)
            _ = CpuAffinity.First(cpus);
    }

    private static void RefuseNull(ParseResult parsed, SharedOptions options, Topology topology, string? uri)
    {
        if (topology != Topology.Null)
            return;
        if (uri is not null)
            throw new UserException(ExitCode.WrongUsage, "--topology null starts its own server and can't be combined with --uri");
        if (TypedOf(parsed, ForStarted(options)) is { } given)
            throw new UserException(ExitCode.WrongUsage, $"--topology null stores nothing and can't be combined with {given.Name}");
    }

    private static void RefuseGiven(ParseResult parsed, SharedOptions options, Topology topology, string? uri, string? folder, Option[] typed)
    {
        if (folder is not null && (uri is not null || !IsCluster(topology)))
            throw new UserException(ExitCode.WrongUsage, $"--cluster names the deployment and can't be combined with {(uri is not null ? "--uri" : $"--topology {topology.Text()}")}");
        if (uri is not null && TypedOf(parsed, ForStarted(options)) is { } given)
            throw new UserException(ExitCode.WrongUsage, $"--uri names an existing server; {given.Name} only applies to a started one");
        if (folder is not null && (typed.FirstOrDefault() ?? TypedOf(parsed, ForStarted(options))) is { } of)
            throw new UserException(ExitCode.WrongUsage, $"--cluster names an existing cluster; {of.Name} only applies to a started one");
        if (typed.FirstOrDefault(option => uri is not null || !TopologiesWith(option, options).Contains(topology)) is { } wrong)
        {
            throw wrong == options.Cluster.Shards
                ? new UserException(ExitCode.WrongUsage, $"{wrong.Name} only applies to a started cluster", "--topology sharded without --uri starts one")
                : new UserException(ExitCode.WrongUsage, $"{wrong.Name} only applies to a started cluster or replica set", "--topology sharded or replicaset, without --uri, starts one");
        }
    }

    private static bool IsCluster(Topology topology) => topology is Topology.Sharded or Topology.ReplicaSet;

    private static Topology[] TopologiesWith(Option option, SharedOptions options) =>
        option == options.Cluster.Shards ? [Topology.Sharded] : [Topology.Sharded, Topology.ReplicaSet];

    /// <summary>What says how a server is started.</summary>
    private static Option[] ForStarted(SharedOptions options) => [options.Mongod, options.Cache, options.Limits.MemoryLimit, options.Limits.Cpus, options.Security.Tls, options.Security.Auth];

    private static Option? TypedOf(ParseResult parsed, params Option[] options) => options.FirstOrDefault(parsed.HasTyped);

    private static ClusterSettings ReadCluster(ParseResult parsed, SharedOptions options, string? folder, NamedDeployment deployment) => folder is not null
        ? new ClusterSettings { Folder = Path.GetFullPath(folder) }
        : new ClusterSettings
        {
            Shards = deployment.IsBeside(Topology.Sharded) ? null : (int?)parsed.GetValue(options.Cluster.Shards) ?? deployment.Shards,
            Members = (int?)parsed.GetValue(options.Cluster.Members) ?? deployment.Members,
        };
}
