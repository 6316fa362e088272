using System.Buffers;
using MongoPerf.Traffic.Proxying;

namespace MongoPerf.Tests.Support;

/// <summary>
/// Wipes what comes back, and gives it out again at once. Once held, it keeps whoever brings the first block until it is released.
/// </summary>
internal sealed class RecorderPool : ArrayPool<byte>, IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(1);

    private readonly Stack<byte[]> _free = [];
    private readonly HashSet<byte[]> _rented = [];
    private readonly ManualResetEventSlim _isHeld = new();
    private readonly ManualResetEventSlim _isReleased = new(true);

    public bool IsEmpty { get; set; }

    public int Rented => _rented.Count;

    /// <summary>Blocks that came back although nobody had them.</summary>
    public int Wrong { get; private set; }

    /// <summary>From here on the recorder reads nothing until this is released.</summary>
    public void Hold(TrafficRecorder recorder)
    {
        _isReleased.Reset();
        new RecordedRequests(recorder, 99).Dispose();
        Assert.True(_isHeld.Wait(Patience));
    }

    public void Release() => _isReleased.Set();

    public override byte[] Rent(int minimumLength)
    {
        lock (_free)
        {
            if (IsEmpty)
                throw new OutOfMemoryException();
            byte[] block = _free.TryPop(out byte[]? free) ? free : new byte[minimumLength];
            _rented.Add(block);
            return block;
        }
    }

    public override void Return(byte[] array, bool clearArray = false)
    {
        bool isFirst;
        lock (_free)
        {
            Array.Fill(array, byte.MaxValue);
            Wrong += _rented.Remove(array) ? 0 : 1;
            _free.Push(array);
            isFirst = !_isHeld.IsSet;
            _isHeld.Set();
        }

        if (isFirst)
            _isReleased.Wait(Patience);
    }

    public void Dispose()
    {
        _isHeld.Dispose();
        _isReleased.Dispose();
    }
}
