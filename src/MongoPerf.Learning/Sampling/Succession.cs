using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Sampling;

/// <summary>How a field's values followed one another from one document to the next, in the order of insertion.</summary>
/// <param name="Every">How many consecutive documents had the same value, 1 or more.</param>
/// <param name="Cycle">The values of these groups, in their order, after which they began again; empty where they did not.</param>
/// <param name="Jitter">
/// By how much groups were apart from even steps, as the width of an even distribution and a share of the step; 0 for what is no number.
/// </param>
public sealed record Succession(int Every, IReadOnlyList<BsonValue> Cycle, double Jitter)
{
    /// <summary>Fewer documents tell nothing.</summary>
    internal const int Least = 40;

    /// <summary>So many rounds at least make a cycle.</summary>
    private const int Rounds = 3;

    private const int MostTried = 8;

    /// <summary>So many groups tell where it may begin again.</summary>
    private const int Beginning = 16;

    private const double Nearly = 0.99;

    /// <param name="values">Of consecutive documents.</param>
    /// <param name="same">Compares them.</param>
    /// <returns>Null where there are too few.</returns>
    internal static Succession? Of(IReadOnlyList<BsonValue> values, IEqualityComparer<BsonValue> same)
    {
        if (values.Count < Least)
            return null;
        var known = new Dictionary<BsonValue, int>(same);
        var numbers = new int[values.Count];
        for (int i = 0; i < numbers.Length; i++)
        {
            if (!known.TryGetValue(values[i], out numbers[i]))
                known[values[i]] = numbers[i] = known.Count;
        }

        int every = EveryOf(numbers);
        // The first group may have begun before.
        int first = every == 1 ? 0 : Array.FindIndex(numbers, number => number != numbers[0]) % every;
        int[] places = [.. Enumerable.Range(0, (numbers.Length - first) / every).Select(i => first + (i * every))];
        int[] groups = [.. places.Select(at => numbers[at])];
        int cycle = known.Count == 1 ? 0 : CycleOf(groups);
        return new Succession(every, [.. places.Take(cycle).Select(at => values[at])], JitterOf([.. places.Select(at => values[at])]));
    }

    /// <summary>The length of runs of equal values, but for the first and the last, where nearly all have the same.</summary>
    private static int EveryOf(int[] numbers)
    {
        var runs = new List<int>();
        for (int i = 0, begin = 0; i < numbers.Length; i++)
        {
            if (i > 0 && numbers[i] != numbers[i - 1])
            {
                runs.Add(i - begin);
                begin = i;
            }
        }

        int[] inner = [.. runs.Skip(1)];
        return inner.Length >= Rounds && inner.CountBy(run => run).MaxBy(one => one.Value) is var (length, count)
            && count >= Nearly * inner.Length ? length : 1;
    }

    /// <summary>After how many groups they begin again; 0 where they don't.</summary>
    private static int CycleOf(int[] groups)
    {
        foreach (int period in Enumerable.Range(2, Math.Max(0, (groups.Length / Rounds) - 1)).Where(BeginsAgain)
            .Take(MostTried))
        {
            int pairs = groups.Length - period;
            if (Enumerable.Range(0, pairs).Count(i => groups[i] == groups[i + period]) >= Nearly * pairs)
                return period;
        }

        return 0;

        bool BeginsAgain(int at) => groups.AsSpan(at, Math.Min(Beginning, groups.Length - at)).SequenceEqual(
            groups.AsSpan(0, Math.Min(Beginning, groups.Length - at)));
    }

    /// <summary>The mean distance of two even draws is a third of their range; what never falls is no more than a step too late.</summary>
    private static double JitterOf(BsonValue[] groups)
    {
        if (groups.Length < Least || groups.Any(value => value.Type != BsonType.DateTime))
            return 0;
        double[] steps = [.. groups.Zip(groups.Skip(1)).Select(pair => (double)pair.Second.ToInt64() - pair.First.ToInt64())];
        double step = steps.Average();
        if (step <= 0)
            return 0;
        double jitter = 3 * steps.Average(one => Math.Abs(one - step)) / step;
        return steps.Min() >= 0 ? Math.Min(1, jitter) : jitter;
    }
}
