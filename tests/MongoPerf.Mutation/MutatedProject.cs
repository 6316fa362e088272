using System.Diagnostics;
using System.IO.Enumeration;
using System.Runtime.Loader;
using System.Text;
using System.Text.Json;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Diagnostics;
using Microsoft.CodeAnalysis.Text;

namespace MongoPerf.Mutation;

/// <summary>A project of src as the compiler sees it, with mutants that are switched on one at a time.</summary>
internal sealed class MutatedProject
{
    private readonly string _root;
    private readonly CSharpCommandLineArguments _arguments;
    private readonly CSharpCompilation _plain;

    private MutatedProject(string root, string name, CSharpCommandLineArguments arguments)
    {
        _root = root;
        _arguments = arguments;
        CSharpParseOptions options = arguments.ParseOptions.WithDocumentationMode(DocumentationMode.None);
        CSharpCompilation compilation = CSharpCompilation.Create(
            arguments.CompilationName ?? name,
            from source in arguments.SourceFiles
            select CSharpSyntaxTree.ParseText(SourceText.From(File.ReadAllText(source.Path), Encoding.UTF8), options, source.Path),
            arguments.MetadataReferences.Select(r => MetadataReference.CreateFromFile(r.Reference, r.Properties))
                .Append(MetadataReference.CreateFromFile(typeof(Mutant).Assembly.Location)),
            arguments.CompilationOptions.WithGeneralDiagnosticOption(ReportDiagnostic.Suppress).WithSpecificDiagnosticOptions([])
                .WithReportSuppressedDiagnostics(false));
        GeneratorDriver driver = CSharpGeneratorDriver.Create(
            arguments.AnalyzerReferences.SelectMany(r => Generators(r.FilePath)),
            parseOptions: options);
        driver.RunGeneratorsAndUpdateCompilation(compilation, out Compilation generated, out _);
        _plain = (CSharpCompilation)generated;
        Output = Path.GetFileName(arguments.OutputFileName ?? $"{name}.dll");
    }

    /// <summary>The file that the project is compiled to.</summary>
    public string Output { get; }

    private static IEnumerable<ISourceGenerator> Generators(string file)
    {
        Loader.Instance.AddDependencyLocation(file);
        return new AnalyzerFileReference(file, Loader.Instance).GetGenerators(LanguageNames.CSharp);
    }

    /// <summary>Asks MSBuild how the project, which has been built, is compiled.</summary>
    public static MutatedProject Open(string root, string name)
    {
        string folder = Path.Combine(root, "src", name);
        using Process build = Process.Start(new ProcessStartInfo("dotnet",
        [
            "msbuild", Path.Combine(folder, $"{name}.csproj"), "-nologo", "-t:PrepareResources;Compile", "-getItem:CscCommandLineArgs",
            "-p:Configuration=Release",
            "-p:ProvideCommandLineArgs=true", "-p:SkipCompilerExecution=true", "-p:DesignTimeBuild=true", "-p:BuildProjectReferences=false",
            "-p:NonExistentFile=__NonExistentSubDir__/__NonExistentFile__",
        ]) { RedirectStandardOutput = true })!;
        string json = build.StandardOutput.ReadToEnd();
        build.WaitForExit();
        if (build.ExitCode != 0) throw new InvalidOperationException($"msbuild failed on {name}: {json}");
        string[] arguments =
        [
            .. from item in JsonDocument.Parse(json).RootElement.GetProperty("Items").GetProperty("CscCommandLineArgs").EnumerateArray()
            select item.GetProperty("Identity").GetString(),
        ];
        return new MutatedProject(root, name, CSharpCommandLineParser.Default.Parse(arguments, folder, null));
    }

    /// <summary>All changes that can be made to files in the folders (all files if there are none).</summary>
    /// <param name="parts">Folders of the project, or patterns of files that are in none.</param>
    public List<Mutation> Find(string name, IReadOnlyList<string> parts)
    {
        string project = Path.Combine(_root, "src", name);
        return [.. from tree in _plain.SyntaxTrees.AsParallel().AsOrdered()
            let path = Path.GetRelativePath(project, tree.FilePath)
            where !path.StartsWith("..", StringComparison.Ordinal) && !path.StartsWith("obj", StringComparison.Ordinal)
            where File.Exists(tree.FilePath) && (parts.Count == 0 || parts.Any(p => IsIn(p, path)))
            orderby path
            from mutation in MutationFinder.Find(Path.GetRelativePath(_root, tree.FilePath), _plain.GetSemanticModel(tree))
            select mutation];
    }

    private static bool IsIn(string part, string path) => path.StartsWith(part + "/", StringComparison.Ordinal)
        || !path.Contains('/') && FileSystemName.MatchesSimpleExpression(part, path);

    /// <summary>Compiles the project with the mutants; those that don't compile are left out.</summary>
    /// <returns>The mutants that are in it.</returns>
    public HashSet<int> Compile(IReadOnlyDictionary<int, Mutation> mutants, string folder)
    {
        HashSet<int> kept = [.. mutants.Keys];
        CSharpParseOptions options = (CSharpParseOptions)_plain.SyntaxTrees.First().Options;
        CSharpCompilation compilation = _plain;
        Dictionary<string, SyntaxTree> current = _plain.SyntaxTrees.Where(t => File.Exists(t.FilePath))
            .ToDictionary(t => Path.GetRelativePath(_root, t.FilePath));
        HashSet<string> stale = [.. mutants.Values.Select(m => m.File)];
        Dictionary<string, string> texts = stale.ToDictionary(f => f, f => current[f].ToString());
        for (int round = 0; ; round++)
        {
            foreach (string file in stale)
            {
                var here = from m in mutants where m.Value.File == file && kept.Contains(m.Key) select (m.Key, m.Value);
                string text = new Renderer(texts[file], [.. here]).Render();
                SyntaxTree tree = CSharpSyntaxTree.ParseText(SourceText.From(text, Encoding.UTF8), options, current[file].FilePath);
                compilation = compilation.ReplaceSyntaxTree(current[file], tree);
                current[file] = tree;
            }
            stale.Clear();
            using MemoryStream bytes = new();
            Microsoft.CodeAnalysis.Emit.EmitResult result = compilation.Emit(bytes, manifestResources: _arguments.ManifestResources);
            if (result.Success)
            {
                string file = Path.Combine(folder, Output);
                File.Delete(file);
                File.WriteAllBytes(file, bytes.ToArray());
                return kept;
            }
            Diagnostic[] errors = [.. result.Diagnostics.Where(d => d.Severity == DiagnosticSeverity.Error)];
            if (round == 40) throw new InvalidOperationException($"{Output} does not compile: {errors[0]}");
            int before = kept.Count;
            foreach (Diagnostic error in errors)
            {
                if (error.Location.SourceTree is not { } tree) throw new InvalidOperationException($"{Output}: {error}");
                foreach (int id in Guilty(tree.GetRoot(), error))
                {
                    if (kept.Remove(id)) stale.Add(mutants[id].File);
                }
            }
            if (kept.Count == before) throw new InvalidOperationException($"{Output} does not compile: {errors[0]}");
        }
    }

    /// <summary>The mutants without which there would be no such error: the innermost around it, or all that are near.</summary>
    private static IEnumerable<int> Guilty(SyntaxNode root, Diagnostic error)
    {
        SyntaxNode node = root.FindNode(error.Location.SourceSpan, getInnermostNodeForTie: true);
        SyntaxNode inner = node;
        while (inner is CastExpressionSyntax or ParenthesizedExpressionSyntax)
        {
            inner = inner is CastExpressionSyntax cast ? cast.Expression : ((ParenthesizedExpressionSyntax)inner).Expression;
        }
        if (error.Id is not ("CS0165" or "CS0161" or "CS0177"))
        {
            foreach (SyntaxNode around in inner.AncestorsAndSelf())
            {
                if (Switch(around) is { } id) return [id];
            }
        }
        string name = node.ToString();
        foreach (SyntaxNode around in node.AncestorsAndSelf())
        {
            if (around is not (MemberDeclarationSyntax or LocalFunctionStatementSyntax or AccessorDeclarationSyntax)) continue;
            List<(int Id, SyntaxNode Node)> inside =
                [.. around.DescendantNodesAndSelf().Where(n => Switch(n) is not null).Select(n => (Switch(n)!.Value, n))];
            List<int> named = [.. inside.Where(n => n.Node.ToString().Contains(name, StringComparison.Ordinal)).Select(n => n.Id)];
            if (error.Id == "CS0165" && named.Count > 0) return named;
            if (inside.Count > 0) return inside.Select(n => n.Id);
        }
        return [];
    }

    private static int? Switch(SyntaxNode node)
    {
        ExpressionSyntax? asked = node switch
        {
            ConditionalExpressionSyntax conditional => conditional.Condition,
            BinaryExpressionSyntax both when both.IsKind(SyntaxKind.ExclusiveOrExpression) => both.Left,
            IfStatementSyntax statement => statement.Condition is PrefixUnaryExpressionSyntax not ? not.Operand : statement.Condition,
            _ => null,
        };
        return asked is InvocationExpressionSyntax call && call.Expression.ToString() == Renderer.Question
            ? int.Parse(call.ArgumentList.Arguments[0].ToString(), System.Globalization.CultureInfo.InvariantCulture) : null;
    }

    private sealed class Loader : IAnalyzerAssemblyLoader
    {
        public static readonly Loader Instance = new();
        private readonly HashSet<string> _folders = [];

        // Generators come with libraries of their own, beside them.
        private Loader() => AssemblyLoadContext.Default.Resolving += (context, name) =>
            _folders.Select(f => Path.Combine(f, $"{name.Name}.dll")).FirstOrDefault(File.Exists) is { } file
                ? context.LoadFromAssemblyPath(file) : null;

        public void AddDependencyLocation(string fullPath) => _folders.Add(Path.GetDirectoryName(fullPath)!);

        public System.Reflection.Assembly LoadFromPath(string fullPath) => AssemblyLoadContext.Default.LoadFromAssemblyPath(fullPath);
    }
}
