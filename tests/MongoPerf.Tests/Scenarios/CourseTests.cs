using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Texts.Input;

namespace MongoPerf.Tests.Scenarios;

/// <summary>Rates, threads and times to think, as files say them.</summary>
public sealed class CourseTests
{
    [Fact]
    public void A_rate_may_be_steady_at_random_or_change_over_time()
    {
        Assert.Equal((RatePlan)500, Read("rate: 500").Rate, Same);
        Assert.Equal(new RatePlan([new RatePiece(500, 500, 0)], IsPoisson: true), Read("rate: 500, arrivals: poisson").Rate, Same);
        Assert.Equal(
            new RatePlan([new RatePiece(200, 200, 10), new RatePiece(200, 1000, 30), new RatePiece(50, 50, 0)]),
            Read("rate: [{at: 200, for: 10s}, {to: 1000, for: 30s}, {at: 50}]").Rate, Same);
    }

    [Fact]
    public void Threads_may_change_over_time_and_the_group_has_as_many_as_it_needs_at_most()
    {
        PhaseGroup group = Read("threads: [{at: 2, for: 4s}, {to: 4, for: 2s}, {at: 1}]");
        Assert.Equal(4, group.Threads);
        Assert.Equal([new(0, 2), new(5, 3), new(6, 4), new(6, 1)], group.ThreadSteps);
    }

    [Fact]
    public void Threads_think_for_a_time_or_for_drawn_ones()
    {
        Assert.Equal(new ThinkTime(0.01, 0), Read("think: 10ms").Think);
        Assert.Equal(new ThinkTime(0, 2), Read("think: {mean: 2s}").Think);
    }

    [Fact]
    public void A_list_of_rates_gives_a_result_for_each()
    {
        Phase[] phases = [.. ScenarioTexts.Read(Text("threads: [1, 2], rate: [100, 200]")).Plan.Phases.Skip(1)];
        Assert.Equal([(1, 100.0), (1, 200.0), (2, 100.0), (2, 200.0)],
            phases.Select(phase => (phase.Groups[0].Threads, phase.Groups[0].Rate!.Highest)));
        Assert.Equal(["threads=1 rate=100", "threads=1 rate=200", "threads=2 rate=100", "threads=2 rate=200"],
            phases.Select(phase => string.Join(' ', phase.Parameters.Select(p => $"{p.Key}={p.Value}"))));
    }

    [Theory]
    [InlineData("think: 10ms, rate: 5", "think is not allowed with a rate")]
    [InlineData("arrivals: poisson", "arrivals is not allowed without a rate")]
    [InlineData("think: 0", "think is 0")]
    [InlineData("rate: [{at: 5}, {at: 6}]", "a piece has no 'for'")]
    [InlineData("rate: [{to: 5, for: 1s}]", "the first piece has no 'from'")]
    [InlineData("rate: [{at: 5, to: 6, for: 1s}]", "a piece has either at, or from and to")]
    [InlineData("rate: [{at: 0, for: 1s}]", "'0' is not a number from 1E-06")]
    [InlineData("threads: [{at: 0}]", "threads is 0 throughout")]
    [InlineData("rate: 5, arrivals: poison", "arrivals is 'poison'; allowed: constant, poisson")]
    public void What_makes_no_sense_is_refused_where_it_stands(string keys, string message) =>
        Assert.Contains(message, Assert.Throws<UserException>(() => Read(keys)).Message);

    [Theory]
    [InlineData("100", 100, 10_000, true)]
    [InlineData("100", 101, 10_000, false)]
    [InlineData("1%", 100, 10_000, true)]
    [InlineData("1%", 101, 10_000, false)]
    [InlineData("0", 0, 0, true)]
    public void Skipped_arrivals_are_allowed_by_number_or_by_share(string text, long skipped, long due, bool allowed) =>
        Assert.Equal(allowed, SkipLimits.Parse(text).Allows(new Accounting(due, due - skipped, 0, skipped)));

    [Theory]
    [InlineData("101%")]
    [InlineData("x%")]
    [InlineData("-1")]
    [InlineData("NaN%")]
    public void Other_limits_are_refused(string text) => Assert.Throws<FormatException>(() => SkipLimits.Parse(text));

    private static bool Same(RatePlan? a, RatePlan? b) => a!.IsPoisson == b!.IsPoisson && a.Pieces.SequenceEqual(b.Pieces);

    private static PhaseGroup Read(string keys) => ScenarioTexts.Read(Text(keys)).Plan.Phases.Last().Groups.Single();

    private static string Text(string keys) =>
        ScenarioTexts.Data + $"phases: [{{name: p, duration: 60s, {keys}, operations: [{{find: users, key: uniform}}]}}]\n";
}
