using System.Runtime.CompilerServices;
using Xunit.Sdk;

namespace MongoPerf.Tests.Support;

/// <summary>
/// One approved text for each test of a class, all in one file: the folder Approved beside the caller has CLASS.txt, in which each text
/// follows a line "==== TEST". A test that compares several has "(2)", "(3)" … behind its name. UPDATE_APPROVED=1 rewrites what
/// was compared.
/// </summary>
/// <remarks>Tests may run at once: texts are compared with what the file had when it was first read.</remarks>
internal static class ApprovedParts
{
    private const string Head = "==== ";
    private static readonly Lock Gate = new();
    private static readonly Dictionary<string, SortedDictionary<string, string>> Files = [];
    private static readonly ConditionalWeakTable<ITest, StrongBox<int>> Compared = [];

    /// <summary>Compares a text with that of the test that runs now.</summary>
    public static void Check(string actual, [CallerFilePath] string caller = "")
    {
        ITest test = TestContext.Current.Test!;
        int number = ++Compared.GetValue(test, static _ => new StrongBox<int>()).Value;
        ITestClass tests = test.TestCase.TestClass!;
        string name = test.TestDisplayName[(tests.TestClassName.Length + 1)..].ReplaceLineEndings(" ") + (number > 1 ? $" ({number})" : "");
        string path = Path.Combine(Path.GetDirectoryName(caller)!, "Approved", tests.TestClassSimpleName + ".txt");
        string text = actual.ReplaceLineEndings("\n").TrimEnd('\n');
        string? expected;
        lock (Gate)
        {
            if (!Files.TryGetValue(path, out SortedDictionary<string, string>? parts))
                Files[path] = parts = Read(path);
            if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
            {
                parts[name] = text;
                Directory.CreateDirectory(Path.GetDirectoryName(path)!);
                File.WriteAllText(path, string.Concat(parts.Select(part => $"{Head}{part.Key}\n{part.Value}\n\n")));
                return;
            }

            expected = parts.GetValueOrDefault(name);
        }

        if (expected is null)
            Assert.Fail($"{path} has no part \"{name}\"; UPDATE_APPROVED=1 adds it");
        Assert.Equal(expected, text, ignoreLineEndingDifferences: true);
    }

    /// <summary>The parts of a file by name; none where there is no file.</summary>
    public static SortedDictionary<string, string> Read(string path)
    {
        var parts = new SortedDictionary<string, string>(StringComparer.Ordinal);
        if (!File.Exists(path)) return parts;
        foreach (string part in ("\n" + File.ReadAllText(path)).Split("\n" + Head, StringSplitOptions.RemoveEmptyEntries))
        {
            string[] lines = part.Split('\n', 2);
            parts[lines[0]] = lines[1].TrimEnd('\n');
        }

        return parts;
    }
}
