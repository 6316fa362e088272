using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>A value that an update writes, and the one that its filter asked for, where the one follows from the other.</summary>
/// <param name="Filter">The path of the filter's value.</param>
/// <param name="Update">The path of the written one.</param>
/// <param name="Values">Both, with how often they came together, most frequent first.</param>
public sealed record ObservedPair(string Filter, string Update, IReadOnlyList<(BsonValue Asked, BsonValue Written, double Count)> Values);

/// <summary>Counts which values of a filter and of an update come together, while there are few.</summary>
internal sealed class PairTally
{
    private const int MostPlaces = 4;
    private const int MostPairs = 32;
    private const int MostBytes = 100;
    private const double Least = 20;

    /// <summary>Of the uncertainty about what is written, knowing the filter's value takes away as much.</summary>
    private const double Enough = 0.5;

    private readonly Dictionary<(string Filter, string Update), Dictionary<(ulong, ulong), (BsonValue, BsonValue, double Count)>?> _pairs =
        [];

    public void Add(SeenOperation operation, double count)
    {
        if (operation.Filter is not { } filter || operation.Update is not { } update)
            return;
        foreach (ValueNode asked in filter.Values.Where(one => one.IsAsked).Take(MostPlaces))
        {
            foreach (ValueNode written in update.Values.Where(one => one.IsWritten).Take(MostPlaces))
                Add((asked.Field, written.Field), asked.Only, written.Only, count);
        }
    }

    /// <summary>Takes over the counts of another one.</summary>
    public void Take(PairTally other)
    {
        foreach ((var at, var pairs) in other._pairs)
        {
            if (pairs is null)
                _pairs[at] = null;
            foreach ((BsonValue asked, BsonValue written, double count) in pairs?.Values.ToArray() ?? [])
                Add(at, asked, written, count);
        }
    }

    /// <summary>The pair of which the one says most of the other; null for none.</summary>
    public ObservedPair? Best() => _pairs.Where(one => one.Value is { Count: > 1 })
        .Select(one => (one.Key, Values: one.Value!.Values.OrderByDescending(pair => pair.Count).ToArray()))
        .Where(one => one.Values.Sum(pair => pair.Count) >= Least)
        .Select(one => (one.Key, one.Values, Told: ToldOf(one.Values))).Where(one => one.Told >= Enough)
        .OrderByDescending(one => one.Told).Select(one => new ObservedPair(one.Key.Filter, one.Key.Update, one.Values)).FirstOrDefault();

    private void Add((string Filter, string Update) at, BsonValue? asked, BsonValue? written, double count)
    {
        if (!_pairs.TryGetValue(at, out Dictionary<(ulong, ulong), (BsonValue, BsonValue, double Count)>? known))
            _pairs[at] = known = [];
        if (known is null)
            return;
        if (asked is not { Bytes.Length: <= MostBytes } one || written is not { Bytes.Length: <= MostBytes } other)
        {
            _pairs[at] = null;
            return;
        }

        (ulong, ulong) key = (ValueTally.HashOf(one), ValueTally.HashOf(other));
        known[key] = (one, other, known.GetValueOrDefault(key).Count + count);
        if (known.Count > MostPairs)
            _pairs[at] = null;
    }

    /// <summary>The share of the entropy of what is written that the filter's value takes away.</summary>
    private static double ToldOf((BsonValue Asked, BsonValue Written, double Count)[] pairs)
    {
        double all = pairs.Sum(pair => pair.Count);
        double Entropy(Func<(BsonValue Asked, BsonValue Written, double Count), ulong> of) =>
            -pairs.GroupBy(of).Select(one => one.Sum(pair => pair.Count) / all).Sum(share => share * Math.Log(share));
        double written = Entropy(pair => ValueTally.HashOf(pair.Written));
        double both = -pairs.Sum(pair => pair.Count / all * Math.Log(pair.Count / all));
        return written <= 0 ? 0 : (written - (both - Entropy(pair => ValueTally.HashOf(pair.Asked)))) / written;
    }
}
