using System.Buffers.Binary;
using System.Text;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.Wire;

/// <summary>One worker's session: its id, the transaction that it is in, and the latest times that servers have sent.</summary>
/// <remarks>
/// Servers' times only move forward: after a failover, or behind a mongos, a later reply may bring an earlier time. Sources:
/// specifications, driver-sessions.md, transactions.md and causal-consistency.md. One thread; nothing allocates.
/// </remarks>
/// <param name="transaction">Null for a session without transactions.</param>
/// <param name="isCausal">Reads ask for what the session has seen.</param>
/// <param name="usualLevel">The connection string's read concern; null for none.</param>
internal sealed class WireSession(TransactionSettings? transaction, bool isCausal, string? usualLevel)
{
    private readonly byte[] _id = Guid.NewGuid().ToByteArray(bigEndian: true);
    private readonly byte[] _usualLevel = Encoding.UTF8.GetBytes(transaction?.ReadConcern ?? usualLevel ?? "");
    private readonly BsonWriter _clusterTime = new(256);
    private readonly BsonWriter _recoveryToken = new(64);
    private long _number;
    private ulong _operationTime;
    private ulong _latestClusterTime;
    private ulong _transactionTime;

    /// <summary>Whether a command of the transaction has been sent.</summary>
    public bool HasBegun { get; private set; }

    public BsonDocument Id => BsonDocument.Of(("id", new BsonValue(BsonType.Binary, (byte[])[16, 0, 0, 0, 4, .. _id])));

    /// <summary>Makes the next command begin a transaction.</summary>
    public void Begin()
    {
        _number++;
        HasBegun = false;
        _recoveryToken.Clear();
        _transactionTime = _operationTime;
    }

    /// <summary>Writes what each command of the session has beside its own elements.</summary>
    /// <param name="writer">Stands in the command.</param>
    /// <param name="readLevel">The read concern of a read outside of transactions, empty for the usual one; null for a write.</param>
    public void Write(BsonWriter writer, byte[]? readLevel)
    {
        WriteMembership(writer);
        if (transaction is not null)
        {
            if (!HasBegun)
            {
                writer.WriteBoolean("startTransaction"u8, true);
                WriteReadConcern(writer, _usualLevel, _transactionTime);
            }

            HasBegun = true;
        }
        else if (readLevel is not null)
        {
            WriteReadConcern(writer, readLevel.Length > 0 ? readLevel : _usualLevel, _operationTime);
        }

        WriteClusterTime(writer);
    }

    /// <summary>Says that a command belongs to the session, and to its transaction: all that it takes to read a cursor on.</summary>
    public void WriteMembership(BsonWriter writer)
    {
        writer.StartDocument("lsid"u8);
        writer.WriteBinary("id"u8, _id, subtype: 4);
        writer.End();
        if (transaction is null)
            return;
        writer.WriteInt64("txnNumber"u8, _number);
        writer.WriteBoolean("autocommit"u8, false);
    }

    /// <summary>Writes the message that ends a transaction.</summary>
    /// <param name="writer">Gets the message.</param>
    /// <param name="command">commitTransaction or abortTransaction.</param>
    /// <param name="writeConcern">How safe it must be; null leaves it to the server.</param>
    /// <returns>The message; valid until the next call.</returns>
    public ReadOnlySpan<byte> WriteEnd(OpMsgWriter writer, ReadOnlySpan<byte> command, BsonDocument? writeConcern)
    {
        BsonWriter body = writer.Body;
        writer.Begin();
        body.WriteInt32(command, 1);
        WriteMembership(body);
        if (writeConcern is not null)
            body.WriteDocument("writeConcern"u8, writeConcern.Bytes);
        if (transaction?.MaxCommitMilliseconds is { } most && command.SequenceEqual("commitTransaction"u8))
            body.WriteInt32("maxTimeMS"u8, most);
        if (_recoveryToken.Length > 0)
            body.WriteDocument("recoveryToken"u8, _recoveryToken.Written);
        WriteClusterTime(body);
        body.WriteString("$db"u8, "admin"u8);
        writer.EndBody();
        return writer.Finish();
    }

    /// <summary>Notes the times in a reply, and where its transaction can be found again.</summary>
    public void Read(ReadOnlySpan<byte> reply)
    {
        var reader = new BsonReader(reply);
        while (reader.Read())
        {
            if (reader.NameIs("operationTime"u8) && reader.Type == BsonType.Timestamp)
                _operationTime = Math.Max(_operationTime, BinaryPrimitives.ReadUInt64LittleEndian(reader.Value));
            else if (reader.NameIs("$clusterTime"u8) && reader.Type == BsonType.Document)
                AdvanceClusterTime(reader.Value);
            else if (reader.NameIs("recoveryToken"u8) && reader.Type == BsonType.Document)
                Keep(_recoveryToken, reader.Value);
        }
    }

    private void AdvanceClusterTime(ReadOnlySpan<byte> document)
    {
        var reader = new BsonReader(document);
        if (!reader.Find("clusterTime"u8) || reader.Type != BsonType.Timestamp)
            return;
        ulong time = BinaryPrimitives.ReadUInt64LittleEndian(reader.Value);
        if (time <= _latestClusterTime)
            return;
        _latestClusterTime = time;
        Keep(_clusterTime, document);
    }

    private static void Keep(BsonWriter writer, ReadOnlySpan<byte> document)
    {
        writer.Clear();
        writer.WriteRaw(document);
    }

    private void WriteReadConcern(BsonWriter writer, byte[] level, ulong after)
    {
        bool isAfter = isCausal && after > 0;
        if (level.Length == 0 && !isAfter)
            return;
        writer.StartDocument("readConcern"u8);
        if (level.Length > 0)
            writer.WriteString("level"u8, level);
        if (isAfter)
            writer.WriteTimestamp("afterClusterTime"u8, after);
        writer.End();
    }

    /// <summary>Another member may not have heard of the time yet that a read is to come after.</summary>
    private void WriteClusterTime(BsonWriter writer)
    {
        if (_clusterTime.Length > 0)
            writer.WriteDocument("$clusterTime"u8, _clusterTime.Written);
    }
}
