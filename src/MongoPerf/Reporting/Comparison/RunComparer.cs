using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Figures;

namespace MongoPerf.Reporting.Comparison;

/// <summary>Makes a comparison out of stored runs. Reads files only.</summary>
internal static class RunComparer
{
    /// <summary>Differences below it are not called so: a machine that is left to itself differs as much from one run to the next.</summary>
    public const double DefaultNoiseThreshold = 0.05;

    /// <param name="baseline">What the others are held against.</param>
    /// <param name="candidates">One at least.</param>
    /// <param name="noiseThreshold">0.05 lets a ratio between 0.95 and 1.05 pass.</param>
    public static RunComparison Compare(ComparedSide baseline, IReadOnlyList<ComparedSide> candidates, double noiseThreshold)
    {
        ComparedSide[] sides = [baseline, .. candidates];
        return new RunComparison
        {
            Baseline = baseline,
            Candidates = [.. candidates.Select(candidate => Judge(baseline, candidate, noiseThreshold))],
            Differences = SetupCheck.Find([.. sides.Select(side => side.First)]),
            NoiseThreshold = noiseThreshold,
            Notes = [.. Once(sides), .. sides.SelectMany(side => Notes(side, noiseThreshold)), .. ScenarioFigures.LeftOut(FigureRun.Of([.. sides.Select(side => side.Stored)]))],
        };
    }

    private static CandidateJudgement Judge(ComparedSide baseline, ComparedSide candidate, double noiseThreshold)
    {
        (long documents, IReadOnlyList<SizeRatio> sizes) = CompareSizes(baseline.First, candidate.First);
        return new CandidateJudgement
        {
            Candidate = candidate,
            Tests = new TestJudge(baseline.Windows, candidate.Windows, noiseThreshold).Judge(),
            Sizes = sizes,
            SizesAtDocuments = documents,
        };
    }

    private static (long Documents, IReadOnlyList<SizeRatio> Sizes) CompareSizes(StoredRun baseline, StoredRun candidate)
    {
        var common = baseline.Steps.Join(candidate.Steps, s => s.Step, s => s.Step, (a, b) => (Baseline: a.Sizes, Candidate: b.Sizes))
            .LastOrDefault(pair => pair is { Baseline: not null, Candidate: not null } && pair.Baseline.Documents == pair.Candidate.Documents);
        if (common is not { Baseline: { } from, Candidate: { } to })
            return (0, []);
        (string What, long? Baseline, long? Candidate)[] all =
        [
            ("documents as stored", from.StorageBytes, to.StorageBytes),
            ("indexes as stored", from.IndexBytes, to.IndexBytes),
            ("data folder on disk", from.DiskBytes, to.DiskBytes),
        ];
        return (from.Documents, [.. all.Where(one => one is { Baseline: > 0, Candidate: > 0 }).Select(one => new SizeRatio(one.What, one.Baseline!.Value, one.Candidate!.Value))]);
    }

    private static IEnumerable<string> Once(ComparedSide[] sides)
    {
        if (sides.All(side => side.Stored.Count == 1))
            yield return "each ran once: how much a run differs from a repeat of itself is unknown, and no statistics over one run can tell (--repeat 5 measures it)";
    }

    private static IEnumerable<string> Notes(ComparedSide side, double noiseThreshold)
    {
        StoredRun run = side.First;
        if (run.Deployment is { IsEmbedded: true })
            yield return $"{side.Id}: figures are the embedded server's, not MongoDB's";
        if (run.Deployment is { Kind: "null" })
            yield return $"{side.Id}: figures are the null deployment's, which answers from memory, not MongoDB's";
        if (run.Settings.Rate is not null)
            yield return $"{side.Id} was given its rate of queries: their rates can't differ, look at their latencies";
        int outages = side.Windows.Runs.Sum(r => r.Keys.Sum(key => r.Find(key)!.OutageSamples));
        if (outages > 0)
            yield return $"{side.Id}: {outages} seconds with an outage are left out";
        ClientLimit limit = ClientLimit.Of(run);
        foreach (string sentence in limit.IsLimit ? limit.Sentences : [])
            yield return $"{side.Id}: {sentence}";
        foreach (string slow in side.Stored.Count > 1 ? RepeatSpread.Of(side, noiseThreshold).SlowStarts : [])
            yield return $"{side.Id}: {slow}";
    }
}
