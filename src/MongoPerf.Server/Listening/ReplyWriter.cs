using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Server.Listening;

/// <summary>Where a handler writes its reply: the connection's send buffer, used again for each reply. One thread.</summary>
/// <remarks>
/// When a handler is called the reply document is open; it writes elements and ends with <see cref="Succeed"/> or <see cref="Fail"/>.
/// </remarks>
public sealed class ReplyWriter
{
    // A buffer that one huge reply has blown up is given back.
    private const int KeptBytes = 4 << 20;
    private const int OpReplyFixedBytes = 20;

    // A client that put megabytes into a name does not want them back.
    private const int MaximumText = 16 << 10;
    private const int AwaitCapable = 8;
    private const int QueryFailure = 2;

    private int _bodyStart;
    private bool _isVerbatim;
    private byte[]? _prepared;

    /// <summary>Stands inside the reply document.</summary>
    public BsonWriter Body { get; private set; } = new();

    /// <summary>Close the connection once what was written is sent.</summary>
    public bool CloseAfterwards { get; set; }

    /// <summary>The cursor that the reply belongs to is not at its end.</summary>
    public bool HasMore { get; set; }

    /// <summary>Where the reply document starts in <see cref="Body"/>.</summary>
    public int BodyStart => _bodyStart;

    /// <summary>The answer is {..., ok: 1}.</summary>
    public void Succeed()
    {
        Body.WriteDouble("ok"u8, 1);
        Body.End();
    }

    /// <summary>Throws away what was written and answers with an error.</summary>
    /// <param name="code">0: an error without code and codeName, which mongod has too.</param>
    /// <param name="codeName">MongoDB's name of the code, such as <c>BadValue</c>.</param>
    /// <param name="message">MongoDB's text where it is known.</param>
    /// <param name="writeDetails">Writes what else goes into the reply; may be null.</param>
    public void Fail(int code, string codeName, string message, Action<BsonWriter>? writeDetails = null)
    {
        Restart();
        Body.WriteDouble("ok"u8, 0);
        Body.WriteString("errmsg"u8, message.Length <= MaximumText ? message : message[..MaximumText] + "...");
        if (code != 0)
        {
            Body.WriteInt32("code"u8, code);
            Body.WriteString("codeName"u8, codeName);
        }

        writeDetails?.Invoke(Body);
        Body.End();
    }

    /// <summary>Answers an OP_QUERY or OP_GET_MORE with an error, in the form that drivers of that time look for.</summary>
    internal void FailQuery(int code, string message)
    {
        Restart();
        Body.WriteString("$err"u8, message);
        Body.WriteInt32("code"u8, code);
        Body.WriteDouble("ok"u8, 0);
        Body.End();
        Body.PatchInt32(MessageHeader.Size, QueryFailure);
    }

    /// <summary>Throws away what was written; the reply document is open and empty.</summary>
    public void Restart()
    {
        int start = _bodyStart;
        byte[] head = Body.Written[..start].ToArray();
        Body.Clear();
        Body.WriteRaw(head);
        Body.StartDocument();
    }

    /// <summary>Sends these bytes instead of a reply: for fakes that lie. Empty: sends nothing.</summary>
    public void SendVerbatim(ReadOnlySpan<byte> bytes)
    {
        Body.Clear();
        Body.WriteRaw(bytes);
        _isVerbatim = true;
    }

    /// <summary>Answers an OP_MSG with a whole reply that was written before, without copying it.</summary>
    /// <param name="message">
    /// All that <see cref="Body"/> once held, its reply ended. The ids of requests are put into it: it is one connection's own.
    /// </param>
    public void SendPrepared(byte[] message) => _prepared = message;

    internal void BeginMessage(int requestId, int responseTo)
    {
        Reset();
        new MessageHeader(0, requestId, responseTo, OpCode.Msg).Write(Body.Grow(MessageHeader.Size));
        Body.WriteRawInt32(0);
        Body.WriteRawByte(0);
        OpenBody();
    }

    /// <summary>OP_REPLY: int32 flags, int64 cursor, int32 first, int32 count, then the document.</summary>
    internal void BeginLegacyReply(int requestId, int responseTo)
    {
        Reset();
        new MessageHeader(0, requestId, responseTo, OpCode.Reply).Write(Body.Grow(MessageHeader.Size));
        Span<byte> fields = Body.Grow(OpReplyFixedBytes);
        fields.Clear();
        fields[0] = AwaitCapable;
        fields[16] = 1;
        OpenBody();
    }

    /// <summary>Another reply follows unasked.</summary>
    internal void AnnounceMore() => Body.PatchInt32(MessageHeader.Size, (int)OpMsgFlags.MoreToCome);

    /// <summary>No client takes a message over 48,000,000 bytes; such a reply becomes an error.</summary>
    internal ReadOnlySpan<byte> Finish()
    {
        if (_isVerbatim)
            return Body.Written;
        if (_prepared is not null)
        {
            Body.PatchInt32(0, _prepared.Length);
            Body.Written[..MessageHeader.Size].CopyTo(_prepared);
            return _prepared;
        }

        if (Body.Length > MessageHeader.MaximumMessageLength)
            Fail(10334, "BSONObjectTooLarge", $"BSONObj size: {Body.Length - _bodyStart} (0x{Body.Length - _bodyStart:X}) is invalid. "
                + $"The reply does not fit a message of {MessageHeader.MaximumMessageLength} bytes");
        Body.PatchInt32(0, Body.Length);
        return Body.Written;
    }

    /// <summary>Gives back what a huge reply needed.</summary>
    internal void Trim()
    {
        if (Body.Length > KeptBytes)
            Body = new BsonWriter();
    }

    private void OpenBody()
    {
        _bodyStart = Body.Length;
        Body.StartDocument();
    }

    private void Reset()
    {
        Trim();
        Body.Clear();
        _isVerbatim = false;
        _prepared = null;
        CloseAfterwards = false;
        HasMore = false;
    }
}
