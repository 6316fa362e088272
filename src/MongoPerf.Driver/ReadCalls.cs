using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using BsonDocument = MongoDB.Bson.BsonDocument;

namespace MongoPerf.Driver;

/// <summary>Find; the cursor is read to its end.</summary>
internal sealed class FindCall(
    IMongoCollection<RawBsonDocument> collection, FindDocuments operation, CancellationToken stop) : DriverCall(PartsOf(operation))
{
    private readonly Collation? _collation = DriverValues.CollationOf(operation);
    private readonly MongoDB.Bson.BsonValue? _comment = DriverValues.CommentOf(operation);
    private readonly List<RawBsonDocument> _kept = [];
    private readonly BsonWriter _batch = new();
    private BsonDocument _filter = [];
    private FindOptions<RawBsonDocument, RawBsonDocument> _options = new();

    public override OperationOutcome Execute()
    {
        using IAsyncCursor<RawBsonDocument> cursor = Session is null
            ? collection.FindSync(_filter, _options, stop)
            : collection.FindSync(Session, _filter, _options, stop);
        return Cursors.ReadToEnd(cursor, IsKept || operation.Expected is not null ? _kept : null, stop, keepsAll: IsKept);
    }

    public override void Keep(StepValues values, int slot) => KeepAll(_kept, values, slot);

    /// <summary>The documents of the first reply that had any, as a BSON array. Only of a find whose documents are known.</summary>
    public ReadOnlySpan<byte> FirstBatch()
    {
        _batch.Clear();
        _batch.StartDocument();
        foreach (RawBsonDocument document in _kept)
            _batch.WriteDocument("0"u8, DriverValues.BytesOf(document));
        _batch.End();
        return _batch.Written;
    }

    /// <summary>Their memory goes back to the driver's pool, as an application that has read its documents gives it back.</summary>
    protected override void Forget()
    {
        _kept.ForEach(document => document.Dispose());
        _kept.Clear();
    }

    protected override void Take(BsonDocument drawn)
    {
        _filter = drawn["filter"].AsBsonDocument;
        int? limit = NumberOf(drawn, "limit");
        _options = new FindOptions<RawBsonDocument, RawBsonDocument>
        {
            Sort = DocumentOf(drawn, "sort"),
            Projection = DocumentOf(drawn, "projection"),
            Skip = NumberOf(drawn, "skip"),
            Limit = limit,
            BatchSize = operation.BatchSize ?? limit,
            Hint = ValueOf(drawn, "hint"),
            Let = DocumentOf(drawn, "let"),
            Collation = _collation,
            Comment = _comment,
            MaxTime = DriverValues.MaxTimeOf(operation),
        };
    }

    private static DocumentValue PartsOf(FindDocuments operation) => new CommandBuilder()
        .Add("filter", operation.Filter).Add("sort", operation.Sort).Add("projection", operation.Projection)
        .Add("skip", operation.Skip).Add("limit", operation.Limit).Add("hint", operation.Hint)
        .Add("let", operation.Options.Let).Build();
}

/// <summary>Aggregate; the cursor is read to its end.</summary>
internal sealed class AggregateCall(
    IMongoCollection<RawBsonDocument> collection, AggregateDocuments operation, CancellationToken stop) : DriverCall(PartsOf(operation))
{
    private readonly Collation? _collation = DriverValues.CollationOf(operation);
    private readonly MongoDB.Bson.BsonValue? _comment = DriverValues.CommentOf(operation);
    private readonly List<RawBsonDocument> _kept = [];
    private BsonDocument[] _stages = [];
    private AggregateOptions _options = new();

    public override OperationOutcome Execute()
    {
        var pipeline = new BsonDocumentStagePipelineDefinition<RawBsonDocument, RawBsonDocument>(_stages);
        // Otherwise the driver would read what was written.
        if (_stages.Length > 0 && _stages[^1].GetElement(0).Name is "$out" or "$merge")
        {
            if (Session is null)
                collection.AggregateToCollection(pipeline, _options, stop);
            else
                collection.AggregateToCollection(Session, pipeline, _options, stop);
            return new OperationOutcome(true, 0, 0);
        }

        using IAsyncCursor<RawBsonDocument> cursor = Session is null
            ? collection.Aggregate(pipeline, _options, stop)
            : collection.Aggregate(Session, pipeline, _options, stop);
        return Cursors.ReadToEnd(cursor, IsKept ? _kept : null, stop, keepsAll: IsKept);
    }

    public override void Keep(StepValues values, int slot) => KeepAll(_kept, values, slot);

    protected override void Forget()
    {
        _kept.ForEach(document => document.Dispose());
        _kept.Clear();
    }

    protected override void Take(BsonDocument drawn)
    {
        _stages = [.. drawn["pipeline"].AsBsonArray.Select(stage => stage.AsBsonDocument)];
        _options = new AggregateOptions
        {
            Hint = ValueOf(drawn, "hint"),
            AllowDiskUse = operation.AllowDiskUse ? true : null,
            Let = DocumentOf(drawn, "let"),
            Collation = _collation,
            Comment = _comment,
            MaxTime = DriverValues.MaxTimeOf(operation),
        };
    }

    private static DocumentValue PartsOf(AggregateDocuments operation) =>
        new CommandBuilder().Add("pipeline", operation.Pipeline).Add("hint", operation.Hint).Add("let", operation.Options.Let).Build();
}

internal static class Cursors
{
    /// <param name="cursor">A cursor that has not been read yet.</param>
    /// <param name="kept">Gets the documents of the first reply that has any, and owns them then; null for none.</param>
    /// <param name="stop">Ends the reading.</param>
    /// <param name="keepsAll">Not only the documents of the first reply, but those of all.</param>
    public static OperationOutcome ReadToEnd(
        IAsyncCursor<RawBsonDocument> cursor, List<RawBsonDocument>? kept, CancellationToken stop, bool keepsAll = false)
    {
        long documents = 0;
        long bytes = 0;
        while (cursor.MoveNext(stop))
        {
            bool keeps = keepsAll || kept is { Count: 0 };
            foreach (RawBsonDocument document in cursor.Current)
            {
                documents++;
                bytes += document.Slice.Length;
                if (keeps)
                    kept!.Add(document);
                else
                    document.Dispose();
            }
        }

        return new OperationOutcome(true, (int)Math.Min(documents, int.MaxValue), bytes);
    }
}
