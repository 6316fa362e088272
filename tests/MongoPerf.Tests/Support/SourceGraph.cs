using System.Text.RegularExpressions;

namespace MongoPerf.Tests.Support;

/// <summary>
/// Which source file uses which: what the compiler made of a file leads to the files that declare it. Compiling all sources once more to
/// find out took 25 seconds of a processor; this takes one.
/// </summary>
/// <remarks>
/// A file is called by its name without .cs; where two share it, their folder comes before it. What a file only passes on leads nowhere.
/// Constants, of which the compiler leaves no trace, are found by their names (Type.Constant) in the text. The name of a type in several
/// files leads to the file of that name.
/// </remarks>
internal sealed partial class SourceGraph
{
    private readonly SortedDictionary<string, SortedSet<string>> _uses = new(StringComparer.Ordinal);

    /// <param name="sources">Text by path, as the symbols have it.</param>
    /// <param name="programs">What was compiled of them, perhaps with others that don't count.</param>
    public SourceGraph(IReadOnlyDictionary<string, string> sources, IReadOnlyList<CompiledCode> programs)
    {
        Dictionary<string, string> names = sources.Keys.GroupBy(path => Path.GetFileNameWithoutExtension(path))
            .SelectMany(paths => paths.Select(path => (path, Name: paths.Count() == 1
                ? paths.Key
                : $"{Path.GetFileName(Path.GetDirectoryName(path))}/{paths.Key}")))
            .ToDictionary(file => file.path, file => file.Name);
        foreach (string name in names.Values)
            _uses.Add(name, new SortedSet<string>(StringComparer.Ordinal));
        var homes = new Dictionary<string, string>();
        foreach ((string name, string[] files) in programs.SelectMany(program => program.ReadDeclarations()))
        {
            string[] known = [.. files.Where(names.ContainsKey)];
            if (known.Length > 0)
                homes[name] = names[known.FirstOrDefault(file => Path.GetFileNameWithoutExtension(file) == SimpleName(name)) ?? known[0]];
        }

        Undeclared = [.. _uses.Keys.Except(homes.Values)];
        foreach (CompiledCode program in programs)
        {
            foreach ((string file, string name) in program.ReadUses(HomeOf))
                Add(names.GetValueOrDefault(file, file), HomeOf(name));
        }

        ILookup<string, string> constants = programs.SelectMany(program => program.ReadConstants())
            .ToLookup(constant => constant.Constant, constant => constant.Type);
        foreach ((string path, string text) in sources)
        {
            foreach (string type in Comment().Replace(text, "").Split('\n').SelectMany(line => MemberOfType().Matches(line))
                .SelectMany(match => constants[match.Value]))
                Add(names[path], HomeOf(type));
        }

        string? HomeOf(string name) =>
            homes.TryGetValue(name, out string? home) || homes.TryGetValue(name.Split("::")[0], out home) ? home
                : name.LastIndexOf('/') is > 0 and int end ? HomeOf(name[..end])
                : null;
    }

    public IEnumerable<string> Files => _uses.Keys;

    /// <summary>Files of which nothing was compiled: the graph lacks what leads to these and from them.</summary>
    public IReadOnlyList<string> Undeclared { get; }

    /// <summary>The files that a file uses.</summary>
    public IReadOnlyCollection<string> UsesOf(string file) => _uses[file];

    /// <summary>Sets of several files, each of which leads to all others of its set; the largest first.</summary>
    public IReadOnlyList<IReadOnlyList<string>> Cycles()
    {
        // Tarjan's algorithm: a file's low point is the earliest file on the stack that it leads to.
        var numbers = new Dictionary<string, int>();
        var low = new Dictionary<string, int>();
        var stack = new Stack<string>();
        var cycles = new List<IReadOnlyList<string>>();
        foreach (string file in Files.Where(file => !numbers.ContainsKey(file)))
            Visit(file);
        return [.. cycles.OrderByDescending(cycle => cycle.Count).ThenBy(cycle => cycle[0], StringComparer.Ordinal)];

        void Visit(string file)
        {
            low[file] = numbers[file] = numbers.Count;
            stack.Push(file);
            foreach (string used in _uses[file])
            {
                if (!numbers.ContainsKey(used))
                    Visit(used);
                if (stack.Contains(used))
                    low[file] = Math.Min(low[file], low[used]);
            }

            if (low[file] != numbers[file])
                return;
            var cycle = new List<string>();
            do
                cycle.Add(stack.Pop());
            while (cycle[^1] != file);
            if (cycle.Count > 1)
                cycles.Add([.. cycle.Order(StringComparer.Ordinal)]);
        }
    }

    private void Add(string file, string? used)
    {
        if (used is not null && used != file && _uses.TryGetValue(file, out SortedSet<string>? known))
            known.Add(used);
    }

    private static string SimpleName(string type) => type.Split('/')[^1].Split('.')[^1].Split('`')[0];

    [GeneratedRegex(@"^\s*//.*", RegexOptions.Multiline)]
    private static partial Regex Comment();

    [GeneratedRegex(@"\b[A-Z]\w*\.[A-Z]\w*")]
    private static partial Regex MemberOfType();
}
