using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>
/// Inserts documents of a template: InsertOne, or InsertMany for a batch. They are handed over as raw bytes, written before the call.
/// </summary>
internal sealed class DriverInsert : IPreparedOperation
{
    private readonly DriverExecutor _executor;
    private readonly InsertDocuments _operation;
    private readonly InsertNumbers _numbers;
    private readonly IMongoCollection<RawBsonDocument> _collection;
    private readonly InsertManyOptions _options;
    private readonly InsertOneOptions? _single;
    private readonly bool _isAcknowledged;
    private readonly BsonWriter _writer = new();
    private IReadOnlyList<RawBsonDocument> _documents = [];

    public DriverInsert(DriverExecutor executor, InsertDocuments operation, OperationContext context)
    {
        _executor = executor;
        _operation = operation;
        _numbers = new InsertNumbers(operation, context);
        _isAcknowledged = !operation.Concerns.IsUnacknowledged;
        _collection = DriverValues.CollectionOf(executor.Open(!_isAcknowledged), operation);
        MongoDB.Bson.BsonValue? comment = DriverValues.CommentOf(operation);
        _options = new InsertManyOptions { IsOrdered = operation.Ordered, Comment = comment };
        _single = comment is null ? null : new InsertOneOptions { Comment = comment };
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        if (!_numbers.Take(_operation.BatchSize))
            return false;
        _writer.Clear();
        for (int i = 0; i < _numbers.Count; i++)
            _operation.Documents.Write(_writer, _numbers[i]);
        _documents = DriverValues.Split(_writer);
        return true;
    }

    public OperationOutcome Execute()
    {
        try
        {
            if (_operation.BatchSize == 1)
                _collection.InsertOne(_documents[0], _single, _executor.Stop);
            else
                _collection.InsertMany(_documents, _options, _executor.Stop);
            _numbers.Acknowledge();
            return new OperationOutcome(true, _numbers.Count, _writer.Length);
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            _numbers.Acknowledge();
            LastError = error;
            return Refused(e);
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            throw _executor.Lost(e);
        }
    }

    public void Track(int documents, long ticks) => _numbers.Track(ticks);

    /// <summary>An insert brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        _numbers.Acknowledge();
        if (!_isAcknowledged)
            _executor.Fence();
    }

    /// <summary>
    /// What got in all the same: of an ordered batch all before the first error, of one document with a write concern error that one.
    /// </summary>
    private OperationOutcome Refused(Exception failure)
    {
        long inserted = failure switch
        {
            MongoBulkWriteException<RawBsonDocument> { Result.IsAcknowledged: true } batch => batch.Result.InsertedCount,
            MongoWriteException { WriteError: null } => 1,
            _ => 0,
        };
        int count = (int)Math.Clamp(inserted, 0, _numbers.Count);
        return new OperationOutcome(false, count, (long)_writer.Length * count / _numbers.Count);
    }
}
