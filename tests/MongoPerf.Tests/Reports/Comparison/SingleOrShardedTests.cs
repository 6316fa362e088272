using MongoPerf.Reports;
using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;
using MongoPerf.Tests.Support;
using MongoPerf.Texts;

namespace MongoPerf.Tests.Reports.Comparison;

/// <summary>The paragraph that ends a comparison of one server with shards, on made-up comparisons.</summary>
public sealed class SingleOrShardedTests : IDisposable
{
    private const long MegaByte = 1L << 20;
    private static readonly ServerShare One = new(1, 768 * MegaByte, 2);
    private readonly TemporaryFolder _runs = new();

    public void Dispose() => _runs.Dispose();

    [Fact]
    public void Who_is_ahead_is_said_with_factor_interval_and_sizes()
    {
        string text = Text(Steady("q4", 0.25, 0.2, 0.5), Steady("batch", 2, 1.6, 2.5));
        Assert.Contains("The single server is ahead in q4 (by a factor of 4.00, 95 %: 2.00 to 5.00; at 8 of 8 sizes).",
            text, StringComparison.Ordinal);
        Assert.Contains("The shards are ahead in batch (by a factor of 2.00, 95 %: 1.60 to 2.50; at 8 of 8 sizes).",
            text, StringComparison.Ordinal);
        Assert.Contains("No operation changes sides at any of these sizes.", text, StringComparison.Ordinal);
        Assert.StartsWith(
            "3 shards against one server from 100k to 800k documents, with the same memory in total (256 MiB for each shard) and ",
            text, StringComparison.Ordinal);
    }

    [Fact]
    public void An_operation_that_turns_is_said_with_its_size_and_not_judged_over_all_of_them()
    {
        ShardedOperation turning = Operation("batch", Outcome.Undecided, 1, [0.5, 0.52, 0.49, 0.5, 2, 2.1, 1.9, 2]);
        string text = Text(turning, Steady("q4", 0.25, 0.2, 0.5));
        Assert.Contains("At 500k documents batch changes sides: below that, the single server is ahead by a factor of 1.99, 95 %: ",
            text, StringComparison.Ordinal);
        Assert.Contains("from there on, the shards by a factor of 2.00, 95 %: ", text, StringComparison.Ordinal);
        Assert.DoesNotContain("Undecided", text, StringComparison.Ordinal);
        Assert.DoesNotContain("No operation changes sides", text, StringComparison.Ordinal);
    }

    [Fact]
    public void A_turn_is_told_in_Chinese_from_end_to_end()
    {
        using IDisposable chinese = Words.In(Language.Chinese);
        string text = Text(Operation("batch", Outcome.Undecided, 1, [0.5, 0.52, 0.49, 0.5, 2, 2.1, 1.9, 2]));
        Assert.Contains("低于此处单台服务器领先 1.99", text, StringComparison.Ordinal);
    }

    [Fact]
    public void What_could_not_be_shown_is_no_tie()
    {
        string text = Text(Operation("q5", Outcome.Undecided, 0.9, Enumerable.Repeat(0.9, 8)),
            Operation("q6", Outcome.Equivalent, 1, Enumerable.Repeat(1.0, 8)));
        Assert.Contains("They are equivalent in q6. Undecided: q5 (ratio 0.90).", text, StringComparison.Ordinal);
        Assert.DoesNotContain("ahead", text, StringComparison.Ordinal);
    }

    [Fact]
    public void Many_operations_of_which_nothing_is_known_are_not_listed()
    {
        string text = Text([.. Enumerable.Range(0, 13).Select(i => Operation($"mix {i}", Outcome.Undecided, 0.7 + (0.1 * i), []))]);
        Assert.Contains("Undecided: 13 operations, with ratios from 0.70 to 1.90.", text, StringComparison.Ordinal);
        Assert.DoesNotContain("mix 1", text, StringComparison.Ordinal);
    }

    /// <summary>Found where a scenario loaded 1,000 to 100,000 records in turn: "2 shards against one server at 1 documents".</summary>
    [Fact]
    public void Repeats_of_a_phase_are_no_sizes()
    {
        var rate = new MeasureComparison { Measure = Measure.Rate, Baseline = 100, Candidate = 80, Ratio = new Ratio(0.8, null) };
        var judged = new OperationComparison
        {
            Operation = new ComparedOperation(null, "mix", "recordcount=1M", "read", 8), Evidence = Evidence.None, Basis = "",
            Measures = [rate], IsPaced = false, IsUnacknowledged = false,
            Windows = [new WindowComparison(1, 1000, rate)],
        };
        Assert.Empty(ShardedOperation.Of(judged, "mix read").Sizes);
        Assert.Equal([(1000L, 0.8)], ShardedOperation.Of(judged with
        {
            Operation = judged.Operation with { Growth = "series" }, Windows = [new WindowComparison(1000, 1000, rate)],
        }, "q4").Sizes);
    }

    [Theory]
    [InlineData(768, 2, 256, 1,
        "the same memory in total (256 MiB for each shard) and unequal CPUs (2 for the single server, 1 for each shard).")]
    [InlineData(768, 3, 256, 1, "the same memory in total (256 MiB for each shard) and the same CPUs in total (1 for each shard).")]
    [InlineData(768, 2, 768, 2, "the same memory for each server (768 MiB) and the same CPUs for each server (2).")]
    [InlineData(
        768, 0, 512, 0, "unequal memory (768 MiB for the single server, 512 MiB for each shard) and no CPU limit.")]
    [InlineData(0, 0, 0, 1, "memory unlimited and unequal CPUs (all for the single server, 1 for each shard).")]
    public void Whether_it_was_fair_is_said(int memory, int cpus, int shardMemory, int shardCpus, string expected)
    {
        var decision = new SingleOrSharded([Steady("q4", 0.5, 0.4, 0.6)], Share(1, memory, cpus), Share(3, shardMemory, shardCpus));
        Assert.Contains(expected, decision.Text, StringComparison.Ordinal);

        static ServerShare Share(int servers, int megabytes, int cpus) =>
            new(servers, megabytes == 0 ? null : megabytes * MegaByte, cpus == 0 ? null : cpus);
    }

    /// <summary>Found with a cache alone: the shards got 1.5 GiB each by default, and the verdict said "with memory unlimited".</summary>
    [Fact]
    public void A_limit_that_a_default_set_counts_as_one_that_was_asked_for()
    {
        using StoredRun one = StoredRun.Open(Run("2026-11-21-a", null, null).Write(_runs.Path));
        using StoredRun other = StoredRun.Open(Run("2026-11-21-b", 3, 1536 * MegaByte).Write(_runs.Path));
        RunComparison comparison = RunComparer.Compare([new ComparedSide([one]), new ComparedSide([other])], [],
            RunComparer.DefaultNoiseThreshold);
        Assert.Contains("unequal memory (unlimited for the single server, 1.5 GiB for each shard)",
            SingleOrSharded.Find(comparison, comparison.Candidates[0])!.Text, StringComparison.Ordinal);
        SetupDifference limit = Assert.Single(SetupCheck.Find([one, other]), difference => difference.Name == "memory limit");
        Assert.Equal(["default", "1.5 GiB"], limit.Values);

        static NoisyRun Run(string id, int? shards, long? memory) => new()
        {
            Id = id, NoiseSeed = (ulong)id[^1], Speed = _ => 1,
            Deployment = RunParts.Deployment() with
            {
                ShardCount = shards, Topology = shards is null ? Topology.Standalone : Topology.Sharded, MemoryLimitBytes = memory,
            },
        };
    }

    [Theory]
    [InlineData(Topology.Standalone, "3 shards against one server from", "(unlimited for the single server, ",
        "The single server is ahead in q4")]
    [InlineData(Topology.ReplicaSet, "3 shards against one replica set from", "(unlimited for the replica set, ",
        "The replica set is ahead in q4")]
    [InlineData(Topology.Sharded, "3 shards against one shard behind a router from", "(unlimited for the single shard, ",
        "The single shard is ahead in q4")]
    public void The_baseline_is_called_what_it_is(Topology baseline, params string[] expected)
    {
        string text = new SingleOrSharded([Steady("q4", 0.5, 0.4, 0.6)], new ServerShare(1, null, null),
            new ServerShare(3, MegaByte, null)) { Baseline = baseline }.Text;
        Assert.All(expected, part => Assert.Contains(part, text, StringComparison.Ordinal));
    }

    [Fact]
    public void How_sure_it_is_and_what_one_machine_cannot_tell_end_it()
    {
        SingleOrSharded decision = new([Steady("q4", 0.5, 0.4, 0.6)], One, One with { Servers = 3 });
        Assert.EndsWith("another day may differ by more (--repeat 5 measures it).", decision.Text, StringComparison.Ordinal);
        string disturbed = (decision with { Repeats = 5, Disturbances = ["a: other programs"], SharedCpus = 2 }).Text;
        Assert.Contains("over 5 runs of each. Other load ran on the machine (a: other programs), so repeat the comparison on an idle one "
            + "before you decide.", disturbed, StringComparison.Ordinal);
        Assert.Contains("shared one machine with 2 CPUs and one disk: this result can't tell", disturbed, StringComparison.Ordinal);
    }

    /// <summary>And nothing of the kind is said where nothing is sharded, or both are.</summary>
    [Theory]
    [InlineData(null, 3, true)]
    [InlineData(1, 2, true)]
    [InlineData(null, null, false)]
    [InlineData(2, 3, false)]
    public void Only_a_comparison_of_one_server_with_shards_ends_in_it(int? baseline, int? candidate, bool isDecided)
    {
        using StoredRun one = StoredRun.Open(Run("2026-11-21-a", baseline, 1).Write(_runs.Path));
        using StoredRun other = StoredRun.Open(Run("2026-11-21-b", candidate, 0.3).Write(_runs.Path));
        RunComparison comparison = RunComparer.Compare([new ComparedSide([one]), new ComparedSide([other])], [],
            RunComparer.DefaultNoiseThreshold);
        ApprovedReports.Check(ComparisonReport.Of(comparison));
        string[] decided = [.. ComparisonText.Verdicts(comparison, comparison.Candidates[0])
            .Where(v => v.Mark == "decided").Select(v => v.Text)];
        string single = $"the single {(baseline is null ? "server" : "shard")}";
        Assert.Equal(isDecided ? [$"of 7 operations: {single} is ahead in 7"] : [], decided);
        Section[] sections = [.. ComparisonReport.Of(comparison).Sections.Where(section => section.Title == "Decided")];
        Assert.Equal(decided.Length, sections.Length);
        Assert.All(sections, section => Assert.StartsWith(
            $"{candidate} shards against {(baseline is null ? "one server" : "one shard behind a router")} from 1k to 10k documents",
            Assert.IsType<Block.Paragraph>(section.Blocks[0]).Text, StringComparison.Ordinal));
        Assert.All(sections, section => Assert.Matches(
            $@"^unack\|{single}\|3\.\d+\|\d\.\d+ to \d\.\d+\|10/10\|95 %, for these two runs$",
            string.Join('|', Assert.IsType<Block.Table>(section.Blocks[1]).Content.Rows[0])));

        static NoisyRun Run(string id, int? shards, double speed) => new()
        {
            Id = id, NoiseSeed = (ulong)id[^1], Speed = _ => speed,
            Deployment = RunParts.Deployment() with
            {
                ShardCount = shards, Topology = shards is null ? Topology.Standalone : Topology.Sharded,
            },
        };
    }

    [Fact]
    public void It_is_undecided_only_when_nothing_is_known_of_any_operation()
    {
        ShardedOperation open = Operation("q4", Outcome.Undecided, 0.9, Enumerable.Repeat(0.9, 8));
        ShardedOperation turning = Operation("q5", Outcome.Undecided, 1, [0.5, 0.51, 0.49, 2, 2.1, 1.9]);
        Assert.True(Of(open, open).IsUndecided);
        Assert.False(Of(open, Steady("q6", 0.5, 0.4, 0.6)).IsUndecided);
        Assert.False(Of(open, turning).IsUndecided);

        static SingleOrSharded Of(params ShardedOperation[] operations) => new(operations, One, One with { Servers = 3 });
    }

    [Fact]
    public void One_part_that_may_lie_on_either_side_makes_no_turn()
    {
        Assert.Null(Crossover.Find(Sizes([0.5, 0.5, 0.51, 0.9, 1.2, 0.95]), 1));
        Assert.Null(Crossover.Find(Sizes([0.5, 0.51, 2, 2.1, 2]), 1));
        Crossover found = Crossover.Find(Sizes([0.5, 0.51, 0.49, 2, 2.1, 1.9]), 1)!;
        Assert.Equal(400_000, found.Documents);
        Assert.InRange(1, found.Before.Interval!.Value.High, found.After.Interval!.Value.Low);
    }

    /// <summary>Seven operations that differ by chance alone at ten sizes: at most 5 % of comparisons may show a turn.</summary>
    [Fact]
    public void Chance_makes_hardly_any_turn()
    {
        var random = new Random(7);
        int alarms = Enumerable.Range(0, 400).Count(_ => Enumerable.Range(0, 7).Any(_ =>
            Crossover.Find(Sizes([.. Enumerable.Range(0, 10).Select(_ => Math.Exp((random.NextDouble() - 0.5) * 0.4))]), 7) is not null));
        Assert.InRange(alarms, 0, 20);
    }

    private static string Text(params ShardedOperation[] operations) =>
        new SingleOrSharded(operations, One, new ServerShare(3, 256 * MegaByte, 1)).Text;

    private static ShardedOperation Steady(string title, double ratio, double low, double high) =>
        Operation(title, ratio < 1 ? Outcome.Slower : Outcome.Faster, ratio,
            Enumerable.Repeat(ratio, 8)) with { Overall = new Ratio(ratio, new Interval(low, high)) };

    private static ShardedOperation Operation(string title, Outcome outcome, double overall, IEnumerable<double> ratios) =>
        new(title, new Ratio(overall, null), outcome, Sizes([.. ratios]));

    private static (long, double)[] Sizes(double[] ratios) => [.. ratios.Select((ratio, i) => ((i + 1) * 100_000L, ratio))];
}
