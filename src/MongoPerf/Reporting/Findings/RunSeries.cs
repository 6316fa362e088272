using MongoPerf.Engine.Runs;
using MongoPerf.Reporting.Charts;

namespace MongoPerf.Reporting.Findings;

/// <summary>A second of an operation.</summary>
/// <param name="FromMilliseconds">Unix time.</param>
/// <param name="ToMilliseconds">Unix time.</param>
/// <param name="Count">Documents of inserts, operations of anything else.</param>
/// <param name="Operations">Succeeded.</param>
/// <param name="P99">Microseconds; NaN where nothing was recorded.</param>
/// <param name="Max">Microseconds; NaN where nothing was recorded.</param>
/// <param name="IsDown">The connection was down in part of it.</param>
/// <param name="Documents">In the collection at its end.</param>
internal readonly record struct SeriesSecond(
    long FromMilliseconds, long ToMilliseconds, double Count, long Operations, double P99, double Max, bool IsDown, long Documents)
{
    public double Rate => Count / ((ToMilliseconds - FromMilliseconds) / 1000.0);

    public TimeWindow Window => new(FromMilliseconds, ToMilliseconds);
}

/// <summary>Unix milliseconds.</summary>
internal readonly record struct TimeWindow(long From, long To)
{
    public double Seconds => (To - From) / 1000.0;
}

/// <summary>An operation of a phase as it was measured, second by second; its warm-up is left out.</summary>
internal sealed record OperationSeries(PhaseRecord Phase, OperationResult Result, IReadOnlyList<SeriesSecond> Seconds)
{
    /// <summary>"q4", "mix read (limit=10)".</summary>
    public string Label => PhaseLabels.Of(Phase, Result.Operation) + (Phase.Parameters.Count == 0 ? "" : $" ({PhaseLabels.Parameters(Phase.Parameters)})");

    /// <summary>The seconds before; empty where there was no warm-up.</summary>
    public IReadOnlyList<SeriesSecond> Warmup { get; init; } = [];

    /// <summary>"threads=8" is told by the threads themselves.</summary>
    public string ParametersButThreads => PhaseLabels.Parameters(Phase.Parameters.Where(p => !p.Name.StartsWith("thread", StringComparison.OrdinalIgnoreCase)));

    public string RateUnit => Result.IsInsert ? Words.Of("documents/s") : Words.Of("operations/s");

    public TimeWindow Window => new(Seconds[0].FromMilliseconds, Seconds[^1].ToMilliseconds);
}

/// <summary>What the analysers work on: a run's samples, read once.</summary>
internal sealed class RunSeries
{
    private RunSeries(StoredRun run, IReadOnlyList<OperationSeries> operations, TimeAxis axis)
    {
        Run = run;
        Operations = operations;
        Axis = axis;
        Server = MetricSeries.Read(MetricCatalogue.Server, run.ReadServerSamples());
        Host = MetricSeries.Read(MetricCatalogue.Host, run.ReadHostSamples());
        HostSeconds = [.. HostSecond.Of(run)];
    }

    public StoredRun Run { get; }

    /// <summary>In the order of the plan; those without a whole second are left out.</summary>
    public IReadOnlyList<OperationSeries> Operations { get; }

    public TimeAxis Axis { get; }

    public MetricSeries Server { get; }

    public MetricSeries Host { get; }

    public IReadOnlyList<HostSecond> HostSeconds { get; }

    public static RunSeries Read(StoredRun run)
    {
        Dictionary<(int, string), (PhaseRecord Phase, OperationResult Result)> results = run.Phases
            .SelectMany(phase => phase.Operations.Select(result => (phase, result))).ToDictionary(one => (one.phase.Number, one.result.Operation));
        var seconds = new Dictionary<(int, string), (List<SeriesSecond> Warmup, List<SeriesSecond> Measured)>();
        var before = new Dictionary<(int, string), Sample>();
        foreach (Sample sample in run.ReadSamples())
        {
            (int, string) key = (sample.Phase, sample.Operation);
            if (!results.TryGetValue(key, out (PhaseRecord Phase, OperationResult Result) found))
                continue;
            if (!before.TryGetValue(key, out Sample? last) || !sample.Continues(last))
                seconds[key] = ([], []);
            before[key] = sample;
            if (sample.Seconds >= SampleAttempts.LeastSeconds)
                (sample.IsWarmup ? seconds[key].Warmup : seconds[key].Measured).Add(SecondOf(sample, found.Result));
        }

        OperationSeries[] operations =
        [
            .. results.Where(one => seconds.TryGetValue(one.Key, out var of) && of.Measured.Count > 0)
                .Select(one => new OperationSeries(one.Value.Phase, one.Value.Result, seconds[one.Key].Measured) { Warmup = seconds[one.Key].Warmup }),
        ];
        return new RunSeries(run, operations, OperationSeconds.Of(run).Axis);
    }

    /// <summary>Seconds on the charts over time.</summary>
    public FindingRange Range(TimeWindow window, long? fromDocuments = null, long? toDocuments = null) =>
        new(Math.Round(Axis.At(window.From), 1), Math.Round(Axis.At(window.To), 1), fromDocuments, toDocuments);

    private static SeriesSecond SecondOf(Sample sample, OperationResult result) => new(
        sample.AtMilliseconds - (long)(sample.Seconds * 1000), sample.AtMilliseconds, result.IsInsert ? sample.Documents : sample.Operations, sample.Operations,
        sample.JudgedMicroseconds.P99 ?? double.NaN, sample.JudgedMicroseconds.Max ?? double.NaN, sample.HasOutage, sample.CollectionDocuments);
}

/// <summary>Samples of servers or of the machine, asked for by windows of time.</summary>
internal sealed class MetricSeries
{
    private const double LongestStepSeconds = 30;
    private readonly IReadOnlyList<Metric> _catalogue;
    private readonly MetricSample[][] _members;

    private MetricSeries(IReadOnlyList<Metric> catalogue, MetricSample[][] members)
    {
        _catalogue = catalogue;
        _members = members;
    }

    public bool IsEmpty => _members.Length == 0;

    public static MetricSeries Read(IReadOnlyList<Metric> catalogue, IEnumerable<MetricSample> samples) =>
        new(catalogue, [.. samples.GroupBy(sample => sample.Member).Select(member => member.OrderBy(sample => sample.AtMilliseconds).ToArray())]);

    /// <summary>How fast counters grew in the windows, per second, of all members together; null where nothing is known.</summary>
    public double? RateOf(IReadOnlyList<TimeWindow> windows, params string[] metrics)
    {
        int[] columns = [.. metrics.Select(name => MetricCatalogue.IndexOf(_catalogue, name))];
        double? all = null;
        foreach (MetricSample[] member in _members)
        {
            double growth = 0;
            double seconds = 0;
            foreach ((MetricSample before, MetricSample after) in Steps(member, windows))
            {
                double step = columns.Sum(column => ValueOf(after, column) - ValueOf(before, column));
                if (!(step >= 0))
                    continue;
                growth += step;
                seconds += (after.AtMilliseconds - before.AtMilliseconds) / 1000.0;
            }

            if (seconds > 0)
                all = (all ?? 0) + (growth / seconds);
        }

        return all;
    }

    /// <summary>Share of the samples in the windows for which something holds; 0 where there is none.</summary>
    public double ShareOf(IReadOnlyList<TimeWindow> windows, Func<Func<string, double>, bool> holds)
    {
        MetricSample[] samples = [.. _members.SelectMany(member => Within(member, windows)).Where(sample => sample.Values.Any(double.IsFinite))];
        return samples.Length == 0 ? 0 : (double)samples.Count(sample => holds(name => ValueOf(sample, MetricCatalogue.IndexOf(_catalogue, name)))) / samples.Length;
    }

    /// <summary>The longest time within a window in which a member said nothing, seconds.</summary>
    public double LongestSilence(TimeWindow window)
    {
        double longest = 0;
        foreach (MetricSample[] member in _members)
        {
            long last = window.From;
            bool isKnown = false;
            foreach (MetricSample sample in member.Where(sample => sample.Values.Any(double.IsFinite)))
            {
                if (sample.AtMilliseconds > window.To)
                {
                    if (isKnown)
                        longest = Math.Max(longest, (window.To - last) / 1000.0);
                    break;
                }

                isKnown = true;
                if (sample.AtMilliseconds >= window.From)
                {
                    longest = Math.Max(longest, (sample.AtMilliseconds - last) / 1000.0);
                    last = sample.AtMilliseconds;
                }
            }
        }

        return longest;
    }

    /// <summary>When a counter grew, Unix milliseconds.</summary>
    public IEnumerable<long> GrowthsOf(TimeWindow window, string metric)
    {
        int column = MetricCatalogue.IndexOf(_catalogue, metric);
        return _members.SelectMany(member => Steps(member, [window]).Where(step => ValueOf(step.After, column) > ValueOf(step.Before, column)).Select(step => step.After.AtMilliseconds));
    }

    /// <summary>A member's figure that only grows was lower than before.</summary>
    public bool HasFallen(TimeWindow window, string metric)
    {
        int column = MetricCatalogue.IndexOf(_catalogue, metric);
        foreach (MetricSample[] member in _members)
        {
            double[] values = [.. Within(member, [window]).Select(sample => ValueOf(sample, column)).Where(double.IsFinite)];
            if (values.Zip(values.Skip(1)).Any(pair => pair.Second < pair.First))
                return true;
        }

        return false;
    }

    private static double ValueOf(MetricSample sample, int column) => column < sample.Values.Length ? sample.Values[column] : double.NaN;

    /// <summary>By time; windows are in the order of time too.</summary>
    private static IEnumerable<MetricSample> Within(MetricSample[] member, IReadOnlyList<TimeWindow> windows)
    {
        foreach (TimeWindow window in windows)
        {
            for (int i = FirstFrom(member, window.From); i < member.Length && member[i].AtMilliseconds <= window.To; i++)
                yield return member[i];
        }
    }

    /// <summary>Pairs of neighbours whose middle lies in a window.</summary>
    private static IEnumerable<(MetricSample Before, MetricSample After)> Steps(MetricSample[] member, IReadOnlyList<TimeWindow> windows)
    {
        foreach (TimeWindow window in windows)
        {
            for (int i = Math.Max(1, FirstFrom(member, window.From)); i < member.Length; i++)
            {
                long middle = (member[i - 1].AtMilliseconds + member[i].AtMilliseconds) / 2;
                if (middle > window.To)
                    break;
                if (middle >= window.From && member[i].AtMilliseconds - member[i - 1].AtMilliseconds < LongestStepSeconds * 1000)
                    yield return (member[i - 1], member[i]);
            }
        }
    }

    private static int FirstFrom(MetricSample[] member, long from)
    {
        int low = 0;
        int high = member.Length;
        while (low < high)
        {
            int middle = (low + high) / 2;
            if (member[middle].AtMilliseconds < from)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }
}
