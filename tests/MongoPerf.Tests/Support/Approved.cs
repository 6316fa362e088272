using System.Runtime.CompilerServices;

namespace MongoPerf.Tests.Support;

/// <summary>
/// Compares a text with a file in the folder Approved beside the test. UPDATE_APPROVED=1 rewrites the files: read their
/// diff before committing.
/// </summary>
internal static class Approved
{
    public static void Check(string name, string actual, [CallerFilePath] string testFile = "")
    {
        string file = Path.Combine(Path.GetDirectoryName(testFile)!, "Approved", name);
        if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
        {
            Directory.CreateDirectory(Path.GetDirectoryName(file)!);
            File.WriteAllText(file, actual);
            return;
        }

        Assert.True(File.Exists(file), $"{file} is missing; UPDATE_APPROVED=1 writes it");
        string expected = File.ReadAllText(file);
        if (expected == actual)
            return;
        string[] expectedLines = expected.Split('\n');
        string[] actualLines = actual.Split('\n');
        int line = Enumerable.Range(0, Math.Min(expectedLines.Length, actualLines.Length))
            .FirstOrDefault(i => expectedLines[i] != actualLines[i], Math.Min(expectedLines.Length, actualLines.Length));
        Assert.Fail(
            $"{name}:{line + 1} differs\n  approved: {Shown(expectedLines, line)}\n  actual:   {Shown(actualLines, line)}\n"
            + "UPDATE_APPROVED=1 rewrites it");
    }

    private static string Shown(string[] lines, int line) => line < lines.Length ? lines[line] : "(end)";
}
