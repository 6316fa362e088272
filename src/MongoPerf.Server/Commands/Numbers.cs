using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>Numbers as mongod sends them: int32 when they fit, else int64.</summary>
internal static class Numbers
{
    public static BsonValue Of(long value)
    {
        bool isInt32 = value is >= int.MinValue and <= int.MaxValue;
        byte[] bytes = BitConverter.GetBytes(value);
        return new BsonValue(isInt32 ? BsonType.Int32 : BsonType.Int64, bytes.AsMemory(0, isInt32 ? 4 : 8));
    }

    public static void Write(BsonWriter body, ReadOnlySpan<byte> name, long value)
    {
        if (value is >= int.MinValue and <= int.MaxValue)
            body.WriteInt32(name, (int)value);
        else
            body.WriteInt64(name, value);
    }
}
