using System.Runtime.InteropServices;
using MongoDB.Bson.IO;
using MongoDB.Driver;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using Bson = MongoDB.Bson;
using BsonWriter = MongoPerf.Wire.Bson.BsonWriter;

namespace MongoPerf.Driver;

/// <summary>Values of templates as the driver takes them, and what it brings as bytes.</summary>
internal static class DriverValues
{
    /// <summary>Puts a document together as an application would: values one by one, not raw bytes.</summary>
    public static Bson.BsonDocument ToDriver(DocumentValue value, in ValueContext context) =>
        Bson.Serialization.BsonSerializer.Deserialize<Bson.BsonDocument>(value.ToDocument(context).Memory.ToArray());

    public static BsonDocument FromDriver(Bson.BsonDocument document) => new(Bson.BsonExtensionMethods.ToBson(document));

    /// <summary>The documents that lie one behind the other in the writer, without a copy: valid until it is written to again.</summary>
    public static IReadOnlyList<Bson.RawBsonDocument> Split(BsonWriter writer)
    {
        _ = MemoryMarshal.TryGetArray(writer.WrittenMemory, out ArraySegment<byte> written);
        var buffer = new ByteArrayBuffer(written.Array!, written.Count, isReadOnly: true);
        var documents = new List<Bson.RawBsonDocument>();
        for (int at = 0; at < written.Count;)
        {
            int length = BitConverter.ToInt32(written.Array!, at);
            documents.Add(new Bson.RawBsonDocument(buffer.GetSlice(at, length)));
            at += length;
        }

        return documents;
    }

    /// <summary>A copy.</summary>
    public static byte[] BytesOf(Bson.RawBsonDocument document)
    {
        var bytes = new byte[document.Slice.Length];
        document.Slice.GetBytes(0, bytes, 0, bytes.Length);
        return bytes;
    }

    /// <summary>The collection with what the operation asks for; where it asks for nothing, the connection string's holds.</summary>
    public static IMongoCollection<Bson.RawBsonDocument> CollectionOf(IMongoDatabase database, Operation operation)
    {
        var settings = new MongoCollectionSettings();
        if (operation.Concerns.WriteConcern is { } write)
            settings.WriteConcern = WriteConcernOf(write);
        if (operation.Concerns.ReadConcern is { } read)
            settings.ReadConcern = ReadConcern.FromBsonDocument(new Bson.BsonDocument("level", read));
        if (PreferenceOf(operation) is { } preference)
            settings.ReadPreference = preference;
        return database.GetCollection<Bson.RawBsonDocument>(operation.Collection, settings);
    }

    public static Bson.BsonValue? CommentOf(Operation operation) =>
        operation.Options.Comment is { } comment ? ToDriver(DocumentValue.Of(("v", comment)), new ValueContext(0, 0))["v"] : null;

    public static Collation? CollationOf(Operation operation) =>
        operation.Options.Collation is { } collation ? Collation.FromBsonDocument(Literal(collation)) : null;

    public static TimeSpan? MaxTimeOf(Operation operation) =>
        operation.Options.MaxMilliseconds is { } milliseconds ? TimeSpan.FromMilliseconds(milliseconds) : null;

    /// <summary>The array filters as the driver takes them beside an update.</summary>
    /// <param name="filters">The filters as they were drawn; null for none.</param>
    public static ArrayFilterDefinition[]? ArrayFiltersOf(Bson.BsonValue? filters) =>
        filters is null ? null
            : [.. filters.AsBsonArray.Select(one => new BsonDocumentArrayFilterDefinition<Bson.BsonDocument>(one.AsBsonDocument))];

    public static WriteConcern WriteConcernOf(BsonDocument concern) => WriteConcern.FromBsonDocument(Literal(concern));

    public static ReadPreference? PreferenceOf(Operation operation) =>
        operation.Concerns.ReadPreference is { } asked ? ReadPreference.FromBsonDocument(Literal(asked.Document)) : null;

    public static Bson.ObjectId ToDriver(ObjectId id)
    {
        var bytes = new byte[ObjectId.Size];
        id.CopyTo(bytes);
        return new Bson.ObjectId(bytes);
    }

    private static Bson.BsonDocument Literal(BsonDocument document) =>
        Bson.Serialization.BsonSerializer.Deserialize<Bson.BsonDocument>(document.Memory.ToArray());
}
