namespace MongoPerf.Engine.Keys;

/// <summary>Document numbers from First up to, not with, End.</summary>
public readonly record struct NumberRange(long First, long End)
{
    public static NumberRange Of(long number) => new(number, number + 1);

    public long Count => Math.Max(0, End - First);
}
