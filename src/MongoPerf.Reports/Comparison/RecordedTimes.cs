using MongoPerf.Reports.Phases;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Comparison;

/// <summary>How long replayed requests took, beside how long they took when they were recorded.</summary>
/// <param name="Phase">The phase's label.</param>
/// <param name="Operation">The shape of the requests.</param>
/// <param name="Percentile">50 or 99.</param>
/// <param name="Replies">With both times; those of requests that led to the same, error or none.</param>
/// <param name="Recorded">Microseconds.</param>
/// <param name="Replayed">Microseconds, of service times.</param>
/// <param name="Resolution">
/// What the recorded time may be off by, both ways, microseconds: servers record whole milliseconds. 0 where that is not known.
/// </param>
public sealed record RecordedTime(
    string Phase, string Operation, int Percentile, long Replies, double Recorded, double Replayed, double Resolution)
{
    /// <summary>Null where it took less than can be told.</summary>
    public double? Ratio => Recorded < 1 ? null : Replayed / Recorded;

    /// <summary>So many replies lie beyond the percentile at least, or it is chance.</summary>
    public bool IsEnough => Replies * (100 - Percentile) >= 1000;

    /// <returns>Undecided where there are too few replies, or the recording's times are too coarse to tell.</returns>
    public Outcome Outcome(double threshold)
    {
        double slowest = Recorded * (1 + threshold), fastest = Recorded / (1 + threshold);
        return !IsEnough || (Resolution == 0 && Ratio is null) ? Comparison.Outcome.Undecided
            : Replayed > Math.Max(slowest, Recorded + Resolution) ? Comparison.Outcome.Slower
            : Replayed < Math.Min(fastest, Recorded - Resolution) ? Comparison.Outcome.Faster
            : Replayed >= fastest && Replayed <= slowest && Recorded + Resolution <= slowest ? Comparison.Outcome.Equivalent
            : Comparison.Outcome.Undecided;
    }
}

/// <summary>A replay against what it replays.</summary>
/// <param name="Run">The replay.</param>
/// <param name="NoiseThreshold">0.05 lets a ratio between 0.95 and 1.05 pass.</param>
/// <param name="Times">By shape, in the order of the report.</param>
public sealed record RecordedTimes(StoredRun Run, double NoiseThreshold, IReadOnlyList<RecordedTime> Times)
{
    public const string Schema = "mongoperf/recorded/1";

    /// <summary>How coarse the recording's times are, microseconds.</summary>
    private double Resolution => Times[0].Resolution;

    private bool IsOfOnePhase => Times.DistinctBy(time => time.Phase).Count() == 1;

    public bool IsRegression => Times.Any(time => time.Outcome(NoiseThreshold) == Outcome.Slower);

    /// <returns>Null for a run that replays nothing, or of which no reply was recorded.</returns>
    public static RecordedTimes? Of(StoredRun run, double noiseThreshold)
    {
        double resolution = run.Settings.Plan.Replay?.ResolutionMicroseconds ?? 0;
        RecordedTime[] times =
        [
            .. ReplayTables.Results(run).SelectMany(one => new (int Percentile, double? Recorded, double? Replayed)[]
                {
                    (50, one.Replay.RecordedMicroseconds?.P50, one.Result.LatencyMicroseconds.P50),
                    (99, one.Replay.RecordedMicroseconds?.P99, one.Result.LatencyMicroseconds.P99),
                }
                .Where(time => time is { Recorded: not null, Replayed: not null })
                .Select(time => new RecordedTime(one.Phase.Label(), one.Result.Operation, time.Percentile,
                    Math.Min(one.Replay.Compared, one.Result.Operations), time.Recorded!.Value, time.Replayed!.Value,
                    resolution))),
        ];
        return times.Length == 0 ? null : new RecordedTimes(run, noiseThreshold, times);
    }

    public Report ToReport() => new Report(
        Words.Of($"MongoPerf: {Run.Run.Id} against its recording"),
        [],
        [Section.Of(new ReportTable(
            Resolution > 1
                ? Words.Of($"Service times, recorded (in steps of {Units.Latency(Resolution)}) and replayed; a difference of a step or "
                    + $"less is not judged")
                : Words.Of("Service times, recorded and replayed; a ratio above 1 is slower"),
            [
                .. Enumerable.Repeat("<phase", IsOfOnePhase ? 0 : 1),
                "<operation", "<of", "replies", "recorded", "replayed", "ratio", "<verdict",
            ],
            [.. Times.Select(time => (IReadOnlyList<string>)
            [
                .. Enumerable.Repeat(time.Phase, IsOfOnePhase ? 0 : 1), time.Operation, $"p{time.Percentile}", Units.Exact(time.Replies),
                ReplayTables.Recorded(time.Recorded), Units.Latency(time.Replayed),
                time.Ratio is { } ratio ? ComparisonText.Number(ratio) : Units.None,
                !time.IsEnough ? Words.Of("too few")
                    : time.Outcome(NoiseThreshold) is var outcome && outcome == Outcome.Undecided && Resolution > 1
                    ? Words.Of($"within {Units.Latency(Resolution)}") : ComparisonText.Describe(outcome),
            ])]))]).Marked([Run]);

    public void WriteJson(TextWriter output) => JsonReport.WriteValue(output, new
    {
        schema = Schema,
        notMongoDb = NotMongoDb.Of(Run),
        run = Run.Run.Id,
        NoiseThreshold,
        resolutionMicroseconds = Resolution,
        IsRegression,
        times = Times.Select(time => new
        {
            time.Phase, time.Operation, percentile = time.Percentile, time.Replies, recordedMicroseconds = time.Recorded,
            replayedMicroseconds = time.Replayed, time.Ratio, verdict = ComparisonText.Describe(time.Outcome(NoiseThreshold)),
        }),
    });

    public void WriteCsv(TextWriter output)
    {
        Action<object?[]> row = CsvReport.Begin(
            output, NotMongoDb.Of(Run), "run,phase,operation,percentile,replies,recorded_us,replayed_us,ratio,verdict".Split(','));
        foreach (RecordedTime time in Times)
            row([Run.Run.Id, time.Phase, time.Operation, time.Percentile, time.Replies, time.Recorded, time.Replayed,
                time.Ratio, ComparisonText.Describe(time.Outcome(NoiseThreshold))]);
    }
}
