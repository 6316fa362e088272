namespace MongoPerf.Wire.Bson;

public enum ExtendedJsonMode
{
    /// <summary>Every type is written out, so that reading gives the same bytes.</summary>
    Canonical,

    /// <summary>Numbers and dates as people write them; int32, int64 and double are no longer told apart for sure.</summary>
    Relaxed,
}

/// <summary>BSON as text and back. Source: specifications/source/extended-json/extended-json.md, version 2.</summary>
public static class ExtendedJson
{
    /// <param name="document">A whole document; values in it that are not UTF-8 show as U+FFFD.</param>
    /// <param name="mode">How much of the types is told.</param>
    /// <param name="indented">An element per line; <c>{ "$oid": … }</c> and its like stay on theirs.</param>
    /// <exception cref="BsonFormatException">The bytes are not BSON.</exception>
    public static string Write(ReadOnlySpan<byte> document, ExtendedJsonMode mode = ExtendedJsonMode.Relaxed, bool indented = false)
    {
        var writer = new ExtendedJsonWriter(mode, indented);
        writer.WriteDocument(document, isArray: false);
        return writer.ToString();
    }

    /// <summary>Reads one document in canonical or relaxed form, or a mixture.</summary>
    /// <remarks>
    /// Whole numbers become int32 or, beyond its range, int64; all others double. Regex options are sorted, as BSON wants them.
    /// </remarks>
    /// <exception cref="ExtendedJsonException">
    /// Not JSON, not an object, or a <c>$</c> wrapper with other contents than its type has.
    /// </exception>
    public static BsonDocument Parse(string json) => ExtendedJsonReader.Read(json);
}
