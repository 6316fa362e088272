using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.GridFs;

/// <summary>
/// A pair of collections that hold files: one document per file, and its bytes in chunks. Source: specifications, gridfs-spec.md.
/// </summary>
/// <param name="Name">The name in front of both collections' names; <c>fs</c> is what clients take when nobody says otherwise.</param>
/// <param name="ChunkSize">Bytes of data in each chunk but a file's last, 1 or more.</param>
public sealed record GridFsBucket(string Name = "fs", int ChunkSize = GridFsBucket.DefaultChunkSize)
{
    /// <summary>255 KiB: with its other fields a chunk fits into 256 KiB.</summary>
    public const int DefaultChunkSize = 255 * 1024;

    public string Files => Name + ".files";

    public string Chunks => Name + ".chunks";

    /// <summary>The index of the files' collection, as createIndexes takes it: it is there before the first file.</summary>
    public static BsonDocument FilesIndex { get; } =
        BsonDocument.Of(("key", BsonDocument.Of(("filename", 1), ("uploadDate", 1))), ("name", "filename_1_uploadDate_1"));

    /// <summary>The index of the chunks' collection.</summary>
    /// <inheritdoc cref="FilesIndex"/>
    public static BsonDocument ChunksIndex { get; } =
        BsonDocument.Of(("key", BsonDocument.Of(("files_id", 1), ("n", 1))), ("name", "files_id_1_n_1"), ("unique", true));
}
