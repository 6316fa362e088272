namespace MongoPerf.Tests.Support;

public sealed class SourceGraphTests
{
    [Theory]
    [InlineData("class A { B? b; }")]
    [InlineData("class A : B;")]
    [InlineData("class A { string b = nameof(B); }")]
    [InlineData("class A { int F(C c) => c.Make().Value; }")]
    [InlineData("class A { void F(C c) => c.Take(new(1)); }")]
    [InlineData("class A { int F(int n) => n.Twice(); }")]
    [InlineData("class A(int n) : B(n);")]
    public void A_file_uses_what_it_names_or_makes(string a) => Assert.Contains("B", Read(a).UsesOf("A").Keys);

    [Theory]
    [InlineData("class A { string b = \"B\"; } // B")]
    [InlineData("class A { object F(C c) { var b = c.Make(); return b; } }")]
    [InlineData("class A { class B; B? b; }")]
    public void A_file_does_not_use_what_it_only_mentions_or_passes_on(string a) => Assert.DoesNotContain("B", Read(a).UsesOf("A").Keys);

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
        Assert.Equal(["One/Same"], graph.UsesOf("Two/Same").Keys);
    }

    [Fact]
    public void The_name_of_a_type_in_several_files_leads_to_the_file_of_that_name()
    {
        SourceGraph graph = Graph(("B.More", "partial class B { public int More; }"), ("B", "partial class B { public int Less; }"),
            ("A", "class A { int F(B b) => b.More; int G(B b) => b.Less; }"));
        Assert.Equal(["B", "B.More"], graph.UsesOf("A").Keys);
        Assert.Equal(["B.More"], graph.UsesOf("A")["B.More"]);
    }

    [Fact]
    public void A_name_that_the_compiler_does_not_find_is_told() =>
        Assert.Equal(["A: X"], Graph(("A", "class A { X? notImported; }"), ("B", "namespace One; class X;")).Unknown);

    private static SourceGraph Read(string a) => Graph(
        ("A", a),
        ("B", "class B(int n) { public int Value => n; } static class Numbers { public static int Twice(this int n) => 2 * n; }"),
        ("C", "class C { public B Make() => new(1); public void Take(B b) { } }"));

    private static SourceGraph Graph(params (string Name, string Text)[] files) =>
        new(files.ToDictionary(file => $"/src/{file.Name}.cs", file => file.Text), []);
}
