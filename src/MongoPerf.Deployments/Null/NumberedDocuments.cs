using System.Buffers;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Keys;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>Documents that follow from their numbers: those of a template, or one of the two kinds that a GridFS bucket has.</summary>
/// <remarks>Any thread.</remarks>
internal abstract class NumberedDocuments
{
    private readonly Lazy<DocumentPool> _pool;

    protected NumberedDocuments() => _pool = new Lazy<DocumentPool>(() => DocumentPool.Make(DocumentPool.MaximumDocuments, Write));

    /// <summary>The first of them, for finds that ask for any.</summary>
    public DocumentPool Pool => _pool.Value;

    /// <summary>An _id tells its document's number.</summary>
    public virtual bool AreInvertible => true;

    /// <summary>A range of _ids is a range of numbers below <paramref name="end"/>.</summary>
    public virtual bool AreOrdered(long end) => true;

    /// <returns>-1 for an _id that no document has, or that does not tell.</returns>
    public abstract long NumberOf(BsonType type, ReadOnlySpan<byte> id);

    /// <summary>The documents that a value of another field belongs to, as a file's chunks to its _id.</summary>
    public virtual bool TryFindGroup(ReadOnlySpan<byte> field, BsonType type, ReadOnlySpan<byte> value, out NumberRange group)
    {
        group = default;
        return false;
    }

    /// <summary>Writes a document without a name.</summary>
    public abstract void Write(BsonWriter writer, long number);

    /// <summary>Writes the element <c>_id</c> alone.</summary>
    public abstract void WriteId(BsonWriter writer, long number);

    /// <summary>Makes the documents of each collection that a server has for these.</summary>
    public static IEnumerable<(string Name, NumberedDocuments Documents)> Of(PlanCollection collection) => collection.Files is { } files
        ? [(files.Bucket.Files, new Files(files)), (files.Bucket.Chunks, new Chunks(files))]
        : [(collection.Name, new Template(collection.Documents))];

    private sealed class Template(DocumentTemplate template) : NumberedDocuments
    {
        public override bool AreInvertible => template.Ids.AreInvertible;

        public override bool AreOrdered(long end) => template.Ids.AreOrdered(end);

        public override long NumberOf(BsonType type, ReadOnlySpan<byte> id) => template.Ids.NumberOf(type, id);

        public override void Write(BsonWriter writer, long number) => template.Write(writer, number);

        public override void WriteId(BsonWriter writer, long number) => template.Id.Write(writer, "_id"u8, template.ContextOf(number));
    }

    private sealed class Files(GridFsFileSet files) : NumberedDocuments
    {
        private readonly DocumentNumbers _ids = new(files.Seed);

        public override long NumberOf(BsonType type, ReadOnlySpan<byte> id) =>
            type == BsonType.ObjectId ? _ids.NumberOf(ObjectId.FromBytes(id)) : -1;

        public override void Write(BsonWriter writer, long number) => files.FileAt(number).Write(writer);

        public override void WriteId(BsonWriter writer, long number) => writer.WriteObjectId("_id"u8, files.IdOf(number));
    }

    /// <summary>Numbered through all files: chunk n of file f is f × chunks of a file + n.</summary>
    private sealed class Chunks(GridFsFileSet files) : NumberedDocuments
    {
        // Files without bytes have no chunk; nothing is ever asked about them then.
        private readonly int _perFile = Math.Max(1, files.ChunkCount);
        private readonly DocumentNumbers _ids = new(files.Seed);

        public override long NumberOf(BsonType type, ReadOnlySpan<byte> id) =>
            type == BsonType.ObjectId ? _ids.NumberOf(ObjectId.FromBytes(id)) : -1;

        public override bool TryFindGroup(ReadOnlySpan<byte> field, BsonType type, ReadOnlySpan<byte> value, out NumberRange group)
        {
            group = default;
            if (!field.SequenceEqual("files_id"u8) || type != BsonType.ObjectId)
                return false;
            long file = _ids.NumberOf(ObjectId.FromBytes(value));
            if (file >= 0)
                group = new NumberRange(file * _perFile, (file + 1) * _perFile);
            return true;
        }

        public override void Write(BsonWriter writer, long number)
        {
            (long file, long n) = Math.DivRem(number, _perFile);
            GridFsFile about = files.FileAt(file);
            int length = about.LengthOfChunk((int)n);
            byte[] data = ArrayPool<byte>.Shared.Rent(length);
            files.Fill(file, about.OffsetOfChunk((int)n), data.AsSpan(0, length));
            GridFsFile.WriteChunk(writer, files.ChunkIdOf(file, (int)n), about.Id, (int)n, data.AsSpan(0, length));
            ArrayPool<byte>.Shared.Return(data);
        }

        public override void WriteId(BsonWriter writer, long number) => writer.WriteObjectId("_id"u8, _ids.IdOf(number));
    }
}
