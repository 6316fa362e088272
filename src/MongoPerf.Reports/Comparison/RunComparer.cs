using MongoPerf.Reports.Figures;
using MongoPerf.Reports.Findings;
using MongoPerf.Reports.Plots;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>Makes a comparison out of stored runs. Reads files only.</summary>
public static class RunComparer
{
    /// <summary>Smaller differences are ignored: an idle machine differs as much from one run to the next.</summary>
    public const double DefaultNoiseThreshold = 0.05;

    /// <summary>Compares in the reader's language, and in another than English also with an English twin for programs.</summary>
    /// <param name="sides">Two at least; all others are held against the first, the baseline.</param>
    /// <param name="noiseThreshold">0.05 lets a ratio between 0.95 and 1.05 pass.</param>
    /// <param name="percentiles">The percentiles that are judged beside rates; null for the usual ones.</param>
    /// <param name="plots">What is drawn of it: the percentiles that they show are judged too.</param>
    public static RunComparison Compare(
        IReadOnlyList<ComparedSide> sides, double noiseThreshold, IReadOnlyList<Measure>? percentiles = null,
        IEnumerable<PlotInfo>? plots = null)
    {
        percentiles = [.. (percentiles ?? Measure.UsualPercentiles).Union(Measure.PercentilesOf(plots ?? []))];
        RunComparison english = In(Language.English);
        return Words.Language.IsEnglish ? english : In(Words.Language) with { InEnglish = english };

        RunComparison In(Language language)
        {
            using (Words.In(language))
                return Compare(sides, SetupCheck.Find([.. sides.Select(side => side.First)]), noiseThreshold, percentiles);
        }
    }

    /// <param name="sides">Two at least; all others are held against the first, the baseline.</param>
    /// <param name="differences">The differences of their set-ups, as <c>SetupCheck.Find</c> has them.</param>
    /// <param name="noiseThreshold">0.05 lets a ratio between 0.95 and 1.05 pass.</param>
    /// <param name="percentiles">The percentiles that are judged beside rates; null for the usual ones.</param>
    public static RunComparison Compare(
        IReadOnlyList<ComparedSide> sides, IReadOnlyList<SetupDifference> differences, double noiseThreshold,
        IReadOnlyList<Measure>? percentiles = null)
    {
        percentiles ??= Measure.UsualPercentiles;
        (string Id, Verdict Caution)[] cautions =
            [.. sides.SelectMany(side => side.Stored.SelectMany(Cautions).Distinct().Select(caution => (side.Id, caution)))];
        return new RunComparison
        {
            Baseline = sides[0],
            Candidates = [.. sides.Skip(1).Select(candidate => CompareSides(sides[0], candidate, noiseThreshold, percentiles))],
            Percentiles = percentiles,
            Differences = differences,
            NoiseThreshold = noiseThreshold,
            Notes = [.. Once(sides), .. sides.SelectMany(side => Notes(side, noiseThreshold)), .. Texts(cautions, sides.Count),
                .. ScenarioFigures.LeftOut(FigureRun.Of([.. sides.Select(side => side.Stored)]))],
            Failures = [.. Texts(
                cautions.Where(one => one.Caution.Grade == Grade.Bad || one.Caution.Finding == VerdictFinding.FailedOperations),
                sides.Count)],
        };
    }

    private static CandidateComparison CompareSides(
        ComparedSide baseline, ComparedSide candidate, double noiseThreshold, IReadOnlyList<Measure> percentiles)
    {
        (long documents, bool areOfCheckpoint, IReadOnlyList<SizeRatio> sizes) =
            CompareSizes(StoredSize.Of(baseline.First), StoredSize.Of(candidate.First));
        return new CandidateComparison
        {
            Candidate = candidate,
            Operations = new OperationComparer(baseline.Windows, candidate.Windows, noiseThreshold, percentiles).Compare(),
            Sizes = sizes,
            Replies = ReplyRatio.Of(baseline.First, candidate.First),
            SizesAtDocuments = documents,
            SizesAreOfCheckpoint = areOfCheckpoint,
        };
    }

    private static (long Documents, bool AreOfCheckpoint, IReadOnlyList<SizeRatio> Sizes) CompareSizes(
        IEnumerable<StoredSize> baseline, IEnumerable<StoredSize> candidate)
    {
        var common = baseline.Join(candidate, s => (s.Phase, s.Documents), s => (s.Phase, s.Documents),
            (a, b) => (Baseline: a, Candidate: b)).LastOrDefault();
        if (common is not ({ } from, { } to))
            return (0, false, []);
        (string What, long? Baseline, long? Candidate)[] all =
        [
            (Words.Of("documents, as stored"), from.StorageBytes, to.StorageBytes),
            (Words.Of("indexes, as stored"), from.IndexBytes, to.IndexBytes),
            (Words.Of("data folder on disk"), from.DiskBytes, to.DiskBytes),
        ];
        return (from.Documents, from.AreOfCheckpoint || to.AreOfCheckpoint, [.. all.Where(one => one is { Baseline: > 0, Candidate: > 0 })
            .Select(one => new SizeRatio(one.What, one.Baseline!.Value, one.Candidate!.Value))]);
    }

    private static IEnumerable<string> Once(IReadOnlyList<ComparedSide> sides)
    {
        if (sides.All(side => side.Stored.Count == 1))
            yield return Words.Of("each side ran once, so run-to-run variation is unknown (--repeat 5 measures it)");
    }

    private static IEnumerable<string> Notes(ComparedSide side, double noiseThreshold)
    {
        StoredRun run = side.First;
        if (run.Phases.Where(phase => phase.Rate is not null).Select(phase => phase.Phase).Distinct().ToArray() is { Length: > 0 } paced)
            yield return Words.Of($"{side.Id}: the rate was fixed in {string.Join(", ", paced)}, so only latencies can differ there");
        int outages = side.Windows.Runs
            .Sum(r => r.Keys.Select(key => r.Find(key)!).Where(window => !window.IsTotal).Sum(window => window.OutageSamples));
        if (outages > 0)
            yield return Words.Of($"{side.Id}: {outages} seconds with an outage are left out");
        ClientLimit limit = ClientLimit.Of(run);
        foreach (string sentence in limit.IsLimit ? limit.Sentences : [])
            yield return $"{side.Id}: {sentence}";
        foreach (string slow in side.Stored.Count > 1 ? RepeatSpread.Of(side, noiseThreshold).SlowStarts : [])
            yield return $"{side.Id}: {slow}";
    }

    private static readonly VerdictFinding[] SaidElsewhere =
    [
        VerdictFinding.ClientLimit, VerdictFinding.OtherLoad, VerdictFinding.EmbeddedServer,
    ];

    /// <summary>Each with its side; once, where it holds for every side.</summary>
    private static IEnumerable<string> Texts(IEnumerable<(string Id, Verdict Caution)> cautions, int sides) => cautions
        .GroupBy(static one => one.Caution.Text)
        .SelectMany(same => same.Count() == sides
            ? [Words.Of($"all runs: {same.Key}")]
            : same.Select(static one => $"{one.Id}: {one.Caution.Text}"));

    /// <summary>
    /// What the report of a run says beside its figures, without that for which a comparison has words of its own, or a line.
    /// </summary>
    private static IEnumerable<Verdict> Cautions(StoredRun run) => RunVerdicts.Of(run)
        // What was changed alike is no caution, and what was not is among the differences.
        .Where(verdict => verdict is { IsChosen: false } && verdict.Grade != Grade.Good
            && !(verdict.Finding is { } finding && SaidElsewhere.Contains(finding)));
}

/// <summary>What a run's collections occupied when a phase was over, all together, bytes.</summary>
/// <param name="Phase">Its name and parameters.</param>
/// <param name="Documents">The documents that all of them reached.</param>
/// <param name="StorageBytes">Their files.</param>
/// <param name="IndexBytes">Their indexes.</param>
/// <param name="DiskBytes">The server's data folder; null when it is not on this machine.</param>
internal sealed record StoredSize(string Phase, long Documents, long StorageBytes, long IndexBytes, long? DiskBytes)
{
    /// <summary>No checkpoint was taken before they were read.</summary>
    public bool AreOfCheckpoint { get; init; }

    /// <summary>The operations in the order of the plan.</summary>
    public static IEnumerable<StoredSize> Of(StoredRun run) =>
        run.Phases.Where(phase => phase.Sizes.Count > 0).Select(phase => new StoredSize(
            PhaseLabels.Of(phase), phase.Sizes.Sum(s => s.Documents), phase.Sizes.Sum(s => s.StorageBytes),
            phase.Sizes.Sum(s => s.IndexBytes), phase.Sizes.Max(s => s.DiskBytes))
        {
            AreOfCheckpoint = phase.Sizes.Any(s => s.AreOfCheckpoint),
        });
}
