using MongoPerf.Tests.Support;

namespace MongoPerf.Tests;

/// <summary>How far one has to read to understand a file of src: what it uses, and what it can't be understood without.</summary>
/// <remarks>docs/design.md, section 3, says how to print the tables.</remarks>
public sealed class StructureTests(ITestOutputHelper output)
{
    private const int MostInCycle = 12;
    private const int MostUsed = 30;

    private static readonly Lazy<SourceGraph> Sources = new(Read);

    [Fact]
    public void No_cycle_has_more_than_12_files()
    {
        IReadOnlyList<IReadOnlyList<string>> cycles = Sources.Value.Cycles();
        foreach (IReadOnlyList<string> cycle in cycles)
            output.WriteLine($"{cycle.Count,4} files use each other: {string.Join(", ", cycle)}");
        AssertNone(
            from cycle in cycles
            where cycle.Count > MostInCycle
            select $"{cycle.Count} files use each other; at most {MostInCycle} may: {string.Join(", ", cycle)}");
    }

    [Fact]
    public void No_file_uses_more_than_30_others()
    {
        (string File, string[] Used)[] users = [.. Sources.Value.Files.Select(file => (file, Sources.Value.UsesOf(file).ToArray()))];
        foreach ((string file, string[] used) in users.OrderByDescending(user => user.Used.Length).TakeWhile(user => user.Used.Length > 15))
            output.WriteLine($"{file} uses {used.Length} files: {string.Join(", ", used)}");
        AssertNone(
            from user in users
            where user.Used.Length > MostUsed
            select $"{user.File} uses {user.Used.Length} files; at most {MostUsed} are allowed: {string.Join(", ", user.Used)}");
    }

    [Fact]
    public void Every_file_of_src_is_followed() => Assert.Empty(Sources.Value.Undeclared);

    private static void AssertNone(IEnumerable<string> wrong) => Assert.True(!wrong.Any(), string.Join('\n', wrong));

    private static SourceGraph Read()
    {
        CompiledCode[] programs =
        [
            .. from assembly in Directory.GetFiles(AppContext.BaseDirectory, "*.dll")
               let symbols = Path.ChangeExtension(assembly, ".pdb")
               where File.Exists(symbols) && !assembly.EndsWith("Tests.dll", StringComparison.Ordinal)
               select new CompiledCode(File.OpenRead(assembly), File.OpenRead(symbols)),
        ];
        try
        {
            return new SourceGraph(RepositoryPaths.SourcesIn("src").ToDictionary(path => path, File.ReadAllText), programs);
        }
        finally
        {
            Array.ForEach(programs, program => program.Dispose());
        }
    }
}
