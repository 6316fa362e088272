using MongoPerf.Load.Documents;
using MongoPerf.Load.Documents.GridFs;
using MongoPerf.Load.Executors.Wire;
using MongoPerf.Load.Phases;
using MongoPerf.Load.Plans;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Load.Executors.GridFs;

/// <summary>Writes one file per operation: its chunks in as few inserts as a server's limits suggest, then its document.</summary>
/// <remarks>One thread. Messages are written before the operation; between its time stamps they are only sent.</remarks>
internal sealed class WireGridFsWrite : IPreparedOperation
{
    /// <summary>Data in one insert of chunks: far below any server's limit for a message.</summary>
    private const int BytesPerInsert = 16 << 20;

    private readonly WireRoute _route;
    private readonly GridFsFileSet _files;
    private readonly InsertNumbers _numbers;
    private readonly DocumentValue _insertChunks;
    private readonly DocumentValue _insertFile;
    private readonly OpMsgWriter[] _chunkInserts;
    private readonly OpMsgWriter _fileInsert = new();
    private readonly byte[] _data;
    private readonly int _chunkCount;
    private readonly int _chunksPerInsert;
    private int _requestId;

    public WireGridFsWrite(WireExecutor executor, UploadFile operation, string database, OperationContext context)
    {
        _route = executor.RouteOf(operation.Steps[0]);
        _files = operation.Files;
        _numbers = new InsertNumbers(operation, context);
        DocumentValue[] commands = [.. operation.Steps.Select(step => WireMessage.Command(step, executor, database))];
        (_insertChunks, _insertFile) = (commands[0], commands[1]);
        _chunksPerInsert = Math.Max(1, BytesPerInsert / _files.Bucket.ChunkSize);
        _chunkCount = _files.ChunkCount;
        _chunkInserts = [.. Enumerable.Range(0, (_chunkCount + _chunksPerInsert - 1) / _chunksPerInsert).Select(_ => new OpMsgWriter())];
        _data = new byte[Math.Min(_files.Bucket.ChunkSize, _files.Length)];
    }

    public ServerError? LastError { get; private set; }

    public string? Member => _route.Member;

    public bool Draw()
    {
        if (!_numbers.Take(1))
            return false;
        long number = _numbers[0];
        GridFsFile file = _files.FileAt(number);
        _requestId += _chunkInserts.Length + 1;
        for (int i = 0; i < _chunkInserts.Length; i++)
            WriteChunks(_chunkInserts[i], file, number, i);
        StartInsert(_fileInsert, _insertFile, _requestId);
        file.Write(_fileInsert.Body);
        EndInsert(_fileInsert);
        return true;
    }

    public OperationOutcome Execute()
    {
        for (int i = 0; i < _chunkInserts.Length; i++)
        {
            int documents = Math.Min(_chunksPerInsert, _chunkCount - (i * _chunksPerInsert));
            if (!TryInsert(_chunkInserts[i], documents))
                return default;
        }

        bool isWhole = TryInsert(_fileInsert, documents: 1);
        _numbers.Acknowledge();
        return isWhole ? new OperationOutcome(true, 1, _files.Length) : default;
    }

    /// <summary>An insert brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete() => _numbers.Acknowledge();

    private void WriteChunks(OpMsgWriter insert, GridFsFile file, long number, int index)
    {
        StartInsert(insert, _insertChunks, RequestIdOf(index));
        int end = Math.Min(_chunkCount, (index + 1) * _chunksPerInsert);
        for (int n = index * _chunksPerInsert; n < end; n++)
        {
            Span<byte> data = _data.AsSpan(0, file.LengthOfChunk(n));
            _files.Fill(number, file.OffsetOfChunk(n), data);
            GridFsFile.WriteChunk(insert.Body, _files.ChunkIdOf(number, n), file.Id, n, data);
        }

        EndInsert(insert);
    }

    private static void StartInsert(OpMsgWriter message, DocumentValue command, int requestId)
    {
        message.Begin(requestId: requestId);
        command.WriteElements(message.Body, new ValueContext(0, 0));
        message.EndBody();
        message.BeginSequence("documents"u8);
    }

    private static void EndInsert(OpMsgWriter message)
    {
        message.EndSequence();
        message.Finish();
    }

    private bool TryInsert(OpMsgWriter insert, int documents)
    {
        ReadOnlySpan<byte> reply = _route.Connection.RoundTrip(insert.Body.Written);
        WriteReply result = WriteReply.Parse(reply);
        if (result.IsOk && result.Count == documents)
            return true;
        // However many of its chunks were refused, it is one file.
        LastError = result.ReadError(reply, documents) with { Documents = 1 };
        return false;
    }

    /// <summary>The file's own insert has the last id of the operation.</summary>
    private int RequestIdOf(int chunkInsert) => _requestId - _chunkInserts.Length + chunkInsert;
}
