using MongoPerf.Traffic.Recordings;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Failures;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Learning.Observing;

/// <summary>Recorded traffic: every request, with the time until its reply, or until its cursor ended.</summary>
/// <param name="recording">Ours or the server's; this does not dispose of it.</param>
public sealed class RecordingSource(Recording recording) : ObservationSource
{
    private const int MostPending = 100_000;

    /// <summary>Documents to insert that are kept, of each collection, and bytes of them all.</summary>
    private const int MostKept = 1000;

    private const long MostKeptBytes = 64 * 1024 * 1024;

    private readonly Dictionary<(long Connection, int Request), Pending> _pending = [];
    private readonly Dictionary<long, Pending> _cursors = [];
    private readonly Dictionary<string, int> _kept = new(StringComparer.Ordinal);
    private readonly Queue<ObservedOperation> _abandoned = [];
    private long _keptBytes;
    private long _left;

    public override string Name => $"{Path.GetFileName(recording.Path)}, {recording.Format}";

    public override bool HasPreciseTimes => recording is RecordingFile;

    public override IEnumerable<ObservedOperation> Read()
    {
        long count = 0;
        while (Next(out bool isOver) is var operation && !isOver)
        {
            if (operation is null)
                continue;
            count++;
            yield return operation;
        }

        foreach (Pending one in _pending.Values.Concat(_cursors.Values).Distinct())
        {
            count++;
            // Nobody asked for the rest of a cursor that was not read to its end.
            yield return one.Cursor == 0 ? one.Operation
                : one.Operation with
                {
                    Microseconds = one.Took, Reply = new ObservedReply(one.Documents, 0, null, null) { IsAbandoned = true },
                };
        }

        if (count == 0)
            throw new MongoPerfException(Fault.WrongUsage, $"{recording.Path} has no request to learn from");
        NotUnderstood = _left;
        if (_left > 0)
            Note($"{_left:N0} messages of the recording that are in no protocol of today");
        if (recording.TruncatedAt is { } end)
            Note($"what the recording had after byte {end:N0}, within a record");
        if (!HasPreciseTimes)
            Note("times of less than a millisecond: the server recorded whole ones");
    }

    /// <returns>An operation that ended with the next message; null for none.</returns>
    private ObservedOperation? Next(out bool isOver)
    {
        isOver = false;
        if (_abandoned.TryDequeue(out ObservedOperation? abandoned))
            return abandoned;
        isOver = !recording.TryRead(out RecordedMessage message);
        if (isOver)
            return null;
        if (message.Reply is { } facts)
            return Answer(message.Connection, facts, message.Microseconds);
        MessageHeader header = MessageHeader.Read(message.Message);
        try
        {
            if (header.OpCode != OpCode.Msg)
            {
                // Drivers of today, too, begin with a handshake of before.
                if (header.ResponseTo == 0
                    && LeftOutCommands.WhyNot(header.OpCode, message.Message) is LeftOutCommands.Legacy or LeftOutCommands.Unreadable)
                    _left++;
                return null;
            }

            if (header.ResponseTo == 0)
                return Request(message, header.RequestId);
            return Answer(message.Connection, ReplyReader.Read(header.ResponseTo, message.Message), message.Microseconds);
        }
        catch (Exception e) when (e is BsonFormatException or WireProtocolException)
        {
            _left++;
            return null;
        }
    }

    private ObservedOperation? Request(in RecordedMessage recorded, int id)
    {
        OpMsg message = OpMsg.Parse(recorded.Message);
        BsonValidator.ValidateStructure(message.Body);
        var command = new BsonReader(message.Body);
        string? database = null;
        bool isInternal = false;
        while (command.Read())
        {
            if (command.NameIs("$db"u8) && command.Type == BsonType.String)
                database = command.StringText;
            isInternal |= LeftOutCommands.IsInternal(command.Name);
        }

        var first = new BsonReader(message.Body);
        if (database is null || isInternal || !first.Read())
        {
            Others++;
            return null;
        }

        string name = first.NameText;
        Pending? pending = null;
        if (name == "getMore")
            pending = first.Type == BsonType.Int64 ? _cursors.GetValueOrDefault(first.Int64) : null;
        else if (name is "commitTransaction" or "abortTransaction" || !CommandReader.IsHousekeeping(name))
        {
            string collection = first.Type == BsonType.String ? first.StringText : "";
            var documents = new List<BsonDocument>();
            (BsonDocument whole, List<ulong>? inserted) = Whole(message, $"{database}.{collection}", documents);
            pending = new Pending
            {
                Operation = new ObservedOperation(recorded.Microseconds / 1e6, database, collection, whole)
                {
                    Inserted = inserted?.Count,
                    InsertedIds = inserted ?? [],
                    InsertedDocuments = documents,
                    Connection = recorded.Connection.ToString(System.Globalization.CultureInfo.InvariantCulture),
                },
            };
        }

        if (name == "killCursors")
            Abandon(new BsonDocument(message.Body.ToArray()));
        if (pending is null)
        {
            Others++;
            return null;
        }

        if ((message.Flags & OpMsgFlags.MoreToCome) != 0)
            return pending.Operation;
        if (_pending.Count == MostPending)
            _pending.Clear();
        pending.Since = recorded.Microseconds;
        _pending[(recorded.Connection, id)] = pending;
        return null;
    }

    /// <summary>Cursors of which the application asks for no more.</summary>
    private void Abandon(BsonDocument command)
    {
        foreach ((_, BsonValue cursor) in command.FindDocument("cursors") ?? BsonDocument.Empty)
        {
            if (cursor.IsNumber && _cursors.Remove(cursor.ToInt64(), out Pending? pending))
            {
                _abandoned.Enqueue(pending.Operation! with
                {
                    Microseconds = pending.Took, Reply = new ObservedReply(pending.Documents, 0, null, null) { IsAbandoned = true },
                });
            }
        }
    }

    private ObservedOperation? Answer(long connection, in RecordedFacts facts, long microseconds)
    {
        if (!_pending.Remove((connection, facts.Request), out Pending? pending))
            return null;
        pending.Took += Math.Max(0, microseconds - pending.Since);
        ObservedOperation operation = pending.Operation;
        pending.Documents += facts.Reply.Documents;
        if (facts.Cursor != 0 && _cursors.Count < MostPending)
        {
            _cursors[facts.Cursor] = pending;
            pending.Cursor = facts.Cursor;
            return null;
        }

        _cursors.Remove(pending.Cursor);
        return operation with
        {
            Microseconds = pending.Took, Reply = new ObservedReply(pending.Documents, facts.Reply.Code, facts.Modified, facts.Upserted),
        };
    }

    /// <summary>The command with its lists of statements inside it; of documents to insert only hashes of their <c>_id</c>s.</summary>
    /// <param name="message">The request.</param>
    /// <param name="ns">The collection.</param>
    /// <param name="kept">Gets some of these documents.</param>
    private (BsonDocument Command, List<ulong>? Inserted) Whole(in OpMsg message, string ns, List<BsonDocument> kept)
    {
        List<ulong>? inserted = null;
        var writer = new BsonWriter(message.Body.Length + 64);
        writer.StartDocument();
        var body = new BsonReader(message.Body);
        while (body.Read())
        {
            if (!body.NameIs("documents"u8) || body.Type != BsonType.Array)
            {
                writer.WriteValue(body.Name, body.Type, body.Value);
                continue;
            }

            inserted ??= [];
            var documents = new BsonReader(body.Value);
            while (documents.Read())
            {
                inserted.Add(documents.Type == BsonType.Document ? IdOf(documents.Value) : 0);
                if (documents.Type == BsonType.Document)
                    Keep(documents.Value, ns, kept);
            }
        }

        foreach (DocumentSequence sequence in message.Sequences)
        {
            bool isInserted = sequence.Name.SequenceEqual("documents"u8);
            if (isInserted)
                inserted ??= [];
            else
                writer.StartArray(sequence.Name);
            int count = 0;
            for (ReadOnlySpan<byte> rest = sequence.Documents; rest.Length > 0; count++)
            {
                ReadOnlySpan<byte> document = new BsonReader(rest).Document;
                BsonValidator.ValidateStructure(document);
                if (isInserted)
                {
                    inserted!.Add(IdOf(document));
                    Keep(document, ns, kept);
                }
                else
                {
                    writer.WriteDocument(System.Text.Encoding.ASCII.GetBytes(
                        count.ToString(System.Globalization.CultureInfo.InvariantCulture)), document);
                }

                rest = rest[document.Length..];
            }

            if (!isInserted)
                writer.End();
        }

        writer.End();
        return (new BsonDocument(writer.ToArray()), inserted);
    }

    private void Keep(ReadOnlySpan<byte> document, string ns, List<BsonDocument> kept)
    {
        int known = _kept.GetValueOrDefault(ns);
        if (known >= MostKept || _keptBytes + document.Length > MostKeptBytes || _kept.Count >= MostPending)
            return;
        BsonValidator.ValidateStructure(document);
        _kept[ns] = known + 1;
        _keptBytes += document.Length;
        kept.Add(new BsonDocument(document.ToArray()));
    }

    /// <summary>0 for a document without one.</summary>
    private static ulong IdOf(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        return reader.Find("_id"u8) ? ValueTally.HashOf(new BsonValue(reader.Type, reader.Value.ToArray())) : 0;
    }

    /// <summary>A request without its reply, or a cursor without its end.</summary>
    private sealed class Pending
    {
        public required ObservedOperation Operation { get; init; }

        public long Since { get; set; }

        public double Took { get; set; }

        public long Cursor { get; set; }

        public long Documents { get; set; }
    }
}
