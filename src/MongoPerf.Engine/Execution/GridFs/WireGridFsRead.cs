using System.Text;
using MongoPerf.Engine.Documents.GridFs;
using MongoPerf.Engine.Measurement;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Engine.Execution.GridFs;

/// <summary>Reads one file per operation: its document, then all its chunks in order, put together as a client would hand them out.</summary>
/// <remarks>One thread. A file that is not there, or whose chunks are not as they must be, is a failed operation.</remarks>
internal sealed class WireGridFsRead : IPreparedOperation
{
    private readonly WireExecutor _executor;
    private readonly GridFsFileSet _files;
    private readonly int _count;
    private readonly byte[] _database;
    private readonly byte[] _chunks;
    private readonly OpMsgWriter _findFile = new();
    private readonly OpMsgWriter _findChunks = new();
    private readonly OpMsgWriter _getMore = new();
    private readonly GridFsAssembler _assembler = new();
    private readonly byte[] _scratch;
    private RandomStream _random;
    private long _number;
    private int _requestId;

    public WireGridFsRead(WireExecutor executor, GridFsReadSpecification specification, string database, OperationContext context)
    {
        _executor = executor;
        _files = specification.Files;
        _count = specification.Count;
        _database = Encoding.UTF8.GetBytes(database);
        _chunks = Encoding.UTF8.GetBytes(_files.Bucket.Chunks);
        _scratch = new byte[_files.Bucket.ChunkSize];
        _random = RandomStream.For(context.Seed, RandomPurpose.Arguments, context.Worker);
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        _number = _random.Next(_count);
        ObjectId id = _files.IdOf(_number);
        _findFile.Begin(requestId: ++_requestId);
        _findFile.Body.WriteString("find"u8, _files.Bucket.Files);
        WriteFilter(_findFile.Body, "_id"u8, id);
        _findFile.Body.WriteInt32("limit"u8, 1);
        _findFile.Body.WriteBoolean("singleBatch"u8, true);
        End(_findFile);

        _findChunks.Begin(requestId: ++_requestId);
        _findChunks.Body.WriteString("find"u8, _chunks);
        WriteFilter(_findChunks.Body, "files_id"u8, id);
        _findChunks.Body.StartDocument("sort"u8);
        _findChunks.Body.WriteInt32("n"u8, 1);
        _findChunks.Body.End();
        End(_findChunks);
        return true;
    }

    public OperationOutcome Execute()
    {
        try
        {
            return TryFindFile(_requestId - 1) && TryReadChunks() ? new OperationOutcome(true, 1, _assembler.Content.Length) : default;
        }
        catch (GridFsFormatException e)
        {
            LastError = new ServerError(0, "GridFsFormatError", e.Message, []);
            return default;
        }
    }

    public VerificationOutcome Verify() => new(1, _files.Matches(_number, _assembler.Content, _scratch) ? 0 : 1);

    public void Complete()
    {
    }

    /// <summary>Takes over the file's length and chunk size.</summary>
    private bool TryFindFile(int requestId)
    {
        if (!TryRoundTrip(_findFile, requestId, out CursorReply reply))
            return false;
        var items = new BsonReader(BatchOf(reply));
        if (!items.Read())
            throw new GridFsFormatException("the file is not there");
        long length = -1;
        long chunkSize = -1;
        var field = new BsonReader(items.DocumentBytes);
        while (field.Read())
        {
            if (field.NameIs("length"u8))
                length = field.ToInt64();
            else if (field.NameIs("chunkSize"u8))
                chunkSize = field.ToInt64();
        }

        if (length < 0 || chunkSize is < 1 or > int.MaxValue)
            throw new GridFsFormatException($"the file's length is {length} and its chunkSize {chunkSize}, allowed are 0 or more and 1 to {int.MaxValue}");
        _assembler.Start(length, (int)chunkSize);
        return true;
    }

    private bool TryReadChunks()
    {
        if (!TryRoundTrip(_findChunks, _requestId, out CursorReply reply))
            return false;
        AddChunks(reply);
        while (reply.CursorId != 0)
        {
            WriteGetMore(reply.CursorId);
            if (!TryRoundTrip(_getMore, _requestId, out reply))
                return false;
            AddChunks(reply);
        }

        _assembler.RequireComplete();
        return true;
    }

    private void AddChunks(CursorReply reply)
    {
        var items = new BsonReader(BatchOf(reply));
        while (items.Read())
            _assembler.Add(items.DocumentBytes);
    }

    private bool TryRoundTrip(OpMsgWriter message, int requestId, out CursorReply cursor)
    {
        ReadOnlySpan<byte> reply = _executor.Connection.RoundTrip(message.Body.Written);
        WriteReply.RequireResponseTo(reply, requestId);
        cursor = CursorReply.Parse(reply);
        if (!cursor.IsOk)
            LastError = ServerError.From(new BsonDocument(OpMsg.Parse(reply).Body.ToArray()));
        return cursor.IsOk;
    }

    private ReadOnlySpan<byte> BatchOf(CursorReply reply) => _executor.Connection.LastReceived.Slice(reply.Batch.Start, reply.Batch.Length);

    private void WriteGetMore(long cursor)
    {
        _getMore.Begin(requestId: ++_requestId);
        _getMore.Body.WriteInt64("getMore"u8, cursor);
        _getMore.Body.WriteString("collection"u8, _chunks);
        End(_getMore);
    }

    private void End(OpMsgWriter message)
    {
        message.Body.WriteString("$db"u8, _database);
        message.EndBody();
        message.Finish();
    }

    private static void WriteFilter(BsonWriter body, ReadOnlySpan<byte> field, ObjectId id)
    {
        body.StartDocument("filter"u8);
        body.WriteObjectId(field, id);
        body.End();
    }
}
