using MongoPerf.Reports.Comparison;
using MongoPerf.Reports.Comparison.Statistics;
using MongoPerf.Storage;

namespace MongoPerf.Reports.Histories;

/// <summary>What a history is made of, and by which rules it is judged.</summary>
public sealed record HistoryRequest
{
    /// <summary>A change by less is none: 0.05 lets a ratio between 0.95 and 1.05 pass.</summary>
    public double NoiseThreshold { get; init; } = RunComparer.DefaultNoiseThreshold;

    /// <summary>How many runs at the end count as new.</summary>
    public int Newest { get; init; } = RunHistory.DefaultNewest;

    /// <summary>What is shown.</summary>
    public required IReadOnlyList<HistoryMetric> Metrics { get; init; }
}

/// <summary>A run, or the repeats of one.</summary>
/// <param name="Runs">In the order in which they ran; one at least.</param>
public sealed record HistoryPoint(IReadOnlyList<StoredRun> Runs)
{
    public StoredRun First => Runs[0];

    /// <summary>"2026-11-21-a", or "2026-11-21-a ×5".</summary>
    public string Name => Runs.Count == 1 ? First.Run.Id : $"{First.Run.Id} ×{Runs.Count}";
}

/// <summary>A run that was not taken.</summary>
/// <param name="Run">Its id.</param>
/// <param name="Why">In a few words.</param>
public sealed record LeftOutRun(string Run, string Why);

/// <summary>The same work over many runs: all that tables, charts and pages are made from.</summary>
public sealed record RunHistory
{
    public const int DefaultNewest = 10;

    private readonly RunHistory? _inEnglish;

    /// <summary>The same for programs, which read English only; itself when it is English.</summary>
    public RunHistory InEnglish
    {
        get => _inEnglish ?? this;
        init => _inEnglish = value;
    }

    /// <summary>The chance that any change is found in a history in which nothing changes.</summary>
    public const double Level = 0.05;

    public required string Scenario { get; init; }

    /// <summary>In the order in which they ran.</summary>
    public required IReadOnlyList<HistoryPoint> Points { get; init; }

    public IReadOnlyList<StoredRun> Runs => [.. Points.SelectMany(point => point.Runs)];

    /// <summary>By operation, then metric, then deployment.</summary>
    public required IReadOnlyList<HistoryLine> Lines { get; init; }

    public required HistoryRequest Request { get; init; }

    public IReadOnlyList<LeftOutRun> LeftOut { get; init; } = [];

    /// <summary>In what work the runs differ; not empty only where <c>--force</c> mixed them.</summary>
    public IReadOnlyList<SetupDifference> Unlike { get; init; } = [];

    /// <summary>At least one line has enough runs for a change to be significant.</summary>
    public bool IsJudged => Lines.Any(line => line.IsJudged);

    /// <summary>A change among the newest runs left a line worse than it was.</summary>
    public bool IsRegression => Lines.Any(line => line.IsRegression);

    /// <summary>Makes a history of runs that did the same work.</summary>
    /// <param name="points">In any order.</param>
    /// <param name="request">What is shown, and how it is judged.</param>
    public static RunHistory Of(IEnumerable<HistoryPoint> points, HistoryRequest request)
    {
        HistoryPoint[] ordered = [.. points.OrderBy(point => point.First.Run.StartedAt)];
        HistoryRow[] rows = [.. HistoryRow.Of(ordered, request.Metrics)];
        // The chance of a false alarm is the history's, however many lines it has.
        double level = Level / Math.Max(1, rows.Length);
        return new RunHistory
        {
            Scenario = ordered[^1].First.Settings.Plan.Name, Points = ordered, Request = request,
            Lines = [.. rows.Select(row => HistoryLine.Of(row, request, level))],
        };
    }
}

/// <summary>A metric of an operation on a deployment, over the runs, and where it changed.</summary>
public sealed record HistoryLine
{
    public required HistoryRow Row { get; init; }

    /// <summary>In the order of the runs.</summary>
    public required IReadOnlyList<HistoryChange> Changes { get; init; }

    /// <summary>The runs that have the metric are enough for a change to be significant.</summary>
    public required bool IsJudged { get; init; }

    /// <summary>So many of them are.</summary>
    public required int Needed { get; init; }

    /// <summary>Against what was usual before the newest runs, the last level is worse by more than the noise threshold.</summary>
    public required bool IsRegression { get; init; }

    /// <summary>The level in force at each point: the geometric mean between two changes. NaN where there is no value.</summary>
    public required IReadOnlyList<double> Levels { get; init; }

    /// <param name="row">The values.</param>
    /// <param name="request">The rules.</param>
    /// <param name="level">The chance of a false alarm.</param>
    internal static HistoryLine Of(HistoryRow row, HistoryRequest request, double level)
    {
        int[] places = [.. Enumerable.Range(0, row.Values.Count).Where(i => double.IsFinite(row.Values[i]))];
        double[] logarithms = [.. places.Select(i => Math.Log(row.Values[i]))];
        int needed = ChangePoints.LeastValues(level);
        bool isJudged = logarithms.Length >= needed;
        List<ChangePoint> kept = isJudged ? [.. ChangePoints.Find(logarithms, level)] : [];
        while (kept.Count > 0)
        {
            ChangePoint least = kept.MinBy(change => Math.Abs(LogarithmOf(change)));
            if (!IsWithin(Math.Exp(LogarithmOf(least)), request.NoiseThreshold))
                break;
            kept.Remove(least);
        }

        double[] levels = [.. Enumerable.Repeat(double.NaN, row.Values.Count)];
        int[] bounds = BoundsOf(kept, logarithms.Length);
        for (int piece = 1; piece < bounds.Length; piece++)
        {
            double mean = bounds[piece] > bounds[piece - 1] ? Math.Exp(logarithms[bounds[piece - 1]..bounds[piece]].Average()) : double.NaN;
            for (int i = bounds[piece - 1]; i < bounds[piece]; i++)
                levels[places[i]] = mean;
        }

        int firstNew = Math.Max(0, places.Length - request.Newest);
        double usual = places.Length == 0 ? double.NaN : levels[places[Math.Max(0, firstNew - 1)]];
        double net = places.Length == 0 ? 1 : levels[places[^1]] / usual;
        return new HistoryLine
        {
            Row = row, IsJudged = isJudged, Needed = needed, Levels = levels,
            Changes = [.. kept.Select(change => new HistoryChange(
                places[change.At - 1], places[change.At], Math.Exp(LogarithmOf(change)), change.P, IsWorse(LogarithmOf(change))))],
            IsRegression = kept.Any(change => change.At >= firstNew)
                && IsWorse(Math.Log(net)) && !IsWithin(net, request.NoiseThreshold),
        };

        double LogarithmOf(ChangePoint change)
        {
            int[] all = BoundsOf(kept, logarithms.Length);
            int at = Array.IndexOf(all, change.At);
            return logarithms[all[at]..all[at + 1]].Average() - logarithms[all[at - 1]..all[at]].Average();
        }

        bool IsWorse(double logarithm) => row.IsBetterHigh ? logarithm < 0 : logarithm > 0;
    }

    private static int[] BoundsOf(IEnumerable<ChangePoint> changes, int count) => [0, .. changes.Select(change => change.At), count];

    private static bool IsWithin(double ratio, double threshold) => ratio >= 1 - threshold && ratio <= 1 + threshold;
}

/// <summary>Where a line begins another level.</summary>
/// <param name="Before">The last point on the level before, 0-based among all points.</param>
/// <param name="At">The first point on the new level.</param>
/// <param name="Ratio">The new level to the one before.</param>
/// <param name="P">The chance of a split as plain as this one where nothing changes.</param>
/// <param name="IsWorse">A lower rate, or a higher latency or size.</param>
public sealed record HistoryChange(int Before, int At, double Ratio, double P, bool IsWorse);
