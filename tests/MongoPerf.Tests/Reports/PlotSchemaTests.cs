using System.Text.Json.Nodes;
using MongoPerf.Reports.Plots;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Tests.Reports;

/// <summary>plots/schema.json and plots/style.schema.json say what the readers take, no more and no less.</summary>
public sealed class PlotSchemaTests
{
    private static string Folder => Path.Combine(RepositoryPaths.Root, "plots");

    [Fact]
    public void Files_are_what_the_readers_know()
    {
        foreach ((string file, string now) in new[] { ("schema.json", PlotSchema.OfPlot()), ("style.schema.json", PlotSchema.OfStyle()) })
        {
            string path = Path.Combine(Folder, file);
            if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
                File.WriteAllText(path, now);
            Assert.Equal(now, File.ReadAllText(path));
        }
    }

    [Theory]
    [MemberData(nameof(Files))]
    public void Plots_that_come_with_the_program_fit_the_schema_that_their_first_line_names(string file)
    {
        string text = File.ReadAllText(Path.Combine(Folder, file));
        string name = file.EndsWith("style.yaml", StringComparison.Ordinal) ? "style.schema.json" : "schema.json";
        if (!file.Contains('/', StringComparison.Ordinal))
            Assert.StartsWith($"# yaml-language-server: $schema={name}\n", text, StringComparison.Ordinal);
        Assert.Empty(Wrong(name, text));
    }

    [Theory]
    [InlineData("title: T\nx: tim\npanels: [cpu]")]
    [InlineData("title: T\nx: time\npanels: [cup]")]
    [InlineData("title: T\nx: lap\npanels: [{show: cpu}]")]
    [InlineData("title: T\nx: time\npanels: [{shw: cpu}]")]
    [InlineData("title: T\nx: threads\ny: [rat]")]
    [InlineData("title: T\nx: threads")]
    [InlineData("x: time\npanels: [cpu]")]
    [InlineData("title: T\nx: time\npanels: [cpu]\nbands: [migration]")]
    [InlineData("title: T\nx: time\npanels: [cpu]\nruns: two")]
    [InlineData("title: T\nx: time\npanels: [cpu]\ncolor: red")]
    public void What_the_reader_refuses_does_not_fit(string text)
    {
        Assert.Throws<MongoPerf.Texts.Input.UserException>(() => PlotReader.Read(new PlotFile("my", "my.yaml", text)));
        Assert.NotEmpty(Wrong("schema.json", text));
    }

    public static TheoryData<string> Files() =>
        [.. Directory.EnumerateFiles(Folder, "*.yaml", SearchOption.AllDirectories)
            .Select(path => Path.GetRelativePath(Folder, path)).Order()];

    private static List<string> Wrong(string schemaFile, string text)
    {
        JsonNode schema = JsonNode.Parse(File.ReadAllText(Path.Combine(Folder, schemaFile)))!;
        var wrong = new List<string>();
        SchemaCheck.Check(schema, schema, ScenarioSchemaTests.ToJson(ScenarioYaml.Read("my.yaml", text)), "", wrong);
        return wrong;
    }
}
