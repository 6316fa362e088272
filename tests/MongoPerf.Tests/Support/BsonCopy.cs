using MongoPerf.Wire.Bson;

namespace MongoPerf.Tests.Support;

/// <summary>Reads a document element by element and writes each with the writer's own method for its type.</summary>
public static class BsonCopy
{
    public static byte[] Of(ReadOnlySpan<byte> document)
    {
        var writer = new BsonWriter(16);
        writer.StartDocument();
        CopyElements(document, writer);
        writer.End();
        return writer.ToArray();
    }

    private static void CopyElements(ReadOnlySpan<byte> document, BsonWriter writer)
    {
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            switch (reader.Type)
            {
                case BsonType.Document or BsonType.Array:
                    if (reader.Type == BsonType.Document)
                        writer.StartDocument(reader.Name);
                    else
                        writer.StartArray(reader.Name);
                    CopyElements(reader.DocumentBytes, writer);
                    writer.End();
                    break;
                case BsonType.String: writer.WriteString(reader.Name, reader.StringBytes); break;
                case BsonType.Int32: writer.WriteInt32(reader.Name, reader.Int32); break;
                case BsonType.Int64: writer.WriteInt64(reader.Name, reader.Int64); break;
                case BsonType.Double when !double.IsNaN(reader.Double): writer.WriteDouble(reader.Name, reader.Double); break;
                case BsonType.Boolean: writer.WriteBoolean(reader.Name, reader.Boolean); break;
                case BsonType.Null: writer.WriteNull(reader.Name); break;
                case BsonType.DateTime: writer.WriteDateTime(reader.Name, reader.DateTimeMilliseconds); break;
                case BsonType.Timestamp: writer.WriteTimestamp(reader.Name, BitConverter.ToUInt64(reader.Value)); break;
                case BsonType.ObjectId: writer.WriteObjectId(reader.Name, reader.ObjectId); break;
                case BsonType.Binary: writer.WriteBinary(reader.Name, reader.Value[5..], reader.Value[4]); break;
                default: writer.WriteValue(reader.Name, reader.Type, reader.Value); break;
            }
        }
    }
}
