namespace MongoPerf.Load.Keys;

/// <summary>One client's share of a plan that several carry out together.</summary>
/// <param name="Index">0-based; the first also does what only one can do.</param>
/// <param name="Count">How many clients there are, 1 or more.</param>
public readonly record struct PlanShare(int Index, int Count)
{
    public static PlanShare Whole { get; } = new(0, 1);

    public bool IsWhole => Count == 1;

    public bool IsFirst => Index == 0;

    /// <summary>An unbroken part of a range; those of all clients are the range, and their lengths differ by one at most.</summary>
    public NumberRange Of(NumberRange range) => range.Part(Index, Count);

    /// <summary>A part of a count.</summary>
    public long Of(long count) => new NumberRange(0, count).Part(Index, Count).Count;

    /// <summary>
    /// Finds the first number that this client writes: of documents that clients add at once each writes those that leave its index as the
    /// remainder, wherever any of them begins.
    /// </summary>
    /// <returns>The least such number that is not below <paramref name="from"/>.</returns>
    public long FirstOwn(long from) => from + ((Index - (from % Count) + Count) % Count);

    /// <summary>Those numbers of a range.</summary>
    public IEnumerable<long> OwnOf(NumberRange range)
    {
        for (long number = FirstOwn(range.First); number < range.End; number += Count)
            yield return number;
    }
}
