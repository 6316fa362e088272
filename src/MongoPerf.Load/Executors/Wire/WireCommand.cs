using System.Buffers.Binary;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>One command of a scenario: its message is written once and then changed in place, or written anew where lengths vary.</summary>
internal sealed class WireCommand
{
    /// <summary>Where the command document starts in an OP_MSG with one section: header, flags, kind.</summary>
    private const int CommandOffset = MessageHeader.Size + 5;

    private readonly WireRoute _route;
    private readonly Operation _operation;
    private readonly DocumentValue _command;
    private readonly OpMsgWriter _writer = new();
    private readonly OpMsgFlags _flags;
    private readonly PatchPlan? _patches;
    private readonly WireCursor _cursor;
    private readonly bool _bringsCursor;
    private readonly bool _isVerified;
    private readonly WriteEffect? _effect;
    private readonly BsonWriter? _batches;
    private int _requestId;
    private ReplyRange _batch;
    private byte[] _kept = [];
    private int _keptLength;

    /// <param name="executor">Has the connections.</param>
    /// <param name="operation">One command.</param>
    /// <param name="database">The scenario's.</param>
    /// <param name="steps">Makes it one of several steps; null for a command by itself.</param>
    public WireCommand(WireExecutor executor, Operation operation, string database, WireStepParts? steps = null)
    {
        _route = executor.RouteOf(operation);
        _operation = operation;
        string target = (operation as DatabaseCommand)?.Database ?? database;
        _command = WireMessage.Command(operation, executor, target);
        if (steps is not null)
            _command = steps.Adapt(_command, operation);
        _isVerified = steps is null && operation is FindDocuments { Expected: not null };
        _effect = WriteEffect.Of(operation);
        _flags = operation.Concerns.IsUnacknowledged ? OpMsgFlags.MoreToCome : OpMsgFlags.None;
        _bringsCursor = operation is FindDocuments or AggregateDocuments;
        _batches = steps is { IsKept: true } && _bringsCursor ? new BsonWriter() : null;
        _cursor = new WireCursor(
            _route, executor.Dialect, operation.Collection, target, operation.FullReply > 0 ? operation.FullReply : long.MaxValue)
        {
            Session = steps?.Session, Batches = _batches,
        };
        Write(new ValueContext(0, 0));
        _patches = PatchPlan.TryMake(_command, _writer.Body.Written[CommandOffset..]);
    }

    public ServerError? LastError { get; private set; }

    /// <inheritdoc cref="WireRoute.Member"/>
    public string? Member => _route.Member;

    /// <summary>
    /// Documents of the last command's first reply that had any, of a find whose documents are known; valid until the next command.
    /// </summary>
    public ReadOnlySpan<byte> LastBatch =>
        _keptLength > 0 ? _kept.AsSpan(0, _keptLength) : _route.Connection.LastReceived.Slice(_batch.Start, _batch.Length);

    /// <summary>The last command, as it was sent.</summary>
    public ReadOnlySpan<byte> Sent => _writer.Body.Written[CommandOffset..];

    /// <summary>The last reply; valid until the next command.</summary>
    public ReadOnlySpan<byte> LastReply => OpMsg.Parse(_route.Connection.LastReceived).Body;

    /// <summary>Keeps the documents of all replies. Only of a step with a cursor that later steps ask for.</summary>
    public void KeepBatches(StepValues values, int slot)
    {
        values.StartArray(slot);
        for (ReadOnlySpan<byte> rest = _batches!.Written; rest.Length > 0;)
        {
            ReadOnlySpan<byte> batch = new BsonReader(rest).Document;
            values.AppendAll(slot, batch);
            rest = rest[batch.Length..];
        }
    }

    /// <summary>Puts the values of the next operation into the message.</summary>
    public void Stage(in ValueContext context)
    {
        if (_patches is null)
        {
            Write(context);
            return;
        }

        Span<byte> message = _writer.Body.WrittenForPatching;
        _patches.Apply(message[CommandOffset..], context);
        BinaryPrimitives.WriteInt32LittleEndian(message[4..], ++_requestId);
    }

    public OperationOutcome Execute()
    {
        MongoConnection connection = _route.Connection;
        _keptLength = 0;
        ReadOnlySpan<byte> message = _writer.Body.Written;
        if (_flags == OpMsgFlags.MoreToCome)
        {
            connection.Send(message);
            return new OperationOutcome(true, 0, 0);
        }

        ReadOnlySpan<byte> received = _operation.IsLong ? connection.RoundTripWithoutTimeout(message) : connection.RoundTrip(message);
        OperationReply reply = OperationReply.Parse(received);
        if (!reply.IsOk)
        {
            LastError = OperationReply.ReadError(received);
            return new OperationOutcome(false, (int)reply.Documents, 0);
        }

        if (_effect is not null && !_effect.IsMet(reply.Documents, reply.Upserted, reply.Modified))
        {
            LastError = _effect.ErrorOf(reply.Documents, reply.Upserted, reply.Modified);
            return new OperationOutcome(false, (int)Math.Min(reply.Documents, int.MaxValue), 0);
        }

        if (_bringsCursor && reply.Batch.Length == 0)
            throw new WireProtocolException("the reply has no cursor");
        _batch = reply.Batch;
        if (_batches is not null)
        {
            _batches.Clear();
            _batches.WriteRaw(received.Slice(reply.Batch.Start, reply.Batch.Length));
        }

        return reply.CursorId == 0
            ? new OperationOutcome(true, (int)Math.Min(reply.Documents, int.MaxValue), reply.Bytes)
            {
                ChangedNothing = reply is { Documents: > 0, Modified: 0, Upserted: 0 } && _operation.Modifies,
                Modified = (int)Math.Min(reply.Modified, int.MaxValue),
            }
            : ReadOn(reply);
    }

    private OperationOutcome ReadOn(OperationReply first)
    {
        bool keeps = _isVerified && first.Documents > 0;
        if (keeps)
            Keep();
        if (_operation is DatabaseCommand)
            _cursor.Continue(_route.Connection.LastReceived);
        if (!_cursor.TryReadToEnd(first, out long documents, out long bytes))
        {
            LastError = _cursor.LastError;
            return default;
        }

        if (!keeps)
            _batch = _cursor.LastBatch;
        return new OperationOutcome(true, (int)Math.Min(documents, int.MaxValue), bytes);
    }

    /// <summary>The next reply takes the place of this one.</summary>
    private void Keep()
    {
        ReadOnlySpan<byte> batch = LastBatch;
        if (_kept.Length < batch.Length)
            _kept = new byte[batch.Length];
        batch.CopyTo(_kept);
        _keptLength = batch.Length;
    }

    private void Write(in ValueContext context)
    {
        _writer.Begin(_flags, ++_requestId);
        _command.WriteElements(_writer.Body, context);
        _writer.EndBody();
        _writer.Finish();
    }
}

/// <summary>Reads what does not fit into a cursor's first reply.</summary>
/// <param name="route">Has the connection.</param>
/// <param name="dialect">The dialect of the server there.</param>
/// <param name="collection">The collection that the cursor is of.</param>
/// <param name="database">The collection's.</param>
/// <param name="mostDocuments">The most documents that the query can return.</param>
internal sealed class WireCursor(WireRoute route, CommandDialect dialect, string collection, string database, long mostDocuments)
{
    private readonly GetMoreMessage _getMore = new(dialect, collection, database);

    /// <summary>The session that the cursor belongs to; null for none.</summary>
    public WireSession? Session { get; init; }

    /// <summary>Gets what each reply brings; null where nobody asks for it.</summary>
    public BsonWriter? Batches { get; init; }

    public ServerError? LastError { get; private set; }

    /// <summary>Where in the last reply its documents are.</summary>
    public ReplyRange LastBatch { get; private set; }

    /// <summary>
    /// Takes the collection's name from the reply of a command that was given as it is: only the server knows what its cursor is of.
    /// </summary>
    /// <param name="reply">The message, with a cursor that has more.</param>
    /// <exception cref="WireProtocolException">The cursor's namespace is missing, or of another database.</exception>
    public void Continue(ReadOnlySpan<byte> reply)
    {
        var fields = new BsonReader(OpMsg.Parse(reply).Body);
        var cursor = new BsonReader(fields.Find("cursor"u8) ? fields.DocumentBytes : BsonDocument.Empty.Bytes);
        if (!cursor.Find("ns"u8) || !_getMore.TryContinue(cursor.StringBytes))
            throw new WireProtocolException($"the reply's cursor has a namespace (ns) outside database '{database}'");
    }

    /// <param name="first">The first reply, with a cursor that has more.</param>
    /// <param name="documents">How many documents all replies had.</param>
    /// <param name="bytes">The bytes of these documents.</param>
    /// <returns>False when the server refused to continue.</returns>
    public bool TryReadToEnd(OperationReply first, out long documents, out long bytes)
    {
        (documents, bytes) = (first.Documents, first.Bytes);
        var guard = new CursorGuard(route.Connection, mostDocuments);
        OperationReply last = first;
        while (last.CursorId != 0)
        {
            guard.AskForMore(last.Documents);
            ReadOnlySpan<byte> received = route.Connection.RoundTrip(_getMore.Write(last.CursorId, Session));
            last = OperationReply.Parse(received);
            if (!last.IsOk)
            {
                LastError = OperationReply.ReadError(received);
                return false;
            }

            LastBatch = last.Batch;
            Batches?.WriteRaw(received.Slice(last.Batch.Start, last.Batch.Length));
            documents += last.Documents;
            bytes += last.Bytes;
        }

        return true;
    }
}

/// <summary>A cursor's <c>getMore</c>, in a buffer that is used again.</summary>
/// <param name="dialect">The dialect of the server.</param>
/// <param name="collection">The collection that the cursor is of.</param>
/// <param name="database">The collection's.</param>
internal sealed class GetMoreMessage(CommandDialect dialect, string collection, string database)
{
    private readonly OpMsgWriter _writer = new();
    private readonly byte[] _name = System.Text.Encoding.UTF8.GetBytes(dialect.NameOf("getMore"));
    private byte[] _collection = System.Text.Encoding.UTF8.GetBytes(collection);
    private readonly byte[] _database = System.Text.Encoding.UTF8.GetBytes(database);
    private int _requestId;

    /// <summary>Reads on in a cursor of this namespace; nothing is made where it is that of the last one.</summary>
    /// <returns>False where the database is another.</returns>
    public bool TryContinue(ReadOnlySpan<byte> nameSpace)
    {
        if (nameSpace.Length <= _database.Length + 1 || !nameSpace.StartsWith(_database) || nameSpace[_database.Length] != '.')
            return false;
        ReadOnlySpan<byte> name = nameSpace[(_database.Length + 1)..];
        if (!name.SequenceEqual(_collection))
            _collection = name.ToArray();
        return true;
    }

    /// <param name="cursor">Its number.</param>
    /// <param name="session">The session that it belongs to; null for none.</param>
    /// <param name="mostMilliseconds">How long the server waits for more in a cursor that never ends; 0 leaves it to the server.</param>
    /// <returns>Valid until the next call.</returns>
    public ReadOnlySpan<byte> Write(long cursor, WireSession? session = null, int mostMilliseconds = 0)
    {
        _writer.Begin(requestId: ++_requestId);
        _writer.Body.WriteInt64(_name, cursor);
        _writer.Body.WriteString("collection"u8, _collection);
        if (mostMilliseconds > 0)
            _writer.Body.WriteInt32("maxTimeMS"u8, mostMilliseconds);
        session?.WriteMembership(_writer.Body);
        _writer.Body.WriteString("$db"u8, _database);
        _writer.EndBody();
        return _writer.Finish();
    }
}

/// <summary>What messages of scenarios have in common.</summary>
internal static class WireMessage
{
    /// <summary>
    /// The operation's command as this server names it, with its <c>$db</c>; where it reads, with the read preference that it goes by.
    /// </summary>
    public static DocumentValue Command(Operation operation, WireExecutor executor, string database)
    {
        ReadPreference preference = executor.RouteOf(operation).Preference;
        bool isUsual = preference.IsPrimary && operation.Concerns.ReadPreference is null;
        DocumentValue command = (operation.IsRead && !isUsual
            ? operation with { Concerns = operation.Concerns with { ReadPreference = preference } }
            : operation).ToCommand();
        (string name, TemplateValue first) = command.Elements[0];
        return new DocumentValue(
        [
            KeyValuePair.Create(executor.Dialect.NameOf(name), first), .. command.Elements.Skip(1),
            KeyValuePair.Create("$db", (TemplateValue)new LiteralValue(CommandBuilder.Value(database))),
        ]);
    }

    /// <summary>A server works through one connection in order: once it answers a ping, it has seen everything before it.</summary>
    public static void Fence(MongoConnection connection) => connection.RunCommand("admin", BsonDocument.Of(("ping", 1)));
}
