using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;

namespace MongoPerf.Tests.Support;

public sealed class SourceGraphTests
{
    [Theory]
    [InlineData("class A { B? b; }")]
    [InlineData("class A : B;")]
    [InlineData("class A { string b = nameof(B.Most); }")]
    [InlineData("class A { int b = B.Most; }")]
    [InlineData("class A { bool F(Sort b) => b == Sort.Small; }")]
    [InlineData("class A { int F(C c) => c.Make().Value; }")]
    [InlineData("class A { void F(C c) => c.Take(new(1)); }")]
    [InlineData("class A { object F(object b) => b is B; }")]
    [InlineData("class A { int F(int n) => n.Twice(); }")]
    [InlineData("class A { System.Func<int, int> F() => n => { System.Func<int> inner = () => n.Twice(); return inner(); }; }")]
    [InlineData("class A { System.Collections.Generic.IEnumerable<int> F(C c) { yield return c.Make().Value; } }")]
    [InlineData("class A { void F<T>() where T : B { } }")]
    [InlineData("[Mark] class A;")]
    [InlineData("class A(int n) : B(n);")]
    [InlineData("record A(System.Collections.Generic.List<B[]> All);")]
    public void A_file_uses_what_it_names_or_makes(string a) => Assert.Contains("B", Read(a).UsesOf("A"));

    [Theory]
    [InlineData("class A { string b = \"B\"; } // B")]
    [InlineData("// B.Most\nclass A { object F(C c) { var b = c.Make(); return b; } }")]
    [InlineData("class A { class B; B? b; }")]
    public void A_file_does_not_use_what_it_only_mentions_or_passes_on(string a) => Assert.DoesNotContain("B", Read(a).UsesOf("A"));

    [Fact]
    public void Files_that_lead_to_each_other_are_one_cycle()
    {
        SourceGraph graph = Graph(("A", "class A { B? b; }"), ("B", "class B { C? c; }"), ("C", "class C { A? a; D? d; }"),
            ("D", "class D { E? e; }"), ("E", "class E { D? d; }"), ("F", "class F { A? a; }"));
        Assert.Equal([["A", "B", "C"], ["D", "E"]], graph.Cycles());
    }

    [Fact]
    public void Files_of_one_name_are_told_apart_by_their_folders()
    {
        SourceGraph graph = Graph(("One/Same", "namespace One; class X;"), ("Two/Same", "namespace Two; class Y : One.X;"));
        Assert.Equal(["One/Same", "Two/Same"], graph.Files);
        Assert.Equal(["One/Same"], graph.UsesOf("Two/Same"));
    }

    [Fact]
    public void The_name_of_a_type_in_several_files_leads_to_the_file_of_that_name()
    {
        SourceGraph graph = Graph(("B.More", "partial class B { public int More => 1; }"),
            ("B", "partial class B { public int Less => 1; }"), ("A", "class A { int F(B b) => b.More; }"), ("C", "class C { B? b; }"));
        Assert.Equal(["B", "B.More"], graph.UsesOf("A"));
        Assert.Equal(["B"], graph.UsesOf("C"));
    }

    [Fact]
    public void A_file_of_which_nothing_was_compiled_is_told() =>
        Assert.Equal(["C"], Graph(("A", "enum A { X }"), ("B", "interface B;"), ("C", "#if C\nclass C;\n#endif")).Undeclared);

    private static SourceGraph Read(string a) => Graph(
        ("A", a),
        ("B", """
            class B(int n = 0) { public const int Most = 3; public int Value => n; }
            enum Sort { Small }
            class MarkAttribute : System.Attribute;
            static class Numbers { public static int Twice(this int n) => 2 * n; }
            """),
        ("C", "class C { public B Make() => new(1); public void Take(B b) { } }"));

    private static SourceGraph Graph(params (string Name, string Text)[] files)
    {
        Dictionary<string, string> sources = files.ToDictionary(file => $"/src/{file.Name}.cs", file => file.Text);
        MetadataReference[] references =
        [
            .. ((string[])["System.Private.CoreLib.dll", "System.Runtime.dll"]).Select(file =>
                MetadataReference.CreateFromFile(Path.Combine(Path.GetDirectoryName(typeof(object).Assembly.Location)!, file))),
        ];
        var compilation = CSharpCompilation.Create("Sources",
            sources.Select(source => CSharpSyntaxTree.ParseText(source.Value, path: source.Key, encoding: System.Text.Encoding.UTF8)),
            references, new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary));
        using MemoryStream assembly = new(), symbols = new();
        EmitResult result = compilation.Emit(
            assembly, symbols, options: new EmitOptions(debugInformationFormat: DebugInformationFormat.PortablePdb));
        Assert.True(result.Success, string.Join('\n', result.Diagnostics));
        assembly.Position = symbols.Position = 0;
        using var code = new CompiledCode(assembly, symbols);
        return new SourceGraph(sources, [code]);
    }
}
