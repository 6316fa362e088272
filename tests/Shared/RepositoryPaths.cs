namespace MongoPerf.Testing;

/// <summary>Where the repository lies, and what lies beside it for tests only.</summary>
public static class RepositoryPaths
{
    /// <summary>The folder that holds MongoPerf.sln, found upwards from the test assembly.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>The JSON test vectors, which have a licence of their own and are never committed; null when absent.</summary>
    /// <remarks>MONGOPERF_VECTORS names the folder; else it is ../shared/protocol/vectors.</remarks>
    public static string? Vectors { get; } = Existing(Environment.GetEnvironmentVariable("MONGOPERF_VECTORS") is { Length: > 0 } named
        ? named
        : Path.Combine(Root, "..", "shared", "protocol", "vectors"));

    /// <summary>Recorded replies of a real server, beside the vectors; null when absent.</summary>
    public static string? Replies { get; } = Vectors is null ? null : Existing(Path.Combine(Vectors, "..", "replies"));

    /// <summary>CI=true: what is missing is a failure there, and no reason to skip.</summary>
    public static bool IsContinuousIntegration { get; } =
        Environment.GetEnvironmentVariable("CI") is { } ci && (ci.Equals("true", StringComparison.OrdinalIgnoreCase) || ci == "1");

    /// <exception cref="DirectoryNotFoundException">The vectors are absent.</exception>
    public static string VectorFolder(string name) => Vectors is null
        ? throw new DirectoryNotFoundException(Need.Vectors.Reason)
        : Path.Combine(Vectors, name);

    /// <summary>All C# sources below a folder of the repository, without what builds have made.</summary>
    public static IEnumerable<string> SourcesIn(string folder) =>
        Directory.EnumerateFiles(Path.Combine(Root, folder), "*.cs", SearchOption.AllDirectories)
            .Where(path => !path.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal)
                && !path.Contains($"{Path.DirectorySeparatorChar}bin{Path.DirectorySeparatorChar}", StringComparison.Ordinal));

    private static string? Existing(string folder) => Directory.Exists(folder) ? Path.GetFullPath(folder) : null;

    private static string FindRoot()
    {
        for (DirectoryInfo? folder = new(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "MongoPerf.sln")))
                return folder.FullName;
        }

        throw new DirectoryNotFoundException($"no folder above {AppContext.BaseDirectory} holds MongoPerf.sln");
    }
}
