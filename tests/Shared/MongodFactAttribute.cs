using System.Diagnostics;
using MongoPerf.Deployments;

namespace MongoPerf.Testing;

/// <summary>A test that needs a real mongod: skipped with a reason when there is none, failing then when CI=true.</summary>
public sealed class MongodFactAttribute : FactAttribute
{
    public MongodFactAttribute() => Skip = MongodBinary.SkipReason;

    /// <summary>The first version, such as 6.0, of which the test is true: skipped on an older one, which the reason names.</summary>
    public string? From
    {
        get;
        set => Skip ??= MongodBinary.CompareTo((field = value)!) < 0
            ? $"holds from MongoDB {value} on, and this mongod is {MongodBinary.Version}" : null;
    }

    /// <summary>The last version of which the test is true: skipped on a later one.</summary>
    public string? UpTo
    {
        get;
        set => Skip ??= MongodBinary.CompareTo((field = value)!) > 0
            ? $"holds up to MongoDB {value}, and this mongod is {MongodBinary.Version}" : null;
    }
}

/// <inheritdoc cref="MongodFactAttribute"/>
public sealed class MongodTheoryAttribute : TheoryAttribute
{
    public MongodTheoryAttribute() => Skip = MongodBinary.SkipReason;

    /// <inheritdoc cref="MongodFactAttribute.From"/>
    public string? From
    {
        get;
        set => Skip ??= new MongodFactAttribute { From = field = value }.Skip;
    }
}

/// <summary>The mongod that tests start: MONGOPERF_MONGOD, else one in PATH, else what ../shared/mongod/unpack prints.</summary>
public static class MongodBinary
{
    private const string HowToGetIt = "no mongod: set MONGOPERF_MONGOD, or put one into PATH, or provide ../shared/mongod/unpack";

    private static readonly Lazy<(string? Path, string Reason)> Found = new(Find);

    private static readonly Lazy<Version?> Own = new(() => Found.Value.Path is { } path ? MongodProgram.Find(path)?.Version : null);

    /// <exception cref="FileNotFoundException">There is none.</exception>
    public static string Path => Found.Value.Path ?? throw new FileNotFoundException(Found.Value.Reason);

    /// <summary>What it says itself; null where there is none.</summary>
    public static Version? Version => Own.Value;

    /// <returns>Below 0 when its first two numbers are those of an older version; 0 where there is none.</returns>
    internal static int CompareTo(string release) =>
        Version is { } version ? new Version(version.Major, version.Minor).CompareTo(Version.Parse(release)) : 0;

    /// <summary>Null: run the test.</summary>
    internal static string? SkipReason => Found.Value.Path is null && !RepositoryPaths.IsContinuousIntegration ? Found.Value.Reason : null;

    private static (string? Path, string Reason) Find()
    {
        if (Environment.GetEnvironmentVariable("MONGOPERF_MONGOD") is { Length: > 0 } named)
            return File.Exists(named) ? (named, "") : (null, $"MONGOPERF_MONGOD names {named}, which does not exist");
        string? inPath = (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Select(folder => System.IO.Path.Combine(folder, "mongod"))
            .FirstOrDefault(File.Exists);
        if (inPath is not null)
            return (inPath, "");
        string unpack = System.IO.Path.Combine(RepositoryPaths.Root, "..", "shared", "mongod", "unpack");
        return File.Exists(unpack) ? Unpack(unpack) : (null, HowToGetIt);
    }

    private static (string? Path, string Reason) Unpack(string script)
    {
        using Process process =
            Process.Start(new ProcessStartInfo(script) { RedirectStandardOutput = true, RedirectStandardError = true })!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string path = process.StandardOutput.ReadToEnd().Trim();
        process.WaitForExit();
        return process.ExitCode == 0 ? (path, "") : (null, $"{script} failed: {errors.Result.Trim()}");
    }
}
