using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>
/// A bulk: the client's BulkWrite on servers that have the command for it (MongoDB 8.0), otherwise the collection's, which sends an insert,
/// update or delete for each run of one kind.
/// </summary>
internal sealed class DriverBulkWrite : IPreparedOperation
{
    private readonly DriverExecutor _executor;
    private readonly BulkWrite _operation;
    private readonly DrawnWrite[] _writes;
    private readonly BulkEffect _effect;
    private readonly IMongoClient _client;
    private readonly bool _isWhole;
    private readonly BsonValue? _comment;
    private readonly IReadOnlyList<IMongoCollection<RawBsonDocument>> _collections;
    private readonly List<BulkWriteModel> _models = [];
    private readonly List<(IMongoCollection<RawBsonDocument> Collection, List<WriteModel<RawBsonDocument>> Models)> _groups = [];
    private OperationDraws _draws;
    private BsonDocument? _let;
    private long _bytes;

    public DriverBulkWrite(DriverExecutor executor, BulkWrite operation, OperationContext context)
    {
        _executor = executor;
        _operation = operation;
        _writes = [.. operation.Writes.Select(write => new DrawnWrite(write, context))];
        _effect = new BulkEffect(operation);
        _client = executor.OpenClient(out HelloReply server);
        _isWhole = server.HasBulkWrite;
        _comment = DriverValues.CommentOf(operation);
        _draws = new OperationDraws(operation, context);
        IMongoDatabase database = executor.Open(isUnacknowledged: false);
        Dictionary<string, IMongoCollection<RawBsonDocument>> known = operation.Leaves.DistinctBy(leaf => leaf.Collection)
            .ToDictionary(leaf => leaf.Collection, leaf => DriverValues.CollectionOf(database, leaf));
        _collections = [.. operation.Writes.Select(write => known[write.Operation.Collection])];
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        ValueContext own = _draws.Next();
        _let = _operation.Options.Let is { } let ? DriverValues.ToDriver(let, own) : null;
        _models.Clear();
        _groups.Clear();
        _bytes = 0;
        foreach ((DrawnWrite write, IMongoCollection<RawBsonDocument> collection) in _writes.Zip(_collections))
        {
            write.Draw();
            for (int i = 0; i < write.Times; i++)
                Add(collection, write.Operation, DriverValues.ToDriver(write.Statement, write.Next(i)));
        }

        return true;
    }

    public OperationOutcome Execute()
    {
        BulkCounts counts = default;
        LastError = null;
        try
        {
            if (_isWhole)
                counts = Whole();
            else
                Grouped(ref counts);
            LastError ??= _effect.FindFault(counts);
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            LastError = error;
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            throw _executor.Lost(e);
        }

        foreach (DrawnWrite write in _writes)
            write.Acknowledge();
        return new OperationOutcome(LastError is null, (int)Math.Min(counts.Documents, int.MaxValue), LastError is null ? _bytes : 0)
        {
            ChangedNothing = counts.ChangedNothing,
            Modified = (int)Math.Min(counts.Modified, int.MaxValue),
        };
    }

    public void Track(int documents, long ticks)
    {
        foreach (DrawnWrite write in _writes)
            write.Track(ticks);
    }

    /// <summary>A bulk brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        foreach (DrawnWrite write in _writes)
            write.Acknowledge();
    }

    private BulkCounts Whole()
    {
        ClientBulkWriteResult done = _client.BulkWrite(
            _models,
            new ClientBulkWriteOptions
            {
                IsOrdered = _operation.Ordered, Comment = _comment, Let = _let, WriteConcern = _collections[0].Settings.WriteConcern,
            },
            _executor.Stop);
        return new BulkCounts(
            done.InsertedCount, done.MatchedCount + done.UpsertedCount, done.ModifiedCount, done.UpsertedCount, done.DeletedCount);
    }

    /// <summary>One call for each collection in turn: unordered, one that fails keeps none of the others.</summary>
    private void Grouped(ref BulkCounts counts)
    {
        foreach ((IMongoCollection<RawBsonDocument> collection, List<WriteModel<RawBsonDocument>> models) in _groups)
        {
            try
            {
                counts += CountsOf(collection.BulkWrite(
                    models, new BulkWriteOptions { IsOrdered = _operation.Ordered, Comment = _comment, Let = _let }, _executor.Stop));
            }
            catch (MongoBulkWriteException<RawBsonDocument> e) when (DriverFailure.AnswerOf(e) is { } error)
            {
                LastError ??= error;
                counts += CountsOf(e.Result);
                if (_operation.Ordered)
                    return;
            }
        }
    }

    private static BulkCounts CountsOf(BulkWriteResult<RawBsonDocument> done) => !done.IsAcknowledged ? default : new BulkCounts(
        done.InsertedCount, done.MatchedCount + done.Upserts.Count, done.IsModifiedCountAvailable ? done.ModifiedCount : 0,
        done.Upserts.Count, done.DeletedCount);

    private void Add(IMongoCollection<RawBsonDocument> collection, Operation write, BsonDocument drawn)
    {
        BsonDocument? filter = write.Inserts ? null : drawn["q"].AsBsonDocument;
        BsonValue? hint = drawn.GetValue("hint", null);
        Collation? collation = DriverValues.CollationOf(write);
        CollectionNamespace name = collection.CollectionNamespace;
        switch (write)
        {
            case InsertDocuments:
                var document = new RawBsonDocument(drawn.ToBson());
                _bytes += document.Slice.Length;
                Add(collection, () => new BulkWriteInsertOneModel<RawBsonDocument>(name, document),
                    () => new InsertOneModel<RawBsonDocument>(document));
                break;
            case UpdateDocuments { IsReplacement: true } replace:
                var replacement = new RawBsonDocument(drawn["u"].ToBson());
                Add(collection,
                    () => new BulkWriteReplaceOneModel<RawBsonDocument>(
                        name, filter, replacement, collation: collation, hint: hint, isUpsert: replace.Upsert),
                    () => new ReplaceOneModel<RawBsonDocument>(
                        filter, replacement) { Collation = collation, Hint = hint, IsUpsert = replace.Upsert });
                break;
            case UpdateDocuments update:
                UpdateDefinition<RawBsonDocument> change = UpdateCall.DefinitionOf(drawn["u"]);
                ArrayFilterDefinition[]? filters = DriverValues.ArrayFiltersOf(drawn.GetValue("arrayFilters", null));
                Add(collection,
                    () => update.Many
                        ? new BulkWriteUpdateManyModel<RawBsonDocument>(
                            name, filter, change, collation: collation, hint: hint, isUpsert: update.Upsert, arrayFilters: filters)
                        : new BulkWriteUpdateOneModel<RawBsonDocument>(
                            name, filter, change, collation: collation, hint: hint, isUpsert: update.Upsert, arrayFilters: filters),
                    () => update.Many
                        ? new UpdateManyModel<RawBsonDocument>(filter, change)
                        {
                            Collation = collation, Hint = hint, IsUpsert = update.Upsert, ArrayFilters = filters,
                        }
                        : new UpdateOneModel<RawBsonDocument>(filter, change)
                        {
                            Collation = collation, Hint = hint, IsUpsert = update.Upsert, ArrayFilters = filters,
                        });
                break;
            default:
                bool isMany = ((DeleteDocuments)write).Many;
                Add(collection,
                    () => isMany
                        ? new BulkWriteDeleteManyModel<RawBsonDocument>(name, filter, collation: collation, hint: hint)
                        : new BulkWriteDeleteOneModel<RawBsonDocument>(name, filter, collation: collation, hint: hint),
                    () => isMany
                        ? new DeleteManyModel<RawBsonDocument>(filter) { Collation = collation, Hint = hint }
                        : new DeleteOneModel<RawBsonDocument>(filter) { Collation = collation, Hint = hint });
                break;
        }
    }

    private void Add(
        IMongoCollection<RawBsonDocument> collection, Func<BulkWriteModel> ofClient, Func<WriteModel<RawBsonDocument>> ofCollection)
    {
        if (_isWhole)
        {
            _models.Add(ofClient());
            return;
        }

        // Ordered, a run of writes to one collection is a call; unordered, all writes to it are.
        int place = _operation.Ordered && _groups.Count > 0 && _groups[^1].Collection != collection
            ? -1
            : _groups.FindLastIndex(group => group.Collection == collection);
        if (place < 0)
        {
            _groups.Add((collection, []));
            place = _groups.Count - 1;
        }

        _groups[place].Models.Add(ofCollection());
    }
}
