namespace MongoPerf.Mutation;

/// <summary>What is measured together: a project, or some of its folders.</summary>
/// <param name="Name">Its name, that of the project unless several are measured.</param>
/// <param name="Parts">Folders of the project, and patterns of files that are in none; empty for all.</param>
internal sealed record Room(string Name, IReadOnlyList<string> Parts)
{
    /// <summary>Where a wrong line spoils a figure, loses data or opens a door.</summary>
    public static readonly IReadOnlyList<Room> All =
    [
        new("Measurement", []),
        new("Storage", []),
        new("Wire", ["Messages", "Bson", "Connections", "Authentication"]),
        new("Load", ["Growth", "Collections", "Executors", "Failures", "Phases"]),
        new("Reports", ["Comparison", "Findings", "Forecasts", "*Verdict*.cs"]),
        new("Traffic", ["Redacting", "Replaying", "Recordings"]),
        new("Learning", []),
        new("Running", ["Agents", "Merging"]),
        new("Deployments", ["*.cs", "Clusters", "Processes"]),
        new("Server", ["Storage", "Commands/Queries", "Commands/Expressions"]),
    ];

    /// <summary>The project's name.</summary>
    public string Project => $"MongoPerf.{Name}";
}
