using MongoPerf.Storage;

namespace MongoPerf.Running.Systems;

/// <summary>The systems that runs can be made on. A new one is registered here, and touches no other file that exists.</summary>
public static class DatabaseSystems
{
    /// <summary>The one that runs start by themselves, and that a connection string names which no other system claims.</summary>
    public static DatabaseSystem MongoDb { get; } = new MongoDbSystem();

    private static readonly IReadOnlyList<DatabaseSystem> Others = [new TyrantSystem()];

    /// <summary>What messages call all systems but MongoDB.</summary>
    public static string OtherNames => string.Join(", ", Others.Select(system => system.Name));

    /// <param name="uri">Null where a run starts its own server.</param>
    public static DatabaseSystem Of(string? uri) => Others.FirstOrDefault(system => uri is not null && system.IsNamedBy(uri)) ?? MongoDb;

    /// <param name="deployment">The deployment of a stored run; null where no server was reached.</param>
    public static DatabaseSystem Of(DeploymentInfo? deployment) =>
        Others.FirstOrDefault(system => system.Name == deployment?.OtherSystem) ?? MongoDb;
}
