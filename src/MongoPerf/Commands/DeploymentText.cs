using MongoPerf.Deployments.Limits;

namespace MongoPerf.Commands;

/// <summary>How deployments differ, in words.</summary>
internal static class DeploymentText
{
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
