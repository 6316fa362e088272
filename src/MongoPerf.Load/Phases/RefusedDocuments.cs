using System.Text.Json;
using MongoPerf.Load.Keys;
using MongoPerf.Storage;

namespace MongoPerf.Load.Phases;

/// <summary>
/// Keeps, by collection, the numbers of documents that a unique index has refused and that the run goes on without (<c>--max-errors</c>).
/// </summary>
/// <remarks>
/// Where a collection's documents can't be found by their numbers, only their count is known: it is kept as so many numbers from 0.
/// </remarks>
public sealed class RefusedDocuments
{
    /// <summary>The name under which a run keeps them.</summary>
    internal const string Note = "refused documents";

    private readonly Dictionary<string, NumberRange[]> _ranges = [];

    /// <summary>Those of a stored run; none when it has noted none.</summary>
    /// <exception cref="RunStoreException">The note is damaged.</exception>
    public static RefusedDocuments Of(StoredRun run)
    {
        var refused = new RefusedDocuments();
        try
        {
            foreach ((string collection, long[][] ranges) in run.FindNote(Note) is { } text
                ? RunJson.Read<Dictionary<string, long[][]>>(text)
                : [])
                refused.Add(collection, [.. ranges.Select(Range)]);
            return refused;
        }
        catch (JsonException e)
        {
            throw RunSchema.Damaged(run.Folder, $"note '{Note}': {e.Message}");
        }

        static NumberRange Range(long[] ends) => ends is [>= 0 and var first, var end] && end > first
            ? new NumberRange(first, end)
            : throw new JsonException("not a range of numbers");
    }

    public bool AnyIn(string collection) => _ranges.ContainsKey(collection);

    public long CountIn(string collection) => RangesIn(collection).Sum(range => range.Count);

    public void Add(string collection, IEnumerable<NumberRange> numbers)
    {
        var all = new List<NumberRange>();
        foreach (NumberRange range in RangesIn(collection).Concat(numbers).OrderBy(range => range.First))
        {
            if (all.Count > 0 && range.First <= all[^1].End)
                all[^1] = all[^1] with { End = Math.Max(all[^1].End, range.End) };
            else
                all.Add(range);
        }

        if (all.Count > 0)
            _ranges[collection] = [.. all];
    }

    /// <summary>Forgets those of a collection that is made anew.</summary>
    /// <returns>False when there were none.</returns>
    public bool Remove(string collection) => _ranges.Remove(collection);

    /// <summary>What is left of some numbers of a collection.</summary>
    /// <param name="collection">Its name.</param>
    /// <param name="numbers">The numbers in their order.</param>
    public IReadOnlyList<NumberRange> Without(string collection, IReadOnlyList<NumberRange> numbers)
    {
        NumberRange[] refused = RangesIn(collection);
        if (refused.Length == 0)
            return numbers;
        var left = new List<NumberRange>();
        int at = 0;
        foreach (NumberRange range in numbers)
        {
            long from = range.First;
            while (at < refused.Length && refused[at].End <= from)
                at++;
            for (int i = at; i < refused.Length && refused[i].First < range.End; i++)
            {
                if (refused[i].First > from)
                    left.Add(new NumberRange(from, refused[i].First));
                from = refused[i].End;
            }

            if (from < range.End)
                left.Add(range with { First = from });
        }

        return left;
    }

    /// <summary>Where the numbers of a collection end, of which the last ones may have been refused.</summary>
    /// <param name="collection">Its name.</param>
    /// <param name="stored">One beyond the greatest number that is stored.</param>
    public long EndOf(string collection, long stored) =>
        RangesIn(collection).Where(range => range.First <= stored && range.End > stored).Select(range => range.End).FirstOrDefault(stored);

    /// <summary>The text that <see cref="Of"/> reads.</summary>
    public string ToText() =>
        RunJson.Write(_ranges.ToDictionary(one => one.Key, one => one.Value.Select(range => new[] { range.First, range.End })));

    private NumberRange[] RangesIn(string collection) => _ranges.GetValueOrDefault(collection) ?? [];
}
