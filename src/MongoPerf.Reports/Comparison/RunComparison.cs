using MongoPerf.Reports.Figures;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>What is said about a measure: four different results, of which only one means that nothing has changed.</summary>
public enum Outcome
{
    /// <summary>Neither a difference nor that there is none could be shown.</summary>
    Undecided,

    /// <summary>The ratio differs from 1 by less than the noise threshold, with 95 % confidence.</summary>
    Equivalent,

    /// <summary>It is slower by more than the noise threshold, and by more than chance.</summary>
    Slower,
    Faster,
}

/// <summary>What counts as one observation in a judgement.</summary>
public enum Evidence
{
    None,

    /// <summary>A second.</summary>
    Samples,

    /// <summary>A window: of a size of a growth, or of a repeat of a phase.</summary>
    Windows,

    /// <summary>A run.</summary>
    Runs,
}

/// <summary>One measure of an operation, on both sides. Its values are there whatever can be said about them.</summary>
public sealed record MeasureComparison
{
    public required Measure Measure { get; init; }

    /// <summary>The baseline per second, or in microseconds: the geometric mean over the windows used.</summary>
    public required double Baseline { get; init; }

    /// <inheritdoc cref="Baseline"/>
    public required double Candidate { get; init; }

    public required Ratio Ratio { get; init; }

    public Outcome Outcome { get; init; }

    /// <summary>
    /// Otherwise it stands beside what is judged: service times beside response times, the rates of a mix's operations beside their
    /// total's, its latencies beside theirs.
    /// </summary>
    public bool IsTested { get; init; } = true;

    /// <summary>The probability that both are alike, two-sided; null when it was not tested.</summary>
    public double? P { get; init; }

    /// <summary>
    /// The probability after Holm's correction over all measures of all of the candidate's operations, or over all its windows.
    /// </summary>
    public double? HolmP { get; init; }

    /// <summary>
    /// What would be enough to decide, such as "20 s per side; these had 7.5 s: --duration 30s"; null when nothing is lacking.
    /// </summary>
    public Enough? Enough { get; init; }
}

/// <summary>The rate in one window of an operation.</summary>
/// <param name="At">What <see cref="WindowKey"/> has.</param>
/// <param name="Documents">The documents in the baseline's collection.</param>
/// <param name="Rate">Judged by the window's own seconds, or by the runs; undecided where there are too few.</param>
public sealed record WindowComparison(long At, long Documents, MeasureComparison Rate);

/// <summary>One operation, over the windows that both sides have.</summary>
public sealed record OperationComparison
{
    public required ComparedOperation Operation { get; init; }
    public required Evidence Evidence { get; init; }

    /// <summary>"10 sizes", "60 and 58 seconds at 2 of 3 sizes", "5 and 5 runs"; or what there is too little of.</summary>
    public required string Basis { get; init; }

    /// <summary>The rate first, then what was recorded of latency.</summary>
    public required IReadOnlyList<MeasureComparison> Measures { get; init; }

    /// <summary>A rate was set: latencies are response times.</summary>
    public required bool IsPaced { get; init; }

    /// <summary>Its latencies are times to send.</summary>
    public required bool IsUnacknowledged { get; init; }

    /// <summary>What transactions had to do again on both sides, over all windows and runs; null where neither has transactions.</summary>
    public (RetryShare? Baseline, RetryShare? Candidate)? Retries { get; init; }

    public MeasureComparison Rate => Measures[0];

    public MeasureComparison? P50 => Find(Measure.P50);

    public MeasureComparison? P99 => Find(Measure.P99);

    /// <returns>Null where it was not recorded on both sides, or nobody asked for it.</returns>
    public MeasureComparison? Find(Measure measure) => Measures.FirstOrDefault(j => j.Measure == measure);

    /// <summary>The measures that were tested, without those that only stand beside them.</summary>
    public IEnumerable<MeasureComparison> Tested => Measures.Where(j => j.IsTested);

    /// <summary>One at least, by size or repeat.</summary>
    public required IReadOnlyList<WindowComparison> Windows { get; init; }
}

/// <summary>Bytes at the last point where both sides took sizes; no statistics, as sizes don't vary.</summary>
public sealed record SizeRatio(string What, long Baseline, long Candidate)
{
    public double Value => (double)Candidate / Baseline;
}

/// <summary>One candidate against the baseline.</summary>
public sealed record CandidateComparison
{
    public required ComparedSide Candidate { get; init; }
    public required IReadOnlyList<OperationComparison> Operations { get; init; }
    public required IReadOnlyList<SizeRatio> Sizes { get; init; }

    /// <summary>What replies held where nobody knows what they must hold; empty for data of MongoPerf's own.</summary>
    public IReadOnlyList<ReplyRatio> Replies { get; init; } = [];

    /// <summary>The documents in the collection at <see cref="Sizes"/>.</summary>
    public required long SizesAtDocuments { get; init; }

    /// <summary>No checkpoint was taken before <see cref="Sizes"/> were read, of one side at least.</summary>
    public bool SizesAreOfCheckpoint { get; init; }

    /// <summary>A rate or a latency is worse.</summary>
    public bool IsRegression => Has(Outcome.Slower);

    public bool IsImprovement => Has(Outcome.Faster);

    /// <summary>Every rate and every latency is equivalent.</summary>
    public bool IsEquivalent => Operations.Count > 0 && Operations.All(o => o.Tested.All(j => j.Outcome == Outcome.Equivalent));

    /// <summary>False when there was too little of everything.</summary>
    public bool IsTested => Operations.Any(o => o.Evidence != Evidence.None);

    /// <summary>Those whose rates are judged: a mix once, by its total.</summary>
    public IEnumerable<OperationComparison> RatedOperations => Operations.Where(o => o.Rate.IsTested);

    /// <summary>"batch", or "q4 ×8" where several thread counts were measured.</summary>
    public string TitleOf(OperationComparison judged) => judged.Operation.TitleAmong([.. Operations.Select(o => o.Operation)]);

    private bool Has(Outcome outcome) => Operations.Any(o => o.Tested.Any(j => j.Outcome == outcome));
}

/// <summary>Runs against a baseline: all that tables, charts and pages are made from.</summary>
public sealed record RunComparison
{
    private readonly RunComparison? _inEnglish;

    /// <summary>The same for programs, which read English only; itself when it is English.</summary>
    public RunComparison InEnglish
    {
        get => _inEnglish ?? this;
        init => _inEnglish = value;
    }

    public required ComparedSide Baseline { get; init; }
    public required IReadOnlyList<CandidateComparison> Candidates { get; init; }
    public required IReadOnlyList<SetupDifference> Differences { get; init; }

    /// <summary>0.05: a ratio between 0.95 and 1.05 is not called different, and one that surely lies there is called equivalent.</summary>
    public required double NoiseThreshold { get; init; }

    /// <summary>The percentiles that were judged beside rates.</summary>
    public IReadOnlyList<Measure> Percentiles { get; init; } = Measure.UsualPercentiles;

    /// <summary>What a reader must know, in whole sentences.</summary>
    public required IReadOnlyList<string> Notes { get; init; }

    /// <summary>Those of them that say what failed in the runs, or that they did not end well.</summary>
    public IReadOnlyList<string> Failures { get; init; } = [];

    /// <summary>The baseline first.</summary>
    public IEnumerable<ComparedSide> Sides => Candidates.Select(c => c.Candidate).Prepend(Baseline);

    public IReadOnlyList<StoredRun> Runs => [.. Sides.SelectMany(side => side.Stored)];

    /// <summary>Every run of every side, for the scenario's figures and tables.</summary>
    public IReadOnlyList<FigureRun> FigureRuns => FigureRun.Of([.. Sides.Select(side => side.Stored)]);

    public bool WasForced => Differences.Any(d => d.IsUnlike);
}
