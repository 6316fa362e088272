using MongoPerf.Load.Keys;
using MongoPerf.Load.Phases;
using MongoPerf.Measurement;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;

namespace MongoPerf.Tests.Load.Growth;

/// <summary>
/// Which random values a run draws: others for each phase, size, repeat, operation and thread, and the same again for the same seed.
/// </summary>
public sealed class StreamTests
{
    private const string Everything = """
        data:
          users: {count: 1000, document: {n: ^number}}
          orders: {document: {n: ^number}}
        phases:
          - {name: read, count: 4, repeat: 2, threads: [1, 2], operations: [{find: users, key: uniform}]}
          - {name: mix, count: 4, operations: [{find: users, key: uniform}, {find: users, key: uniform, name: other}]}
          - name: groups
            groups:
              - {name: a, count: 2, operations: [{find: users, key: uniform}]}
              - {name: b, count: 2, operations: [{find: users, key: uniform, name: second}]}
          - name: growth
            grow: orders
            sizes: [10, 20]
            beside: [{name: readers, operations: [{find: users, key: uniform}]}]
            each: [{name: read, count: 4, operations: [{find: users, key: uniform}]}]
        """;

    /// <summary>What a seed means is a promise: a change of these values is told in CHANGELOG.md.</summary>
    [Fact]
    public void A_seed_draws_these_values()
    {
        using GrowthHarness plan = Run();
        string[] expected =
        [
            "read threads=1 repeat=1: find by thread 0: 162 327 443",
            "read threads=1 repeat=2: find by thread 0: 970 116 697",
            "read threads=2 repeat=1: find by thread 0: 66 413 47",
            "read threads=2 repeat=1: find by thread 1: 163 424 430",
            "read threads=2 repeat=2: find by thread 0: 474 263 617",
            "read threads=2 repeat=2: find by thread 1: 818 365 996",
            "mix: find by thread 0: 435 234 380",
            "mix: other by thread 0: 359 689 992",
            "groups.a: find by thread 0: 306 36 577",
            "groups.b: second by thread 0: 657 787 313",
            "insert.readers at 10: find by thread 0: 450 164 951",
            "read at 10: read by thread 0: 849 156 468",
            "insert.readers at 20: find by thread 0: 224 715 639",
            "read at 20: read by thread 0: 685 374 729",
        ];
        string[] drawn = Streams(plan);
        Assert.True(expected.SequenceEqual(drawn), string.Join('\n', drawn));
    }

    [Fact]
    public void No_two_operations_draw_from_one_stream()
    {
        using GrowthHarness whole = Run();
        using GrowthHarness repeated = Run(repeat: 2);
        using GrowthHarness part = Run(new PlanShare(1, 3));
        OperationContext[] all = [.. new[] { whole, repeated, part }.SelectMany(Finds)];
        Assert.Equal(3 * 14, all.Length);
        Assert.Equal(all.Length, all.Select(c => (c.Seed, c.Worker)).Distinct().Count());
        Assert.Equal(all.Length, all.Select(c => RandomStream.For(c.Seed, RandomPurpose.Arguments, c.Worker).Next()).Distinct().Count());
    }

    /// <summary>The same keys again would be in the server's cache: the curve over size would be one of replayed reads.</summary>
    [Fact]
    public void Each_size_asks_for_keys_of_its_own()
    {
        const int Reads = 200;
        using var plan = new GrowthHarness
        {
            Text = $"data: {{users: {{count: 100000, document: {{n: ^number}}}}, orders: {{document: {{n: ^number}}}}}}\n"
                + $"phases: [{{name: g, grow: orders, sizes: [1, 2, 3, 4], each: [{{name: read, count: {Reads}, operations: [{{find: "
                + $"users, key: uniform}}]}}]}}]\n",
        };
        Assert.True(plan.Run(_ => Scripted.Ok()));
        long[] keys = [.. plan.Executors.SelectMany(executor => executor.KeysDrawn)];
        Assert.Equal(4 * Reads, keys.Length);
        Assert.Equal(798, keys.Distinct().Count());
    }

    [Theory]
    [InlineData("threads: 4, rate: 100, arrivals: poisson, count: 20")]
    [InlineData("threads: 1, think: {mean: 20ms}, count: 20")]
    public void Each_phase_waits_for_times_of_its_own(string load)
    {
        string phases = string.Concat(new[] { "a", "b" }
            .Select(name => $"  - {{name: {name}, {load}, operations: [{{find: users, key: uniform}}]}}\n"));
        using var plan = new GrowthHarness { Text = $"{GrowthHarness.Users}phases:\n{phases}" };
        Assert.True(plan.Run(_ => Scripted.Ok()));
        double[][] times = [.. plan.Executors.Where(e => e.Group!.Name is "a" or "b")
            .GroupBy(e => e.Group!.Name).Select(group => TimesOf(group))];
        Assert.Equal(2, times.Length);
        Assert.Equal(times[0].Length, times[1].Length);
        // By chance a few of the gaps may be alike.
        Assert.InRange(times[0].Zip(times[1]).Count(pair => Math.Abs(pair.First - pair.Second) < 1e-4), 0, times[0].Length / 2);

        static double[] TimesOf(IEnumerable<ScriptedExecutor> workers)
        {
            double[] starts = [.. workers.SelectMany(worker => worker.StartTimes).Order()];
            return [.. starts.Zip(starts.Skip(1), (one, next) => next - one)];
        }
    }

    [Fact]
    public void A_phase_that_is_measured_again_draws_what_it_would_have_drawn()
    {
        using GrowthHarness whole = Run();
        string[] expected = Streams(whole);
        // How much is read beside the growth depends on how threads take turns: it may be thousands of operations.
        for (int at = 3; at < whole.Operations; at += Math.Max(5, whole.Operations / 12))
        {
            using var plan = new GrowthHarness { Text = Everything };
            using var stop = new CancellationTokenSource();
            plan.Run(
                i =>
                {
                    if (i == at)
                        stop.Cancel();
                    return Scripted.Ok();
                },
                stop.Token);
            Assert.True(plan.Run(_ => Scripted.Ok()), $"stopped at operation {at}");
            Assert.Equal(expected, Streams(plan));
        }
    }

    [Fact]
    public void A_phase_draws_the_same_without_the_others_and_with_more_sizes()
    {
        using GrowthHarness whole = Run();
        using GrowthHarness other = Run(text: Everything.Replace("  - {name: mix, ", "  - {name: mixed, ", StringComparison.Ordinal)
            .Replace("[10, 20]", "[5, 10, 15, 20]", StringComparison.Ordinal));
        Assert.Equal(Streams(whole).Where(line => !line.StartsWith("mix", StringComparison.Ordinal)), Streams(other)
            .Where(line => !line.Contains("5: ", StringComparison.Ordinal) && !line.StartsWith("mix", StringComparison.Ordinal)));
    }

    private static GrowthHarness Run(PlanShare? share = null, int repeat = 1, string text = Everything)
    {
        var plan = new GrowthHarness { Text = text, Share = share ?? PlanShare.Whole, Repeat = repeat };
        Assert.True(plan.Run(_ => Scripted.Ok()));
        return plan;
    }

    private static IEnumerable<OperationContext> Finds(GrowthHarness plan) =>
        plan.Executors.SelectMany(executor => executor.Prepared.Zip(executor.Contexts))
            .Where(prepared => !prepared.First.Inserts).Select(prepared => prepared.Second);

    /// <summary>
    /// Each stream once, as its group, its size, its operation and thread, and the first three keys that it draws of a thousand.
    /// </summary>
    private static string[] Streams(GrowthHarness plan) =>
    [
        .. plan.Executors.SelectMany(executor => executor.Prepared.Zip(executor.Contexts)
            .Where(p => !p.First.Inserts).Select(p => (executor.Group, Operation: p.First, Context: p.Second)))
            .Select(s => (s.Group!.Phase, Line: Line(plan, s.Group, s.Operation.Name, s.Context))).Distinct()
            .OrderBy(s => s.Phase).ThenBy(s => s.Line, StringComparer.Ordinal).Select(s => s.Line),
    ];

    private static string Line(GrowthHarness plan, GroupPlan group, string operation, OperationContext context)
    {
        PhaseRecord record = plan.Heard.Finished.First(phase => phase.Number == group.Phase);
        RandomStream stream = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);
        string keys = $"{stream.NextLong(1000)} {stream.NextLong(1000)} {stream.NextLong(1000)}";
        string parameters = string.Concat(record.Parameters.Select(p => $" {p.Name}={p.Value}"));
        return $"{group.Name}{parameters}{(record.Growth is { } point ? $" at {point.Documents}" : "")}: "
            + $"{operation} by thread {context.Worker}: {keys}";
    }
}
