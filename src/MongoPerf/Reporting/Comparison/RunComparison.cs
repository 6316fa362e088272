using MongoPerf.Reporting.Comparison.Statistics;
using MongoPerf.Reporting.Figures;

namespace MongoPerf.Reporting.Comparison;

/// <summary>What is said about a difference.</summary>
internal enum Outcome
{
    /// <summary>Nothing is said.</summary>
    TooFew,

    /// <summary>Which doesn't mean that there is none: the interval shows what may have been missed.</summary>
    NoDifference,

    /// <summary>Real, as far as the samples go, but too small to matter.</summary>
    BelowThreshold,
    Slower,
    Faster,
}

/// <summary>What counts as one observation in a judgement.</summary>
internal enum Evidence
{
    None,

    /// <summary>A second.</summary>
    Samples,

    /// <summary>A window: of a size of a growth, or of a repeat of a phase.</summary>
    Windows,

    /// <summary>A run.</summary>
    Runs,
}

/// <summary>Candidate to baseline.</summary>
/// <param name="Value">1 where they are alike.</param>
/// <param name="Interval">95 %; null where there is too little to say.</param>
internal sealed record Ratio(double Value, Interval? Interval)
{
    /// <summary>Seconds in which nothing was done make bounds that are no numbers: they say nothing either.</summary>
    public Interval? Interval { get; } = Interval is { } i && double.IsFinite(i.Low) && double.IsFinite(i.High) ? i : null;
}

/// <summary>One window of an operation.</summary>
internal sealed record WindowJudgement
{
    /// <summary>As of <see cref="WindowKey"/>.</summary>
    public required long At { get; init; }

    /// <summary>In the baseline's collection.</summary>
    public required long Documents { get; init; }
    public required Outcome Outcome { get; init; }

    /// <summary>Null with <see cref="Outcome.TooFew"/>: then nothing is said.</summary>
    public Ratio? Rate { get; init; }
    public double BaselineRate { get; init; }
    public double CandidateRate { get; init; }

    /// <summary>Two-sided, and after Holm's correction over all windows of the candidate's operations.</summary>
    public double P { get; init; }
    public double HolmP { get; init; }
}

/// <summary>One operation, over the windows that both sides have.</summary>
internal sealed record OperationJudgement
{
    public required ComparedOperation Operation { get; init; }
    public required Outcome Outcome { get; init; }
    public required Evidence Evidence { get; init; }

    /// <summary>"10 sizes", "60 and 58 seconds at 2 of 3 sizes", "5 and 5 runs"; or what there is too little of.</summary>
    public required string Basis { get; init; }

    /// <summary>Per second, documents of inserts, otherwise operations: the geometric mean over the windows judged.</summary>
    public double BaselineRate { get; init; }

    /// <inheritdoc cref="BaselineRate"/>
    public double CandidateRate { get; init; }

    /// <summary>Null with <see cref="Outcome.TooFew"/>.</summary>
    public Ratio? Rate { get; init; }

    /// <summary>Of latencies, so that more is slower; null where none were recorded or too little is known.</summary>
    public Ratio? P50 { get; init; }

    /// <inheritdoc cref="P50"/>
    public Ratio? P99 { get; init; }

    /// <summary>Two-sided, and after Holm's correction over the candidate's operations.</summary>
    public double P { get; init; }
    public double HolmP { get; init; }

    /// <summary>One at least, by size or repeat.</summary>
    public required IReadOnlyList<WindowJudgement> Windows { get; init; }
}

/// <summary>Bytes at the last point where both sides took sizes; no statistics, as sizes don't vary.</summary>
internal sealed record SizeRatio(string What, long Baseline, long Candidate)
{
    public double Value => (double)Candidate / Baseline;
}

/// <summary>One candidate against the baseline.</summary>
internal sealed record CandidateJudgement
{
    public required ComparedSide Candidate { get; init; }
    public required IReadOnlyList<OperationJudgement> Operations { get; init; }
    public required IReadOnlyList<SizeRatio> Sizes { get; init; }

    /// <summary>In the collection at <see cref="Sizes"/>.</summary>
    public required long SizesAtDocuments { get; init; }

    public bool IsRegression => Operations.Any(o => o.Outcome == Outcome.Slower);

    public bool IsImprovement => Operations.Any(o => o.Outcome == Outcome.Faster);

    /// <summary>"batch", or "q4 ×8" where several thread counts were measured.</summary>
    public string TitleOf(OperationJudgement judged) => judged.Operation.TitleAmong([.. Operations.Select(o => o.Operation)]);

    /// <summary>False when there was too little of everything.</summary>
    public bool IsJudged => Operations.Any(o => o.Outcome != Outcome.TooFew);
}

/// <summary>Runs against a baseline: all that tables, charts and pages are made from.</summary>
internal sealed record RunComparison
{
    public required ComparedSide Baseline { get; init; }
    public required IReadOnlyList<CandidateJudgement> Candidates { get; init; }
    public required IReadOnlyList<SetupDifference> Differences { get; init; }

    /// <summary>0.05: a ratio between 0.95 and 1.05 is not called different.</summary>
    public required double NoiseThreshold { get; init; }

    /// <summary>What a reader must know, in whole sentences.</summary>
    public required IReadOnlyList<string> Notes { get; init; }

    /// <summary>The baseline first.</summary>
    public IEnumerable<ComparedSide> Sides => Candidates.Select(c => c.Candidate).Prepend(Baseline);

    /// <summary>Every run of every side, for the scenario's figures and tables.</summary>
    public IReadOnlyList<FigureRun> FigureRuns => FigureRun.Of([.. Sides.Select(side => side.Stored)]);

    public bool WasForced => Differences.Any(d => d.IsUnlike);
}
