namespace MongoPerf.Server.Listening;

/// <summary>Memory that all connections together may take for messages larger than their first buffer. Any thread.</summary>
/// <param name="bytes">The bytes, at least as much as the largest message needs.</param>
internal sealed class ByteBudget(long bytes)
{
    private readonly Lock _gate = new();
    private long _taken;

    /// <summary>Whether so much is taken that nobody should keep more than is needed at the moment.</summary>
    public bool IsScarce => Volatile.Read(ref _taken) > bytes / 2;

    public long Taken => Volatile.Read(ref _taken);

    /// <summary>Waits until there is that much.</summary>
    /// <returns>False when there was not for <paramref name="patience"/>.</returns>
    public bool Take(long count, TimeSpan patience)
    {
        const int PauseMilliseconds = 5;
        long end = Environment.TickCount64 + (long)patience.TotalMilliseconds;
        while (!TryTake(count))
        {
            if (Environment.TickCount64 >= end)
                return false;
            Thread.Sleep(PauseMilliseconds);
        }

        return true;
    }

    public void Return(long count)
    {
        lock (_gate)
            _taken -= count;
    }

    private bool TryTake(long count)
    {
        lock (_gate)
        {
            if (_taken + count > bytes)
                return false;
            _taken += count;
            return true;
        }
    }
}
