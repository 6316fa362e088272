using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Executors.Steps;
using MongoPerf.Load.Failures;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>One worker's steps over MongoPerf's own wire client.</summary>
internal sealed class WireSteps : IStepClient
{
    private readonly WireExecutor _executor;
    private readonly WireRoute _route;
    private readonly StepSequence _operation;
    private readonly string _database;
    private readonly WireSession? _session;
    private readonly OpMsgWriter _end = new();
    private readonly BsonDocument? _concern;

    /// <exception cref="OperationLimitException">The server has no transactions.</exception>
    public WireSteps(WireExecutor executor, StepSequence operation, string database)
    {
        _executor = executor;
        _operation = operation;
        _database = database;
        _route = executor.RouteOf(ReadPreference.Primary);
        if (operation.Transaction is null && !operation.IsCausal)
            return;
        SessionLimit.Check(_route.Connection.Server, operation);
        _session = new WireSession(operation.Transaction, operation.IsCausal, executor.Settings.ReadConcernLevel);
        _concern = operation.Transaction?.WriteConcern ?? executor.Settings.WriteConcern;
    }

    public bool HasBegun => _session?.HasBegun == true;

    public bool IsAborted => _executor.IsAborted;

    public string? Member => _route.Member;

    public IStepCommand Prepare(Step step, StepValues values, StepNumbers? numbers) =>
        new WireStepCommand(_executor, step.Operation!, _database, new WireStepParts(values, _session, numbers, step.Keeps is not null));

    public void Begin() => _session!.Begin();

    public ServerError? Commit(bool isRetry) => End("commitTransaction"u8, isRetry ? Majority(_concern) : _concern);

    public void Abort()
    {
        try
        {
            End("abortTransaction"u8, _concern);
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e))
        {
            // The server aborts what nobody commits; the next command finds the connection broken.
        }
    }

    public void Reconnect() => _executor.Connect();

    public void Complete()
    {
        if (_session is null)
            return;
        try
        {
            _route.Connection.RunUnchecked("admin", BsonDocument.Of(("endSessions", new[] { _session.Id })));
        }
        catch (Exception e) when (ErrorTally.BreaksConnection(e))
        {
            // The server forgets sessions by itself after half an hour.
        }
    }

    /// <summary>A commit that is sent again waits for most members, so that it can't be rolled back. Source: transactions.md.</summary>
    private static BsonDocument Majority(BsonDocument? concern) => BsonDocument.Of(
    [
        .. (concern ?? BsonDocument.Empty).Where(e => e.Key != "w").Select(e => (e.Key, (object?)e.Value)), ("w", "majority"),
        .. concern?.Find("wtimeout") is null ? [("wtimeout", 10_000)] : ((string, object?)[])[],
    ]);

    private ServerError? End(ReadOnlySpan<byte> command, BsonDocument? concern)
    {
        ReadOnlySpan<byte> received = _route.Connection.RoundTrip(_session!.WriteEnd(_end, command, concern));
        _session.Read(OpMsg.Parse(received).Body);
        return OperationReply.Parse(received).IsOk ? null : OperationReply.ReadError(received);
    }
}

/// <summary>What makes a command one of several steps.</summary>
/// <param name="Values">What earlier steps brought.</param>
/// <param name="Session">The session that it belongs to; null for none.</param>
/// <param name="Numbers">The numbers of the documents that it inserts; null for a step that inserts none.</param>
/// <param name="IsKept">Later steps may ask for what it brings.</param>
internal sealed record WireStepParts(StepValues Values, WireSession? Session, StepNumbers? Numbers, bool IsKept)
{
    /// <summary>Makes a step's command of the command that the operation has by itself.</summary>
    public DocumentValue Adapt(DocumentValue command, Operation operation)
    {
        var elements = new List<KeyValuePair<string, TemplateValue>>();
        foreach ((string name, TemplateValue value) in command.Elements)
        {
            // The session says it, with the time that it asks for.
            if (name != "readConcern" || Session is null)
                elements.Add(KeyValuePair.Create(name, value.Bind(Values)));
        }

        if (operation is InsertDocuments insert)
            elements.Insert(1, KeyValuePair.Create("documents", (TemplateValue)new NewDocuments(insert.Documents, Values, Numbers!)));
        if (Session is not null)
            elements.Add(KeyValuePair.Create(
                "session", (TemplateValue)new SessionFields(Session, operation.IsRead ? operation.Concerns.ReadConcern ?? "" : null)));
        return new DocumentValue(elements);
    }

    /// <summary>The documents of an insert, as an array in its command.</summary>
    private sealed class NewDocuments(DocumentTemplate documents, StepValues values, StepNumbers numbers) : TemplateValue
    {
        private readonly DocumentValue _root = (DocumentValue)documents.Root.Bind(values);

        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context)
        {
            Span<byte> digits = stackalloc byte[11];
            writer.StartArray(name);
            for (int i = 0; i < numbers.Batch; i++)
            {
                System.Buffers.Text.Utf8Formatter.TryFormat(i, digits, out int length);
                _root.Write(writer, digits[..length], documents.ContextOf(numbers[i]));
            }

            writer.End();
        }
    }

    /// <summary>Several elements in place of one.</summary>
    private sealed class SessionFields(WireSession session, string? readLevel) : TemplateValue
    {
        private readonly byte[]? _readLevel = readLevel is null ? null : System.Text.Encoding.UTF8.GetBytes(readLevel);

        public override void Write(BsonWriter writer, ReadOnlySpan<byte> name, in ValueContext context) =>
            session.Write(writer, _readLevel);
    }
}

/// <summary>One step's command over the wire.</summary>
internal sealed class WireStepCommand : IStepCommand
{
    private readonly WireCommand _command;
    private readonly Operation _operation;
    private readonly WireSession? _session;
    private readonly int _expected;
    private long _sentBytes;

    public WireStepCommand(WireExecutor executor, Operation operation, string database, WireStepParts parts)
    {
        _operation = operation;
        _session = parts.Session;
        _expected = parts.Numbers?.Batch ?? 0;
        _command = new WireCommand(executor, operation, database, parts);
        // Writing a message first marked the transaction as begun, and nothing has been sent.
        if (_session?.HasBegun == true)
            _session.Begin();
    }

    public ServerError? LastError { get; private set; }

    public void Stage(in ValueContext context)
    {
        _command.Stage(context);
        _sentBytes = _expected > 0 ? CountSentBytes() : 0;
    }

    public OperationOutcome Execute()
    {
        OperationOutcome outcome = _command.Execute();
        _session?.Read(_command.LastReply);
        if (!outcome.Succeeded)
        {
            LastError = _command.LastError;
        }
        else if (outcome.Documents < _expected)
        {
            LastError = new ServerError(0, "ShortCount", $"the server counts {outcome.Documents} documents, {_expected} were sent", []);
            return outcome with { Succeeded = false };
        }

        return _expected > 0 ? outcome with { Bytes = _sentBytes } : outcome;
    }

    /// <summary>The bytes of the documents that are to be inserted.</summary>
    private long CountSentBytes()
    {
        long bytes = 0;
        var documents = new BsonReader(SentDocuments().DocumentBytes);
        while (documents.Read())
            bytes += documents.Value.Length;
        return bytes;
    }

    public void Keep(StepValues values, int slot)
    {
        switch (_operation)
        {
            case FindDocuments or AggregateDocuments:
                _command.KeepBatches(values, slot);
                break;
            case InsertDocuments:
                BsonReader documents = SentDocuments();
                values.Set(slot, documents.Type, documents.Value);
                break;
            default:
                StepReply.Keep(_operation, _command.LastReply, values, slot);
                break;
        }
    }

    private BsonReader SentDocuments()
    {
        var command = new BsonReader(_command.Sent);
        command.Find("documents"u8);
        return command;
    }
}
