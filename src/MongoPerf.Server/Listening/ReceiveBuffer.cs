using System.Runtime.InteropServices;

namespace MongoPerf.Server.Listening;

/// <summary>
/// A connection's receive buffer, outside of the managed heap: what is given back is the system's again at once. One thread.
/// </summary>
/// <remarks>
/// What lies above the first bytes is taken from the budget exactly as long as it is there, also where the system has no memory.
/// </remarks>
internal sealed unsafe class ReceiveBuffer : IDisposable
{
    public const int FirstBytes = 16 << 10;

    private readonly ByteBudget _budget;
    private readonly Func<int, nint> _allocate;
    private byte* _bytes;

    /// <param name="budget">Shared with other connections.</param>
    /// <param name="allocate">Null: the system's. Throws when there is no memory.</param>
    /// <exception cref="OutOfMemoryException">Not even for the first bytes.</exception>
    public ReceiveBuffer(ByteBudget budget, Func<int, nint>? allocate = null)
    {
        _budget = budget;
        _allocate = allocate ?? (static length => (nint)NativeMemory.Alloc((nuint)length));
        _bytes = (byte*)_allocate(FirstBytes);
        Length = FirstBytes;
    }

    public int Length { get; private set; }

    public Span<byte> Span => new(_bytes, Length);

    /// <summary>
    /// Makes it that long, with the first <paramref name="kept"/> bytes as they are; waits for memory when others have it.
    /// </summary>
    /// <returns>False when there was none for too long, or the system has none; the buffer is as before.</returns>
    public bool TryGrow(int length, int kept, TimeSpan patience)
    {
        // What it has already counts; a connection never waits for memory that only itself holds.
        int more = length - Length;
        if (!_budget.Take(more, patience))
            return false;
        if (TryResize(length, kept))
            return true;
        _budget.Return(more);
        return false;
    }

    /// <summary>
    /// Gives back all but the first, small, buffer; what was in it is gone. Where the system has no memory for that one it stays as it is.
    /// </summary>
    public void Shrink()
    {
        int spare = Length - FirstBytes;
        if (spare > 0 && TryResize(FirstBytes, 0))
            _budget.Return(spare);
    }

    public void Dispose()
    {
        if (_bytes == null)
            return;
        _budget.Return(Length - FirstBytes);
        NativeMemory.Free(_bytes);
        _bytes = null;
        Length = 0;
    }

    // Copied by hand: a realloc would copy the whole old buffer, and keep it in the heap.
    private bool TryResize(int length, int kept)
    {
        byte* other;
        try
        {
            other = (byte*)_allocate(length);
        }
        catch (OutOfMemoryException)
        {
            return false;
        }

        new ReadOnlySpan<byte>(_bytes, kept).CopyTo(new Span<byte>(other, length));
        NativeMemory.Free(_bytes);
        _bytes = other;
        Length = length;
        return true;
    }
}
