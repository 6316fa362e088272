using System.Globalization;
using System.Text;
using MongoPerf.Learning.Observing;
using MongoPerf.Learning.Sampling;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Learning.Writing;

/// <summary>Writes what a database holds as the <c>data</c> of a scenario.</summary>
public sealed class DataWriter : IWrittenData
{
    private readonly WrittenNames _names;
    private readonly Dictionary<string, WrittenCollection> _collections = new(StringComparer.Ordinal);

    /// <param name="sample">The database.</param>
    /// <param name="names">What collections and fields are called.</param>
    /// <param name="kept">Fields whose values may be in the file, such as <c>orders.state</c>.</param>
    /// <param name="mix">What is done with the data; null for nothing that was seen.</param>
    public DataWriter(DatabaseSample sample, WrittenNames names, IReadOnlySet<string> kept, OperationMix? mix = null)
    {
        ILookup<string, ValueShape> places = (mix?.Operations ?? []).SelectMany(one => one.Parts.Append(one))
            .SelectMany(one => one.Values.Select(value => (one.Collection, Value: value)))
            .ToLookup(one => one.Collection, one => one.Value);
        _names = names;
        var ids = new ObjectIdMap(sample.Collections);
        foreach (CollectionSample collection in sample.Collections)
        {
            _collections[collection.Name] = new WrittenCollection(collection, names,
                kept.Where(path => path.StartsWith($"{collection.Name}.", StringComparison.Ordinal))
                    .Select(path => path[(collection.Name.Length + 1)..]).ToHashSet(StringComparer.Ordinal),
                places[collection.Name].SelectMany(value => value.Seen.Few.Select(few => (value.Field, few.Key))), ids,
                (mix?.Operations ?? []).Where(one => one.Collection == collection.Name));
        }
    }

    /// <summary>The collections that have documents, as the file calls them.</summary>
    public IEnumerable<string> Loaded =>
        _collections.Values.Where(one => one.Sample.Count > 0).Select(one => _names.Collection(one.Sample.Name));

    public IEnumerable<string> TimeSeries => _collections.Values.Select(one => one.Sample)
        .Where(sample => sample.Count > 0 && sample.Options.Find("timeseries") is not null).Select(sample => sample.Name);

    public string? SearchOf(string collection) => _collections.GetValueOrDefault(collection)?.Words?.One;

    /// <summary>The section, with comments on what it lacks.</summary>
    /// <param name="loaded">
    /// Of a collection with so many documents, how many are loaded, since the phases insert the others; null where a growth inserts all.
    /// </param>
    public string Text(Func<string, long, long?> loaded) => _collections.Count == 0 ? "data"
        : $"data:\n{string.Concat(_collections.Values.Select(one => one.Text(loaded(one.Sample.Name, one.Sample.Count))))}";

    public string? CollectionOf(string collection) => _collections.ContainsKey(collection) ? _names.Collection(collection) : null;

    public string NameOf(string collection, string path) => _collections.GetValueOrDefault(collection)?.HasDatum(path) is true
        ? throw new NotWritableException("a field whose name is data")
        : _names.Path(path) is var name && name.Contains(DataNames.Any, StringComparison.Ordinal)
            ? _collections[collection].WithName(path) : name;

    public int? NamesAt(string collection, string path) => _collections.GetValueOrDefault(collection)?.NamesAt(path);

    public string? FieldOf(string collection, string path) => _collections.GetValueOrDefault(collection)?.FieldOf(path);

    public string? PlaceOf(string collection, string path) => _collections.GetValueOrDefault(collection)?.PlaceOf(path);

    public string? GeneratorOf(string collection, string path) => _collections.GetValueOrDefault(collection)?.GeneratorOf(path);

    public string? ValueOf(string collection, string path, BsonValue value) =>
        _collections.GetValueOrDefault(collection)?.Map.Instead(path, value);

    public string? BoundOf(string collection, string path, double least, double greatest) =>
        _collections.GetValueOrDefault(collection)?.Map.Bound(path, least, greatest);

    public string? BoundAt(string collection, string path, double share) =>
        _collections.GetValueOrDefault(collection)?.Map.BoundAt(path, share);

    public (string Lower, string Upper)? WindowOf(
        string collection, string path, (double Least, double Greatest) lower, (double Least, double Greatest) upper, double width) =>
        _collections.GetValueOrDefault(collection)?.Map.Window(path, lower, upper, width);

    public IReadOnlyList<(double Weight, double Share)> SharesOf(string collection, string path) =>
        _collections.TryGetValue(collection, out WrittenCollection? one)
            ? one.Map.SharesOf(path, one.Sample.IsWhole, one.DocumentsPerValue(path), one.Sample.Count) : [];

    public long DocumentsOf(string collection) =>
        _collections.GetValueOrDefault(collection)?.Sample is { } sample ? Math.Max(sample.Count, sample.Documents.Count) : 0;

    public string? AbsentOf(string collection, string path) => _collections.GetValueOrDefault(collection)?.Map.Absent(path);

    public double ShareOf(string collection, string path, BsonValue value) =>
        _collections.GetValueOrDefault(collection)?.Map.ShareOf(path, value) ?? 0;

    public double DocumentsPerValue(string collection, string path) =>
        _collections.GetValueOrDefault(collection)?.DocumentsPerValue(path) ?? 1;
}

/// <summary>One collection of the section.</summary>
internal sealed class WrittenCollection
{
    private readonly WrittenNames _names;
    private readonly FieldStatistics _root;
    private readonly FieldWriter _fields;
    private readonly string _head;
    private readonly string _rest;

    /// <param name="sample">The collection.</param>
    /// <param name="names">What fields are called.</param>
    /// <param name="kept">Fields whose values may be in the file.</param>
    /// <param name="watched">Values that operations name, with their fields.</param>
    /// <param name="ids">The ids of all collections' documents.</param>
    /// <param name="operations">What is done with it.</param>
    public WrittenCollection(CollectionSample sample, WrittenNames names, IReadOnlySet<string> kept,
        IEnumerable<(string Path, BsonValue Value)> watched, ObjectIdMap ids, IEnumerable<LearnedOperation> operations)
    {
        Sample = sample;
        _names = names;
        _root = FieldStatistics.Of(sample);
        Map = new ValueMap(sample.Name, _root, kept, watched.Concat(sample.Indexes.SelectMany(IndexWriter.Literals))
            .GroupBy(one => _root.Find(one.Path)?.Path ?? one.Path, one => one.Value, StringComparer.Ordinal)
            .ToDictionary(one => one.Key, one => (IReadOnlyCollection<BsonValue>)[.. one], StringComparer.Ordinal));
        var values = new ValueWriter(sample.Name, Unique(sample, _root), Expiring(sample), Map, ids,
            Words = SearchedWords.Of(sample, _root, operations));
        _fields = new FieldWriter(names, values) { Together = SeriesMeta.Of(sample, _root) };
        var text = new StringBuilder();
        (string Name, string Value)[] fields = [.. _fields.Root(_root)];
        var indexes = new IndexWriter(_root, names, Map, sample.Options.Find("collation") is not null);
        string? options = indexes.Options(sample.Options);
        string[] written = [.. sample.Indexes.Select(indexes.Of)];
        text.Append(CultureInfo.InvariantCulture, $"  {YamlText.Name(names.Collection(sample.Name))}:\n");
        var zones = new ZoneWriter(sample);
        IReadOnlyList<string> ranges = zones.Ranges();
        string[] notes = [.. sample.NotLearned, .. indexes.Notes, .. zones.Notes, .. _fields.Notes, .. values.Notes];
        foreach (string note in notes.Distinct())
            text.Append(CultureInfo.InvariantCulture, $"    # not learned: {YamlText.Comment(note)}\n");
        if (sample.Documents.Count > 0 && !sample.IsWhole)
            text.Append(CultureInfo.InvariantCulture, $"    # from {sample.Documents.Count:N0} of its documents\n");
        _head = text.ToString();
        text.Clear().Append(fields.Length == 0 ? "    document: {}\n" : "    document:\n");
        foreach ((string name, string value) in fields)
            text.Append(CultureInfo.InvariantCulture, $"      {name}: {value}\n");
        if (options is not null)
            text.Append(CultureInfo.InvariantCulture, $"    options: {options}\n");
        if (written.Length > 0)
            text.Append("    indexes:\n");
        foreach (string index in written)
            text.Append(CultureInfo.InvariantCulture, $"      - {index}\n");
        if (sample.ShardKey is { } key)
            text.Append(CultureInfo.InvariantCulture, $"    shardKey: {indexes.Fields(key)}\n");
        if (ranges.Count > 0)
            text.Append("    zones:\n");
        foreach (string range in ranges)
            text.Append(CultureInfo.InvariantCulture, $"      - {range}\n");
        _rest = text.ToString();
    }

    public CollectionSample Sample { get; }

    /// <summary>What the file has in place of values.</summary>
    public ValueMap Map { get; }

    /// <summary>The words of its texts; null where it has no text index.</summary>
    public SearchedWords? Words { get; }

    /// <inheritdoc cref="IWrittenData.DocumentsPerValue"/>
    public double DocumentsPerValue(string path)
    {
        FieldStatistics? field = _root.Find(path);
        double distinct = (field?.Values.Count == 0 ? field.Elements : field)?.Values.Values.Sum(one => one.Cardinality.Distinct) ?? 0;
        return Map.MadeUnique.Contains(path) || path == "_id" || distinct < 1 ? 1 : Math.Max(1, Sample.Count * field!.Presence / distinct);
    }

    /// <param name="loaded">
    /// So many documents are loaded; all of them where the server removes some, so that how many were inserted tells nothing. Null for no
    /// number.
    /// </param>
    public string Text(long? loaded)
    {
        if (loaded is null)
            return $"{_head}{_rest}";
        string count = loaded == Sample.Count || Loses ? Sample.Count.ToString(CultureInfo.InvariantCulture)
            : string.Create(CultureInfo.InvariantCulture, $"{loaded}    # {Sample.Count:N0} with what the phases ")
                + (loaded < Sample.Count ? "insert" : "remove");
        return $"{_head}    count: {count}\n{_rest}";
    }

    private bool Loses => Sample.Options.IsTrue("capped") || Expiring(Sample).Count > 0;

    /// <inheritdoc cref="IWrittenData.FieldOf"/>
    public string? FieldOf(string path)
    {
        // What ^field takes.
        const double LeastShare = 0.001;
        FieldStatistics? at = _root;
        double share = 1;
        var steps = new List<string>();
        foreach (string step in path.Split('.'))
        {
            if (at.Types.Count > 1)
                return null;
            at = Element(at, steps);
            if (at is null || at.Map is not null)
                return null;
            if (step.All(char.IsAsciiDigit) && steps.LastOrDefault() == "0")
                continue;
            at = at.Fields.FirstOrDefault(field => field.Name == step);
            if (step == "_id" && steps.Count == 0 && path == "_id" && (at is null || at.Types.Count > 1))
                return "_id";
            if (at is null || (steps.Contains("0") && !at.IsAlways))
                return null;
            share *= at.IsAlways || path == "_id" ? 1 : FieldWriter.ShareOf(at);
            steps.Add(_names.Path(step));
        }

        return share < LeastShare ? null
            : at.Types.Count > 1 ? HasSimpleValues(at) ? string.Join('.', steps) : null
            : Element(at, steps) is { Types.Count: 1 } end && end.Map is null ? string.Join('.', steps) : null;
    }

    /// <summary>Of several types, nearly all values are those that queries ask for, and that the file has.</summary>
    private static bool HasSimpleValues(FieldStatistics field)
    {
        const double Nearly = 0.95;
        return field.Types.Where(type => type.Key is BsonType.String or BsonType.Int32 or BsonType.Int64 or BsonType.Double
            or BsonType.Decimal128 or BsonType.ObjectId or BsonType.DateTime or BsonType.Boolean or BsonType.Binary)
            .Sum(type => type.Value) >= Nearly * field.Count;
    }

    /// <summary>A step of the path is no name, but data, such as an id.</summary>
    public bool HasDatum(string path)
    {
        FieldStatistics? at = _root;
        foreach (string step in path.Split('.'))
        {
            if (step == DataNames.Any)
            {
                at = at?.Map?.Values ?? (at?.Fields is [var first, ..] ? first : null);
                continue;
            }

            if (FieldStatistics.IsDatum(step) || at?.OddNames.Contains(step) is true)
                return true;
            for (FieldStatistics? inner = at; inner is not null; inner = inner.Elements)
            {
                if (inner.Map is not null)
                    return true;
            }

            at = at?.Find(step);
        }

        return false;
    }

    /// <inheritdoc cref="IWrittenData.NamesAt"/>
    public int? NamesAt(string path) => _root.Find(path)?.Map is var (count, _) ? FieldWriter.NamesOf(count) : null;

    /// <summary>The path with a name that documents of the file have in place of each that is data.</summary>
    public string WithName(string path)
    {
        FieldStatistics? at = _root;
        var steps = new List<string>();
        foreach (string step in path.Split('.'))
        {
            if (step == DataNames.Any)
            {
                FieldStatistics? field = at?.Fields.MaxBy(one => one.Presence);
                steps.Add(at?.Map is not null ? $"{FieldWriter.Prefix}0" : field is not null ? _names.Path(field.Name)
                    : throw new NotWritableException("a field whose name is data"));
                at = at?.Map?.Values ?? field;
                continue;
            }

            steps.Add(_names.Path(step));
            at = at?.Find(step);
        }

        return string.Join('.', steps);
    }

    /// <inheritdoc cref="IWrittenData.PlaceOf"/>
    public string? PlaceOf(string path) =>
        _root.All().FirstOrDefault(field => (path.Length == 0 || field.Path == path) && FieldWriter.HasPoints(field))?.Path;

    /// <inheritdoc cref="IWrittenData.GeneratorOf"/>
    public string? GeneratorOf(string path)
    {
        FieldStatistics? field = _root.Find(path);
        if (field?.Elements is { } elements && field.IsOnly(BsonType.Array))
            field = elements;
        return field is null ? null : _fields.Value(field);
    }

    /// <summary>In an array its first element stands for all; only where every array has one.</summary>
    private static FieldStatistics? Element(FieldStatistics? field, List<string> steps)
    {
        while (field is { Lengths.Length: > 0 } array)
        {
            if (array.Lengths[0] < 1 || !array.HasEvenLengths || array.Pair is not null)
                return null;
            steps.Add("0");
            field = array.Elements;
        }

        return field;
    }

    /// <summary>Fields of which an index, or being the _id, requires that each document has a value of its own.</summary>
    private static HashSet<string> Unique(CollectionSample sample, FieldStatistics root)
    {
        HashSet<string> unique =
        [
            .. sample.Indexes.Where(index => index.IsTrue("unique") && index.FindDocument("key") is { } key && key.Count() == 1)
                .Select(index => index.FindDocument("key")!.First().Key),
            "_id",
        ];
        // Of a document as _id one field is enough: that with the most values.
        if (root.Fields.FirstOrDefault(field => field.Name == "_id") is { Fields.Count: > 0 } id
            && id.All().Where(field => field.Values.Count == 1 && field.Lengths.Length == 0)
                .MaxBy(field => field.Values.Values.First().Cardinality.Distinct) is { } part)
            unique.Add(part.Path);
        return unique;
    }

    private static HashSet<string> Expiring(CollectionSample sample)
    {
        HashSet<string> expiring =
        [
            .. sample.Indexes.Where(index => index.Find("expireAfterSeconds") is not null)
                .Select(index => index.FindDocument("key")?.FirstOrDefault().Key ?? ""),
        ];
        if (sample.Options.Find("expireAfterSeconds") is not null && sample.Options.FindString("timeseries.timeField") is { } time)
            expiring.Add(time);
        return expiring;
    }
}
