namespace MongoPerf.Tests.Support;

/// <summary>Counts what an action allocates on this thread.</summary>
internal static class Allocation
{
    private const int Attempts = 5;

    /// <summary>
    /// The least of a few attempts: a collection that other tests cause in between books the rest of this thread's piece of heap
    /// as used, and what the runtime does once (a method compiled anew) does not come again. What the action allocates each time
    /// shows in every attempt.
    /// </summary>
    public static long LeastBytes(Action action)
    {
        long least = long.MaxValue;
        for (int i = 0; i < Attempts && least > 0; i++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            action();
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        return least;
    }
}
