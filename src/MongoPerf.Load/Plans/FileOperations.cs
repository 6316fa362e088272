using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Plans;

/// <summary>Writes a file into a GridFS bucket: its chunks, then its document, counted and timed as one operation.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">The bucket's name.</param>
/// <param name="Files">Which; numbers come from the phase's source, or are the bucket's next.</param>
public sealed record UploadFile(string Name, string Collection, GridFsFileSet Files) : Operation(Name, Collection)
{
    public override bool IsWrite => true;

    public override bool Inserts => true;

    public override IReadOnlyList<Operation> Steps =>
        [
            new FileInsert("chunks", Files.Bucket.Chunks) { Concerns = Concerns },
            new FileInsert("file", Files.Bucket.Files) { Concerns = Concerns },
        ];

    public override DocumentValue ToCommand() => throw new NotSupportedException("an upload is several commands");

    /// <summary>An insert whose documents follow as a section of their own.</summary>
    private sealed record FileInsert(string Name, string Collection) : Operation(Name, Collection)
    {
        public override DocumentValue ToCommand() => Command("insert").AddWriteConcern(Concerns).Build();
    }
}

/// <summary>Reads a file of a GridFS bucket whole: its document, then its chunks in order, counted and timed as one operation.</summary>
/// <param name="Name">Its name in results.</param>
/// <param name="Collection">The bucket's name.</param>
/// <param name="Files">Which; the chooser draws their numbers.</param>
public sealed record DownloadFile(string Name, string Collection, GridFsFileSet Files) : Operation(Name, Collection)
{
    public override IReadOnlyList<Operation> Steps =>
    [
        new FindDocuments("file", Files.Bucket.Files, DocumentValue.Of(("_id", new ObjectIdValue(Files.Seed))))
        {
            Limit = new LiteralValue(CommandBuilder.Value(1)), Concerns = Concerns,
        },
        new FindDocuments("chunks", Files.Bucket.Chunks, DocumentValue.Of(("files_id", new ObjectIdValue(Files.Seed))))
        {
            Sort = DocumentValue.Of(BsonDocument.Of(("n", 1))), Concerns = Concerns,
        },
    ];

    public override DocumentValue ToCommand() => throw new NotSupportedException("a download is several commands");
}
