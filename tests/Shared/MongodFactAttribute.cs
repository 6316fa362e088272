using System.Diagnostics;
using MongoPerf.Deployments;
using MongoPerf.Deployments.Installing;

namespace MongoPerf.Testing;

/// <summary>A test that needs a real mongod: skipped where there is none, but failing then when CI=true.</summary>
public sealed class MongodFactAttribute : FactAttribute
{
    public MongodFactAttribute() => Skip = MongodBinary.SkipReason;

    /// <summary>The first version, such as 6.0, of which the test is true: skipped on an older one, which the reason names.</summary>
    public string? From
    {
        get;
        set => Skip ??= MongodBinary.CompareTo((field = value)!) < 0
            ? new Need($"MongoDB {value} or later", $"this mongod is {MongodBinary.Version}").Reason : null;
    }

    /// <summary>The last version of which the test is true: skipped on a later one.</summary>
    public string? UpTo
    {
        get;
        set => Skip ??= MongodBinary.CompareTo((field = value)!) > 0
            ? new Need($"MongoDB {value} or earlier", $"this mongod is {MongodBinary.Version}").Reason : null;
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

/// <summary>
/// The mongod that tests start: MONGOPERF_MONGOD, else what 'server install' brought, else one in PATH, else what
/// ../shared/mongod/unpack prints.
/// </summary>
public static class MongodBinary
{
    private static readonly Lazy<(string? Path, Need Missing)> Found = new(Find);

    private static readonly Lazy<Version?> Own = new(() => Found.Value.Path is { } path ? MongodProgram.Find(path)?.Version : null);

    /// <exception cref="FileNotFoundException">There is none.</exception>
    public static string Path => Found.Value.Path ?? throw new FileNotFoundException(Found.Value.Missing.Reason);

    /// <summary>What it says itself; null where there is none.</summary>
    public static Version? Version => Own.Value;

    /// <returns>Below 0 when its first two numbers are those of an older version; 0 where there is none.</returns>
    internal static int CompareTo(string release) =>
        Version is { } version ? new Version(version.Major, version.Minor).CompareTo(Version.Parse(release)) : 0;

    /// <summary>Null: run the test.</summary>
    internal static string? SkipReason => Found.Value.Missing.Unless(Found.Value.Path is not null);

    private static (string? Path, Need Missing) Find()
    {
        if (Environment.GetEnvironmentVariable("MONGOPERF_MONGOD") is { Length: > 0 } named)
            return (File.Exists(named) ? named : null,
                Need.Mongod with { HowToHaveIt = $"MONGOPERF_MONGOD names {named}, which does not exist" });
        if (InstalledServers.Of(Environment.GetEnvironmentVariable)?.Chosen is { } installed)
            return (installed.Mongod, Need.Mongod);
        string? inPath = (Environment.GetEnvironmentVariable("PATH") ?? "")
            .Split(System.IO.Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
            .Select(folder => System.IO.Path.Combine(folder, "mongod"))
            .FirstOrDefault(File.Exists);
        if (inPath is not null)
            return (inPath, Need.Mongod);
        string unpack = System.IO.Path.Combine(RepositoryPaths.Root, "..", "shared", "mongod", "unpack");
        return File.Exists(unpack) ? Unpack(unpack) : (null, Need.Mongod);
    }

    private static (string? Path, Need Missing) Unpack(string script)
    {
        using Process process =
            Process.Start(new ProcessStartInfo(script) { RedirectStandardOutput = true, RedirectStandardError = true })!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string path = process.StandardOutput.ReadToEnd().Trim();
        process.WaitForExit();
        return (process.ExitCode == 0 ? path : null, Need.Mongod with { HowToHaveIt = $"{script} failed: {errors.Result.Trim()}" });
    }
}
