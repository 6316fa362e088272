using MongoPerf.Scenarios;
using MongoPerf.Texts.Yaml;

namespace MongoPerf.Tests.Scenarios;

public sealed class ScenarioDocsTests
{
    private static string Docs => File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "scenarios.md"));

    private const string KeysHeading = "## Every key of every operation\n";

    /// <summary>First what names an operation, then keys, each once for those of the same meaning.</summary>
    private static string KeyTable()
    {
        IReadOnlyList<KeySet> operations = ScenarioLanguage.Operations;
        var lines = new List<string> { "| key | of | meaning |", "| --- | --- | --- |" };
        lines.AddRange(operations.Select(of => $"| `{of.Name}` | | {of.Description} |"));
        var keys = operations.SelectMany(of => of.Keys.Where(key => key.Name != of.Name).Select(key => (Of: of.Name, Key: key)))
            .GroupBy(one => (one.Key.Name, one.Key.Description));
        lines.AddRange(keys.Select(same => $"| `{same.Key.Name}` | {Names([.. same.Select(one => one.Of)])} | {same.Key.Description} |"));
        lines.AddRange(ScenarioLanguage.BulkWrites.SelectMany(of => of.Keys).Where(key => key.Name == "times").Take(1)
            .Select(key => $"| `{key.Name}` | each write of a `bulkWrite` | {key.Description} |"));
        Key[] ofSteps = [.. ScenarioLanguage.Steps.SelectMany(of => of.Keys.Except(operations.First(o => o.Name == of.Name).Keys))
            .DistinctBy(key => key.Name), .. ScenarioLanguage.SilentSteps.Select(of => of.Keys[0])];
        lines.AddRange(ofSteps.Select(key => $"| `{key.Name}` | "
            + $"{(key.Name == "with" ? "an `insert` or `insertMany` among `steps`" : "each of the `steps`")} | {key.Description} |"));
        return string.Join('\n', lines);

        string Names(string[] of) => of.Length == operations.Count ? "every operation"
            : of.Length > operations.Count / 2
                ? $"all but {string.Join(", ", operations.Select(o => o.Name).Except(of).Select(name => $"`{name}`"))}"
            : string.Join(", ", of.Select(name => $"`{name}`"));
    }

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
    public void The_example_on_existing_data_is_a_scenario()
    {
        string docs = File.ReadAllText(Path.Combine(RepositoryPaths.Root, "docs", "workload.md"));
        string[] examples = [.. docs.Split("```yaml\n").Skip(1).Select(after => after.Split("```")[0])];
        Assert.NotEmpty(examples);
        Assert.All(examples, example => Assert.NotEmpty(ScenarioTexts.Plan(example).Phases));
    }

    /// <summary>The table between its heading and the next empty line; UPDATE_APPROVED=1 writes it.</summary>
    [Fact]
    public void Every_key_of_every_operation_is_in_one_table()
    {
        string path = Path.Combine(RepositoryPaths.Root, "docs", "scenarios.md");
        string[] parts = Docs.Split(KeysHeading);
        Assert.Equal(2, parts.Length);
        int end = parts[1].IndexOf("\n\n", StringComparison.Ordinal);
        if (Environment.GetEnvironmentVariable("UPDATE_APPROVED") == "1")
            File.WriteAllText(path, parts[0] + KeysHeading + KeyTable() + parts[1][end..]);
        Assert.Equal(KeyTable(), Docs.Split(KeysHeading)[1].Split("\n\n")[0]);
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
