namespace MongoPerf.Deployments;

/// <summary>Chooses the deployment: null when asked for, else what <c>--uri</c> names, else a mongod, else the embedded server.</summary>
internal static class DeploymentFactory
{
    /// <summary>Nothing is started yet: call <see cref="IDeployment.EnsureRunning"/>.</summary>
    /// <exception cref="DeploymentException">The mongod that was named does not run, or the cache does not fit.</exception>
    public static IDeployment Create(DeploymentSettings settings)
    {
        if (settings.Topology == "null")
            return ChildDeployment.Null();
        if (settings.Hosts is { Count: > 0 } hosts)
            return new GivenDeployment(hosts, settings.Connections);
        if (MongodProgram.Find(settings.Mongod) is { } program)
            return new MongodDeployment(program, settings.DataFolder, settings.CacheBytes);
        return ChildDeployment.Embedded(settings.DataFolder, settings.CacheBytes);
    }
}
