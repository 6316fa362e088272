using System.Buffers.Binary;

namespace MongoPerf.Server.Storage.Keys;

/// <summary>Bytes of a key under construction; the buffer grows and is used again. One thread.</summary>
internal sealed class KeyBuffer
{
    private byte[] _bytes = new byte[64];

    public int Length { get; private set; }

    public int Capacity => _bytes.Length;

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    public void Clear() => Length = 0;

    public void Truncate(int length) => Length = length;

    public void Add(byte value) => Grow(1)[0] = value;

    public void Add(ReadOnlySpan<byte> bytes) => bytes.CopyTo(Grow(bytes.Length));

    public void AddUInt64(ulong value) => BinaryPrimitives.WriteUInt64BigEndian(Grow(8), value);

    public void AddUInt32(uint value) => BinaryPrimitives.WriteUInt32BigEndian(Grow(4), value);

    public void AddUInt16(ushort value) => BinaryPrimitives.WriteUInt16BigEndian(Grow(2), value);

    /// <summary>Turns the order around for everything from <paramref name="start"/> on.</summary>
    public void Invert(int start)
    {
        foreach (ref byte value in _bytes.AsSpan(start, Length - start))
            value = (byte)~value;
    }

    /// <summary>Makes the bytes the least that are above every key that starts with the present ones.</summary>
    /// <returns>False when there is no such key (all bytes are 0xFF).</returns>
    public bool IncrementPrefix()
    {
        while (Length > 0)
        {
            if (++_bytes[Length - 1] != 0)
                return true;
            Length--;
        }

        return false;
    }

    private Span<byte> Grow(int count)
    {
        if (Length + count > _bytes.Length)
            Array.Resize(ref _bytes, Math.Max(2 * _bytes.Length, Length + count));
        Span<byte> room = _bytes.AsSpan(Length, count);
        Length += count;
        return room;
    }
}
