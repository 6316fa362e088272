using System.Text.RegularExpressions;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Sampling;

/// <summary>What the sampled documents of a collection have at one place: a field, or the elements of an array.</summary>
public sealed partial class FieldStatistics
{
    /// <summary>A document with more names than that, of which each is in few documents, is a map: its names are data.</summary>
    private const int MostNames = 200;

    private const int MostFewLengths = 8;

    /// <summary>What lies deeper can't be read by a scenario, which writes up to three levels for each.</summary>
    private const int MostLevels = 30;

    private readonly Dictionary<BsonType, ValueStatistics> _values = [];
    private readonly Dictionary<BsonType, long> _types = [];
    private readonly long _places;

    /// <summary>All documents of a collection.</summary>
    /// <param name="sample">With one document or more.</param>
    public static FieldStatistics Of(CollectionSample sample)
    {
        bool areConsecutive = sample.AreInOrder && sample.IsWhole;
        var all = new FieldStatistics("", "", [.. sample.Documents.Select(AsValue)], sample.Documents.Count,
            sample.Documents.Count == 0 ? 1 : Math.Max(1, (double)sample.Count / sample.Documents.Count), sample.AreInOrder,
            areConsecutive, 0);
        if (areConsecutive || sample.Consecutive.Count == 0)
            return all;
        var some = new FieldStatistics("", "", [.. sample.Consecutive.Select(AsValue)], sample.Consecutive.Count, 1, true, true, 0);
        foreach (FieldStatistics field in all.All())
        {
            foreach ((BsonType type, ValueStatistics values) in field.Values)
            {
                values.Succession = some.Find(field.Path) is { IsAlways: true } same
                    ? same.Values.GetValueOrDefault(type)?.Succession : null;
            }
        }

        return all;
    }

    /// <summary>A field with these values, one after the other.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="values">One or more.</param>
    public static FieldStatistics Of(string name, IReadOnlyList<BsonValue> values) =>
        new(name, name, [.. values], values.Count, 1, areInOrder: true, areConsecutive: true, 1);

    /// <param name="name">Its name.</param>
    /// <param name="path">Where it is.</param>
    /// <param name="values">The values that are there.</param>
    /// <param name="places">In how many documents or elements it could be.</param>
    /// <param name="scale">For how many of the collection each sampled one stands.</param>
    /// <param name="areInOrder">The documents are in the order in which they were inserted.</param>
    /// <param name="areConsecutive">None was left out between them.</param>
    /// <param name="level">How deep it lies.</param>
    private FieldStatistics(
        string name, string path, List<BsonValue> values, long places, double scale, bool areInOrder, bool areConsecutive, int level)
    {
        Name = name;
        Path = path;
        _places = places;
        foreach (IGrouping<BsonType, BsonValue> group in values.GroupBy(value => value.Type))
        {
            BsonValue[] ofType = [.. group];
            _types[group.Key] = ofType.Length;
            if (group.Key == BsonType.Document && level < MostLevels)
                ReadDocuments([.. ofType.Select(value => value.ToDocument())], scale, areInOrder,
                    areConsecutive && ofType.Length == places, level);
            else if (group.Key == BsonType.Array && level < MostLevels)
                ReadArrays([.. ofType.Select(value => value.ToDocument())], scale, level);
            else
                _values[group.Key] = new ValueStatistics(group.Key, ofType, ofType.Length * scale, areInOrder,
                    areConsecutive && ofType.Length == places);
        }
    }

    public string Name { get; }

    /// <summary>Dotted, without positions in arrays.</summary>
    public string Path { get; }

    /// <summary>How often it was seen.</summary>
    public long Count => _types.Values.Sum();

    /// <summary>The share of documents (of elements, within arrays) that have it.</summary>
    public double Presence => _places == 0 ? 0 : (double)Count / _places;

    /// <summary>Practically every document has it.</summary>
    public bool IsAlways => Presence >= 0.9999;

    /// <summary>How often it had each type.</summary>
    public IReadOnlyDictionary<BsonType, long> Types => _types;

    /// <summary>All its values have one type, this one.</summary>
    public bool IsOnly(BsonType type) => _types.Count == 1 && _types.ContainsKey(type);

    /// <summary>Its scalar values by type.</summary>
    public IReadOnlyDictionary<BsonType, ValueStatistics> Values => _values;

    /// <summary>The fields of its documents, in the order in which they are there.</summary>
    public IReadOnlyList<FieldStatistics> Fields { get; private set; } = [];

    /// <summary>Of documents whose names are data, such as ids: how many fields each has, and the values of them all.</summary>
    public (double Fields, FieldStatistics Values)? Map { get; private set; }

    /// <summary>Fields that are left out: their names begin with a ^ or a $, or hold a dot, or are data.</summary>
    public IReadOnlyList<string> OddNames { get; private set; } = [];

    /// <summary>The elements of its arrays; null where they have none.</summary>
    public FieldStatistics? Elements { get; private set; }

    /// <summary>Parts of equal share of its arrays' lengths; empty where it is no array.</summary>
    public double[] Lengths { get; private set; } = [];

    /// <summary>How often each length was seen, the shortest first; empty where there are many.</summary>
    public IReadOnlyList<KeyValuePair<int, int>> FewLengths { get; private set; } = [];

    /// <summary>One range of lengths does for all arrays.</summary>
    public bool HasEvenLengths => FewLengths is [var first, .., var last]
        ? FewLengths.Count == last.Key - first.Key + 1 && FewLengths.Max(one => one.Value) < 1.2 * FewLengths.Min(one => one.Value)
        : FewLengths.Count == 1;

    /// <summary>Of arrays that all have two numbers, as old places on a map: the numbers by their place.</summary>
    public (ValueStatistics First, ValueStatistics Second)? Pair { get; private set; }

    /// <summary>What lies at a path within it, arrays passed through; null for nothing.</summary>
    public FieldStatistics? Find(string path)
    {
        FieldStatistics? at = this;
        foreach (string step in path.Split('.'))
            at = at is null ? null : at.Field(step);
        return at;
    }

    /// <summary>It and all that lies in it.</summary>
    public IEnumerable<FieldStatistics> All() =>
        Fields.Concat(Elements is null ? [] : [Elements]).Concat(Map is { } map ? [map.Values] : [])
            .SelectMany(one => one.All()).Prepend(this);

    private FieldStatistics? Field(string step) => Fields.FirstOrDefault(field => field.Name == step)
        ?? (Elements is null ? null : step.All(char.IsAsciiDigit) ? Elements : Elements.Field(step));

    private void ReadDocuments(BsonDocument[] documents, double scale, bool areInOrder, bool areConsecutive, int level)
    {
        var fields = new Dictionary<string, List<BsonValue>>(StringComparer.Ordinal);
        var odd = new SortedSet<string>(StringComparer.Ordinal);
        foreach (BsonDocument document in documents)
        {
            foreach ((string name, BsonValue value) in document)
            {
                if (name.Length == 0 || name[0] is '^' or '$' || name.Contains('.', StringComparison.Ordinal)
                    || name.Contains("$(", StringComparison.Ordinal) || name.Any(char.IsControl))
                    odd.Add(name);
                else if (fields.TryGetValue(name, out List<BsonValue>? values))
                    values.Add(value);
                else
                    fields[name] = [value];
            }
        }

        long all = fields.Values.Sum(values => (long)values.Count);
        bool areData = fields.Keys.Count(name => Datum().IsMatch(name)) * 2 > fields.Count;
        bool isMap = level > 0 && (areData || (fields.Count > MostNames && all < (long)fields.Count * documents.Length / 5));
        if (!isMap)
            odd.UnionWith(fields.Keys.Where(name => IsDatum(name) || (areData && Datum().IsMatch(name))));
        OddNames = [.. odd];
        if (isMap)
        {
            List<BsonValue> together = [.. fields.Values.SelectMany(values => values)];
            Map = ((double)all / documents.Length,
                new FieldStatistics("", $"{Path}.*", together, all, scale, areInOrder: false, areConsecutive: false, level + 1));
            return;
        }

        Fields = [.. fields.Where(field => !odd.Contains(field.Key)).Select(field => new FieldStatistics(
            field.Key, Path.Length == 0 ? field.Key : $"{Path}.{field.Key}", field.Value, documents.Length, scale,
            // Of documents that lack the field, it is not known between which they were.
            areInOrder, areConsecutive, level + 1))];
    }

    private void ReadArrays(BsonDocument[] arrays, double scale, int level)
    {
        BsonValue[][] elements = [.. arrays.Select(array => array.Select(one => one.Value).ToArray())];
        Lengths = ValueStatistics.QuantilesOf([.. elements.Select(array => (double)array.Length)]);
        KeyValuePair<int, int>[] lengths = [.. elements.CountBy(array => array.Length).OrderBy(one => one.Key)];
        FewLengths = lengths.Length <= MostFewLengths ? lengths : [];
        List<BsonValue> all = [.. elements.SelectMany(array => array)];
        if (all.Count > 0)
            Elements = new FieldStatistics("", Path, all, all.Count, scale, areInOrder: false, areConsecutive: false, level + 1);
        if (Array.TrueForAll(elements, array => array is [{ Type: BsonType.Double }, { Type: BsonType.Double }]))
            Pair = (Place(0), Place(1));

        ValueStatistics Place(int at) =>
            new(BsonType.Double, [.. elements.Select(array => array[at])], elements.Length * scale, areInOrder: false);
    }

    private static BsonValue AsValue(BsonDocument document) => new(BsonType.Document, document.Memory);

    /// <summary>Wherever it stands, such a name is data: an id, a hash, the address of a person.</summary>
    public static bool IsDatum(string name) => Id().IsMatch(name);

    /// <summary>ObjectIds, UUIDs, hashes, numbers, dates and addresses of people, as names.</summary>
    [GeneratedRegex(@"\A([0-9a-fA-F-]{16,}|[0-9][0-9:T.+-]*|.*@.*)\z")]
    private static partial Regex Datum();

    [GeneratedRegex(@"\A([0-9a-fA-F-]{16,}|.*@.*)\z")]
    private static partial Regex Id();
}
