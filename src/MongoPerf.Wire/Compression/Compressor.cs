namespace MongoPerf.Wire.Compression;

/// <summary>One way to compress messages, with what it needs to work without allocating. One connection's, one thread at a time.</summary>
internal abstract class Compressor : IDisposable
{
    /// <summary>The name as connection strings and hello spell it.</summary>
    public abstract string Name { get; }

    /// <summary>compressorId in OP_COMPRESSED. Source: specifications/source/compression/OP_COMPRESSED.md.</summary>
    public abstract byte Id { get; }

    /// <summary>Room that <see cref="Compress"/> may need, bytes.</summary>
    public abstract int LongestCompressed(int length);

    /// <returns>Bytes written.</returns>
    public abstract int Compress(ReadOnlySpan<byte> source, Span<byte> destination);

    /// <summary>Fills the destination exactly.</summary>
    /// <returns>False when the bytes are damaged, or give more or less than that.</returns>
    public abstract bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination);

    public virtual void Dispose()
    {
    }
}
