using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.GridFs;

/// <summary>
/// Reads one file per operation: its document, then all its chunks in order, put together as a client would hand them out.
/// </summary>
/// <remarks>One thread. A file that is not there, or whose chunks are not as they must be, is a failed operation.</remarks>
internal sealed class WireGridFsRead : IPreparedOperation
{
    private readonly WireRoute _route;
    private readonly GridFsFileSet _files;
    private readonly DocumentValue _fileCommand;
    private readonly DocumentValue _chunksCommand;
    private readonly GetMoreMessage _getMore;
    private readonly OpMsgWriter _findFile = new();
    private readonly OpMsgWriter _findChunks = new();
    private readonly GridFsAssembler _assembler = new();
    private readonly byte[] _scratch;
    private OperationDraws _draws;
    private long _number;
    private int _requestId;

    public WireGridFsRead(WireExecutor executor, DownloadFile operation, string database, OperationContext context)
    {
        _route = executor.RouteOf(operation.Steps[0]);
        _files = operation.Files;
        DocumentValue[] commands = [.. operation.Steps.Select(step => WireMessage.Command(step, executor, database))];
        (_fileCommand, _chunksCommand) = (commands[0], commands[1]);
        _getMore = new GetMoreMessage(executor.Dialect, _files.Bucket.Chunks, database);
        _scratch = new byte[_files.Bucket.ChunkSize];
        _draws = new OperationDraws(operation, context);
    }

    public ServerError? LastError { get; private set; }

    public string? Member => _route.Member;

    public bool Draw()
    {
        _number = _draws.NextKey();
        Write(_findFile, _fileCommand);
        Write(_findChunks, _chunksCommand);
        return true;
    }

    public OperationOutcome Execute()
    {
        try
        {
            return TryFindFile() && TryReadChunks() ? new OperationOutcome(true, 1, _assembler.Content.Length) : default;
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
    private bool TryFindFile()
    {
        if (!TryRoundTrip(_findFile.Body.Written, out CursorReply reply))
            return false;
        var items = new BsonReader(BatchOf(reply));
        if (!items.Read())
            throw new GridFsFormatException("file not found");
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
            throw new GridFsFormatException(
                $"the file's length is {length} and its chunkSize {chunkSize}; allowed: 0 or more, and 1 to {int.MaxValue}");
        _assembler.Start(length, (int)chunkSize);
        return true;
    }

    private bool TryReadChunks()
    {
        if (!TryRoundTrip(_findChunks.Body.Written, out CursorReply reply))
            return false;
        AddChunks(reply);
        var guard = new CursorGuard(_route.Connection, long.MaxValue);
        while (reply.CursorId != 0)
        {
            guard.AskForMore(reply.Documents);
            if (!TryRoundTrip(_getMore.Write(reply.CursorId), out reply))
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

    private bool TryRoundTrip(ReadOnlySpan<byte> message, out CursorReply cursor)
    {
        ReadOnlySpan<byte> reply = _route.Connection.RoundTrip(message);
        cursor = CursorReply.Parse(reply);
        if (!cursor.IsOk)
            LastError = ServerError.From(new BsonDocument(OpMsg.Parse(reply).Body.ToArray()));
        return cursor.IsOk;
    }

    private ReadOnlySpan<byte> BatchOf(CursorReply reply) => _route.Connection.LastReceived.Slice(reply.Batch.Start, reply.Batch.Length);

    private void Write(OpMsgWriter message, DocumentValue command)
    {
        message.Begin(requestId: ++_requestId);
        command.WriteElements(message.Body, new ValueContext(_number, 0));
        message.EndBody();
        message.Finish();
    }
}
