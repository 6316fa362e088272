using MongoPerf.Reports.Charts;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>The question that a comparison of one server with shards was made for, answered in a paragraph: which is ahead, in which
/// operations, by how much, from which size on, how sure
/// that is, and what it cannot tell.</summary>
/// <param name="Operations">Shards against the baseline: ratios above 1 speak for the shards.</param>
/// <param name="Single">What the baseline had: one server, one replica set, or a cluster of one shard.</param>
/// <param name="Sharded">What each shard had.</param>
internal sealed record SingleOrSharded(IReadOnlyList<ShardedOperation> Operations, ServerShare Single, ServerShare Sharded)
{
    /// <summary>What the baseline is.</summary>
    public Topology Baseline { get; init; } = Topology.Standalone;

    /// <summary>Runs of each side.</summary>
    public int Repeats { get; init; } = 1;

    /// <summary>What other programs did meanwhile, a sentence each.</summary>
    public IReadOnlyList<string> Disturbances { get; init; } = [];

    /// <summary>CPUs of the machine that all servers and the client shared; null where they did not share one.</summary>
    public int? SharedCpus { get; init; }

    /// <returns>
    /// Null for a comparison of anything but one server (or one shard) as the baseline with several shards, and for what is not MongoDB,
    /// on which nobody's deployment is decided.
    /// </returns>
    public static SingleOrSharded? Find(RunComparison comparison, CandidateComparison candidate)
    {
        StoredRun single = comparison.Baseline.First;
        StoredRun sharded = candidate.Candidate.First;
        if (single.Deployment is not { ShardCount: null or 1 } || sharded.Deployment?.ShardCount is not > 1
            || candidate.Operations.Count == 0 || single.Deployment.NotMongoDb is not null || sharded.Deployment.NotMongoDb is not null)
            return null;
        EnvironmentInfo? machine =
            sharded.Environment is { ServerOnSameMachine: true } same && single.Environment is { ServerOnSameMachine: true } ? same : null;
        return new SingleOrSharded(
            [.. candidate.RatedOperations.Select(o => ShardedOperation.Of(o, candidate.TitleOf(o)))],
            ServerShare.Of(single), ServerShare.Of(sharded))
        {
            Baseline = single.Deployment.Topology,
            Repeats = Math.Min(comparison.Baseline.Stored.Count, candidate.Candidate.Stored.Count),
            Disturbances = [.. new[] { comparison.Baseline, candidate.Candidate }
                .Where(side => side.Other is not null).Select(side => $"{side.Id}: {side.Other!.Sentence}")],
            SharedCpus = machine?.CpuCount,
        };
    }

    /// <summary>Nothing is known for sure of any operation.</summary>
    public bool IsUndecided => Operations.All(o => o.Outcome == Outcome.Undecided && TurnOf(o) is null);

    /// <summary>All of it in a paragraph.</summary>
    public string Text
    {
        get
        {
            string[] sentences = [Setting, .. Turns(), .. Overall(), Reservations];
            return string.Join(" ", sentences.Where(sentence => sentence.Length > 0));
        }
    }

    /// <summary>Which side is ahead in how many operations, in a line; null where no operation decides, as the comparison says.</summary>
    public Verdict? Verdict
    {
        get
        {
            int single = Operations.Count(o => TurnOf(o) is null && o.IsDifferent && o.Overall.Value < 1);
            int sharded = Operations.Count(o => TurnOf(o) is null && o.IsDifferent && o.Overall.Value > 1);
            int turned = Operations.Count(o => TurnOf(o) is not null);
            int alike = Operations.Count(o => TurnOf(o) is null && o.Outcome == Outcome.Equivalent);
            string[] parts =
            [
                .. Part(single, Words.Of($"{One} is ahead in {single}")), .. Part(sharded, Words.Of($"the shards are ahead in {sharded}")),
                .. Part(turned, Words.Of($"sides change in {turned}")), .. Part(alike, Words.Of($"equivalent in {alike}")),
                .. Part(Operations.Count - single - sharded - turned - alike,
                    Words.Of($"undecided in {Operations.Count - single - sharded - turned - alike}")),
            ];
            string operations = Words.Counted(Operations.Count, "operation");
            return IsUndecided ? null
                : new Verdict(Grade.Note, Words.Of($"of {operations}: {string.Join(", ", parts)}")) { Label = "decided" };

            static string[] Part(int count, string text) => count > 0 ? [text] : [];
        }
    }

    /// <summary>A row for each operation, of one that changes sides a row for each part.</summary>
    public ReportTable Table => new(
        Words.Of("Which side is ahead"), ["<operation", "<ahead", "factor", "95 %", "<sizes", "<certainty"],
        [.. Operations.SelectMany(operation => TurnOf(operation) is { } turn
            ? (IReadOnlyList<string>[])
            [
                Row(operation.Title, turn.Before, Words.Of($"below {Units.Count(turn.Documents)}"), Sure),
                Row("", turn.After, Words.Of($"from {Units.Count(turn.Documents)} on"), Sure),
            ]
            : [Row(operation.Title, operation.Overall, SizesOf(operation), CertaintyOf(operation))])]);

    /// <summary>How sure it is, and what it can't tell.</summary>
    public string Reservations => string.Join(" ", new[] { Certainty(), Limits() }.Where(sentence => sentence.Length > 0));

    private string Sure => Repeats > 1 ? Words.Of($"95 %, over {Repeats} runs of each") : Words.Of("95 %, for these two runs");

    private string CertaintyOf(ShardedOperation operation) => operation.Outcome switch
    {
        Outcome.Undecided => Words.Of("undecided"),
        Outcome.Equivalent => Words.Of("equivalent"),
        _ => Sure,
    };

    /// <summary>At how many sizes the side is ahead that is ahead over all: "10/10".</summary>
    private static string SizesOf(ShardedOperation operation) => operation.Sizes.Count == 0 ? Units.None
        : $"{operation.Sizes.Count(size => size.Ratio > 1 == operation.Overall.Value > 1)}/{operation.Sizes.Count}";

    private IReadOnlyList<string> Row(string title, Ratio ratio, string sizes, string certainty)
    {
        bool isSingle = ratio.Value < 1;
        Interval? range = ratio.Interval is { } one && isSingle ? new Interval(1 / one.High, 1 / one.Low) : ratio.Interval;
        return
        [
            title, Leader(ratio.Value), ComparisonText.Number(isSingle ? 1 / ratio.Value : ratio.Value), ComparisonText.Range(range), sizes,
            certainty,
        ];
    }

    /// <summary>What stood against what.</summary>
    public string Setting
    {
        get
        {
            long[] sizes = [.. Operations.SelectMany(o => o.Sizes).Select(size => size.Documents).Distinct().Order()];
            string range = sizes.Length switch { 0 => "", 1 => Words.Of($" at {Units.Count(sizes[0])} documents"), _ =>
                Words.Of($" from {Units.Count(sizes[0])} to {Units.Count(sizes[^1])} documents") };
            string baseline = Baseline switch
            {
                Topology.Sharded => Words.Of("one shard behind a router"),
                Topology.ReplicaSet => Words.Of("one replica set"),
                _ => Words.Of("one server"),
            };
            return Words.Of($"{Words.Counted(Sharded.Servers, "shard")} against {baseline}{range}, with {MemoryText()} and {CpuText()}.");
        }
    }

    /// <summary>The baseline as the other sentences call it.</summary>
    private string One => NameOf(Baseline);

    /// <summary>"the single shard", of a cluster that has no other.</summary>
    public static string NameOf(Topology? baseline) => baseline switch
    {
        Topology.Sharded => Words.Of("the single shard"),
        Topology.ReplicaSet => Words.Of("the replica set"), _ => Words.Of("the single server"),
    };

    /// <summary>"the same memory in total (384 MiB for each shard)".</summary>
    private string MemoryText() => (Single.MemoryBytes, Sharded.MemoryBytes) switch
    {
        (null, null) => Words.Of("memory unlimited"),
        ({ } one, { } each) when one == each => Words.Of($"the same memory for each server ({Units.BinaryBytes(each)})"),
        ({ } one, { } each) when Math.Abs(one - (each * Sharded.Servers)) <= one / 100 =>
            Words.Of($"the same memory in total ({Units.BinaryBytes(each)} for each shard)"),
        var (one, each) => Words.Of($"unequal memory ({Memory(one)} for {One}, {Memory(each)} for each shard)"),
    };

    private string CpuText() => (Single.Cpus, Sharded.Cpus) switch
    {
        (null, null) => Words.Of("no CPU limit"),
        ({ } one, { } each) when one == each => Words.Of($"the same CPUs for each server ({each})"),
        ({ } one, { } each) when one == each * Sharded.Servers => Words.Of($"the same CPUs in total ({each} for each shard)"),
        var (one, each) => Words.Of($"unequal CPUs ({Cpus(one)} for {One}, {Cpus(each)} for each shard)"),
    };

    private static string Memory(long? bytes) =>
        bytes is { } limit ? Units.BinaryBytes(limit) : Words.Of("unlimited");

    private static string Cpus(int? cpus) => cpus is { } count ? Units.Exact(count) : Words.Of("all");

    /// <summary>Operations in which one is ahead below a size and the other from there on.</summary>
    private IEnumerable<string> Turns() => Operations.Where(o => TurnOf(o) is not null).Select(o =>
    {
        Crossover turn = TurnOf(o)!;
        return Words.Of($"At {Units.Count(turn.Documents)} documents {o.Title} changes sides: below that, "
            + $"{(turn.Before.Value > 1 ? Words.Of("the shards are ahead") : Words.Of($"{One} is ahead"))} {Times(turn.Before)}; "
            + $"from there on, {Leader(turn.After.Value)} {Times(turn.After)}.");
    });

    private IEnumerable<string> Overall()
    {
        ShardedOperation[] steady = [.. Operations.Where(o => TurnOf(o) is null)];
        if (Listed(steady, o => o.IsDifferent && o.Overall.Value < 1) is { Length: > 0 } behind)
            yield return Words.Of($"{Capital(One)} is ahead in {behind}.");
        if (Listed(steady, o => o.IsDifferent && o.Overall.Value > 1) is { Length: > 0 } ahead)
            yield return Words.Of($"The shards are ahead in {ahead}.");
        if (string.Join(", ", steady.Where(o => o.Outcome == Outcome.Equivalent).Select(o => o.Title)) is { Length: > 0 } alike)
            yield return Words.Of($"They are equivalent in {alike}.");
        ShardedOperation[] open = [.. steady.Where(o => o.Outcome == Outcome.Undecided)];
        if (open.Length > ComparisonText.MostListed)
            yield return Words.Of($"Undecided: {open.Length} operations, with ratios from "
                + $"{ComparisonText.Number(open.Min(o => o.Overall.Value))} to {ComparisonText.Number(open.Max(o => o.Overall.Value))}.");
        else if (open.Length > 0)
            yield return Words.Of(
                $"Undecided: {string.Join(", ", open.Select(o => Words.Of($"{o.Title} (ratio {ComparisonText.WithRange(o.Overall)})")))}.");
        if (!Operations.Any(o => TurnOf(o) is not null) && steady.Any(o => o.Sizes.Count >= Crossover.LeastSizes))
            yield return Words.Of("No operation changes sides at any of these sizes.");
    }

    /// <summary>"q4 (4.5 times, 95 %: 3.0 to 6.7; at 10 of 10 sizes)".</summary>
    private static string Listed(IEnumerable<ShardedOperation> operations, Func<ShardedOperation, bool> chosen) =>
        string.Join(", ", operations.Where(chosen).Select(o =>
        {
            int same = o.Sizes.Count(size => size.Ratio > 1 == o.Overall.Value > 1);
            string where = o.Sizes.Count > 1 ? Words.Of($"; at {same} of {o.Sizes.Count} sizes") : "";
            return $"{o.Title} ({Times(o.Overall)}{where})";
        }));

    private string Certainty()
    {
        string runs = Repeats > 1 ? Words.Of($"The intervals are over {Repeats} runs of each.")
            : IsUndecided ? Words.Of("Each side ran once, and another day may differ (--repeat 5 measures it).") : Words.Of(
            "Each side ran once: the intervals hold for these runs, and another day may differ by more (--repeat 5 measures it).");
        return Disturbances.Count == 0 ? runs : Words.Of($"{runs} Other load ran on the machine ({string.Join("; ", Disturbances)}), "
            + $"so repeat the comparison on an idle one before you decide.");
    }

    private string Limits() => SharedCpus is not { } cpus ? ""
        : Words.Of($"All servers, the router and the client shared one machine with {Words.Counted(cpus, "CPU")} and one disk: "
            + $"this result can't tell what the shards would gain from machines of their own (CPUs, disks, memory bandwidth), "
            + $"nor what a network between them would cost.");

    private Crossover? TurnOf(ShardedOperation operation) => Crossover.Find(operation.Sizes, Operations.Count);

    private string Leader(double ratio) => ratio > 1 ? Words.Of("the shards") : One;

    private static string Capital(string text) => char.ToUpperInvariant(text[0]) + text[1..];

    /// <summary>"4.5 times, 95 %: 3.0 to 6.7", from the one that is ahead.</summary>
    private static string Times(Ratio ratio)
    {
        double value = ratio.Value < 1 ? 1 / ratio.Value : ratio.Value;
        return ratio.Interval is not { } range ? Words.Of($"by a factor of {ComparisonText.Number(value)}")
            : Words.Of($"by a factor of {ComparisonText.Number(value)}, 95 %: "
                + $"{ComparisonText.Range(ratio.Value < 1 ? new Interval(1 / range.High, 1 / range.Low) : range)}");
    }
}

/// <summary>What each server of a side that holds data had.</summary>
/// <param name="Servers">The servers that hold data.</param>
/// <param name="MemoryBytes">The limit of each; null for none.</param>
/// <param name="Cpus">The CPUs of each; null for all.</param>
internal readonly record struct ServerShare(int Servers, long? MemoryBytes, int? Cpus)
{
    public static ServerShare Of(StoredRun run) =>
        new(run.Deployment?.ShardCount ?? 1, CacheCrossing.MemoryOfEach(run), run.Settings.Deployment.Cpus);
}

/// <summary>The rates of an operation, shards to one server.</summary>
/// <param name="Title">The title as the comparison calls it.</param>
/// <param name="Overall">What holds over all sizes.</param>
/// <param name="Outcome">The outcome of the comparison, for <paramref name="Overall"/>.</param>
/// <param name="Sizes">The sizes of a growth, by documents, ascending; none otherwise.</param>
internal sealed record ShardedOperation(string Title, Ratio Overall, Outcome Outcome, IReadOnlyList<(long Documents, double Ratio)> Sizes)
{
    public bool IsDifferent => Outcome is Outcome.Slower or Outcome.Faster;

    public static ShardedOperation Of(OperationComparison judged, string title) =>
        // Windows of anything but a growth are repeats.
        new(title, judged.Rate.Ratio, judged.Rate.Outcome,
            judged.Operation.Growth is null ? []
                : [.. judged.Windows.Where(w => w.Rate.Ratio.Value > 0).OrderBy(w => w.At).Select(w => (w.At, w.Rate.Ratio.Value))]);
}
