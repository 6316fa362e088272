using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.GridFs;

/// <summary>A file as its document in the files collection describes it. Source: specifications, gridfs-spec.md.</summary>
/// <param name="Id">Its <c>_id</c>, and its chunks' files_id.</param>
/// <param name="Length">Bytes, 0 or more.</param>
/// <param name="ChunkSize">Bytes of data in each chunk but the last, 1 or more.</param>
/// <param name="UploadDate">Milliseconds since 1970-01-01 UTC.</param>
/// <param name="Filename">Need not be the only one of that name.</param>
public sealed record GridFsFile(ObjectId Id, long Length, int ChunkSize, long UploadDate, string Filename)
{
    /// <summary>0 for an empty file.</summary>
    public int ChunkCount => (int)((Length + ChunkSize - 1) / ChunkSize);

    /// <param name="n">0 ≤ n &lt; <see cref="ChunkCount"/>.</param>
    /// <returns>Bytes of data in chunk n: all are full but the last.</returns>
    public int LengthOfChunk(int n) => (int)Math.Min(ChunkSize, Length - OffsetOfChunk(n));

    /// <summary>Where chunk n's data start in the file.</summary>
    public long OffsetOfChunk(int n) => (long)n * ChunkSize;

    /// <summary>The document of the files collection. It is written last: a file that has one is whole.</summary>
    public void Write(BsonWriter writer)
    {
        writer.StartDocument();
        writer.WriteObjectId("_id"u8, Id);
        writer.WriteInt64("length"u8, Length);
        writer.WriteInt32("chunkSize"u8, ChunkSize);
        writer.WriteDateTime("uploadDate"u8, UploadDate);
        writer.WriteString("filename"u8, Filename);
        writer.End();
    }

    /// <summary>The document of one chunk.</summary>
    /// <param name="writer">Takes it.</param>
    /// <param name="chunkId">Its <c>_id</c>.</param>
    /// <param name="fileId">The file's <c>_id</c>.</param>
    /// <param name="n">0-based.</param>
    /// <param name="data">Its bytes, at least one.</param>
    public static void WriteChunk(BsonWriter writer, ObjectId chunkId, ObjectId fileId, int n, ReadOnlySpan<byte> data)
    {
        writer.StartDocument();
        writer.WriteObjectId("_id"u8, chunkId);
        writer.WriteObjectId("files_id"u8, fileId);
        writer.WriteInt32("n"u8, n);
        writer.WriteBinary("data"u8, data);
        writer.End();
    }
}

/// <summary>Stored files that are not as the specification says.</summary>
public sealed class GridFsFormatException(string message) : Exception(message);
