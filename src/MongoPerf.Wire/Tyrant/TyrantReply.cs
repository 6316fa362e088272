using System.Buffers.Binary;

namespace MongoPerf.Wire.Tyrant;

/// <summary>What a function answered: a code and elements. A view over the connection's buffer, valid until its next call.</summary>
/// <remarks>Enumerated with foreach; nothing is copied. Lengths were checked when it was received.</remarks>
public readonly ref struct TyrantReply
{
    internal const int HeaderLength = 5;

    private readonly ReadOnlySpan<byte> _bytes;

    /// <param name="bytes">The whole response: code, number of elements, elements.</param>
    internal TyrantReply(ReadOnlySpan<byte> bytes) => _bytes = bytes;

    /// <summary>0 is success, anything else a failure; why, the server does not say.</summary>
    public int Code => _bytes[0];

    public bool Succeeded => Code == 0;

    public int Count => BinaryPrimitives.ReadInt32BigEndian(_bytes[1..]);

    /// <summary>Bytes of all elements, without their lengths.</summary>
    public int ElementBytes => _bytes.Length - HeaderLength - (Count * sizeof(int));

    public Enumerator GetEnumerator() => new(_bytes);

    public ref struct Enumerator
    {
        private readonly ReadOnlySpan<byte> _bytes;
        private int _start;
        private int _length;

        internal Enumerator(ReadOnlySpan<byte> bytes)
        {
            _bytes = bytes;
            _start = HeaderLength;
        }

        public readonly ReadOnlySpan<byte> Current => _bytes.Slice(_start, _length);

        public bool MoveNext()
        {
            int next = _start + _length;
            if (next == _bytes.Length)
                return false;
            _length = BinaryPrimitives.ReadInt32BigEndian(_bytes[next..]);
            _start = next + sizeof(int);
            return true;
        }
    }
}
