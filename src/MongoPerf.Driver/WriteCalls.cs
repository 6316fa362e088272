using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;

namespace MongoPerf.Driver;

/// <summary>What an update holds; each is another call of the driver.</summary>
internal enum UpdateForm
{
    /// <summary>The operators, such as $set.</summary>
    Operators,

    /// <summary>An array of stages.</summary>
    Pipeline,

    /// <summary>A whole document.</summary>
    Replacement,
}

/// <summary>UpdateOne, UpdateMany or ReplaceOne.</summary>
internal sealed class UpdateCall(
    IMongoCollection<RawBsonDocument> collection, UpdateDocuments operation, CancellationToken stop) : DriverCall(PartsOf(operation))
{
    private readonly UpdateForm _form = FormOf(operation.Update);
    private readonly WriteEffect? _effect = WriteEffect.Of(operation);
    private readonly UpdateOptions _options = new()
    {
        IsUpsert = operation.Upsert, Collation = DriverValues.CollationOf(operation), Comment = DriverValues.CommentOf(operation),
    };
    private readonly ReplaceOptions _replaceOptions = new()
    {
        IsUpsert = operation.Upsert, Collation = DriverValues.CollationOf(operation), Comment = DriverValues.CommentOf(operation),
    };
    private BsonDocument _filter = [];
    private UpdateDefinition<RawBsonDocument>? _update;
    private byte[] _replacement = [];
    private (long Matched, long Modified) _counts;

    public override void Keep(StepValues values, int slot) => KeepCounts(values, slot, _counts.Matched, _counts.Modified);

    public override OperationOutcome Execute()
    {
        if (_form == UpdateForm.Replacement)
        {
            ReplaceOneResult replaced = Session is null
                ? collection.ReplaceOne(_filter, new RawBsonDocument(_replacement), _replaceOptions, stop)
                : collection.ReplaceOne(Session, _filter, new RawBsonDocument(_replacement), _replaceOptions, stop);
            return replaced.IsAcknowledged
                ? OutcomeOf(replaced.MatchedCount, replaced.UpsertedId, replaced.ModifiedCount)
                : new OperationOutcome(true, 0, 0);
        }

        UpdateResult updated = (operation.Many, Session) switch
        {
            (true, null) => collection.UpdateMany(_filter, _update!, _options, stop),
            (true, { } session) => collection.UpdateMany(session, _filter, _update!, _options, stop),
            (false, null) => collection.UpdateOne(_filter, _update!, _options, stop),
            (false, { } session) => collection.UpdateOne(session, _filter, _update!, _options, stop),
        };
        return updated.IsAcknowledged
            ? OutcomeOf(updated.MatchedCount, updated.UpsertedId, updated.ModifiedCount)
            : new OperationOutcome(true, 0, 0);
    }

    public static UpdateForm FormOf(TemplateValue update) => update switch
    {
        DocumentValue { IsArray: true } => UpdateForm.Pipeline,
        DocumentValue { Elements: [{ Key: ['$', ..] }, ..] } => UpdateForm.Operators,
        LiteralValue { Value.Type: Wire.Bson.BsonType.Array } => UpdateForm.Pipeline,
        LiteralValue { Value.Type: Wire.Bson.BsonType.Document } literal
            when literal.Value.ToDocument().FirstOrDefault().Key is ['$', ..] => UpdateForm.Operators,
        _ => UpdateForm.Replacement,
    };

    /// <param name="update">Operators, or a pipeline.</param>
    public static UpdateDefinition<RawBsonDocument> DefinitionOf(BsonValue update) => update is BsonArray stages
        ? Builders<RawBsonDocument>.Update.Pipeline(new BsonDocumentStagePipelineDefinition<RawBsonDocument, RawBsonDocument>(
            stages.Select(stage => stage.AsBsonDocument)))
        : update.AsBsonDocument;

    protected override void Take(BsonDocument drawn)
    {
        _filter = drawn["filter"].AsBsonDocument;
        _options.Hint = _replaceOptions.Hint = ValueOf(drawn, "hint");
        _options.Let = _replaceOptions.Let = DocumentOf(drawn, "let");
        _options.ArrayFilters = DriverValues.ArrayFiltersOf(ValueOf(drawn, "arrayFilters"));
        if (_form == UpdateForm.Replacement)
            _replacement = drawn["update"].ToBson();
        else
            _update = DefinitionOf(drawn["update"]);
    }

    private OperationOutcome OutcomeOf(long matched, BsonValue? upsertedId, long modified)
    {
        int upserted = upsertedId is null ? 0 : 1;
        long documents = matched + upserted;
        _counts = (documents, modified);
        bool isMet = _effect is null || _effect.IsMet(documents, upserted, modified);
        if (!isMet)
            LastError = _effect!.ErrorOf(documents, upserted, modified);
        return new(isMet, (int)Math.Min(documents, int.MaxValue), 0)
        {
            ChangedNothing = matched > 0 && modified == 0, Modified = (int)Math.Min(modified, int.MaxValue),
        };
    }

    private static DocumentValue PartsOf(UpdateDocuments operation) =>
        new CommandBuilder().Add("filter", operation.Filter).Add("update", operation.Update).Add("hint", operation.Hint)
            .Add("let", operation.Options.Let).Add("arrayFilters", operation.ArrayFilters).Build();
}

/// <summary>DeleteOne or DeleteMany.</summary>
internal sealed class DeleteCall(
    IMongoCollection<RawBsonDocument> collection, DeleteDocuments operation, CancellationToken stop) : DriverCall(PartsOf(operation))
{
    private readonly DeleteOptions _options = new()
    {
        Collation = DriverValues.CollationOf(operation), Comment = DriverValues.CommentOf(operation),
    };
    private BsonDocument _filter = [];
    private long _deleted;

    public override OperationOutcome Execute()
    {
        DeleteResult deleted = (operation.Many, Session) switch
        {
            (true, null) => collection.DeleteMany(_filter, _options, stop),
            (true, { } session) => collection.DeleteMany(session, _filter, _options, stop),
            (false, null) => collection.DeleteOne(_filter, _options, stop),
            (false, { } session) => collection.DeleteOne(session, _filter, _options, stop),
        };
        _deleted = deleted.IsAcknowledged ? deleted.DeletedCount : 0;
        return new OperationOutcome(true, (int)Math.Min(_deleted, int.MaxValue), 0);
    }

    public override void Keep(StepValues values, int slot) => KeepCounts(values, slot, _deleted, null);

    protected override void Take(BsonDocument drawn)
    {
        _filter = drawn["filter"].AsBsonDocument;
        _options.Hint = ValueOf(drawn, "hint");
        _options.Let = DocumentOf(drawn, "let");
    }

    private static DocumentValue PartsOf(DeleteDocuments operation) =>
        new CommandBuilder().Add("filter", operation.Filter).Add("hint", operation.Hint).Add("let", operation.Options.Let).Build();
}

/// <summary>FindOneAndUpdate, FindOneAndReplace or FindOneAndDelete.</summary>
internal sealed class FindAndModifyCall(
    IMongoCollection<RawBsonDocument> collection, FindAndModify operation, CancellationToken stop) : DriverCall(PartsOf(operation))
{
    private readonly UpdateForm? _form = operation.Update is { } update ? UpdateCall.FormOf(update) : null;
    private readonly WriteEffect? _effect = WriteEffect.Of(operation);
    private readonly Collation? _collation = DriverValues.CollationOf(operation);
    private readonly MongoDB.Bson.BsonValue? _comment = DriverValues.CommentOf(operation);
    private BsonDocument _drawn = [];
    private UpdateDefinition<RawBsonDocument>? _update;
    private byte[] _replacement = [];
    private byte[] _found = [];

    public override OperationOutcome Execute()
    {
        using RawBsonDocument? found = _form switch
        {
            null => FindAndDelete(new FindOneAndDeleteOptions<RawBsonDocument, RawBsonDocument>
            {
                Sort = Sort, Projection = Projection, Hint = Hint, Let = Let, Collation = _collation, Comment = _comment,
                MaxTime = DriverValues.MaxTimeOf(operation),
            }),
            UpdateForm.Replacement => FindAndReplace(new FindOneAndReplaceOptions<RawBsonDocument, RawBsonDocument>
            {
                Sort = Sort, Projection = Projection, Hint = Hint, IsUpsert = operation.Upsert, ReturnDocument = Returned,
                Let = Let, Collation = _collation, Comment = _comment, MaxTime = DriverValues.MaxTimeOf(operation),
            }),
            _ => FindAndUpdate(new FindOneAndUpdateOptions<RawBsonDocument, RawBsonDocument>
            {
                Sort = Sort, Projection = Projection, Hint = Hint, IsUpsert = operation.Upsert, ReturnDocument = Returned,
                Let = Let, Collation = _collation, Comment = _comment, MaxTime = DriverValues.MaxTimeOf(operation),
                ArrayFilters = DriverValues.ArrayFiltersOf(ValueOf(_drawn, "arrayFilters")),
            }),
        };
        _found = IsKept && found is not null ? DriverValues.BytesOf(found) : [];
        if (found is null && _effect is not null)
        {
            LastError = _effect.ErrorOf(0, 0, 0);
            return default;
        }

        return found is null ? new OperationOutcome(true, 0, 0) : new OperationOutcome(true, 1, found.Slice.Length);
    }

    public override void Keep(StepValues values, int slot)
    {
        if (_found.Length > 0)
            values.Set(slot, Wire.Bson.BsonType.Document, _found);
    }

    private RawBsonDocument? FindAndDelete(FindOneAndDeleteOptions<RawBsonDocument, RawBsonDocument> options) => Session is null
        ? collection.FindOneAndDelete(Filter, options, stop)
        : collection.FindOneAndDelete(Session, Filter, options, stop);

    private RawBsonDocument? FindAndReplace(FindOneAndReplaceOptions<RawBsonDocument, RawBsonDocument> options) => Session is null
        ? collection.FindOneAndReplace(Filter, new RawBsonDocument(_replacement), options, stop)
        : collection.FindOneAndReplace(Session, Filter, new RawBsonDocument(_replacement), options, stop);

    private RawBsonDocument? FindAndUpdate(FindOneAndUpdateOptions<RawBsonDocument, RawBsonDocument> options) => Session is null
        ? collection.FindOneAndUpdate(Filter, _update!, options, stop)
        : collection.FindOneAndUpdate(Session, Filter, _update!, options, stop);

    private BsonDocument Filter => _drawn["filter"].AsBsonDocument;

    private BsonDocument? Sort => DocumentOf(_drawn, "sort");

    private BsonDocument? Projection => DocumentOf(_drawn, "projection");

    private BsonValue? Hint => ValueOf(_drawn, "hint");

    private BsonDocument? Let => DocumentOf(_drawn, "let");

    private ReturnDocument Returned => operation.ReturnNew ? ReturnDocument.After : ReturnDocument.Before;

    protected override void Take(BsonDocument drawn)
    {
        _drawn = drawn;
        if (_form == UpdateForm.Replacement)
            _replacement = drawn["update"].ToBson();
        else if (_form is not null)
            _update = UpdateCall.DefinitionOf(drawn["update"]);
    }

    private static DocumentValue PartsOf(FindAndModify operation) => new CommandBuilder()
        .Add("filter", operation.Filter).Add("update", operation.Update).Add("sort", operation.Sort)
        .Add("projection", operation.Projection).Add("hint", operation.Hint).Add("let", operation.Options.Let)
        .Add("arrayFilters", operation.ArrayFilters).Build();
}
