using MongoPerf.Deployments.Clusters;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Deployments;

/// <summary>Chooses the deployment: null when asked for, else what <c>--cluster</c> or <c>--uri</c> names, else a cluster when asked for, else a mongod, else the embedded server.</summary>
/// <remarks>A run that goes on chooses nothing: it gets the kind of server, and the program, that it began with.</remarks>
internal static class DeploymentFactory
{
    /// <summary>Nothing is started yet: call <see cref="IDeployment.EnsureRunning"/>.</summary>
    /// <exception cref="DeploymentException">
    /// The mongod that was named does not run, the cache does not fit, the folder holds another kind of server's data, or what the run
    /// began with is missing.
    /// </exception>
    public static IDeployment Create(DeploymentSettings settings) => Create(settings, Environment.GetEnvironmentVariable);

    internal static IDeployment Create(DeploymentSettings settings, Func<string, string?> variable) => settings.RequiredKind switch
    {
        null => Choose(settings, variable),
        "null" => ChildDeployment.Null(),
        "uri" => settings.Hosts is { Count: > 0 } hosts
            ? Given(settings, hosts)
            : throw Missing("this run's server was given to it, and no --uri names one now", "name it with --uri"),
        "mongod" => Mongod(settings, FindRequired(settings, variable)),
        "sharded" => new ShardedDeployment(settings, variable),
        "cluster" => settings.Cluster?.Folder is { } folder
            ? new GivenCluster(folder)
            : throw Missing("this run's cluster was given to it, and its folder is not known", "begin a new run with --cluster"),
        "embedded" => settings.Mongod is null
            ? Embedded(settings)
            : throw Missing($"this run's server is the embedded one: --mongod {settings.Mongod} can't go on with its data", "leave --mongod out"),
        { } kind => throw Missing($"this run's server is of kind '{kind}', which this program does not know", "take the program that began the run, or a newer one"),
    };

    private static IDeployment Choose(DeploymentSettings settings, Func<string, string?> variable)
    {
        if (settings.Topology == "null")
            return ChildDeployment.Null();
        if (settings.Tyrant is { } tyrant)
            return new TyrantDeployment(tyrant, settings.Connections);
        if (settings.Cluster?.Folder is { } folder)
            return new GivenCluster(folder);
        if (settings.Hosts is { Count: > 0 } hosts)
            return Given(settings, hosts);
        if (settings.Topology == "sharded")
            return new ShardedDeployment(settings, variable);
        if (MongodProgram.Find(settings.Mongod, variable) is { } program)
            return Mongod(settings, program);
        return Embedded(settings);
    }

    private static GivenDeployment Given(DeploymentSettings settings, IReadOnlyList<ServerAddress> hosts) =>
        new(hosts, settings.Connections, mustBeMongos: settings.Topology == "sharded");

    private static MongodDeployment Mongod(DeploymentSettings settings, MongodProgram program) =>
        new(program, settings.DataFolder, settings.CacheBytes, settings.MemoryLimitBytes, settings.Cpus);

    private static ChildDeployment Embedded(DeploymentSettings settings) =>
        ChildDeployment.Embedded(settings.DataFolder, settings.CacheBytes, settings.MemoryLimitBytes, settings.Cpus);

    private static MongodProgram FindRequired(DeploymentSettings settings, Func<string, string?> variable)
    {
        if (settings.ServerProgram is not { } noted)
        {
            return MongodProgram.Find(settings.Mongod, variable)
                ?? throw Missing("this run's server is a mongod, and none is found now", "name it with --mongod");
        }

        return File.Exists(noted)
            ? MongodProgram.Find(noted, variable)!
            : throw Missing($"this run's server is {noted}, which does not exist any more", "name a mongod that can go on with its data with --mongod");
    }

    private static DeploymentException Missing(string message, string hint) => new(DeploymentFault.WrongUsage, $"{message}\nhint:  {hint}");
}
