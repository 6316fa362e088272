using System.Buffers.Text;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>Finished documents, as the elements of a reply's array: as many as requested are copied at once.</summary>
/// <remarks>Immutable but for the projections that it keeps. Any thread.</remarks>
internal sealed class DocumentPool
{
    public const int MaximumDocuments = 1000;

    /// <summary>Replies stop here, as mongod's do; one document more is always allowed.</summary>
    public const int MaximumReplyBytes = 16 << 20;

    private const int MaximumBytes = 4 << 20;

    // More than the fields that a scenario draws from.
    private const int MaximumProjections = 64;

    private readonly byte[] _elements;
    private readonly int[] _ends;
    private volatile (byte[] Projection, DocumentPool Pool)[] _projected = [];

    private DocumentPool(byte[] elements, int[] ends) => (_elements, _ends) = (elements, ends);

    public int Count => _ends.Length;

    /// <param name="count">Documents at most; beyond a few megabytes no more are made.</param>
    /// <param name="write">Writes the document of a number from 0 on.</param>
    public static DocumentPool Make(int count, Action<BsonWriter, long> write)
    {
        var writer = new BsonWriter();
        var ends = new List<int>();
        while (ends.Count < count && writer.Length < MaximumBytes)
        {
            WriteKey(writer, ends.Count);
            write(writer, ends.Count);
            ends.Add(writer.Length);
        }

        return new DocumentPool(writer.ToArray(), [.. ends]);
    }

    /// <summary>The same documents as a projection leaves them.</summary>
    public DocumentPool Project(ReadOnlySpan<byte> projection)
    {
        if (!InclusionProjection.Is(projection))
            return this;
        foreach ((byte[] known, DocumentPool pool) in _projected)
        {
            if (projection.SequenceEqual(known))
                return pool;
        }

        return AddProjection(projection.ToArray());
    }

    /// <summary>Writes documents into an open array; when the pool is too small, from its beginning again.</summary>
    /// <returns>How many: fewer than <paramref name="count"/> where a reply can't hold them.</returns>
    public int Write(BsonWriter array, long count)
    {
        if (Count == 0 || count <= 0)
            return 0;
        long fitting = Math.Max(1, (long)MaximumReplyBytes * Count / _elements.Length);
        int written = (int)Math.Min(count, fitting);
        int whole = Math.Min(written, Count);
        array.WriteRaw(_elements.AsSpan(0, _ends[whole - 1]));
        for (int i = whole; i < written; i++)
        {
            WriteKey(array, i);
            array.WriteRaw(DocumentAt(i % Count));
        }

        return written;
    }

    /// <summary>Type and key of a document in an array.</summary>
    public static void WriteKey(BsonWriter array, int index)
    {
        Span<byte> key = stackalloc byte[11];
        Utf8Formatter.TryFormat(index, key, out int digits);
        array.WriteName(BsonType.Document, key[..digits]);
    }

    /// <summary>Two threads at once may lose one of two, which is then made again.</summary>
    private DocumentPool AddProjection(byte[] projection)
    {
        DocumentPool projected = Make(Count, (writer, number) => InclusionProjection.Write(writer, DocumentAt((int)number), projection));
        (byte[], DocumentPool)[] before = _projected;
        _projected = before.Length < MaximumProjections ? [.. before, (projection, projected)] : [(projection, projected)];
        return projected;
    }

    private ReadOnlySpan<byte> DocumentAt(int index)
    {
        ReadOnlySpan<byte> element = _elements.AsSpan((index == 0 ? 0 : _ends[index - 1]).._ends[index]);
        return element[(element.IndexOf((byte)0) + 1)..];
    }
}
