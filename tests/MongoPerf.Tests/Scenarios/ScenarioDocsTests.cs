using MongoPerf.Scenarios;

namespace MongoPerf.Tests.Scenarios;

public sealed class ScenarioDocsTests
{
    private static string Docs => File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "scenarios.md"));

    private static string[] Examples => Directory.GetFiles(Path.Combine(RepositoryPaths.Root, "scenarios", "examples"), "*.yaml");

    /// <summary>The end-to-end tests run the files; here the text must be theirs.</summary>
    [Fact]
    public void Each_example_stands_in_the_documentation_word_for_word()
    {
        // start.yaml is what 'new' writes; it explains itself.
        Assert.All(Examples.Where(path => Path.GetFileName(path) != "start.yaml"),
            path => Assert.Contains($"```yaml\n{File.ReadAllText(path)}```", Docs, StringComparison.Ordinal));
        Assert.Equal(Examples.Length - 1, Docs.Split("```yaml").Length - 1);
    }

    [Fact]
    public void Every_operation_and_every_generator_is_in_the_examples()
    {
        string all = string.Concat(Examples.Select(File.ReadAllText)) + Docs;
        Assert.All(ScenarioLanguage.OperationKinds, kind => Assert.Contains(kind, all, StringComparison.Ordinal));
        Assert.All(Generator.All, generator => Assert.Contains(generator.Name, all, StringComparison.Ordinal));
        Assert.All(KeyChoiceReader.Choices, choice => Assert.Contains(choice.Name, Docs, StringComparison.Ordinal));
    }
}
