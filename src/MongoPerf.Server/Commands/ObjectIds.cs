using System.Buffers.Binary;
using MongoPerf.Platforms;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>New ObjectIds: the time, and random bytes. Any thread.</summary>
internal static class ObjectIds
{
    public static ObjectId Next()
    {
        Span<byte> bytes = stackalloc byte[ObjectId.Size];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, (uint)DateTimeOffset.UtcNow.ToUnixTimeSeconds());
        SystemRandom.Fill(bytes[4..]);
        return ObjectId.FromBytes(bytes);
    }
}
