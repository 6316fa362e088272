using System.Reflection;
using System.Text.RegularExpressions;
using MongoPerf.Commands;
using MongoPerf.Load.Plans;
using MongoPerf.Server;
using MongoPerf.Tests.Support;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests;

/// <summary>
/// What .editorconfig says of namespaces and names: as a part of every build this check would take a quarter of its time.
/// </summary>
public sealed partial class ConventionTests
{
    private static readonly EnumerationOptions OfAnyCase = new() { MatchCasing = MatchCasing.CaseInsensitive };

    /// <summary>The unit tests that let time pass, or look at a clock of the machine, and why they can't do without.</summary>
    private static readonly Dictionary<string, string> Timed = new()
    {
        ["Eventually.cs"] = "is where tests wait for what nothing tells of",
        ["TlsServer.cs"] = "dribbles a reply, byte by byte, so that time-outs of single reads never pass",
        ["ReplyTimeTests.cs"] = "dribbles a reply, byte by byte, so that time-outs of single reads never pass",
        ["WatchedConnectionTests.cs"] = "ends a command just when the watch begins that the server starts 100 ms after",
        ["InterruptionTests.cs"] = "holds a lock for longer than a try of the one who waits for it",
        ["FuzzTests.cs"] = "tells its progress once a second when it is asked for hours of it",
        ["DayTests.cs"] = "measures for docs/performance.md, when it is asked to",
        ["MongodProgramTests.cs"] = "writes a program while the system is asked to start it",
        ["TrafficProxyTests.cs"] = "fills the system's buffers, which tell nobody that they are full",
        ["ReplayDependenciesTests.cs"] = "answers late, and what depends on the answer must wait",
    };

    /// <summary>Elsewhere a clock is the test's own (ManualClock), and what another thread does is waited for (Eventually).</summary>
    [Fact]
    public void Unit_tests_neither_sleep_nor_look_at_the_machines_clock() => Assert.Equal(
        Timed.Keys.Order(StringComparer.Ordinal),
        ((string[])["tests/MongoPerf.Tests", "tests/Shared"]).SelectMany(RepositoryPaths.SourcesIn)
            .Where(path => LetsTimePass().IsMatch(File.ReadAllText(path))).Select(path => Path.GetFileName(path))
            .Order(StringComparer.Ordinal));

    [Fact]
    public void Namespaces_are_those_of_files() => Assert.Empty(
        from folder in (string[])["src", "tests"]
        from path in RepositoryPaths.SourcesIn(folder)
        where BlockNamespace().IsMatch(File.ReadAllText(path))
        select path);

    [Fact]
    public void Private_fields_begin_with_an_underscore_and_constants_with_a_capital_letter() => Assert.Empty(
        from file in Directory.GetFiles(AppContext.BaseDirectory, "mongoperf*.dll", OfAnyCase)
        where !file.EndsWith("Tests.dll", StringComparison.Ordinal)
        let assembly = Assembly.LoadFrom(file)
        from type in assembly.GetTypes()
        where !type.FullName!.Contains('<', StringComparison.Ordinal) && !type.FullName.StartsWith("System.", StringComparison.Ordinal)
        from field in type.GetFields(BindingFlags.DeclaredOnly | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static)
        where field.IsPrivate && !field.Name.Contains('<', StringComparison.Ordinal) && type.GetEvent(field.Name) is null
        where !(field.IsLiteral || (field.IsStatic && field.IsInitOnly) ? Constant() : Field()).IsMatch(field.Name)
        select $"{type}.{field.Name}");

    /// <summary>Text in raw strings is data, which is as long as it is.</summary>
    [Fact]
    public void Lines_end_at_140_columns() => Assert.Empty(
        from folder in (string[])["src", "tests"]
        from path in RepositoryPaths.SourcesIn(folder)
        from line in LinesOutsideRawStrings(path)
        where line.Text.Length > 140
        select $"{path}:{line.Number} has {line.Text.Length} columns");

    [Fact]
    public void Approved_texts_are_of_tests_that_exist() => Assert.Empty(
        from path in Directory.GetFiles(Path.Combine(RepositoryPaths.Root, "tests", "MongoPerf.Tests"), "*Tests.txt",
            SearchOption.AllDirectories)
        where path.Contains("Approved", StringComparison.Ordinal)
        let types = typeof(ConventionTests).Assembly.GetTypes().Where(one => one.Name == Path.GetFileNameWithoutExtension(path))
        from name in ApprovedParts.Read(path).Keys
        where !types.Any(type => type.GetMethod(MethodName().Match(name).Value) is not null)
        select $"{path}: {name}");

    private static IEnumerable<(int Number, string Text)> LinesOutsideRawStrings(string path)
    {
        bool isInside = false;
        foreach ((int index, string text) in File.ReadLines(path).Index())
        {
            // Those of a verbatim string begin none.
            int quotes = text.Contains("@\"") ? 0 : text.Split("\"\"\"").Length - 1;
            if (!isInside && quotes == 0)
                yield return (index + 1, text);
            isInside ^= quotes % 2 == 1;
        }
    }

    [GeneratedRegex(@"^namespace [\w.]+\s*(\{|$)", RegexOptions.Multiline)]
    private static partial Regex BlockNamespace();

    [GeneratedRegex(@"\b(Thread\.(Sleep|SpinWait)|SpinWait\.|Task\.Delay|Stopwatch\.)")]
    private static partial Regex LetsTimePass();

    [GeneratedRegex(@"^\w+")]
    private static partial Regex MethodName();

    [GeneratedRegex("^[A-Z]")]
    private static partial Regex Constant();

    [GeneratedRegex("^_[a-z]")]
    private static partial Regex Field();
}
