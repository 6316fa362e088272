using System.Text;
using MongoPerf.Load.Collections;
using MongoPerf.Load.Documents;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>A bulk: the command bulkWrite where the server has it, otherwise an insert, update or delete for each kind.</summary>
/// <remarks>Messages are written before they are timed. One thread.</remarks>
internal sealed class WireBulkWrite : IPreparedOperation
{
    private readonly WireRoute _route;
    private readonly BulkWrite _operation;
    private readonly DrawnWrite[] _writes;
    private readonly BulkMessage[] _messages;
    private readonly BulkEffect _effect;
    private readonly bool _isAcknowledged;
    private OperationDraws _draws;

    public WireBulkWrite(WireExecutor executor, BulkWrite operation, string database, OperationContext context)
    {
        _route = executor.RouteOf(operation);
        _operation = operation;
        _writes = [.. operation.Writes.Select(write => new DrawnWrite(write, context))];
        _effect = new BulkEffect(operation);
        _isAcknowledged = !operation.Concerns.IsUnacknowledged;
        _draws = new OperationDraws(operation, context);
        HelloReply server = _route.Connection.Server;
        if (operation.DocumentsPerCommand > server.MaxWriteBatchSize)
            throw new OperationLimitException($"{operation.Name}: a bulk of {operation.DocumentsPerCommand:N0} writes; this server allows "
                + $"1 to {server.MaxWriteBatchSize:N0}");
        _messages = server.HasBulkWrite
            ? [BulkMessage.Whole(operation, _writes, database)]
            : [.. operation.Grouped().Select(group => BulkMessage.OfGroup(
                operation, [.. group.Select(place => _writes[place])], executor.Dialect, database))];
    }

    public ServerError? LastError { get; private set; }

    public string? Member => _route.Member;

    public bool Draw()
    {
        ValueContext own = _draws.Next();
        foreach (DrawnWrite write in _writes)
            write.Draw();
        foreach (BulkMessage message in _messages)
            message.Write(own);
        return true;
    }

    public OperationOutcome Execute()
    {
        MongoConnection connection = _route.Connection;
        BulkCounts counts = default;
        long bytes = 0;
        LastError = null;
        foreach (BulkMessage message in _messages)
        {
            if (!_isAcknowledged)
            {
                connection.Send(message.Bytes);
                continue;
            }

            ReadOnlySpan<byte> reply = connection.RoundTrip(message.Bytes);
            counts += message.Read(reply, out bool isOk);
            if (isOk)
            {
                bytes += message.DocumentBytes;
                continue;
            }

            LastError ??= message.ReadError(reply);
            if (_operation.Ordered)
                break;
        }

        Acknowledge();
        if (_isAcknowledged)
            LastError ??= _effect.FindFault(counts);
        return new OperationOutcome(
            LastError is null, (int)Math.Min(counts.Documents, int.MaxValue), LastError is null ? bytes : 0)
        {
            ChangedNothing = counts.ChangedNothing,
            Modified = (int)Math.Min(counts.Modified, int.MaxValue),
        };
    }

    public void Track(int documents, long ticks)
    {
        if (!_isAcknowledged)
            return;
        foreach (DrawnWrite write in _writes)
            write.Track(ticks);
    }

    /// <summary>A bulk brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
        Acknowledge();
        if (!_isAcknowledged)
            WireMessage.Fence(_route.Connection);
    }

    private void Acknowledge()
    {
        foreach (DrawnWrite write in _writes)
            write.Acknowledge();
    }

    /// <summary>One command of a bulk, with its writes as a section of their own.</summary>
    private sealed class BulkMessage
    {
        /// <summary>The bytes around the document of an insert in the command bulkWrite.</summary>
        private static readonly int InsertBytes = DocumentValue.Of(BsonDocument.Of(("insert", 0), ("document", BsonDocument.Empty)))
            .ToDocument(new ValueContext(0, 0)).Bytes.Length - BsonDocument.Empty.Bytes.Length;

        private readonly DocumentValue _head;
        private readonly byte[] _section;
        private readonly (DrawnWrite Write, DocumentValue Statement)[] _writes;
        private readonly OpMsgFlags _flags;
        private readonly bool _isWhole;
        private readonly OpMsgWriter _writer = new();
        private int _requestId;

        private BulkMessage(
            BulkWrite operation, DocumentValue head, string section, (DrawnWrite, DocumentValue)[] writes, bool isWhole)
        {
            _head = head;
            _section = Encoding.UTF8.GetBytes(section);
            _writes = writes;
            _isWhole = isWhole;
            _flags = operation.Concerns.IsUnacknowledged ? OpMsgFlags.MoreToCome : OpMsgFlags.None;
        }

        /// <summary>The whole message; valid until <see cref="Write"/>.</summary>
        public ReadOnlySpan<byte> Bytes => _writer.Body.Written;

        /// <summary>The bytes of new documents in the message.</summary>
        public long DocumentBytes { get; private set; }

        /// <summary>All writes in one command, of MongoDB 8.0.</summary>
        public static BulkMessage Whole(BulkWrite operation, DrawnWrite[] writes, string database) => new(
            operation,
            new DocumentValue(
            [
                .. operation.ToHead().Elements,
                KeyValuePair.Create("nsInfo", (TemplateValue)DocumentValue.Array(operation.Collections
                    .Select(name => new CommandBuilder().AddLiteral("ns", $"{database}.{name}").Build()))),
                KeyValuePair.Create("$db", (TemplateValue)new LiteralValue(CommandBuilder.Value("admin"))),
            ]),
            "ops", [.. writes.Select(write => (write, operation.ToStatement(write.Operation)))], isWhole: true);

        /// <summary>Writes of one kind and collection in the command for them.</summary>
        public static BulkMessage OfGroup(BulkWrite operation, DrawnWrite[] writes, CommandDialect dialect, string database)
        {
            Operation first = writes[0].Operation;
            (string command, string section) = first switch
            {
                InsertDocuments => ("insert", "documents"),
                DeleteDocuments => ("delete", "deletes"),
                _ => ("update", "updates"),
            };
            // An insert has no expressions.
            CommandOptions options = first.Inserts ? operation.Options with { Let = null } : operation.Options;
            DocumentValue head = new CommandBuilder().AddLiteral(dialect.NameOf(command), first.Collection)
                .AddLiteral("ordered", operation.Ordered ? null : false).AddOptions(options).AddWriteConcern(operation.Concerns)
                .AddLiteral("$db", database).Build();
            return new BulkMessage(operation, head, section, [.. writes.Select(write => (write, write.Statement))], isWhole: false);
        }

        /// <param name="own">The options of the bulk itself.</param>
        public void Write(in ValueContext own)
        {
            _writer.Begin(_flags, ++_requestId);
            _head.WriteElements(_writer.Body, own);
            _writer.EndBody();
            _writer.BeginSequence(_section);
            DocumentBytes = 0;
            foreach ((DrawnWrite write, DocumentValue statement) in _writes)
            {
                int start = _writer.Body.Length;
                for (int i = 0; i < write.Times; i++)
                    statement.WriteRoot(_writer.Body, write.Next(i));
                if (write.Operation.Inserts)
                    DocumentBytes += _writer.Body.Length - start - (_isWhole ? InsertBytes * write.Times : 0);
            }

            _writer.EndSequence();
            _writer.Finish();
            if (_writer.Body.Length > MessageHeader.MaximumMessageLength)
                throw new OperationLimitException($"a bulk takes {_writer.Body.Length:N0} bytes; allowed: "
                    + $"{MessageHeader.MaximumMessageLength:N0} bytes per message");
        }

        public BulkCounts Read(ReadOnlySpan<byte> reply, out bool isOk)
        {
            if (_isWhole)
                return BulkCounts.Parse(reply, out isOk);
            OperationReply read = OperationReply.Parse(reply);
            isOk = read.IsOk;
            return BulkCounts.Of(_writes[0].Write.Operation, read);
        }

        /// <summary>Why the command, or the first of its writes that failed, did. Allocates.</summary>
        public ServerError ReadError(ReadOnlySpan<byte> reply)
        {
            var document = new BsonDocument(OpMsg.Parse(reply).Body.ToArray());
            return _isWhole && document.FindDocument("cursor.firstBatch.0") is { } first
                ? ServerError.From(first)
                : OperationReply.ErrorOf(document);
        }
    }
}
