using System.Diagnostics;

namespace MongoPerf.EndToEnd.Tests.Embedded;

/// <summary>
/// A test that needs pymongo and its GridFS for the system's Python: skipped where they are missing, but failing then when CI=true.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class PymongoFactAttribute : FactAttribute
{
    /// <summary>Where Debian's packages belong to; another Python first in PATH does not know them.</summary>
    internal const string Python = "/usr/bin/python3";

    private static readonly Lazy<bool> Is = new(IsThere);

    public PymongoFactAttribute() => Skip = Need.Pymongo.Unless(Is.Value);

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
