using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>Takes a pipeline's documents instead of the client: $out, $merge. While it does, no lock of the pipeline's is held.</summary>
internal interface IPipelineTarget : IDisposable
{
    /// <exception cref="CommandException">A document cannot be written; what was written before may stay.</exception>
    void Write(IReadOnlyList<BsonDocument> documents);

    /// <summary>Ends it after the last document; without this nothing is to be seen of an $out.</summary>
    void Complete();
}
