using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Connections as files write them, and what is said of those that can't be.</summary>
public sealed class ConnectionsTests
{
    [Fact]
    public void A_pool_has_connections_and_threads_of_its_own_number()
    {
        PhaseGroup group = Group("threads: 16, connections: {pool: 2}");
        Assert.Equal((16, new ConnectionUse("wait", ConnectionKind.Pool, 2)), (group.Threads, group.Connections));
        Assert.Null(group.Rate);
    }

    [Theory]
    [InlineData("50/s")]
    [InlineData("50 / s")]
    [InlineData("50")]
    public void A_churn_is_a_rate_of_operations_that_each_open_a_connection(string churn)
    {
        PhaseGroup group = Group($"threads: 4, arrivals: poisson, connections: {{churn: {churn}}}");
        Assert.Equal((4, new ConnectionUse("connect", ConnectionKind.Churn, 0)), (group.Threads, group.Connections));
        Assert.Equal((50.0, true), (group.Rate!.Highest, group.Rate.IsPoisson));
    }

    [Fact]
    public void A_storm_has_a_thread_for_each_connection()
    {
        PhaseGroup group = Group("connections: {storm: 2000}, think: 1s");
        Assert.Equal((2000, new ConnectionUse("connect", ConnectionKind.Storm, 2000)), (group.Threads, group.Connections));
    }

    [Fact]
    public void In_one_of_several_groups_they_are_counted_under_its_name_and_can_be_asserted() => Assert.Equal(
        "back wait",
        ScenarioTexts.Plan(ScenarioTexts.Data + "phases:\n  - name: p\n    groups:\n      - {name: back, count: 5, threads: 2, "
            + "connections: {pool: 1}, operations: [{find: users, key: uniform}]}\n      - {name: front, count: 5, "
            + "operations: [{find: users, key: uniform, name: x}]}\n    assert: ['back wait.p99 < 1s', 'x.p99 < 1s']\n")
            .Phases.Last().Groups[0].Connections!.Name);

    [Theory]
    [InlineData("connections: {pool: 2, storm: 5}", "connections has pool and storm; expected one of pool, churn, storm")]
    [InlineData("connections: {}", "connections has nothing; expected one of pool, churn, storm")]
    [InlineData("connections: 20", "connections is '20'; expected a mapping")]
    [InlineData("connections: {pol: 2}", "connections: unknown key 'pol'; allowed: pool, churn, storm")]
    [InlineData("connections: {pool: 0}", "connections: pool is 0; allowed: 1 to 10,000")]
    [InlineData("connections: {churn: 50/m}", "connections: churn is '50/m'; expected connections per second such as 50/s")]
    [InlineData("connections: {churn: 0/s}", "connections: churn is '0/s'; expected connections per second such as 50/s")]
    [InlineData("rate: 10, connections: {churn: 50/s}", "rate is not allowed with connections: {churn: …}, which says it itself")]
    [InlineData("think: 1s, connections: {churn: 50/s}", "think is not allowed with a rate")]
    [InlineData("threads: 3, connections: {storm: 5}", "threads is not allowed with connections: {storm: …}, which says it itself")]
    public void What_can_not_be_is_refused_where_it_stands(string keys, string message) => Assert.Contains(
        message, Assert.Throws<UserException>(() => Group(keys)).Message, StringComparison.Ordinal);

    [Fact]
    public void What_is_not_acknowledged_needs_a_connection_that_stays() => Assert.Contains(
        "operation 'insert' is not acknowledged (w: 0), which is not allowed with connections",
        Assert.Throws<UserException>(() => ScenarioTexts.Plan(ScenarioTexts.Data + "phases: [{name: p, connections: {pool: 1}, "
            + "operations: [{insert: users, writeConcern: {w: 0}}]}]\n")).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("load: users, connections: {pool: 2}", "connections is not allowed in a phase that loads")]
    [InlineData("connections: {pool: 2}, groups: []", "connections is not allowed in a phase that has groups")]
    [InlineData("balancer: on, connections: {pool: 2}", "connections is not allowed in a phase that sets the balancer")]
    [InlineData("operations: [{find: users, key: uniform, name: wait}], connections: {pool: 2}", "two operations are called 'wait'")]
    public void Where_it_means_nothing_it_is_refused(string phase, string message) => Assert.Contains(
        message, Assert.Throws<UserException>(() => ScenarioTexts.Plan(ScenarioTexts.Data + $"phases: [{{name: p, {phase}}}]\n")).Message,
        StringComparison.Ordinal);

    private static PhaseGroup Group(string keys) => ScenarioTexts.Plan(ScenarioTexts.Data
        + $"phases: [{{name: p, {keys}, operations: [{{find: users, key: uniform}}]}}]\n").Phases.Last().Groups[0];
}
