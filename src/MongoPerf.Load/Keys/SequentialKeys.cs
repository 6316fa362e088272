using MongoPerf.Measurement;

namespace MongoPerf.Load.Keys;

/// <summary>0, 1, 2 … and from the start again, over all workers together: each key comes once before any comes twice.</summary>
public sealed class SequentialKeys(KeySpace keys) : KeyChooser(keys)
{
    private long _next;

    private protected override long Draw(ref RandomStream random)
    {
        long count = Count;
        while (true)
        {
            long key = Volatile.Read(ref _next);
            long after = key + 1 < count ? key + 1 : 0;
            if (Interlocked.CompareExchange(ref _next, after, key) == key)
                return key;
        }
    }
}
