using MongoPerf.Wire.Bson;

namespace MongoPerf.Wire.Messages;

/// <summary>Writes one OP_MSG: the command first, then document sequences. The buffer is used again for the next message.</summary>
/// <remarks>
/// One thread. Order of calls: <see cref="Begin"/>, the command's elements through <see cref="Body"/>, <see cref="EndBody(string)"/>,
/// then any number of sequences, then <see cref="Finish"/>.
/// </remarks>
public sealed class OpMsgWriter
{
    private int _sequenceStart;

    /// <summary>The writer of the bytes; after <see cref="Begin"/> it stands inside the command document.</summary>
    public BsonWriter Body { get; } = new();

    public void Begin(OpMsgFlags flags = OpMsgFlags.None, int requestId = 1, int responseTo = 0)
    {
        Body.Clear();
        new MessageHeader(0, requestId, responseTo, OpCode.Msg).Write(Body.Grow(MessageHeader.Size));
        Body.WriteRawInt32((int)flags);
        Body.WriteRawByte(0);
        Body.StartDocument();
    }

    /// <summary>Ends the command document with its <c>$db</c>.</summary>
    public void EndBody(string database)
    {
        Body.WriteString("$db"u8, database);
        Body.End();
    }

    /// <summary>Ends a reply, which names no database.</summary>
    public void EndBody() => Body.End();

    /// <summary>Starts a section of kind 1; write its documents with StartDocument and End, or raw.</summary>
    public void BeginSequence(ReadOnlySpan<byte> name)
    {
        Body.WriteRawByte(1);
        _sequenceStart = Body.Length;
        Body.WriteRawInt32(0);
        Body.WriteRaw(name);
        Body.WriteRawByte(0);
    }

    public void EndSequence() => Body.PatchInt32(_sequenceStart, Body.Length - _sequenceStart);

    /// <summary>Sets the message's length.</summary>
    /// <returns>The whole message; valid until the next <see cref="Begin"/>.</returns>
    public ReadOnlySpan<byte> Finish()
    {
        Body.PatchInt32(0, Body.Length);
        return Body.Written;
    }

    /// <summary>A whole message for a command that runs once.</summary>
    public ReadOnlySpan<byte> WriteCommand(string database, BsonDocument command, int requestId, OpMsgFlags flags = OpMsgFlags.None)
    {
        Begin(flags, requestId);
        // The elements without the document's own length and final zero: $db follows them.
        Body.WriteRaw(command.Bytes[4..^1]);
        EndBody(database);
        return Finish();
    }
}
