using System.Diagnostics;

namespace MongoPerf.EndToEnd.Tests;

public sealed class MongodTests
{
    [MongodFact]
    public void Mongod_of_the_tests_starts_and_says_its_version()
    {
        using Process mongod = Process.Start(new ProcessStartInfo(MongodBinary.Path, "--version") { RedirectStandardOutput = true })!;
        string output = mongod.StandardOutput.ReadToEnd();
        mongod.WaitForExit();
        Assert.Equal(0, mongod.ExitCode);
        Assert.StartsWith("db version v", output, StringComparison.Ordinal);
    }
}
