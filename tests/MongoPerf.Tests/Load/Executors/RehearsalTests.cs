using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Load.Executors;

/// <summary>What an agent does before a plan, so that nothing is compiled when it begins.</summary>
public sealed class RehearsalTests
{
    [Theory]
    [InlineData("series")]
    [InlineData("news")]
    [InlineData("ycsb/a")]
    [InlineData("ycsb/d")]
    [InlineData("ycsb/e")]
    [InlineData("ycsb/f")]
    [InlineData("examples/mix")]
    [InlineData("examples/open-loop")]
    [InlineData("examples/others")]
    [InlineData("report-2.4.8/q15")]
    public void Each_operation_of_a_plan_is_carried_out_against_nothing(string name)
    {
        Plan plan = PlanReader.Read(ScenarioFile.Find(Path.Combine(RepositoryPaths.Root, "scenarios", name + ".yaml")),
            new PlanOverrides(), 42).Plan;
        IReadOnlyList<GroupResult> results = Rehearsal.Run(SystemClock.Instance, plan);
        Assert.All(results, result => Assert.Null(result.GivenUp));
        OperationCount[] parts = [.. results.SelectMany(result => result.Parts)];
        string[] expected = [.. plan.Operations.Select(operation => operation.Name).Distinct()];
        Assert.Equal([], expected.Except(parts.Where(part => part.AllSucceeded > 0).Select(part => part.Operation.Name)));
        Assert.All(parts, part => Assert.Equal(0, part.AllFailed));
    }

    [Fact]
    public void What_needs_another_reply_ends_too()
    {
        Plan plan = PlanReader.Read(ScenarioFile.Find(Path.Combine(RepositoryPaths.Root, "scenarios", "examples/files.yaml")),
            new PlanOverrides(), 42).Plan;
        Assert.NotEmpty(Rehearsal.Run(SystemClock.Instance, plan));
    }
}
