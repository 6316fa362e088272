namespace MongoPerf.Load.Keys;

/// <summary>Document numbers from First up to, not with, End.</summary>
public readonly record struct NumberRange(long First, long End)
{
    public static NumberRange Of(long number) => new(number, number + 1);

    /// <summary>One of several unbroken parts that together are the range; their lengths differ by one at most.</summary>
    /// <param name="index">Which part, 0-based.</param>
    /// <param name="count">How many parts, 1 or more.</param>
    public NumberRange Part(int index, int count)
    {
        (long length, long rest) = Math.DivRem(Count, count);
        long first = First + (length * index) + Math.Min(index, rest);
        return new NumberRange(first, first + length + (index < rest ? 1 : 0));
    }

    public long Count => Math.Max(0, End - First);
}
