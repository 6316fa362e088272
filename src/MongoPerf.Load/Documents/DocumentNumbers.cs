using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>The <c>_id</c> of document number i under a seed, and back.</summary>
/// <remarks>
/// Twelve bytes: four of a fixed time (2011-03-13, the year of the original test), three that tell seeds apart, five of the number,
/// all big-endian: <c>_id</c>s of one seed increase with the number, so a range of numbers is a range of the index.
/// Part of schema version 1; never changed, since stored collections depend on it. Thread-safe.
/// </remarks>
public sealed class DocumentNumbers
{
    /// <summary>1,300,000,000 seconds since 1970.</summary>
    private const uint FixedTime = 1_300_000_000;

    /// <summary>The same, milliseconds since 1970: dates that increase with the number begin here.</summary>
    public const long FirstDate = FixedTime * 1000L;

    /// <summary>Numbers are below this: five bytes.</summary>
    public const long Limit = 1L << 40;

    private readonly ulong _seedTag;

    public DocumentNumbers(ulong seed) => _seedTag = (Mixing.Mix(seed + 0x6D6F6E676F) & 0xFFFFFF) << 40;

    /// <param name="number">0 to <see cref="Limit"/>; the limit itself is the first that no document has.</param>
    public ObjectId IdOf(long number) => new(FixedTime, _seedTag + (ulong)number);

    /// <summary>The number that an <c>_id</c> carries.</summary>
    /// <returns>-1 for an <c>_id</c> that this seed never makes.</returns>
    public long NumberOf(ObjectId id) =>
        id.High == FixedTime && (id.Low & ~((ulong)Limit - 1)) == _seedTag ? (long)(id.Low & ((ulong)Limit - 1)) : -1;
}
