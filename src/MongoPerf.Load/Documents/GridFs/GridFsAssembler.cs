using MongoPerf.Wire.Bson;

namespace MongoPerf.Load.Documents.GridFs;

/// <summary>Puts a file together again from its chunks, in their order, and looks whether all are there and of the right size.</summary>
/// <remarks>
/// One thread; used again for the next file. Allocates nothing unless a chunk is wrong, or a file larger than those before.
/// </remarks>
public sealed class GridFsAssembler
{
    /// <summary>Length and subtype come before a binary's bytes.</summary>
    private const int BinaryHeaderLength = 5;

    private byte[] _content = [];
    private long _length;
    private int _chunkSize = 1;
    private int _next;
    private long _got;

    /// <summary>What has been put together so far.</summary>
    public ReadOnlySpan<byte> Content => _content.AsSpan(0, (int)_got);

    /// <summary>Whether every byte of the file is there.</summary>
    public bool IsComplete => _got == _length;

    /// <summary>Starts a file.</summary>
    /// <param name="length">Bytes, at most <see cref="Array.MaxLength"/>.</param>
    /// <param name="chunkSize">The chunk size as the file's document says.</param>
    /// <exception cref="GridFsFormatException">It is too long to be held in memory.</exception>
    public void Start(long length, int chunkSize)
    {
        if (length > Array.MaxLength)
            throw new GridFsFormatException($"file length is {length}; allowed: up to {Array.MaxLength}");
        if (_content.Length < length)
            _content = new byte[length];
        (_length, _chunkSize, _next, _got) = (length, chunkSize, 0, 0);
    }

    /// <summary>Takes the next chunk, a document of the chunks collection.</summary>
    /// <exception cref="GridFsFormatException">It is another one, or of another size than the file's document makes it.</exception>
    /// <exception cref="BsonFormatException">It is no document.</exception>
    public void Add(ReadOnlySpan<byte> chunk)
    {
        long n = -1;
        ReadOnlySpan<byte> data = default;
        var field = new BsonReader(chunk);
        while (field.Read())
        {
            if (field.NameIs("n"u8) && field.IsNumber)
                n = field.ToInt64();
            else if (field.NameIs("data"u8) && field.Type == BsonType.Binary)
                data = field.Value[BinaryHeaderLength..];
        }

        if (n != _next)
            throw new GridFsFormatException($"chunk {n} found where chunk {_next} was expected");
        long expected = Math.Min(_chunkSize, _length - _got);
        if (expected <= 0)
            throw new GridFsFormatException($"unexpected chunk {n}: the file's {_length} bytes are complete");
        if (data.Length != expected)
            throw new GridFsFormatException($"chunk {n} has {data.Length} bytes of data, expected {expected}");
        data.CopyTo(_content.AsSpan((int)_got));
        _got += data.Length;
        _next++;
    }

    /// <exception cref="GridFsFormatException">Chunks are missing.</exception>
    public void RequireComplete()
    {
        if (!IsComplete)
            throw new GridFsFormatException($"chunk {_next} is missing: {_got} of the file's {_length} bytes found");
    }
}
