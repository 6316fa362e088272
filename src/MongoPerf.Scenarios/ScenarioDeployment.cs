using MongoPerf.Storage;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Scenarios;

/// <summary>A deployment that a scenario brings up, unless the command line names another. Immutable.</summary>
/// <param name="Settings">The settings that the file gives it; it has no name when it is the only one, under "cluster".</param>
/// <param name="Set">Values of parameters on this deployment; null for none.</param>
public sealed record ScenarioDeployment(DeploymentSettings Settings, MappingNode? Set = null);
