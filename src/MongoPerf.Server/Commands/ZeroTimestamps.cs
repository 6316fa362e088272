using System.Buffers.Binary;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>
/// Timestamp(0, 0) in a field of an inserted or replacing document becomes the time, as on mongod; not in the _id, and not deeper.
/// </summary>
internal static class ZeroTimestamps
{
    private static int _ordinal;

    /// <returns>The document itself where it has none, which is nearly always.</returns>
    public static ReadOnlySpan<byte> Replace(ReadOnlySpan<byte> document)
    {
        byte[]? changed = null;
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.Type != BsonType.Timestamp || BinaryPrimitives.ReadUInt64LittleEndian(reader.Value) != 0 || reader.NameIs("_id"u8))
                continue;
            changed ??= document.ToArray();
            BinaryPrimitives.WriteUInt64LittleEndian(changed.AsSpan(reader.ValueOffset), Next());
        }

        return changed ?? document;
    }

    private static ulong Next() => ((ulong)DateTimeOffset.UtcNow.ToUnixTimeSeconds() << 32) | (uint)Interlocked.Increment(ref _ordinal);
}
