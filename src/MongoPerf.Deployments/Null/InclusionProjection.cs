using MongoPerf.Wire.Bson;

namespace MongoPerf.Deployments.Null;

/// <summary>Reads projections that name the fields that are wanted; of all others nothing is understood.</summary>
internal static class InclusionProjection
{
    public static bool Is(ReadOnlySpan<byte> projection)
    {
        var field = new BsonReader(projection);
        while (field.Read())
        {
            if (field.ToBoolean())
                return true;
        }

        return false;
    }

    /// <summary>It lets nothing through but _id.</summary>
    public static bool IsIdOnly(ReadOnlySpan<byte> projection)
    {
        var field = new BsonReader(projection);
        return field.Read() && field.NameIs("_id"u8) && field.ToBoolean() && !field.Read();
    }

    /// <summary>Writes the named top-level fields; of a path such as <c>address.city</c> the whole of <c>address</c>.</summary>
    public static void Write(BsonWriter writer, ReadOnlySpan<byte> document, ReadOnlySpan<byte> projection)
    {
        writer.StartDocument();
        var field = new BsonReader(document);
        while (field.Read())
        {
            if (Includes(projection, field.Name))
                writer.WriteValue(field.Name, field.Type, field.Value);
        }

        writer.End();
    }

    private static bool Includes(ReadOnlySpan<byte> projection, ReadOnlySpan<byte> name)
    {
        var wanted = new BsonReader(projection);
        while (wanted.Read())
        {
            if (wanted.Name.StartsWith(name) && (wanted.Name.Length == name.Length || wanted.Name[name.Length] == (byte)'.'))
                return wanted.ToBoolean();
        }

        return name.SequenceEqual("_id"u8);
    }
}
