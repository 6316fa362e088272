using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Every scenario that comes with the program is one that it runs.</summary>
public sealed class ShippedFilesTests
{
    private static string Folder => Path.Combine(RepositoryPaths.Root, "scenarios");

    [Theory]
    [MemberData(nameof(ScenarioSchemaTests.Files), MemberType = typeof(ScenarioSchemaTests))]
    public void Shipped_scenario_is_valid_on_each_of_its_deployments(string file)
    {
        string path = Path.Combine(Folder, file);
        var scenario = ScenarioFile.Find(path);
        ReadPlan read = PlanReader.Read(scenario, new PlanOverrides(), 42);
        Assert.NotEmpty(read.Plan.Description);
        foreach (ScenarioDeployment? deployment in (ScenarioDeployment?[])[null, .. read.Deployments])
            Assert.All(PlanReader.Read(scenario, new PlanOverrides(), 42, deployment).Plan.Rounds, round => Assert.NotEmpty(round.Phases));
    }

    /// <summary>The language has no way to take another file's phases; only the shard key is the original's own.</summary>
    [Fact]
    public void The_original_has_the_data_and_the_phases_of_the_series()
    {
        Assert.Equal(
            DataAndPhases("series"), DataAndPhases("original").Replace("    shardKey: {_id: $(shardkey)}\n", "", StringComparison.Ordinal));

        static string DataAndPhases(string name)
        {
            string text = File.ReadAllText(Path.Combine(Folder, name + ".yaml"));
            return text[text.IndexOf("\ndata:\n", StringComparison.Ordinal)..].Split("\nfigures:")[0];
        }
    }

    [Fact]
    public void The_original_gives_its_shards_no_more_memory_and_cache_than_one_server_has_and_runs_once_without_a_limit()
    {
        IReadOnlyList<ScenarioDeployment> read =
            PlanReader.Read(ScenarioFile.Find(Path.Combine(Folder, "original.yaml")), new PlanOverrides(), 42).Deployments;
        Assert.Equal(["single", "shards", "control"], read.Select(d => d.Settings.Name));
        (DeploymentSettings single, DeploymentSettings shards, DeploymentSettings control) =
            (read[0].Settings, read[1].Settings, read[2].Settings);
        Assert.Equal(
            (single.MemoryLimitBytes, single.CacheBytes), (shards.MemoryLimitBytes * shards.Shards, shards.CacheBytes * shards.Shards));
        Assert.Equal((Topology.Standalone, 0, null), (control.Topology, control.MemoryLimitBytes, control.CacheBytes));
    }

    [Fact]
    public void The_series_grows_to_a_million_documents_by_three_ways_of_writing_with_five_phases_at_each_size()
    {
        GrowthPlan growth = PlanReader.Read(ScenarioFile.Find(Path.Combine(Folder, "series.yaml")), new PlanOverrides(), 42).Plan.Rounds
            .Single().Phases.Single().Growth!;
        Assert.Equal(1_000_000, growth.Target);
        Assert.Equal(10, growth.Sizes.Count);
        Assert.Equal([("unack", 20.0), ("batch", 60), ("safe", 20)], growth.Writes.Select(write => (write.Name, write.Share)));
        Assert.Equal(["q4", "q5", "q6", "q7", "size"], growth.Each.Select(phase => phase.Name));
    }
}
