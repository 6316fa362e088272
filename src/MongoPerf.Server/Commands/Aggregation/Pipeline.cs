using MongoPerf.Server.Commands.Expressions;
using MongoPerf.Server.Commands.Queries;
using MongoPerf.Server.Operations;
using MongoPerf.Wire.Bson;

namespace MongoPerf.Server.Commands.Aggregation;

/// <summary>A stage of a pipeline: documents in, documents out, one after the other.</summary>
internal delegate IEnumerable<BsonDocument> PipelineStage(IEnumerable<BsonDocument> documents);

/// <summary>
/// A parsed pipeline: what a find can do of it first (filter, sort, skip, limit, in this order), and the stages after that.
/// </summary>
internal sealed class Pipeline
{
    private readonly List<PipelineStage> _stages = [];
    private readonly Variables? _variables;
    private BsonDocument _filter = BsonDocument.Empty;
    private BsonDocument _sort = BsonDocument.Empty;
    private long _skip;
    private long _limit;

    private Pipeline(Variables? variables) => _variables = variables;

    /// <summary>Not null when all that is left after filter, skip and limit is to count: no document has to be made for that.</summary>
    public CountingStage? Counting { get; private set; }

    /// <summary>What the find compares by; inside another pipeline never the collation of the collection that it reads.</summary>
    public CollationOption Collation { get; private init; }

    /// <summary>Whether documents are returned otherwise than they were found.</summary>
    public bool HasStages => _stages.Count > 0;

    /// <param name="given">The stages as the client gave them.</param>
    /// <param name="context">What they are parsed with.</param>
    /// <param name="isOfCollection">A find does what it can of them; false where documents are given.</param>
    /// <exception cref="CommandException">A stage that is not known, or wrong.</exception>
    public static Pipeline Parse(ReadOnlySpan<(string Name, BsonValue Value)> given, StageContext context, bool isOfCollection = true)
    {
        var pipeline = new Pipeline(context.Variables) { Collation = new CollationOption(IsGiven: true, context.Collation) };
        long held = ActiveOperation.Held;
        List<PlannedStage> stages = [];
        foreach ((string name, BsonValue value) in given)
        {
            if (context.Collation != null)
                CollationLimits.RequireStage(name, value);
            stages.Add(new PlannedStage(name, value));
        }

        // What is wrong is told in the order in which the client wrote it.
        if (stages.Count > 1)
            stages.ForEach(stage => stage.Parse(context));
        StageOrder.Arrange(stages);
        ActiveOperation.Release(held);
        int done = isOfCollection ? pipeline.TakeForFind(stages) : 0;
        bool isCounting = isOfCollection && pipeline._sort.Bytes.SequenceEqual(BsonDocument.Empty.Bytes);
        for (int i = done; i < stages.Count; i++)
        {
            PipelineStage stage = stages[i].Parse(context);
            if (i == done && isCounting && CountingStage.TryParse(stages[i].Name, stages[i].Value) is { } counting)
                pipeline.Counting = counting;
            else
                pipeline._stages.Add(stage);
        }

        return pipeline;
    }

    /// <summary>Sets up the find that the pipeline begins with.</summary>
    public void Prepare(FindQuery query, IndexHint hint)
    {
        query.Parse(_filter.Bytes, _skip, _limit, hint, _variables, Collation);
        query.Sort.Compile(_sort.Bytes);
    }

    /// <summary>The documents after all stages that are not the find's.</summary>
    public IEnumerable<BsonDocument> RunOver(IEnumerable<BsonDocument> documents)
    {
        foreach (PipelineStage stage in _stages)
            documents = stage(documents);
        return documents;
    }

    /// <summary>
    /// The documents that the pipeline makes of a collection's, within its read lock; looked for anew each time.
    /// </summary>
    /// <param name="query">Does the beginning.</param>
    /// <param name="collection">Null when it is not there.</param>
    public IEnumerable<BsonDocument> Run(FindQuery query, Storage.Collection? collection)
    {
        if (Counting == null)
            return RunOver(Found());
        Prepare(query, default);
        query.Open(collection);
        long count = 0;
        while (query.MoveNext())
            count++;
        return RunOver(Counting.Result(count));

        IEnumerable<BsonDocument> Found()
        {
            Prepare(query, default);
            query.Open(collection);
            while (query.MoveNext())
                yield return new BsonDocument(query.Current.ToArray());
        }
    }

    /// <returns>How many stages the find does.</returns>
    private int TakeForFind(List<PlannedStage> stages)
    {
        int at = 0;
        if (at < stages.Count && stages[at].Name == "$match")
            _filter = StageParser.Match(stages[at++].Value);
        if (at < stages.Count && stages[at].Name == "$sort")
            _sort = StageParser.Sort(stages[at++].Value);
        if (at < stages.Count && stages[at].Name == "$skip")
            _skip = StageParser.Skip(stages[at++].Value);
        if (at < stages.Count && stages[at].Name == "$limit")
            _limit = StageParser.Limit(stages[at++].Value);
        return at;
    }
}

/// <summary>A pipeline's documents, as a cursor takes them.</summary>
/// <param name="query">The pipeline's beginning.</param>
/// <param name="pipeline">Its stages after that.</param>
/// <param name="given">Goes into the stages instead of what the query finds; null: what it finds.</param>
/// <param name="hint">The query's.</param>
/// <param name="foreign">Other collections that the stages read.</param>
internal sealed class PipelineSource(
    FindQuery query, Pipeline pipeline, BsonDocument[]? given, IndexHint hint, ForeignCollections foreign) : IBatchSource
{
    private IEnumerator<BsonDocument>? _documents;
    private bool _isRead;
    private BsonDocument? _held;
    private long _returned;

    public bool IsOpen => _documents != null;

    public ForeignCollections? Foreign => foreign.IsEmpty ? null : foreign;

    public (long Keys, long Documents, long Returned) Examined =>
        given != null ? (0, 0, _returned) : query.Examined with { Returned = _returned };

    /// <summary>Opens the pipeline inside the collection's read lock.</summary>
    public void Open(Storage.Collection? collection)
    {
        if (given == null)
            query.Open(collection);
        _documents = pipeline.RunOver(given ?? Found(collection)).GetEnumerator();
    }

    public bool WriteBatch(BsonWriter body, long batchSize)
    {
        int start = body.Length;
        int count = 0;
        while (count < batchSize)
        {
            BsonDocument? document = _held ?? (_documents!.MoveNext() ? _documents.Current : null);
            _held = null;
            if (document == null)
                return false;
            if (pipeline.HasStages)
                ProtocolLimits.RequireReturnable(document);
            if (count > 0 && body.Length - start + document.Bytes.Length > ProtocolLimits.MaximumReplyBytes)
            {
                _held = document;
                return true;
            }

            body.WriteDocument(ArrayNames.Of(count++), document.Bytes);
            _returned++;
        }

        return true;
    }

    public void Dispose()
    {
        _documents?.Dispose();
        query.Dispose();
    }

    private IEnumerable<BsonDocument> Found(Storage.Collection? collection)
    {
        // A stage may read its documents several times; the query is open for the first time.
        if (_isRead)
        {
            pipeline.Prepare(query, hint);
            query.Open(collection);
        }

        _isRead = true;
        while (query.MoveNext())
            yield return new BsonDocument(query.Current.ToArray());
    }
}
