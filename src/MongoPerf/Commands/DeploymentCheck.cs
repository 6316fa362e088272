using System.CommandLine;
using MongoPerf.Deployments.Limits;
using MongoPerf.Deployments.Processes;
using MongoPerf.Options;
using MongoPerf.Running.Systems;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Commands;

/// <summary>Refuses options of a deployment that can't go together.</summary>
/// <param name="parsed">The call.</param>
/// <param name="options">The command's shared options.</param>
/// <param name="settings">What they make of it; its topology is known.</param>
internal sealed class DeploymentCheck(ParseResult parsed, SharedOptions options, DeploymentSettings settings)
{
    private bool IsCluster => settings.Topology is Topology.Sharded or Topology.ReplicaSet;

    /// <summary>What was typed asks for a server of the run's own, whatever the environment names.</summary>
    /// <param name="listed">Topologies of all deployments of the call.</param>
    public bool StartsServer(IReadOnlyList<Topology> listed) =>
        settings is { Topology: Topology.Null or Topology.ReplicaSet } or { ClusterFolder: not null } || ClusterOptions(listed).Any()
        || TypedForStarted() is not null;

    /// <param name="uri">The connection string with its secrets; null when none is named.</param>
    /// <param name="listed">Topologies of all deployments of the call.</param>
    /// <exception cref="UserException">They contradict one another.</exception>
    public void Run(string? uri, IReadOnlyList<Topology> listed)
    {
        RefuseNull(uri);
        RefuseGiven(uri, [.. ClusterOptions(listed)]);
        RefuseServerApi(uri);
        CheckLimits();
        if (settings.Topology == Topology.ReplicaSet && uri is not null)
            throw new UserException(ExitCode.WrongUsage, "--topology replicaset starts one and can't be combined with --uri",
                "a replica set that --uri names is recognised as one");
    }

    /// <summary>Checks all limits of a list, so that the last one is refused before the first is run.</summary>
    private void CheckLimits()
    {
        if (settings.CacheBytes < CacheSize.Least)
            throw new UserException(ExitCode.WrongUsage,
                $"--cache is {CacheSize.Text(settings.CacheBytes.Value)}; allowed: {CacheSize.Text(CacheSize.Least)} or more");
        if (settings.MemoryLimitBytes is > 0 and { } limit)
            MemoryLimit.Check(limit, settings.CacheBytes ?? MemoryLimit.DefaultCache(limit));
        if (settings.Cpus is { } cpus)
            _ = CpuAffinity.First(cpus);
    }

    private void RefuseNull(string? uri)
    {
        if (settings.Topology != Topology.Null)
            return;
        if (uri is not null)
            throw new UserException(ExitCode.WrongUsage, "--topology null starts its own server and can't be combined with --uri");
        if (TypedForStarted() is { } given)
            throw new UserException(ExitCode.WrongUsage, $"--topology null stores nothing and can't be combined with {given.Name}");
    }

    private void RefuseGiven(string? uri, Option[] typed)
    {
        bool hasFolder = settings.ClusterFolder is not null;
        if (hasFolder && (uri is not null || !IsCluster))
            throw new UserException(ExitCode.WrongUsage, "--cluster names the deployment and can't be combined with "
                + $"{(uri is not null ? "--uri" : $"--topology {settings.Topology?.Text()}")}");
        if (uri is not null && TypedForStarted() is { } given)
            throw new UserException(
                ExitCode.WrongUsage, $"--uri names an existing server; {given.Name} only applies to one that MongoPerf starts");
        if (hasFolder && (typed.FirstOrDefault() ?? TypedForStarted()) is { } of)
            throw new UserException(
                ExitCode.WrongUsage, $"--cluster names an existing cluster; {of.Name} only applies to one that MongoPerf starts");
        if (typed.FirstOrDefault(option => uri is not null || !TopologiesWith(option).Contains(settings.Topology!.Value)) is { } wrong)
        {
            throw options.Cluster.IsForShardsOnly(wrong)
                ? new UserException(ExitCode.WrongUsage, $"{wrong.Name} only applies to a cluster that MongoPerf starts",
                    "--topology sharded without --uri starts one")
                : new UserException(ExitCode.WrongUsage, $"{wrong.Name} only applies to a cluster or replica set that MongoPerf starts",
                    "--topology sharded or replicaset, without --uri, starts one");
        }
    }

    private void RefuseServerApi(string? uri)
    {
        if (settings.ServerApi is null || uri is null)
            return;
        DatabaseSystem system = DatabaseSystems.Of(uri);
        if (system != DatabaseSystems.MongoDb)
            throw new UserException(ExitCode.WrongUsage, $"--server-api only applies to MongoDB, not to {system.Name}");
        if (system.HasServerApi(uri))
            throw new UserException(
                ExitCode.WrongUsage, "the server API is given twice: by --server-api and as apiVersion in the connection string",
                "omit one of them");
    }

    /// <summary>Those that were typed for this deployment, not for another of its list.</summary>
    private IEnumerable<Option> ClusterOptions(IReadOnlyList<Topology> listed) =>
        options.Cluster.Typed(parsed).Where(option =>
            TopologiesWith(option) is var those && (those.Contains(settings.Topology!.Value) || !listed.Any(those.Contains)));

    private Topology[] TopologiesWith(Option option) =>
        options.Cluster.IsForShardsOnly(option) ? [Topology.Sharded] : [Topology.Sharded, Topology.ReplicaSet];

    /// <summary>The first that says how a server is started; null when none was typed.</summary>
    private Option? TypedForStarted() =>
        new Option[]
        {
            options.Mongod, options.Cache, options.Limits.MemoryLimit, options.Limits.Cpus, options.Security.Tls, options.Security.Auth,
        }.FirstOrDefault(parsed.HasTyped);
}
