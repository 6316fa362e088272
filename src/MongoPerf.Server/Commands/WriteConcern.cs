using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>How a write is to be acknowledged; on one server w:1 and "majority" are the same.</summary>
/// <param name="IsUnacknowledged">w:0: the reply says nothing about the outcome.</param>
/// <param name="IsJournaled">j:true: acknowledged when it would survive a power failure.</param>
internal readonly record struct WriteConcern(bool IsUnacknowledged, bool IsJournaled)
{
    /// <exception cref="CommandException">More servers than there are, or a value that is none.</exception>
    public static WriteConcern Parse(BsonValue value)
    {
        var reader = new BsonReader(BsonDocument.Of(("writeConcern", value)).Bytes);
        reader.Read();
        return Parse(reader);
    }

    /// <inheritdoc cref="Parse(BsonValue)"/>
    public static WriteConcern Parse(BsonReader reader)
    {
        if (reader.Type != BsonType.Document)
            throw CommandException.TypeMismatch("BSON field 'writeConcern' is the wrong type, expected type 'object'");
        bool isUnacknowledged = false;
        bool isJournaled = false;
        var fields = new BsonReader(reader.Value);
        while (fields.Read())
        {
            if (fields.NameIs("w"u8))
                isUnacknowledged = ParseW(fields);
            else if (fields.NameIs("j"u8) || fields.NameIs("fsync"u8))
                isJournaled |= fields.ToBoolean();
            else if (!fields.NameIs("wtimeout"u8) && !fields.NameIs("provenance"u8))
                throw CommandException.FailedToParse($"unrecognized write concern field: {fields.NameText}");
        }

        return new WriteConcern(isUnacknowledged, isJournaled);
    }

    private static bool ParseW(BsonReader w)
    {
        if (w.Type == BsonType.String)
            return w.StringText == "majority" ? false : throw CommandException.BadValue($"unrecognized write concern mode: {w.StringText}");
        if (!w.IsNumber)
            throw CommandException.FailedToParse("w has to be a number or a string");
        return w.ToInt64() switch
        {
            0 => true,
            1 => false,
            < 0 or > 50 =>
                throw CommandException.FailedToParse("w has to be a non-negative number and not greater than 50; found: " + w.ToInt64()),
            _ => throw CommandException.BadValue("cannot use 'w' > 1 when a host is not replicated"),
        };
    }
}
