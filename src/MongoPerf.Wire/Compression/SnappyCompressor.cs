using Snappier;

namespace MongoPerf.Wire.Compression;

/// <summary>snappy in C#, in the raw format without frames. It allocates 128 bytes for a message, which the C library does not.</summary>
internal sealed class SnappyCompressor : Compressor
{
    public override string Name => "snappy";

    public override byte Id => 1;

    public override int LongestCompressed(int length) => Snappy.GetMaxCompressedLength(length);

    public override int Compress(ReadOnlySpan<byte> source, Span<byte> destination) => Snappy.Compress(source, destination);

    public override bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        try
        {
            return Snappy.GetUncompressedLength(source) == destination.Length
                && Snappy.Decompress(source, destination) == destination.Length;
        }
        catch (Exception e) when (e is InvalidDataException or ArgumentException)
        {
            return false;
        }
    }
}
