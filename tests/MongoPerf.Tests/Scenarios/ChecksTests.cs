using MongoPerf.Load.Plans;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Conditions that the data must meet, as files write them.</summary>
public sealed class ChecksTests
{
    private const string Data = "data:\n  users: {count: 5, document: {n: ^number}}\n";
    private const string Two = "checks:\n  - {name: a, aggregate: users, pipeline: [{$match: {n: 7}}]}\n"
        + "  - {name: b, aggregate: users, pipeline: [{$match: {n: 8}}], allowDiskUse: true}\n";

    [Fact]
    public void All_checks_are_looked_at_when_the_last_phase_is_over()
    {
        Phase[] phases = [.. ScenarioTexts.Plan($"{Data}{Two}phases:\n  - {{load: users}}\n  - {{checks: b, pause: 1s}}\n").Phases];
        Assert.Equal(["load users", "checks 2", "checks"], phases.Select(phase => phase.Name));
        Assert.Equal(["", "b", "a b"], phases.Select(phase => string.Join(' ', phase.Conditions.Select(condition => condition.Name))));
        Assert.Equal([false, true], phases[2].Conditions.Select(condition => condition.AllowDiskUse));
    }

    [Fact]
    public void Where_the_last_phase_looks_at_all_there_is_no_other() =>
        Assert.Equal(["load users", "end"],
            ScenarioTexts.Plan($"{Data}{Two}phases:\n  - {{load: users}}\n  - {{name: end, checks: all, restart: kill}}\n")
                .Phases.Select(phase => phase.Name));

    [Fact]
    public void A_check_that_is_named_twice_stands_for_no_other() =>
        Assert.Equal(["load users", "end", "checks"],
            ScenarioTexts.Plan($"{Data}{Two}phases:\n  - {{load: users}}\n  - {{name: end, checks: [b, b]}}\n")
                .Phases.Select(phase => phase.Name));

    [Fact]
    public void Parameters_are_put_in() => Assert.Equal("aggregate 9", string.Join(' ', ScenarioTexts.Plan(
        $"parameters: {{limit: 9}}\n{Data}checks: [{{name: a, aggregate: users, pipeline: [{{$match: {{n: $(limit)}}}}]}}]\n"
        + "phases: [{load: users}]\n").Phases.Last().Conditions.Select(condition => condition.ToCommand().ToDocument(new(0, 0)))
            .Select(command => $"{command.First().Key} {command.FindInt64("pipeline.0.$match.n")}")));

    [Theory]
    [InlineData("checks: {name: a}", "", "checks is a mapping; expected a list of checks", "")]
    [InlineData("checks: [{aggregate: users, pipeline: []}]", "", "check: 'name' is missing", "such as name: every order has its lines")]
    [InlineData("checks: [{name: a, aggregate: user, pipeline: []}]", "", "check 'a': no collection 'user' in data; allowed: users",
        "did you mean 'users'?")]
    [InlineData("checks: [{name: a, aggregate: users}]", "", "check: 'pipeline' is missing",
        "such as pipeline: [{$match: {total: {$lt: 0}}}]")]
    [InlineData("checks: [{name: a, aggregate: users, pipeline: [{$mach: {n: 7}}]}]", "", "$mach", "did you mean '$match'?")]
    [InlineData("checks: [{name: a, aggregate: users, pipeline: [{$out: other}]}]", "",
        "check 'a': a check only reads, so $out and $merge are not allowed", "")]
    [InlineData("checks: [{name: a, aggregate: users, pipeline: [{$match: {n: {^int: [1, 2]}}}]}]", "",
        "check 'a': generated values are not allowed: it must mean the same each time", "")]
    [InlineData("checks: [{name: a, aggregate: users, pipeline: []}, {name: a, aggregate: users, pipeline: []}]", "",
        "check: two checks are called 'a'", "give it another name")]
    [InlineData("checks: [{name: abc, aggregate: users, pipeline: []}]", "  - {checks: [abd]}\n",
        "phase 'checks 2': checks: no check 'abd'; allowed: abc", "did you mean 'abc'?")]
    [InlineData("maxErrors: 0", "  - {checks: all}\n", "phase 'checks 2': checks: the file has none",
        "add checks: [{name: …, aggregate: …, pipeline: […]}]")]
    [InlineData("checks: [{name: abc, aggregate: users, pipeline: []}]", "  - {checks: all, threads: 4}\n",
        "phase 'checks 2': threads is not allowed in a phase that looks at checks", "")]
    public void A_mistake_is_named_with_what_is_allowed(string checks, string phase, string message, string hint)
    {
        (string found, string help) = ScenarioTexts.Refusal($"{Data}{checks}\nphases:\n  - {{load: users}}\n{phase}");
        Assert.Contains(message, found, StringComparison.Ordinal);
        if (hint.Length > 0)
            Assert.Equal(hint, help);
    }
}
