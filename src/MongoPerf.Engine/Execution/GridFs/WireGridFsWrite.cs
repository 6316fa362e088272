using System.Text;
using MongoPerf.Engine.Documents.GridFs;
using MongoPerf.Engine.Workloads;
using MongoPerf.Wire.Bson;
using MongoPerf.Wire.Connections;
using MongoPerf.Wire.Messages;

namespace MongoPerf.Engine.Execution.GridFs;

/// <summary>Writes one file per operation: its chunks in as few inserts as a server's limits suggest, then its document.</summary>
/// <remarks>One thread. Messages are written before the operation; between its time stamps they are only sent.</remarks>
internal sealed class WireGridFsWrite : IPreparedOperation
{
    /// <summary>Data in one insert of chunks: far below any server's limit for a message.</summary>
    private const int BytesPerInsert = 16 << 20;

    private readonly WireExecutor _executor;
    private readonly GridFsFileSet _files;
    private readonly NumberSource _numbers;
    private readonly byte[] _database;
    private readonly OpMsgWriter[] _chunkInserts;
    private readonly OpMsgWriter _fileInsert = new();
    private readonly byte[] _data;
    private readonly int _chunkCount;
    private readonly int _chunksPerInsert;
    private int _requestId;

    public WireGridFsWrite(WireExecutor executor, GridFsWriteSpecification specification, string database, OperationContext context)
    {
        _executor = executor;
        _files = specification.Files;
        _numbers = context.Numbers ?? throw new ArgumentException("writing files needs a source of numbers", nameof(context));
        _database = Encoding.UTF8.GetBytes(database);
        _chunksPerInsert = Math.Max(1, BytesPerInsert / _files.Bucket.ChunkSize);
        _chunkCount = _files.FileAt(0).ChunkCount;
        _chunkInserts = [.. Enumerable.Range(0, (_chunkCount + _chunksPerInsert - 1) / _chunksPerInsert).Select(_ => new OpMsgWriter())];
        _data = new byte[Math.Min(_files.Bucket.ChunkSize, _files.Length)];
    }

    public ServerError? LastError { get; private set; }

    public bool Draw()
    {
        if (_numbers.Take(1, out long number) == 0)
            return false;
        GridFsFile file = _files.FileAt(number);
        _requestId += _chunkInserts.Length + 1;
        for (int i = 0; i < _chunkInserts.Length; i++)
            WriteChunks(_chunkInserts[i], file, number, i);
        StartInsert(_fileInsert, _files.Bucket.Files, _requestId);
        file.Write(_fileInsert.Body);
        EndInsert(_fileInsert);
        return true;
    }

    public OperationOutcome Execute()
    {
        for (int i = 0; i < _chunkInserts.Length; i++)
        {
            int documents = Math.Min(_chunksPerInsert, _chunkCount - (i * _chunksPerInsert));
            if (!TryInsert(_chunkInserts[i], RequestIdOf(i), documents))
                return default;
        }

        return TryInsert(_fileInsert, _requestId, documents: 1) ? new OperationOutcome(true, 1, _files.Length) : default;
    }

    /// <summary>An insert brings nothing back to compare.</summary>
    public VerificationOutcome Verify() => default;

    public void Complete()
    {
    }

    private void WriteChunks(OpMsgWriter insert, GridFsFile file, long number, int index)
    {
        StartInsert(insert, _files.Bucket.Chunks, RequestIdOf(index));
        int end = Math.Min(_chunkCount, (index + 1) * _chunksPerInsert);
        for (int n = index * _chunksPerInsert; n < end; n++)
        {
            Span<byte> data = _data.AsSpan(0, file.LengthOfChunk(n));
            _files.Fill(number, file.OffsetOfChunk(n), data);
            GridFsFile.WriteChunk(insert.Body, _files.ChunkIdOf(number, n), file.Id, n, data);
        }

        EndInsert(insert);
    }

    private void StartInsert(OpMsgWriter message, string collection, int requestId)
    {
        message.Begin(requestId: requestId);
        message.Body.WriteString("insert"u8, collection);
        message.Body.WriteString("$db"u8, _database);
        message.EndBody();
        message.BeginSequence("documents"u8);
    }

    private static void EndInsert(OpMsgWriter message)
    {
        message.EndSequence();
        message.Finish();
    }

    private bool TryInsert(OpMsgWriter insert, int requestId, int documents)
    {
        ReadOnlySpan<byte> reply = _executor.Connection.RoundTrip(insert.Body.Written);
        WriteReply result = WriteReply.Parse(reply, requestId);
        if (result.IsOk && result.Count == documents)
            return true;
        LastError = result.ReadError(reply, documents);
        return false;
    }

    /// <summary>The file's own insert has the last id of the operation.</summary>
    private int RequestIdOf(int chunkInsert) => _requestId - _chunkInserts.Length + chunkInsert;
}
