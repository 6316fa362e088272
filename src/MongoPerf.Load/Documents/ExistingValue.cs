using MongoPerf.Measurement;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>A value of a collection that MongoPerf did not make, drawn from a sample that is taken before the run begins.</summary>
/// <param name="collection">The collection's name.</param>
/// <param name="path">The field's path, dotted.</param>
/// <param name="byFrequency">A value is drawn as often as it occurs; otherwise each different value equally often.</param>
/// <param name="sample">Documents to sample, 1 or more.</param>
/// <param name="salt">The value's own.</param>
/// <remarks>Filled once, before the first operation is prepared; from then on for all threads.</remarks>
public sealed class ExistingValue(string collection, string path, bool byFrequency, int sample, ulong salt) : TemplateValue
{
    private readonly string _name = $"^existing: {collection}.{path}";
    private (BsonType Type, byte[] Bytes)[] _values = [];

    public string Collection => collection;

    public string Path => path;

    public int Sample => sample;

    /// <summary>Those of an operation, or of a part of one.</summary>
    public static IEnumerable<ExistingValue> In(TemplateValue value) =>
        value is ExistingValue existing ? [existing] : value.Parts.SelectMany(In);

    /// <param name="values">One or more, as the sample has them: a value that occurs twice is there twice.</param>
    public void Fill(IEnumerable<(BsonType Type, byte[] Bytes)> values) =>
        _values = [.. byFrequency ? values : values.Distinct(SameValue.Instance)];

    /// <remarks>Before it is filled it is its own name, for those who only show a command.</remarks>
    public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
    {
        if (_values.Length == 0)
        {
            writer.WriteString(name, _name);
            return;
        }

        (BsonType type, byte[] bytes) = _values[Mixing.Scale((uint)(context.BitsOf(salt) >> 32), _values.Length)];
        writer.WriteValue(name, type, bytes);
    }

    private sealed class SameValue : IEqualityComparer<(BsonType Type, byte[] Bytes)>
    {
        public static SameValue Instance { get; } = new();

        public bool Equals((BsonType Type, byte[] Bytes) x, (BsonType Type, byte[] Bytes) y) =>
            x.Type == y.Type && x.Bytes.AsSpan().SequenceEqual(y.Bytes);

        public int GetHashCode((BsonType Type, byte[] Bytes) obj)
        {
            var hash = new HashCode();
            hash.Add(obj.Type);
            hash.AddBytes(obj.Bytes);
            return hash.ToHashCode();
        }
    }
}
