using MongoPerf.Engine.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>A few of the documents that a client has sent, kept to answer its queries with: what comes back is right, byte by byte.</summary>
/// <remarks>
/// Two sets from the first <see cref="Offered"/> documents: the first hundred, for queries without a condition, and sixteen whose Number
/// and Number1 both lie in the upper 10 %, which satisfy any condition that a series asks (its bounds lie below).
/// Not thread-safe.
/// </remarks>
internal sealed class NullSamples
{
    /// <summary>Documents looked at; later ones cost nothing.</summary>
    public const int Offered = 20_000;

    private const int AnyCount = 100;
    private const int GreatCount = 16;
    private const int GreatFrom = DocumentGenerator.ValueRange / 10 * 9;

    private readonly List<byte[]> _any = [];
    private readonly List<byte[]> _great = [];
    private int _offered;

    public bool IsComplete => _offered >= Offered || (_any.Count == AnyCount && _great.Count == GreatCount);

    /// <summary>Changes whenever a set does, so that finished replies can be made again.</summary>
    public int Version { get; private set; }

    public IReadOnlyList<byte[]> Any => _any;

    /// <summary>Empty until one came: about one document in a hundred is great.</summary>
    public IReadOnlyList<byte[]> Great => _great;

    /// <param name="document">One document of a series.</param>
    public void Offer(ReadOnlySpan<byte> document)
    {
        if (IsComplete)
            return;
        _offered++;
        if (_any.Count < AnyCount)
        {
            _any.Add(document.ToArray());
            Version++;
        }

        if (_great.Count < GreatCount && LeastValue(document) >= GreatFrom)
        {
            _great.Add(document.ToArray());
            Version++;
        }
    }

    private static int LeastValue(ReadOnlySpan<byte> document)
    {
        int least = int.MaxValue;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.Type == BsonType.Int32 && (reader.NameIs("Number"u8) || reader.NameIs("Number1"u8)))
                least = Math.Min(least, reader.Int32);
        }

        return least == int.MaxValue ? int.MinValue : least;
    }
}
