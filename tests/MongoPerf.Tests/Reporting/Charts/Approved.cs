using System.Runtime.CompilerServices;

namespace MongoPerf.Tests.Reporting.Charts;

/// <summary>Compares with a file beside the tests; UPDATE_APPROVED=1 writes it anew, for its change to be read in the diff.</summary>
internal static class Approved
{
    public static void Matches(string name, string actual, [CallerFilePath] string source = "")
    {
        string path = Path.Combine(Path.GetDirectoryName(source)!, "Approved", name);
        if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
        {
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            File.WriteAllText(path, actual);
        }

        Assert.True(File.Exists(path), $"{path} is missing; UPDATE_APPROVED=1 writes it");
        Assert.Equal(File.ReadAllText(path), actual);
    }
}
