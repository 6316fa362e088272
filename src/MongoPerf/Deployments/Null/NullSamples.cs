using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>A few of the documents that a client has sent, kept to answer its queries with: what comes back is right, byte by byte.</summary>
/// <remarks>
/// Two sets from the first <see cref="Offered"/> documents: the first hundred, for queries without a condition, and the sixteen with
/// the greatest least of Number and Number1, which satisfy any condition that a series asks (its bounds lie in the lower 90 %).
/// Not thread-safe.
/// </remarks>
internal sealed class NullSamples
{
    /// <summary>Documents looked at; later ones cost nothing.</summary>
    public const int Offered = 20_000;

    private const int AnyCount = 100;
    private const int GreatCount = 16;

    private readonly List<byte[]> _any = [];
    private readonly List<(int Value, byte[] Document)> _great = [];
    private int _offered;

    public bool IsComplete => _offered >= Offered;

    /// <summary>Changes whenever a set does, so that finished replies can be made again.</summary>
    public int Version { get; private set; }

    public IReadOnlyList<byte[]> Any => _any;

    public IEnumerable<byte[]> Great => _great.Select(item => item.Document);

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

        int value = LeastValue(document);
        if (_great.Count == GreatCount && value <= _great[^1].Value)
            return;
        if (_great.Count == GreatCount)
            _great.RemoveAt(GreatCount - 1);
        int at = _great.FindIndex(item => item.Value < value);
        _great.Insert(at < 0 ? _great.Count : at, (value, document.ToArray()));
        Version++;
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
