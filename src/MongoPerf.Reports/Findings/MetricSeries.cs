using MongoPerf.Storage;

namespace MongoPerf.Reports.Findings;

/// <summary>Samples of servers or of the machine, asked for by windows of time.</summary>
internal sealed class MetricSeries
{
    private const double LongestStepSeconds = 30;
    private readonly IReadOnlyList<Metric> _metrics;
    private readonly MetricSample[][] _members;

    private MetricSeries(IReadOnlyList<Metric> metrics, MetricSample[][] members)
    {
        _metrics = metrics;
        _members = members;
    }

    public bool IsEmpty => _members.Length == 0;

    /// <param name="metrics">All that will be asked for.</param>
    /// <param name="read">Reads the samples with their values.</param>
    public static MetricSeries Read(IReadOnlyList<Metric> metrics, Func<IReadOnlyList<Metric>, IEnumerable<MetricSample>> read) =>
        new(metrics, [.. read(metrics)
            .GroupBy(sample => sample.Member).Select(member => member.OrderBy(sample => sample.AtMilliseconds).ToArray())]);

    /// <summary>How fast counters grew in the windows, per second, of all members together; null where nothing is known.</summary>
    public double? RateOf(IReadOnlyList<TimeWindow> windows, params string[] metrics) =>
        RatesOf(windows, metrics).Aggregate((double?)null, static (all, one) => (all ?? 0) + one);

    /// <summary>How fast a counter grew in the windows at the member where it grew fastest; null where nothing is known.</summary>
    public double? FastestOf(IReadOnlyList<TimeWindow> windows, string metric) =>
        RatesOf(windows, metric).Max(static one => (double?)one);

    /// <summary>Of each member of which it is known.</summary>
    private IEnumerable<double> RatesOf(IReadOnlyList<TimeWindow> windows, params string[] metrics)
    {
        int[] columns = [.. metrics.Select(Column)];
        foreach (MetricSample[] member in _members)
        {
            double growth = 0;
            double seconds = 0;
            foreach ((MetricSample before, MetricSample after) in Steps(member, windows))
            {
                double step = 0;
                foreach (int column in columns)
                    step += after.Values[column] - before.Values[column];
                if (!(step >= 0))
                    continue;
                growth += step;
                seconds += (after.AtMilliseconds - before.AtMilliseconds) / 1000.0;
            }

            if (seconds > 0)
                yield return growth / seconds;
        }
    }

    /// <summary>Share of the samples in the windows for which something holds of two metrics; 0 where there is none.</summary>
    public double ShareOf(IReadOnlyList<TimeWindow> windows, string first, string second, Func<double, double, bool> holds)
    {
        int one = Column(first);
        int other = Column(second);
        int all = 0;
        int held = 0;
        foreach (MetricSample sample in _members.SelectMany(member => Within(member, windows)).Where(HasAny))
        {
            all++;
            held += holds(sample.Values[one], sample.Values[other]) ? 1 : 0;
        }

        return all == 0 ? 0 : (double)held / all;
    }

    /// <summary>The longest time within a window in which a member said nothing, seconds.</summary>
    public double LongestSilence(TimeWindow window)
    {
        double longest = 0;
        foreach (MetricSample[] member in _members)
        {
            long last = window.From;
            int first = FirstFrom(member, window.From);
            bool isKnown = Array.FindIndex(member, 0, first, HasAny) >= 0;
            foreach (MetricSample sample in member.Skip(first).Where(HasAny))
            {
                if (sample.AtMilliseconds > window.To)
                {
                    if (isKnown)
                        longest = Math.Max(longest, (window.To - last) / 1000.0);
                    break;
                }

                isKnown = true;
                longest = Math.Max(longest, (sample.AtMilliseconds - last) / 1000.0);
                last = sample.AtMilliseconds;
            }
        }

        return longest;
    }

    /// <summary>When a counter grew, Unix milliseconds.</summary>
    public IEnumerable<long> GrowthsOf(TimeWindow window, string metric)
    {
        int column = Column(metric);
        return _members.SelectMany(member => Steps(member, [window])
            .Where(step => step.After.Values[column] > step.Before.Values[column]).Select(step => step.After.AtMilliseconds));
    }

    /// <summary>When a figure of a member was above 0: a sample speaks for the time halfway to its neighbours.</summary>
    public IEnumerable<TimeWindow> WindowsAboveZero(string metric)
    {
        int column = Column(metric);
        foreach (MetricSample[] member in _members)
        {
            for (int i = 0; i < member.Length; i++)
            {
                if (member[i].Values[column] > 0)
                    yield return new TimeWindow(Halfway(member, i, i - 1), Halfway(member, i, i + 1));
            }
        }
    }

    /// <summary>A member's figure that only grows was lower than before.</summary>
    public bool HasFallen(TimeWindow window, string metric)
    {
        int column = Column(metric);
        foreach (MetricSample[] member in _members)
        {
            double[] values = [.. Within(member, [window]).Select(sample => sample.Values[column]).Where(double.IsFinite)];
            if (values.Zip(values.Skip(1)).Any(pair => pair.Second < pair.First))
                return true;
        }

        return false;
    }

    /// <summary>The middle between two samples, or the first of them if the other is far away or is not there.</summary>
    private static long Halfway(MetricSample[] member, int place, int neighbour)
    {
        long at = member[place].AtMilliseconds;
        long away = neighbour >= 0 && neighbour < member.Length ? member[neighbour].AtMilliseconds - at : 0;
        return Math.Abs(away) < LongestStepSeconds * 1000 ? at + (away / 2) : at;
    }

    private int Column(string metric) => MetricCatalogue.IndexOf(_metrics, metric);

    /// <summary>The server answered.</summary>
    private static bool HasAny(MetricSample sample) => sample.Values.Any(double.IsFinite);

    /// <summary>The samples within windows, by time; windows are in the order of time, too.</summary>
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
