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
    public void Before_anything_was_written_only_the_least_is_known()
    {
        Assert.Equal(10, new TimeEstimator(Plan($"{{{Batches}, to: 1M, step: 100k}}")).LeastSeconds, 6);
        Assert.Equal(50, new TimeEstimator(Plan($"{{{Singles}, to: 1M, step: 100k}}")).LeastSeconds, 6);
        var time = new TimeEstimator(Plan($"{{{Batches}, to: 1M, step: 100k}}"));
        Assert.Null(time.Estimate(0));
        time.Begin(Record(1), 0);
        // 10 to 100 s at the rates that are assumed.
        Assert.Null(time.Estimate(0));
    }

    [Fact]
    public void A_constant_rate_gives_the_exact_time()
    {
        // 600 of 1,000 are written.
        Eta eta = Fed(Enumerable.Repeat(20L, 30)).Estimate(30)!.Value;
        Assert.Equal(20, eta.LikelySeconds, 9);
        Assert.InRange(20, eta.LowSeconds, eta.HighSeconds);
    }

    [Fact]
    public void At_the_end_nothing_is_left()
    {
        TimeEstimator time = Fed([1000]);
        time.End(Record(1), 1);
        Assert.Equal(0, time.Estimate(1)!.Value.LikelySeconds);
    }

    [Fact]
    public void A_rate_that_falls_moves_the_estimate_up()
    {
        // The last thirty seconds' mean is 51; 2,440 of 10,000 are written.
        TimeEstimator time = Fed(Enumerable.Range(0, 40).Select(i => 100L - (2 * i)), target: 10_000);
        Assert.Equal(7560.0 / 51, time.Estimate(40)!.Value.LikelySeconds, 9);
    }

    /// <summary>Found as "33 min" where a shard was away for ten seconds of 47.</summary>
    [Fact]
    public void While_nothing_is_written_nobody_knows_what_is_left()
    {
        Assert.NotNull(Fed([.. Enumerable.Repeat(20L, 20), 0, 0]).Estimate(22));
        Assert.Null(Fed([.. Enumerable.Repeat(20L, 20), 0, 0, 0]).Estimate(23));
        Assert.NotNull(Fed([.. Enumerable.Repeat(20L, 20), 0, 0, 0, 20]).Estimate(24));
    }

    [Fact]
    public void Each_way_of_writing_has_a_rate_of_its_own()
    {
        var time = new TimeEstimator(Plan($"{{{ThreeWays}, to: 200, step: 100}}"));
        long[] rates = [10, 60, 5];
        for (int number = 1; number <= 3; number++)
        {
            time.Begin(Record(number), number - 1);
            time.Add(Second(number, rates[number - 1]));
            time.End(Record(number), number);
        }

        // One step of 100: 20 / 10 + 60 / 60 + 20 / 5.
        Assert.Equal(7, time.Estimate(3)!.Value.LikelySeconds, 9);
    }

    [Fact]
    public void Windows_take_their_length_and_what_has_none_takes_as_long_as_the_last_time()
    {
        var time = new TimeEstimator(Plan($"{{{Batches}, to: 200, step: 100, each: [{{name: ask, duration: 5s, operations: [{{find: c, "
            + $"key: uniform}}]}}, {{name: some, count: 9, operations: [{{find: c, key: uniform}}]}}]}}"));
        time.Begin(Record(1), 0);
        time.Add(Second(1, 100));
        time.End(Record(1), 1);
        time.Begin(Record(2), 1);
        time.End(Record(2), 6);
        time.Begin(Record(3), 6);
        time.End(Record(3), 10);
        // The next size's write, its window, and what took 4 s.
        Assert.Equal(1 + 5 + 4, time.Estimate(10)!.Value.LikelySeconds, 9);
        time.Begin(Record(4), 10);
        time.Add(Second(4, 100));
        time.End(Record(4), 11);
        time.Begin(Record(5), 11);
        Assert.Equal(3 + 4, time.Estimate(13)!.Value.LikelySeconds, 9);
    }

    /// <summary>Found as "0.0066 s left" where checks took 19 s.</summary>
    [Fact]
    public void What_never_ran_and_has_no_length_may_take_as_long_as_all_writing()
    {
        var items = new[] { new TimedItem(1, "load", 1000, 0), new TimedItem(2, "measure", 0, 100), new TimedItem(3, "check", 0, 0) };
        var time = new TimeEstimator(items);
        time.Begin(Record(1), 0);
        time.Add(Second(1, 1000) with { Seconds = 30 });
        time.End(Record(1), 30);
        time.Begin(Record(2), 30);
        Assert.True(time.Estimate(30)!.Value.HighSeconds > 130);
        Assert.Null(time.Estimate(128));
        time.End(Record(2), 130);
        time.Begin(Record(3), 130);
        Assert.Null(time.Estimate(131));
    }

    /// <summary>Sizes, checkpoints and connecting have taken a third of the time, and will of the rest.</summary>
    [Fact]
    public void What_comes_between_measured_seconds_takes_its_share_of_the_rest()
    {
        var time = new TimeEstimator(Enumerable.Range(1, 20).Select(number => new TimedItem(number, "ask", 0, 2)));
        for (int number = 1; number <= 10; number++)
        {
            time.Begin(Record(number), 3 * number);
            time.End(Record(number), (3 * number) + 2);
        }

        // 29 s for 20, or 31 for 22 with the seconds that count before any are known.
        Assert.Equal(20 * 31.0 / 22, time.Estimate(32)!.Value.LikelySeconds, 9);
    }

    /// <summary>A run that continues tells which phase it begins with.</summary>
    [Fact]
    public void A_run_that_goes_on_has_left_what_comes_from_there()
    {
        var time = new TimeEstimator(Enumerable.Range(1, 20).Select(number => new TimedItem(number, "ask", 0, 10)));
        time.Begin(Record(11), 100);
        Assert.Equal(100, time.Estimate(100)!.Value.LikelySeconds, 9);
    }

    /// <summary>The range before this one held in 8 %: it was as wide as the rates of a minute, and knew no pauses.</summary>
    [Fact]
    public void The_range_holds_in_four_of_five_moments_of_each_recorded_run()
    {
        int moments = 0, shown = 0;
        string recorded = Path.Combine(RepositoryPaths.Root, "tests/MongoPerf.Tests/Load/Growth/recorded-progress.txt");
        foreach (string run in File.ReadAllText(recorded).Split("\nrun ").Skip(1))
        {
            string[][] lines = [.. run.TrimEnd().Split('\n').Skip(1).Select(line => line.Split(' '))];
            double end = Number(lines[^1][1]);
            (int all, double[] held) = Replay(lines, end);
            moments += all;
            shown += held.Length;
            double share = held.DefaultIfEmpty(1).Average();
            Assert.True(share >= 0.8, $"{run[..run.IndexOf('\n', StringComparison.Ordinal)]}: {share:P0} of {held.Length}");
        }

        Assert.InRange(shown, 0.5 * moments, moments);
    }

    /// <returns>How many moments there were, and of those that showed a range whether it held: 1 or 0.</returns>
    private static (int Moments, double[] Held) Replay(string[][] lines, double end)
    {
        var time = new TimeEstimator(lines.Where(line => line[0] == "item").Select(line =>
            new TimedItem((int)Number(line[1]), string.Join(' ', line[5..]), (long)Number(line[2]), Number(line[3]))
            {
                IsBatch = line[4] == "b", IsQuick = line[4] == "q",
            }));
        int moments = 0;
        List<double> held = [];
        foreach (string[] line in lines)
        {
            double at = Number(line[^1]);
            if (line[0] == "b")
                time.Begin(Record((int)Number(line[1])), at);
            else if (line[0] == "e")
                time.End(Record((int)Number(line[1])), at);
            if (line[0] != "s")
                continue;
            time.Add(Second((int)Number(line[1]), (long)Number(line[3])) with { Seconds = Number(line[2]) });
            if (end - at < 1)
                continue;
            moments++;
            if (time.Estimate(at) is { } eta)
                held.Add(eta.LowSeconds <= end - at && end - at <= eta.HighSeconds ? 1 : 0);
        }

        return (moments, [.. held]);
    }

    private static double Number(string text) =>
        double.TryParse(text, System.Globalization.CultureInfo.InvariantCulture, out double number) ? number : 0;

    private static TimeEstimator Fed(IEnumerable<long> documentsPerSecond, long target = 1000)
    {
        var time = new TimeEstimator(Plan($"{{{Batches}, to: {target}, step: {target}}}"));
        time.Begin(Record(1), 0);
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
