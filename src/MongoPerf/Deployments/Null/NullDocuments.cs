using System.Buffers.Binary;
using MongoPerf.Engine.Documents;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>How the null server sees a series' document: by its length and its _id, and nothing else.</summary>
internal static class NullDocuments
{
    /// <summary>Shorter documents (markers, notes) are kept as they are.</summary>
    public const int SmallestNumbered = 256;

    /// <summary>The document's length, the type byte and "_id" with its zero: where the _id's twelve bytes begin.</summary>
    public const int IdOffset = 9;

    private const int NumberBits = 40;

    // 07 5f 69 64: ObjectId, "_id"; its zero byte follows.
    private const uint IdMark = 0x64695F07;

    /// <summary>Whether a document has an ObjectId first and is long enough to be one of a series.</summary>
    public static bool IsNumbered(ReadOnlySpan<byte> document) =>
        document.Length >= SmallestNumbered && BinaryPrimitives.ReadUInt32LittleEndian(document[4..]) == IdMark && document[8] == 0;

    public static NumberedId IdOf(ReadOnlySpan<byte> document) => Split(ObjectId.FromBytes(document[IdOffset..]));

    /// <summary>Parts an _id into what all of a series share and the number (see <see cref="DocumentNumbers"/>: the last five bytes).</summary>
    public static NumberedId Split(ObjectId id) =>
        new(((ulong)id.High << (64 - NumberBits)) | (id.Low >> NumberBits), (long)(id.Low & (DocumentNumbers.Limit - 1)));

    public static ObjectId Join(ulong family, long number) =>
        new((uint)(family >> (64 - NumberBits)), (family << NumberBits) | (ulong)number);

    /// <summary>Looks whether the documents are all of one length and carry numbers in a row, by the first and the last of them.</summary>
    /// <param name="documents">Back to back.</param>
    /// <param name="first">The first one's _id.</param>
    /// <param name="count">How many there are.</param>
    public static bool IsRun(ReadOnlySpan<byte> documents, out NumberedId first, out int count)
    {
        (first, count) = (default, 0);
        int length = documents.Length >= SmallestNumbered ? BinaryPrimitives.ReadInt32LittleEndian(documents) : 0;
        if (length < SmallestNumbered || documents.Length % length != 0 || !IsNumbered(documents))
            return false;
        count = documents.Length / length;
        ReadOnlySpan<byte> last = documents[(documents.Length - length)..];
        first = IdOf(documents);
        return BinaryPrimitives.ReadInt32LittleEndian(last) == length && IsNumbered(last)
            && IdOf(last) == new NumberedId(first.Family, first.Number + count - 1);
    }
}

/// <param name="Family">The _id's first seven bytes: time and seed.</param>
/// <param name="Number">Its last five.</param>
internal readonly record struct NumberedId(ulong Family, long Number);
