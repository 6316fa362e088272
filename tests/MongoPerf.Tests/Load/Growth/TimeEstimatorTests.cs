using MongoPerf.Load.Growth;
using MongoPerf.Load.Plans;
using MongoPerf.Scenarios;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>How long a plan takes, and how much of that is left.</summary>
public sealed class TimeEstimatorTests
{
    private const string Batches = "grow: c, writes: [{name: batch, batch: 10}]";
    private const string Singles = "grow: c, writes: [{name: single}]";
    private const string ThreeWays =
        "grow: c, writes: [{name: unack, share: 20}, {name: batch, share: 60, batch: 10}, {name: safe, share: 20}]";

    [Fact]
    public void Before_anything_was_written_rates_are_assumed_and_the_range_is_wide()
    {
        Eta batches = new TimeEstimator(Plan($"{{{Batches}, to: 1M, step: 100k}}")).Total;
        Assert.Equal((10.0, 100.0), (Math.Round(batches.LowSeconds, 6), Math.Round(batches.HighSeconds, 6)));
        Assert.Equal(Math.Sqrt(10 * 100), batches.LikelySeconds, 6);
        Eta singles = new TimeEstimator(Plan($"{{{Singles}, to: 1M, step: 100k}}")).Total;
        Assert.Equal((50.0, 500.0), (Math.Round(singles.LowSeconds, 6), Math.Round(singles.HighSeconds, 6)));
    }

    [Fact]
    public void Before_it_begins_all_of_it_is_left()
    {
        var time = new TimeEstimator(
            Plan($"{{{ThreeWays}, to: 1000, step: 100, each: [{{name: ask, duration: 5s, operations: [{{find: c, key: uniform}}]}}]}}"));
        Assert.Equal(time.Total, time.Estimate());
        Assert.True(time.Total.LikelySeconds > 50, "ten windows of 5 s");
    }

    [Fact]
    public void A_constant_rate_gives_the_exact_time()
    {
        TimeEstimator time = Fed(Enumerable.Repeat(20L, 30));
        // 600 of 1,000 are written.
        Assert.Equal(20, time.Estimate().LikelySeconds, 9);
    }

    [Fact]
    public void At_the_end_nothing_is_left()
    {
        TimeEstimator time = Fed([1000]);
        time.End(Record(1));
        Assert.Equal(new Eta(0, 0, 0), time.Estimate());
    }

    [Fact]
    public void A_rate_that_falls_moves_the_estimate_up()
    {
        // The last ten seconds' mean is 31; 2,440 of 10,000 are written.
        TimeEstimator time = Fed(Enumerable.Range(0, 40).Select(i => 100L - (2 * i)), target: 10_000);
        Assert.Equal(7560.0 / 31, time.Estimate().LikelySeconds, 9);
    }

    [Fact]
    public void The_range_holds_the_likely_time_and_both_ends_of_the_last_minute()
    {
        // 1,600 of 2,100 are written.
        TimeEstimator time = Fed(
            [.. Enumerable.Repeat(100L, 10), .. Enumerable.Repeat(10L, 10), .. Enumerable.Repeat(50L, 10)], target: 2100);
        Assert.Equal(new Eta(5, 10, 50), time.Estimate());
    }

    [Fact]
    public void What_is_over_a_minute_old_is_forgotten()
    {
        // 3,010 of 3,510 are written; a fifth to either side is the least range.
        Eta eta = Fed([.. Enumerable.Repeat(1L, 10), .. Enumerable.Repeat(50L, 60)], target: 3510).Estimate();
        Assert.Equal(10, eta.LikelySeconds, 9);
        Assert.Equal(12.5, eta.HighSeconds, 9);
    }

    [Fact]
    public void Each_way_of_writing_has_a_rate_of_its_own()
    {
        var time = new TimeEstimator(Plan($"{{{ThreeWays}, to: 200, step: 100}}"));
        long[] rates = [10, 60, 5];
        for (int number = 1; number <= 3; number++)
        {
            time.Begin(Record(number));
            time.Add(Second(number, rates[number - 1]));
            time.End(Record(number));
        }

        // One step of 100: 20 / 10 + 60 / 60 + 20 / 5.
        Assert.Equal(7, time.Estimate().LikelySeconds, 9);
    }

    [Fact]
    public void Windows_take_their_length_and_what_has_none_takes_as_long_as_the_last_time()
    {
        var time = new TimeEstimator(Plan($"{{{Batches}, to: 200, step: 100, each: [{{name: ask, duration: 5s, operations: [{{find: c, "
            + $"key: uniform}}]}}, {{name: some, count: 9, operations: [{{find: c, key: uniform}}]}}]}}"));
        time.Begin(Record(1));
        time.Add(Second(1, 100));
        time.End(Record(1));
        // The window of this size and the next, and the next one's write.
        Assert.Equal(5 + 5 + 1, time.Estimate().LikelySeconds, 9);
        time.Begin(Record(2));
        time.Add(Second(2, 50));
        time.Add(Second(2, 50));
        Assert.Equal(3 + 5 + 1, time.Estimate().LikelySeconds, 9);
        time.End(Record(2));
        time.Begin(Record(3));
        for (int i = 0; i < 4; i++)
            time.Add(Second(3, 50));
        time.End(Record(3));
        Assert.Equal(1 + 5 + 4, time.Estimate().LikelySeconds, 9);
    }

    [Fact]
    public void Seconds_of_a_mix_are_those_of_its_operations_side_by_side()
    {
        var time = new TimeEstimator(Plan("{name: mix, duration: 20s, operations: [{find: c, key: uniform}]}"));
        time.Begin(Record(1));
        for (int second = 0; second < 5; second++)
        {
            foreach (string operation in new[] { "find", "update" })
                time.Add(Second(1, 1) with { Operation = operation });
        }

        Assert.Equal(15, time.Estimate().LikelySeconds, 9);
    }

    [Fact]
    public void Loads_phases_and_growths_of_one_plan_are_added()
    {
        const string Text = """
            data: {c: {document: {n: ^number}}, users: {count: 1M, document: {n: ^number}}}
            phases:
              - {load: users}
              - {name: read, pause: 3s, duration: 7s, operations: [{find: users, key: uniform}]}
              - {grow: c, to: 1M, step: 1M}
            """;
        var time = new TimeEstimator(Read(Text));
        Assert.Equal((10 + 10 + 10.0, 100 + 10 + 100.0), (Math.Round(time.Total.LowSeconds, 6), Math.Round(time.Total.HighSeconds, 6)));
        time.Begin(Record(2));
        Assert.Equal((10 + 10.0, 10 + 100.0), (Math.Round(time.Estimate().LowSeconds, 6), Math.Round(time.Estimate().HighSeconds, 6)));
    }

    /// <summary>A run that continues tells which phase it begins with.</summary>
    [Fact]
    public void A_run_that_goes_on_has_left_what_comes_from_there()
    {
        var time = new TimeEstimator(Plan($"{{{Batches}, to: 1000, step: 100}}"));
        time.Begin(Record(6));
        Assert.Equal(time.Total.LikelySeconds / 2, time.Estimate().LikelySeconds, 9);
    }

    private static TimeEstimator Fed(IEnumerable<long> documentsPerSecond, long target = 1000)
    {
        var time = new TimeEstimator(Plan($"{{{Batches}, to: {target}, step: {target}}}"));
        time.Begin(Record(1));
        foreach (long documents in documentsPerSecond)
            time.Add(Second(1, documents));
        return time;
    }

    private static Plan Plan(string growth) => Read($"data: {{c: {{document: {{n: ^number}}}}}}\nphases: [{growth}]\n");

    private static Plan Read(string text) => PlanReader.Read(new ScenarioFile("test", "test.yaml", text), new PlanOverrides(), 42).Plan;

    private static PhaseRecord Record(int number) => RunParts.Phase(number, "any");

    private static Sample Second(int phase, long documents) =>
        RunParts.Sample(1) with { Phase = phase, Seconds = 1, Documents = documents };
}
