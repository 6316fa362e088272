using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace MongoPerf.Tests.Support;

/// <summary>
/// Which source file uses which: all sources are compiled as one program, and each name in a file leads to the file that declares it.
/// </summary>
/// <remarks>
/// A file is called by its name without .cs; where two share it, their folder comes before it. Comments and using directives lead nowhere,
/// nor does a type that is not written out (var). The name of a type in several files leads to the file of that name.
/// </remarks>
internal sealed class SourceGraph
{
    private static readonly Lazy<MetadataReference[]> References = new(FindReferences);

    private readonly SortedDictionary<string, SortedDictionary<string, SortedSet<string>>> _uses = new(StringComparer.Ordinal);
    private readonly List<string> _unknown = [];

    /// <summary>Compiles sources against this runtime and the packages beside the tests.</summary>
    /// <param name="sources">Text by path.</param>
    /// <param name="imports">Namespaces that all files import without saying so.</param>
    public SourceGraph(IReadOnlyDictionary<string, string> sources, IEnumerable<string> imports)
    {
        var options = new CSharpParseOptions(LanguageVersion.Latest, DocumentationMode.None);
        var files = new Dictionary<SyntaxTree, string>();
        foreach (IGrouping<string, string> paths in sources.Keys.GroupBy(path => Path.GetFileNameWithoutExtension(path)))
        {
            foreach (string path in paths)
            {
                string file = paths.Count() == 1 ? paths.Key : $"{Path.GetFileName(Path.GetDirectoryName(path))}/{paths.Key}";
                files.Add(CSharpSyntaxTree.ParseText(sources[path], options, path), file);
                _uses.Add(file, new SortedDictionary<string, SortedSet<string>>(StringComparer.Ordinal));
            }
        }

        SyntaxTree global = CSharpSyntaxTree.ParseText(string.Concat(imports.Select(name => $"global using {name};\n")), options);
        var compilation = CSharpCompilation.Create(
            "Sources", [.. files.Keys, global], References.Value,
            new CSharpCompilationOptions(OutputKind.ConsoleApplication, allowUnsafe: true));
        // Most names are those of libraries and variables: only those that a file declares can lead to it.
        HashSet<string> declared =
            [.. files.Keys.SelectMany(tree => tree.GetRoot().DescendantNodes(node => node is not BlockSyntax).SelectMany(NamesOf))];
        foreach ((SyntaxTree tree, string file) in files)
            Read(compilation.GetSemanticModel(tree), tree, file, files, declared);
    }

    public IEnumerable<string> Files => _uses.Keys;

    /// <summary>File and name of what the compiler could not find: the graph lacks what these lead to.</summary>
    public IReadOnlyList<string> Unknown => _unknown;

    /// <summary>The files that a file uses, and what it names in each.</summary>
    public IReadOnlyDictionary<string, SortedSet<string>> UsesOf(string file) => _uses[file];

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
            foreach (string used in _uses[file].Keys)
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

    private void Read(SemanticModel model, SyntaxTree tree, string file, Dictionary<SyntaxTree, string> files, HashSet<string> declared)
    {
        IEnumerable<SyntaxNode> names = tree.GetRoot().DescendantNodes(node => node is not UsingDirectiveSyntax)
            .Where(node => node is ImplicitObjectCreationExpressionSyntax or ConstructorInitializerSyntax
                || node is SimpleNameSyntax name
                    && (declared.Contains(name.Identifier.ValueText) || declared.Contains(name.Identifier.ValueText + "Attribute")));
        foreach (SyntaxNode name in names)
        {
            SymbolInfo found = model.GetSymbolInfo(name);
            if ((found.Symbol ?? found.CandidateSymbols.FirstOrDefault()) is not { } symbol)
                _unknown.Add($"{file}: {name}");
            else if (HomeOf(symbol) is { } home && files.TryGetValue(home, out string? used) && used != file)
                (_uses[file].TryGetValue(used, out SortedSet<string>? known) ? known : _uses[file][used] = new(StringComparer.Ordinal))
                    .Add(TextOf(symbol));
        }
    }

    /// <summary>What a declaration calls that which other files can use.</summary>
    private static IEnumerable<string> NamesOf(SyntaxNode declaration) => declaration switch
    {
        BaseTypeDeclarationSyntax type => [type.Identifier.ValueText],
        DelegateDeclarationSyntax type => [type.Identifier.ValueText],
        MethodDeclarationSyntax method => [method.Identifier.ValueText],
        PropertyDeclarationSyntax property => [property.Identifier.ValueText],
        EventDeclarationSyntax @event => [@event.Identifier.ValueText],
        EnumMemberDeclarationSyntax member => [member.Identifier.ValueText],
        BaseFieldDeclarationSyntax field => field.Declaration.Variables.Select(variable => variable.Identifier.ValueText),
        ParameterSyntax { Parent.Parent: RecordDeclarationSyntax } property => [property.Identifier.ValueText],
        _ => [],
    };

    /// <summary>Where something is declared; null for what comes from a library, and for namespaces, which lie in many files.</summary>
    private static SyntaxTree? HomeOf(ISymbol symbol)
    {
        if (symbol is INamespaceSymbol)
            return null;
        ISymbol declared = symbol is IMethodSymbol { MethodKind: MethodKind.Constructor } ? symbol.ContainingType : symbol;
        SyntaxTree[] homes = [.. declared.OriginalDefinition.DeclaringSyntaxReferences.Select(reference => reference.SyntaxTree)];
        return homes.FirstOrDefault(home => Path.GetFileNameWithoutExtension(home.FilePath) == declared.Name) ?? homes.FirstOrDefault();
    }

    private static string TextOf(ISymbol symbol) => symbol is ITypeSymbol or { ContainingType: null } ? symbol.Name
        : symbol is IMethodSymbol { MethodKind: MethodKind.Constructor } ? $"new {symbol.ContainingType.Name}"
        : $"{symbol.ContainingType.Name}.{symbol.Name}";

    private static MetadataReference[] FindReferences() =>
    [
        .. from folder in (string[])[Path.GetDirectoryName(typeof(object).Assembly.Location)!, AppContext.BaseDirectory]
           from path in Directory.EnumerateFiles(folder, "*.dll")
           where !Path.GetFileName(path).StartsWith("MongoPerf", StringComparison.OrdinalIgnoreCase) && IsManaged(path)
           select MetadataReference.CreateFromFile(path),
    ];

    private static bool IsManaged(string path)
    {
        using var reader = new System.Reflection.PortableExecutable.PEReader(File.OpenRead(path));
        return reader.HasMetadata;
    }
}
