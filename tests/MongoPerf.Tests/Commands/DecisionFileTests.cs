using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Commands;

/// <summary><c>new --decide</c> writes an experiment that runs as it is.</summary>
[Collection(ConsoleTests.Name)]
public sealed class DecisionFileTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void The_example_becomes_an_experiment_on_three_deployments()
    {
        (int code, string output, string errors) = Run();
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains($"mongoperf run {_folder.At("decide.yaml")} --target ", output, StringComparison.Ordinal);
        Assert.Equal(["one server", "two shards with as much in all", "two shards with as much each"], Deployments());
        Assert.Single(File.ReadAllLines(_folder.At("decide.yaml")), "onlyMongoDb: true");
    }

    /// <summary>Only of MongoDB: what stands in for it decides nothing.</summary>
    [Theory]
    [InlineData("null")]
    [InlineData("standalone,null")]
    public void An_experiment_is_refused_before_it_runs_on_anything_but_MongoDB(string topology)
    {
        Run();
        foreach (string scenario in (string[])[_folder.At("decide.yaml"), "single-or-sharded"])
        {
            foreach (string[] more in (string[][])[[], ["--dry-run"]])
            {
                (int code, _, string errors) = InProcess.Run(
                    ["run", scenario, "--topology", topology, "--target", "1k", "--step", "100", "--out", _folder.At("runs"), .. more]);
                Assert.Equal(2, code);
                Assert.Contains("is for MongoDB only (onlyMongoDb: true), and this run would be on the ", errors, StringComparison.Ordinal);
                Assert.Contains("server install 8.0", errors, StringComparison.Ordinal);
                Assert.False(Directory.Exists(_folder.At("runs")) && Directory.EnumerateDirectories(_folder.At("runs")).Any());
            }
        }
    }

    [Fact]
    public void Documents_and_queries_of_a_file_are_kept_and_get_a_shard_key()
    {
        InProcess.Run("new", "--growth", _folder.At("mine.yaml"));
        (int code, _, string errors) = Run("--data", _folder.At("mine.yaml"));
        Assert.Equal((0, ""), (code, errors));
        string text = File.ReadAllText(_folder.At("decide.yaml"));
        Assert.Contains("  orders:\n    shardKey: {_id: hashed}\n    document:\n", text, StringComparison.Ordinal);
        Assert.Contains("- name: newest sent", text, StringComparison.Ordinal);
        Assert.Equal(3, Deployments().Count);
    }

    /// <summary>Ordered ones are cut at every change of shard, and would decide by that.</summary>
    [Theory]
    [InlineData("{name: b, share: 100, batch: 500}", "{name: b, share: 100, batch: 500, ordered: false}")]
    [InlineData("{batch: 500, name: b, share: 100}", "{batch: 500, ordered: false, name: b, share: 100}")]
    [InlineData("batch: 500   # documents", "batch: 500   # documents\n        ordered: false")]
    [InlineData("{name: b, share: 100, batch: 500, ordered: true}", "{name: b, share: 100, batch: 500, ordered: true}")]
    public void Batches_are_unordered_unless_the_file_says_which_are(string written, string becomes)
    {
        InProcess.Run("new", "--growth", _folder.At("mine.yaml"));
        string[] lines = File.ReadAllLines(_folder.At("mine.yaml"));
        Assert.Contains(lines, line => line.Contains("ordered: false", StringComparison.Ordinal));
        string own = written[0] == '{' ? $"      - {written}" : $"      - name: b\n        share: 100\n        {written}";
        string[] others = ["- {name: batches", "- {name: singles", "# Unordered"];
        File.WriteAllText(_folder.At("mine.yaml"), string.Join('\n', lines
            .Where(line => !others.Any(other => line.Contains(other, StringComparison.Ordinal)))
            .Select(line => line.TrimStart().StartsWith("writes:", StringComparison.Ordinal) ? $"    writes:\n{own}" : line)));
        (int code, _, string errors) = Run("--data", _folder.At("mine.yaml"));
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(own.Replace(written, becomes, StringComparison.Ordinal), File.ReadAllText(_folder.At("decide.yaml")),
            StringComparison.Ordinal);
    }

    /// <summary>64 GB for 500M documents are 960 MB for 7.3M.</summary>
    [Fact]
    public void Sizes_are_scaled_so_that_each_document_has_as_much_memory_as_it_will_have()
    {
        string output = Run("--documents", "500M", "--memory", "64GB").Output;
        Assert.Contains("--target 7.4M --step 740k", output, StringComparison.Ordinal);
        Assert.Contains("--documents 500M --memory 65536MB", File.ReadAllText(_folder.At("decide.yaml")), StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_that_grows_nothing_and_options_without_their_partner_are_refused()
    {
        InProcess.Run("new", _folder.At("mine.yaml"));
        (int code, _, string errors) = Run("--data", _folder.At("mine.yaml"));
        Assert.Equal(2, code);
        Assert.Contains("grows no collection", errors, StringComparison.Ordinal);
        Assert.False(File.Exists(_folder.At("decide.yaml")));
        Assert.Contains("--documents and --memory belong together", Run("--documents", "5M").Errors, StringComparison.Ordinal);
        Assert.Contains("--data only applies to --decide",
            InProcess.Run("new", _folder.At("x.yaml"), "--data", "y.yaml").Errors, StringComparison.Ordinal);
    }

    private (int Code, string Output, string Errors) Run(params string[] more) =>
        InProcess.Run(["new", "--decide", "single-or-sharded", _folder.At("decide.yaml"), .. more]);

    private IReadOnlyList<string> Deployments() =>
        [.. PlanReader.Read(ScenarioFile.Find(_folder.At("decide.yaml")), new PlanOverrides(), 42).Deployments
            .Select(deployment => deployment.Settings.Name!)];
}
