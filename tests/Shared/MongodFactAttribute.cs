using System.Diagnostics;

namespace MongoPerf.Testing;

/// <summary>A test that needs a real mongod: skipped with a reason when there is none, failing then when CI=true.</summary>
public sealed class MongodFactAttribute : FactAttribute
{
    public MongodFactAttribute() => Skip = MongodBinary.SkipReason;
}

/// <inheritdoc cref="MongodFactAttribute"/>
public sealed class MongodTheoryAttribute : TheoryAttribute
{
    public MongodTheoryAttribute() => Skip = MongodBinary.SkipReason;
}

/// <summary>The mongod that tests start: MONGOPERF_MONGOD, else one in PATH, else what ../shared/mongod/unpack prints.</summary>
public static class MongodBinary
{
    private const string HowToGetIt = "no mongod: set MONGOPERF_MONGOD, or put one into PATH, or provide ../shared/mongod/unpack";

    private static readonly Lazy<(string? Path, string Reason)> Found = new(Find);

    /// <exception cref="FileNotFoundException">There is none.</exception>
    public static string Path => Found.Value.Path ?? throw new FileNotFoundException(Found.Value.Reason);

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
