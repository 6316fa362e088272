using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Watch;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Measurement;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>Reads a collection's change stream through the driver, which opens it again by itself where it can.</summary>
internal sealed class DriverWatch : IPreparedOperation, IDisposable
{
    private readonly DriverExecutor _executor;
    private readonly WatchChanges _operation;
    private readonly IMongoCollection<RawBsonDocument> _collection;
    private readonly IClock _clock;
    private readonly ChangeFollower _follower;
    private IChangeStreamCursor<RawBsonDocument>? _stream;
    private BsonDocument? _token;

    /// <exception cref="ServerCommandException">The server has no change streams, or refuses this one.</exception>
    /// <exception cref="OperationLimitException">The server is one that can have none.</exception>
    public DriverWatch(DriverExecutor executor, WatchChanges operation, OperationContext context)
    {
        _executor = executor;
        _operation = operation;
        _clock = context.Clock;
        _follower = new ChangeFollower(operation);
        executor.OpenClient(out HelloReply server);
        SessionLimit.Check(server, operation);
        _collection = DriverValues.CollectionOf(executor.Open(isUnacknowledged: false), operation);
        if (!Read())
            throw new ServerCommandException("aggregate", LastError!);
    }

    public ServerError? LastError { get; private set; }

    public ChangeLog Changes => _follower.Log;

    public bool Draw() => true;

    public OperationOutcome Execute()
    {
        _follower.Log.Clear();
        return new OperationOutcome(Read(), 0, 0);
    }

    /// <summary>What comes is compared as it comes.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        _follower.Drain(_clock, Read);
        Dispose();
    }

    public void Dispose()
    {
        _stream?.Dispose();
        _stream = null;
    }

    /// <returns>False when the server refused; the stream is then opened again.</returns>
    private bool Read()
    {
        try
        {
            _stream ??= Open();
            if (!_stream.MoveNext(_executor.Stop))
            {
                Dispose();
                return true;
            }

            long at = _clock.Now;
            _follower.Settle();
            foreach (RawBsonDocument change in _stream.Current)
                _follower.Take(DriverValues.BytesOf(change), at);
            _token = _stream.GetResumeToken();
            return true;
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            Dispose();
            LastError = error;
            return !error.MeansStreamLost ? false : throw new ServerCommandException("getMore", error);
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            Dispose();
            throw _executor.Lost(e);
        }
    }

    private IChangeStreamCursor<RawBsonDocument> Open()
    {
        if (_token is not null)
            _follower.Log.Resumed++;
        BsonDocument[] stages =
            [.. _operation.Stages.Elements.Select(stage => DriverValues.ToDriver((DocumentValue)stage.Value, new ValueContext(0, 0)))];
        return _collection.Watch(
            PipelineDefinition<ChangeStreamDocument<RawBsonDocument>, RawBsonDocument>.Create(stages),
            new ChangeStreamOptions
            {
                ResumeAfter = _token,
                BatchSize = _operation.BatchSize,
                Collation = DriverValues.CollationOf(_operation),
                Comment = DriverValues.CommentOf(_operation),
                MaxAwaitTime = TimeSpan.FromMilliseconds(WatchChanges.AwaitMilliseconds),
                FullDocument = _operation.FullDocument switch
                {
                    "updateLookup" => ChangeStreamFullDocumentOption.UpdateLookup,
                    "whenAvailable" => ChangeStreamFullDocumentOption.WhenAvailable,
                    "required" => ChangeStreamFullDocumentOption.Required,
                    _ => ChangeStreamFullDocumentOption.Default,
                },
            },
            _executor.Stop);
    }
}
