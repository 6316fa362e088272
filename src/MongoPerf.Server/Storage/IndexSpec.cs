using MongoPerf.Server.Storage.Keys;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Storage;

/// <summary>What an index is: its name, its fields with their directions, what it leaves out, whether a key may occur once only.</summary>
/// <param name="Id">Unique within the collection for ever; part of the column family's name. 0 is <c>_id_</c>.</param>
/// <param name="Name">The name, at most 127 bytes, unique within the collection.</param>
/// <param name="Fields">1 to 32, in order.</param>
/// <param name="IsUnique">Missing fields count as null here, as in MongoDB.</param>
internal sealed record IndexSpec(int Id, string Name, IndexField[] Fields, bool IsUnique)
{
    public const string IdIndexName = "_id_";

    public static IndexSpec IdIndex { get; } = IdIndexOf(collation: null);

    /// <summary>The order of its strings; null for that of their bytes. The same for all of its fields.</summary>
    public Collation? Collation => Fields[0].Collation;

    /// <summary>The index that every collection has.</summary>
    /// <param name="collation">The collection's.</param>
    public static IndexSpec IdIndexOf(Collation? collation) =>
        new(0, IdIndexName, [new IndexField(new FieldPath("_id"), IsDescending: false, collation)], IsUnique: true);

    public bool IsIdIndex => Id == 0;

    /// <summary>Whether documents that have none of the fields are left out.</summary>
    public bool IsSparse { get; init; }

    /// <summary>Leaves out the documents that it does not match; null for none.</summary>
    public IDocumentFilter? Partial { get; init; }

    /// <summary>How old the date in its only field may become before its document is deleted; null for ever.</summary>
    public int? ExpireAfterSeconds { get; init; }

    /// <summary>Kept up to date, unique and expiring as ever, but not asked by any query.</summary>
    public bool IsHidden { get; init; }

    /// <summary>Whether every document is in it.</summary>
    public bool IsWhole => !IsSparse && Partial == null;

    /// <summary>The key pattern as the client gave it: <c>{Number: 1}</c>.</summary>
    public BsonDocument KeyPattern()
    {
        var writer = new BsonWriter(64);
        writer.StartDocument();
        foreach (IndexField field in Fields)
            writer.WriteInt32(System.Text.Encoding.UTF8.GetBytes(field.Path.Text), field.IsDescending ? -1 : 1);
        writer.End();
        return new BsonDocument(writer.ToArray());
    }

    /// <summary>Whether the two hold the same entries under the same rule, so that one of them would be of no use.</summary>
    public bool IsEquivalent(IndexSpec other) => HasSameKey(other) && IsUnique == other.IsUnique && IsSparse == other.IsSparse
        && Collation == other.Collation
        && (Partial?.Source ?? BsonDocument.Empty).Bytes.SequenceEqual((other.Partial?.Source ?? BsonDocument.Empty).Bytes)
        && Partial == null == (other.Partial == null);

    private bool HasSameKey(IndexSpec other) => Fields.Length == other.Fields.Length
        && Fields.Zip(other.Fields)
            .All(pair => pair.First.Path.Text == pair.Second.Path.Text && pair.First.IsDescending == pair.Second.IsDescending);
}

/// <summary>Says which documents a partial index has. Immutable; any thread.</summary>
internal interface IDocumentFilter
{
    /// <summary>The filter as the client gave it.</summary>
    BsonDocument Source { get; }

    bool Matches(ReadOnlySpan<byte> document);
}

/// <param name="Path">Where its value is.</param>
/// <param name="IsDescending">The greatest value comes first.</param>
/// <param name="Collation">The order of its strings; null for that of their bytes.</param>
internal sealed record IndexField(FieldPath Path, bool IsDescending, Collation? Collation = null)
{
    /// <summary>Adds the field's part of a document's key.</summary>
    /// <returns>False when an array lies on the path, so that there are several keys; nothing is added then.</returns>
    public bool TryAddKey(KeyBuffer key, ReadOnlySpan<byte> document)
    {
        PathResult found = Path.Find(document, out BsonType type, out ReadOnlySpan<byte> value);
        if (found == PathResult.Array)
            return false;
        if (found == PathResult.Missing)
            KeyEncoder.WriteMissing(key, IsDescending);
        else
            KeyEncoder.Write(key, type, value, IsDescending, Collation);
        return true;
    }
}
