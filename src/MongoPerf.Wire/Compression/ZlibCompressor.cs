using System.IO.Compression;

namespace MongoPerf.Wire.Compression;

/// <summary>zlib of the runtime.</summary>
/// <remarks>
/// The one compressor that allocates: the runtime's streams can't be used again, so each message makes one (some hundred bytes,
/// and zlib's own state).
/// </remarks>
/// <param name="level">-1 (the library's default) to 9.</param>
internal sealed class ZlibCompressor(int level) : Compressor
{
    private readonly ZLibCompressionOptions _options = new() { CompressionLevel = level };
    private readonly FixedStream _stream = new();

    public override string Name => "zlib";

    public override byte Id => 2;

    // zlib's compressBound.
    public override int LongestCompressed(int length) => length + (length >> 12) + (length >> 14) + (length >> 25) + 13 + 64;

    public override unsafe int Compress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        fixed (byte* room = destination)
        {
            _stream.Set(room, destination.Length);
            using (var zlib = new ZLibStream(_stream, _options, leaveOpen: true))
                zlib.Write(source);
            return (int)_stream.Position;
        }
    }

    public override unsafe bool TryDecompress(ReadOnlySpan<byte> source, Span<byte> destination)
    {
        fixed (byte* data = source)
        {
            _stream.Set(data, source.Length);
            try
            {
                using var zlib = new ZLibStream(_stream, CompressionMode.Decompress, leaveOpen: true);
                return zlib.ReadAtLeast(destination, destination.Length, throwOnEndOfStream: false) == destination.Length
                    && zlib.ReadByte() < 0;
            }
            // The second: what zlib refuses in a way of its own, such as data that need a dictionary (a type that is not public).
            catch (Exception e) when (e is InvalidDataException or IOException)
            {
                return false;
            }
        }
    }

    /// <summary>A stream over memory that changes from message to message.</summary>
    private sealed unsafe class FixedStream : Stream
    {
        private byte* _bytes;
        private int _length;
        private int _position;

        public override bool CanRead => true;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => _length;

        public override long Position
        {
            get => _position;
            set => throw new NotSupportedException();
        }

        public void Set(byte* bytes, int length)
        {
            _bytes = bytes;
            _length = length;
            _position = 0;
        }

        public override int Read(Span<byte> buffer)
        {
            int count = Math.Min(buffer.Length, _length - _position);
            new ReadOnlySpan<byte>(_bytes + _position, count).CopyTo(buffer);
            _position += count;
            return count;
        }

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            buffer.CopyTo(new Span<byte>(_bytes + _position, _length - _position));
            _position += buffer.Length;
        }

        public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

        public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

        public override void Flush()
        {
        }

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();
    }
}
