using System.Diagnostics;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>
/// A test that needs pymongo and its GridFS for the system's Python: skipped with the reason where it is missing, but not in CI,
/// where it must be there.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class PymongoFactAttribute : FactAttribute
{
    /// <summary>Where Debian's packages belong to; another Python first in PATH does not know them.</summary>
    internal const string Python = "/usr/bin/python3";

    public PymongoFactAttribute()
    {
        if (!RepositoryPaths.IsContinuousIntegration && !IsThere())
            Skip = $"no pymongo with GridFS for {Python}; apt-get install python3-pymongo python3-gridfs";
    }

    private static bool IsThere()
    {
        if (!File.Exists(Python))
            return false;
        using Process process =
            Process.Start(new ProcessStartInfo(Python, ["-c", "import pymongo, gridfs"]) { RedirectStandardError = true })!;
        process.StandardError.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0;
    }
}
