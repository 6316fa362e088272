using System.Runtime.CompilerServices;
using MongoPerf.Measurement;

namespace MongoPerf.Load.Documents;

/// <summary>What the values of one document, or of one operation, are computed from.</summary>
/// <param name="number">The document's number, 0-based; in an operation that of the document that it is about.</param>
/// <param name="bits">What everything random in it derives from.</param>
/// <param name="write">The number of the write itself; 0 for one without.</param>
public readonly struct ValueContext(long number, ulong bits, long write = 0)
{
    public long Number { get; } = number;

    public ulong Bits { get; } = bits;

    public long Write { get; } = write;

    /// <summary>Random bits of one value.</summary>
    /// <param name="salt">The value's own, see <see cref="Salt"/>.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ulong BitsOf(ulong salt) => Mixing.Mix(Bits + salt);

    /// <summary>What element <paramref name="index"/> of an array is computed from.</summary>
    public ValueContext Element(ulong salt, int index) => new(Number, Mixing.At(Bits + salt, (ulong)index));
}

/// <summary>Numbers that part the random values of one template from one another.</summary>
/// <remarks>They come from the value's path, so a field that is added leaves the others' values as they are.</remarks>
public static class Salt
{
    private const ulong OffsetBasis = 0xCBF29CE484222325;
    private const ulong Prime = 1_099_511_628_211;

    /// <param name="path">The path, such as <c>users.address.city</c>.</param>
    public static ulong Of(string path)
    {
        ulong hash = OffsetBasis;
        foreach (char c in path)
            hash = (hash ^ c) * Prime;
        return Mixing.Mix(hash);
    }
}
