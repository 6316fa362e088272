namespace MongoPerf.Engine.Keys;

/// <summary>Document numbers from First up to, not with, End.</summary>
public readonly record struct NumberRange(long First, long End)
{
    public long Count => Math.Max(0, End - First);
}
