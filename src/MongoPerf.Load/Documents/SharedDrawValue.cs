using MongoPerf.Measurement;

namespace MongoPerf.Load.Documents;

/// <summary>
/// A whole number, uniform over min ≤ v ≤ max, from one half of the bits that a document's number has under the seed, whatever
/// the field is called.
/// </summary>
/// <remarks>
/// Two fields with different halves are independent; two with the same half rise and fall together. Never changed: stored
/// collections depend on it.
/// </remarks>
/// <param name="min">The least.</param>
/// <param name="max">The greatest; at most 2^32 - 1 above the least.</param>
/// <param name="isUpper">The upper half of the 64 bits.</param>
/// <param name="seed">The run's.</param>
public sealed class SharedDrawValue(long min, long max, bool isUpper, ulong seed) : NumberValue(NumberKind.Int32), IUniform
{
    public long Min => min;

    public long Max => max;

    public override long Compute(in ValueContext context)
    {
        ulong bits = Mixing.At(seed, (ulong)context.Number);
        return min + (long)(((ulong)(uint)(isUpper ? bits >> 32 : bits) * (ulong)(max - min + 1)) >> 32);
    }
}
