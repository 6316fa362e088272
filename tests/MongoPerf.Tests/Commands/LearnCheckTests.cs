using MongoPerf.Commands;
using MongoPerf.Learning.Sampling;
using MongoPerf.Learning.Writing;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;
using MongoPerf.Tests.Scenarios;
using MongoPerf.Tests.Support;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Commands;

/// <summary>A run is judged by times and sizes only if it had as many documents as the file says.</summary>
[Collection(ConsoleTests.Name)]
public sealed class LearnCheckTests
{
    private const string Deviates = "1 of 2 judged figures deviate too much", IsClose = "all 1 judged figures are close enough";

    [Theory]
    [InlineData(1, null, ExitCode.AssertionFailed, Deviates, "")]
    [InlineData(0.1, null, ExitCode.Done, IsClose, "had --scale 0.1, so the p99 of its operations and the sizes")]
    [InlineData(1, 20L, ExitCode.Done, IsClose, "had --records 20, so the p99 of its operations and the sizes")]
    [InlineData(0.1, 20L, ExitCode.Done, IsClose, "had --scale 0.1 and --records 20, so")]
    [InlineData(1, 10L, ExitCode.AssertionFailed, Deviates, "")]
    public void Sizes_of_a_run_with_another_number_of_documents_are_told_and_not_judged(
        double scale, long? records, ExitCode code, string says, string warns)
    {
        const string Text = "data: {orders: {count: 10, document: {n: ^number}}}\nphases: [{load: orders}]\n";
        using var folder = new TemporaryFolder();
        RunSettings settings = RunParts.Settings();
        using (var store = RunStore.Create(folder.At("run"), RunParts.Run(),
            settings with
            {
                Plan = settings.Plan with { Text = Text, Overrides = new PlanOverrides { Scale = scale, Records = records } },
            }))
            store.EndPhase(RunParts.Phase(1, "size") with
            {
                Kind = PhaseKind.Sizes, Sizes = [Sizes(2_000_000) with { Collection = "orders" }],
            });
        Plan plan = ScenarioTexts.Plan(Text);
        var sample = new DatabaseSample(
            "shop", [new CollectionSample("orders", 10, [], true) { Sizes = Sizes(20_000_000) }], new SamplingCost(0, 0, 0, 0), "", "", []);
        (int ended, string said, string complained) = InProcess.Run(() => (int)LearnCheck.Run(
            plan, sample, new WrittenNames(null), new SamplingBudget(), StoredRun.Open(folder.At("run")), seen: null));
        Assert.Equal((int)code, ended);
        Assert.Contains(says, said, StringComparison.Ordinal);
        Assert.Equal(warns.Length > 0, complained.Length > 0);
        Assert.Contains(warns, complained, StringComparison.Ordinal);
    }

    /// <summary>A file may load all that was there, or leave out what its phases insert and don't remove.</summary>
    [Theory]
    [InlineData(1000, 400, 0, IsClose)]
    [InlineData(1000, 400, 400, IsClose)]
    [InlineData(600, 400, 0, IsClose)]
    [InlineData(700, 600, 300, IsClose)]
    [InlineData(500, 400, 0, "1 of 1 judged figures deviate")]
    public void Documents_are_those_that_are_loaded_or_there_in_the_end(int loaded, int inserted, int removed, string says)
    {
        Plan plan = ScenarioTexts.Plan($$"""
            data:
              orders: {count: {{loaded}}, document: {n: ^number} }
            phases:
              - {count: {{inserted}}, operations: [{insert: orders}]}
              - {count: {{Math.Max(1, removed)}}, operations: [{delete: orders, key: uniform}]}
            """);
        var sample = new DatabaseSample(
            "shop", [new CollectionSample("orders", 1000, [], true)], new SamplingCost(0, 0, 0, 0), "", "", []);
        (_, string said, _) = InProcess.Run(() => (int)LearnCheck.Run(
            plan, sample, new WrittenNames(null), new SamplingBudget(), run: null, seen: null));
        Assert.Contains(says, said, StringComparison.Ordinal);
    }

    [Fact]
    public void A_file_with_names_of_its_own_is_refused()
    {
        Plan plan = ScenarioTexts.Plan("data: {evmnju: {count: 10, document: {n: ^number}}}\nphases: [{load: evmnju}]\n");
        var sample = new DatabaseSample(
            "shop", [new CollectionSample("orders", 10, [], true)], new SamplingCost(0, 0, 0, 0), "", "", []);
        UserException refused = Assert.Throws<UserException>(
            () => LearnCheck.Run(plan, sample, new WrittenNames(null), new SamplingBudget(), run: null, seen: null));
        Assert.Equal("shop has none of the scenario's collections", refused.Message);
        Assert.Contains("--hash-names=KEY", refused.Hint, StringComparison.Ordinal);
    }

    [Fact]
    public void Writes_that_a_bulk_repeats_are_counted() => Assert.Equal(50 * 7, ScenarioTexts.Plan("""
        data: {orders: {count: 10, document: {n: ^number}}}
        phases: [{count: 50, operations: [{name: bulk, bulkWrite: [{insert: orders, times: 7}]}]}]
        """).Phases.Last().Groups.Single().ExpectedInserts("orders"));

    private static SizeResult Sizes(long bytes) => new()
    {
        Documents = 10, DataBytes = 0, StorageBytes = 0, IndexBytes = bytes, Indexes = new Dictionary<string, long> { ["n_1"] = bytes },
    };
}
