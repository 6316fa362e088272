using System.Xml.Linq;
using MongoPerf.Tests.Support;
using Xunit.Abstractions;

namespace MongoPerf.Tests;

/// <summary>How far one has to read to understand a file of src: what it uses, and what it can't be understood without.</summary>
/// <remarks>docs/design.md, section 3, says how to print the tables.</remarks>
public sealed class StructureTests(ITestOutputHelper output)
{
    private const int MostInCycle = 12;
    private const int MostUsed = 30;

    private static readonly Lazy<SourceGraph> Sources = new(Read);

    /// <summary>
    /// Larger cycles that are still there: a file of each, and how many files it has at most. To be shortened, never to be extended.
    /// </summary>
    private static readonly Dictionary<string, int> LargeCycles = new(StringComparer.Ordinal);

    /// <summary>Files that still use more, and how many at most. To be shortened, never to be extended.</summary>
    private static readonly Dictionary<string, int> LargeUsers = new(StringComparer.Ordinal)
    {
        ["PlanExecution"] = 40,
        ["PlanSession"] = 33,
        ["RunFolderCommands"] = 32,
        ["ScenarioCommands"] = 32,
    };

    [Fact]
    public void No_cycle_has_more_than_12_files()
    {
        IReadOnlyList<IReadOnlyList<string>> cycles = Sources.Value.Cycles();
        foreach (IReadOnlyList<string> cycle in cycles)
            output.WriteLine($"{cycle.Count,4} files use each other: {string.Join(", ", cycle)}");
        AssertNone(
            from cycle in cycles
            let most = Math.Max(MostInCycle, cycle.Max(LargeCycles.GetValueOrDefault))
            where cycle.Count > most
            select $"{cycle.Count} files use each other; at most {most} may: {string.Join(", ", cycle)}");
        AssertNone(
            from file in LargeCycles.Keys
            where !cycles.Any(cycle => cycle.Count > MostInCycle && cycle.Contains(file))
            select $"{file} lies in no cycle of more than {MostInCycle} files any more: remove it from {nameof(LargeCycles)}");
    }

    [Fact]
    public void No_file_uses_more_than_30_others()
    {
        (string File, string[] Used)[] users = [.. Sources.Value.Files.Select(file => (file, Sources.Value.UsesOf(file).Keys.ToArray()))];
        foreach ((string file, string[] used) in users.OrderByDescending(user => user.Used.Length).TakeWhile(user => user.Used.Length > 15))
            output.WriteLine($"{file} uses {used.Length} files: {string.Join(", ", used)}");
        AssertNone(
            from user in users
            let most = Math.Max(MostUsed, LargeUsers.GetValueOrDefault(user.File))
            where user.Used.Length > most
            select $"{user.File} uses {user.Used.Length} files; at most {most} are allowed: {string.Join(", ", user.Used)}");
        AssertNone(
            from file in LargeUsers.Keys
            where !users.Any(user => user.File == file && user.Used.Length > MostUsed)
            select $"{file} uses no more than {MostUsed} files any more: remove it from {nameof(LargeUsers)}");
    }

    [Fact]
    public void Every_name_in_src_is_found() => Assert.Empty(Sources.Value.Unknown);

    private static void AssertNone(IEnumerable<string> wrong) => Assert.True(!wrong.Any(), string.Join('\n', wrong));

    private static SourceGraph Read()
    {
        // What the SDK imports everywhere (ImplicitUsings), and what the projects add.
        IEnumerable<string> imports =
            from project in Directory.EnumerateFiles(Path.Combine(RepositoryPaths.Root, "src"), "*.csproj", SearchOption.AllDirectories)
            from import in XDocument.Load(project).Descendants("Using")
            select import.Attribute("Include")!.Value;
        return new SourceGraph(
            RepositoryPaths.SourcesIn("src").ToDictionary(path => path, File.ReadAllText),
            [
                "System", "System.Collections.Generic", "System.IO", "System.Linq", "System.Net.Http", "System.Threading",
                "System.Threading.Tasks", .. imports.Distinct(),
            ]);
    }
}
