using MongoPerf.Engine.Runs;

namespace MongoPerf.Cli.Sessions;

/// <summary>What a command asks for, beside the settings that are stored with the run.</summary>
internal sealed record RunRequest
{
    /// <summary>"series" or "run".</summary>
    public required string Kind { get; init; }

    public required SeriesSettings Settings { get; init; }

    public required ulong Seed { get; init; }

    /// <summary>The seed was named, so that a collection made with another one is refused.</summary>
    public required bool SeedWasGiven { get; init; }

    /// <summary>As typed, secrets masked.</summary>
    public required string CommandLine { get; init; }

    /// <summary>The connection string with its secrets; never stored.</summary>
    public string? Uri { get; init; }

    /// <summary>The kind of server that a run which goes on began with; null chooses one.</summary>
    public string? RequiredKind { get; init; }

    /// <summary>Full path of the mongod that a run which goes on began with; null when another was named, or it is not known.</summary>
    public string? ServerProgram { get; init; }

    /// <summary>"database.collection" that may be dropped; null for none.</summary>
    public string? ForceDrop { get; init; }

    public required OutputRequest Output { get; init; }
}

/// <summary>Where results go and how much is said meanwhile.</summary>
/// <param name="RunsFolder">Holds a folder for each run.</param>
/// <param name="Format">text, json, csv or markdown, on stdout.</param>
/// <param name="Quiet">No progress.</param>
/// <param name="NoTui">Progress as plain lines.</param>
internal sealed record OutputRequest(string RunsFolder, string Format, bool Quiet, bool NoTui);
