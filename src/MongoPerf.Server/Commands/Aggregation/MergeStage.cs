using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Commands.Updates;
using MongoPerf.Server.Storage;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>$merge: writes a pipeline's documents into a collection that may have some of them.</summary>
internal sealed class MergeStage : IPipelineTarget
{
    private readonly CommandSession _session;
    private readonly MergeOptions _options;
    private readonly CollationOption _collation;
    private readonly FindQuery _query = new(new PathCache());

    private MergeStage(CommandSession session, MergeOptions options, CollationOption collation)
    {
        (_session, _options, _collation) = (session, options, collation);
        if (options.IsOnGiven && !HasUniqueIndex())
            throw CommandException.Location(51183, "Cannot find index to verify that join fields will be unique");
    }

    /// <summary>Reads the stage's value.</summary>
    /// <param name="value">As the client gave it.</param>
    /// <param name="context">What it is parsed with.</param>
    /// <param name="collation">The command's: where it has none the target's own says which documents are the same, as on mongod.</param>
    /// <returns>Opens the target, once the whole pipeline is known to be right.</returns>
    /// <exception cref="CommandException">A field that is missing, wrong or unknown.</exception>
    public static Func<CommandSession, IPipelineTarget> Parse(BsonValue value, StageContext context, CollationOption collation)
    {
        MergeOptions options = MergeOptions.Parse(value, context);
        return session => new MergeStage(session, options, collation);
    }

    public void Write(IReadOnlyList<BsonDocument> documents)
    {
        Collection collection = _session.Server.Store.GetOrCreate(_options.Database, _options.Name, out _)
            ?? throw CommandException.DatabaseDiffersInCase(_session.Server.Store.FindOtherCase(_options.Database), _options.Database);
        if (_options.HasPipeline && _collation.For(collection) != null)
            throw CollationLimits.NotSupported("a $merge by a pipeline");
        UpdateExecutor.Within(_session, collection, executor =>
        {
            foreach (BsonDocument document in documents)
                Write(executor, collection, document);
        });
    }

    public void Complete()
    {
    }

    public void Dispose() => _query.Dispose();

    private void Write(UpdateExecutor executor, Collection collection, BsonDocument document)
    {
        document = _options.WithOwnId(document);
        BsonDocument filter = _options.FilterOf(document);
        if (_options.WhenMatched == "fail")
        {
            executor.Insert([document]);
            return;
        }

        DocumentUpdate update = _options.UpdateOf(document);
        _query.Parse(filter.Bytes, skip: 0, limit: 1, hint: default, variables: null, _collation);
        List<long> records;
        try
        {
            records = UpdateExecutor.Matches(_query, collection);
        }
        finally
        {
            _query.Dispose();
        }

        if (records.Count > 0)
            executor.Update(records[0], update);
        else if (_options.WhenNotMatched == "fail")
            throw new CommandException(13113, "MergeStageNoMatchingDocument", "$merge could not find a matching document in the target "
                + "collection for at least one document in the source collection");
        else if (_options.WhenNotMatched == "insert" && _options.HasPipeline)
            executor.Insert([document]);
        else if (_options.WhenNotMatched == "insert")
            executor.Upsert(filter, update);
    }

    /// <summary>Whether one keeps the fields unique; a collection that is not there will have that on _id.</summary>
    private bool HasUniqueIndex() =>
        _session.Server.Store.TryFind($"{_options.Database}.{_options.Name}", out Collection? collection)
            ? collection.Indexes.Any(index => index.Spec is { IsUnique: true, Partial: null, Collation: null }
                && index.Spec.Fields.Select(field => field.Path.Text).Order(StringComparer.Ordinal).SequenceEqual(_options.On))
            : _options.On is ["_id"];
}
