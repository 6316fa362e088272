using MongoPerf.Deployments;
using MongoPerf.Deployments.Limits;

namespace MongoPerf.Commands;

/// <summary>How deployments differ, in words.</summary>
internal static class DeploymentText
{
    /// <summary>"mongod 6.0.5" for each program of a list; as it was typed where another of them has the same version.</summary>
    /// <param name="typed">Paths, or versions that are installed. One alone is not asked.</param>
    /// <exception cref="DeploymentException">One is not there, or does not run.</exception>
    public static IReadOnlyList<string> Mongods(IReadOnlyList<string> typed)
    {
        if (typed.Count < 2)
            return typed;
        Version[] versions = [.. typed.Select(path => MongodProgram.Find(path)!.Version)];
        return [.. typed.Zip(versions, (path, version) => versions.Count(other => other == version) > 1 ? path : $"mongod {version}")];
    }

    /// <summary>"memory 1 GiB".</summary>
    public static string Memory(long? bytes) => bytes is > 0 ? $"memory {CacheSize.Text(bytes.Value)}" : "memory unlimited";

    /// <summary>"2 CPUs".</summary>
    public static string Cpus(int? count) => count switch
    {
        null => "all CPUs",
        1 => "1 CPU",
        _ => $"{count} CPUs",
    };

    /// <summary>"TLS".</summary>
    public static string Tls(bool isOn) => isOn ? "TLS" : "no TLS";

    /// <summary>"logins".</summary>
    public static string Auth(bool isOn) => isOn ? "logins" : "no logins";
}
