using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Watch;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>Reads a collection's change stream through the driver, which opens it again by itself where it can.</summary>
internal sealed class DriverWatch : ChangeWatch, IDisposable
{
    private readonly DriverExecutor _executor;
    private readonly IMongoCollection<RawBsonDocument> _collection;
    private readonly IClientSessionHandle _session;
    private IChangeStreamCursor<RawBsonDocument>? _stream;
    private BsonDocument? _token;

    /// <inheritdoc cref="ChangeWatch.Begin"/>
    public DriverWatch(DriverExecutor executor, WatchChanges operation, OperationContext context)
        : base(operation, context)
    {
        _executor = executor;
        executor.OpenClient(out HelloReply server);
        _collection = DriverValues.CollectionOf(executor.Open(isUnacknowledged: false), operation);
        _session = _collection.Database.Client.StartSession();
        Begin(server);
    }

    public override void Complete()
    {
        base.Complete();
        Dispose();
    }

    public void Dispose()
    {
        Close();
        _session.Dispose();
    }

    private void Close()
    {
        _stream?.Dispose();
        _stream = null;
    }

    protected override bool Read()
    {
        try
        {
            _stream ??= Open();
            if (!_stream.MoveNext(_executor.Stop))
            {
                Close();
                return true;
            }

            long at = Now;
            Follower.Settle();
            foreach (RawBsonDocument change in _stream.Current)
                Follower.Take(DriverValues.BytesOf(change), at);
            _token = _stream.GetResumeToken();
            if (_token is not null)
                Follower.Note(_token.ToBson(), (ulong?)_session.ClusterTime?["clusterTime"].AsBsonTimestamp.Value);
            return true;
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            Close();
            return Refuse(error);
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            Close();
            throw _executor.Lost(e);
        }
    }

    private IChangeStreamCursor<RawBsonDocument> Open()
    {
        if (_token is not null)
            Follower.Log.Resumed++;
        BsonDocument[] stages =
            [.. Operation.Stages.Elements.Select(stage => DriverValues.ToDriver((DocumentValue)stage.Value, new ValueContext(0, 0)))];
        return _collection.Watch(
            _session,
            PipelineDefinition<ChangeStreamDocument<RawBsonDocument>, RawBsonDocument>.Create(stages),
            new ChangeStreamOptions
            {
                ResumeAfter = _token,
                BatchSize = Operation.BatchSize,
                Collation = DriverValues.CollationOf(Operation),
                Comment = DriverValues.CommentOf(Operation),
                MaxAwaitTime = TimeSpan.FromMilliseconds(WatchChanges.AwaitMilliseconds),
                FullDocument = Operation.FullDocument switch
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
