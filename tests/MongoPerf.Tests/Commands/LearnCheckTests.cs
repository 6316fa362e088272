using MongoPerf.Commands;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

/// <summary>A run that had a tenth of the documents has indexes of a tenth.</summary>
[Collection(ConsoleTests.Name)]
public sealed class LearnCheckTests
{
    [Theory]
    [InlineData(1, ExitCode.AssertionFailed, "1 of 2 judged figures deviate too much", "")]
    [InlineData(0.1, ExitCode.Done, "all 1 judged figures are close enough", "had --scale 0.1, so the p99 of its operations and the sizes")]
    public void Sizes_of_a_scaled_run_are_told_and_not_judged(double scale, ExitCode code, string says, string warns)
    {
        using var folder = new TemporaryFolder();
        RunSettings settings = RunParts.Settings();
        using (var store = RunStore.Create(folder.At("run"), RunParts.Run(),
            settings with { Plan = settings.Plan with { Overrides = new PlanOverrides { Scale = scale } } }))
            store.EndPhase(RunParts.Phase(1, "size") with
            {
                Kind = PhaseKind.Sizes, Sizes = [Sizes(2_000_000) with { Collection = "orders" }],
            });
        Plan plan = ScenarioTexts.Plan("data: {orders: {count: 10, document: {n: ^number}}}\nphases: [{load: orders}]\n");
        var sample = new DatabaseSample(
            "shop", [new CollectionSample("orders", 10, [], true) { Sizes = Sizes(20_000_000) }], new SamplingCost(0, 0, 0, 0), "", "", []);
        (int ended, string said, string complained) = InProcess.Run(() => (int)LearnCheck.Run(
            plan, sample, new WrittenNames(null), new SamplingBudget(), StoredRun.Open(folder.At("run")), seen: null));
        Assert.Equal((int)code, ended);
        Assert.Contains(says, said, StringComparison.Ordinal);
        Assert.Contains(warns, complained, StringComparison.Ordinal);
    }

    private static SizeResult Sizes(long bytes) => new()
    {
        Documents = 10, DataBytes = 0, StorageBytes = 0, IndexBytes = bytes, Indexes = new Dictionary<string, long> { ["n_1"] = bytes },
    };
}
