using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Observing;

/// <summary>Values are the same if their types and bytes are.</summary>
internal sealed class SameValue : IEqualityComparer<BsonValue>
{
    public static SameValue Instance { get; } = new();

    public bool Equals(BsonValue x, BsonValue y) => x.Type == y.Type && x.Bytes.Span.SequenceEqual(y.Bytes.Span);

    public int GetHashCode(BsonValue value)
    {
        var hash = new HashCode();
        hash.AddBytes(value.Bytes.Span);
        return hash.ToHashCode();
    }
}
