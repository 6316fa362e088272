namespace MongoPerf.Server.Listening;

/// <summary>Has the heap collected, and given back to the system, a second after the last of several huge messages. Any thread.</summary>
/// <remarks>Left alone, the collector sees no reason to: nobody allocates any more, and what the messages were copied into stays.</remarks>
internal sealed class HeapReturn
{
    private const int LargeMessage = 4 << 20;
    private const long WorthCollecting = 64L << 20;
    private const int QuietMilliseconds = 1000;

    private long _bytes;
    private long _lastAt;

    public void Note(int messageBytes)
    {
        if (messageBytes < LargeMessage)
            return;
        Interlocked.Add(ref _bytes, messageBytes);
        Volatile.Write(ref _lastAt, Environment.TickCount64);
    }

    /// <summary>Called now and then.</summary>
    public void Collect()
    {
        if (Volatile.Read(ref _bytes) < WorthCollecting || Environment.TickCount64 - Volatile.Read(ref _lastAt) < QuietMilliseconds)
            return;
        Volatile.Write(ref _bytes, 0);
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
    }
}
