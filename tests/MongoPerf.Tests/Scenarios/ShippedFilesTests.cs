using MongoPerf.Engine.Plans;
using MongoPerf.Engine.Runs;
using MongoPerf.Scenarios;

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
        var scenario = new ScenarioFile(Path.ChangeExtension(file, null), path, File.ReadAllText(path));
        ReadPlan read = PlanReader.Read(scenario, new PlanOverrides(), 42);
        Assert.NotEmpty(read.Plan.Description);
        foreach (ScenarioDeployment? deployment in (ScenarioDeployment?[])[null, .. read.Deployments])
            Assert.All(PlanReader.Read(scenario, new PlanOverrides(), 42, deployment).Plan.Rounds, round => Assert.NotEmpty(round.Phases));
    }

    [Fact]
    public void The_series_grows_to_a_million_documents_by_three_ways_of_writing_with_five_phases_at_each_size()
    {
        GrowthPlan growth = PlanReader.Read(ScenarioFile.Find(Path.Combine(Folder, "series.yaml")), new PlanOverrides(), 42).Plan.Rounds.Single().Phases.Single().Growth!;
        Assert.Equal(1_000_000, growth.Target);
        Assert.Equal(10, growth.Sizes.Count);
        Assert.Equal([("unack", 20.0), ("batch", 60), ("safe", 20)], growth.Writes.Select(write => (write.Name, write.Share)));
        Assert.Equal(["q4", "q5", "q6", "q7", "size"], growth.Each.Select(phase => phase.Name));
    }
}
