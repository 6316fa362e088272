using MongoDB.Bson;
using MongoDB.Driver;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;

namespace MongoPerf.Driver;

/// <summary>One worker's steps through the driver: calls in a session of its own, where they need one.</summary>
/// <remarks>
/// The driver's WithTransaction would hide how often it runs the steps again, so they are run as it does (<see cref="PreparedSteps"/>) with
/// the session's own calls.
/// </remarks>
internal sealed class DriverSteps : IStepClient
{
    private readonly DriverExecutor _executor;
    private readonly IClientSessionHandle? _session;
    private readonly TransactionOptions? _options;

    public DriverSteps(DriverExecutor executor, StepSequence operation)
    {
        _executor = executor;
        if (operation.Transaction is null && !operation.IsCausal)
            return;
        IMongoClient client = executor.OpenClient(out HelloReply server);
        SessionLimit.Check(server, operation);
        _session = client.StartSession(new ClientSessionOptions { CausalConsistency = operation.IsCausal });
        if (operation.Transaction is { } settings)
            _options = new TransactionOptions(
                settings.ReadConcern is { } level
                    ? ReadConcern.FromBsonDocument(new MongoDB.Bson.BsonDocument("level", level))
                    : default(Optional<ReadConcern>),
                MongoDB.Driver.ReadPreference.Primary,
                settings.WriteConcern is { } concern ? DriverValues.WriteConcernOf(concern) : default(Optional<WriteConcern>),
                settings.MaxCommitMilliseconds is { } most ? TimeSpan.FromMilliseconds(most) : default(Optional<TimeSpan?>));
    }

    public bool HasBegun { get; private set; }

    public bool IsAborted => _executor.Stop.IsCancellationRequested;

    public string? Member => null;

    public IStepCommand Prepare(Step step, StepValues values, StepNumbers? numbers)
    {
        DriverCall call = step.Operation is InsertDocuments insert
            ? new StepInsertCall(_executor, insert, numbers!, values)
            : DriverCall.Of(_executor, step.Operation!);
        call.Join(values, _session, step.Keeps is not null);
        return new StepCommand(this, call);
    }

    public void Begin()
    {
        HasBegun = false;
        if (_session!.IsInTransaction)
            Abort();
        _session.StartTransaction(_options);
    }

    public ServerError? Commit(bool isRetry)
    {
        try
        {
            _session!.CommitTransaction(_executor.Stop);
            return null;
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
        {
            return WithLabels(error, e);
        }
        catch (Exception e) when (DriverFailure.IsLost(e))
        {
            throw _executor.Lost(e);
        }
    }

    public void Abort()
    {
        try
        {
            _session!.AbortTransaction(_executor.Stop);
        }
        catch (Exception e) when (DriverFailure.AnswerOf(e) is not null || DriverFailure.IsLost(e))
        {
            // The server aborts what nobody commits.
        }
    }

    public void Reconnect() => _executor.Connect();

    public void Complete() => _session?.Dispose();

    /// <summary>Some of a failure's labels are the driver's own.</summary>
    private static ServerError WithLabels(ServerError error, Exception failure) => failure is MongoException { ErrorLabels: { } labels }
        ? error with { Labels = [.. error.Labels.Concat(labels).Distinct()] }
        : error;

    /// <summary>One step's call.</summary>
    private sealed class StepCommand(DriverSteps steps, DriverCall call) : IStepCommand
    {
        public ServerError? LastError { get; private set; }

        public void Stage(in ValueContext context) => call.Stage(context);

        public OperationOutcome Execute()
        {
            steps.HasBegun = true;
            try
            {
                OperationOutcome outcome = call.Execute();
                if (!outcome.Succeeded)
                    LastError = call.LastError;
                return outcome;
            }
            catch (Exception e) when (DriverFailure.AnswerOf(e) is { } error)
            {
                LastError = WithLabels(error, e);
                return default;
            }
            catch (Exception e) when (DriverFailure.IsLost(e))
            {
                throw steps._executor.Lost(e);
            }
        }

        public void Keep(StepValues values, int slot) => call.Keep(values, slot);
    }
}

/// <summary>InsertOne or InsertMany of a step, whose documents may hold values from earlier ones.</summary>
internal sealed class StepInsertCall : DriverCall
{
    private readonly InsertDocuments _operation;
    private readonly StepNumbers _numbers;
    private readonly IMongoCollection<RawBsonDocument> _collection;
    private readonly DocumentValue _root;
    private readonly BsonWriter _writer = new();
    private readonly CancellationToken _stop;
    private IReadOnlyList<RawBsonDocument> _documents = [];

    public StepInsertCall(DriverExecutor executor, InsertDocuments operation, StepNumbers numbers, StepValues values)
        : base(DocumentValue.Empty)
    {
        _operation = operation;
        _numbers = numbers;
        _stop = executor.Stop;
        _collection = DriverValues.CollectionOf(executor.Open(isUnacknowledged: false), operation);
        _root = (DocumentValue)operation.Documents.Root.Bind(values);
    }

    public override void Stage(in ValueContext context)
    {
        _writer.Clear();
        for (int i = 0; i < _operation.BatchSize; i++)
            _root.WriteRoot(_writer, _operation.Documents.ContextOf(_numbers[i]));
        _documents = DriverValues.Split(_writer);
    }

    public override OperationOutcome Execute()
    {
        var options = new InsertManyOptions { IsOrdered = _operation.Ordered, Comment = DriverValues.CommentOf(_operation) };
        if (Session is null)
            _collection.InsertMany(_documents, options, _stop);
        else
            _collection.InsertMany(Session, _documents, options, _stop);
        return new OperationOutcome(true, _documents.Count, _writer.Length);
    }

    public override void Keep(StepValues values, int slot) => KeepAll(_documents, values, slot);

    protected override void Take(MongoDB.Bson.BsonDocument drawn)
    {
    }
}
