using System.Runtime.InteropServices;

namespace MongoPerf.Server.Listening;

/// <summary>A connection's receive buffer, outside of the managed heap: what is given back is the system's again at once. One thread.</summary>
internal sealed unsafe class ReceiveBuffer(ByteBudget budget) : IDisposable
{
    private const int FirstBytes = 16 << 10;

    private byte* _bytes = (byte*)NativeMemory.Alloc(FirstBytes);

    public int Length { get; private set; } = FirstBytes;

    public Span<byte> Span => new(_bytes, Length);

    /// <summary>Makes it that long, with the first <paramref name="kept"/> bytes as they are; waits for memory when others have it.</summary>
    /// <returns>False when there was none for too long; the buffer is as before.</returns>
    public bool TryGrow(int length, int kept, TimeSpan patience)
    {
        // What it has already counts; a connection never waits for memory that only itself holds.
        if (!budget.Take(length - Length, patience))
            return false;
        Resize(length, kept);
        return true;
    }

    /// <summary>Gives back all but the first, small, buffer; what was in it is gone.</summary>
    public void Shrink()
    {
        if (Length == FirstBytes)
            return;
        budget.Return(Length - FirstBytes);
        Resize(FirstBytes, 0);
    }

    public void Dispose()
    {
        if (_bytes == null)
            return;
        budget.Return(Length - FirstBytes);
        NativeMemory.Free(_bytes);
        _bytes = null;
        Length = 0;
    }

    // Copied by hand: a realloc would copy the whole old buffer, and keep it in the heap.
    private void Resize(int length, int kept)
    {
        byte* larger = (byte*)NativeMemory.Alloc((nuint)length);
        new ReadOnlySpan<byte>(_bytes, kept).CopyTo(new Span<byte>(larger, length));
        NativeMemory.Free(_bytes);
        _bytes = larger;
        Length = length;
    }
}
