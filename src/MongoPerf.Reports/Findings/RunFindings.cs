using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>What a run shows, the most important first. The same run gives the same findings.</summary>
internal static class RunFindings
{
    /// <summary>
    /// Chance of any false finding, at most, in each of the tests that most runs undergo: a run has long phases (drift, stretch, period) or
    /// many sizes (cliff, trend, two of windows), so that all together stay at 5 %.
    /// </summary>
    private const double Level = 0.01;

    /// <summary>
    /// The same of the others that test, which judge what few runs have: migrations, index builds, thread steps, many sizes.
    /// </summary>
    private const double RareLevel = 0.002;

    // The report is made in several formats from one opened run, whose samples need to be read only once for them.
    // Their texts have a language, so each language has its own.
    private static readonly OncePerRun<IReadOnlyList<Finding>> Known = new(static run => Of(RunSeries.Of(run)), hasTexts: true);

    /// <summary>Reads the run's samples. May be called from several threads.</summary>
    public static IReadOnlyList<Finding> Of(StoredRun run) => Known.Of(run);

    /// <summary>Those that no verdict says already.</summary>
    public static IReadOnlyList<Finding> Shown(StoredRun run) => [.. Of(run).Where(finding => !finding.IsVerdict)];

    private static IReadOnlyList<Finding> Of(RunSeries series) =>
    [
        .. new[]
        {
            SizeFindings.Find(series, Level, RareLevel), Stalls.Find(series), SecondFindings.Find(series, Level),
            OutageFindings.Find(series), ClientFindings.Find(series), WarmupFindings.Find(series, Level),
            VariationFindings.Find(series, RareLevel), ThreadFindings.Find(series, RareLevel), CacheFindings.Find(series, RareLevel),
            BackgroundFindings.Find(series, RareLevel), ReshardingFindings.Find(series),
            ShardFindings.Find(series), ServerFindings.Find(series), LimitFindings.Find(series), PlanFindings.Find(series),
            LatencyFindings.Find(series),
        }.SelectMany(found => found).OrderByDescending(finding => finding.Weight),
        .. RunVerdicts.Of(series.Run).Where(verdict => verdict.Finding is not null).Select(OfVerdict),
    ];

    private static Finding OfVerdict(Verdict verdict) =>
        new()
        {
            Id = verdict.Finding!.Id, Text = verdict.Text, Operations = verdict.Operations, Refute = Words.Of(verdict.Finding.Refute),
            IsVerdict = true,
        };
}
