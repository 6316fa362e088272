using MongoPerf.Reports.Comparison;
using MongoPerf.Running.Sessions;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Reports.Comparison;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Scenarios;

/// <summary>An option that repeats what the file says changes nothing, and makes two runs no different.</summary>
public sealed class EffectiveOverridesTests : IDisposable
{
    private const string Text = ScenarioTexts.Data + """
        parameters: {limit: [1, 10], small: true}
        phases:
          - {name: p, threads: 8, duration: 4s, rate: 500, operations: [{find: users, filter: {}, limit: $(limit), projection: {^if: {is: $(small), then: {n: 1}}}}]}
          - {name: g, grow: more, to: 1k, step: 100}
        """;

    private static readonly string File = Text.Replace(
        "parameters:", "  more: {document: {n: ^number}}\nparameters:", StringComparison.Ordinal);

    private readonly TemporaryFolder _runs = new();

    [Fact]
    public void What_the_file_says_itself_is_left_out() => Assert.Equal(
        Json(new PlanOverrides()),
        Json(Effective(new PlanOverrides
        {
            Threads = [8], Duration = 4, Warmup = 1, Rates = [500], Records = 1000, Target = 1000, Step = 100,
            Parameters = new Dictionary<string, string> { ["limit"] = "1,10", ["small"] = "true" },
        })));

    [Fact]
    public void What_is_different_stays()
    {
        var different = new PlanOverrides
        {
            Threads = [4], Duration = 5, Warmup = 2, Rates = [400], Records = 100, Target = 2000, Step = 50, Scale = 0.5,
            Parameters = new Dictionary<string, string> { ["limit"] = "1", ["small"] = "false" },
        };
        Assert.Equal(Json(different), Json(Effective(different)));
    }

    [Fact]
    public void Only_what_changes_something_is_compared()
    {
        StoredRun[] runs = [.. ((PlanOverrides[])[new(), new() { Duration = 4 }, new() { Duration = 5 }])
            .Select((given, i) => Stored($"run-{i}", given))];
        foreach (StoredRun run in runs)
            run.Overrides = StoredPlan.EffectiveOverrides(run);
        Assert.DoesNotContain(SetupCheck.Find(runs[..2]), difference => difference.IsUnlike);
        Assert.Equal("duration: as in the file → 5 s",
            Assert.Single(SetupCheck.Find([runs[0], runs[2]]), difference => difference.IsUnlike).ToString());
    }

    public void Dispose() => _runs.Dispose();

    private StoredRun Stored(string id, PlanOverrides given) =>
        StoredRun.Open(new NoisyRun
        {
            Id = id, Sizes = 1, Change = settings => settings with { Plan = settings.Plan with { Text = File, Overrides = given } },
        }.Write(_runs.Path));

    private static PlanOverrides Effective(PlanOverrides overrides) =>
        EffectiveOverrides.Of(overrides, others => ScenarioTexts.Read(File, others));

    private static string Json(PlanOverrides overrides) => System.Text.Json.JsonSerializer.Serialize(overrides);
}
