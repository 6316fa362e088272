using MongoPerf.Server.Listening;
using MongoPerf.Server.Storage.Keys;
using MongoPerf.Server.Storage.Shards;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Sharding;

/// <summary>Finds out which shards a command would ask.</summary>
internal static class ShardRouting
{
    /// <summary>Counts the command for the shards that it asks; a wrong one counts nothing, and is told when it is carried out.</summary>
    public static void Count(CommandSession session, string command, in CommandRequest request)
    {
        var first = new BsonReader(request.Body);
        if (!first.Read() || first.Type != BsonType.String || Namespaces.IsInternal(session.Database))
            return;
        ShardMap? map = session.FindCollection(first.StringBytes)?.Shards;
        RoutedOperations operations = session.Router.Operations;
        if (map == null)
            operations.Count(command, null, []);
        else if (Asked(map, command, request) is { } asked)
            operations.Count(command, map, asked);
    }

    private static bool[]? Asked(ShardMap map, string command, in CommandRequest request)
    {
        bool[] asked = new bool[map.Owners.Length];
        switch (command)
        {
            case "insert":
                foreach (BsonDocument document in Items(request, "documents"))
                    TryMark(map, asked, document);
                return asked;
            case "update" or "delete":
                foreach (BsonDocument statement in Items(request, command + "s"))
                    Add(asked, ShardTargets.Of(map, statement.FindDocument("q") ?? BsonDocument.Empty, IsCollated(statement)));
                return asked;
            default:
                var body = new BsonDocument(request.Body.ToArray());
                BsonDocument? filter = body.FindDocument(command switch
                {
                    "find" => "filter",
                    "aggregate" => "pipeline.0.$match",
                    _ => "query",
                });
                return ShardTargets.Of(map, filter ?? BsonDocument.Empty, IsCollated(body));
        }
    }

    public static bool IsCollated(BsonDocument command) =>
        command.FindString("collation.locale") is { } locale && locale != "simple";

    private static void Add(bool[] asked, bool[] more)
    {
        for (int shard = 0; shard < asked.Length; shard++)
            asked[shard] |= more[shard];
    }

    private static void TryMark(ShardMap map, bool[] asked, BsonDocument document)
    {
        try
        {
            asked[map.OwnerOf(document.Bytes)] = true;
        }
        catch (IndexKeyException)
        {
            // Refused when it is inserted.
        }
    }

    private static IEnumerable<BsonDocument> Items(in CommandRequest request, string name)
    {
        if (!request.TryGetSequence(System.Text.Encoding.UTF8.GetBytes(name), out ReadOnlySpan<byte> bytes))
            return (new BsonDocument(request.Body.ToArray()).FindDocument(name) ?? BsonDocument.Empty)
                .Where(item => item.Value.Type == BsonType.Document).Select(item => item.Value.ToDocument());
        var documents = new List<BsonDocument>();
        while (bytes.Length >= BsonReader.MinimumDocumentLength)
        {
            int length = System.Buffers.Binary.BinaryPrimitives.ReadInt32LittleEndian(bytes);
            if (length < BsonReader.MinimumDocumentLength || length > bytes.Length)
                break;
            // The body was looked at; what stands in a sequence is hashed here before the command itself looks at it.
            BsonValidator.ValidateStructure(bytes[..length]);
            documents.Add(new BsonDocument(bytes[..length].ToArray()));
            bytes = bytes[length..];
        }

        return documents;
    }
}
