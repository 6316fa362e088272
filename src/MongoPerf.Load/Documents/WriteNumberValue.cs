using System.Buffers.Binary;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents;

/// <summary>The number of the write itself: each of a phase has its own, by which its event is known.</summary>
public sealed class WriteNumberValue() : FixedValue(BsonType.Int64, sizeof(long))
{
    public override void Fill(Span<byte> value, in ValueContext context) => BinaryPrimitives.WriteInt64LittleEndian(value, context.Write);
}
