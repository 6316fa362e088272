using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Executors.Tyrant;

/// <summary>What a column's text means: which index and which operators suit it. The values are the server's index types.</summary>
public enum TyrantColumnKind
{
    Text = 0,
    Number = 1,

    /// <summary>Several words with commas between them.</summary>
    Words = 2,
}

/// <summary>The columns of a table and their kinds, as some of its documents show them. Immutable.</summary>
/// <remarks>The server knows no types: the same text is a number to one index and a string to another.</remarks>
public sealed class TyrantColumns(IReadOnlyList<(byte[] Name, TyrantColumnKind Kind)> columns)
{
    /// <summary>The key, as conditions and orders name it.</summary>
    public static ReadOnlySpan<byte> KeyName => [];

    /// <param name="documents">The documents that the table shall hold; the first that has a column shows what it is.</param>
    /// <exception cref="OperationLimitException">The table can't hold one of them.</exception>
    public static TyrantColumns Of(params IEnumerable<BsonDocument> documents)
    {
        var record = new TyrantRecord();
        var columns = new Dictionary<string, (byte[], TyrantColumnKind)>(StringComparer.Ordinal);
        foreach (BsonDocument document in documents)
        {
            record.Read(document.Bytes);
            foreach ((byte[] name, TyrantColumnKind kind) in record.DescribeColumns())
                columns.TryAdd(Encoding.UTF8.GetString(name), (name, kind));
        }

        return new TyrantColumns([.. columns.Values]);
    }

    /// <summary>A field's column: its own name, except for <c>_id</c>.</summary>
    public static ReadOnlySpan<byte> NameOf(ReadOnlySpan<byte> field) => field.SequenceEqual("_id"u8) ? KeyName : field;

    /// <returns>Null for a column that none of the documents had.</returns>
    public TyrantColumnKind? KindOf(ReadOnlySpan<byte> name)
    {
        for (int i = 0; i < columns.Count; i++)
        {
            if (name.SequenceEqual(columns[i].Name))
                return columns[i].Kind;
        }

        return null;
    }
}
