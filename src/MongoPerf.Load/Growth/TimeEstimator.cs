using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Storage;

namespace MongoPerf.Load.Growth;

/// <summary>Seconds until the plan is done: likely, and a range.</summary>
public readonly record struct Eta(double LowSeconds, double LikelySeconds, double HighSeconds);

/// <summary>
/// Estimates how long a plan takes, and how much of that is left: from recent rates, not from the mean since the start, since inserts
/// slow down as data grow.
/// </summary>
/// <remarks>
/// Each way of writing has a rate of its own, the mean of its last ten seconds; the range is the best and worst ten seconds of its last
/// minute. Before anything was written, rates are assumed, and the range is wide. What has no length of its own (sizes, a count of
/// operations) takes as long as the last time. One thread at a time.
/// </remarks>
public sealed class TimeEstimator
{
    private const int Recent = 10;
    private const int Kept = 60;

    /// <summary>Documents per second that a server hardly goes below or beyond; the likely rate is their geometric mean.</summary>
    private static readonly (double Slow, double Fast) Batches = (10_000, 100_000);

    private static readonly (double Slow, double Fast) Singles = (2_000, 20_000);

    private readonly List<Item> _items = [];
    private readonly Dictionary<string, Queue<Sample>> _samples = [];
    private readonly Dictionary<string, double> _took = [];
    private int _current;
    private readonly Dictionary<string, double> _secondsByOperation = [];
    private long _documentsInCurrent;

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

    /// <summary>The time of the whole plan, before it begins.</summary>
    public Eta Total => Sum(_items, null);

    public void Begin(PhaseRecord phase) => StartAt(phase.Number);

    public void Add(Sample sample)
    {
        _secondsByOperation[sample.Operation] = _secondsByOperation.GetValueOrDefault(sample.Operation) + sample.Seconds;
        if (Find(sample.Phase) is not { Documents: > 0 } item)
            return;
        _documentsInCurrent += sample.Documents;
        if (!_samples.TryGetValue(item.Key, out Queue<Sample>? queue))
            _samples[item.Key] = queue = new Queue<Sample>();
        queue.Enqueue(sample);
        if (queue.Count > Kept)
            queue.Dequeue();
    }

    public void End(PhaseRecord phase)
    {
        if (Find(phase.Number) is { } item)
            _took[item.Key] = SecondsInCurrent;
        StartAt(phase.Number + 1);
    }

    private void StartAt(int number)
    {
        _current = number;
        _secondsByOperation.Clear();
        _documentsInCurrent = 0;
    }

    /// <returns>What is left.</returns>
    public Eta Estimate() => Sum(_items.Where(item => item.Number >= _current), Find(_current));

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
                _items.Add(new Item(number, write.Write.Name, write.Range.Count, 0,
                    write.Write.Groups[write.Collection.Name].Operations[0].Operation.DocumentsPerCommand > 1));
            }

            foreach ((int place, Phase phase) in growth.Each.Index())
                _items.Add(new Item(numbers.OfEach(step, place), phase.Name, 0, SecondsOf(phase), false));
        }
    }

    private static Item ItemOf(Phase phase, int number, Plan plan) => phase.Loads is { } loaded
        ? new Item(number, phase.Name, plan.Collections.First(c => c.Name == loaded).Count, 0, true)
        : new Item(number, phase.Name, 0, SecondsOf(phase), false);

    private static double SecondsOf(Phase phase) =>
        phase.PauseSeconds + phase.Groups.Select(g => g.AfterSeconds + (g.Seconds ?? g.Script?.Seconds ?? 0)).DefaultIfEmpty(0).Max();

    private Item? Find(int number)
    {
        int at = _items.BinarySearch(new Item(number, "", 0, 0, false), Comparer<Item>.Create((a, b) => a.Number.CompareTo(b.Number)));
        return at >= 0 ? _items[at] : null;
    }

    private Eta Sum(IEnumerable<Item> items, Item? current)
    {
        double low = 0, likely = 0, high = 0;
        foreach (Item item in items)
        {
            bool isCurrent = item == current;
            if (item.Documents == 0)
            {
                double seconds = Math.Max(
                    0, (item.Seconds > 0 ? item.Seconds : _took.GetValueOrDefault(item.Key)) - (isCurrent ? SecondsInCurrent : 0));
                (low, likely, high) = (low + seconds, likely + seconds, high + seconds);
                continue;
            }

            long documents = Math.Max(0, item.Documents - (isCurrent ? _documentsInCurrent : 0));
            (double slowest, double recent, double fastest) = RatesOf(item);
            low += documents / fastest;
            likely += documents / recent;
            high += documents / slowest;
        }

        return new Eta(low, likely, high);
    }

    private (double Slowest, double Recent, double Fastest) RatesOf(Item item)
    {
        if (!_samples.TryGetValue(item.Key, out Queue<Sample>? queue))
        {
            (double slow, double fast) = item.IsBatch ? Batches : Singles;
            return (slow, Math.Sqrt(slow * fast), fast);
        }

        Sample[] samples = [.. queue];
        double recent = Rate(samples[Math.Max(0, samples.Length - Recent)..]);
        double[] rates = [recent, .. samples.Chunk(Recent).Where(chunk => chunk.Length == Recent).Select(Rate)];
        // A short history says little: a fifth to either side at least.
        return (Math.Min(rates.Min(), recent * 0.8), recent, Math.Max(rates.Max(), recent * 1.2));
    }

    private static double Rate(Sample[] samples) =>
        Math.Max(1, samples.Sum(sample => (double)sample.Documents) / Math.Max(samples.Sum(sample => sample.Seconds), 0.001));

    /// <param name="Number">The number of the phase record.</param>
    /// <param name="Key">What has one rate, or takes one time.</param>
    /// <param name="Documents">The documents to be written; 0 for what takes a time.</param>
    /// <param name="Seconds">Known beforehand; 0 for unknown.</param>
    /// <param name="IsBatch">Several documents per command.</param>
    private sealed record Item(int Number, string Key, long Documents, double Seconds, bool IsBatch);
}
