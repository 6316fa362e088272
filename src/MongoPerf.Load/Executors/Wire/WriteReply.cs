using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>The reply to a write command, as much of it as every operation must look at.</summary>
/// <param name="IsOk">ok:1, no write error and no write-concern error: ok alone says little.</param>
/// <param name="Count">Documents that the server counts.</param>
internal readonly record struct WriteReply(bool IsOk, int Count)
{
    public static WriteReply Parse(ReadOnlySpan<byte> message)
    {
        bool ok = false;
        bool hasErrors = false;
        int count = 0;
        var reader = new BsonReader(OpMsg.Parse(message).Body);
        while (reader.Read())
        {
            if (reader.NameIs("n"u8))
                count = (int)reader.ToInt64();
            else if (reader.NameIs("ok"u8))
                ok = reader.ToBoolean();
            else if (reader.NameIs("writeErrors"u8) || reader.NameIs("writeConcernError"u8))
                hasErrors = true;
        }

        return new WriteReply(ok && !hasErrors, count);
    }

    /// <summary>The first error of a reply that was not as it should be, with how many documents met the same. Allocates.</summary>
    public ServerError ReadError(ReadOnlySpan<byte> message, int expected)
    {
        var document = new BsonDocument(OpMsg.Parse(message).Body.ToArray());
        if (document.FindDocument("writeErrors.0") is { } first)
        {
            ServerError error = ServerError.From(first);
            return error with
            {
                Documents = Math.Max(1, document.FindDocument("writeErrors")!.Count(one => CodeOf(one.Value) == error.Code)),
            };
        }

        if (document.FindDocument("writeConcernError") is { } concernError)
            return ServerError.From(concernError);
        return IsOk
            ? new ServerError(0, "ShortCount", $"the server counts {Count} documents, {expected} were sent", [])
            : ServerError.From(document);
    }

    private static long? CodeOf(BsonValue writeError) =>
        writeError.Type == BsonType.Document ? writeError.ToDocument().FindInt64("code") : null;
}
