using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Plans;
using MongoPerf.Texts.Yaml;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Scenarios;

/// <summary>Reads a GridFS bucket of a file's data.</summary>
internal static class BucketReader
{
    /// <summary>The most bytes of a chunk, which with its other fields must stay below the 16 MB of a document.</summary>
    private const long MostChunkBytes = (16 << 20) - 1024;

    /// <param name="collection">The collection with the key files.</param>
    /// <param name="name">The bucket's.</param>
    /// <param name="shard">The only shard that is to hold it, from 1; null for all.</param>
    /// <param name="scale">What <c>--scale</c> multiplies counts by.</param>
    /// <param name="seed">The run's.</param>
    public static PlanCollection Read(MappingReader collection, string name, int? shard, CountScale scale, ulong seed)
    {
        if (((string[])["count", "document", "indexes", "shardKey", "presplit", "zones", "options"])
            .FirstOrDefault(key => collection.Find(key) is not null) is { } other)
            throw MappingReader.Wrong(
                collection.Find(other)!,
                $"collection '{name}': {other} is not allowed beside files: GridFS defines its collections",
                other == "count" ? "files: {count: …}" : null);
        if (name.Any(c => c is '/' or '\\' || char.IsControl(c)))
            throw MappingReader.Wrong(
                collection.Node,
                $"collection '{name}': a GridFS bucket's name must not contain slashes, backslashes or control characters",
                "such as photos");
        var reader = new MappingReader(collection.Find("files")!, $"files of '{name}'", ScenarioLanguage.Files);
        reader.Require("length", "such as length: 1.04MB");
        int chunkSize = (int)(reader.Size("chunkSize", 1, MostChunkBytes) ?? GridFsBucket.DefaultChunkSize);
        var files = new GridFsFileSet(seed, new GridFsBucket(name, chunkSize), (int)reader.Size("length", 1, Array.MaxLength)!.Value);
        long count = reader.Find("count") is { } node ? scale.Read(node, "count", least: 0) : 0;
        return new PlanCollection { Name = name, Count = count, Files = files, Shard = shard, Documents = Describe(files, name) };
    }

    /// <summary>The documents of the files, as an upload writes them.</summary>
    private static DocumentTemplate Describe(GridFsFileSet files, string name) => new(
        DocumentValue.Of(
            ("_id", new ObjectIdValue(files.Seed)),
            ("length", Literal((long)files.Length)),
            ("chunkSize", Literal(files.Bucket.ChunkSize)),
            ("uploadDate", new SequenceValue(NumberKind.Date, DocumentNumbers.FirstDate, 1)),
            ("filename", new NumberedTextValue("file", 10, isHashed: false))),
        files.Seed, name);

    private static LiteralValue Literal(object value) => new(BsonDocument.Of(("v", value)).First().Value);
}
