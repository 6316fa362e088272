using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Growth;

/// <summary>Seconds until the plan is done: likely, and a range.</summary>
public readonly record struct Eta(double LowSeconds, double LikelySeconds, double HighSeconds);

/// <summary>
/// Estimates how long a plan takes at least, and how much of that is left: from recent rates, not from the mean since the start, since
/// inserts slow down as data grow.
/// </summary>
/// <remarks>
/// Each way of writing has a rate of its own, the mean of its last thirty seconds; one that has not begun has an assumed range. What
/// comes between measured seconds (connecting, checkpoints, sizes) has taken a share of the time so far, and will of the rest. The range
/// around that is such that it holds in 80 % and more of the moments of recorded runs (TimeLeftTests); one that is wider than a factor of
/// four says nothing and is not given, nor is any while nothing is written. One thread at a time.
/// </remarks>
public sealed class TimeEstimator
{
    private const int Recent = 30;

    /// <summary>Samples without a document after which nobody knows when writing goes on.</summary>
    private const int StillSamples = 3;

    /// <summary>Seconds that count as spent without pauses before any are known.</summary>
    private const double Settling = 2;
    private const double MostPace = 5;

    // From recorded runs: what happened was within these factors and seconds of what was likely.
    private const double Lower = 0.85, Upper = 1.25, Early = 0.6, EarlySeconds = 10, LowerSeconds = 0.5, UpperSeconds = 1;
    private const double MostWidth = 4;

    /// <summary>Documents per second that a server hardly goes below or beyond; the likely rate is their geometric mean.</summary>
    private static readonly (double Slow, double Fast) Batches = (10_000, 100_000);

    private static readonly (double Slow, double Fast) Singles = (2_000, 20_000);

    private readonly List<TimedItem> _items = [];
    private readonly Dictionary<string, Queue<Sample>> _samples = [];

    /// <summary>How long what has no length of its own took the last time.</summary>
    private readonly Dictionary<string, double> _took = [];
    private readonly Dictionary<string, double> _secondsByOperation = [];
    private int _current;
    private long _documentsInCurrent;
    private double? _begun;
    private double _since;
    private double _spent;
    private double _writing;

    public TimeEstimator(Plan plan)
    {
        int first = 1;
        foreach (Phase phase in plan.Phases)
        {
            var numbers = new PhaseNumbers(first, phase);
            first += numbers.Count;
            if (phase.Growth is { } growth)
                AddGrowth(growth, numbers);
            else
                _items.Add(ItemOf(phase, numbers.First, plan));
        }
    }

    internal TimeEstimator(IEnumerable<TimedItem> items) => _items.AddRange(items);

    /// <summary>What the plan takes at least, as far as its phases have lengths and servers write no faster than they hardly do.</summary>
    public double LeastSeconds =>
        _items.Sum(static item => item.Documents > 0 ? item.Documents / AssumedFor(item).Fast : item.Seconds);

    /// <param name="phase">Begins now.</param>
    /// <param name="now">Seconds on any clock.</param>
    public void Begin(PhaseRecord phase, double now)
    {
        _begun ??= now;
        StartAt(phase.Number, now);
    }

    public void Add(Sample sample)
    {
        _secondsByOperation[sample.Operation] = _secondsByOperation.GetValueOrDefault(sample.Operation) + sample.Seconds;
        if (Find(sample.Phase) is not { Documents: > 0 } item)
            return;
        _documentsInCurrent += sample.Documents;
        if (!_samples.TryGetValue(item.Key, out Queue<Sample>? queue))
            _samples[item.Key] = queue = new Queue<Sample>();
        queue.Enqueue(sample);
        if (queue.Count > Recent)
            queue.Dequeue();
    }

    /// <param name="phase">Is over.</param>
    /// <param name="now">Seconds on the clock of <see cref="Begin"/>.</param>
    public void End(PhaseRecord phase, double now)
    {
        _begun ??= now;
        if (Find(phase.Number) is { } item)
        {
            double span = Math.Max(0, now - _since);
            _spent += SpentOf(item, span);
            if (item.Documents > 0)
                _writing += span;
            else
                _took[item.Key] = span;
        }

        StartAt(phase.Number + 1, now);
    }

    /// <param name="now">Seconds on the clock of <see cref="Begin"/>.</param>
    /// <returns>What is left; null where nothing that holds can be said.</returns>
    public Eta? Estimate(double now)
    {
        if (_begun is not { } begun)
            return null;
        TimedItem? current = Find(_current);
        double span = Math.Max(0, now - _since);
        double low = 0, likely = 0, high = 0, fixedSeconds = 0;
        bool knowsAll = true;
        foreach (TimedItem item in _items.Where(item => item.Number >= _current))
        {
            bool isCurrent = item == current;
            if (item.Documents > 0)
            {
                long documents = Math.Max(0, item.Documents - (isCurrent ? _documentsInCurrent : 0));
                (double slow, double usual, double fast) = RatesOf(item);
                (low, likely, high) = (low + (documents / fast), likely + (documents / usual), high + (documents / slow));
            }
            else if (item.Seconds > 0)
            {
                double seconds = Math.Max(0, item.Seconds - (isCurrent ? span : 0));
                (low, likely, high) = (low + seconds, likely + seconds, high + seconds);
            }
            else if (_took.TryGetValue(item.Key, out double took))
            {
                fixedSeconds += Math.Max(0, took - (isCurrent ? span : 0));
            }
            else
            {
                knowsAll &= item.IsQuick;
            }
        }

        if (current is { Documents: > 0 } && _samples.TryGetValue(current.Key, out Queue<Sample>? written)
            && written.Count >= StillSamples && written.TakeLast(StillSamples).All(static sample => sample.Documents == 0))
            return null;
        double pace = Math.Clamp(
            (now - begun + Settling) / (_spent + (current is null ? 0 : SpentOf(current, span)) + Settling), 1, MostPace);
        double early = 1 + (Early * Math.Exp(-(now - begun) / EarlySeconds));
        low = Math.Max(0, (((low * pace) + fixedSeconds) * Lower / early) - LowerSeconds);
        high = (((high * pace) + fixedSeconds) * Upper * early) + UpperSeconds;
        // What goes through the data once may take as long as writing them.
        if (!knowsAll)
            high += _writing + (current is { Documents: > 0 } ? span : 0);
        return high > MostWidth * Math.Max(low, 1) ? null : new Eta(low, (likely * pace) + fixedSeconds, high);
    }

    private void StartAt(int number, double now)
    {
        _current = number;
        _since = now;
        _secondsByOperation.Clear();
        _documentsInCurrent = 0;
    }

    /// <summary>Of the time that an item took, what it would have taken without what comes between measured seconds.</summary>
    private double SpentOf(TimedItem item, double span) => item switch
    {
        { Documents: > 0 } => Math.Min(span, SecondsInCurrent),
        { Seconds: > 0 } => Math.Min(span, item.Seconds),
        _ => span,
    };

    /// <summary>The operations of a mix run side by side: their seconds are the same ones.</summary>
    private double SecondsInCurrent => _secondsByOperation.Values.DefaultIfEmpty().Max();

    private void AddGrowth(GrowthPlan growth, PhaseNumbers numbers)
    {
        for (int step = 1; step <= growth.Sizes.Count; step++)
        {
            foreach (WriteRange write in GrowthSchedule.WritesOf(growth, step))
            {
                int number = numbers.OfWrite(step, growth.Writes.ToList().IndexOf(write.Write),
                    growth.Collections.ToList().IndexOf(write.Collection));
                _items.Add(new TimedItem(number, write.Write.Name, write.Range.Count, 0)
                {
                    IsBatch = write.Write.Groups[write.Collection.Name].Operations[0].Operation.DocumentsPerCommand > 1,
                });
            }

            foreach ((int place, Phase phase) in growth.Each.Index())
                _items.Add(ItemOf(phase, numbers.OfEach(step, place)));
        }
    }

    private static TimedItem ItemOf(Phase phase, int number, Plan plan) => phase.Loads is { } loaded
        ? new TimedItem(number, phase.Name, plan.Collections.First(c => c.Name == loaded).Count, 0) { IsBatch = true }
        : ItemOf(phase, number);

    private static TimedItem ItemOf(Phase phase, int number) =>
        new(number, phase.Name, 0, SecondsOf(phase)) { IsQuick = phase.Measures is not null || phase.Creates is not null };

    private static double SecondsOf(Phase phase) =>
        phase.PauseSeconds + phase.Groups.Select(g => g.AfterSeconds + (g.Seconds ?? g.Script?.Seconds ?? 0)).DefaultIfEmpty(0).Max();

    private TimedItem? Find(int number)
    {
        int at = _items.BinarySearch(
            new TimedItem(number, "", 0, 0), Comparer<TimedItem>.Create((a, b) => a.Number.CompareTo(b.Number)));
        return at >= 0 ? _items[at] : null;
    }

    private (double Slow, double Usual, double Fast) RatesOf(TimedItem item)
    {
        if (!_samples.TryGetValue(item.Key, out Queue<Sample>? queue))
        {
            (double slow, double fast) = AssumedFor(item);
            return (slow, Math.Sqrt(slow * fast), fast);
        }

        double rate = Math.Max(1, queue.Sum(sample => (double)sample.Documents) / Math.Max(queue.Sum(sample => sample.Seconds), 0.001));
        return (rate, rate, rate);
    }

    private static (double Slow, double Fast) AssumedFor(TimedItem item) => item.IsBatch ? Batches : Singles;
}

/// <summary>A part of a plan that takes a time.</summary>
/// <param name="Number">The number of the phase record.</param>
/// <param name="Key">What has one rate, or takes one time.</param>
/// <param name="Documents">The documents to be written; 0 for what takes a time.</param>
/// <param name="Seconds">Known beforehand; 0 for unknown.</param>
internal sealed record TimedItem(int Number, string Key, long Documents, double Seconds)
{
    /// <summary>Several documents per command.</summary>
    public bool IsBatch { get; init; }

    /// <summary>It hardly takes a moment, whatever the data.</summary>
    public bool IsQuick { get; init; }
}
