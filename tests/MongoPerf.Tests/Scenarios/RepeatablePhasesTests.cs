using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Which phases a search for the highest rate repeats on the data that its first try loaded.</summary>
public sealed class RepeatablePhasesTests
{
    [Theory]
    [InlineData("a", "a")]
    [InlineData("b", "b")]
    [InlineData("c", "c")]
    [InlineData("d", null)]
    [InlineData("e", null)]
    [InlineData("f", "f")]
    public void Reads_and_updates_of_YCSB_find_the_data_as_they_were_and_inserts_do_not(string workload, string? phase) =>
        Assert.Equal(phase is null ? [] : [phase], RepeatablePhases.Of(PlanReader.Read(
            ScenarioFile.Find(Path.Combine(RepositoryPaths.Root, "scenarios", "ycsb", workload + ".yaml")), new PlanOverrides(), 42).Plan));

    [Theory]
    [InlineData("q4", 100L, "q4")]
    [InlineData("q4", null, null)]
    [InlineData("safe", 100L, null)]
    public void A_query_of_the_series_is_repeated_on_what_was_loaded_for_it(string phase, long? records, string? repeated)
    {
        var overrides = new PlanOverrides { Phases = [phase], IsAlone = true, Records = records, Duration = 1 };
        Assert.Equal(repeated is null ? [] : [repeated], RepeatablePhases.Of(
            PlanReader.Read(ScenarioFile.Find(Path.Combine(RepositoryPaths.Root, "scenarios", "series.yaml")), overrides, 42).Plan));
    }

    [Theory]
    [InlineData("{find: users, filter: {n: ^n}, limit: 1}", true)]
    [InlineData("{count: users, filter: {n: 1}}", true)]
    [InlineData("{update: users, key: uniform, filter: {_id: ^key}, with: {$set: {name: x}, $inc: {n: 1}}}", true)]
    [InlineData("{replace: users, key: uniform, filter: {_id: ^key}, with: {name: x}}", true)]
    [InlineData("{update: users, key: uniform, filter: {_id: ^key}, with: {$push: {list: 1}}}", false)]
    [InlineData("{update: users, key: uniform, filter: {_id: ^key}, with: {$set: {name: x}}, upsert: true}", false)]
    [InlineData("{update: users, filter: {_id: ^key, name: {^field: name}}, with: {$inc: {n: 1}}}", true)]
    [InlineData("{update: users, filter: {_id: ^key, name: {^field: name}}, with: {$set: {name: y}}}", false)]
    [InlineData("{update: users, filter: {name: x}, with: {$set: {name: y}}}", false)]
    [InlineData("{delete: users, key: uniform, filter: {_id: ^key}}", false)]
    [InlineData("{insert: users}", false)]
    [InlineData("{findAndModify: users, key: uniform, filter: {_id: ^key}, with: {$set: {name: x}}}", true)]
    [InlineData("{findAndModify: users, key: uniform, filter: {_id: ^key}, remove: true}", false)]
    [InlineData("{dropIndexes: users, index: n_1}", false)]
    public void What_adds_removes_or_grows_documents_or_chooses_them_by_what_it_changes_needs_new_data(string operation, bool isRepeatable)
    {
        string text = $"{ScenarioTexts.Data}phases:\n  - load: users\n  - name: work\n    rate: 100\n    duration: 1s\n"
            + $"    operations: [{operation.Replace("^n}", "{^int: [0, 9]}}", StringComparison.Ordinal)}]\n";
        Assert.Equal(isRepeatable ? ["work"] : [], RepeatablePhases.Of(ScenarioTexts.Plan(text)));
    }

    [Fact]
    public void Reads_that_are_checked_need_new_data_when_a_later_phase_changes_what_they_read()
    {
        const string Read = "  - {name: read, duration: 1s, operations: [{find: users, key: uniform, filter: {_id: ^key}, limit: 1}]}\n";
        const string Update =
            "  - {name: update, duration: 1s, operations: [{update: users, key: uniform, filter: {_id: ^key}, with: {$set: {name: x}}}]}\n";
        string load = $"{ScenarioTexts.Data}phases:\n  - load: users\n";
        Assert.Equal([], RepeatablePhases.Of(ScenarioTexts.Plan(load + Read + Update)));
        Assert.Equal(["update", "read"], RepeatablePhases.Of(ScenarioTexts.Plan(load + Update + Read)));
    }

    [Fact]
    public void Figures_may_name_phases_that_a_try_leaves_out()
    {
        const string Read = "  - {name: read, duration: 1s, operations: [{find: users, key: uniform, filter: {_id: ^key}, limit: 1}]}\n";
        const string Figures = "figures:\n  - {title: Rates, x: threads, y: rate, phases: [read, load users]}\n";
        ReadPlan read = ScenarioTexts.Read($"{ScenarioTexts.Data}phases:\n  - load: users\n{Read}{Figures}",
            new PlanOverrides { Phases = ["read"] });
        Assert.Equal("read", Assert.Single(Assert.Single(read.Plan.Rounds).Phases).Name);
        Assert.Single(read.Figures);
    }

    [Fact]
    public void Data_that_depend_on_a_parameter_or_are_loaded_in_between_are_loaded_by_each_try()
    {
        const string Read = "  - {name: read, duration: 1s, operations: [{find: users, key: uniform, filter: {_id: ^key}, limit: 1}]}\n";
        string between = $"{ScenarioTexts.Data.TrimEnd()}\n  others: {{count: 5, document: {{n: 1}}}}\nphases:\n"
            + $"  - load: users\n{Read}  - load: others\n";
        Assert.Equal([], RepeatablePhases.Of(ScenarioTexts.Plan(between)));
        string swept = "parameters:\n  n: [10, 20]\n"
            + $"{ScenarioTexts.Data.Replace("1000", "$(n)", StringComparison.Ordinal)}phases:\n  - load: users\n{Read}";
        Assert.Equal([], RepeatablePhases.Of(ScenarioTexts.Plan(swept)));
    }
}
