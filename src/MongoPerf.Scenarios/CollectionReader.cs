using MongoPerf.Deployments.Limits;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.Rows;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Input;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads the collections of a file's data.</summary>
internal static class CollectionReader
{
    private const int MostBytes = 16 * 1024 * 1024;

    /// <param name="data">Parameters put in.</param>
    /// <param name="grown">Names of those that grow.</param>
    /// <param name="scale">What <c>--scale</c> multiplies counts by.</param>
    /// <param name="sources">Where values come from.</param>
    public static PlanCollection[] Read(ScenarioNode data, IReadOnlySet<string> grown, CountScale scale, ValueSources sources)
    {
        if (data is not MappingNode mapping)
            throw MappingReader.Wrong(data, $"data is {data.Describe()}; expected collections by name");
        var collections = new List<PlanCollection>();
        foreach (MappingEntry entry in mapping.Entries)
            collections.Add(Collection(entry, scale, grown, sources with { Collections = [.. collections] })
                with { IsGrown = grown.Contains(entry.Name) });
        if (collections.SelectMany(c => c.Stored).GroupBy(stored => stored.Name).FirstOrDefault(same => same.Count() > 1) is { } twice)
            throw MappingReader.Wrong(data, $"data: '{twice.Key}' is both a collection and part of a GridFS bucket");
        if (collections.FirstOrDefault(c => c.IsExisting) is { } existing && collections.FirstOrDefault(c => !c.IsExisting) is { } made)
            throw MappingReader.Wrong(mapping.Find(made.Name)!,
                $"data: '{made.Name}' would be created beside '{existing.Name}', which exists; a run on existing data writes nothing",
                "make two scenarios of it, or mark all collections with existing: true");
        return [.. collections];
    }

    private static PlanCollection Collection(
        MappingEntry entry, CountScale scale, IReadOnlySet<string> grown, ValueSources sources)
    {
        string name = CheckedName(entry.Key);
        var reader = new MappingReader(entry.Value, $"collection '{name}'", ScenarioLanguage.Collection);
        if (reader.Flag("existing"))
            return Existing((MappingNode)entry.Value, name, sources.Seed);
        int? shard = (int?)reader.Count("shard", 1, ClusterLimits.MostShards);
        if (shard is not null && reader.Find("shardKey") is { } key)
            throw MappingReader.Wrong(key,
                $"collection '{name}' has both shardKey, which spreads it, and shard, which keeps it on one shard", "remove one of them");
        if (reader.Find("files") is not null)
            return BucketReader.Read(reader, name, shard, scale, sources.Seed);
        ScenarioNode document = reader.Find("document") ?? new MappingNode(entry.Key.Position, []);
        var template = new DocumentTemplate(new TemplateReader(null, sources).Root(document, $"{name}.document"), sources.Seed, name);
        int length = template.Make(0).Bytes.Length;
        if (length > MostBytes)
            throw MappingReader.Wrong(
                document, $"collection '{name}': a document has {length:N0} bytes; MongoDB allows at most {MostBytes:N0}");
        var collection = new PlanCollection
        {
            Name = name,
            Count = reader.Find("count") is { } count ? scale.Read(count, "count", least: 0)
                : !grown.Contains(name) && template.Root.Row is { } row ? scale.Rows(document, row.Rows.File.Rows)
                : 0,
            Documents = template,
            Indexes = IndexReader.Read(reader.List("indexes"), $"collection '{name}': indexes"),
            ShardKey = ShardKeyOf(reader, name),
            Shard = shard,
            Options = Literal(reader, "options"),
        };
        if (collection.Options is { } options)
            new CollectionOptions(options, reader.Find("options")!, name).Require(template);
        if ((reader.Find("shardKey") ?? reader.Find("shard")) is { } sharded)
            ShardLimits.Require(collection, sharded);
        collection = ZoneReader.Read(reader, collection);
        RequireValues(collection, collection.Count, reader.Find("count") ?? document);
        ShardLimits.Require(collection, collection.Indexes, reader.Find("indexes"));
        return collection;
    }

    /// <summary>Requires values for all documents: numbers that fit their types, and a row for each _id that comes from a file.</summary>
    /// <param name="collection">The collection.</param>
    /// <param name="documents">How many it is to have.</param>
    /// <param name="node">Where that stands.</param>
    public static void RequireValues(PlanCollection collection, long documents, ScenarioNode node)
    {
        if (FindLimited(collection.Documents.Root, "", documents) is var (field, value))
        {
            throw MappingReader.Wrong(node, $"collection '{collection.Name}': {field} has values for {value.Limit:N0} documents, and "
                + $"{documents:N0} are asked for: its type holds no more",
                value is SequenceValue { Type: BsonType.Int32 } ? "type: long has 64 bits" : "ask for fewer, or take a smaller step");
        }

        if (collection.Documents.IdRows is not { } rows)
            return;
        if (rows.Order != RowOrder.InOrder)
            throw MappingReader.Wrong(node, $"collection '{collection.Name}': _id comes from random rows of {rows.File.Name}, "
                + "so some would come twice", "take rows in order, or give the document an _id of its own, such as _id: ^number");
        if (documents > rows.File.Rows)
            throw MappingReader.Wrong(node, $"collection '{collection.Name}': {documents:N0} documents, but {rows.File.Name} has "
                + $"{rows.File.Rows:N0} rows, and each _id can be there only once",
                "ask for no more, or give the document an _id of its own, such as _id: ^number");
    }

    private static (string Field, TemplateValue Value)? FindLimited(TemplateValue value, string path, long documents) =>
        value.Limit < documents ? (path, value)
        : value is DocumentValue document
            ? document.Elements.Select(e => FindLimited(e.Value, path.Length == 0 ? e.Key : $"{path}.{e.Key}", documents))
                .FirstOrDefault(found => found is not null)
            : value.Parts.Select(part => FindLimited(part, path, documents)).FirstOrDefault(found => found is not null);

    private static PlanCollection Existing(MappingNode node, string name, ulong seed) =>
        node.Entries.FirstOrDefault(entry => entry.Name != "existing") is { } other
            ? throw MappingReader.Wrong(other.Key,
                $"collection '{name}': {other.Name} is not allowed with existing: true, which only reads what is there",
                $"remove {other.Name}; or remove existing, and the run creates the collection")
            : new PlanCollection
            {
                Name = name, Count = 0, IsExisting = true, Documents = new DocumentTemplate(DocumentValue.Empty, seed, name),
            };

    private static BsonDocument? ShardKeyOf(MappingReader reader, string name)
    {
        BsonDocument? key = Literal(reader, "shardKey");
        if (key is not null)
            Directions.Require(key, reader.Find("shardKey")!, $"collection '{name}': shardKey", Directions.OfShardKeys);
        return key;
    }

    private static BsonDocument? Literal(MappingReader reader, string key) =>
        reader.Find(key) is { } node ? TemplateReader.Literal(node, key) : null;

    private static string CheckedName(ScalarNode key)
    {
        try
        {
            return Names.Collection(key.Text, "mongoperf", "data");
        }
        catch (UserException e)
        {
            throw MappingReader.Wrong(key, e.Message, e.Hint);
        }
    }
}
