using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands;

/// <summary>What the insert command uses again on a connection.</summary>
internal sealed class InsertScratch
{
    public WriteErrors Errors { get; } = new();

    /// <summary>
    /// The writer for documents that must be made anew: those without an _id, or with it in another place than the first.
    /// </summary>
    public BsonWriter Document { get; } = new();

    /// <summary>Too much to be kept for the next insert.</summary>
    public bool IsLarge => Document.Length > KeptBytes || Errors.Count > KeptErrors;

    private const int KeptBytes = 1 << 20;
    private const int KeptErrors = 1000;
}
