using System.Text;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Traffic.Replaying;

/// <summary>
/// Writes a recorded request as the target takes it: its own database, session and cursors, and nothing that only the recorded server
/// understands. One thread; allocates nothing once its buffer is large enough.
/// </summary>
/// <param name="databases">Names that stand in place of recorded ones.</param>
internal sealed class RequestWriter(IReadOnlyDictionary<string, string> databases)
{
    private const int SequenceKind = 1;

    private readonly (byte[] From, byte[] To)[] _databases =
        [.. databases.Select(pair => (Encoding.UTF8.GetBytes(pair.Key), Encoding.UTF8.GetBytes(pair.Value)))];

    private readonly BsonWriter _writer = new(1 << 16);

    /// <summary>What turns a recorded session into one of this replay: another one for each, the same for all its requests.</summary>
    public ReadOnlyMemory<byte> SessionSalt { get; init; } = new byte[16];

    /// <summary>The target has transactions and retryable writes; otherwise what marks a write as retryable is left out.</summary>
    public bool HasTransactions { get; set; } = true;

    /// <param name="message">The request, OP_MSG.</param>
    /// <param name="requestId">The number that it gets.</param>
    /// <param name="cursors">The target's cursors in place of the recorded ones: that of a getMore, those of a killCursors.</param>
    /// <returns>Valid until the next call.</returns>
    public ReadOnlySpan<byte> Write(in OpMsg message, int requestId, ReadOnlySpan<long> cursors)
    {
        _writer.Clear();
        _writer.WriteRawInt32(0);
        _writer.WriteRawInt32(requestId);
        _writer.WriteRawInt32(0);
        _writer.WriteRawInt32((int)OpCode.Msg);
        // A reply is waited for as often as one comes, so a stream of them is not asked for. No checksum is written.
        _writer.WriteRawInt32((int)(message.Flags & OpMsgFlags.MoreToCome));
        _writer.WriteRawByte(0);
        WriteBody(message.Body, cursors);
        foreach (DocumentSequence sequence in message.Sequences)
            WriteSequence(sequence);
        _writer.PatchInt32(0, _writer.Length);
        return _writer.Written;
    }

    private void WriteBody(ReadOnlySpan<byte> body, ReadOnlySpan<long> cursors)
    {
        bool isInTransaction = new BsonReader(body).Find("autocommit"u8);
        var reader = new BsonReader(body);
        _writer.StartDocument();
        bool isFirst = true;
        bool isRename = false;
        while (reader.Read())
        {
            if (isFirst && reader.NameIs("getMore"u8) && cursors.Length > 0)
                _writer.WriteInt64(reader.Name, cursors[0]);
            else if (isFirst && reader.NameIs("renameCollection"u8) && reader.Type == BsonType.String)
            {
                isRename = true;
                WriteNamespace(reader.Name, reader.StringBytes);
            }
            else if (isRename && reader.NameIs("to"u8) && reader.Type == BsonType.String)
                WriteNamespace(reader.Name, reader.StringBytes);
            else if (reader.NameIs("cursors"u8) && reader.Type == BsonType.Array && cursors.Length > 0)
                WriteCursors(cursors);
            else if (reader.NameIs("$db"u8) && reader.Type == BsonType.String)
                _writer.WriteString(reader.Name, Renamed(reader.StringBytes));
            else if (reader.NameIs("lsid"u8) && reader.Type == BsonType.Document)
                WriteSession(reader.Value);
            else if (reader.NameIs("readConcern"u8) && reader.Type == BsonType.Document)
                WriteReadConcern(reader.Value);
            else if (reader.NameIs("nsInfo"u8) && reader.Type == BsonType.Array)
                WriteNamespaces(reader.Value);
            else if (!IsLeftOut(reader, isInTransaction))
                _writer.WriteValue(reader.Name, reader.Type, reader.Value);
            isFirst = false;
        }

        _writer.End();
    }

    /// <summary>What the recorded deployment has signed or counted, and no other one knows.</summary>
    private bool IsLeftOut(in BsonReader element, bool isInTransaction) =>
        element.NameIs("$clusterTime"u8) || element.NameIs("operationTime"u8) || element.NameIs("recoveryToken"u8)
        || element.NameIs("$configTime"u8) || element.NameIs("$topologyTime"u8)
        || (element.NameIs("txnNumber"u8) && !HasTransactions && !isInTransaction);

    private void WriteSession(ReadOnlySpan<byte> session)
    {
        var reader = new BsonReader(session);
        if (!reader.Find("id"u8) || reader.Type != BsonType.Binary || reader.Value.Length != 5 + 16)
            return;
        Span<byte> id = stackalloc byte[16];
        reader.Value[5..].CopyTo(id);
        for (int i = 0; i < id.Length; i++)
            id[i] ^= SessionSalt.Span[i];
        _writer.StartDocument("lsid"u8);
        _writer.WriteBinary("id"u8, id, 4);
        _writer.End();
    }

    private void WriteReadConcern(ReadOnlySpan<byte> concern)
    {
        var reader = new BsonReader(concern);
        _writer.StartDocument("readConcern"u8);
        while (reader.Read())
        {
            if (!reader.NameIs("afterClusterTime"u8) && !reader.NameIs("atClusterTime"u8))
                _writer.WriteValue(reader.Name, reader.Type, reader.Value);
        }

        _writer.End();
    }

    private void WriteCursors(ReadOnlySpan<long> cursors)
    {
        Span<byte> name = stackalloc byte[11];
        _writer.StartArray("cursors"u8);
        for (int i = 0; i < cursors.Length; i++)
        {
            i.TryFormat(name, out int length);
            _writer.WriteInt64(name[..length], cursors[i]);
        }

        _writer.End();
    }

    private void WriteNamespaces(ReadOnlySpan<byte> array)
    {
        var items = new BsonReader(array);
        _writer.StartArray("nsInfo"u8);
        while (items.Read())
        {
            if (items.Type != BsonType.Document)
            {
                _writer.WriteValue(items.Name, items.Type, items.Value);
                continue;
            }

            _writer.StartDocument(items.Name);
            WriteNamespaceFields(items.Value);
            _writer.End();
        }

        _writer.End();
    }

    private void WriteNamespaceFields(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        while (reader.Read())
        {
            if (reader.NameIs("ns"u8) && reader.Type == BsonType.String)
                WriteNamespace(reader.Name, reader.StringBytes);
            else
                _writer.WriteValue(reader.Name, reader.Type, reader.Value);
        }
    }

    private void WriteSequence(in DocumentSequence sequence)
    {
        _writer.WriteRawByte(SequenceKind);
        int start = _writer.Length;
        _writer.WriteRawInt32(0);
        _writer.WriteRaw(sequence.Name);
        _writer.WriteRawByte(0);
        if (sequence.Name.SequenceEqual("nsInfo"u8))
        {
            for (ReadOnlySpan<byte> left = sequence.Documents; left.Length > 0;)
            {
                ReadOnlySpan<byte> document = new BsonReader(left).Document;
                _writer.StartDocument();
                WriteNamespaceFields(document);
                _writer.End();
                left = left[document.Length..];
            }
        }
        else
        {
            _writer.WriteRaw(sequence.Documents);
        }

        _writer.PatchInt32(start, _writer.Length - start);
    }

    private void WriteNamespace(ReadOnlySpan<byte> name, ReadOnlySpan<byte> text)
    {
        int dot = text.IndexOf((byte)'.');
        ReadOnlySpan<byte> to = dot < 0 ? text : Renamed(text[..dot]);
        ReadOnlySpan<byte> rest = dot < 0 ? default : text[dot..];
        Span<byte> whole = to.Length + rest.Length <= 512 ? stackalloc byte[512] : new byte[to.Length + rest.Length];
        to.CopyTo(whole);
        rest.CopyTo(whole[to.Length..]);
        _writer.WriteString(name, whole[..(to.Length + rest.Length)]);
    }

    private ReadOnlySpan<byte> Renamed(ReadOnlySpan<byte> database)
    {
        foreach ((byte[] from, byte[] to) in _databases)
        {
            if (database.SequenceEqual(from))
                return to;
        }

        return database;
    }
}
