using System.CommandLine;
using System.CommandLine.Parsing;
using MongoPerf.Engine.Runs;

namespace MongoPerf.Cli;

/// <summary>Which deployment the options name; those that can't go together are refused.</summary>
/// <param name="Topology">"single", "sharded" or "null".</param>
/// <param name="Uri">With its secrets; null when the run starts its own server or is given a cluster.</param>
/// <param name="Cluster">Of a sharded deployment on this machine; null otherwise.</param>
internal sealed record ServerChoice(string Topology, string? Uri, ClusterSettings? Cluster)
{
    private const long LeastCacheBytes = 256L << 20;
    private const string UriVariable = "MONGOPERF_URI";

    /// <summary>The environment names a deployment.</summary>
    public static bool HasUriInEnvironment => FromEnvironment(UriVariable) is not null;

    /// <param name="parsed">The call.</param>
    /// <param name="options">The command's shared options.</param>
    /// <param name="isSharded">A collection is to be sharded.</param>
    /// <param name="deployment">Which one it is.</param>
    /// <exception cref="UserException">Options that contradict one another.</exception>
    public static ServerChoice Read(ParseResult parsed, SharedOptions options, bool isSharded, NamedDeployment deployment)
    {
        string topology = deployment.Topology ?? (isSharded ? "sharded" : "single");
        // Of a list, what is for the cluster is not for the others.
        bool isForOthers = deployment.IsBesideShards && topology != "sharded";
        string? folder = isForOthers ? null : parsed.GetValue(options.ClusterFolder);
        Option[] typed = isForOthers ? [] : [.. options.Cluster.Typed(parsed)];
        bool startsServer = deployment.IsListed || topology == "null" || folder is not null || typed.Length > 0 || TypedOf(parsed, options.Mongod, options.Cache) is not null;
        // What is typed wins over the environment.
        string? uri = deployment.Uri ?? (startsServer ? null : FromEnvironment(UriVariable));
        RefuseNull(parsed, options, topology, uri);
        RefuseGiven(parsed, options, topology, uri, folder, typed.FirstOrDefault());
        if (parsed.GetValue(options.Cache) is { } cache && cache < LeastCacheBytes)
            throw new UserException(ExitCode.WrongUsage, $"--cache is {cache:N0} bytes, at least 256MB are allowed");
        return new(topology, uri, topology == "sharded" && uri is null ? ReadCluster(parsed, options, folder) : null);
    }

    private static void RefuseNull(ParseResult parsed, SharedOptions options, string topology, string? uri)
    {
        if (topology != "null")
            return;
        if (uri is not null)
            throw new UserException(ExitCode.WrongUsage, "--topology null starts its own server: --uri can't be given with it");
        if (parsed.GetValue(options.Mongod) is not null || parsed.GetValue(options.Cache) is not null)
            throw new UserException(ExitCode.WrongUsage, "--topology null stores nothing: --mongod and --cache can't be given with it");
    }

    private static void RefuseGiven(ParseResult parsed, SharedOptions options, string topology, string? uri, string? folder, Option? typed)
    {
        if (folder is not null && (uri is not null || topology != "sharded"))
            throw new UserException(ExitCode.WrongUsage, $"--cluster names the deployment: {(uri is not null ? "--uri" : $"--topology {topology}")} can't be given with it");
        if (uri is not null && (parsed.GetValue(options.Mongod) ?? parsed.GetValue(options.Cache)?.ToString()) is not null)
            throw new UserException(ExitCode.WrongUsage, "--uri names a server that is there: --mongod and --cache are for one that is started");
        if (folder is not null && (typed ?? TypedOf(parsed, options.Mongod, options.Cache)) is { } of)
            throw new UserException(ExitCode.WrongUsage, $"--cluster names a cluster that is there: {of.Name} is for one that is started");
        if (typed is not null && (topology != "sharded" || uri is not null))
            throw new UserException(ExitCode.WrongUsage, $"{typed.Name} is for a cluster that is started", "--topology sharded, without --uri, starts one");
    }

    private static Option? TypedOf(ParseResult parsed, params Option[] options) => options.FirstOrDefault(option => parsed.GetResult(option) is { Implicit: false });

    private static ClusterSettings ReadCluster(ParseResult parsed, SharedOptions options, string? folder) => folder is not null
        ? new ClusterSettings { Folder = Path.GetFullPath(folder) }
        : new ClusterSettings
        {
            Shards = (int?)parsed.GetValue(options.Cluster.Shards),
            Members = (int?)parsed.GetValue(options.Cluster.Members),
            MemoryLimitBytes = parsed.GetValue(options.Cluster.MemoryLimit),
        };

    private static string? FromEnvironment(string name) => Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : null;
}

/// <summary>A deployment as it was typed, one of several perhaps.</summary>
/// <param name="Topology">Null when nothing was said.</param>
/// <param name="Uri">With its secrets; null when none was typed.</param>
/// <param name="IsListed">One of a list of topologies: it starts its server, whatever the environment names.</param>
/// <param name="IsBesideShards">One of the list is sharded, and options for shards are that one's.</param>
internal sealed record NamedDeployment(string? Topology, string? Uri, bool IsListed = false, bool IsBesideShards = false);
